"""From solutions to answer rows: distinct, grouped, ordered, cut and projected (KIP 2.0 §42.5, §44.6 to §44.8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import cast

from brain.kip import algebra
from brain.kip.algebra import Access, Column, Distinct, Filter, Group, Not, Project, Scan, Tuple, Union
from brain.kip.execute.bindings import Batch, Cell, Row, cited, order_of
from brain.kip.execute.blocks import extend_block, run_block, run_natively_started
from brain.kip.execute.foresight import foresee
from brain.kip.execute.frame import WIDE, Frame, in_batches
from brain.kip.execute.graph import Graph
from brain.kip.execute.groups import Groups
from brain.kip.execute.ordering import Key, Ranked, is_behind, key_of, sort
from brain.kip.execute.pushdown import CHUNK, select, select_groups
from brain.kip.execute.scans import first_elements, starts_in_order
from brain.kip.execute.tuples import Join
from brain.kip.templates import Asked
from brain.store.base import ElementId, Json, Undecided

SPARE = 512
"""Rows kept beyond those an ordered, cut answer needs before the surplus is dropped."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One row of an answer.

    values    one per expression of FIND, as JSON
    position  its place in the order, for a cursor
    bound     the elements that bound it
    """

    values: tuple[Json, ...]
    position: tuple[Json, ...]
    bound: frozenset[ElementId]


def answer(asked: Asked, graph: Graph) -> Iterator[AnswerRow]:
    """The rows of a plan, in order."""
    given = 0
    try:
        for row in _answer(asked.plan, Frame(graph, asked.cells, repeated=asked.repeated)):
            yield row
            given += 1
    except Undecided:
        # The order of an answer does not depend on who runs the plan.
        yield from islice(_answer(asked.plan, Frame(graph, asked.cells, natively=False)), given, None)


def offered(plan: Project) -> Iterator[algebra.Step]:
    """The parts of a plan that a store is asked to run, the larger first; the first it takes is the one that counts."""
    yield plan.group or plan
    if plan.group is not None or not _runs_in_order(plan) or _starts_with_few(plan):
        least = 1 if plan.group is not None or not _runs_in_order(plan) else _WORTH_IT
        for length in range(len(plan.block.steps), least - 1, -1):
            yield algebra.Block(plan.block.steps[:length])


def solutions(distinct: Distinct, graph: Graph) -> list[dict[str, Cell]]:
    """All distinct solutions, in ascending order of what the variables are bound to."""
    try:
        return _solutions(distinct, Frame.of(distinct.source, graph))
    except Undecided:
        return _solutions(distinct, Frame.of(distinct.source, graph, natively=False))


def _answer(plan: Project, frame: Frame) -> Iterator[AnswerRow]:
    if plan.group is not None:
        return _grouped(plan, plan.group, frame)
    found = select(plan, frame)
    return _plain(plan, frame) if found is None else _native(plan, found, frame)


def _solutions(distinct: Distinct, frame: Frame) -> list[dict[str, Cell]]:
    rows = list(_Best(frame, distinct, (), None, None).of(run_block(distinct.source, frame)))
    return [{name: ranked.items[0][frame.cells[name]] for name in distinct.variables} for ranked in rows]


# --- rows of solutions ------------------------------------------------------------------------------------------------


def _plain(plan: Project, frame: Frame) -> Iterator[AnswerRow]:
    accesses = [output for output in plan.outputs if isinstance(output, Access)]
    readers = [frame.output(access) for access in accesses]
    for chunk in in_batches(_ranked(plan, frame), CHUNK):
        frame.graph.check_deadline()
        frame.load([row.items[0] for row in chunk], accesses)
        for ranked in chunk:
            if len(readers) > WIDE:
                frame.graph.check_deadline()
            values = tuple(read(ranked.items[0]) for read in readers)
            yield AnswerRow(values, ranked.position, frozenset(set().union(*map(cited, ranked.items))))


def _native(
    plan: Project, found: Iterator[list[tuple[Row, frozenset[ElementId]]]], frame: Frame
) -> Iterator[AnswerRow]:
    """The answer rows of solutions that the store put in order."""
    accesses = [output for output in plan.outputs if isinstance(output, Access)]
    readers = [frame.output(access) for access in accesses]
    best = _Best(frame, plan.distinct, plan.sort.keys, None, None)
    for chunk in found:
        frame.graph.check_deadline()
        frame.load([row for row, _ in chunk], [*accesses, *best.accesses])
        for row, bound in chunk:
            if len(readers) > WIDE:
                frame.graph.check_deadline()
            values = tuple(read(row) for read in readers)
            yield AnswerRow(values, best.ranked(row).position, bound.union(cited(row)))
        frame.graph.forget()


def _ranked(plan: Project, frame: Frame) -> Iterator[Ranked[Row]]:
    best = _Best(frame, plan.distinct, plan.sort.keys, plan.source.limit, plan.source.after)
    if not _runs_in_order(plan):
        yield from best.of(run_block(plan.block, frame))
        return
    if _starts_with_few(plan):
        started = run_natively_started(plan.block, frame, least=_WORTH_IT)
        if started is not None:
            yield from best.of(started)
            return
    left = plan.source.limit
    for batches in _in_order(plan, frame):
        for ranked in best.of(batches):
            yield ranked
            if left is not None:
                left -= 1
                if left == 0:
                    return
        frame.graph.forget()


class _Best:
    """Distinct solutions behind a position, in order, at most `limit` of them."""

    def __init__(
        self,
        frame: Frame,
        distinct: Distinct,
        keys: tuple[algebra.SortKey, ...],
        limit: int | None,
        after: tuple[Json, ...] | None,
    ) -> None:
        self.frame = frame
        self.places = [frame.cells[name] for name in distinct.variables]
        self.accesses = [key.key for key in keys if isinstance(key.key, Access)]
        self.readers = [frame.reader(access) for access in self.accesses]
        self.descending = [key.descending for key in keys]
        self.limit = limit
        self.after = after
        self.bar: Key | None = None

    def of(self, batches: Iterator[Batch]) -> list[Ranked[Row]]:
        """The best of these rows. Memory stays with the limit when there is one."""
        kept: dict[tuple[Cell, ...], Ranked[Row]] = {}
        frame = self.frame
        for batch in batches:
            frame.graph.check_deadline()
            frame.load(batch, self.accesses)
            for row in batch:
                if len(self.readers) > WIDE:
                    frame.graph.check_deadline()
                self._take(row, kept)
            if self.limit is not None and len(kept) > self.limit + SPARE:
                best = self._cut(kept)
                kept = {self._solution(ranked.items[0]): ranked for ranked in best}
                self.bar = best[-1].keys[0] if best and self.readers else None
            frame.graph.check_held(len(kept))
            frame.graph.forget()
        return self._cut(kept)

    def ranked(self, row: Row) -> Ranked[Row]:
        """A row with its place; what the keys look into has to be loaded."""
        return Ranked(self._keys(row), tuple(order_of(cell) for cell in self._solution(row)), [row])

    def _keys(self, row: Row) -> tuple[Key, ...]:
        pairs = zip(self.readers, self.descending, strict=True)
        return tuple(key_of(read(row), descending=down) for read, down in pairs)

    def _take(self, row: Row, kept: dict[tuple[Cell, ...], Ranked[Row]]) -> None:
        keys = self._keys(row)
        if self.bar is not None and keys[0] != self.bar and (keys[0] > self.bar) != self.descending[0]:
            return
        solution = self._solution(row)
        ranked = kept.get(solution)
        if ranked is None:
            ranked = Ranked(keys, tuple(order_of(cell) for cell in solution))
            if self.after is not None and not is_behind(ranked, self.after, self.descending):
                return
            kept[solution] = ranked
        if len(ranked.items) < MOST_DERIVATIONS:
            ranked.items.append(row)

    def _solution(self, row: Row) -> tuple[Cell, ...]:
        return tuple([row[place] for place in self.places])

    def _cut(self, kept: dict[tuple[Cell, ...], Ranked[Row]]) -> list[Ranked[Row]]:
        rows = list(kept.values())
        sort(rows, self.descending)
        return rows if self.limit is None else rows[: self.limit]


MOST_DERIVATIONS = 16
"""Ways a solution was found that are kept for its citations."""


def _runs_in_order(plan: Project) -> bool:
    """Whether the plan's first step makes rows in the order of the answer."""
    steps, variables = plan.block.steps, plan.distinct.variables
    if plan.sort.keys or not steps or not variables or any(isinstance(step, Union) for step in steps):
        return False
    first = steps[0]
    if isinstance(first, Scan):
        return first.variable == variables[0] and starts_in_order(first)
    return isinstance(first, Tuple) and first.proposition == variables[0] and _is_open(first)


_WORTH_IT = 2
"""Steps a store has to run together to be asked where a plan may as well run in order: one alone it runs anyway."""


def _starts_with_few(plan: Project) -> bool:
    """Whether the first step is about few elements by its nature, so that a cut answer is not much smaller than a
    whole one."""
    first = plan.block.steps[0] if plan.block.steps else None
    if not isinstance(first, Scan):
        return False
    conditions = first.conditions
    return first.ids is not None or any((conditions.key, conditions.canonical_id, conditions.name))


def _in_order(plan: Project, frame: Frame) -> Iterator[Iterator[Batch]]:
    """Stretches of rows of which each comes wholly before the next, so that a cut answer reads no further than it has
    to."""
    first, rest = plan.block.steps[0], algebra.Block(plan.block.steps[1:])
    after = _reached(plan)
    foresee(first, rest.steps, frame)
    starts = (
        first_elements(first, frame, after=after)
        if isinstance(first, Scan)
        else Join(cast("Tuple", first), frame).first_tuples(after=after)
    )
    return (extend_block(rest, batch, frame) for batch in starts)


def _is_open(step: Tuple) -> bool:
    return isinstance(step.subject, algebra.Var) and isinstance(step.object, algebra.Var)


def _reached(plan: Project) -> int:
    """How far the leading variable may be skipped: to the element a cursor stopped at, which may have more rows."""
    if plan.source.after is None:
        return 0
    _, ties = plan.source.after
    return int(ties[0][2]) - 1 if ties and ties[0][0] == 0 else 0


# --- rows of groups ---------------------------------------------------------------------------------------------------


def _grouped(plan: Project, group: Group, frame: Frame) -> Iterator[AnswerRow]:
    groups = _counted(plan, group, frame)
    if groups is None:
        found = select_groups(group, frame)
        groups = (
            Groups.of(group, _all_solutions(plan, frame), frame) if found is None else Groups.made(group, found, frame)
        )
    keys = plan.sort.keys
    descending = [key.descending for key in keys]
    rows = []
    for index, values in enumerate(groups.values):
        columns = [values[key.key.index] for key in keys if isinstance(key.key, Column)]
        sort_keys = tuple(key_of(v, descending=down) for v, down in zip(columns, descending, strict=True))
        rows.append(Ranked(sort_keys, groups.order[index], [index]))
    sort(rows, descending)
    after, limit = plan.source.after, plan.source.limit
    if after is not None:
        rows = [row for row in rows if is_behind(row, after, descending)]
    for ranked in rows if limit is None else rows[:limit]:
        index = ranked.items[0]
        values = tuple(groups.values[index][output.index] for output in plan.outputs if isinstance(output, Column))
        yield AnswerRow(values, ranked.position, frozenset(groups.bound[index]))


def _all_solutions(plan: Project, frame: Frame) -> Iterator[Batch]:
    """Every distinct solution once."""
    if _never_repeats(plan):
        for batch in run_block(plan.block, frame):
            yield batch
            frame.graph.forget()
        return
    places = [frame.cells[name] for name in plan.distinct.variables]
    seen: set[tuple[Cell, ...]] = set()
    for batch in run_block(plan.block, frame):
        frame.graph.check_deadline()
        frame.graph.check_held(len(seen))
        fresh = []
        for row in batch:
            solution = tuple(row[place] for place in places)
            if solution not in seen:
                seen.add(solution)
                fresh.append(row)
        if fresh:
            yield fresh
        frame.graph.forget()


def _never_repeats(plan: Project) -> bool:
    """Whether each row is a solution of its own: nothing hidden tells rows apart, and no branch repeats another."""
    visible = set(plan.distinct.variables)
    return all(
        isinstance(step, Filter | Not)
        or (isinstance(step, Scan | Tuple) and visible.issuperset(algebra.variables(step)))
        for step in plan.block.steps
    )


def counts_one_pattern(plan: Project) -> bool:
    """Whether a plan is the COUNT of one pattern, which a store knows without reading elements."""
    group, steps = plan.group, plan.block.steps
    if group is None or group.keys or len(steps) != 1:
        return False
    (step,) = steps
    if not isinstance(step, Scan) or step.ids is not None or step.matches:
        return False
    return all(a.function == "COUNT" and a.argument == Access(step.variable) for a in group.aggregates)


def _counted(plan: Project, group: Group, frame: Frame) -> Groups | None:
    step = plan.block.steps[0] if plan.block.steps else None
    if not isinstance(step, Scan) or not counts_one_pattern(plan) or not frame.graph.sees_everything:
        return None
    total = frame.graph.snapshot.count(step.conditions)
    return Groups.single(tuple(total for _ in group.aggregates))
