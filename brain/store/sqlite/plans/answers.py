"""Which plans can be one statement."""

from __future__ import annotations

from collections.abc import Iterator

from brain.kip.algebra import Block, Distinct, Group, Not, Project, Step, variables
from brain.store.base import Json
from brain.store.sqlite.plans.columns import Cells, Columns, Statement, build
from brain.store.sqlite.plans.groups import groups
from brain.store.sqlite.plans.query import NotPushable, Query
from brain.store.sqlite.plans.solutions import solutions


def statement_of(plan: Step, at: int | None) -> Statement:
    """The statement of a Project, a Group or a Block.

    raises  NotPushable
    """
    query = Query(at)
    match plan:
        case Project() if plan.group is None:
            return solutions(query, plan)
        case Group():
            return groups(query, plan)
        case Block():
            return _block(query, plan)
    raise NotPushable(type(plan).__name__)


def steps_of(plan: Step) -> tuple[Step, ...]:
    """The steps at the bottom of a plan."""
    match plan:
        case Project():
            return plan.block.steps
        case Group(source=Distinct(source=Block(steps=steps))) | Block(steps=steps):
            return steps
    return ()


def _block(query: Query, plan: Block) -> Statement:
    if len(plan.steps) < 2:
        raise NotPushable("a scan, which gives the elements themselves")
    build(query, plan)
    columns = Columns(query)
    inside: set[str] = set()
    for step in plan.steps:
        if isinstance(step, Not):
            inside.update(variables(step))
    names = variables(plan)
    for name in names:
        if name not in query.stands and name in inside:
            columns.cells.append(lambda _: None)
        else:
            columns.variable(name)
    text = f"SELECT {', '.join(columns.selected)}{query.source}"

    def read(rows: Iterator[Cells]) -> Iterator[tuple[Json, ...]]:
        for row in rows:
            yield tuple(cell(row) for cell in columns.cells)

    return Statement.of(query, text, read)
