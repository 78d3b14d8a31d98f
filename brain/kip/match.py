"""The solutions of a WHERE block, for what selects elements instead of answering a question (KIP 2.0 §52.7, §63.4)."""

from __future__ import annotations

from brain.kip import ast
from brain.kip.context import Run
from brain.kip.execute.bindings import Datum
from brain.kip.execute.graph import Graph
from brain.kip.execute.results import solutions as solutions_of
from brain.kip.plan import plan_of_where
from brain.kip.values import SymbolValue
from brain.store.base import ElementId, Json


def solutions(where: ast.Where, run: Run) -> list[dict[str, ElementId | Json]]:
    """Every distinct solution over the run's snapshot, in ascending order of the ids its variables are bound to.

    A variable is given the id of its element or the JSON value it is bound to, a predicate variable the exact
    reference; None when an OPTIONAL or a branch of a UNION left it unbound. Such a block has no BELIEF and no SEARCH.
    """
    found = solutions_of(plan_of_where(where, run), Graph(run))
    return [{name: _plain(cell) for name, cell in solution.items()} for solution in found]


def _plain(cell: object) -> Json:
    if isinstance(cell, Datum):
        return cell.value
    if isinstance(cell, SymbolValue):
        return cell.ref
    return cell if isinstance(cell, str) else None
