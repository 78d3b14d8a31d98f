"""BELIEF and BELIEF SLOT over batches of rows (KIP 2.0 §46, §47): the only place that asks for projections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import orjson

from brain import errors
from brain.ids import is_element_id, object_key
from brain.kip.algebra import Belief, BeliefSlot, BeliefTriple, Known, Lineages, Tuple, Var
from brain.kip.belief import GroundTriple, Projected, project_propositions, project_slots
from brain.kip.execute.bindings import Batch, BeliefValue, Datum, Row
from brain.kip.execute.ends import End
from brain.kip.execute.frame import Frame
from brain.kip.execute.tuples import Join
from brain.kip.schema import PredicateType
from brain.kip.values import SymbolValue
from brain.store.base import ElementId, Json

Target = TypeVar("Target")


def belief(step: Belief, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows with the projection of the Proposition that the step names."""
    run, request = frame.graph.run, step.request

    def target_of(row: Row) -> tuple[tuple[str, ...], ElementId]:
        cell = min(step.target.keys) if isinstance(step.target, Known) else row[frame.cells[step.target.name]]
        if not isinstance(cell, str) or (isinstance(step.target, Var) and not cell.startswith("P-")):
            raise errors.ProjectionTargetUnbound("BELIEF (?p) needs ?p to be a Proposition in every row.")
        return (cell,), cell

    for batch in batches:
        yield _projected(batch, step.variable, frame, target_of, lambda ids: project_propositions(run, request, ids))


def belief_triple(step: BeliefTriple, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows with the projection of their triple, or of every candidate of it."""
    run, request = frame.graph.run, step.request
    triple = _Triple(step, frame)
    for batch in batches:
        _check_subjects(batch, triple.subject)
        grounded = [row for row in batch if triple.is_grounded(row)]
        open_rows = [row for row in batch if not triple.is_grounded(row)]
        for rows in (grounded, *triple.join.run(open_rows)):
            if rows:
                yield _projected(
                    rows,
                    step.variable,
                    frame,
                    triple.target_of,
                    lambda these: project_propositions(run, request, these),
                )


def belief_slot(step: BeliefSlot, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows with the projection of their slot."""
    run, request = frame.graph.run, step.request
    subject = End.of(step.subject, frame)

    def target_of(row: Row) -> tuple[tuple[str, ...], tuple[ElementId, PredicateType]]:
        key, predicate = _one(subject, row), _predicate(step.predicate, row, frame)
        return (key, predicate.symbol.lineage), (key, predicate)

    for batch in batches:
        _check_subjects(batch, subject)
        yield _projected(batch, step.variable, frame, target_of, lambda slots: project_slots(run, request, slots))


class _Triple:
    """The three terms of a BELIEF, and the join that finds its candidates."""

    def __init__(self, step: BeliefTriple, frame: Frame) -> None:
        self.step = step
        self.frame = frame
        self.subject = End.of(step.subject, frame)
        self.object = End.of(step.object, frame)
        predicate: Lineages | Var
        if isinstance(step.predicate, Var):
            predicate = step.predicate
        else:
            symbol = step.predicate.symbol
            predicate = Lineages(symbol.name, frame.graph.run.environment.lineages("predicate", symbol.ref))
        self.join = Join(Tuple(step.link, step.subject, predicate, step.object), frame)

    def is_grounded(self, row: Row) -> bool:
        """Whether the row says all three terms by itself, so that what nobody stated is projected too."""
        predicate = self.step.predicate
        named = not isinstance(predicate, Var) or row[self.frame.cells[predicate.name]] is not None
        return self.step.grounded and named and self.object.given(row) is not None

    def target_of(self, row: Row) -> tuple[tuple[str, ...], GroundTriple]:
        subject, predicate = _one(self.subject, row), _predicate(self.step.predicate, row, self.frame)
        object_ = self._object(row, predicate)
        return (subject, predicate.symbol.lineage, object_key(object_)), GroundTriple(subject, predicate, object_)

    def _object(self, row: Row, predicate: PredicateType) -> Json:
        """The object of a row; of a text that could be an id or a Literal, the one the predicate admits."""
        if isinstance(self.step.object, Var):
            cell = row[self.frame.cells[self.step.object.name]]
            return cell.value if isinstance(cell, Datum) else {"id": self.frame.graph.canonical(str(cell))}
        keys = sorted(self.object.keys)
        ids = [key for key in keys if is_element_id(key)]
        literals = [key for key in keys if not is_element_id(key)]
        if ids and not (literals and "string" in predicate.object.literal_types):
            return {"id": ids[0]}
        return orjson.loads(literals[0])


def _projected(
    rows: Batch,
    variable: str,
    frame: Frame,
    target_of: Callable[[Row], tuple[tuple[str, ...], Target]],
    project: Callable[[Sequence[Target]], list[Projected]],
) -> Batch:
    """The rows with their belief; equal targets are projected once, all of them in one call."""
    place = frame.cells[variable]
    frame.graph.check_deadline()
    spelled = [target_of(row) for row in rows]
    targets = dict(spelled)
    results = dict(zip(targets, project(list(targets.values())), strict=True))
    instants = (result.wire["basis"]["next_invalid_at"] for result in results.values())
    frame.graph.invalid_from.update(instant for instant in instants if instant is not None)
    made: Batch = []
    for row, (target, _) in zip(rows, spelled, strict=True):
        value = BeliefValue(target, results[target].wire, results[target].rests_on)
        if row[place] in (None, value):
            extended = row.copy()
            extended[place] = value
            made.append(extended)
    return made


def _one(end: End, row: Row) -> ElementId:
    """The one element a subject stands for; the surviving one of several that carry a canonical id."""
    keys = sorted(end.given(row) or (), key=lambda key: (not is_element_id(key), key))
    return keys[0]


def _predicate(predicate: PredicateType | Var, row: Row, frame: Frame) -> PredicateType:
    if isinstance(predicate, PredicateType):
        return predicate
    cell = row[frame.cells[predicate.name]]
    if not isinstance(cell, SymbolValue):
        raise errors.ProjectionTargetUnbound(f"?{predicate.name} is no predicate in every row of a BELIEF.")
    return frame.graph.run.environment.exact_predicate(cell.ref)


def _check_subjects(rows: Batch, subject: End) -> None:
    """A belief needs its subject in every row; one that an OPTIONAL left unbound would mean the whole Space."""
    if any(not subject.given(row) for row in rows):
        raise errors.ProjectionTargetUnbound(
            "A row reaches BELIEF without a subject.",
            hint="Put BELIEF into the OPTIONAL block that binds its subject.",
        )
