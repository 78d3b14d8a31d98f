"""Steps put together: a block is a chain of steps, and OPTIONAL, NOT and UNION hold blocks (KIP 2.0 §44.2 to §44.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from brain.kip.algebra import (
    Belief,
    BeliefSlot,
    BeliefTriple,
    Block,
    Filter,
    Not,
    Optional,
    Reach,
    Scan,
    Search,
    Step,
    Structural,
    Tuple,
    Union,
    variables,
)
from brain.kip.execute.beliefs import belief, belief_slot, belief_triple
from brain.kip.execute.bindings import Batch, Cell, Row
from brain.kip.execute.edges import structural
from brain.kip.execute.expressions import accesses, compiled
from brain.kip.execute.foresight import foresee
from brain.kip.execute.frame import BATCH, Frame, in_batches
from brain.kip.execute.graph import Survivor
from brain.kip.execute.pushdown import run_natively
from brain.kip.execute.reach import reach
from brain.kip.execute.scans import scan
from brain.kip.execute.searches import search
from brain.kip.execute.tuples import tuples


def run_block(block: Block, frame: Frame) -> Iterator[Batch]:
    """All rows of a block that starts from one empty row."""
    rows = run_natively_started(block, frame, least=1)
    return rows if rows is not None else extend_block(block, [frame.empty_row()], frame)


def run_natively_started(block: Block, frame: Frame, *, least: int) -> Iterator[Batch] | None:
    """The same, its longest run of first steps done by the store; None when the store takes no run of at least so many
    steps."""
    for length in range(len(block.steps), least - 1, -1):
        rows = run_natively(Block(block.steps[:length]), frame)
        if rows is not None:
            return _chain(block.steps[length:], rows, [frame.empty_row()], frame)
    return None


def extend_block(block: Block, seeds: Batch, frame: Frame) -> Iterator[Batch]:
    """All rows of a block that starts from these rows."""
    return _chain(block.steps, iter([seeds]), seeds, frame)


def _chain(steps: tuple[Step, ...], batches: Iterator[Batch], seeds: Batch, frame: Frame) -> Iterator[Batch]:
    for place, step in enumerate(steps):
        foresee(step, steps[place + 1 :], frame)
        if isinstance(step, Not | Optional | Union):
            batches = _settled(batches, frame)
        if isinstance(step, Union):
            batches = _union(step, batches, seeds, frame)
        else:
            batches = _RUN[type(step)](step, _filled(batches, frame), frame)
    return batches


def _settled(batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows whose variables stand for one element each: at OPTIONAL, NOT and UNION a stretch of patterns ends."""
    for batch in batches:
        if not frame.graph.has_merges:
            yield batch
        else:
            yield [[str(cell) if type(cell) is Survivor else cell for cell in row] for row in batch]


def _filled(batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Batches that hold something, none of them much longer than BATCH.

    Every row passes here before each step, whether or not it will ever be a row of the answer: so here is where a
    query is ended in time, however much it throws away.
    """
    for batch in batches:
        frame.graph.check_deadline()
        if len(batch) <= BATCH:
            if batch:
                yield batch
        else:
            for start in range(0, len(batch), BATCH):
                frame.graph.check_deadline()
                yield batch[start : start + BATCH]


def _filter(step: Filter, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    test, read = compiled(step.condition, frame), list(accesses(step.condition))
    for batch in batches:
        frame.load(batch, read)
        yield [row for row in batch if test(row) is True]


def _optional(step: Optional, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    for batch in batches:
        matched: set[int] = set()
        seeds = _marked(batch)
        for found in _settled(extend_block(step.block, seeds, frame), frame):
            frame.graph.check_deadline()
            matched.update(_mark(row) for row in found)
            yield [row[:-1] for row in found]
        yield [row for mark, row in enumerate(batch) if mark not in matched]


def _not(step: Not, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    shared = [frame.cells[name] for name in variables(step.block)]
    for batch in batches:
        # Rows that look alike from inside the block share one answer.
        groups: dict[tuple[Cell, ...], Batch] = {}
        for row in batch:
            groups.setdefault(tuple(row[place] for place in shared), []).append(row)
        keys = list(groups)
        matched: set[int] = set()
        for found in extend_block(step.block, _marked([groups[key][0] for key in keys]), frame):
            matched.update(_mark(row) for row in found)
            if len(matched) == len(keys):
                break
        kept = {id(row) for mark, key in enumerate(keys) if mark not in matched for row in groups[key]}
        yield [row for row in batch if id(row) in kept]


def _marked(rows: Batch) -> Batch:
    """Copies with one more cell at the end: the number of the row they came from, which no step looks at."""
    return [[*row, mark] for mark, row in enumerate(rows)]  # type: ignore[list-item]


def _mark(row: Row) -> int:
    """The number `_marked` gave the row this one grew from."""
    return cast("int", row[-1])


def _union(step: Union, batches: Iterator[Batch], seeds: Batch, frame: Frame) -> Iterator[Batch]:
    """The rows so far; then the right block's, started from nothing and joined to each row the whole block started
    from that they agree with."""
    yield from batches
    shared = [frame.cells[name] for name in variables(step.block)]
    for found in _branch(step, frame):
        frame.graph.check_deadline()
        merged = (_merged(seed, row, shared) for seed in seeds for row in found)
        yield from in_batches(row for row in merged if row is not None)


def _branch(step: Union, frame: Frame) -> Iterator[Batch]:
    """The right block's own rows, which depend on nothing: run once, also when an OPTIONAL asks for every batch."""
    if id(step) not in frame.branches:
        held, kept = 0, []
        for batch in _settled(run_block(step.block, frame), frame):
            held += len(batch)
            frame.graph.check_deadline()
            frame.graph.check_held(held)
            kept.append(batch)
        frame.branches[id(step)] = kept
    return iter(frame.branches[id(step)])


def _merged(seed: Row, row: Row, shared: list[int]) -> Row | None:
    """Two solutions joined, or None when they bind a variable differently."""
    merged = seed.copy()
    for place in shared:
        cell, bound = row[place], seed[place]
        if cell is None:
            continue
        if bound is None:
            merged[place] = cell
        elif bound != cell:
            return None
    return merged


_RUN: dict[type[Step], Callable[[Any, Iterator[Batch], Frame], Iterator[Batch]]] = {
    Belief: belief,
    BeliefSlot: belief_slot,
    BeliefTriple: belief_triple,
    Filter: _filter,
    Not: _not,
    Optional: _optional,
    Reach: reach,
    Scan: scan,
    Search: search,
    Structural: structural,
    Tuple: tuples,
}
