"""Members of elements in SQL: what type a member has, what its value is, and how both compare with the language's rules
(KIP 2.0 §42.5, §44.1, §44.2).

Three values of truth are SQL's own: 1, 0, and NULL for unknown. Where the language refuses a value or compares it in a
way SQL does not, the expression calls `undecided()`, and the caller evaluates the whole plan step by step instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brain.kip.algebra import Access, PathStep
from brain.store.sqlite.plans.query import IS_ID, OUTER, End, NotPushable, Query, Row, Value

_COLUMNS: Mapping[tuple[PathStep, ...], str] = {
    ("name",): "name",
    ("key",): "key",
    ("canonical_id",): "canonical_id",
    ("_system", "state"): "state",
}
"""Members with a column of their own, which is text or NULL."""

_COMPUTED = frozenset({"canonical_object", "canonical_subject", "facets", "retrieval"})


@dataclass(frozen=True, slots=True)
class Member:
    """A member's value.

    type   its JSON type as `json_type` names it, NULL when it is absent; the empty text when it is text or NULL
    value  as `json_extract` gives it
    json   its JSON text, or the text itself when the type is known
    """

    type: str
    value: str
    json: str

    @property
    def rank(self) -> str:
        """The type's place in an order: 0 boolean, 1 number, 2 string; NULL for null."""
        if not self.type:
            return "2"
        return f"CASE {self.type} {_SCALARS} {_REFUSED} END"

    def by_type(self, type_: str, then: str, otherwise: str) -> str:
        """`then` for values of one JSON type, `otherwise` for those of another, NULL for null."""
        if not self.type:
            return then if type_ == "text" else f"CASE WHEN {self.value} IS NOT NULL THEN {otherwise} END"
        arms = [
            f"WHEN '{name}' THEN {then if name in _TYPES[type_] else otherwise}"
            for names in _TYPES.values()
            for name in names
        ]
        return f"CASE {self.type} {' '.join(arms)} {_REFUSED} END"


_TYPES = {"text": ("text",), "number": ("integer", "real"), "boolean": ("true", "false")}
_SCALARS = "WHEN 'text' THEN 2 WHEN 'integer' THEN 1 WHEN 'real' THEN 1 WHEN 'true' THEN 0 WHEN 'false' THEN 0"
_REFUSED = "WHEN 'array' THEN undecided() WHEN 'object' THEN undecided()"


def is_computed(steps: tuple[PathStep, ...]) -> bool:
    """Whether a path leads to what a read computes, or to a member kept under a symbol."""
    return (
        not all(isinstance(step, str) for step in steps)
        or steps[0] in _COMPUTED
        or steps[:2] in (("_system", "dependency_validity"), ("_system", "recording_validity"))
    )


def json_path(steps: tuple[Any, ...]) -> str:
    """A path as SQLite spells it."""
    if any('"' in step or "\\" in step for step in steps):
        raise NotPushable("a path SQL cannot spell")
    return "$" + "".join(f'."{step}"' for step in steps)


def member(query: Query, access: Access) -> Member:
    """What a path from a variable leads to."""
    stand, steps = query.stand(access.variable), access.steps
    if isinstance(stand, Value):
        return _of_value(stand, steps)
    if not steps or is_computed(steps):
        raise NotPushable("computed")
    if steps == ("id",):
        return _id(stand)
    alias = body_of(query, access.variable)
    if isinstance(stand, Row) and (column := _COLUMNS.get(steps)) is not None:
        return Member("", f"{alias}.{column}", f"{alias}.{column}")
    path = query.bind(json_path(steps))
    found = Member(f"json_type({alias}.body, {path})", f"json_extract({alias}.body, {path})", f"{alias}.body -> {path}")
    return found if isinstance(stand, Row) else _of_element(stand, found)


def body_of(query: Query, name: str) -> str:
    """The row of `element` that holds a variable's body, joined when it is not at hand."""
    stand = query.stand(name)
    if isinstance(stand, Value):
        raise NotPushable("a value has no body")
    if stand.alias is not None:
        return stand.alias
    query.only_now()
    alias = query.alias(OUTER)
    if not query.tables:
        query.tables.append("(SELECT 1)")
    query.tables.append(f" LEFT JOIN element AS {alias} NOT INDEXED ON {alias}.eid = {stand.eid}")
    query.last = alias
    query.stands[name] = replace(stand, alias=alias)
    return alias


def bound_value(alias: str, path: str) -> Value:
    """A member as a variable binds it: null is a value, what is absent is not there."""
    type_ = f"json_type({alias}.body, {path})"
    return Value(f"CASE {type_} {_SCALARS} WHEN 'null' THEN 4 {_REFUSED} END", f"json_extract({alias}.body, {path})")


def literal(end: End) -> Value:
    """The Literal that an object is, its texts composed; NULL for an element."""
    type_, value = f"json_type({end.proposition}.body, '$.object')", f"json_extract({end.proposition}.body, '$.object')"
    rank = f"CASE {type_} {_SCALARS} WHEN 'null' THEN 4 {_REFUSED} END"
    first = f"CASE WHEN {end.key} {IS_ID} THEN NULL ELSE"
    return Value(f"{first} {rank} END", f"{first} composed({value}) END")


def composed(value: str) -> str:
    """The value, as long as comparing its bytes is comparing it."""
    return f"CASE WHEN octet_length({value}) = length({value}) THEN {value} ELSE composed({value}) END"


def _of_value(stand: Value, steps: tuple[PathStep, ...]) -> Member:
    if steps:
        raise NotPushable("a path into a value")
    names = "WHEN 0 THEN 'true' WHEN 1 THEN 'integer' WHEN 2 THEN 'text'"
    return Member(f"CASE {stand.rank} {names} END", stand.value, "")


def _of_element(end: End, found: Member) -> Member:
    """A member of what may be a Literal, which has none unless it is an object."""
    first, last = f"CASE WHEN {end.key} {IS_ID} THEN ", f" WHEN {_is_content(end)} THEN undecided() END"
    return Member(*(f"{first}{part}{last}" for part in (found.type, found.value, found.json)))


def _id(stand: Row | End) -> Member:
    if isinstance(stand, Row):
        return Member("", stand.text, stand.text)
    text = f"CASE WHEN {stand.key} {IS_ID} THEN {stand.key} WHEN {_is_content(stand)} THEN undecided() END"
    return Member("", text, text)


def _is_content(end: End) -> str:
    """Whether an object may be a JSON object."""
    return f"({end.key} GLOB '{{*' OR {end.key} GLOB 'sha256:*')"
