"""The shape of results: basis, sides, explanation, redaction, what may be cited, what is refused."""

from __future__ import annotations

import time
from typing import Any

import pytest

from brain import errors
from brain.kip.belief import BeliefRequest, GroundTriple, project_propositions, project_slots
from brain.kip.context import OWNER_PERMISSIONS, Limits
from tests.kip.belief.world import NOW, World, speaker

BASIS = {
    "authorization_view",
    "context_refs",
    "identity_version",
    "next_invalid_at",
    "policy",
    "purpose",
    "risk",
    "schema_environment_version",
    "snapshot_seq",
    "space_id",
    "trust_version",
    "valid_at",
}
REQUIRED = {
    "basis",
    "candidate_status",
    "conflict_reasons",
    "conflict_refs",
    "leading",
    "opposition",
    "proposition_id",
    "slot_status",
    "status",
    "support",
}


@pytest.mark.requirement("KI-BELIEF-001", "KI-BELIEF-067")
def test_every_result_carries_its_full_basis(world: World) -> None:
    ann, work = world.concept(), world.concept("Event")
    world.claim(ann, "lives_in", "Oslo", by=ann)
    asked = {"policy": "kip:memory-default", "context_refs": [work], "purpose": "answer_user", "risk": "low"}
    found = world.belief(ann, "lives_in", "Oslo", at="2026-05-01", **asked)
    basis = dict(found["basis"])
    assert basis.keys() == BASIS
    assert basis.pop("authorization_view").startswith("view:")
    assert basis == {
        "space_id": "kip:space:tests",
        "snapshot_seq": 1,
        "schema_environment_version": 1,
        "identity_version": 0,
        "policy": {"id": "kip:memory-default", "version": 1},
        "trust_version": "0",
        "context_refs": [work],
        "purpose": "answer_user",
        "risk": "low",
        "valid_at": "2026-05-01T00:00:00.000Z",
        "next_invalid_at": None,
    }
    assert world.slot(ann, "lives_in", at="2026-05-01", **asked)["basis"] == found["basis"]
    assert world.belief(ann, "lives_in", "Rome")["basis"].keys() == BASIS


@pytest.mark.requirement("KI-BELIEF-001", "KI-BELIEF-005")
@pytest.mark.parametrize("policy", ["kip:policy:structural", "kip:memory-default"])
def test_a_plain_result_has_no_more_than_it_needs(world: World, policy: str) -> None:
    ann = world.concept()
    seen = world.evidence()
    claim = world.claim(ann, "lives_in", "Oslo", by=ann, evidence=[seen])
    found = world.belief(ann, "lives_in", "Oslo", policy=policy, explanation="none")
    assert found.keys() == REQUIRED
    assert found["support"] == {
        "score": None,
        "score_semantics": None,
        "assertion_ids": [claim],
        "root_groups": [seen],
    }


@pytest.mark.requirement("KI-BELIEF-068")
def test_all_results_of_one_query_share_their_basis(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    world.claim(ann, "lives_in", "Oslo", by=ann)
    world.claim(bob, "likes", "tea", by=bob)
    with world.run() as run:
        request = BeliefRequest.parse(run, None, None)
        one, other = project_propositions(run, request, ["P-1", "P-2"])
        slot = project_slots(run, request, [(ann, world.predicate("lives_in"))])[0]
    assert one.wire["basis"] == other.wire["basis"] == slot.wire["basis"]
    assert one.wire["basis"]["valid_at"] == NOW


@pytest.mark.requirement("KI-BELIEF-067")
def test_the_authorization_view_is_opaque_and_differs_with_rights(world: World) -> None:
    ann = world.concept()
    fewer = speaker(permissions=OWNER_PERMISSIONS - {"purge"})
    views = [world.belief(ann, "likes", "tea", session=s)["basis"]["authorization_view"] for s in (None, None, fewer)]
    assert views[0] == views[1] != views[2]


@pytest.mark.requirement("KI-BELIEF-046")
def test_the_next_change_is_that_of_the_targets_slot(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    world.claim(ann, "lives_in", "Oslo", by=ann)
    world.claim(ann, "lives_in", "Rome", by=bob, valid={"from": "2026-10-01", "until": "2026-11-01"})
    world.claim(ann, "likes", "tea", by=ann, valid={"until": "2026-09-25"})

    def turn(predicate: str, value: Any, at: str) -> Any:
        return world.belief(ann, predicate, value, at=at)["basis"]["next_invalid_at"]

    assert turn("lives_in", "Oslo", "2026-09-20") == "2026-10-01T00:00:00.000Z"
    assert turn("lives_in", "Oslo", "2026-10-01") == "2026-11-01T00:00:00.000Z"
    assert turn("lives_in", "Rome", "2026-11-01") is None
    assert turn("lives_in", "Oslo", "2025-01-01") == "2026-01-01T00:00:00.000Z"
    assert turn("likes", "coffee", "2026-09-20") is None
    assert world.slot(ann, "likes")["basis"]["next_invalid_at"] == "2026-09-25T00:00:00.000Z"


@pytest.mark.requirement("KI-BELIEF-071")
def test_the_ledger_tells_what_counted_and_what_did_not(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    seen = world.evidence()
    first = world.claim(ann, "lives_in", "Oslo", by=ann, evidence=[seen])
    moved = world.claim(ann, "lives_in", "Rome", by=ann, at="2026-06-01", valid={"from": "2026-06-01"})
    told = world.claim(ann, "lives_in", "Oslo", by=bob, mode="predicted")
    ledger = world.belief(ann, "lives_in", "Oslo", explanation="ledger")["explanation"]
    assert ledger["excluded"] == [
        {"id": told, "reason": "mode_not_eligible"},
        {"id": first, "reason": "expired"},
    ]
    assert ledger["succession"] == [{"id": first, "ended_by": [moved], "until": "2026-06-01T00:00:00.000Z"}]
    summary = world.belief(ann, "lives_in", "Rome")["explanation"]
    assert summary == {"level": "summary", "support_groups": 1, "opposition_groups": 0, "excluded": {}}
    before = world.belief(ann, "lives_in", "Oslo", at="2026-05-01", explanation="ledger")["explanation"]
    assert before["groups"]["support"] == [
        {"actors": [ann], "assertion_ids": [first], "contribution": 1.0, "evidence": [seen]}
    ]
    assert "explanation" not in world.belief(ann, "lives_in", "Oslo", explanation="none")


@pytest.mark.requirement("KI-BELIEF-072")
def test_who_may_not_read_claims_learns_the_status_and_that_the_rest_is_withheld(world: World) -> None:
    ann = world.concept()
    world.claim(ann, "likes", "tea", by=ann, evidence=[world.evidence()])
    session = speaker(permissions=frozenset({"project"}))
    found = world.belief(ann, "likes", "tea", session=session, explanation="ledger")
    assert found["status"] == "accepted"
    assert found["support"] == found["support"] | {"assertion_ids": [], "root_groups": []}
    assert found["explanation"] == {"level": "ledger", "redacted": True}


@pytest.mark.requirement("KI-BELIEF-073")
def test_who_may_not_project_is_refused(world: World) -> None:
    session = speaker(permissions=frozenset({"read"}))
    with pytest.raises(errors.ProjectionNotAuthorized):
        world.belief(world.concept(), "likes", "tea", session=session)
    with pytest.raises(errors.ProjectionNotAuthorized):
        world.projected_slot("C-1", "likes", session=session)


def test_a_verdict_rests_on_what_may_hold_and_its_evidence(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    seen, old = world.evidence(), world.evidence()
    world.claim(ann, "lives_in", "Rome", by=ann, at="2025-01-01", evidence=[old])
    now = world.claim(ann, "lives_in", "Oslo", by=ann, evidence=[seen], valid={"from": "2026-01-01"})
    withdrawn = world.claim(ann, "lives_in", "Oslo", by=bob)
    world.retract(withdrawn)
    assert world.projected(ann, "lives_in", "Oslo").rests_on == {"P-2", now, seen}
    assert world.projected_slot(ann, "lives_in").rests_on == {"P-2", now, seen}


@pytest.mark.requirement("KI-BELIEF-074")
def test_an_older_snapshot_believes_what_was_known_then(world: World) -> None:
    ann = world.concept()
    world.claim(ann, "lives_in", "Oslo", by=ann)
    world.commit()
    world.claim(ann, "lives_in", "Rome", by=ann, at="2026-06-01")
    target = GroundTriple(ann, world.predicate("lives_in"), "Oslo")
    for seq, status in ((1, "accepted"), (2, "insufficient")):
        with world.run(seq=seq) as run:
            found = project_propositions(run, BeliefRequest.parse(run, None, None), [target])[0].wire
        assert (found["status"], found["basis"]["snapshot_seq"]) == (status, seq)


@pytest.mark.requirement("KI-BELIEF-039")
def test_more_than_the_bound_is_an_error_and_never_a_verdict(world: World) -> None:
    ann = world.concept()
    for _ in range(6):
        world.claim(ann, "likes", "tea", by=world.concept())
    with pytest.raises(errors.ResourceExhausted):
        world.belief(ann, "likes", "tea", limits=Limits(plan_elements=5))


def test_past_the_deadline_nothing_is_answered(world: World) -> None:
    ann = world.concept()
    world.claim(ann, "likes", "tea", by=ann)
    with world.run(deadline_ms=time.monotonic() * 1000 - 1) as run, pytest.raises(errors.ExecutionTimeout):
        project_propositions(run, BeliefRequest.parse(run, None, None), ["P-1"])


class CountingSnapshot:
    """A snapshot that counts what it is asked; `expect` says only what will be."""

    def __init__(self, snapshot: Any) -> None:
        self._snapshot = snapshot
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._snapshot, name)
        if callable(found) and name != "expect":
            self.calls.append(name)
        return found


def test_a_hundred_slots_cost_a_handful_of_store_calls(world: World) -> None:
    people = [world.concept() for _ in range(100)]
    for person in people:
        for city in ("Oslo", "Rome"):
            world.claim(person, "lives_in", city, by=person, evidence=[world.derived_from(world.evidence())])
    with world.run() as run:
        counting = CountingSnapshot(run.snapshot)
        counted = world.run_on(counting)  # type: ignore[arg-type]
        request = BeliefRequest.parse(counted, None, None)
        found = project_slots(counted, request, [(p, world.predicate("lives_in")) for p in people])
    assert len(found) == 100
    assert len(counting.calls) <= 8, counting.calls
