"""LIST DEPENDENTS: what was derived from an element, along Activities from inputs to outputs (KIP 2.0 §63.5)."""

from __future__ import annotations

from brain.kip import ast
from brain.kip.context import Answer, Run
from brain.kip.describe.pages import list_page
from brain.kip.govern import permit
from brain.kip.resolve import Binder, present_id
from brain.store.base import Document, EdgeScan, ElementId, Snapshot, element_number

MAX_DEPTH = 8
"""Deepest walk; a larger DEPTH is answered as this one."""


def list_dependents(statement: ast.List, run: Run) -> Answer:
    """`{id, kind, distance, via: {activity}}`, nearest first, each dependent once at its least distance.

    Reaching an element says that it was made from the start, not that it is out of date. The result context names the
    scope of the coverage and whether DEPTH cut the walk.

    raises  InvalidIdentifier, NotFoundOrNotVisible for the start; TypeMismatch for DEPTH
    """
    permit(run.session, "read")
    assert statement.of is not None  # noqa: S101 - the grammar requires it
    binder = Binder.of(run)
    written = binder.text(statement.of, "LIST DEPENDENTS")
    asked = 1 if statement.depth is None else binder.whole_number(statement.depth, "DEPTH")
    start = present_id(run, written, "The start of LIST DEPENDENTS")
    depth = min(asked, MAX_DEPTH)
    truncated = bool(_derived(run.snapshot, start, depth + 1, only=depth + 1)) if asked else False
    return list_page(
        run,
        statement,
        lambda pinned: _derived(pinned.snapshot, start, depth),
        context={"extensions": {"brain/coverage": {"coverage_scope": "authorized_view", "truncated": truncated}}},
    )


def _derived(snapshot: Snapshot, start: ElementId, depth: int, *, only: int | None = None) -> list[Document]:
    """Breadth first; within one distance by kind and number. `only` keeps the rows of one distance."""
    seen: set[ElementId] = {start}
    frontier = {start}
    rows: list[Document] = []
    for distance in range(1, depth + 1):
        made: dict[ElementId, ElementId] = {}
        using = snapshot.edges(EdgeScan(fields=frozenset({"inputs"}), targets=frozenset(frontier)))
        activities = sorted({edge.source for edge in using}, key=element_number)
        if activities:
            for edge in snapshot.edges(EdgeScan(sources=frozenset(activities), fields=frozenset({"outputs"}))):
                if edge.target not in seen:
                    made.setdefault(edge.target, edge.source)
        here = snapshot.elements(made.keys())
        for element in sorted(here.values(), key=lambda element: (element.kind, element_number(element.id))):
            if only in (None, distance):
                via = {"activity": made[element.id]}
                rows.append({"id": element.id, "kind": element.kind.value, "distance": distance, "via": via})
        frontier = set(here)
        if not frontier:
            break
        seen |= frontier
    return rows
