"""Values of assignments: parameters, literals, handles, and update expressions (KIP 2.0 §53.2, §59, §74)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from brain import errors
from brain.ids import MAX_SAFE_INTEGER, lineage_of
from brain.kip import ast
from brain.kip.check_kml import UPDATE_FUNCTIONS
from brain.kip.write.work import Broken, Draft, Workspace

SKIP: Any = object()
"""What an update expression gives when it has no number to give: the key is left as it is (§59)."""


class Values:
    """Reads the values of one clause.

    target    the element an UPDATE is about, whose state before the statement expressions may read
    variable  the name under which the clause calls its target
    """

    def __init__(self, work: Workspace, target: Draft | None = None, variable: str | None = None) -> None:
        self.work = work
        self.target = target
        self.variable = variable

    def read(self, node: ast.DataValue) -> Any:
        """The JSON value of a node; SKIP when it is an expression without a numeric result.

        raises ReferenceError for an unbound parameter or unknown handle; InvalidSyntax for a misused expression
        """
        match node:
            case ast.Literal(value=value):
                return value
            case ast.Parameter():
                return self.parameter(node)
            case ast.Variable(name=name):
                return {"id": self.handle(name)}
            case ast.ArrayLiteral(items=items):
                return [self._plain(item) for item in items]
            case ast.ObjectLiteral():
                return self.members(node)
            case ast.FunctionCall():
                result = self._expression(node)
                return result if _is_number(result) else SKIP
            case ast.FieldAccess():
                result = self._expression(node)
                return SKIP if result is None else result
            case _:
                assert_never(node)

    def members(self, node: ast.ObjectLiteral) -> dict[str, Any]:
        """An object literal as JSON; a name written twice is refused."""
        result: dict[str, Any] = {}
        for member in node.members:
            if member.name in result:
                raise errors.InvalidSyntax(f"The member {member.name} is written twice in one object.")
            result[member.name] = self._plain(member.value)
        return result

    def scalar(self, node: ast.Scalar) -> Any:
        """The JSON value of a literal or parameter."""
        return self.parameter(node) if isinstance(node, ast.Parameter) else node.value

    def text(self, node: ast.Scalar, what: str) -> str:
        """A non-empty string."""
        value = self.scalar(node)
        if not isinstance(value, str):
            raise errors.TypeMismatch(f"{what} is a string.")
        if not value:
            raise errors.InvalidIdentifier(f"{what} is an empty string.")
        return value

    def count(self, node: ast.Scalar, what: str) -> int:
        """A whole number from 0 within the safe range."""
        value = self.scalar(node)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SAFE_INTEGER:
            raise errors.TypeMismatch(f"{what} is a whole number from 0.", details={"found": value})
        return value

    def parameter(self, node: ast.Parameter) -> Any:
        try:
            return self.work.run.parameters[node.name]
        except KeyError:
            raise errors.ReferenceError(
                f"The parameter :{node.name} is used and the request does not bind it.",
                details={"parameter": node.name},
            ) from None

    def handle(self, name: str) -> str:
        """The element a handle of this block, or the clause's own target variable, stands for."""
        if self.target is not None and name == self.variable:
            return self.target.id
        if name in self.work.broken:
            raise Broken(name)
        found = self.work.handles.get(name)
        if found is None:
            raise errors.ReferenceError(
                f"?{name} is neither a handle of this block nor bound by this clause's WHERE.",
                details={"handle": name},
            )
        return found

    def _plain(self, node: ast.DataValue) -> Any:
        if isinstance(node, (ast.FunctionCall, ast.FieldAccess)):
            raise errors.InvalidSyntax("An update expression stands for a whole assigned value, not inside one.")
        return self.read(node)

    # --- update expressions -------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expression) -> Any:
        match node:
            case ast.FunctionCall():
                return self._call(node)
            case ast.FieldAccess():
                return self._path(node)
            case ast.Unary(operator="-", operand=operand):
                value = self._expression(operand)
                return -value if _is_number(value) else None
            case ast.Literal() | ast.Parameter():
                return self.scalar(node)
            case _:
                raise errors.InvalidSyntax("An update expression is made of numbers, parameters, paths and functions.")

    def _call(self, node: ast.FunctionCall) -> Any:
        name = node.name.upper()
        if name not in UPDATE_FUNCTIONS:
            raise errors.InvalidSyntax(
                f"{node.name} is no update function.", hint=f"There are {', '.join(sorted(UPDATE_FUNCTIONS))}."
            )
        if len(node.arguments) != UPDATE_FUNCTIONS[name]:
            raise errors.InvalidSyntax(f"{name} takes {UPDATE_FUNCTIONS[name]} arguments, not {len(node.arguments)}.")
        operands = [self._expression(argument) for argument in node.arguments]
        if name == "COALESCE":
            return operands[1] if operands[0] is None else operands[0]
        if name == "CLAMP" and _is_number(operands[1]) and _is_number(operands[2]) and operands[1] > operands[2]:
            raise errors.ConstraintViolation("The lower bound of CLAMP lies above the upper one.")
        if not all(map(_is_number, operands)):
            return None
        return _checked(name, _FUNCTIONS[name](operands), operands)

    def _path(self, node: ast.FieldAccess) -> Any:
        if self.target is None or node.root.name != self.variable:
            raise errors.InvalidSyntax(
                f"An expression reads the element it updates; ?{node.root.name} is another variable."
            )
        before = self.target.before
        return _at(before.body if before else self.target.body, node.steps, self.work)


def _at(body: Any, steps: Sequence[str], work: Workspace) -> Any:
    value = body
    for position, step in enumerate(steps):
        if not isinstance(value, Mapping):
            return None
        is_facet = position == 1 and steps[0] == "facets"
        value = _facet(value, step, work) if is_facet else value.get(step)
    return value


def _facet(facets: Mapping[str, Any], name: str, work: Workspace) -> Any:
    lineages = work.environment.lineages("facet", name)
    return next((members for ref, members in facets.items() if lineage_of(ref) in lineages), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_FUNCTIONS: Mapping[str, Callable[[list[Any]], Any]] = {
    "ADD": lambda operands: operands[0] + operands[1],
    "MUL": lambda operands: operands[0] * operands[1],
    "CLAMP": lambda operands: min(max(operands[0], operands[1]), operands[2]),
}


def _checked(name: str, result: Any, operands: Sequence[Any]) -> Any:
    """A result within the number domain (§9.3): finite, exact when whole, not rounded away to zero."""
    if isinstance(result, int) and not -(2.0**1023) < result < 2.0**1023:
        raise errors.ConstraintViolation(f"The result of {name} is too large.")
    if not math.isfinite(result) or (float(result).is_integer() and abs(result) > MAX_SAFE_INTEGER):
        raise errors.ConstraintViolation(f"The result of {name} leaves the range of exact numbers.")
    if name == "MUL" and result == 0 and all(operands):
        raise errors.ConstraintViolation("The result of MUL is too small to be told from zero.")
    return int(result) if isinstance(result, float) and result.is_integer() else result
