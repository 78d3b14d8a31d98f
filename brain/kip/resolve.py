"""Bind what a statement names: parameters to values, symbols to lineages, endpoints to what they can match.

Everything here fails before any data is read (KIP 2.0 §44.2), so a wrong name is an error also where no row would
match.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from brain import errors
from brain.ids import MAX_SAFE_INTEGER, is_element_id, object_key
from brain.kip import ast
from brain.kip.algebra import HIDDEN, Known, Lineages, PathStep
from brain.kip.context import Limits, Run
from brain.kip.given import Make, Uses
from brain.kip.schema import Environment, SymbolKind
from brain.store.base import Document, ElementId, Json

CORE_STRUCTURAL = frozenset({"associated_actors", "context", "evidence", "generated_by", "inputs", "outputs", "source"})
"""Core references that STRUCTURAL reads by plain names: the reserved six of §20.13 and an Assertion's contexts."""


@dataclass(slots=True)
class Binder:
    """The values and the vocabulary one statement is bound with.

    uses  notes what became of each parameter, for a plan that is to be used again
    """

    environment: Environment
    parameters: Mapping[str, Json]
    limits: Limits
    space_uri: str = ""
    uses: Uses | None = None
    _hidden: Iterator[int] = field(default_factory=lambda: iter(range(1, 1_000_000)))

    @classmethod
    def of(cls, run: Run, uses: Uses | None = None) -> Binder:
        return cls(run.environment, run.parameters, run.limits, run.space_uri, uses)

    def hidden(self, what: str = "") -> str:
        """A fresh variable that no author can have written."""
        return f"{HIDDEN}{what}{next(self._hidden)}"

    # --- values -------------------------------------------------------------------------------------------------------

    def scalar(self, node: ast.Scalar) -> Json:
        """The JSON value of a literal or parameter; ReferenceError when nothing is bound to it."""
        if isinstance(node, ast.Literal):
            return node.value
        if self.uses is not None:
            self.uses.deciding.add(node.name)
        return self._value(node)

    def given(self, node: ast.Scalar, make: Make | None = None) -> Json:
        """The same where a text only fills its place, and nothing depends on more than the shape of the value.

        make  what stands there instead of a text
        """
        value = node.value if isinstance(node, ast.Literal) else self._value(node)
        if self.uses is not None and isinstance(node, ast.Parameter):
            return self.uses.fills(node.name, value) if make is None else self.uses.fills(node.name, value, make)
        return value if make is None or not isinstance(value, str) else make(value)

    def listed(self, node: ast.Parameter) -> Json:
        """The same where ids are listed that elements are looked up by."""
        value = self._value(node)
        return value if self.uses is None else self.uses.lists(node.name, value)

    def _value(self, node: ast.Parameter) -> Json:
        if node.name not in self.parameters:
            near = ", ".join(f":{name}" for name in sorted(self.parameters)) or "none"
            raise errors.ReferenceError(
                f"The statement uses :{node.name}, and nothing is bound to it.",
                hint=f"Bind it in the operation's parameters. Bound now: {near}.",
                details={"parameter": node.name},
            )
        return self.parameters[node.name]

    def text(self, node: ast.Scalar, what: str) -> str:
        """A string; TypeMismatch otherwise."""
        return _text(self.scalar(node), what)

    def given_text(self, node: ast.Scalar, what: str) -> str:
        """The same where it only fills its place."""
        return _text(self.given(node), what)

    def whole_number(self, node: ast.Scalar, what: str) -> int:
        """A whole number from 0 to 2^53 - 1; TypeMismatch otherwise (§44.8)."""
        value = self.scalar(node)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_SAFE_INTEGER:
            raise errors.TypeMismatch(f"{what} is a whole number from 0 to {MAX_SAFE_INTEGER}, not {shown(value)}.")
        return value

    def data(self, node: ast.DataValue) -> Json:
        """A constant data value, parameters filled in; InvalidSyntax when it holds a variable or a function."""
        if isinstance(node, (ast.Literal, ast.Parameter)):
            return self.scalar(node)
        if isinstance(node, ast.ArrayLiteral):
            return [self.data(item) for item in node.items]
        if isinstance(node, ast.ObjectLiteral):
            return self.document(node)
        raise errors.InvalidSyntax("A fixed value has to stand here, not a variable or a function.")

    def document(self, node: ast.ObjectLiteral) -> Document:
        """A constant object; InvalidSyntax when a member is written twice."""
        found: dict[str, Json] = {}
        for member in node.members:
            if member.name in found:
                raise errors.InvalidSyntax(f"The member {member.name} is written twice.")
            found[member.name] = self.data(member.value)
        return found

    # --- symbols ------------------------------------------------------------------------------------------------------

    def symbol(self, kind: SymbolKind, name: str) -> Lineages:
        """All lineages a symbol's name matches (§20.14)."""
        return Lineages(name, self.environment.lineages(kind, name))

    def predicate(self, node: ast.Literal | ast.Parameter) -> Lineages:
        """The lineages of a quoted or bound predicate."""
        return self.symbol("predicate", self.text(node, "A predicate"))

    def path(self, steps: tuple[str, ...]) -> tuple[PathStep, ...]:
        """A member path with the name of a Facet or structural field resolved, in either spelling (§44.1)."""
        if len(steps) > 1 and steps[0] == "facets":
            return (steps[0], self.symbol("facet", steps[1]), *steps[2:])
        if len(steps) > 1 and steps[0] == "structural":
            return (steps[0], self.symbol("structural_field", steps[1]), *steps[2:])
        return steps

    # --- endpoints ----------------------------------------------------------------------------------------------------

    def element(self, node: ast.Scalar, what: str) -> str:
        """The id a scalar spells; it need not exist. InvalidIdentifier for a text no id is spelled like."""
        return named_id(self.given_text(node, what), what)

    def subject(self, node: ast.Literal | ast.Parameter) -> Known | Document:
        """The subject a scalar names: an element, or a description `{type, key}` that the planner turns into a pattern.

        raises  InvalidSyntax for a Literal in the text, TypeMismatch for a bound one (§8.4)
        """
        value = self.given(node)
        if isinstance(value, Mapping):
            return self.reference(value)
        if isinstance(value, str) and is_element_id(value):
            return Known(frozenset((value,)))
        refusal = errors.InvalidSyntax if isinstance(node, ast.Literal) else errors.TypeMismatch
        raise refusal(
            f"A subject is an element, and {shown(value)} is a plain value.",
            hint='Use a variable, an id, or a pattern such as {type: "Person", key: "alice"}.',
        )

    def object(self, node: ast.Literal | ast.Parameter) -> Known | Document:
        """The object a scalar names: a Literal, an element, or, for text in the form of an id, either."""
        value = node.value if isinstance(node, ast.Literal) else self._value(node)
        if isinstance(value, str):
            made = [self.given(node, object_key), *([self.given(node)] if is_element_id(value) else ())]
            return Known(frozenset(cast("list[str]", made)))
        value = self.given(node)
        if isinstance(value, Mapping):
            return self.reference(value)
        if isinstance(value, list):
            raise errors.TypeMismatch(f"An object is an element or a scalar, not {shown(value)}.")
        return Known(frozenset((object_key(value),)))

    def reference(self, value: Document) -> Known | Document:
        """What a reference object names (§8, §71.1).

        returns  a fixed element or canonical reference; the object itself when it is `{type, key}`
        raises   StructuralReferenceInvalid for another shape, InvalidIdentifier for a text no id is spelled like,
                 UnsupportedCapability for another Space
        """
        members = set(value)
        texts = all(isinstance(item, str) for item in value.values())
        if texts and members == {"id"}:
            return Known(frozenset((named_id(value["id"], "id"),)))
        if texts and members == {"canonical_id"}:
            return Known(frozenset((object_key(dict(value)),)), value["canonical_id"])
        if texts and members == {"type", "key"}:
            return value
        if texts and members == {"space_id", "element_id"}:
            if value["space_id"] != self.space_uri:
                raise errors.UnsupportedCapability(
                    "References into another Space are not supported.", hint="Ask that Space itself."
                )
            return Known(frozenset((named_id(value["element_id"], "element_id"),)))
        raise errors.StructuralReferenceInvalid(
            f"{shown(value)} does not name an element.",
            hint='Bind an id, {"id": …}, {"canonical_id": …} or {"type": …, "key": …}.',
        )


def _text(value: Json, what: str) -> str:
    if not isinstance(value, str):
        raise errors.TypeMismatch(f"{what} is a string, not {shown(value)}.")
    return value


def named_id(text: str, what: str) -> ElementId:
    """The id a text is, whether or not there is such an element; InvalidIdentifier when no id is spelled like it."""
    if is_element_id(text):
        return text
    raise errors.InvalidIdentifier(
        f"{what} is {shown(text)}, and no element id is spelled like that.",
        hint='Ids look like "C-42". Find a name with SEARCH, or write {type: "Person", key: "alice"}.',
    )


def present_id(run: Run, text: str, what: str) -> ElementId:
    """The id of an element that the caller may see.

    raises  InvalidIdentifier, NotFoundOrNotVisible
    """
    element_id = named_id(text, what)
    if element_id not in run.snapshot.elements([element_id]):
        raise errors.NotFoundOrNotVisible(f"There is no {element_id} that you may see.")
    return element_id


def shown(value: Json) -> str:
    """A value as an error message quotes it, cut when it is long."""
    if isinstance(value, (Mapping, list)):
        return "an object" if isinstance(value, Mapping) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
