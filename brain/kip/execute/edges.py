"""Structural references (KIP 2.0 §43.7), ends compared after following merges."""

from __future__ import annotations

from collections.abc import Iterator

from brain.kip.algebra import Structural
from brain.kip.execute.bindings import Batch, EdgeValue, Row
from brain.kip.execute.ends import End, stored
from brain.kip.execute.frame import BATCH, Frame
from brain.kip.execute.lineage import references
from brain.store.base import Edge, EdgeScan


def structural(step: Structural, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows with every reference that joins their ends through one of the fields."""
    source, target = End.of(step.source, frame), End.of(step.target, frame)
    place = frame.cells[step.edge]
    ordered = {field.name: field.ordered for field in step.fields}
    for batch in batches:
        for rows, given_source, given_target in _by_what_is_given(batch, source, target):
            query = EdgeScan(
                sources=_stored(rows, source, frame) if given_source else None,
                fields=frozenset(ordered),
                targets=_stored(rows, target, frame) if given_target else None,
            )
            edges = references(frame.graph, query)
            index = _index(edges, frame, given_source=given_source, given_target=given_target)
            made: Batch = []
            for row in rows:
                for edge in _candidates(row, index, source if given_source else target if given_target else None):
                    position = edge.position if ordered[edge.field] else None
                    value = EdgeValue(edge.source, edge.field, edge.target, position)
                    if row[place] not in (None, value):
                        continue
                    made += _extended(row, value, source, target, place)
                if len(made) >= BATCH:
                    yield made
                    made = []
            if made:
                yield made


def _by_what_is_given(batch: Batch, source: End, target: End) -> Iterator[tuple[Batch, bool, bool]]:
    groups: dict[tuple[bool, bool], Batch] = {}
    for row in batch:
        groups.setdefault((source.given(row) is not None, target.given(row) is not None), []).append(row)
    for (given_source, given_target), rows in groups.items():
        yield rows, given_source, given_target


def _stored(rows: Batch, end: End, frame: Frame) -> frozenset[str]:
    return stored({key for row in rows for key in end.given(row) or ()}, frame)


def _index(edges: list[Edge], frame: Frame, *, given_source: bool, given_target: bool) -> dict[str, list[Edge]]:
    """Edges by the end the rows give; under the empty text when they give none."""
    index: dict[str, list[Edge]] = {}
    for edge in edges:
        end = edge.source if given_source else edge.target if given_target else ""
        index.setdefault(frame.graph.canonical(end), []).append(edge)
    return index


def _candidates(row: Row, index: dict[str, list[Edge]], end: End | None) -> Iterator[Edge]:
    keys = ("",) if end is None else sorted(end.given(row) or ())
    for key in keys:
        yield from index.get(key, ())


def _extended(row: Row, edge: EdgeValue, source: End, target: End, place: int) -> Iterator[Row]:
    extended = row.copy()
    extended[place] = edge
    bound = source.bind(extended, edge.source)
    bound = bound and target.bind(bound, edge.target)
    if bound is not None:
        yield bound
