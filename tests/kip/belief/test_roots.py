"""How many independent voices there are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.kip.belief.model import Claim
from brain.kip.belief.roots import corroboration_groups
from tests.kip.belief.claims import claim
from tests.kip.belief.world import World

STRUCTURAL = {"policy": "kip:policy:structural"}


def voices(world: World, subject: str, **epistemic: Any) -> int:
    return len(world.belief(subject, "likes", "tea", **{**STRUCTURAL, **epistemic})["support"]["root_groups"])


@pytest.mark.requirement("KI-BELIEF-025")
def test_one_actor_is_one_voice_with_any_evidence_or_none(world: World) -> None:
    ann, bob, eve = (world.concept() for _ in range(3))
    world.claim(ann, "likes", "tea", by=bob)
    world.claim(ann, "likes", "tea", by=bob, evidence=[world.evidence()])
    world.claim(ann, "likes", "tea", by=bob, evidence=[world.evidence()])
    assert voices(world, ann) == 1
    world.claim(ann, "likes", "tea", by=eve)
    assert voices(world, ann) == 2


@pytest.mark.requirement("KI-BELIEF-021", "KI-BELIEF-022")
def test_a_chain_of_copies_goes_back_to_one_root(world: World) -> None:
    ann, bob, eve, dan = (world.concept() for _ in range(4))
    original = world.evidence()
    translated = world.derived_from(original)
    digested = world.evidence("derived_result", generated_by={"id": world.activity("summarization", [translated])})
    for actor, evidence in ((bob, original), (eve, translated), (dan, digested)):
        world.claim(ann, "likes", "tea", by=actor, evidence=[evidence])
    assert voices(world, ann) == 1


@pytest.mark.requirement("KI-BELIEF-022")
def test_an_activity_that_lists_its_output_leads_upstream_as_one_that_is_named(world: World) -> None:
    ann, bob, eve = (world.concept() for _ in range(3))
    original, summary = world.evidence(), world.evidence("derived_result")
    world.activity("summarization", [original], [summary])
    for actor, evidence in ((bob, original), (eve, summary)):
        world.claim(ann, "likes", "tea", by=actor, evidence=[evidence])
    assert voices(world, ann) == 1


@pytest.mark.requirement("KI-BELIEF-026")
def test_what_an_instrument_saw_of_a_decision_is_not_made_from_it(world: World) -> None:
    ann, bob, probe = (world.concept() for _ in range(3))
    message, outcome = world.evidence(), world.evidence("outcome")
    decision = world.activity("action_gate", [message])
    world.activity("outcome_observation", [decision], [outcome])
    for actor, evidence in ((bob, message), (probe, outcome)):
        world.claim(ann, "likes", "tea", by=actor, mode="observed", evidence=[evidence])
    assert voices(world, ann) == 2


@pytest.mark.requirement("KI-BELIEF-021")
def test_relays_of_one_speaker_are_that_speakers_voice(world: World) -> None:
    ann, bob, eve = (world.concept() for _ in range(3))
    world.claim(ann, "likes", "tea", by=ann)
    for relay in (bob, eve):
        message = world.evidence(source=[{"id": ann}])
        world.claim(ann, "likes", "tea", by=relay, evidence=[message])
    assert voices(world, ann) == 1


@pytest.mark.requirement("KI-BELIEF-023")
@pytest.mark.parametrize("policy", ["kip:policy:baseline", "kip:policy:structural", "kip:memory-default"])
def test_a_circle_of_evidence_supports_nothing(world: World, policy: str) -> None:
    ann, bob = world.concept(), world.concept()
    one = world.evidence("derived_result", source=[{"id": "E-2"}])
    other = world.derived_from(one)
    world.claim(ann, "likes", "tea", by=bob, evidence=[other])
    found = world.belief(ann, "likes", "tea", policy=policy, explanation="ledger")
    assert (found["status"], found["support"]["root_groups"]) == ("uncertain", [])
    assert found["explanation"]["without_root"] == found["support"]["assertion_ids"]
    world.change(one, source=[{"id": other}, {"id": world.evidence()}])
    assert world.belief(ann, "likes", "tea", policy=policy)["status"] == "accepted"


@pytest.mark.requirement("KI-BELIEF-024", "KI-BELIEF-082")
def test_one_tool_run_one_import_and_one_event_are_one_voice_each(world: World) -> None:
    ann, bob, eve, meeting = (world.concept() for _ in range(4))
    run = world.activity("tool_execution")
    imported = {"origin": {"principal_id": "tests", "channel": "import", "import_id": "capsule-1"}}
    shared: list[dict[str, Any]] = [
        {"evidence": ({"generated_by": {"id": run}})},
        {"system": imported},
        {"evidence": ({"source": [{"id": meeting}]})},
    ]
    for value, how in enumerate(shared):
        for actor in (bob, eve):
            evidence = [world.evidence("tool_result", **how["evidence"])] if "evidence" in how else []
            world.claim(ann, "knows", value, by=actor, evidence=evidence, system=how.get("system", {}))
        groups = world.belief(ann, "knows", value)["support"]["root_groups"]
        assert [group["actors"] for group in groups] == [[bob, eve]]


@pytest.mark.requirement("KI-BELIEF-026")
def test_two_instruments_are_two_voices_even_when_they_show_the_same(world: World) -> None:
    ann, left, right = (world.concept() for _ in range(3))
    for sensor in (left, right):
        reading = world.evidence("measurement", source=[{"id": sensor}])
        world.claim(ann, "likes", "tea", by=sensor, mode="observed", evidence=[reading])
    assert voices(world, ann) == 2


@pytest.mark.requirement("KI-BELIEF-027")
def test_an_inference_adds_nothing_to_its_premises_and_joins_nobody(world: World) -> None:
    ann, bob, eve, brain = (world.concept() for _ in range(4))
    premises = [world.claim(ann, "likes", "tea", by=actor, evidence=[world.evidence()]) for actor in (bob, eve)]
    assert voices(world, ann) == 2
    derived = world.claim(ann, "likes", "tea", by=brain, mode="inferred")
    world.inference(derived, world.all_of(*premises))
    assert voices(world, ann) == 2
    baseline = world.belief(ann, "likes", "tea")
    assert derived in baseline["support"]["assertion_ids"]


@pytest.mark.requirement("KI-BELIEF-027", "KI-BELIEF-080")
def test_a_confident_inference_does_not_raise_the_weight_of_what_it_came_from(world: World) -> None:
    ann, bob, brain = (world.concept() for _ in range(3))
    premise = world.claim(ann, "likes", "tea", by=bob, confidence=0.4)
    world.inference(world.claim(ann, "likes", "tea", by=brain, mode="inferred", confidence=1.0), world.all_of(premise))
    found = world.belief(ann, "likes", "tea")
    assert (found["status"], found["support"]["score"]) == ("uncertain", pytest.approx(0.4))


def test_challenges_and_context_are_not_what_a_claim_rests_on(world: World) -> None:
    ann, bob, eve = (world.concept() for _ in range(3))
    shared = world.evidence()
    world.claim(ann, "likes", "tea", by=bob, evidence=[(shared, "context")])
    world.claim(ann, "likes", "tea", by=eve, evidence=[(shared, "challenge")])
    assert voices(world, ann) == 2


rooted = st.lists(
    st.tuples(
        st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3), st.booleans(), st.sampled_from([0.2, 0.5, None])
    ),
    max_size=8,
).map(
    lambda rows: [
        claim(i, roots=roots, is_derived=derived, confidence=confidence)
        for i, (roots, derived, confidence) in enumerate(rows, 1)
    ]
)


@pytest.mark.requirement("KI-BELIEF-021", "KI-BELIEF-027")
@given(claims=rooted, seed=st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_order_and_hold_every_claim_once(claims: list[Claim], seed: Any) -> None:
    groups = corroboration_groups(claims)
    shuffled = list(claims)
    seed.shuffle(shuffled)
    assert corroboration_groups(shuffled) == groups
    assert sorted(c.id for group in groups for c in group.claims) == sorted(c.id for c in claims)
    firsthand = [c for c in claims if not c.is_derived]
    for group in groups:
        for one in group.claims:
            for other in firsthand:
                if one in firsthand and one.roots & other.roots:
                    assert other in group.claims


@pytest.mark.requirement("KI-BELIEF-027")
@given(claims=rooted, extra=st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3))
def test_a_derived_claim_never_takes_a_voice_away(claims: list[Claim], extra: set[str]) -> None:
    derived = claim(99, roots=extra, is_derived=True)
    before, after = corroboration_groups(claims), corroboration_groups([*claims, derived])
    firsthand = [group for group in before if any(not c.is_derived for c in group.claims)]
    kept = [group for group in after if any(not c.is_derived for c in group.claims)]
    assert [g.contribution for g in kept] == [g.contribution for g in firsthand]
