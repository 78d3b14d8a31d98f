"""Which variables can only be of closed Concept Types, whose attributes are therefore all known (KIP 2.0 §44.1)."""

from __future__ import annotations

from collections.abc import Mapping

from brain.kip import ast
from brain.kip.resolve import Binder
from brain.kip.scopes import pattern_names

_Types = frozenset[str] | None
"""Names of the types a variable can have; None for any."""


def closed_attributes(where: ast.Where, binder: Binder) -> dict[str, frozenset[str]]:
    """The attributes a variable's types have, for each variable all of whose types are closed (decision D-08)."""
    found: dict[str, frozenset[str]] = {}
    for variable, names in _types(where, binder).items():
        types = [binder.environment.describe("concept_type", name) for name in names or ()]
        if types and not any(getattr(type_, "is_open", True) for type_ in types):
            found[variable] = frozenset(name for type_ in types for name in getattr(type_, "fields", ()))
    return found


def _types(where: ast.Where, binder: Binder) -> Mapping[str, _Types]:
    """What a block's patterns say of its variables: patterns that join narrow, branches of a UNION widen."""
    known: dict[str, _Types] = {}
    for clause in where.clauses:
        match clause:
            case ast.Union(where=inner):
                branch = _types(inner, binder)
                for name in {*known, *branch}:
                    left, right = known.get(name, frozenset()), branch.get(name, frozenset())
                    known[name] = None if left is None or right is None else left | right
            case ast.Optional(where=inner):
                for name, types in _types(inner, binder).items():
                    known.setdefault(name, types)
            case ast.Not() | ast.Filter():
                pass
            case _:
                for name in pattern_names(clause):
                    known.setdefault(name, None)
                if isinstance(clause, ast.ConceptPattern) and known[clause.variable.name] is None:
                    known[clause.variable.name] = _written_type(clause.match, binder)
    return known


def _written_type(pattern: ast.ObjectPattern, binder: Binder) -> _Types:
    for member in pattern.members:
        if member.name == "type" and isinstance(member.value, (ast.Literal, ast.Parameter)):
            return frozenset((binder.text(member.value, "type"),))
    return None
