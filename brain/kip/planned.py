"""How a query would be run: its plan, and what of it the store runs by itself. For developers; nothing is read."""

from __future__ import annotations

from collections.abc import Mapping

from brain import errors
from brain.kip import algebra, ast
from brain.kip.context import Run, Session
from brain.kip.execute.results import counts_one_pattern, offered
from brain.kip.explain import show_plan
from brain.kip.parser import parse
from brain.kip.pipeline import Engine
from brain.kip.plan import plan_of
from brain.store.base import Json, Snapshot
from brain.times import timestamp


def planned(engine: Engine, text: str, parameters: Mapping[str, Json], session: Session) -> str:
    """The plan of a FIND as lines of text, then how the store would run it; no value stands in that part.

    raises  InvalidSyntax for anything but a FIND, and whatever else is wrong with the statement
    """
    statement = parse(text)
    if not isinstance(statement, ast.Find):
        raise errors.InvalidSyntax("Only a FIND has a plan.")
    with engine.space.snapshot() as snapshot:
        now = timestamp(engine.clock.now_ms())
        environment = engine.environment(snapshot)
        run = Run(snapshot, environment, parameters, session, now, engine.space_uri, embedder=engine.embedder)
        return shown(plan_of(statement, run), snapshot)


def shown(plan: algebra.Project, snapshot: Snapshot) -> str:
    """A plan, a line of dashes, and what the store runs of it."""
    return f"{show_plan(plan)}\n----\n{_in_store(plan, snapshot)}"


def _in_store(plan: algebra.Project, snapshot: Snapshot) -> str:
    if counts_one_pattern(plan):
        return "counted by the store"
    for part in offered(plan):
        statement = snapshot.explain(part)
        if statement is not None and isinstance(part, algebra.Block):
            return f"the first {len(part.steps)} of {len(plan.block.steps)} steps:\n{statement}"
        if statement is not None:
            return statement
    return "step by step"
