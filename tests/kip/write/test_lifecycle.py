"""TRANSITION: every state on every kind, retraction, supersession, correction (KIP 2.0 §14, §52.5, §57)."""

from __future__ import annotations

import pytest

from brain.kip.govern import preset_session
from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement

MOVED = "moved"
SAME = "no_effect"
ILLEGAL = "InvalidLifecycleTransition"
OVER = "ActivityTerminal"

STATES = (
    "archived",
    "cancelled",
    "completed",
    "corrected",
    "failed",
    "retracted",
    "running",
    "superseded",
    "tombstoned",
)

TABLE = {
    "concept": dict.fromkeys(STATES, ILLEGAL) | {"archived": MOVED, "tombstoned": MOVED},
    "proposition": dict.fromkeys(STATES, ILLEGAL) | {"archived": MOVED, "tombstoned": MOVED},
    "assertion": dict.fromkeys(STATES, ILLEGAL)
    | {"archived": MOVED, "tombstoned": MOVED, "retracted": MOVED, "superseded": MOVED},
    "evidence": dict.fromkeys(STATES, ILLEGAL) | {"archived": MOVED, "tombstoned": MOVED, "corrected": MOVED},
    "activity": dict.fromkeys(STATES, ILLEGAL)
    | dict.fromkeys(("archived", "tombstoned", "running", "completed", "failed", "cancelled"), MOVED),
}

CLAIM = 'ASSERT ?c (:a, "timezone", :v) {{ by: :by, mode: "stated"{} }}'


def make(space: Space, people: People, kind: str) -> tuple[str, str]:
    """An element of a kind, and another that could be its successor."""
    if kind == "concept":
        return people.alice, people.bob
    if kind == "evidence":
        other = space.handles('CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: "no"} }')
        return people.message, other["e"]
    if kind == "activity":
        text = 'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "test"} }'
        return space.handles(text)["x"], space.handles(text)["x"]
    old = claim(space, people, "+01:00")
    new = claim(space, people, "+02:00")
    return ("P-1", "P-2") if kind == "proposition" else (old, new)


def claim(space: Space, people: People, value: str, more: str = "", by: str | None = None) -> str:
    return space.handles(CLAIM.format(more), a=people.alice, v=value, by=by or people.alice, b=people.bob)["c"]


@requirement("KI-KML-035", "KI-RETAIN-006", "KI-RETAIN-005", "KI-ERR-035")
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", TABLE)
def test_every_state_on_every_kind(space: Space, people: People, kind: str, state: str) -> None:
    target, successor = make(space, people, kind)
    by = " BY :by" if state in ("corrected", "superseded") else ""
    text = f'TRANSITION :t TO "{state}"{by}'
    expected = TABLE[kind][state]
    if expected != MOVED:
        assert space.refused(text, t=target, by=successor) == expected
        return
    space.write(text, t=target, by=successor)
    again = space.answer(text, t=target, by=successor)
    assert again["status"] == SAME


@requirement("KI-ACT-003", "KI-ERR-039")
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("pending", "running", MOVED),
        ("pending", "completed", MOVED),
        ("running", "failed", MOVED),
        ("running", "running", SAME),
        ("completed", "running", OVER),
        ("completed", "failed", OVER),
        ("completed", "completed", SAME),
        ("failed", "running", OVER),
        ("cancelled", "completed", OVER),
        ("completed", "archived", MOVED),
        ("failed", "tombstoned", MOVED),
    ],
)
def test_moves_of_an_activity(space: Space, before: str, after: str, expected: str) -> None:
    made = space.handles('CREATE ACTIVITY ?x { SET FIELDS {activity_class: "t", status: :s} }', s=before)["x"]
    answer = space.answer(f'TRANSITION :x TO "{after}"', x=made)
    if expected == OVER:
        assert answer["error"]["code"] == OVER
    else:
        assert answer["status"] == {MOVED: "succeeded", SAME: SAME}[expected]


@requirement("KI-RETAIN-008", "KI-ASSERT-014")
def test_a_tombstone_does_not_come_back_and_unknown_words_are_no_states(space: Space, people: People) -> None:
    space.write('TRANSITION :t TO "archived"', t=people.bob)
    space.write('TRANSITION :t TO "tombstoned"', t=people.bob)
    assert space.refused('TRANSITION :t TO "archived"', t=people.bob) == ILLEGAL
    for word in ("active", "expired", "nonsense"):
        assert space.refused("TRANSITION :t TO :w", t=people.alice, w=word) == "ConstraintViolation"


@requirement("KI-KML-036", "KI-KML-037")
@pytest.mark.parametrize(
    "text",
    [
        'TRANSITION :t TO "superseded"',
        'TRANSITION :t TO "retracted" BY :t',
        'TRANSITION :t TO "archived" SET FIELDS {ended_at: "2026-01-01T00:00:00.000Z"}',
        "TRANSITION :t TO :state BY :t",
        "TRANSITION :t TO :replaced",
        'TRANSITION :t TO :state SET STRUCTURAL { ("inputs", :t) }',
    ],
)
def test_by_and_set_belong_to_their_states_also_when_bound(space: Space, people: People, text: str) -> None:
    target = claim(space, people, "+01:00")
    assert space.refused(text, t=target, state="archived", replaced="superseded") == "InvalidSyntax"


@requirement("KI-KML-037")
def test_a_bound_state_meets_the_same_rules(space: Space, people: People) -> None:
    assert space.refused("TRANSITION :t TO :state", t=claim(space, people, "+01:00"), state="running") == ILLEGAL


@requirement("KI-RETAIN-008", "KI-GOV-034")
def test_archive_and_tombstone_have_their_permissions(space: Space, people: People) -> None:
    agent = preset_session("agent", principal_id="a", channel="agent")
    maintenance = preset_session("maintenance", principal_id="m", channel="upkeep")
    assert space.refused('TRANSITION :t TO "tombstoned"', t=people.bob, session=agent) == "NotAuthorized"
    assert space.refused('TRANSITION :t TO "archived"', t=people.bob, session=maintenance) == "NotAuthorized"
    space.write('TRANSITION :t TO "archived"', t=people.bob, session=agent)


# --- retraction -------------------------------------------------------------------------------------------------------


@requirement("KI-ASSERT-013", "KI-ASSERT-015", "KI-ASSERT-016", "KI-ASSERT-024")
def test_a_retraction_keeps_the_payload_and_is_final(space: Space, people: People) -> None:
    old, new = claim(space, people, "+01:00"), claim(space, people, "+02:00")
    before = space.element(old)
    result = space.write('TRANSITION :t TO "retracted"', t=old)
    assert result["changes"] == [
        {
            "op": "lifecycle",
            "kind": "assertion",
            "id": old,
            "old_version": 1,
            "new_version": 2,
            "state": {"from": "active", "to": "retracted"},
            "refs": {"proposition": "P-1"},
            "touched": ["fields.retracted_at", "fields.status"],
        }
    ]
    after = space.element(old)
    assert after["lifecycle"] == {"status": "retracted", "retracted_at": "2026-09-20T00:00:00.000Z"}
    assert {n: v for n, v in after.items() if n not in ("_system", "lifecycle")} == {
        n: v for n, v in before.items() if n not in ("_system", "lifecycle")
    }
    assert space.refused('TRANSITION :t TO "superseded" BY :n', t=old, n=new) == ILLEGAL


@requirement("KI-ASSERT-015", "KI-GOV-013", "KI-ERR-036")
def test_only_who_made_or_recorded_a_claim_withdraws_it(space: Space, people: People) -> None:
    old = claim(space, people, "+01:00")
    stranger = preset_session("agent", principal_id="other", channel="agent")
    alice = preset_session("agent", principal_id="hers", channel="agent", actors=[people.alice])
    assert space.refused('TRANSITION :t TO "retracted"', t=old, session=stranger) == "RetractionNotAuthorized"
    space.write('TRANSITION :t TO "retracted"', t=old, session=alice)


# --- supersession -----------------------------------------------------------------------------------------------------


@requirement("KI-ASSERT-018", "KI-KML-018", "KI-ASSERT-013", "KI-ASSERT-022")
def test_a_correction_takes_the_place_of_the_old_claim(space: Space, people: People) -> None:
    old = claim(space, people, "+08:00")
    text = CLAIM.format("") + " SUPERSEDING :old"
    made = space.write(text, a=people.alice, v="+07:00", by=people.alice, old=old)
    new = made["handles"]["c"]
    assert space.element(old)["lifecycle"] == {"status": "superseded", "superseded_by": [{"id": new}]}
    assert space.element(new)["lifecycle"] == {"status": "active", "supersedes": [{"id": old}]}
    assert [(entry["op"], entry["id"]) for entry in made["changes"]] == [
        ("lifecycle", old),
        ("create", new),
        ("create", "P-2"),
    ]


@requirement("KI-ASSERT-018", "KI-ASSERT-023", "KI-ERR-037", "KI-KML-018")
@pytest.mark.parametrize("change", ["actor", "context", "predicate", "subject"])
def test_a_claim_of_another_actor_slot_or_context_supersedes_nothing(space: Space, people: People, change: str) -> None:
    old = claim(space, people, "+08:00")
    text = {
        "actor": 'ASSERT (:a, "timezone", "+07:00") { by: :b, mode: "stated" } SUPERSEDING :old',
        "context": 'ASSERT (:a, "timezone", "+07:00") { by: :a, mode: "stated", context: [:b] } SUPERSEDING :old',
        "predicate": 'ASSERT (:a, "lives_in", :o) { by: :a, mode: "stated" } SUPERSEDING :old',
        "subject": 'ASSERT (:b, "timezone", "+07:00") { by: :a, mode: "stated" } SUPERSEDING :old',
    }[change]
    values = {"a": people.alice, "b": people.bob, "o": people.oslo, "old": old}
    assert space.refused(text, **values) == "SupersessionMismatch"
    assert space.element(old)["lifecycle"]["status"] == "active"


_OF_A_STUB = {
    "superseded by a new claim": CLAIM.format("") + " SUPERSEDING :purged",
    "superseded by a known claim": 'TRANSITION :purged TO "superseded" BY :claim',
    "taking the place of a claim": 'TRANSITION :claim TO "superseded" BY :purged',
    "retracted": 'TRANSITION :purged TO "retracted"',
    "corrected": 'TRANSITION :gone TO "corrected" BY :record',
    "correcting a record": 'TRANSITION :record TO "corrected" BY :gone',
    "cited": CLAIM.format(", evidence: [:gone]"),
}


@requirement("KI-ASSERT-018", "KI-KML-018")
@pytest.mark.parametrize("use", _OF_A_STUB)
def test_what_was_purged_takes_part_in_nothing(space: Space, people: People, use: str) -> None:
    purged, standing = claim(space, people, "+08:00"), claim(space, people, "+09:00")
    record = 'CREATE EVIDENCE ?e { SET FIELDS { evidence_class: "document", payload: "it says" } }'
    gone, kept = space.handles(record)["e"], space.handles(record)["e"]
    for target in (purged, gone):
        space.write('PURGE :t CONFIRM "PURGE"', t=target)
    named = {"purged": purged, "claim": standing, "gone": gone, "record": kept}
    values = {"a": people.alice, "v": "+07:00", "by": people.alice} | named
    used = {name: value for name, value in values.items() if f":{name}" in _OF_A_STUB[use]}
    assert space.refused(_OF_A_STUB[use], **used) in {
        "EvidenceCorrectionConflict",
        "InvalidLifecycleTransition",
        "NotFoundOrNotVisible",
    }


@requirement("KI-ASSERT-018")
def test_a_scoped_correction_stays_in_its_scope(space: Space, people: People) -> None:
    old = claim(space, people, "+08:00", ", context: [:b]")
    text = CLAIM.format(", context: [:b]") + " SUPERSEDING :old"
    space.write(text, a=people.alice, v="+07:00", by=people.alice, b=people.bob, old=old)
    assert space.element(old)["lifecycle"]["status"] == "superseded"


@requirement("KI-ASSERT-021")
def test_the_successor_is_another_active_claim(space: Space, people: People) -> None:
    old, new = claim(space, people, "+01:00"), claim(space, people, "+02:00")
    assert space.refused('TRANSITION :t TO "superseded" BY :t', t=old) == "SupersessionMismatch"
    space.write('TRANSITION :t TO "retracted"', t=new)
    assert space.refused('TRANSITION :t TO "superseded" BY :n', t=old, n=new) == ILLEGAL
    assert space.refused('TRANSITION :t TO "superseded" BY "A-99"', t=old) == "NotFoundOrNotVisible"
    assert space.refused('TRANSITION :t TO "superseded" BY :m', t=old, m=people.message) == ILLEGAL


@requirement("KI-ASSERT-016")
def test_what_was_withdrawn_is_not_superseded_too(space: Space, people: People) -> None:
    old = claim(space, people, "+01:00")
    space.write('TRANSITION :t TO "retracted"', t=old)
    text = CLAIM.format("") + " SUPERSEDING :old"
    assert space.refused(text, a=people.alice, v="+02:00", by=people.alice, old=old) == ILLEGAL


@requirement("KI-KML-002", "KI-KML-018")
def test_a_block_may_supersede_before_it_creates(space: Space, people: People) -> None:
    old = claim(space, people, "+01:00")
    text = f'MUTATE {{ TRANSITION :old TO "superseded" BY ?c {CLAIM.format("")} }}'
    made = space.handles(text, a=people.alice, v="+05:00", by=people.alice, old=old)
    assert space.element(old)["lifecycle"]["superseded_by"] == [{"id": made["c"]}]


@requirement("KI-KML-017", "KI-KML-018")
def test_a_resent_correction_is_done_already(space: Space, people: People) -> None:
    old = claim(space, people, "+01:00")
    text = CLAIM.format(', key: "fix"') + " SUPERSEDING :old"
    values = {"a": people.alice, "v": "+02:00", "by": people.alice, "old": old}
    space.write(text, **values)
    assert space.answer(text, **values)["status"] == "no_effect"


# --- correction of Evidence -------------------------------------------------------------------------------------------


@requirement("KI-EVID-007", "KI-EVID-008", "KI-ERR-038")
def test_wrong_evidence_is_corrected_by_other_evidence_once(space: Space, people: People) -> None:
    make_one = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "message", payload: :p} }'
    right, other = space.handles(make_one, p="right")["e"], space.handles(make_one, p="other")["e"]
    result = space.write('TRANSITION :t TO "corrected" BY :n', t=people.message, n=right)
    assert [(c["id"], c["op"], c["touched"]) for c in result["changes"]] == [
        (people.message, "lifecycle", ["fields.corrected_by", "fields.status"]),
        (right, "update", ["fields.corrects"]),
    ]
    assert space.element(people.message)["payload"]["inline"] == "I live in Oslo."
    assert space.element(right)["lifecycle"] == {"status": "active", "corrects": [{"id": people.message}]}
    for by in (other, people.alice):
        code = space.refused('TRANSITION :t TO "corrected" BY :n', t=people.message, n=by)
        assert code == "EvidenceCorrectionConflict"
    assert space.refused('TRANSITION :t TO "corrected" BY :t', t=right) == "EvidenceCorrectionConflict"
