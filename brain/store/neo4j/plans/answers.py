"""Which plans can be one statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from brain.kip.algebra import Block, Filter, Group, Project, Step
from brain.store.base import Json
from brain.store.neo4j.plans.blocks import rows_of
from brain.store.neo4j.plans.counts import count
from brain.store.neo4j.plans.groups import groups
from brain.store.neo4j.plans.query import NotPushable, Query
from brain.store.neo4j.plans.solutions import solutions
from brain.store.neo4j.plans.steps import add, is_known, names_others, size

_MOST_STEPS = 12

_CLAUSE = re.compile(r"(?<!STARTS)(?<!ENDS) (?=(?:MATCH|WITH|CALL|UNWIND|RETURN|WHERE) )")
"""Where a new line begins."""


class Statement(Protocol):
    """One statement that reads what a plan asks for.

    compares_ends  whether it is exact only while nothing was merged
    may_fail       whether it fails when it meets a value that it cannot judge
    """

    @property
    def text(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    @property
    def compares_ends(self) -> bool: ...

    @property
    def may_fail(self) -> bool: ...

    def rows(self, found: Any) -> Iterator[tuple[Json, ...]]:
        """The rows of the plan, of the one record.

        raises  Undecided when there are more than one record should hold
        """
        ...


def shown(statement: Statement) -> str:
    """A statement on several lines, for people."""
    return _CLAUSE.sub("\n", statement.text)


def statement_of(plan: Step) -> Statement:
    """The statement of a Block, of a Group, or of a Project without one.

    raises  NotPushable
    """
    match plan:
        case Block(steps=steps):
            if len(steps) == 1 and not names_others(steps[0]):
                raise NotPushable("a scan, which gives the elements themselves")
            return rows_of(_joined(steps), plan)
        case Group() if not plan.keys and all(
            one.function == "COUNT" and not one.argument.steps for one in plan.aggregates
        ):
            return count(_joined(plan.source.source.steps), plan)
        case Group():
            return groups(_joined(plan.source.source.steps), plan)
        case Project() if plan.group is None:
            if not plan.sort.keys and not any(isinstance(step, Filter) for step in plan.block.steps):
                raise NotPushable("read in order by steps")
            return solutions(_joined(plan.block.steps), plan)
    raise NotPushable(type(plan).__name__)


def _joined(steps: Sequence[Step]) -> Query:
    if size(steps) > _MOST_STEPS:
        raise NotPushable("a text that takes long to be planned")
    if not is_known(steps):
        raise NotPushable("a step of another kind")
    query = Query()
    for step in steps:
        add(query, step)
    return query
