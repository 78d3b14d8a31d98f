"""The functions and aggregates of KQL (KIP 2.0 §44.2, §44.6).

A function is given its arguments' values; what can be told from constants is checked when the statement is bound,
before any data is read. REGEX is RE2: linear time, unanchored, no back references.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import MAX_SAFE_INTEGER, is_element_id
from brain.kip.regex import found
from brain.kip.values import Ref, SymbolValue, Truth, Value, is_number, member_of, reference_id
from brain.store.base import Kind

KIND_OF_LETTER: Mapping[str, str] = {kind.letter: kind.value for kind in Kind}


@dataclass(frozen=True, slots=True)
class Function:
    """arity  how many arguments; condition  whether it answers a truth, else a value."""

    name: str
    arity: int
    condition: bool
    run: Callable[..., Any]


def is_null(value: Value) -> Truth:
    return value is None


def is_not_null(value: Value) -> Truth:
    return value is not None


def is_element(value: Value) -> Truth:
    return kind_of(value) is not None


def is_literal(value: Value) -> Truth:
    return literal_type(value) is not None


def is_kind(value: Value, kind: Value) -> Truth:
    """Whether the value is an element of this kind, whose name may be written in any case."""
    if kind is None:
        return None
    if not isinstance(kind, str):
        raise errors.TypeMismatch("IS_KIND takes the name of a kind as its second argument.")
    wanted = kind.lower()
    if wanted not in KIND_OF_LETTER.values():
        raise errors.ConstraintViolation(
            f'"{kind}" is no element kind.', hint=f"Use one of {', '.join(sorted(KIND_OF_LETTER.values()))}."
        )
    return kind_of(value) == wanted


def literal_type(value: Value) -> str | None:
    """boolean, number or string; null for what is no Literal. (A bound Literal null is known to its caller.)"""
    if isinstance(value, bool):
        return "boolean"
    if is_number(value):
        return "number"
    return "string" if isinstance(value, (str, SymbolValue)) else None


def kind_of(value: Value) -> str | None:
    """The kind of the element that a value is or names."""
    named = reference_id(value) if isinstance(value, (Ref, Mapping)) else None
    return KIND_OF_LETTER[named[0]] if named is not None and is_element_id(named) else None


def contains(text: Value, part: Value) -> Truth:
    return _on_texts("CONTAINS", text, part, lambda a, b: b in a)


def starts_with(text: Value, prefix: Value) -> Truth:
    return _on_texts("STARTS_WITH", text, prefix, str.startswith)


def ends_with(text: Value, suffix: Value) -> Truth:
    return _on_texts("ENDS_WITH", text, suffix, str.endswith)


def regex(text: Value, pattern: Value) -> Truth:
    return _on_texts("REGEX", text, pattern, lambda a, b: found(b, a))


def _on_texts(name: str, text: Value, other: Value, test: Callable[[str, str], bool]) -> Truth:
    for value in (text, other):
        if value is not None and not isinstance(value, (str, SymbolValue)):
            raise errors.TypeMismatch(f"{name} takes strings.", hint="Test a member that holds text.")
    if text is None or other is None:
        return None
    return test(_text(text), _text(other))


def _text(value: Value) -> str:
    return value.ref if isinstance(value, SymbolValue) else str(value)


FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for function in (
        Function("CONTAINS", 2, True, contains),
        Function("ENDS_WITH", 2, True, ends_with),
        Function("IN", 2, True, member_of),
        Function("IS_ELEMENT", 1, True, is_element),
        Function("IS_KIND", 2, True, is_kind),
        Function("IS_LITERAL", 1, True, is_literal),
        Function("IS_NOT_NULL", 1, True, is_not_null),
        Function("IS_NULL", 1, True, is_null),
        Function("LITERAL_TYPE", 1, False, literal_type),
        Function("REGEX", 2, True, regex),
        Function("STARTS_WITH", 2, True, starts_with),
    )
}


# --- aggregates -------------------------------------------------------------------------------------------------------


def total(values: Sequence[Value]) -> Value:
    """SUM of non-null values: exact for whole numbers; null for none."""
    if not values:
        return None
    numbers = _numbers("SUM", values)
    if all(isinstance(number, int) for number in numbers):
        return _in_domain(sum(numbers))
    return _in_domain(math.fsum(numbers))


def average(values: Sequence[Value]) -> Value:
    """AVG of non-null values; null for none."""
    return _in_domain(math.fsum(_numbers("AVG", values)) / len(values)) if values else None


def least(values: Sequence[Value]) -> Value:
    """MIN of non-null values of one scalar type; null for none."""
    return min(_comparable("MIN", values), default=None)


def greatest(values: Sequence[Value]) -> Value:
    """MAX of non-null values of one scalar type; null for none."""
    return max(_comparable("MAX", values), default=None)


AGGREGATES: Mapping[str, Callable[[Sequence[Value]], Value]] = {
    "AVG": average,
    "COUNT": len,
    "MAX": greatest,
    "MIN": least,
    "SUM": total,
}


def _numbers(name: str, values: Iterable[Value]) -> list[Any]:
    numbers = list(values)
    if not all(is_number(number) for number in numbers):
        raise errors.TypeMismatch(
            f"{name} adds numbers, and a value is none.", hint="Aggregate a member that holds numbers."
        )
    return numbers


def _comparable(name: str, values: Iterable[Value]) -> list[Any]:
    scalars = [value.ref if isinstance(value, SymbolValue) else value for value in values]
    types = {literal_type(value) for value in scalars}
    if len(types) > 1 or None in types:
        raise errors.TypeMismatch(f"{name} compares values of one scalar type.", hint="Aggregate a member of one type.")
    return scalars


def _in_domain(number: int | float) -> int | float:
    whole = isinstance(number, int) or (math.isfinite(number) and number.is_integer())
    if not math.isfinite(number) or (whole and abs(number) > MAX_SAFE_INTEGER):
        raise errors.ConstraintViolation("The sum lies outside the numbers KIP can carry (§9.3).")
    return number
