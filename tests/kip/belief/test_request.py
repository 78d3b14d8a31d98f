"""WITH EPISTEMIC and FOR TIME: what is understood, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from brain import errors
from brain.ids import digest
from brain.kip.belief import BeliefRequest, all_policies, policy_named
from tests.kip.belief.world import NOW, World, speaker


def parse(world: World, epistemic: dict[str, Any] | None = None, for_time: Any = None, **run: Any) -> BeliefRequest:
    with world.run(**run) as opened:
        return BeliefRequest.parse(opened, epistemic, for_time)


@pytest.mark.requirement("KI-BELIEF-040", "KI-BELIEF-061")
def test_without_clauses_the_session_policy_applies_now(world: World) -> None:
    request = parse(world)
    assert (request.policy.id, request.policy.version, request.valid_at) == ("kip:policy:baseline", 3, NOW)
    memory = parse(world, session=speaker(default_policy="kip:memory-default"))
    assert (memory.policy.id, memory.policy.version) == ("kip:memory-default", 1)


def test_what_the_request_says_goes_before_the_request_context(world: World) -> None:
    assert parse(world, purpose="answer", risk="low").purpose == "answer"
    assert parse(world, {"purpose": "act"}, purpose="answer").purpose == "act"
    assert parse(world).risk == "unspecified"


@pytest.mark.requirement("KI-KQL-066", "KI-BELIEF-073")
@pytest.mark.parametrize(
    ("epistemic", "error"),
    [
        ({"polcy": "x"}, errors.SchemaFieldNotFound),
        ({"policy": "nope"}, errors.ProjectionPolicyUnavailable),
        ({"policy": 1}, errors.TypeMismatch),
        ({"policy": None}, errors.TypeMismatch),
        ({"purpose": ""}, errors.ConstraintViolation),
        ({"risk": 3}, errors.TypeMismatch),
        ({"explanation": "everything"}, errors.ConstraintViolation),
        ({"explanation": True}, errors.TypeMismatch),
        ({"include_historical": "yes"}, errors.TypeMismatch),
        ({"include_hypothetical": 1}, errors.TypeMismatch),
        ({"context_refs": "C-1"}, errors.TypeMismatch),
        ({"context_refs": {"id": "C-1"}}, errors.TypeMismatch),
        ({"context_refs": [7]}, errors.TypeMismatch),
        ({"context_refs": ["C-999999"]}, errors.NotFoundOrNotVisible),
        ({"context_refs": ["work"]}, errors.NotFoundOrNotVisible),
        ({"context_refs": [{"type": "Person", "key": "ann"}]}, errors.StructuralReferenceInvalid),
        ({"context_refs": ["P-1"]}, errors.StructuralReferenceInvalid),
    ],
)
def test_a_member_that_cannot_be_meant_is_refused(
    world: World, epistemic: dict[str, Any], error: type[errors.KipError]
) -> None:
    world.proposition(world.concept(), "likes", "tea")
    with pytest.raises(error):
        parse(world, epistemic)


@pytest.mark.requirement("KI-BELIEF-040", "KI-LEX-022")
@pytest.mark.parametrize(
    ("for_time", "error"),
    [
        (5, errors.TypeMismatch),
        ({"latest": NOW}, errors.TypeMismatch),
        ("2026-01-01", errors.ConstraintViolation),
        ("2026-02-30T00:00:00.000Z", errors.ConstraintViolation),
    ],
)
def test_for_time_is_one_exact_instant(world: World, for_time: Any, error: type[errors.KipError]) -> None:
    with pytest.raises(error):
        parse(world, None, for_time)


@pytest.mark.requirement("KI-BELIEF-060", "KI-BELIEF-067")
def test_contexts_are_named_by_any_reference_and_resolved_sorted_and_counted_once(world: World) -> None:
    work, trip, job = world.concept(), world.concept(canonical_id="org:trip"), world.concept()
    world.merge(job, work)
    named = [{"canonical_id": "org:trip"}, job, {"id": work}, {"space_id": "kip:space:tests", "element_id": trip}]
    assert parse(world, {"context_refs": named}).context_refs == (work, trip)


def test_a_context_of_another_space_is_not_found(world: World) -> None:
    elsewhere = {"space_id": "kip:space:other", "element_id": world.concept()}
    with pytest.raises(errors.NotFoundOrNotVisible):
        parse(world, {"context_refs": [elsewhere]})


@pytest.mark.requirement("KI-BELIEF-083", "KI-META-010")
def test_every_policy_has_a_version_and_a_digest_over_itself() -> None:
    ids = [policy.id for policy in all_policies()]
    assert ids == ["kip:memory-default", "kip:policy:baseline", "kip:policy:forecast", "kip:policy:structural"]
    for policy in all_policies():
        wire = policy.to_wire()
        content_digest = wire.pop("content_digest")
        assert policy.published_digest is not None or content_digest == digest(wire)
    assert policy_named("kip:policy:forecast").modes == {"predicted", "inferred"}
    assert policy_named("kip:memory-default").to_wire()["precedence"] == [
        "context_specificity",
        "first_person_testimony",
        "recency",
    ]
