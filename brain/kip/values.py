"""Values in expressions and how they compare (KIP 2.0 §9.6, §42.5, §44.2).

An expression's value is a JSON value, or one of two things JSON has no word for: a `Ref`, an element itself, and a
`SymbolValue`, a Schema symbol. Absent, unbound and null are all None.

Truth has three values: True, False, and None for unknown. A test on a null is unknown, and stays unknown when it is
negated; nothing is converted from one type to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from brain import errors
from brain.ids import canonical_json
from brain.store.base import ElementId, Json
from brain.unicode import normalize

Truth: TypeAlias = bool | None
"""None is unknown."""


@dataclass(frozen=True, slots=True)
class Ref:
    """An element as a value."""

    id: ElementId


@dataclass(frozen=True, slots=True)
class SymbolValue:
    """A Schema symbol as a value: shown by its exact reference, compared by the lineage that stands for it (§20.14)."""

    ref: str = field(compare=False)
    lineage: str


Value: TypeAlias = Json | Ref | SymbolValue

SCALARS = (str, int, float, bool)


def is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def reference_id(value: Value) -> str | None:
    """The id or canonical id of an element, or of an object that names one and holds nothing else; else None."""
    if isinstance(value, Ref):
        return value.id
    if isinstance(value, Mapping) and len(value) == 1:
        named = value.get("id", value.get("canonical_id"))
        return named if isinstance(named, str) else None
    return None


def identity(value: Json) -> tuple[str, Any]:
    """A JSON value's key: equal keys are one value (§42.5). Numbers compare by value, strings in NFC, members of an
    object in any order; a boolean is no number."""
    if isinstance(value, str):
        return ("string", value if value.isascii() else normalize("NFC", value))
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, (int, float)):
        return ("number", value)
    if value is None:
        return ("null", None)
    return ("content", canonical_json(value))


def compare(operator: str, left: Value, right: Value) -> Truth:
    """One of `== != < > <= >=`; TypeMismatch for an array or object that names no element."""
    if left is None or right is None:
        return None
    if isinstance(left, SymbolValue) and isinstance(right, SymbolValue):
        same: Truth = left.lineage == right.lineage
    else:
        left, right = _operand(left, operator), _operand(right, operator)
        if _type(left) != _type(right):
            return operator == "!="
        same = left == right
    if operator == "==":
        return same
    if operator == "!=":
        return not same
    return _ordered(operator, left, right)


def member_of(value: Value, candidates: Value) -> Truth:
    """IN: unknown for a null value; a null among the candidates equals nothing (§44.2)."""
    if value is None or candidates is None:
        return None
    if not isinstance(candidates, list):
        raise errors.TypeMismatch("IN takes a list of candidates as its second argument.")
    return any(compare("==", value, candidate) for candidate in candidates)


def negate(value: Any) -> Value:
    """Unary minus; null stays null."""
    if value is None:
        return None
    if not is_number(value):
        raise errors.TypeMismatch("A minus sign needs a number behind it.")
    return -value


def sort_value(value: Value) -> tuple[Any, ...] | None:
    """A scalar's place in an order: booleans, then numbers, then strings; None for null.

    raises  TypeMismatch for an element, an array or an object (§44.7)
    """
    if value is None:
        return None
    if isinstance(value, SymbolValue):
        value = value.ref
    if isinstance(value, bool):
        return (0, value)
    if isinstance(value, (int, float)):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    raise errors.TypeMismatch(
        "ORDER BY takes scalar values, not elements, arrays or objects.",
        hint="Order by a member, such as ?x.name or ?x.id.",
    )


def _ordered(operator: str, left: Any, right: Any) -> bool:
    if operator == "<":
        return bool(left < right)
    if operator == ">":
        return bool(left > right)
    return bool(left <= right) if operator == "<=" else bool(left >= right)


def _operand(value: Value, operator: str) -> Value:
    if isinstance(value, SCALARS):
        return value
    if isinstance(value, SymbolValue):
        return value.ref
    named = reference_id(value)
    if named is None or operator not in ("==", "!="):
        raise errors.TypeMismatch(
            f"{operator} compares scalars, not elements, arrays or objects.",
            hint="Compare a member instead, such as ?x.id or ?x.name; IN tests a list of candidates.",
        )
    return named


def _type(value: Value) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else "string"
