"""A derivation makes a value accepted only while its premises stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from brain.kip.belief import BeliefRequest, dependency_validity
from brain.kip.context import Limits
from tests.kip.belief.world import World

EVERY_POLICY = pytest.mark.parametrize("policy", ["kip:policy:baseline", "kip:policy:structural", "kip:memory-default"])


class Derived:
    """Bob said tea; the Brain concluded that Ann likes mornings from what he said and from a document."""

    def __init__(self, world: World, role: str = "all_of", **members: Any) -> None:
        self.world = world
        self.ann, self.bob, self.brain = (world.concept() for _ in range(3))
        self.message, self.document = world.evidence(), world.evidence("document")
        self.premise = world.claim(self.ann, "lives_in", "Oslo", by=self.bob, evidence=[self.message])
        self.claim = world.claim(self.ann, "likes", "mornings", by=self.brain, mode="inferred")
        pins = [world.pin(self.premise), world.pin(self.document)]
        world.inference(self.claim, {"role": role, "pins": pins}, **members)

    def read(self, **epistemic: Any) -> dict[str, Any]:
        return self.world.belief(self.ann, "likes", "mornings", **epistemic)

    def validity(self, element_id: str | None = None) -> dict[str, Any]:
        with self.world.run() as run:
            request = BeliefRequest.parse(run, None, None)
            asked = element_id or self.claim
            return dependency_validity(run, request, [asked])[asked]


@pytest.mark.requirement("KI-BELIEF-076")
@EVERY_POLICY
def test_a_derivation_without_a_basis_is_uncertain_and_contests_nobody(world: World, policy: str) -> None:
    ann, brain = world.concept(), world.concept()
    world.claim(ann, "timezone", "+01:00", by=brain, mode="inferred")
    found = world.belief(ann, "timezone", "+01:00", policy=policy)
    assert (found["status"], found["candidate_status"], found["leading"]) == ("uncertain", "accepted", "none")
    assert found["dependency_validity"]["status"] == "unverifiable"
    assert found["dependency_validity"]["reasons"] == ["dependency_basis_missing"]
    assert found["dependency_validity"]["action_eligible"] is False
    world.claim(ann, "timezone", "+02:00", by=ann)
    assert world.statuses(ann, "timezone", ["+01:00", "+02:00"], policy=policy) == ["uncertain", "accepted"]


@pytest.mark.requirement("KI-BELIEF-076")
def test_a_denied_derivation_stays_contested_and_a_derived_denial_rejects(world: World) -> None:
    ann, bob, brain = (world.concept() for _ in range(3))
    world.claim(ann, "likes", "tea", by=brain, mode="inferred")
    world.claim(ann, "likes", "tea", by=bob, stance="reject")
    world.claim(ann, "likes", "coffee", by=brain, mode="inferred", stance="reject")
    assert world.statuses(ann, "likes", ["tea", "coffee"]) == ["contested", "rejected"]


@pytest.mark.requirement("KI-BELIEF-076")
@EVERY_POLICY
def test_a_current_derivation_is_accepted_until_a_root_is_corrected(world: World, policy: str) -> None:
    derived = Derived(world)
    found = derived.read(policy=policy)
    assert (found["status"], found["dependency_validity"]["status"]) == ("accepted", "current")
    assert found["dependency_validity"]["action_eligible"] is True
    assert found["dependency_validity"]["basis"] == found["basis"]
    world.correct(derived.document, world.evidence())
    found = derived.read(policy=policy)
    assert (found["status"], found["dependency_validity"]["status"]) == ("uncertain", "needs_review")
    assert "source_corrected" in found["dependency_validity"]["reasons"]


def retract(derived: Derived) -> None:
    derived.world.retract(derived.premise)


def correct(derived: Derived) -> None:
    derived.world.correct(derived.document, derived.world.evidence())


def touch(derived: Derived) -> None:
    derived.world.change(derived.document, retention={"retention_class": "short"})


def archive(derived: Derived) -> None:
    derived.world.change(derived.premise, state="archived")


def purge(derived: Derived) -> None:
    derived.world.change(derived.document, state="purged")


def repair(derived: Derived) -> None:
    repaired = {"recording_validity": {"status": "invalidated", "repair_ref": None}}
    derived.world.change(derived.premise, system=repaired)


def quarantine(derived: Derived) -> None:
    derived.world.change(derived.document, governance={"quarantined": True})


def succeed(derived: Derived) -> None:
    """The premise is over because its speaker moved on; nothing about its record has changed."""
    derived.world.claim(derived.ann, "lives_in", "Rome", by=derived.bob, at="2026-06-01", valid={"from": "2026-06-01"})


@pytest.mark.requirement("KI-BELIEF-077")
@pytest.mark.parametrize(
    ("happens", "status", "reason"),
    [
        (retract, "needs_review", "source_revised"),
        (correct, "needs_review", "source_corrected"),
        (touch, "needs_review", "source_changed"),
        (archive, "needs_review", "source_archived"),
        (repair, "needs_review", "recording_repaired"),
        (succeed, "needs_review", "prerequisite_expired"),
        (purge, "unverifiable", "source_unavailable"),
        (quarantine, "unverifiable", "source_unavailable"),
    ],
)
def test_each_thing_that_can_happen_to_a_premise_has_its_reason(
    world: World, happens: Callable[[Derived], None], status: str, reason: str
) -> None:
    derived = Derived(world)
    assert derived.validity()["status"] == "current"
    happens(derived)
    found = derived.validity()
    assert found["status"] == status
    assert reason in found["reasons"]
    assert derived.read()["status"] == "uncertain"


@pytest.mark.requirement("KI-BELIEF-077")
def test_an_alternative_that_stands_is_enough(world: World) -> None:
    derived = Derived(world, role="any_of")
    retract(derived)
    assert derived.validity()["status"] == "current"
    correct(derived)
    found = derived.validity()
    assert (found["status"], "alternatives_lost" in found["reasons"]) == ("needs_review", True)


@pytest.mark.requirement("KI-BELIEF-077")
def test_context_is_disclosed_and_proves_nothing(world: World) -> None:
    derived = Derived(world, role="context")
    assert derived.validity() == derived.validity() | {
        "status": "unverifiable",
        "reasons": ["dependency_basis_missing"],
    }


@pytest.mark.requirement("KI-BELIEF-077")
@pytest.mark.parametrize("status", ["pending", "running", "failed", "cancelled"])
def test_only_a_finished_activity_vouches_for_what_it_made(world: World, status: str) -> None:
    assert Derived(world, status=status).validity()["status"] == "unverifiable"


@pytest.mark.requirement("KI-BELIEF-077")
def test_a_derivation_on_a_derivation_stands_and_falls_with_it(world: World) -> None:
    derived = Derived(world)
    second = world.claim(derived.ann, "likes", "dawn", by=derived.brain, mode="inferred")
    world.inference(second, world.all_of(derived.claim))
    assert derived.validity(second)["status"] == "current"
    retract(derived)
    found = derived.validity(second)
    assert (found["status"], found["reasons"]) == (
        "needs_review",
        ["premise_not_current", "source_changed", "source_revised"],
    )


@pytest.mark.requirement("KI-BELIEF-077", "KI-BELIEF-023")
def test_derivations_that_rest_on_each_other_are_unverifiable(world: World) -> None:
    ann, brain = world.concept(), world.concept()
    one = world.claim(ann, "likes", "tea", by=brain, mode="inferred")
    other = world.claim(ann, "likes", "scones", by=brain, mode="inferred")
    world.inference(one, world.all_of(other))
    world.inference(other, world.all_of(one))
    found = world.belief(ann, "likes", "tea")
    assert found["status"] == "uncertain"
    with world.run() as run:
        validity = dependency_validity(run, BeliefRequest.parse(run, None, None), [one])[one]
    assert (validity["status"], "premise_cycle" in validity["reasons"]) == ("unverifiable", True)


@pytest.mark.requirement("KI-BELIEF-078")
def test_a_pin_on_planes_does_not_see_other_planes(world: World) -> None:
    ann, brain = world.concept(), world.concept()
    planes = {"attributes": 1, "structural": 0, "facets": {"kip://p@1.0.0/MnemonicState": 1}}
    insight = world.concept(system={"plane_versions": planes})
    derived = world.claim(ann, "likes", "tea", by=brain, mode="inferred")
    world.inference(derived, {"role": "all_of", "pins": [world.pin(insight, planes={"attributes": 1})]})
    assert world.belief(ann, "likes", "tea")["status"] == "accepted"
    faded = {**planes, "facets": {"kip://p@1.0.0/MnemonicState": 2}}
    world.change(insight, system={"plane_versions": faded})
    assert world.belief(ann, "likes", "tea")["status"] == "accepted"
    world.change(insight, system={"plane_versions": {**faded, "attributes": 2}})
    assert world.belief(ann, "likes", "tea")["status"] == "uncertain"


@pytest.mark.requirement("KI-BELIEF-077", "KI-PROFILE-026")
def test_a_validation_with_the_same_premises_makes_it_current_again(world: World) -> None:
    derived = Derived(world)
    touch(derived)
    assert derived.validity()["status"] == "needs_review"
    world.inference(derived.claim, world.all_of(derived.premise, derived.document), class_="dependency_validation")
    assert derived.validity()["status"] == "current"


@pytest.mark.requirement("KI-PROFILE-026")
def test_a_validation_cannot_bring_a_claim_new_premises(world: World) -> None:
    derived = Derived(world)
    touch(derived)
    world.inference(derived.claim, world.all_of(world.evidence()), class_="dependency_validation")
    assert derived.validity()["status"] == "needs_review"


@pytest.mark.requirement("KI-BELIEF-079")
def test_a_recorded_selection_is_unverifiable_once_the_space_moved_on(world: World) -> None:
    selection = {"kind": "slot", "expectation": "accepted"}
    derived = Derived(world, basis={"basis_seq": 1, "queries": [selection]}, system={"space_seq": 1})
    assert derived.validity()["status"] == "current"
    world.claim(derived.ann, "lives_in", "Rome", by=derived.brain)
    found = derived.validity()
    assert (found["status"], found["reasons"]) == ("unverifiable", ["selection_not_reevaluated"])


@pytest.mark.requirement("KI-BELIEF-039", "KI-BELIEF-077")
def test_a_chain_too_long_to_follow_is_not_current(world: World) -> None:
    ann, brain = world.concept(), world.concept()
    before = world.claim(ann, "likes", 0, by=brain)
    for n in range(1, 80):
        claim = world.claim(ann, "likes", n, by=brain, mode="inferred")
        world.inference(claim, world.all_of(before))
        before = claim
    with world.run() as run:
        request = BeliefRequest.parse(run, None, None)
        found = dependency_validity(run, request, [before, "A-10"])
    assert found["A-10"]["status"] == "current"
    assert "traversal_incomplete" in found[before]["reasons"]
    assert world.belief(ann, "likes", 79, limits=Limits())["status"] == "uncertain"
