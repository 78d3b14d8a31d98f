"""Bound expressions as functions of a row (KIP 2.0 §44.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from brain.kip.algebra import (
    Access,
    Call,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Expression,
    Items,
    Minus,
    Negation,
)
from brain.kip.execute.bindings import Datum, Row
from brain.kip.execute.frame import Frame, Reader
from brain.kip.functions import FUNCTIONS
from brain.kip.values import Truth, compare, negate

Test: TypeAlias = Callable[[Row], Truth]


def compiled(expression: Expression, frame: Frame) -> Reader:
    """The function that computes an expression for a row; errors of a row are raised as they are."""
    match expression:
        case Constant(value=value):
            return lambda row: value  # noqa: ARG005
        case Access():
            return frame.reader(expression)
        case Comparison(operator=operator, left=left, right=right):
            first, second = compiled(left, frame), compiled(right, frame)
            return lambda row: compare(operator, first(row), second(row))
        case Conjunction(operands=operands):
            return _all([compiled(operand, frame) for operand in operands])
        case Disjunction(operands=operands):
            return _any([compiled(operand, frame) for operand in operands])
        case Negation(operand=operand):
            inner = compiled(operand, frame)
            return lambda row: None if (truth := inner(row)) is None else not truth
        case Minus(operand=operand):
            number = compiled(operand, frame)
            return lambda row: negate(number(row))
        case Items(items=items):
            readers = [compiled(item, frame) for item in items]
            return lambda row: [read(row) for read in readers]
        case Call():
            return _call(expression, frame)
    raise TypeError(f"no expression of rows: {expression!r}")


def accesses(expression: Expression) -> Iterator[Access]:
    """The variables and paths an expression reads."""
    match expression:
        case Access():
            yield expression
        case Comparison(left=left, right=right):
            yield from accesses(left)
            yield from accesses(right)
        case Conjunction(operands=parts) | Disjunction(operands=parts) | Items(items=parts) | Call(arguments=parts):
            for part in parts:
                yield from accesses(part)
        case Negation(operand=operand) | Minus(operand=operand):
            yield from accesses(operand)


_SCANNING = frozenset({"CONTAINS", "REGEX"})
"""Functions that go through a text of any length, so that the rows of one batch could take long."""


def _call(call: Call, frame: Frame) -> Reader:
    run = FUNCTIONS[call.function].run
    arguments = [compiled(argument, frame) for argument in call.arguments]
    if call.function == "LITERAL_TYPE" and isinstance(call.arguments[0], Access) and not call.arguments[0].steps:
        return _literal_type(frame.cells[call.arguments[0].variable], arguments[0])
    if len(arguments) == 1:
        (only,) = arguments
        return lambda row: run(only(row))
    first, second = arguments
    if call.function in _SCANNING:
        look = frame.graph.check_deadline

        def looked(row: Row) -> Any:
            look()
            return run(first(row), second(row))

        return looked
    return lambda row: run(first(row), second(row))


def _literal_type(place: int, read: Reader) -> Reader:
    """Only a binding tells a Literal null from an absent value."""

    def answer(row: Row) -> str | None:
        cell = row[place]
        if isinstance(cell, Datum) and cell.value is None:
            return "null"
        found: str | None = FUNCTIONS["LITERAL_TYPE"].run(read(row))
        return found

    return answer


def _all(tests: list[Reader]) -> Test:
    def test(row: Row) -> Truth:
        unknown = False
        for part in tests:
            truth = part(row)
            if truth is None:
                unknown = True
            elif not truth:
                return False
        return None if unknown else True

    return test


def _any(tests: list[Reader]) -> Test:
    def test(row: Row) -> Truth:
        unknown = False
        for part in tests:
            truth = part(row)
            if truth is None:
                unknown = True
            elif truth:
                return True
        return None if unknown else False

    return test
