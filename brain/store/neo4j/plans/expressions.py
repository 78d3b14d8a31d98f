"""Conditions of FILTER in Cypher (KIP 2.0 §44.2); see `members.py` for how values compare."""

from __future__ import annotations

from typing import TypeAlias

from brain.ids import is_element_id
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
from brain.store.neo4j.members import BOOLEAN, NUMBER, TEXT, is_exact, is_in_order
from brain.store.neo4j.plans import members
from brain.store.neo4j.plans.query import End, NotPushable, Query, Row

_LONGEST = 256
"""Most candidates of an IN."""

_MOST_CONDITIONS = 24
"""Comparisons of one FILTER: the time to plan a statement grows faster than they do."""

Operand: TypeAlias = Constant | Access


def condition(query: Query, expression: Expression) -> str:
    """An expression that is true or false where the condition is, null where it is unknown.

    raises  NotPushable
    """
    if not query.is_filtered:
        _narrow(query, expression)
    if _size(expression) > _MOST_CONDITIONS:
        raise NotPushable("a text that takes long to be planned")
    return _condition(query, expression)


def _size(expression: Expression) -> int:
    match expression:
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            return sum(map(_size, operands))
        case Negation(operand=operand):
            return _size(operand)
    return 1


def _condition(query: Query, expression: Expression) -> str:
    match expression:
        case Conjunction(operands=operands):
            return f"({' AND '.join(_condition(query, operand) for operand in operands)})"
        case Disjunction(operands=operands):
            return f"({' OR '.join(_condition(query, operand) for operand in operands)})"
        case Negation(operand=operand):
            return f"(NOT {_condition(query, operand)})"
        case Comparison(operator=operator, left=Constant() as left, right=Access() as right):
            return _compared(query, FLIPPED[operator], right, left)
        case Comparison(operator=operator, left=Access() as left, right=Access() | Constant() as right):
            return _compared(query, operator, left, right)
        case Call(function=function, arguments=(Access() as access, *rest)):
            return _call(query, function, access, rest)
    raise NotPushable("an expression")


def _narrow(query: Query, expression: Expression) -> None:
    """Have the pattern find only what a first FILTER cannot do without: no property beside the one it needs is read of
    all others. What comes behind an operand that is false is not looked at, whatever it would be refused for."""
    match expression:
        case Conjunction(operands=(first, *_)):
            _narrow(query, first)
        case (
            Comparison(operator="==", left=Access() as access, right=Constant(value=str() | int() | float() as wanted))
            | Comparison(
                operator="==", left=Constant(value=str() | int() | float() as wanted), right=Access() as access
            )
        ) if access.steps != ("id",) and (access.steps or _is_literal(query, access, wanted)):
            members.narrow(query, access, wanted)


# --- comparisons ------------------------------------------------------------------------------------------------------


def _compared(query: Query, operator: Operator, left: Access, right: Operand) -> str:
    if isinstance(right, Constant) and _is_literal(query, left, right.value):
        return _with_constant(query, operator, left, right.value)
    first = _whole(query, left)
    if isinstance(right, Constant):
        if right.value is None:
            return query.bind(None)
        if first is not None:
            return _same_element(query, operator, first, right.value)
        return _with_constant(query, operator, left, right.value)
    second = _whole(query, right)
    if (first is None) is not (second is None):
        raise NotPushable("an element beside a value")
    if first is not None and second is not None:
        if operator not in ("==", "!="):
            raise NotPushable("an order of elements")
        return f"({first.id} {SIGNS[operator]} {second.id})"
    return _two_members(query, operator, left, right)


def _whole(query: Query, access: Access) -> Row | None:
    """The element that a bare variable is; None for a path."""
    if access.steps:
        return None
    stand = query.stands.get(access.variable)
    if not isinstance(stand, Row):
        raise NotPushable("an element or a Literal")
    return stand


def _is_literal(query: Query, access: Access, value: Json) -> bool:
    """Whether this is the object of a tuple, beside a scalar that is no element's id: an object that equals or orders
    with it is a Literal."""
    if access.steps or not isinstance(query.stands.get(access.variable), End) or value is None:
        return False
    return not isinstance(value, dict | list) and not (isinstance(value, str) and is_element_id(value))


def _same_element(query: Query, operator: Operator, row: Row, value: Json) -> str:
    """An element against its id, as a text or as a reference."""
    if isinstance(value, dict) and set(value) == {"id"}:
        value = value["id"]
    if operator not in ("==", "!=") or not isinstance(value, str):
        raise NotPushable("an element beside a value")
    return f"({row.id} {SIGNS[operator]} {query.bind(value)})"


def _with_constant(query: Query, operator: Operator, access: Access, value: Json) -> str:
    is_equality = operator in ("==", "!=")
    wanted, type_ = _bound(query, value)
    if isinstance(value, str) and not is_equality and not is_in_order(value):
        raise NotPushable("a text Neo4j orders in its own way")
    found = members.judged(query, access, members.ANY if is_equality else members.ORDERED)
    differs = "true" if operator == "!=" else "false"
    of_type = members.number(found) if type_ == NUMBER else members.text(found)
    return members.by_type(found, type_, f"{of_type} {SIGNS[operator]} {wanted}", differs)


def _bound(query: Query, value: Json) -> tuple[str, str]:
    """A parameter that compares with values of one type, and that type; a boolean is the text JSON has for it."""
    if isinstance(value, bool):
        return query.bind("true" if value else "false"), BOOLEAN
    if isinstance(value, int | float) and is_exact(value):
        return query.bind(float(value)), NUMBER
    if isinstance(value, str):
        return query.bind(value), TEXT
    raise NotPushable("no scalar, or a number Neo4j rounds")


def _two_members(query: Query, operator: Operator, left: Access, right: Access) -> str:
    allowed = members.ANY if operator in ("==", "!=") else members.ORDERED
    one, other = (members.judged(query, access, allowed) for access in (left, right))
    sign = SIGNS[operator]
    differs = "true" if operator == "!=" else "false"
    return (
        f"CASE WHEN {one} IS NULL OR {other} IS NULL THEN null"
        f" WHEN {members.rank(one)} <> {members.rank(other)} THEN {differs}"
        f" WHEN left({one}, 1) = '{NUMBER}' THEN {members.number(one)} {sign} {members.number(other)}"
        f" ELSE {members.text(one)} {sign} {members.text(other)} END"
    )


# --- functions --------------------------------------------------------------------------------------------------------


def _call(query: Query, function: str, access: Access, rest: list[Expression]) -> str:
    match function, rest:
        case "IS_NULL", []:
            return _is_null(query, access)
        case "IS_NOT_NULL", []:
            return f"(NOT {_is_null(query, access)})"
        case "IN", [Constant(value=list() as candidates)]:
            return _in(query, access, candidates)
        case (("CONTAINS" | "STARTS_WITH" | "ENDS_WITH"), [Constant(value=str() as part)]):
            found = members.judged(query, access, members.TEXTS)
            return f"({members.text(found)} {function.replace('_', ' ')} {query.bind(part)})"
    raise NotPushable(function)


def _is_null(query: Query, access: Access) -> str:
    if access.steps:
        return f"({members.entry(query, access)} IS NULL)"
    stand = query.stands.get(access.variable)
    if stand is None:
        raise NotPushable(access.variable)
    return f"({stand.id} = 'null')" if isinstance(stand, End) else query.bind(False)


def _in(query: Query, access: Access, candidates: list[Json]) -> str:
    """A null among the candidates equals nothing."""
    if len(candidates) > _LONGEST:
        raise NotPushable("very many candidates")
    texts = [one for one in candidates if isinstance(one, str)]
    booleans = ["true" if one else "false" for one in candidates if isinstance(one, bool)]
    numbers = [one for one in candidates if isinstance(one, int | float) and not isinstance(one, bool)]
    if any(isinstance(one, dict | list) for one in candidates) or not all(map(is_exact, numbers)):
        raise NotPushable("candidates that are no scalars, or that Neo4j rounds")
    if not access.steps and any(map(is_element_id, texts)):
        raise NotPushable("elements among the candidates")
    found = members.judged(query, access)
    of_text, of_number, of_boolean = (
        query.bind(values) for values in (texts, [float(number) for number in numbers], booleans)
    )
    return (
        f"CASE WHEN {found} IS NULL THEN null"
        f" WHEN left({found}, 1) = '{NUMBER}' THEN {members.number(found)} IN {of_number}"
        f" WHEN left({found}, 1) = '{BOOLEAN}' THEN {members.text(found)} IN {of_boolean}"
        f" ELSE {members.text(found)} IN {of_text} END"
    )
