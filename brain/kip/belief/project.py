"""BELIEF and BELIEF SLOT for whole batches: gather once, weigh every slot once, render each result (§46, §47)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brain import errors
from brain.kip.belief.dependency import dependencies
from brain.kip.belief.gather import Gatherer, SlotKey, Wanted, predicate_of
from brain.kip.belief.identity import Identity
from brain.kip.belief.model import Slot, Verdict
from brain.kip.belief.request import BeliefRequest
from brain.kip.belief.weigh import weigh_slot
from brain.kip.belief.wire import Projected, Renderer, dependency_to_wire, proposition_names
from brain.kip.context import Run
from brain.kip.schema import PredicateType
from brain.store.base import ElementId, Json, Kind


@dataclass(frozen=True, slots=True)
class GroundTriple:
    """A fully grounded BELIEF triple, whether or not a Proposition is stored for it.

    object  `{"id": …}` or a JSON scalar
    """

    subject: ElementId
    predicate: PredicateType
    object: Json


def project_propositions(
    run: Run, request: BeliefRequest, targets: Sequence[ElementId | GroundTriple]
) -> list[Projected]:
    """BELIEF (§46): one result per target, in order.

    targets  Proposition ids or grounded triples. What is not stored is `insufficient` with `proposition_id` null,
             and so is an id that names no Proposition
    raises   ProjectionNotAuthorized, ResourceExhausted, ExecutionTimeout
    """
    run = weighing(run)
    gatherer = _gatherer(run, request)
    places = _places(gatherer, targets)
    slots = gatherer.slots(place.wanted for place in places if place is not None)
    verdicts = _weighed(request, slots)
    names = {key: proposition_names(slot.values()) for key, slot in verdicts.items()}
    render = Renderer(run, request, gatherer.identity)
    return [
        render.missing()
        if place is None
        else render.projection(verdicts[place.key][place.label], names[place.key], place.asked_by)
        for place in places
    ]


def project_slots(
    run: Run, request: BeliefRequest, slots: Sequence[tuple[ElementId, PredicateType]]
) -> list[Projected]:
    """BELIEF SLOT (§47): one result per (subject, Predicate), in order; a slot without candidates is `insufficient`.

    raises   ProjectionNotAuthorized, ResourceExhausted, ExecutionTimeout
    """
    run = weighing(run)
    gatherer = _gatherer(run, request)
    read = gatherer.slots(Wanted(subject, predicate, None) for subject, predicate in slots)
    verdicts = _weighed(request, read)
    render = Renderer(run, request, gatherer.identity)
    keys = [gatherer.slot_key(subject, predicate) for subject, predicate in slots]
    return [render.slot(read[key], list(verdicts[key].values())) for key in keys]


def dependency_validity(run: Run, request: BeliefRequest, derived: Collection[ElementId]) -> dict[ElementId, Any]:
    """The computed `_system.dependency_validity` of derived Assertions and artifacts, by id (§57.6)."""
    run = weighing(run)
    gatherer = _gatherer(run, request)
    basis = Renderer(run, request, gatherer.identity).basis(None)
    found = dependencies(run.snapshot, derived, gatherer.ended, run.limits.plan_elements)
    return {element_id: dependency_to_wire(dependency, basis) for element_id, dependency in found.items()}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a target's verdict will be found."""

    wanted: Wanted
    key: SlotKey
    label: str
    asked_by: ElementId | None


def weighing(run: Run) -> Run:
    """The run over what may be weighed for its caller, which is not always what the caller may read (§29.4)."""
    return run if run.weighed is None else replace(run, snapshot=run.weighed)


def _gatherer(run: Run, request: BeliefRequest) -> Gatherer:
    if "project" not in run.session.permissions:
        raise errors.ProjectionNotAuthorized()
    return Gatherer(run, request, Identity(run.snapshot.merges()))


def _places(gatherer: Gatherer, targets: Sequence[ElementId | GroundTriple]) -> list[_Place | None]:
    run, identity = gatherer.run, gatherer.identity
    stored = run.snapshot.elements(frozenset(target for target in targets if isinstance(target, str)))
    predicates: dict[str, PredicateType] = {}
    places: list[_Place | None] = []
    for target in targets:
        asked_by = target if isinstance(target, str) else None
        if isinstance(target, str):
            proposition = stored.get(target)
            if proposition is None or proposition.kind is not Kind.PROPOSITION or "subject" not in proposition.body:
                places.append(None)
                continue
            body = proposition.body
            ref = body["predicate_ref"]
            if ref not in predicates:
                predicates[ref] = predicate_of(run, proposition)
            target = GroundTriple(body["subject"]["id"], predicates[ref], body["object"])
        label = identity.label(target.object)
        wanted = Wanted(target.subject, target.predicate, {label: target.object})
        places.append(_Place(wanted, gatherer.slot_key(target.subject, target.predicate), label, asked_by))
    return places


def _weighed(request: BeliefRequest, slots: dict[SlotKey, Slot]) -> dict[SlotKey, dict[str, Verdict]]:
    return {
        key: {v.candidate.label: v for v in weigh_slot(request.policy, request.valid_at, slot)}
        for key, slot in slots.items()
    }
