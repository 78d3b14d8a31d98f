"""Patterns over one element kind: Concepts, Assertions, Evidence, Activities, Propositions by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from brain.kip.algebra import Known, Match, PathStep, Scan, Var
from brain.kip.execute.bindings import Batch, Binding, Cell, Datum, Row
from brain.kip.execute.frame import BATCH, Frame
from brain.kip.execute.graph import Survivor
from brain.kip.execute.matches import bindings, extend, meets
from brain.store.base import EdgeScan, Element, ElementId, Kind, element_number
from brain.store.base import Scan as Conditions

_BY_VALUE: Mapping[tuple[PathStep, ...], str] = {("key",): "key", ("name",): "name", ("canonical_id",): "canonical_id"}
"""Members by which a store finds elements without a scan."""

_FEW = 64
"""Up to this many different values are looked up one by one; more are found by one scan."""


def scan(step: Scan, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Elements that meet the pattern: a test where the variable is bound, one access for the whole batch where not."""
    place = frame.cells[step.variable]
    for batch in batches:
        free = [row for row in batch if row[place] is None]
        if len(free) < len(batch):
            yield _test(step, [row for row in batch if row[place] is not None], frame)
        if free:
            yield from _find(step, free, frame)


def first_elements(step: Scan, frame: Frame, *, after: int = 0) -> Iterator[Batch]:
    """A scan that starts a plan: rows in ascending order, in batches that grow from small to BATCH.

    after  only ids whose number is greater
    """
    place, empty = frame.cells[step.variable], frame.empty_row()
    if step.ids is not None:
        found: Iterator[Element] = iter(_by_ids(step, step.ids, frame))
    else:
        found = frame.graph.scan(replace(step.conditions, after=after) if after else step.conditions)
    size = 32
    while elements := list(islice(found, size)):
        yield [
            extended
            for element in elements
            for extended in extend(_with(empty, place, element.id), element, step.matches, frame)
        ]
        size = min(size * 4, BATCH)


def starts_in_order(step: Scan) -> bool:
    """Whether `first_elements` is how this step runs over one empty row: by a scan or by given ids."""
    return not any(isinstance(match.value, Known) and match.edges for match in step.matches)


def _test(step: Scan, rows: Batch, frame: Frame) -> Batch:
    place, graph = frame.cells[step.variable], frame.graph
    meant = [_meant(row[place], frame) for row in rows]
    graph.load(element_id for ids in meant for element_id in ids)
    kept: Batch = []
    for row, ids in zip(rows, meant, strict=True):
        for element_id in ids:
            element = graph.element(element_id)
            if element is None or (step.ids is not None and element.id not in step.ids):
                continue
            if meets(element, step.conditions):
                kept += extend(_with(row, place, element.id), element, step.matches, frame)
    return kept


def _meant(cell: Cell, frame: Frame) -> Iterable[ElementId]:
    """The elements a bound variable may stand for: one, or all that merges lead to the one it was reached as."""
    if type(cell) is Survivor:
        return sorted(frame.graph.same((cell,)), key=element_number)
    return (cell,) if isinstance(cell, str) else ()


def _find(step: Scan, rows: Batch, frame: Frame) -> Iterator[Batch]:
    """Rows whose variable is free, each with every element that meets the pattern."""
    if step.ids is not None:
        yield from _cross(step, rows, _by_ids(step, step.ids, frame), frame)
        return
    joint = next((m for m in step.matches if isinstance(m.value, Var) and _bound_in(m.value, rows, frame)), None)
    fixed = next((m for m in step.matches if isinstance(m.value, Known) and m.edges), None)
    if fixed is not None:
        yield from _cross(step, rows, _by_references(step, fixed, _keys(fixed, frame), frame), frame)
    elif joint is not None:
        yield from _join(step, joint, rows, frame)
    else:
        found = frame.graph.scan(step.conditions)
        while elements := list(islice(found, BATCH)):
            yield from _cross(step, rows, elements, frame)


def _bound_in(variable: Var, rows: Batch, frame: Frame) -> bool:
    place = frame.cells[variable.name]
    return all(row[place] is not None for row in rows)


def _cross(step: Scan, rows: Batch, elements: Iterable[Element], frame: Frame) -> Iterator[Batch]:
    """Every row with every element; agreement of the matches is tested on the way."""
    place = frame.cells[step.variable]
    made: Batch = []
    for element in elements:
        for row in rows:
            made += extend(_with(row, place, element.id), element, step.matches, frame)
        if len(made) >= BATCH:
            yield made
            made = []
    if made:
        yield made


def _join(step: Scan, match: Match, rows: Batch, frame: Frame) -> Iterator[Batch]:
    """Rows that already hold what one member has to be: elements by that member, each to its own rows."""
    assert isinstance(match.value, Var)  # noqa: S101 - the caller chose it so
    place, joint = frame.cells[step.variable], frame.cells[match.value.name]
    waiting: dict[Binding, Batch] = {}
    for row in rows:
        cell = row[joint]
        if cell is not None:
            waiting.setdefault(frame.graph.canonical(cell) if isinstance(cell, str) else cell, []).append(row)
    found = _by_member(step, match, waiting, frame)
    made: Batch = []
    for element in found:
        for binding in dict.fromkeys(bindings(element, match, frame)):
            for row in waiting.get(binding, ()):
                made += extend(_with(row, place, element.id), element, step.matches, frame)
        if len(made) >= BATCH:
            yield made
            made = []
    if made:
        yield made


def _by_member(step: Scan, match: Match, wanted: Iterable[Binding], frame: Frame) -> Iterator[Element]:
    """Elements whose member may be one of the wanted bindings, each once."""
    if match.edges:
        ids = frame.graph.same(binding for binding in wanted if isinstance(binding, str))
        yield from _by_references(step, match, ids, frame)
        return
    texts = [b.value for b in wanted if isinstance(b, Datum) and isinstance(b.value, str)]
    if match.path == ("id",):
        yield from _by_ids(step, texts, frame)
        return
    condition = _BY_VALUE.get(match.path)
    if condition is None or len(texts) > _FEW or getattr(step.conditions, condition) is not None:
        yield from frame.graph.scan(step.conditions)
        return
    for text in texts:
        narrowed: Conditions = replace(step.conditions, **{condition: text})  # type: ignore[arg-type]
        yield from frame.graph.scan(narrowed)


def _by_ids(step: Scan, ids: Iterable[ElementId], frame: Frame) -> list[Element]:
    wanted = set(ids)
    frame.graph.load(wanted)
    found = [element for element_id in wanted if (element := frame.graph.element(element_id)) is not None]
    return sorted((e for e in found if meets(e, step.conditions)), key=lambda element: element_number(element.id))


def _by_references(step: Scan, match: Match, targets: Iterable[str], frame: Frame) -> Iterator[Element]:
    """Elements that refer to one of the targets through the match's field, found by the reference."""
    wanted = frozenset(targets)
    if step.conditions.kind is Kind.ASSERTION and match.edges == {"proposition"}:
        found: Iterable[Element] = frame.graph.assertions(wanted)
    else:
        sources = {edge.source for edge in frame.graph.edges(EdgeScan(fields=match.edges, targets=wanted))}
        found = _by_ids(step, sources, frame)
    return (element for element in found if meets(element, step.conditions))


def _keys(match: Match, frame: Frame) -> set[str]:
    return frame.graph.same(match.value.keys) if isinstance(match.value, Known) else set()


def _with(row: Row, place: int, element_id: ElementId) -> Row:
    extended = row.copy()
    extended[place] = element_id
    return extended
