"""SET RETENTION, PURGE, PURGE PAYLOAD (KIP 2.0 §19, §60)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.govern import preset_session
from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement

AGENT = preset_session("agent", principal_id="a", channel="agent")
MAINTENANCE = preset_session("maintenance", principal_id="m", channel="upkeep")


@requirement("KI-RETAIN-001", "KI-RETAIN-004", "KI-TX-032")
def test_retention_assigns_the_named_members(space: Space, people: People) -> None:
    until = "2026-12-01T00:00:00.000Z"
    result = space.write('SET RETENTION :a {retention_class: "short", expires_at: :t}', a=people.alice, t=until)
    assert [(e["op"], e["touched"], e["planes"]["retention"]) for e in result["changes"]] == [
        ("retention", ["retention"], 1)
    ]
    space.write('SET RETENTION :a {retention_class: "long"}', a=people.alice)
    assert space.element(people.alice)["retention"] == {"retention_class": "long", "expires_at": until}
    assert space.answer('SET RETENTION :a {retention_class: "long"}', a=people.alice)["status"] == "no_effect"
    space.write("SET RETENTION :a {expires_at: null}", a=people.alice)
    assert space.element(people.alice)["retention"]["expires_at"] is None


@requirement("KI-RETAIN-001", "KI-LEX-022")
@pytest.mark.parametrize(
    ("members", "code"),
    [
        ('legal_hold: "yes"', "TypeMismatch"),
        ("ttl: 5", "SchemaFieldNotFound"),
        ('expires_at: "tomorrow"', "ConstraintViolation"),
        ("expires_at: 0", "TypeMismatch"),
        ("retention_class: 5", "TypeMismatch"),
    ],
)
def test_retention_members_are_checked(space: Space, people: People, members: str, code: str) -> None:
    assert space.refused(f"SET RETENTION :a {{{members}}}", a=people.alice) == code


@requirement("KI-RETAIN-002", "KI-ERR-045", "KI-GOV-034")
def test_a_hold_and_an_expiry_have_permissions_of_their_own(space: Space, people: People) -> None:
    expiry = 'SET RETENTION :a {retention_class: "short"}'
    hold = "SET RETENTION :a {legal_hold: true}"
    both = 'SET RETENTION :a {legal_hold: true, retention_class: "short"}'
    space.write(expiry, a=people.alice, session=MAINTENANCE)
    for text, session in ((hold, MAINTENANCE), (both, MAINTENANCE), (expiry, AGENT), (hold, AGENT)):
        assert space.refused(text, a=people.alice, session=session) == "NotAuthorized"


@requirement("KI-RETAIN-004", "KI-STRUCT-013", "KI-TX-032")
def test_a_tombstone_keeps_its_counters_and_still_counts_what_is_written(space: Space, people: People) -> None:
    block = 'MUTATE { SET RETENTION :a {legal_hold: true} TRANSITION :a TO "tombstoned" }'
    (entry,) = space.write(block, a=people.alice)["changes"]
    assert (entry["op"], entry["touched"]) == ("lifecycle", ["retention", "state"])
    assert (entry["planes"]["attributes"], entry["planes"]["retention"]) == (1, 1)
    (entry,) = space.write("SET RETENTION :a {legal_hold: false}", a=people.alice)["changes"]
    assert (entry["touched"], entry["planes"]["retention"]) == (["retention"], 2)


# --- purge ------------------------------------------------------------------------------------------------------------


def claimed(space: Space, people: People) -> str:
    """A claim that Alice lives in Oslo, citing her message."""
    return space.handles(
        'ASSERT ?c (:a, "lives_in", :o) { by: :a, mode: "stated", evidence: :m }',
        a=people.alice,
        o=people.oslo,
        m=people.message,
    )["c"]


@requirement("KI-RETAIN-010", "KI-GOV-034")
@pytest.mark.parametrize("text", ["PURGE :t", 'PURGE :t CONFIRM "yes"', "PURGE :t CONFIRM PURGE", "PURGE PAYLOAD :t"])
def test_the_confirmation_is_written_out(space: Space, people: People, text: str) -> None:
    assert space.refused(text, t=people.bob) == "InvalidSyntax"


@requirement("KI-RETAIN-010", "KI-RETAIN-011", "KI-GOV-034")
@pytest.mark.parametrize("session", [AGENT, MAINTENANCE])
def test_erasing_is_the_owners(space: Space, people: People, session: Any) -> None:
    assert space.refused('PURGE :t CONFIRM "PURGE"', t=people.bob, session=session) == "NotAuthorized"
    assert space.refused('PURGE PAYLOAD :t CONFIRM "PURGE"', t=people.message, session=session) == "NotAuthorized"


@requirement("KI-RETAIN-016", "KI-ID-001", "KI-RETAIN-017")
def test_an_erased_element_leaves_a_stub_in_every_version(space: Space, people: People) -> None:
    space.write('UPDATE :b SET ATTRIBUTES {secret: "x"}', b=people.bob)
    result = space.write('PURGE :t CONFIRM "PURGE"', t=people.bob)
    entry = result["changes"][0]
    assert (entry["op"], entry["old_version"], entry["new_version"]) == ("purge", 2, 3)
    assert entry["touched"] == [
        "attributes.secret",
        "fields.key",
        "fields.name",
        "governance.content_digest",
        "governance.purged",
        "state",
    ]
    for seq in (None, 1, 2):
        body = space.element(people.bob, seq)
        assert set(body) == {"_system", "governance", "id", "kind", "space_id"}
        assert body["governance"]["purged"] is True
    assert space.handles('UPSERT CONCEPT ?b { MATCH {type: "Person", key: "bob"} }')["b"] != people.bob
    assert space.answer('PURGE :t CONFIRM "PURGE"', t=people.bob)["status"] == "no_effect"
    assert space.refused('ENSURE PROPOSITION (:a, "knows", :b)', a=people.alice, b=people.bob) == "NotFoundOrNotVisible"


@requirement("KI-RETAIN-016", "KI-RETAIN-017")
def test_a_stub_of_evidence_keeps_what_provenance_needs(space: Space, people: People) -> None:
    before = space.element(people.message)
    space.write('PURGE :t CONFIRM "PURGE"', t=people.message)
    stub = space.element(people.message)
    assert {name: stub[name] for name in ("content_digest", "evidence_class", "observed_at")} == {
        name: before[name] for name in ("content_digest", "evidence_class", "observed_at")
    }
    assert "payload" not in stub


@requirement("KI-RETAIN-013", "KI-RETAIN-018", "KI-RETAIN-012", "KI-ERR-053")
def test_every_kind_of_reference_keeps_its_target_by_default(space: Space, people: People) -> None:
    assertion = claimed(space, people)
    activity = space.handles(
        """CREATE ACTIVITY ?x { SET FIELDS {activity_class: "t"}
           SET STRUCTURAL { ("inputs", :b) ("outputs", :c) } }""",
        b=people.bob,
        c=assertion,
    )["x"]
    for target, holder in (
        (people.alice, "P-1"),
        (people.oslo, "P-1"),
        ("P-1", assertion),
        (people.message, assertion),
        (people.bob, activity),
        (assertion, activity),
    ):
        error = space.error('PURGE :t CONFIRM "PURGE"', t=target)
        assert error["code"] == "PurgeDenied"
        assert holder in error["details"]["referenced_by"]


@requirement("KI-RETAIN-013")
def test_lifecycle_links_and_merges_are_references_too(space: Space, people: People) -> None:
    old = claimed(space, people)
    new = space.handles(
        'ASSERT ?c (:a, "lives_in", :o) { by: :a, mode: "stated" } SUPERSEDING :old',
        a=people.alice,
        o=people.oslo,
        old=old,
    )["c"]
    assert space.refused('PURGE :t CONFIRM "PURGE"', t=new) == "PurgeDenied"
    space.write("MERGE CONCEPT :b INTO :a", a=people.alice, b=people.bob)
    error = space.error('PURGE :t CONFIRM "PURGE"', t=people.alice)
    assert people.bob in error["details"]["referenced_by"]


@requirement("KI-RETAIN-012")
def test_an_unknown_policy_is_refused(space: Space, people: People) -> None:
    text = 'PURGE :t REFERENCE POLICY "delete_everything" CONFIRM "PURGE"'
    assert space.refused(text, t=people.bob) == "ConstraintViolation"


@requirement("KI-RETAIN-014")
def test_tombstone_reference_leaves_the_references_as_they_are(space: Space, people: People) -> None:
    assertion = claimed(space, people)
    before = space.element("P-1"), space.element(assertion)
    space.write('PURGE :t REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"', t=people.oslo)
    assert (space.element("P-1"), space.element(assertion)) == before
    assert space.element(people.oslo)["_system"]["state"] == "purged"


@requirement("KI-RETAIN-015", "KI-RETAIN-011", "KI-ERR-052")
def test_a_cascade_takes_everything_or_nothing(space: Space, people: People) -> None:
    assertion = claimed(space, people)
    cascade = 'PURGE :t REFERENCE POLICY "authorized_cascade" CONFIRM "PURGE"'
    space.write("SET RETENTION :c {legal_hold: true}", c=assertion)
    assert space.refused(cascade, t=people.oslo) == "LegalHoldConflict"
    space.write("SET RETENTION :c {legal_hold: false}", c=assertion)
    result = space.write(cascade, t=people.oslo)
    assert [(entry["op"], entry["id"]) for entry in result["changes"]] == [
        ("purge", assertion),
        ("purge", people.oslo),
        ("purge", "P-1"),
    ]
    assert "asserted_by" not in space.element(assertion, 2)


@requirement("KI-RETAIN-011")
@pytest.mark.parametrize("policy", ["deny_if_referenced", "tombstone_reference", "authorized_cascade"])
def test_no_policy_lifts_a_hold(space: Space, people: People, policy: str) -> None:
    space.write("SET RETENTION :t {legal_hold: true}", t=people.oslo)
    text = f'PURGE :t REFERENCE POLICY "{policy}" CONFIRM "PURGE"'
    assert space.refused(text, t=people.oslo) == "LegalHoldConflict"


@requirement("KI-RETAIN-029", "KI-TX-028")
def test_a_purge_sweep_is_capped_and_guarded(space: Space) -> None:
    for name in ("one", "two"):
        space.write('CREATE CONCEPT ?t { TYPE "Topic" NAME :n }', n=name)
    text = 'PURGE ?t WHERE { ?t {type: "Topic"} } LIMIT 1 EXPECT VERSION '
    assert space.refused(f'{text} 5 CONFIRM "PURGE"') == "VersionConflict"
    assert [entry["id"] for entry in space.write(f'{text} 1 CONFIRM "PURGE"')["changes"]] == ["C-1"]


STUBS = """MUTATE {
  CREATE EVIDENCE ?evidence { SET FIELDS {evidence_class: "message", payload: "p"} }
  ASSERT ?claim ( :who, "timezone", "UTC" ) { by: :who, mode: "stated", evidence: ?evidence }
  CREATE ACTIVITY ?run { SET FIELDS {activity_class: "t"} }
}"""


@pytest.fixture
def stubs(space: Space, people: People) -> dict[str, str]:
    """Purged elements of four kinds by name."""
    made = space.handles(STUBS, who=people.alice) | {"concept": people.oslo}
    for gone in made.values():
        space.write('PURGE :t REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"', t=gone)
    return made


@requirement("KI-RETAIN-016")
@pytest.mark.parametrize(
    "text",
    [
        'UPDATE :t SET FACET "MnemonicState" {status: "x"}',
        "SET RETENTION :t {legal_hold: true}",
        'TRANSITION :t TO "archived"',
        'TRANSITION :t TO "tombstoned"',
    ],
)
def test_nothing_of_a_stub_changes_any_more(space: Space, stubs: dict[str, str], text: str) -> None:
    for gone in stubs.values():
        assert space.refused(text, t=gone) == "InvalidLifecycleTransition"


@requirement("KI-RETAIN-016")
@pytest.mark.parametrize(
    ("name", "move"),
    [
        ("claim", 'TO "retracted"'),
        ("claim", 'TO "superseded" BY :t'),
        ("evidence", 'TO "corrected" BY :m'),
        ("run", 'TO "completed"'),
    ],
)
def test_a_stub_takes_no_move_of_its_kind(
    space: Space, people: People, stubs: dict[str, str], name: str, move: str
) -> None:
    assert space.refused(f"TRANSITION :t {move}", t=stubs[name], m=people.message) == "InvalidLifecycleTransition"


# --- payload purge ----------------------------------------------------------------------------------------------------


@requirement("KI-RETAIN-019", "KI-RETAIN-020", "KI-RETAIN-021", "KI-TX-032")
def test_a_payload_goes_and_the_record_stays(space: Space, people: People) -> None:
    before = space.element(people.message)
    result = space.write('PURGE PAYLOAD :m CONFIRM "PURGE"', m=people.message)
    assert [(entry["op"], entry["touched"]) for entry in result["changes"]] == [("payload_purge", ["fields.payload"])]
    for seq in (None, 1):
        body = space.element(people.message, seq)
        assert body["payload"] == {"status": "purged"}
        assert {n: body[n] for n in ("content_digest", "evidence_class", "lifecycle", "observed_at")} == {
            n: before[n] for n in ("content_digest", "evidence_class", "lifecycle", "observed_at")
        }
    assert space.answer('PURGE PAYLOAD :m CONFIRM "PURGE"', m=people.message)["status"] == "no_effect"


@requirement("KI-RETAIN-020")
def test_the_bytes_are_gone_from_the_files_of_the_space(space: Space, tmp_path: Any) -> None:
    secret = "zanzibar-4711"
    made = space.handles('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: :p} }', p=secret)["e"]
    space.write('PURGE PAYLOAD :e CONFIRM "PURGE"', e=made)
    space.store.close()
    for path in (tmp_path / "space").iterdir():
        assert secret.encode() not in path.read_bytes()


@requirement("KI-RETAIN-019", "KI-RETAIN-021")
def test_only_evidence_has_a_payload_and_a_hold_keeps_it(space: Space, people: People) -> None:
    assert space.refused('PURGE PAYLOAD :a CONFIRM "PURGE"', a=people.alice) == "TypeMismatch"
    policy = 'PURGE PAYLOAD :m REFERENCE POLICY "tombstone_reference" CONFIRM "PURGE"'
    assert space.refused(policy, m=people.message) == "InvalidSyntax"
    space.write("SET RETENTION :m {legal_hold: true}", m=people.message)
    assert space.refused('PURGE PAYLOAD :m CONFIRM "PURGE"', m=people.message) == "LegalHoldConflict"


@requirement("KI-RETAIN-016", "KI-TX-017")
def test_a_kept_outcome_holds_no_content(space: Space, tmp_path: Any) -> None:
    secret = "tangier-0815"
    envelope = {"execution": {"mode": "independent", "idempotency_key": "k"}}
    text = 'CREATE CONCEPT ?c { TYPE "Person" NAME :n }'
    made = space.write(text, n=secret, envelope=envelope)["handles"]["c"]
    space.write('PURGE :c CONFIRM "PURGE"', c=made)
    assert space.write(text, n=secret, envelope=envelope)["handles"]["c"] == made
    space.store.close()
    for path in (tmp_path / "space").iterdir():
        assert secret.encode() not in path.read_bytes()
