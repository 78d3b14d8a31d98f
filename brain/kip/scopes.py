"""The names a block binds and hands on (KIP 2.0 §42.4). That every name used is bound was checked by the parser."""

from __future__ import annotations

from collections.abc import Iterator

from brain.kip import ast
from brain.kip.walk import variables_of


def visible_names(where: ast.Where) -> tuple[str, ...]:
    """The names a block hands on, in the order its text first binds them.

    Structural edges and beliefs come after the elements they are about, so that rows fall in the order of these.
    """
    names = dict.fromkeys(_exports(where))
    virtual = set(_virtual(where))
    return tuple(name for name in names if name not in virtual) + tuple(name for name in names if name in virtual)


def pattern_names(clause: ast.WhereClause) -> Iterator[str]:
    """The names in one plain pattern, in written order."""
    return (variable.name for variable in variables_of(clause))


def _exports(where: ast.Where) -> Iterator[str]:
    for clause in where.clauses:
        if isinstance(clause, (ast.Optional, ast.Union)):
            yield from _exports(clause.where)
        elif not isinstance(clause, (ast.Not, ast.Filter)):
            yield from pattern_names(clause)


def _virtual(where: ast.Where) -> Iterator[str]:
    for clause in where.clauses:
        if isinstance(clause, (ast.Optional, ast.Union)):
            yield from _virtual(clause.where)
        elif isinstance(clause, (ast.BeliefPattern, ast.BeliefSlotPattern, ast.StructuralPattern)) and clause.variable:
            yield clause.variable.name
