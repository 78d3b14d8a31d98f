"""DESCRIBE over the engine: protocol, capabilities, Space, primer, errors, policies, access."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain import errors
from brain.kip import capabilities
from brain.kip.context import Session
from tests.kip.conftest import OWNER, Space
from tests.kip.meta.test_vocabulary import rows

GUEST = Session(principal_id="guest", channel="test", permissions=frozenset({"discover", "read"}))

REGISTRY = {
    *("streaming", "artifacts", "signed_receipts", "atomic_batch", "serializable_isolation", "idempotency_retention"),
    *("semantic_search", "hybrid_search", "historical_search", "historical_reads", "search_index_freshness"),
    *("weighted_projection", "filtered_delivery", "change_stream", "watch_evaluation", "exposure_log"),
    *("identity_repair", "recording_repair", "draft_vocabulary", "record_outcome_permission", "derive_permission"),
    *("capsule_signatures", "capsule_import", "capsule_export", "memory_interface", "kip1_migration"),
    *("prospective_trials", "receiver_fencing", "durable_brain_runtime"),
}


@pytest.mark.requirement("KI-META-004")
def test_the_protocol_says_what_is_spoken_and_how_answers_look(space: Space) -> None:
    shown = rows(space, "DESCRIBE PROTOCOL")
    assert shown["kip"] == "2.0"
    assert shown["implementation"]["conformance"]
    assert set(shown["syntax"]["grammars"]) == {"KML", "KQL", "META"}
    assert {"FIND", "KML", "LIST", "SEARCH"} <= shown["results"].keys()


@pytest.mark.requirement("KI-CAP-001", "KI-META-004")
def test_every_registered_capability_is_answered_for(space: Space) -> None:
    shown = rows(space, "DESCRIBE CAPABILITIES")
    assert shown["capabilities"].keys() == REGISTRY
    assert REGISTRY.isdisjoint(shown["engine_local"])
    for name, entry in shown["capabilities"].items():
        assert isinstance(entry["supported"], bool)
        assert entry["note"]
        assert (name in shown["supported"]) == entry["supported"]
        assert (name in shown["unsupported"]) != entry["supported"]
    assert shown["limits"]["command_bytes"] == 262_144


@pytest.mark.requirement("KI-CAP-005", "KI-CAP-010")
def test_values_are_the_ones_in_force(space: Space) -> None:
    shown = rows(space, "DESCRIBE CAPABILITIES")["supported"]
    assert (
        shown["idempotency_retention"]["seconds"] * 1000 == space.engine.limits.idempotency_retention_ms >= 86_400_000
    )
    assert shown["search_index_freshness"] == {"mode": "synchronous"}


@pytest.mark.requirement("KI-CAP-001")
def test_available_depends_on_who_asks(space: Space) -> None:
    owner = rows(space, "DESCRIBE CAPABILITIES")["capabilities"]["draft_vocabulary"]
    guest = rows(space, "DESCRIBE CAPABILITIES", session=GUEST)["capabilities"]["draft_vocabulary"]
    assert (owner["supported"], owner["available"]) == (True, True)
    assert (guest["supported"], guest["available"]) == (True, False)


@pytest.mark.requirement("KI-CAP-001", "KI-CAP-002")
@pytest.mark.parametrize("name", sorted(REGISTRY | capabilities.LOCAL.keys()))
def test_requires_is_answered_from_the_same_table(space: Space, name: str) -> None:
    held = capabilities.is_held(name)
    assert held is not None
    assert "error" not in space.answer("DESCRIBE SNAPSHOT", envelope={"requires": {name: held}})
    refused = space.outcome("DESCRIBE SNAPSHOT", envelope={"requires": {name: not held}}).response
    assert refused["error"]["code"] == "UnsupportedCapability"
    assert capabilities.is_held("warp_drive") is None


@pytest.mark.requirement("KI-META-012", "KI-CAP-011", "KI-CAP-025", "KI-CAP-027")
@pytest.mark.parametrize(
    "command",
    [
        "DESCRIBE TRUST",
        'DESCRIBE COMPATIBILITY FROM "kip://domains/general@1.0.0" TO "kip://domains/general@1.0.0"',
        'DESCRIBE CAPSULE "{}"',
        'VALIDATE IMPORT PLAN "{}"',
    ],
)
def test_what_belongs_to_a_capability_that_is_off_is_refused(space: Space, command: str) -> None:
    error = space.error(command)
    assert error["code"] == "UnsupportedCapability"
    assert capabilities.is_held(error["details"]["capability"]) is False


@pytest.mark.requirement("KI-META-005")
def test_the_space_describes_itself_and_no_other(space: Space) -> None:
    space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')
    shown = rows(space, "DESCRIBE SPACE")
    assert (shown["id"], shown["uri"], shown["seq"]) == ("default", "kip:space:default", 1)
    assert (shown["schema_environment_version"], shown["identity_version"]) == (1, 0)
    assert rows(space, 'DESCRIBE SPACE "kip:space:default"') == shown == rows(space, 'DESCRIBE SPACE "default"')
    assert space.refused('DESCRIBE SPACE "other"') == "NotFoundOrNotVisible"
    assert [row["id"] for row in rows(space, "LIST SPACES")] == ["default"]


class TestPrimer:
    """The first thing a model reads."""

    @pytest.mark.requirement("KI-META-002")
    def test_it_has_every_layer(self, space: Space) -> None:
        for command in ("DESCRIBE PRIMER", 'DESCRIBE PRIMER MODE "compact"', 'DESCRIBE PRIMER MODE "full"'):
            shown = rows(space, command)
            assert shown.keys() == {
                *("space", "schema", "safety_invariants", "protocol", "golden_path", "execution_context"),
                *("contents", "cognitive_identity", "capabilities"),
            }
            assert len(shown["safety_invariants"]) >= 5

    @pytest.mark.requirement("KI-META-002")
    def test_the_compact_one_stays_small_whatever_the_memory_holds(self, space: Space) -> None:
        before = len(json.dumps(rows(space, "DESCRIBE PRIMER")))
        clauses = " ".join(f'CREATE CONCEPT ?p{n} {{TYPE "Person" NAME "Person {n}"}}' for n in range(200))
        space.write(f"MUTATE {{ {clauses} }}")
        after = rows(space, "DESCRIBE PRIMER")
        assert after["contents"]["concept"] == 200
        assert len(json.dumps(after)) < before + 50
        assert len(json.dumps(after)) < 8_000

    @pytest.mark.requirement("KI-META-002")
    def test_the_full_one_says_what_words_mean_and_where_the_memory_lies(self, space: Space) -> None:
        space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')
        shown = rows(space, 'DESCRIBE PRIMER MODE "full"')
        assert any(
            line.startswith("lives_in (Person → Place, one at a time): Where") for line in shown["schema"]["predicates"]
        )
        assert shown["contents"]["concepts_by_type"] == {"Person": 1}
        assert shown["schema"]["facets"]

    def test_drafts_are_explained_in_every_primer(self, space: Space) -> None:
        space.write('DEFINE PREDICATE "admires" {description: "looks up to"}')
        assert (
            "admires (anything → anything, many): looks up to" in rows(space, "DESCRIBE PRIMER")["schema"]["predicates"]
        )

    @pytest.mark.requirement("KI-META-003")
    def test_it_keeps_principal_actor_self_space_and_policy_apart(self, space: Space) -> None:
        ann = space.handles('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')["a"]
        caller = Session(principal_id="p", channel="test", actors=frozenset({ann}), default_policy="kip:memory-default")
        shown = rows(space, "DESCRIBE PRIMER", session=caller)
        assert shown["execution_context"] | {"now": ""} == {
            "principal": "p",
            "channel": "test",
            "actor_binding": [ann],
            "space": "kip:space:default",
            "epistemic_policy": "kip:memory-default",
            "readonly": False,
            "now": "",
        }
        assert shown["cognitive_identity"]["self"] is None

    def test_another_mode_is_refused(self, space: Space) -> None:
        assert space.refused("DESCRIBE PRIMER MODE :m", m="tiny") == "ConstraintViolation"


@pytest.mark.requirement("KI-META-007")
@pytest.mark.parametrize("code", sorted(errors.REGISTRY))
def test_every_registered_error_is_explained(space: Space, code: str) -> None:
    shown = rows(space, f'DESCRIBE ERROR "{code}"')
    found = errors.REGISTRY[code]
    assert shown == {
        "code": code,
        "category": found.category,
        "retry_class": found.retry_class,
        "meaning": found.meaning,
        "hint": found.general_hint,
    }


def test_an_unregistered_error_is_not_found(space: Space) -> None:
    assert space.refused('DESCRIBE ERROR "TeapotError"') == "NotFoundOrNotVisible"


@pytest.mark.requirement("KI-META-010")
def test_policies_are_listed_and_described(space: Space) -> None:
    listed = rows(space, "LIST EPISTEMIC POLICIES")
    assert [policy["id"] for policy in listed] == sorted(policy["id"] for policy in listed)
    for policy in listed:
        assert rows(space, f'DESCRIBE EPISTEMIC POLICY "{policy["id"]}"') == policy
        assert policy["content_digest"].startswith("sha256:")
    assert rows(space, "DESCRIBE EPISTEMIC POLICY")["id"] == OWNER.default_policy
    assert space.refused('DESCRIBE EPISTEMIC POLICY "kip:policy:mine"') == "ProjectionPolicyUnavailable"


class TestAccess:
    """DESCRIBE ACCESS."""

    @pytest.mark.requirement("KI-META-011")
    def test_it_answers_for_the_caller(self, space: Space) -> None:
        owner = rows(space, 'DESCRIBE ACCESS WITH {operation: "purge"}')
        guest = rows(space, 'DESCRIBE ACCESS WITH {operation: "purge"}', session=GUEST)
        assert (owner["is_owner"], owner["decision"]["allowed"]) == (True, True)
        assert (guest["is_owner"], guest["decision"]["allowed"]) == (False, False)
        assert owner["elevatable_authority_classes"] == ["advisory", "behavioral", "executable"]
        assert guest["elevatable_authority_classes"] == []
        assert guest["permissions"] == ["discover", "read"]
        assert owner["authorization_view"] != guest["authorization_view"]

    @pytest.mark.requirement("KI-META-011")
    def test_it_says_whether_a_resource_is_quarantined_and_hides_what_is_not_there(self, space: Space) -> None:
        ann = space.handles('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')["a"]
        shown = rows(space, "DESCRIBE ACCESS WITH {operation: :o, resource: :r}", o="read", r=ann)
        assert shown["decision"] == {"operation": "read", "resource": ann, "allowed": True, "quarantined": False}
        assert space.refused('DESCRIBE ACCESS WITH {resource: "C-404"}') == "NotFoundOrNotVisible"

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ('{colour: "red"}', "SchemaFieldNotFound"),
            ('{operation: "fly"}', "ConstraintViolation"),
            ("{operation: 5}", "TypeMismatch"),
        ],
    )
    def test_a_question_it_does_not_know_is_refused(self, space: Space, options: str, code: str) -> None:
        assert space.refused(f"DESCRIBE ACCESS WITH {options}") == code


@pytest.mark.requirement("KI-META-001")
def test_looking_changes_nothing(space: Space) -> None:
    space.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}')

    def everything() -> Any:
        with space.store.snapshot() as snapshot:
            elements = [element.body for element in snapshot.elements(["C-1"]).values()]
            return snapshot.seq, elements, snapshot.control("schema"), snapshot.control("identity")

    before = everything()
    for command in (
        *("DESCRIBE PRIMER", "DESCRIBE CAPABILITIES", "DESCRIBE ACCESS", "DESCRIBE SNAPSHOT", "LIST TYPES"),
        *('SEARCH CONCEPT "Ann"', "HISTORY SPACE", 'HISTORY ELEMENT "C-1"', "CHANGES AFTER SEQ 0"),
        *('LIST DEPENDENTS "C-1"', 'VALIDATE KQL "FIND(?x) WHERE {?x {}}"', 'VALIDATE SCHEMA PACKAGE "{}"'),
        *(
            'PREVIEW KML "PURGE \\"C-1\\" CONFIRM \\"PURGE\\""',
            'PREVIEW KML "DEFINE PREDICATE \\"p\\" {description: \\"d\\"}"',
        ),
    ):
        assert "error" not in space.answer(command)
    assert everything() == before
