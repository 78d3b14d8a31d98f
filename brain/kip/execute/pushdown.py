"""What a store runs by itself: plans offered to `Snapshot.select`, its cells read back as bindings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from brain.kip.algebra import Block, Project, variables
from brain.kip.execute.bindings import Batch, Cell, Datum, Row
from brain.kip.execute.frame import BATCH, Frame
from brain.store.base import Json


def run_natively(block: Block, frame: Frame) -> Iterator[Batch] | None:
    """The rows of a block as the store makes them, or None when it cannot."""
    frame.graph.check_deadline()
    found = frame.graph.snapshot.select(block)
    if found is None:
        return None
    places = [frame.cells[name] for name in variables(block)]
    return _batches(found, places, frame)


def select(plan: Project, frame: Frame) -> Iterator[tuple[Json, ...]] | None:
    """The answer rows of a whole plan as the store makes them, or None when it cannot."""
    return frame.graph.snapshot.select(plan)


def _batches(found: Iterator[tuple[Json, ...]], places: list[int], frame: Frame) -> Iterator[Batch]:
    while cells := list(islice(found, BATCH)):
        yield [_row(row, places, frame) for row in cells]


def _row(cells: tuple[Json, ...], places: list[int], frame: Frame) -> Row:
    row = frame.empty_row()
    for place, cell in zip(places, cells, strict=True):
        row[place] = _binding(cell, frame)
    return row


def _binding(cell: Json, frame: Frame) -> Cell:
    if cell is None:
        return None
    kind, value = cell
    if kind == "element":
        return str(value)
    return frame.symbol(value, "predicate") if kind == "symbol" else Datum(value)
