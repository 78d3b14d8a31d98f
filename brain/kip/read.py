"""FIND: from a statement to its answer (KIP 2.0 §42 to §50)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from brain import errors
from brain.kip import algebra, ast, cursor
from brain.kip.belief import BeliefRequest
from brain.kip.belief.identity import Identity
from brain.kip.belief.wire import projection_basis
from brain.kip.context import Answer, Limits, Run
from brain.kip.cursor import Cursor
from brain.kip.execute.graph import Graph
from brain.kip.execute.ordering import position_from
from brain.kip.execute.results import AnswerRow, answer
from brain.kip.plan import plan_of
from brain.kip.resolve import Binder
from brain.kip.schema import Environment
from brain.kip.search import search_context
from brain.kip.templates import Asked
from brain.store.base import Json
from brain.times import Seq


def run_find(statement: ast.Find, run: Run) -> Answer:
    """Answer a FIND over the run's snapshot.

    One expression answers a list of values, several a list of lists; a page that was cut has a cursor.

    raises  whatever is wrong with the statement, before any element is read; then TypeMismatch and InvalidSyntax for
            what only a row shows, ResourceExhausted past the hop limit, ExecutionTimeout, CursorExpired
    """
    continued = _continued(statement, Binder.of(run), run)
    asked = _asked(statement, run, continued)
    plan = asked.plan
    graph = Graph(run, None if continued is None else continued.ranking)
    try:
        rows, is_cut = _page(asked, graph)
    except errors.HistoricalSearchUnavailable as error:
        if continued is None:
            raise
        raise errors.CursorExpired(
            "The Space changed since this cursor was issued, and its search index with it.",
            hint="Start the query again without a cursor.",
            details={"family": "kql", "reason": "expired"},
        ) from error
    single = len(plan.outputs) == 1
    return Answer(
        result=[row.values[0] if single else list(row.values) for row in rows],
        next_cursor=_cursor(statement, graph, plan, rows) if is_cut else None,
        context=_context(plan, graph),
        bound=tuple(row.bound for row in rows),
    )


def pinned_seq(statement: ast.Find, parameters: Mapping[str, Json], cursor_key: bytes) -> Seq | None:
    """The sequence a FIND reads: its cursor's, else that of AS OF SEQ; None for the head.

    raises  TypeMismatch for AS OF with anything but a sequence, CursorInvalid, CursorTypeMismatch, ReferenceError
    """
    binder = Binder(_NO_VOCABULARY, parameters, Limits())
    if statement.cursor is not None:
        return cursor.read(binder.scalar(statement.cursor), cursor_key, family="kql").seq
    return None if statement.as_of is None else binder.whole_number(statement.as_of, "AS OF SEQ")


_NO_VOCABULARY = Environment(0, ())
"""Enough to bind the parameters of clauses that name no symbol."""


def _continued(statement: ast.Find, binder: Binder, run: Run) -> Cursor | None:
    if statement.cursor is None:
        return None
    token = binder.scalar(statement.cursor)
    continued = cursor.read(token, run.cursor_key, family="kql", space_uri=run.space_uri)
    cursor.require(continued, cursor.identity_of(statement, run.parameters))
    if continued.seq != run.snapshot.seq:
        raise errors.CursorExpired(
            "The state this cursor shows pages of is no longer open.", details={"family": "kql", "reason": "expired"}
        )
    return continued


def _asked(statement: ast.Find, run: Run, continued: Cursor | None) -> Asked:
    if continued is not None:
        return Asked.once(plan_of(statement, run, position_from(continued.position)))
    return Asked.once(plan_of(statement, run)) if run.templates is None else run.templates.asked(statement, run)


def _page(asked: Asked, graph: Graph) -> tuple[list[AnswerRow], bool]:
    """The rows of a page, and whether more follow."""
    limit = asked.limit
    rows: list[AnswerRow] = []
    for row in islice(answer(asked, graph), None if limit is None else limit + 1):
        rows.append(row)
        graph.check_held(len(rows))
    return rows[:limit], limit is not None and len(rows) > limit


def _cursor(statement: ast.Find, graph: Graph, plan: algebra.Project, rows: list[AnswerRow]) -> str:
    run = graph.run
    position = rows[-1].position if rows else plan.source.after
    identity = cursor.identity_of(statement, run.parameters)
    token = Cursor("kql", run.space_uri, run.snapshot.seq, identity, position, graph.ranking)
    return cursor.issue(token, run.cursor_key)


def _context(plan: algebra.Project, graph: Graph) -> dict[str, Any]:
    """What the result says of the projections in it, and of its search that is the furthest behind (§50)."""
    context: dict[str, Any] = {}
    steps = list(_steps(plan.block))
    request = next((step.request for step in steps if isinstance(step, _BELIEFS)), None)
    if request is not None:
        basis = _basis(request, graph)
        context |= {"epistemic_policy": basis["policy"], "valid_at": request.valid_at, "basis": basis}
    searches = [search_context(graph.run, step.query) for step in steps if isinstance(step, algebra.Search)]
    if searches:
        context["search"] = min(searches, key=lambda shown: shown["index_seq"])
    return context


def _basis(request: BeliefRequest, graph: Graph) -> dict[str, Any]:
    basis = projection_basis(graph.run, request, Identity(graph.snapshot.merges()))
    return {**basis, "next_invalid_at": min(graph.invalid_from, default=None)}


_BELIEFS = (algebra.Belief, algebra.BeliefSlot, algebra.BeliefTriple)


def _steps(block: algebra.Block) -> Iterator[algebra.Step]:
    for step in block.steps:
        yield step
        if isinstance(step, (algebra.Not, algebra.Optional, algebra.Union)):
            yield from _steps(step.block)
