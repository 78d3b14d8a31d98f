"""Match objects: `{type: "Person", attributes: {city: ?c}}` as conditions on one element (KIP 2.0 §43).

What a store can test alone becomes its conditions; variables, references, arrays and Facets stay as `Match`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from brain import errors
from brain.kip import ast
from brain.kip.algebra import (
    Constant,
    Known,
    Lineages,
    Match,
    MatchItems,
    MatchMembers,
    MatchValue,
    PathStep,
    Scan,
    Var,
)
from brain.kip.given import in_both
from brain.kip.resolve import Binder, named_id, shown
from brain.store.base import Document, ElementId, Json, Kind
from brain.store.base import Scan as Conditions

REFERENCES: Mapping[Kind, Mapping[tuple[PathStep, ...], str]] = {
    Kind.CONCEPT: {("merged_into",): "merged_into"},
    Kind.PROPOSITION: {},
    Kind.ASSERTION: {
        ("asserted_by",): "asserted_by",
        ("context_refs",): "context",
        ("evidence",): "evidence",
        ("lifecycle", "superseded_by"): "superseded_by",
        ("lifecycle", "supersedes"): "supersedes",
        ("proposition",): "proposition",
    },
    Kind.EVIDENCE: {
        ("generated_by",): "generated_by",
        ("lifecycle", "corrected_by"): "corrected_by",
        ("lifecycle", "corrects"): "corrects",
        ("source",): "source",
    },
    Kind.ACTIVITY: {
        ("associated_actors",): "associated_actors",
        ("inputs",): "inputs",
        ("outputs",): "outputs",
    },
}
"""Members that hold references, by kind, each with the edge field that finds it."""

_OWN_CONDITION: Mapping[Kind, Mapping[tuple[PathStep, ...], str]] = {
    Kind.CONCEPT: {("key",): "key", ("name",): "name", ("canonical_id",): "canonical_id"},
    Kind.PROPOSITION: {},
    Kind.ASSERTION: {("lifecycle", "status"): "statuses"},
    Kind.EVIDENCE: {("evidence_class",): "classes", ("lifecycle", "status"): "statuses"},
    Kind.ACTIVITY: {("activity_class",): "classes", ("status",): "statuses"},
}
"""Members a store indexes under a condition of its own; all of them hold text."""

_STATE = (("state",), ("_system", "state"))


class Endpoints(Protocol):
    """How the planner turns nested patterns into steps of their own."""

    def described(self, pattern: ast.ObjectPattern) -> Known | Var:
        """An inline pattern in the place of a reference."""
        ...

    def named(self, value: Document) -> Known | Var:
        """A bound reference object."""
        ...

    def stated(self, proposition: ast.Tuple) -> Known | Var:
        """A nested tuple."""
        ...


@dataclass(slots=True)
class _Draft:
    """
    conditions  members of the store's scan, those of `members` apart
    """

    conditions: dict[str, Any] = field(default_factory=dict)
    ids: frozenset[ElementId] | None = None
    matches: list[Match] = field(default_factory=list)
    members: list[tuple[Any, Json]] = field(default_factory=list)
    names_state: bool = False


def scan(variable: str, kind: Kind, pattern: ast.ObjectPattern, binder: Binder, endpoints: Endpoints) -> Scan:
    """The step of one match object.

    raises  TypeMismatch for a value of the wrong type, SchemaSymbolNotFound and SchemaSymbolAmbiguous for a type
    """
    draft = _Draft()
    reader = _Reader(kind, binder, endpoints, draft)
    for member in pattern.members:
        reader.member((), member.name, member.value)
    conditions = Conditions(kind, members=tuple(draft.members), **draft.conditions)
    return Scan(variable, conditions, draft.ids, tuple(draft.matches))


def described_scan(variable: str, value: Document, binder: Binder) -> Scan:
    """The step of a bound `{type, key}`."""
    lineages = binder.symbol("concept_type", value["type"]).lineages
    return Scan(variable, Conditions(Kind.CONCEPT, lineages=lineages, key=value["key"]))


@dataclass(slots=True)
class _Reader:
    kind: Kind
    binder: Binder
    endpoints: Endpoints
    draft: _Draft

    def member(self, above: tuple[PathStep, ...], name: str, value: ast.PatternValue) -> None:
        path = self._path(above, name)
        if path == ("type",) and self.kind is Kind.CONCEPT:
            self._type(value)
        elif path == ("id",):
            self._id(value)
        elif path in _STATE:
            self._state(value)
        elif (edges := self._edges(path)) is not None:
            self._reference(path, edges, value)
        else:
            self._plain(path, value)

    def _path(self, above: tuple[PathStep, ...], name: str) -> tuple[PathStep, ...]:
        if above == ("facets",):
            return (*above, self.binder.symbol("facet", name))
        if above == ("structural",):
            return (*above, self.binder.symbol("structural_field", name))
        return (*above, name)

    def _edges(self, path: tuple[PathStep, ...]) -> frozenset[str] | None:
        if len(path) == 2 and isinstance(path[1], Lineages) and path[0] == "structural":
            return path[1].lineages
        edge = REFERENCES[self.kind].get(path)
        return frozenset((edge,)) if edge else None

    def _type(self, value: ast.PatternValue) -> None:
        if isinstance(value, ast.Variable):
            self.draft.matches.append(Match(("schema_ref",), Var(value.name), "symbol"))
            return
        lineages = self.binder.symbol("concept_type", self._text(value, "type")).lineages
        before = self.draft.conditions.get("lineages")
        self._condition("lineages", lineages if before is None else before & lineages)

    def _id(self, value: ast.PatternValue) -> None:
        if isinstance(value, ast.Variable):
            self.draft.matches.append(Match(("id",), Var(value.name)))
            return
        ids = frozenset((named_id(self._given_text(value, "id"), "id"),))
        self.draft.ids = ids if self.draft.ids is None else in_both(self.draft.ids, ids)

    def _state(self, value: ast.PatternValue) -> None:
        stored = ("_system", "state")
        if not self.draft.names_state:
            self._condition("states", None)
        if isinstance(value, ast.Variable):
            self._match(stored, Var(value.name))
        elif self.draft.names_state:
            self._match(stored, Constant(self._text(value, "state")))
        else:
            self._condition("states", frozenset((self._text(value, "state"),)))
        self.draft.names_state = True

    def _reference(self, path: tuple[PathStep, ...], edges: frozenset[str], value: ast.PatternValue) -> None:
        match value:
            case ast.Variable(name=name):
                self._match(path, Var(name), edges)
            case ast.Literal() | ast.Parameter():
                bound = self.binder.given(value)
                if bound is None:
                    self._match(path, Constant(None))
                elif isinstance(bound, str):
                    self._match(path, Known(frozenset((named_id(bound, spelled(path)),))), edges)
                elif isinstance(bound, Mapping):
                    self._match(path, self.endpoints.named(bound), edges)
                else:
                    raise errors.TypeMismatch(f"{spelled(path)} holds references, not {shown(bound)}.")
            case ast.ObjectPattern():
                self._match(path, self.endpoints.described(value), edges)
            case ast.PropositionTuple() | ast.PropositionById():
                self._match(path, self.endpoints.stated(value), edges)
            case ast.ArrayPattern():
                self._match(path, self._items(value))

    def _plain(self, path: tuple[PathStep, ...], value: ast.PatternValue) -> None:
        match value:
            case ast.Variable(name=name):
                self._match(path, Var(name))
            case ast.Literal() | ast.Parameter():
                self._constant(path, self.binder.given(value))
            case ast.ObjectPattern(members=members):
                for member in members:
                    self.member(path, member.name, member.value)
            case ast.ArrayPattern():
                self._match(path, self._items(value))
            case _:
                raise errors.InvalidSyntax(
                    f"{spelled(path)} holds no Proposition, so no tuple can stand there.",
                    hint="Nested tuples stand in tuples and in members that hold references.",
                )

    def _constant(self, path: tuple[PathStep, ...], value: Json) -> None:
        own = _OWN_CONDITION[self.kind].get(path)
        if own is not None:
            self._own_condition(own, path, value)
        elif isinstance(value, Mapping):
            for name, inner in value.items():
                self._constant(self._path(path, name), inner)
        elif value is None or isinstance(value, list) or not _is_plain(path):
            self._match(path, Constant(value))
        else:
            self.draft.members.append((path, value))

    def _own_condition(self, name: str, path: tuple[PathStep, ...], value: Json) -> None:
        if not isinstance(value, str):
            raise errors.TypeMismatch(f"{spelled(path)} is a string, not {shown(value)}.")
        if self.draft.conditions.get(name) is not None:
            self._match(path, Constant(value))
        else:
            self._condition(name, frozenset((value,)) if name in ("classes", "statuses") else value)

    def _items(self, pattern: ast.ArrayPattern) -> MatchItems:
        return MatchItems(tuple(self._item(item) for item in pattern.items))

    def _item(self, value: ast.PatternValue) -> MatchValue:
        match value:
            case ast.Variable(name=name):
                return Var(name)
            case ast.Literal() | ast.Parameter():
                return Constant(self.binder.given(value))
            case ast.ArrayPattern():
                return self._items(value)
            case ast.ObjectPattern(members=members):
                return MatchMembers(tuple(Match((member.name,), self._item(member.value)) for member in members))
        raise errors.InvalidSyntax("A list in a pattern holds values, variables, lists and objects, not tuples.")

    def _text(self, value: ast.PatternValue, what: str) -> str:
        if not isinstance(value, (ast.Literal, ast.Parameter)):
            raise errors.TypeMismatch(f"{what} is a string or a variable, not a pattern.")
        return self.binder.text(value, what)

    def _given_text(self, value: ast.PatternValue, what: str) -> str:
        """The same where it only fills its place."""
        return self.binder.given_text(value, what) if isinstance(value, ast.Parameter) else self._text(value, what)

    def _condition(self, name: str, value: Any) -> None:
        self.draft.conditions[name] = value

    def _match(self, path: tuple[PathStep, ...], value: MatchValue, edges: frozenset[str] = frozenset()) -> None:
        self.draft.matches.append(Match(path, value, "reference" if edges else "value", edges))


def _is_plain(path: tuple[PathStep, ...]) -> bool:
    return all(isinstance(step, str) for step in path)


def spelled(path: tuple[PathStep, ...]) -> str:
    """A path as an author writes it."""
    return ".".join(step if isinstance(step, str) else step.name for step in path)
