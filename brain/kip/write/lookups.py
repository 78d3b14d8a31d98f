"""What a mutation is about to look up, as far as its text and parameters tell it beforehand.

Only so that a store may fetch all of it at once: what is missing here, or named in vain, changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from brain import errors
from brain.ids import is_element_id, object_key
from brain.kip import ast
from brain.kip.schema import PredicateType
from brain.kip.write.work import Workspace
from brain.store.base import ElementId, Lookups

_UNTOLD: Any = object()
"""A value that is not known beforehand."""


def named(parameters: Mapping[str, Any]) -> list[ElementId]:
    """What parameters name by id."""
    ids = []
    for value in parameters.values():
        name = value.get("id") if isinstance(value, dict) and len(value) == 1 else value
        if isinstance(name, str) and is_element_id(name):
            ids.append(name)
    return ids


def lookups_of(work: Workspace, clauses: Sequence[ast.Node]) -> Lookups:
    """Elements by id, Concepts by key and Propositions by all of their tuple."""
    ids, keys = set(named(work.run.parameters)), set[str]()
    tuples = set[tuple[str, frozenset[str], str]]()
    for clause in clauses:
        values: Iterable[Any] = ()
        match clause:
            case ast.CreateConcept() | ast.UpsertConcept():
                values = ({"key": key} for key in _keys(work, clause))
            case ast.EnsureProposition(proposition=ast.PropositionTuple() as tuple_):
                values = _ends(work, tuple_)
                tuples.update(_tuple(work, tuple_, *values))
            case ast.Assert(proposition=ast.PropositionTuple() as tuple_, members=members):
                values = _ends(work, tuple_)
                tuples.update(_tuple(work, tuple_, *values))
                values = (*values, *(_value(work, member.value) for member in members.members if member.name == "by"))
        for value in values:
            if isinstance(value, dict):
                if (element_id := _id(value)) is not None:
                    ids.add(element_id)
                if isinstance(value.get("key"), str):
                    keys.add(value["key"])
    return Lookups(frozenset(ids), frozenset(keys), frozenset(tuples))


def _keys(work: Workspace, clause: ast.CreateConcept | ast.UpsertConcept) -> Iterator[Any]:
    """The key a Concept is found by or given."""
    for part in clause.clauses:
        members: Sequence[ast.Member | ast.PatternMember] = ()
        if isinstance(part, ast.SetFields):
            members = part.assignments.members
        elif isinstance(part, ast.MatchClause):
            members = part.match.members
        for member in members:
            if member.name == "key":
                yield _value(work, member.value)


def _ends(work: Workspace, tuple_: ast.PropositionTuple) -> tuple[Any, Any]:
    return _value(work, tuple_.subject), _value(work, tuple_.object)


def _tuple(
    work: Workspace, tuple_: ast.PropositionTuple, subject: Any, obj: Any
) -> Iterator[tuple[str, frozenset[str], str]]:
    """The tuple, when its subject is named by id and its object by id or as a Literal."""
    subject_id, name = _id(subject), _value(work, tuple_.predicate)
    if subject_id is None or not isinstance(name, str):
        return
    with suppress(errors.KipError):
        predicate = work.environment.predicate(name)
        lineages = work.environment.group("predicate", predicate.symbol.lineage)
        if (key := _object_key(predicate, obj)) is not None:
            yield subject_id, lineages, key


def _object_key(predicate: PredicateType, value: Any) -> str | None:
    """How the object will be stored; None where that is not known."""
    if isinstance(value, dict) or (isinstance(value, str) and predicate.object.kinds and is_element_id(value)):
        return _id(value)
    return None if value is _UNTOLD or isinstance(value, list) else object_key(value)


def _id(value: Any) -> ElementId | None:
    """The id by which a value names an element."""
    named_by = value.get("id") if isinstance(value, dict) and len(value) == 1 else value
    return named_by if isinstance(named_by, str) and is_element_id(named_by) else None


def _value(work: Workspace, node: ast.Node) -> Any:
    match node:
        case ast.Literal(value=value):
            return value
        case ast.Parameter(name=name):
            return work.run.parameters.get(name, _UNTOLD)
        case ast.ObjectPattern(members=members) | ast.ObjectLiteral(members=members):
            return {member.name: _value(work, member.value) for member in members}
        case _:
            return _UNTOLD
