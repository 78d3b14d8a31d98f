"""From written expressions to bound ones (KIP 2.0 §44.1, §44.2).

What can be told from the text alone was refused when it was parsed. What shows with its parameters and vocabulary fails
here, before matching: values of a wrong type, a broken pattern, a member that a closed type does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import cast

from brain import errors
from brain.kip import ast
from brain.kip.algebra import (
    Access,
    Aggregate,
    Call,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Expression,
    Items,
    Minus,
    Negation,
    Operator,
)
from brain.kip.functions import FUNCTIONS, is_kind
from brain.kip.regex import compiled
from brain.kip.resolve import Binder
from brain.kip.values import is_number, reference_id
from brain.store.base import Json

_TEXT_FUNCTIONS = ("CONTAINS", "ENDS_WITH", "REGEX", "STARTS_WITH")


@dataclass(slots=True)
class Expressions:
    """Binds the expressions of one statement.

    retrievals  search variables, each with the hidden variable that holds its `retrieval`
    find_closed finds the variables whose every type is closed, with the attributes these types have (decision D-08);
                asked once, and only by a path into attributes
    """

    binder: Binder
    retrievals: Mapping[str, str] = field(default_factory=dict)
    find_closed: Callable[[], Mapping[str, frozenset[str]]] = dict
    _closed: Mapping[str, frozenset[str]] | None = field(default=None, init=False)

    # --- conditions ---------------------------------------------------------------------------------------------------

    def condition(self, node: ast.Expression) -> Expression:
        """What FILTER, `!`, `&&` and `||` take: something that is true, false or unknown."""
        match node:
            case ast.Binary(operator="&&"):
                return Conjunction(tuple(self.condition(part) for part in _chain("&&", node)))
            case ast.Binary(operator="||"):
                return Disjunction(tuple(self.condition(part) for part in _chain("||", node)))
            case ast.Binary():
                return self._comparison(node)
            case ast.Unary(operator="!", operand=operand):
                return Negation(self.condition(operand))
            case ast.FunctionCall(name=name) if FUNCTIONS[name.upper()].condition:
                return self._call(node)
        raise errors.InvalidSyntax(
            "FILTER takes a comparison, a test such as IS_NULL(?x), or a combination of these.",
            hint="Compare the value, for instance ?x.attributes.active == true.",
        )

    def value(self, node: ast.Expression) -> Expression:
        """An operand: a constant, a variable or path, a function, or a condition's own truth."""
        match node:
            case ast.Literal() | ast.Parameter():
                return Constant(self.binder.scalar(node))
            case ast.Variable(name=name):
                return Access(name)
            case ast.FieldAccess():
                return self.access(node)
            case ast.ArrayLiteral(items=items):
                parts = tuple(self.value(item) for item in items)
                constants = [part.value for part in parts if isinstance(part, Constant)]
                return Constant(constants) if len(constants) == len(parts) else Items(parts)
            case ast.ObjectLiteral():
                return Constant(self.binder.document(node))
            case ast.FunctionCall():
                return self._call(node)
            case ast.Unary(operator="-", operand=operand):
                return self._minus(operand)
            case _:
                return self.condition(node)

    def access(self, node: ast.FieldAccess) -> Access:
        """A path, with Facets and fields resolved."""
        name, steps = node.root.name, node.steps
        if steps[0] == "retrieval" and name in self.retrievals:
            return Access(self.retrievals[name], steps[1:])
        if len(steps) > 1 and steps[0] == "attributes":
            self._check_attribute(name, steps[1])
        return Access(name, self.binder.path(steps))

    def projection(self, node: ast.Projection) -> Access | Aggregate:
        """What FIND lists: a variable, a path or an aggregate over one (§42.5)."""
        inner = node.argument if isinstance(node, ast.Aggregate) else node
        if isinstance(inner, ast.FieldAccess) and inner.steps[0] == "retrieval" and inner.root.name in self.retrievals:
            raise errors.InvalidSyntax(
                f"?{inner.root.name}.retrieval serves FILTER and ORDER BY and is not projected.",
                hint="SEARCH as a statement lists hits with their scores.",
            )
        return self.sort_key(node)

    def sort_key(self, node: ast.Projection) -> Access | Aggregate:
        """What ORDER BY takes; unlike FIND also `?x.retrieval.score`."""
        if isinstance(node, ast.Aggregate):
            return Aggregate(node.function, node.distinct, cast("Access", self.sort_key(node.argument)))
        return self.access(node) if isinstance(node, ast.FieldAccess) else Access(cast("ast.Variable", node).name)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _comparison(self, node: ast.Binary) -> Expression:
        left, right = self._compared(node.left), self._compared(node.right)
        for side in (left, right):
            if isinstance(side, Items) or (isinstance(side, Constant) and not _comparable(side.value, node.operator)):
                raise errors.TypeMismatch(
                    f"{node.operator} compares scalars, not arrays or objects.",
                    hint='IN(?x.name, ["A", "B"]) tests a list of candidates.',
                )
        return Comparison(cast("Operator", node.operator), left, right)

    def _compared(self, node: ast.Expression) -> Expression:
        """One side of a comparison, whose value decides nothing but what rows meet it."""
        return Constant(self.binder.given(node)) if isinstance(node, ast.Parameter) else self.value(node)

    def _listed(self, node: ast.Expression) -> Expression:
        """The candidates for an id, by which elements may be looked up."""
        return Constant(self.binder.listed(node)) if isinstance(node, ast.Parameter) else self.value(node)

    def _minus(self, operand: ast.Expression) -> Expression:
        inner = self.value(operand)
        if not isinstance(inner, Constant):
            return Minus(inner)
        if inner.value is not None and not is_number(inner.value):
            raise errors.TypeMismatch("A minus sign needs a number behind it.")
        return Constant(None if inner.value is None else -inner.value)

    def _call(self, node: ast.FunctionCall) -> Expression:
        name = node.name.upper()
        looks_up = name == "IN" and isinstance(first := node.arguments[0], ast.FieldAccess) and first.steps == ("id",)
        arguments = tuple(map(self._listed if looks_up else self.value, node.arguments))
        _check_constants(name, arguments, self.binder.limits.regex_bytes)
        return Call(name, arguments)

    def _check_attribute(self, variable: str, attribute: str) -> None:
        if self._closed is None:
            self._closed = self.find_closed()
        known = self._closed.get(variable)
        if known is not None and attribute not in known:
            near = get_close_matches(attribute[:200], known, n=3)
            raise errors.SchemaFieldNotFound(
                f"No type of ?{variable} has an attribute {attribute}, and these types are closed.",
                hint=f"Did you mean {' or '.join(near)}?" if near else f"They have {', '.join(sorted(known))}.",
                details={"variable": variable, "attribute": attribute, "attributes": sorted(known)},
            )


def _chain(operator: str, node: ast.Expression) -> list[ast.Expression]:
    """The operands of a run of one operator, in order."""
    if isinstance(node, ast.Binary) and node.operator == operator:
        return _chain(operator, node.left) + _chain(operator, node.right)
    return [node]


def _comparable(value: Json, operator: str) -> bool:
    if value is None or isinstance(value, (str, int, float)):
        return True
    return operator in ("==", "!=") and reference_id(value) is not None


def _check_constants(name: str, arguments: tuple[Expression, ...], regex_bytes: int) -> None:
    """Faults of constant arguments, which no row could put right."""
    constants = [argument.value if isinstance(argument, Constant) else None for argument in arguments]
    if name in _TEXT_FUNCTIONS:
        for value in constants:
            if value is not None and not isinstance(value, str):
                raise errors.TypeMismatch(f"{name} takes strings.")
        if any(isinstance(argument, Items) for argument in arguments):
            raise errors.TypeMismatch(f"{name} takes strings.")
    if name == "REGEX" and isinstance(constants[1], str):
        if len(constants[1].encode()) > regex_bytes:
            raise errors.ResourceExhausted(f"A REGEX pattern has at most {regex_bytes} bytes.")
        compiled(constants[1])
    if name == "IN" and isinstance(arguments[1], Constant) and not isinstance(constants[1], (list, type(None))):
        raise errors.TypeMismatch("IN takes a list of candidates as its second argument.")
    if name == "IS_KIND" and isinstance(arguments[1], Constant):
        is_kind(None, constants[1])
