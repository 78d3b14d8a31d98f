"""CREATE EVIDENCE and CREATE ACTIVITY (KIP 2.0 §15, §16, §56)."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import rfc8785

from brain.kip.govern import preset_session
from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement


def evidence(space: Space, more: str = "", **values: Any) -> Any:
    text = f'CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "document", payload: :p{more}}} }}'
    return space.element(space.handles(text, **values)["e"])


@requirement("KI-EVID-001", "KI-EVID-002", "KI-EVID-003", "KI-LEX-025")
@pytest.mark.parametrize(
    "payload", ["at 2026-01-01T00:00:00Z", "", 7, None, [1, {"x": None}], {"rows": [1, 2], "ok": True}]
)
def test_a_payload_is_kept_inline_as_it_is_with_its_digest(space: Space, payload: Any) -> None:
    body = evidence(space, p=payload)
    assert body["payload"] == {"mode": "inline", "inline": payload}
    content = payload.encode() if isinstance(payload, str) else rfc8785.dumps(payload)
    assert body["content_digest"] == "sha256:" + hashlib.sha256(content).hexdigest()
    assert body["observed_at"] == body["_system"]["created_at"]
    assert body["lifecycle"] == {"status": "active"}


@requirement("KI-EVID-002", "KI-EVID-003")
def test_an_external_payload_needs_its_digest(space: Space) -> None:
    payload = {"mode": "external", "content_ref": "blob:1"}
    text = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "document", payload: :p} }'
    assert space.refused(text, p=payload) == "ConstraintViolation"
    digest = "sha256:" + "0" * 64
    body = evidence(space, ", content_digest: :d", p=payload, d=digest)
    assert (body["payload"], body["content_digest"]) == (payload, digest)


@requirement("KI-EVID-003", "KI-ERR-072")
def test_a_supplied_sha256_has_to_be_right_and_other_algorithms_are_left_out(space: Space) -> None:
    text = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "document", payload: "p", content_digest: :d} }'
    assert space.refused(text, d="sha256:" + "0" * 64) == "DigestMismatch"
    answer = space.answer(text, d="sha3-256:abc")
    assert answer["warnings"][0]["code"] == "DigestIgnored"
    assert space.element("E-1")["content_digest"].startswith("sha256:")


@requirement("KI-EVID-004", "KI-EVID-005")
@pytest.mark.parametrize("kind", ["tool_result", "Document", "made_up"])
def test_classes_are_open_and_equal_payloads_are_two_events(space: Space, kind: str) -> None:
    text = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: :c, payload: "same"} }'
    first, second = space.handles(text, c=kind)["e"], space.handles(text, c=kind)["e"]
    assert first != second
    assert space.element(first)["content_digest"] == space.element(second)["content_digest"]


@requirement("KI-EVID-001", "KI-EVID-002")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ('payload: "x"', "ConstraintViolation"),
        ('evidence_class: "document"', "ConstraintViolation"),
        ('evidence_class: "", payload: "x"', "ConstraintViolation"),
        ('evidence_class: "d", payload: {status: "purged"}', "ConstraintViolation"),
        ('evidence_class: "d", payload: "x", wings: 2', "SchemaFieldNotFound"),
        ('evidence_class: "d", payload: "x", media_type: 3', "TypeMismatch"),
        ('evidence_class: "d", payload: "x", observed_at: "2026-02-29T00:00:00.000Z"', "ConstraintViolation"),
        ('evidence_class: "d", payload: "x", observed_at: 0', "TypeMismatch"),
    ],
)
def test_evidence_fields_are_checked(space: Space, fields: str, code: str) -> None:
    assert space.refused(f"CREATE EVIDENCE ?e {{ SET FIELDS {{{fields}}} }}") == code


@requirement("KI-EVID-006", "KI-ERR-034", "KI-STRUCT-012")
@pytest.mark.parametrize(
    "action",
    [
        'SET FIELDS {payload: "v2"}',
        'SET FIELDS {evidence_class: "x"}',
        'SET FIELDS {observed_at: "2026-01-01T00:00:00.000Z"}',
        'SET ATTRIBUTES {note: "x"}',
        'SET STRUCTURAL { ("source", "C-1") }',
    ],
)
def test_what_was_observed_is_not_edited(space: Space, people: People, action: str) -> None:
    assert space.refused(f'UPDATE "{people.message}" {action}') == "EvidenceCorrectionRequired"


@requirement("KI-EVID-010", "KI-EVID-011", "KI-STRUCT-002")
def test_source_and_producer_have_their_kinds_and_may_name_each_other(space: Space, people: People) -> None:
    handles = space.handles(
        """MUTATE {
          CREATE EVIDENCE ?e {
            SET FIELDS {evidence_class: "document", payload: "p"}
            SET STRUCTURAL { ("source", :a) ("generated_by", ?x) }
          }
          CREATE ACTIVITY ?x {
            SET FIELDS {activity_class: "extraction", status: "completed"}
            SET STRUCTURAL { ("associated_actors", :a) ("inputs", :m) ("outputs", ?e) }
          }
        }""",
        a=people.alice,
        m=people.message,
    )
    body, activity = space.element(handles["e"]), space.element(handles["x"])
    assert (body["source"], body["generated_by"]) == ([{"id": people.alice}], {"id": handles["x"]})
    assert activity["outputs"] == [{"id": handles["e"]}]
    assert activity["_system"]["input_versions"] == {people.message: 1}
    assert activity["_system"]["output_versions"] == {handles["e"]: 1}
    for entry in ('("source", :x)', '("generated_by", :a)'):
        text = f'CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "d", payload: "p"}} SET STRUCTURAL {{ {entry} }} }}'
        assert space.refused(text, a=people.alice, x=handles["x"]) == "StructuralReferenceInvalid"


@requirement("KI-EVID-012", "KI-EVID-013", "KI-GOV-031", "KI-GOV-033")
def test_outcomes_and_their_observation_are_the_instruments(space: Space) -> None:
    agent = preset_session("agent", principal_id="a", channel="agent")
    instrument = preset_session("instrument", principal_id="i", channel="telemetry")
    for text in (
        'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: "ok"} }',
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "outcome_observation"} }',
    ):
        assert space.refused(text, session=agent) == "NotAuthorized"
        space.write(text, session=instrument)


@requirement("KI-ACT-001", "KI-ACT-008", "KI-ACT-009")
def test_an_activity_is_pending_and_empty_until_it_says_more(space: Space) -> None:
    made = space.handles('CREATE ACTIVITY ?x { SET FIELDS {activity_class: "brand_new"} }')["x"]
    body = space.element(made)
    assert (body["activity_class"], body["status"], body["inputs"], body["outputs"]) == ("brand_new", "pending", [], [])


@requirement("KI-ACT-002", "KI-ACT-001")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ('status: "pending"', "ConstraintViolation"),
        ('activity_class: "t", status: "banana"', "ConstraintViolation"),
        ('activity_class: "t", status: :s', "ConstraintViolation"),
        ('activity_class: "t", started_at: "2026-01-01"', "ConstraintViolation"),
        ('activity_class: "t", ended_at: 5', "TypeMismatch"),
        ('activity_class: "t", parameters_digest: "sha3-256:x"', "ConstraintViolation"),
        ('activity_class: "t", name: "x"', "SchemaFieldNotFound"),
    ],
)
def test_activity_fields_are_checked(space: Space, fields: str, code: str) -> None:
    assert space.refused(f"CREATE ACTIVITY ?x {{ SET FIELDS {{{fields}}} }}", s="banana") == code


@requirement("KI-ACT-004", "KI-ACT-006")
def test_finishing_sets_fields_references_and_the_versions_it_saw(space: Space, people: People) -> None:
    made = space.handles(
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "t"} SET STRUCTURAL { ("inputs", :a) } }', a=people.alice
    )["x"]
    space.write("UPDATE :a SET ATTRIBUTES {age: 42}", a=people.alice)
    space.clock.advance(1000)
    result = space.write(
        'TRANSITION :x TO "completed" SET FIELDS {started_at: :t} SET STRUCTURAL { ("outputs", :b) }',
        x=made,
        b=people.bob,
        t="2026-09-19T00:00:00.000Z",
    )
    assert result["changes"][0]["touched"] == [
        "fields.ended_at",
        "fields.started_at",
        "fields.status",
        "structural.outputs",
    ]
    body = space.element(made)
    assert (body["started_at"], body["ended_at"]) == ("2026-09-19T00:00:00.000Z", "2026-09-20T00:00:01.000Z")
    assert body["_system"]["input_versions"] == {people.alice: 2}
    assert body["_system"]["output_versions"] == {people.bob: 1}


@requirement("KI-ACT-005", "KI-ERR-039", "KI-STRUCT-012")
@pytest.mark.parametrize(
    "action", ['SET FIELDS {ended_at: "2026-01-01T00:00:00.000Z"}', 'SET STRUCTURAL { ("outputs", "C-1") }']
)
def test_a_finished_activity_does_not_change(space: Space, people: People, action: str) -> None:
    text = 'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "t", status: :s} }'
    over, pending = space.handles(text, s="completed")["x"], space.handles(text, s="pending")["x"]
    assert space.refused(f"UPDATE :x {action}", x=over) == "ActivityTerminal"
    assert space.refused(f"UPDATE :x {action}", x=pending) == "InvalidLifecycleTransition"


@requirement("KI-ACT-006", "KI-ID-007")
def test_captured_versions_are_not_an_authors(space: Space) -> None:
    text = 'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "t", input_versions: {}} }'
    assert space.refused(text) == "SchemaFieldNotFound"


BASIS = """CREATE ACTIVITY ?x {
  SET FIELDS {activity_class: "inference", status: "completed"}
  SET STRUCTURAL { ("inputs", :a) ("outputs", :b) }
  SET FACET "DependencyBasis" {basis_seq: :seq, groups: :groups, policy_basis: :policy}
}"""
"""A derivation of `:b` from `:a`."""


POLICY = {
    "space_id": "kip:space:default",
    "snapshot_seq": 1,
    "schema_environment_version": 1,
    "identity_version": 0,
    "policy": {"id": "kip:memory-default", "version": 1},
    "trust_version": "none",
    "authorization_view": "view:x",
    "context_refs": [],
    "purpose": "consolidation",
    "risk": "low",
    "valid_at": "2026-09-20T00:00:00.000Z",
    "next_invalid_at": None,
}


def derive(space: Space, people: People, pin: dict[str, Any], seq: int = 1) -> Any:
    groups = [{"role": "all_of", "pins": [pin]}]
    return space.answer(BASIS, a=people.alice, b=people.bob, seq=seq, groups=groups, policy=POLICY)


@requirement("KI-PROFILE-017", "KI-ACT-007", "KI-PROFILE-027")
def test_pins_name_versions_that_were_there_and_are_never_moved(space: Space, people: People) -> None:
    space.write("UPDATE :a SET ATTRIBUTES {age: 42}", a=people.alice)
    answer = derive(space, people, {"id": people.alice, "version": 1, "planes": {"attributes": 1}})
    assert answer["status"] == "succeeded", answer
    body = space.element(answer["result"]["handles"]["x"])
    basis = body["facets"]["kip://profiles/cognitive-memory@2.0.0/DependencyBasis"]
    assert basis["groups"][0]["pins"][0]["version"] == 1
    assert body["_system"]["input_versions"] == {people.alice: 2}
    assert body["_system"]["output_plane_versions"] == {people.bob: {"attributes": 1, "structural": 0}}


@requirement("KI-PROFILE-017", "KI-ACT-007")
@pytest.mark.parametrize(
    ("pin", "seq"),
    [
        ({"id": "C-1", "version": 7}, 1),
        ({"id": "C-99", "version": 1}, 1),
        ({"id": "C-1", "version": 1, "planes": {"attributes": 5}}, 1),
        ({"id": "C-1", "version": 1}, 99),
    ],
)
def test_a_pin_of_what_never_was_is_refused(space: Space, people: People, pin: dict[str, Any], seq: int) -> None:
    assert derive(space, people, pin, seq)["error"]["code"] == "ConstraintViolation"


@requirement("KI-PROFILE-019")
def test_a_decision_takes_the_revisions_it_applied_as_inputs(space: Space, people: People) -> None:
    (basis,) = space.write('FIND(?s.basis) WHERE { ?s BELIEF SLOT (:a, "lives_in") }', a=people.alice)
    record = {
        "decision": "act",
        "retrieved_refs": [people.bob],
        "used_refs": [people.bob],
        "applied_revisions": [people.bob],
        "basis": basis,
    }
    members = ", ".join(f"{name}: :{name}" for name in record)
    gate = f"""CREATE ACTIVITY ?x {{
      SET FIELDS {{activity_class: "action_gate", status: "completed"}} SET FACET "DecisionRecord" {{{members}}} %s}}"""
    assert space.refused(gate % "", **record) == "ConstraintViolation"
    assert space.refused(gate % 'SET STRUCTURAL {("inputs", :a)}', a=people.alice, **record) == "ConstraintViolation"
    space.write(gate % 'SET STRUCTURAL {("inputs", :b)}', b=people.bob, **record)
