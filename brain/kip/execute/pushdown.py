"""What a store runs by itself: plans offered to `Snapshot.select`, its rows read back as those of the executor."""

from __future__ import annotations

from collections.abc import Iterator

from brain.kip.algebra import Block, Group, Project, variables
from brain.kip.execute.bindings import Batch, Cell, Datum, Row
from brain.kip.execute.frame import Frame, in_batches
from brain.store.base import Element, ElementId, Json

CHUNK = 256
"""Answer rows that are read together."""


def run_natively(block: Block, frame: Frame) -> Iterator[Batch] | None:
    """The rows of a block as the store makes them, in any order, or None when it cannot."""
    if not _may_be_offered(frame):
        return None
    found = frame.graph.snapshot.select(block, frame.repeated(block))
    if found is None:
        return None
    places = [frame.cells[name] for name in variables(block)]
    return ([_row(cells, places, frame) for cells in chunk] for chunk in in_batches(found))


def select(plan: Project, frame: Frame) -> Iterator[list[tuple[Row, frozenset[ElementId]]]] | None:
    """The distinct solutions a plan answers, in order and cut, each with further elements that bound it; None when the
    store cannot."""
    found = frame.graph.snapshot.select(plan, frame.repeated(plan)) if _may_be_offered(frame) else None
    if found is None:
        return None
    places = [frame.cells[name] for name in plan.distinct.variables]
    chunks = in_batches(found, CHUNK)
    return ([(_row(cells[:-1], places, frame), frozenset(cells[-1])) for cells in chunk] for chunk in chunks)


def select_groups(group: Group, frame: Frame) -> Iterator[tuple[Json, ...]] | None:
    """The groups of a plan as the store makes them, or None when it cannot."""
    return frame.graph.snapshot.select(group, frame.repeated(group)) if _may_be_offered(frame) else None


def binding(cell: Json, frame: Frame) -> Cell:
    """A cell as a binding; an element that came along is kept for whoever looks into it."""
    if cell is None:
        return None
    if isinstance(cell, Element):
        frame.graph.keep(cell)
        return cell.id
    kind, value = cell
    if kind == "element":
        return str(value)
    return frame.symbol(value, "predicate") if kind == "symbol" else Datum(value)


def _may_be_offered(frame: Frame) -> bool:
    frame.graph.check_deadline()
    return frame.natively and frame.graph.sees_everything


def _row(cells: tuple[Json, ...], places: list[int], frame: Frame) -> Row:
    row = frame.empty_row()
    for place, cell in zip(places, cells, strict=True):
        row[place] = binding(cell, frame)
    return row
