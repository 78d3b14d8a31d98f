"""What a policy decides for one value from the claims about it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.kip.belief.world import World

BASELINE, STRUCTURAL, DEFAULT, FORECAST = (
    "kip:policy:baseline",
    "kip:policy:structural",
    "kip:memory-default",
    "kip:policy:forecast",
)
EVERY_POLICY = pytest.mark.parametrize("policy", [BASELINE, STRUCTURAL, DEFAULT])


@pytest.mark.requirement("KI-BELIEF-002", "KI-BELIEF-003", "KI-BELIEF-014", "KI-BELIEF-015", "KI-BELIEF-017")
@EVERY_POLICY
@pytest.mark.parametrize(
    ("stances", "status", "leading"),
    [
        ((), "insufficient", "none"),
        (("support",), "accepted", "support"),
        (("reject",), "rejected", "opposition"),
        (("support", "reject"), "contested", "none"),
        (("support", "support", "reject"), "contested", "support"),
        (("support", "reject", "reject"), "contested", "opposition"),
        (("uncertain",), "uncertain", "none"),
        (("uncertain", "support"), "accepted", "support"),
        (("uncertain", "reject"), "rejected", "opposition"),
    ],
)
def test_stances_decide(world: World, policy: str, stances: tuple[str, ...], status: str, leading: str) -> None:
    ann = world.concept()
    for stance in stances:
        world.claim(ann, "likes", "tea", by=world.concept(), stance=stance)
    found = world.belief(ann, "likes", "tea", policy=policy)
    assert (found["status"], found["candidate_status"], found["leading"]) == (status, status, leading)


@pytest.mark.requirement("KI-BELIEF-016", "KI-BELIEF-005")
@pytest.mark.parametrize("policy", [STRUCTURAL, DEFAULT])
def test_confidence_never_decides_where_nothing_is_weighed(world: World, policy: str) -> None:
    ann = world.concept()
    world.claim(ann, "likes", "tea", by=world.concept(), confidence=0.99)
    world.claim(ann, "likes", "tea", by=world.concept(), confidence=0.0, stance="reject")
    found = world.belief(ann, "likes", "tea", policy=policy)
    assert (found["status"], found["support"]["score"], found["opposition"]["score"]) == ("contested", None, None)


@pytest.mark.requirement("KI-BELIEF-080", "KI-BELIEF-081", "KI-BELIEF-005")
@pytest.mark.parametrize(
    ("support", "opposition", "status"),
    [
        (None, None, "insufficient"),
        (0.69, None, "uncertain"),
        (0.7, None, "accepted"),
        (0.7, 0.29, "accepted"),
        (0.7, 0.3, "contested"),
        (0.3, 0.3, "contested"),
        (0.29, 0.7, "rejected"),
        (0.3, 0.7, "contested"),
        (0.29, 0.69, "uncertain"),
        (None, 0.7, "rejected"),
        (None, 0.69, "uncertain"),
        (0.0, None, "uncertain"),
    ],
)
def test_the_baseline_weighs_against_two_thresholds(
    world: World, support: float | None, opposition: float | None, status: str
) -> None:
    ann = world.concept()
    for stance, confidence in (("support", support), ("reject", opposition)):
        if confidence is not None:
            world.claim(ann, "likes", "tea", by=world.concept(), stance=stance, confidence=confidence)
    found = world.belief(ann, "likes", "tea", policy=BASELINE)
    assert found["status"] == status
    assert found["support"]["score"] == pytest.approx(support or 0.0)
    assert found["opposition"]["score"] == pytest.approx(opposition or 0.0)
    assert found["support"]["score_semantics"] == "normalized_support_not_probability"


@pytest.mark.requirement("KI-BELIEF-080")
def test_independent_groups_add_up_and_a_missing_confidence_is_whole(world: World) -> None:
    ann = world.concept()
    world.claim(ann, "likes", "tea", by=world.concept(), confidence=0.6)
    world.claim(ann, "likes", "tea", by=world.concept(), confidence=0.5)
    assert world.belief(ann, "likes", "tea")["support"]["score"] == pytest.approx(0.8)
    world.claim(ann, "likes", "tea", by=world.concept())
    assert world.belief(ann, "likes", "tea")["support"]["score"] == 1.0


@pytest.mark.requirement("KI-BELIEF-082")
def test_claims_on_one_root_weigh_once_with_the_greatest_confidence(world: World) -> None:
    ann, ben, cho, dia = (world.concept() for _ in range(4))
    seen = world.evidence("document")
    by_ben = world.claim(ann, "likes", "tea", by=ben, confidence=0.6, evidence=[seen])
    by_cho = world.claim(ann, "likes", "tea", by=cho, confidence=0.7, evidence=[seen])
    by_dia = world.claim(ann, "likes", "tea", by=dia, confidence=0.5, mode="observed")
    support = world.belief(ann, "likes", "tea")["support"]
    assert support["score"] == pytest.approx(0.85)
    assert support["root_groups"] == [
        {"actors": [ben, cho], "assertion_ids": [by_ben, by_cho], "contribution": 0.7, "evidence": [seen]},
        {"actors": [dia], "assertion_ids": [by_dia], "contribution": 0.5, "evidence": []},
    ]


MODES = ("observed", "stated", "inferred", "imported", "hypothetical", "predicted")
ELIGIBLE = {
    BASELINE: {"observed", "stated", "imported"},
    STRUCTURAL: {"observed", "stated", "imported"},
    DEFAULT: {"observed", "stated"},
    FORECAST: {"predicted"},
}


@pytest.mark.requirement("KI-BELIEF-013", "KI-BELIEF-018", "KI-BELIEF-080", "KI-BELIEF-083")
@pytest.mark.parametrize(("policy", "mode"), list(product(ELIGIBLE, MODES)))
@pytest.mark.parametrize("hypotheses", [False, True])
def test_modes_count_as_the_policy_says(world: World, policy: str, mode: str, hypotheses: bool) -> None:
    ann = world.concept()
    world.claim(ann, "likes", "tea", by=ann, mode=mode, valid={"from": "2026-01-01"})
    found = world.belief(ann, "likes", "tea", policy=policy, include_hypothetical=hypotheses, explanation="ledger")
    if mode in ELIGIBLE[policy] or (hypotheses and mode == "hypothetical"):
        assert found["status"] == "accepted"
    elif mode == "inferred":
        # Eligible everywhere, and without a checkable basis never enough.
        assert found["status"] == "uncertain"
    else:
        assert found["status"] == "insufficient"
        assert found["explanation"]["excluded"] == [{"id": "A-1", "reason": "mode_not_eligible"}]


@pytest.mark.requirement("KI-BELIEF-013", "KI-BELIEF-019", "KI-BELIEF-056", "KI-ASSERT-019", "KI-ASSERT-017")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lifecycle": {"status": "retracted"}}, "retracted"),
        ({"lifecycle": {"status": "superseded"}}, "superseded"),
        ({"state": "archived"}, "archived"),
        ({"state": "tombstoned"}, "tombstoned"),
        ({"governance": {"quarantined": True}}, "quarantined"),
        ({"system": {"recording_validity": {"status": "invalidated", "repair_ref": "X-1"}}}, "recording_invalidated"),
        ({"context_refs": [{"id": "C-1"}]}, "context_mismatch"),
        ({"valid_time": {"until": "2026-09-01T00:00:00.000Z"}}, "expired"),
        ({"valid_time": {"from": "2026-10-01T00:00:00.000Z"}}, "not_yet_valid"),
    ],
)
@EVERY_POLICY
def test_a_claim_that_does_not_count_says_why(world: World, policy: str, change: dict[str, Any], reason: str) -> None:
    ann = world.concept()
    claim = world.claim(ann, "likes", "tea", by=ann)
    world.change(claim, **change)
    found = world.belief(ann, "likes", "tea", policy=policy, explanation="ledger")
    assert found["status"] == "insufficient"
    assert found["explanation"]["excluded"] == [{"id": claim, "reason": reason}]
    assert found["support"]["assertion_ids"] == []


@pytest.mark.requirement("KI-BELIEF-013")
def test_corrected_evidence_no_longer_carries_a_claim(world: World) -> None:
    ann = world.concept()
    wrong, right, sound = world.evidence(), world.evidence(), world.evidence()
    on_one = world.claim(ann, "likes", "tea", by=ann, evidence=[wrong])
    on_two = world.claim(ann, "likes", "coffee", by=ann, evidence=[wrong, sound])
    world.correct(wrong, right)
    found = world.belief(ann, "likes", "tea", explanation="ledger")
    assert found["status"] == "insufficient"
    assert found["explanation"]["excluded"] == [{"id": on_one, "reason": "evidence_corrected"}]
    assert world.belief(ann, "likes", "coffee")["support"]["assertion_ids"] == [on_two]


@pytest.mark.requirement("KI-BELIEF-013")
def test_what_was_derived_from_corrected_evidence_is_weak(world: World) -> None:
    ann = world.concept()
    wrong, right = world.evidence(), world.evidence()
    world.claim(ann, "likes", "tea", by=ann, evidence=[world.derived_from(wrong)])
    world.correct(wrong, right)
    assert world.belief(ann, "likes", "tea")["status"] == "uncertain"


@pytest.mark.requirement("KI-BELIEF-044")
def test_what_may_hold_is_uncertain_and_decides_nothing(world: World) -> None:
    ann, bob = world.concept(), world.concept()
    rough = {"from": {"earliest": "2026-01-01", "latest": "2026-12-31"}}
    world.claim(ann, "likes", "tea", by=ann, valid=rough)
    found = world.belief(ann, "likes", "tea")
    assert (found["status"], found["uncertainty"]["reasons"]) == ("uncertain", ["temporal_indeterminate"])
    world.claim(ann, "likes", "tea", by=bob, stance="reject")
    assert world.belief(ann, "likes", "tea")["status"] == "rejected"


@pytest.mark.requirement("KI-BELIEF-059")
@pytest.mark.parametrize(
    ("scope", "asked", "status"),
    [
        ((), (), "accepted"),
        ((), ("work",), "accepted"),
        (("work",), (), "insufficient"),
        (("work",), ("work",), "accepted"),
        (("work",), ("work", "travel"), "accepted"),
        (("work", "travel"), ("work",), "insufficient"),
    ],
)
@EVERY_POLICY
def test_a_claim_counts_where_its_contexts_are_all_asked_for(
    world: World, policy: str, scope: tuple[str, ...], asked: tuple[str, ...], status: str
) -> None:
    ann = world.concept()
    named = {"work": world.concept("Event"), "travel": world.concept("Event")}
    world.claim(ann, "likes", "tea", by=ann, context=[named[name] for name in scope])
    found = world.belief(ann, "likes", "tea", policy=policy, context_refs=[named[name] for name in asked])
    assert found["status"] == status


@pytest.mark.requirement("KI-BELIEF-060")
def test_contexts_compare_after_merges(world: World) -> None:
    ann, job, work = world.concept(), world.concept("Event"), world.concept("Event")
    world.claim(ann, "likes", "tea", by=ann, context=[job])
    assert world.belief(ann, "likes", "tea", context_refs=[work])["status"] == "insufficient"
    world.merge(job, work)
    assert world.belief(ann, "likes", "tea", context_refs=[work])["status"] == "accepted"
    assert world.belief(ann, "likes", "tea", context_refs=[job])["status"] == "accepted"


@pytest.mark.requirement("KI-BELIEF-057")
def test_leaving_ends_support_from_that_day(world: World) -> None:
    ann, acme = world.concept(), world.concept()
    world.claim(ann, "works_for", acme, by=ann)
    world.claim(ann, "works_for", acme, by=ann, at="2026-06-01", stance="reject", valid={"from": "2026-06-01"})
    assert world.belief(ann, "works_for", acme, at="2026-05-31")["status"] == "accepted"
    assert world.belief(ann, "works_for", acme, at="2026-06-01")["status"] == "rejected"


@pytest.mark.requirement("KI-BELIEF-020")
def test_history_is_told_and_changes_no_status(world: World) -> None:
    ann = world.concept()
    world.claim(ann, "lives_in", "Oslo", by=ann)
    withdrawn = world.claim(ann, "lives_in", "Oslo", by=world.concept())
    world.retract(withdrawn)
    world.claim(ann, "lives_in", "Rome", by=ann, at="2026-06-01", valid={"from": "2026-06-01"})
    plain = world.belief(ann, "lives_in", "Oslo")
    told = world.belief(ann, "lives_in", "Oslo", include_historical=True)
    assert [entry["status"] for entry in told["explanation"].pop("historical")] == ["retracted", "expired"]
    assert told == plain
