"""What holds for belief whatever was claimed."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kip.belief.world import World

POLICIES = ("kip:memory-default", "kip:policy:baseline", "kip:policy:forecast", "kip:policy:structural")
PREDICATES = ("code", "likes", "lives_in", "married", "motto", "prefers")

dates = st.integers(1, 9).map(lambda month: f"2026-{month:02d}-01")
written = st.one_of(
    st.none(),
    st.builds(lambda start: {"from": start}, dates),
    st.builds(lambda pair: {"from": {"earliest": min(pair), "latest": max(pair)}}, st.tuples(dates, dates)),
    st.builds(lambda start: {"from": start, "until": "2026-10-01"}, dates),
)
opinions = st.lists(
    st.fixed_dictionaries(
        {
            "value": st.integers(0, 3),
            "by": st.integers(0, 3),
            "stance": st.sampled_from(["support", "support", "support", "reject", "uncertain"]),
            "mode": st.sampled_from(["stated", "observed", "inferred", "predicted", "imported"]),
            "at": dates,
            "valid": written,
            "confidence": st.sampled_from([None, 0.1, 0.3, 0.5, 0.7, 0.9]),
            "scoped": st.booleans(),
            "evidence": st.sampled_from([None, 0, 1, 2]),
        }
    ),
    max_size=7,
)
questions = st.fixed_dictionaries(
    {
        "predicate": st.sampled_from(PREDICATES),
        "policy": st.sampled_from(POLICIES),
        "at": st.sampled_from(["2025-06-01", "2026-03-15", "2026-09-20", "2026-10-01"]),
        "scoped": st.booleans(),
    }
)
laws = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Case:
    """One set of opinions about a fresh subject, and a question."""

    def __init__(self, world: World, said: list[dict[str, Any]], question: dict[str, Any]) -> None:
        self.world = world
        self.question = question
        self.subject = world.concept()
        self.actors = [self.subject, *(world.concept() for _ in range(3))]
        self.context = world.concept("Event")
        self.seen = [world.evidence(source=[{"id": self.actors[n]}]) for n in range(3)]
        self.values = self._values()
        for opinion in said:
            self.say(opinion)

    def _values(self) -> list[Any]:
        if self.question["predicate"] == "prefers":
            return [self.world.concept(kind) for kind in ("Editor", "Editor", "ColorScheme", "Place")]
        return [True, False, "yes", "no"] if self.question["predicate"] == "married" else list(range(4))

    def say(self, opinion: dict[str, Any]) -> None:
        cited = [] if opinion["evidence"] is None else [self.seen[opinion["evidence"]]]
        self.world.claim(
            self.subject,
            self.question["predicate"],
            self.values[opinion["value"]],
            by=self.actors[opinion["by"]],
            context=[self.context] if opinion["scoped"] else [],
            evidence=cited,
            **{name: opinion[name] for name in ("stance", "mode", "at", "valid", "confidence")},
        )

    @property
    def asked(self) -> dict[str, Any]:
        return {
            "policy": self.question["policy"],
            "at": self.question["at"],
            "context_refs": [self.context] if self.question["scoped"] else [],
        }

    def slot(self) -> dict[str, Any]:
        return self.world.slot(self.subject, self.question["predicate"], **self.asked)

    def beliefs(self) -> list[dict[str, Any]]:
        """One projection per value in value order, each asked by itself."""
        return [self.world.belief(self.subject, self.question["predicate"], v, **self.asked) for v in self.values]

    def statuses(self) -> list[str]:
        return [found["status"] for found in self.beliefs()]


@pytest.mark.requirement("KI-BELIEF-002", "KI-BELIEF-003", "KI-BELIEF-004", "KI-BELIEF-075", "KI-BELIEF-031")
@laws
@given(said=opinions, question=questions)
def test_slot_and_single_belief_agree_and_every_result_is_well_formed(
    world: World, said: list[dict[str, Any]], question: dict[str, Any]
) -> None:
    case = Case(world, said, question)
    slot, singles = case.slot(), case.beliefs()
    by_id = {found["proposition_id"]: found for found in singles if found["proposition_id"]}
    for candidate in slot["candidate_projections"]:
        single = by_id[candidate["proposition_id"]]
        assert single == candidate
    assert len(slot["accepted_values"]) == sum(found["status"] == "accepted" for found in by_id.values())
    present = {candidate["status"] for candidate in slot["candidate_projections"]}
    expected = next((s for s in ("contested", "accepted", "uncertain") if s in present), "insufficient")
    assert slot["status"] == expected
    for found in singles:
        check_shape(found)


def check_shape(found: dict[str, Any]) -> None:
    assert found["status"] in {"accepted", "contested", "insufficient", "rejected", "uncertain"}
    assert found["slot_status"] in {"accepted", "contested", "insufficient", "uncertain"}
    leading = {"accepted": {"support"}, "rejected": {"opposition"}, "contested": {"support", "opposition", "none"}}
    assert found["leading"] in leading.get(found["status"], {"none"})
    if found["status"] == "accepted":
        assert found["conflict_refs"] == found["conflict_reasons"] == []
        assert found["support"]["root_groups"]
    if found["basis"]["next_invalid_at"] is not None:
        assert found["basis"]["next_invalid_at"] > found["basis"]["valid_at"]


@pytest.mark.requirement("KI-BELIEF-021", "KI-BELIEF-025", "KI-BELIEF-049")
@laws
@given(said=opinions.filter(bool), question=questions, data=st.data())
def test_repeating_oneself_changes_no_status(
    world: World, said: list[dict[str, Any]], question: dict[str, Any], data: st.DataObject
) -> None:
    case = Case(world, said, question)
    before = case.statuses()
    repeated = data.draw(st.sampled_from(said))
    case.say({**repeated, "evidence": repeated["evidence"]})
    assert case.statuses() == before


@laws
@given(said=opinions, question=questions, seed=st.integers(0, 99))
def test_the_order_of_claims_changes_nothing(
    world: World, said: list[dict[str, Any]], question: dict[str, Any], seed: int
) -> None:
    shuffled = list(said)
    random.Random(seed).shuffle(shuffled)
    assert Case(world, said, question).statuses() == Case(world, shuffled, question).statuses()


@pytest.mark.requirement("KI-BELIEF-016")
@laws
@given(said=opinions, question=questions, confidence=st.sampled_from([None, 0.0, 1.0]))
def test_confidence_changes_no_structural_status(
    world: World, said: list[dict[str, Any]], question: dict[str, Any], confidence: float | None
) -> None:
    question = {**question, "policy": "kip:memory-default"}
    changed = [{**opinion, "confidence": confidence} for opinion in said]
    assert Case(world, said, question).statuses() == Case(world, changed, question).statuses()


@pytest.mark.requirement("KI-BELIEF-006", "KI-BELIEF-058")
@laws
@given(said=opinions, question=questions)
def test_projecting_writes_nothing(world: World, said: list[dict[str, Any]], question: dict[str, Any]) -> None:
    case = Case(world, said, question)
    world.commit()
    head, bodies = world.space.head(), {i: e.body for i, e in world._known.items()}
    case.beliefs()
    case.slot()
    assert world.space.head() == head
    with world.run() as run:
        assert {i: e.body for i, e in run.snapshot.elements(list(bodies)).items()} == bodies
