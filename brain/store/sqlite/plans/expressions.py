"""Conditions of FILTER in SQL (KIP 2.0 §44.2); see `members.py` for how values compare."""

from __future__ import annotations

from typing import TypeAlias

from brain.kip.algebra import (
    Access,
    Call,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Expression,
    Negation,
    Operator,
)
from brain.store.base import Json
from brain.store.comparing import FLIPPED, SIGNS
from brain.store.sqlite.keys import eid_of
from brain.store.sqlite.plans.members import Member, member
from brain.store.sqlite.plans.query import End, NotPushable, Query, Row, Value

_LONGEST = 256
"""Most candidates of an IN."""

Operand: TypeAlias = Constant | Access


def condition(query: Query, expression: Expression) -> str:
    """An expression that is 1 where the condition is true, 0 where it is false, NULL where it is unknown.

    raises  NotPushable
    """
    match expression:
        case Conjunction(operands=operands):
            return f"({' AND '.join(condition(query, operand) for operand in operands)})"
        case Disjunction(operands=operands):
            return f"({' OR '.join(condition(query, operand) for operand in operands)})"
        case Negation(operand=operand):
            return f"(NOT {condition(query, operand)})"
        case Comparison(operator=operator, left=Constant() as left, right=Access() as right):
            return _compared(query, FLIPPED[operator], right, left)
        case Comparison(operator=operator, left=Access() as left, right=Access() | Constant() as right):
            return _compared(query, operator, left, right)
        case Call(function=function, arguments=(Access() as access, *rest)):
            return _call(query, function, access, rest)
    raise NotPushable("an expression")


# --- comparisons ------------------------------------------------------------------------------------------------------


def _compared(query: Query, operator: Operator, left: Access, right: Operand) -> str:
    first = _whole(query, left)
    if isinstance(right, Constant):
        if right.value is None:
            return query.bind(None)
        if first is not None:
            return _same_element(query, operator, first, right.value)
        if left.steps == ("id",) and operator in ("==", "!=") and isinstance(row := query.stand(left.variable), Row):
            return _same_id(query, operator, row, right.value)
        return _with_constant(query, operator, member(query, left), right.value)
    second = _whole(query, right)
    if (first is None) is not (second is None):
        raise NotPushable("an element beside a value")
    if first is not None and second is not None:
        return f"({first.eid} {SIGNS[operator]} {second.eid})" if operator in ("==", "!=") else "undecided()"
    return _two_members(query, operator, left, right)


def _whole(query: Query, access: Access) -> Row | None:
    """The element that a bare variable is; None for a path or a value."""
    if access.steps:
        return None
    stand = query.stand(access.variable)
    if isinstance(stand, End):
        raise NotPushable("an element or a Literal")
    return stand if isinstance(stand, Row) else None


def _same_element(query: Query, operator: Operator, row: Row, value: Json) -> str:
    """An element against its id, as a text or as a reference."""
    if operator not in ("==", "!="):
        return "undecided()"
    if isinstance(value, dict):
        if set(value) != {"id"}:
            raise NotPushable("a reference by canonical id")
        value = value["id"]
    return _same_id(query, operator, row, value)


def _same_id(query: Query, operator: Operator, row: Row, value: Json) -> str:
    if not isinstance(value, str) or eid_of(value) is None:
        return query.truth(operator == "!=")
    return f"({row.eid} {SIGNS[operator]} {query.bind_made((value,), lambda one: eid_of(*one))})"


def _with_constant(query: Query, operator: Operator, found: Member, value: Json) -> str:
    if isinstance(value, (dict, list)):
        raise NotPushable("an object")
    differs = "1" if operator == "!=" else "0"
    type_ = "text" if isinstance(value, str) else "boolean" if isinstance(value, bool) else "number"
    wanted = int(value) if isinstance(value, bool) else value
    return found.by_type(type_, f"{found.value} {SIGNS[operator]} {query.bind(wanted)}", differs)


def _two_members(query: Query, operator: Operator, left: Access, right: Access) -> str:
    stands = query.stand(left.variable), query.stand(right.variable)
    if left.steps == right.steps == ("id",) and operator in ("==", "!="):
        first, second = stands
        if isinstance(first, Row) and isinstance(second, Row):
            return f"({first.eid} {SIGNS[operator]} {second.eid})"
    one, other = member(query, left), member(query, right)
    compared = f"{one.value} {SIGNS[operator]} {other.value}"
    if not one.type and not other.type:
        return f"({compared})"
    differs = "1" if operator == "!=" else "0"
    ranks = (one.rank, other.rank)
    null = " OR ".join(f"{m.value} IS NULL" if not m.type else f"({m.rank}) IS NULL" for m in (one, other))
    return f"CASE WHEN {null} THEN NULL WHEN ({ranks[0]}) <> ({ranks[1]}) THEN {differs} ELSE {compared} END"


# --- functions --------------------------------------------------------------------------------------------------------


def _call(query: Query, function: str, access: Access, rest: list[Expression]) -> str:
    match function, rest:
        case "IS_NULL", []:
            return _is_null(query, access)
        case "IS_NOT_NULL", []:
            return f"(NOT {_is_null(query, access)})"
        case "IN", [Constant(value=list() as candidates)]:
            return _in(query, member(query, access), candidates)
        case (("CONTAINS" | "STARTS_WITH"), [Constant(value=str() as part)]):
            return _on_text(query, function, member(query, access), part)
    raise NotPushable(function)


def _is_null(query: Query, access: Access) -> str:
    stand = query.stand(access.variable)
    if access.steps:
        return f"({member(query, access).value} IS NULL)"
    if isinstance(stand, Value):
        return f"({stand.value} IS NULL)"
    return f"({stand.key} = 'null')" if isinstance(stand, End) else query.truth(False)


def _in(query: Query, found: Member, candidates: list[Json]) -> str:
    if len(candidates) > _LONGEST or any(isinstance(candidate, (dict, list)) for candidate in candidates):
        raise NotPushable("candidates that are no scalars, or very many")
    strings = [candidate for candidate in candidates if isinstance(candidate, str)]
    # A list, not a subquery: before one of these SQLite would judge what stands behind it.
    is_string = f"{found.value} IN ({', '.join(map(query.bind, strings))})"
    if not found.type:
        return f"({is_string})" if strings else f"CASE WHEN {found.value} IS NOT NULL THEN 0 END"
    booleans = [candidate for candidate in candidates if isinstance(candidate, bool)]
    numbers = [c for c in candidates if isinstance(c, (int, float)) and not isinstance(c, bool)]
    is_number = " OR ".join(f"{found.value} = {query.bind(number)}" for number in numbers) or "0"
    is_boolean = " OR ".join(f"{found.value} = {int(boolean)}" for boolean in booleans) or "0"
    return f"CASE {found.rank} WHEN 2 THEN {is_string} WHEN 1 THEN ({is_number}) WHEN 0 THEN ({is_boolean}) END"


def _on_text(query: Query, function: str, found: Member, part: str) -> str:
    if "\0" in part:
        raise NotPushable("a text with a NUL")
    wanted = query.bind(part)
    if function == "CONTAINS":
        holds = f"instr({found.value}, {wanted}) > 0"
    else:
        holds = f"substr({found.value}, 1, {query.bind(len(part))}) = {wanted}"
    return found.by_type("text", holds, "undecided()")
