"""The names a block binds and hands on (KIP 2.0 §42.4). That every name used is bound was checked by the parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import TypeVar, cast

from brain.kip import ast
from brain.kip.walk import variables_of

T = TypeVar("T")


def _once(find: Callable[[ast.Where], T]) -> Callable[[ast.Where], T]:
    """Worked out once per block: equal texts have one tree."""
    name = find.__name__

    @wraps(find)
    def known(where: ast.Where) -> T:
        if name not in where.known:
            where.known[name] = find(where)
        return cast("T", where.known[name])

    return known


@_once
def visible_names(where: ast.Where) -> tuple[str, ...]:
    """The names a block hands on, in the order its text first binds them.

    Structural edges and beliefs come after the elements they are about, so that rows fall in the order of these.
    """
    names = dict.fromkeys(_exports(where))
    virtual = set(_virtual(where))
    return tuple(name for name in names if name not in virtual) + tuple(name for name in names if name in virtual)


@_once
def clause_names(where: ast.Where) -> tuple[tuple[str, ...], ...]:
    """The names in each clause of a block, in written order; none for a clause that holds a block or an expression."""
    inner = (ast.Optional, ast.Union, ast.Not, ast.Filter)
    return tuple(() if isinstance(clause, inner) else tuple(pattern_names(clause)) for clause in where.clauses)


@_once
def has_search(where: ast.Where) -> bool:
    """Whether a block or one inside it searches."""
    return any(
        isinstance(clause, ast.SearchPattern)
        or (isinstance(clause, (ast.Optional, ast.Union, ast.Not)) and has_search(clause.where))
        for clause in where.clauses
    )


def pattern_names(clause: ast.WhereClause) -> Iterator[str]:
    """The names in one plain pattern, in written order."""
    return (variable.name for variable in variables_of(clause))


def _exports(where: ast.Where) -> Iterator[str]:
    for clause, names in zip(where.clauses, clause_names(where), strict=True):
        if isinstance(clause, (ast.Optional, ast.Union)):
            yield from _exports(clause.where)
        else:
            yield from names


def _virtual(where: ast.Where) -> Iterator[str]:
    for clause in where.clauses:
        if isinstance(clause, (ast.Optional, ast.Union)):
            yield from _virtual(clause.where)
        elif isinstance(clause, (ast.BeliefPattern, ast.BeliefSlotPattern, ast.StructuralPattern)) and clause.variable:
            yield clause.variable.name
