"""What a variable can be bound to, and the order bindings have (KIP 2.0 §42.4, §42.5).

A cell of a row is None while its variable is unbound. An element is its id, a plain string; everything else is one of
the classes here. Two cells are the same binding exactly when they are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from brain.ids import object_key
from brain.kip.values import SymbolValue, identity
from brain.store.base import ElementId, Json, element_number


class Datum:
    """A Literal or the value of a field; equal by content (§9.6), an explicit null included."""

    __slots__ = ("key", "value")

    def __init__(self, value: Json) -> None:
        self.value = value
        self.key = identity(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Datum) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Datum({self.value!r})"


@dataclass(frozen=True, slots=True)
class EdgeValue:
    """A structural reference: source, field and target, and on an ordered field its place.

    field  as edges store it: a plain Core name or a lineage
    """

    source: ElementId
    field: str
    target: ElementId
    position: int | None


@dataclass(frozen=True, slots=True)
class BeliefValue:
    """A projection or slot; the same when it is about the same target, since one query has one basis.

    target    what it is about, spelled so that equal targets are equal
    rests_on  elements the verdict rests on
    """

    target: tuple[str, ...]
    wire: Mapping[str, Any] = field(compare=False)
    rests_on: frozenset[ElementId] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Walk:
    """The Propositions of one walk that a path took; only cited, never compared."""

    propositions: tuple[ElementId, ...] = field(compare=False)


Binding: TypeAlias = ElementId | Datum | SymbolValue | EdgeValue | BeliefValue | Walk
Cell: TypeAlias = Binding | None
Row: TypeAlias = list[Cell]
Batch: TypeAlias = list[Row]


def end_key(cell: Binding) -> str | None:
    """How a binding is spelled as the end of a tuple; None for what no tuple can hold."""
    if isinstance(cell, str):
        return cell
    if not isinstance(cell, Datum) or isinstance(cell.value, list):
        return None
    return object_key(cell.value)


def end_binding(end: Json) -> Binding:
    """The binding of a stored end: an element's id as it stands, or a value."""
    if isinstance(end, Mapping) and "id" in end:
        return str(end["id"])
    return Datum(end)


def order_of(cell: Cell) -> tuple[Any, ...]:
    """A binding's place in the order of rows, as plain values that JSON carries.

    Elements by kind and number, then values by type, then symbols, edges and beliefs; unbound last.
    """
    match cell:
        case None:
            return (9,)
        case str():
            return (0, *_element_order(cell))
        case Datum(value=value):
            return (1, *_value_order(value))
        case SymbolValue(ref=ref):
            return (2, ref)
        case EdgeValue():
            place = -1 if cell.position is None else cell.position
            return (3, *_element_order(cell.source), cell.field, place, *_element_order(cell.target))
        case BeliefValue(target=target):
            return (4, *target)
    return (5,)


def _element_order(element_id: ElementId) -> tuple[int, int]:
    return ("CPAEX".index(element_id[0]), element_number(element_id))


def _value_order(value: Json) -> tuple[Any, ...]:
    kind, content = identity(value)
    rank = ("boolean", "number", "string", "content", "null").index(kind)
    return (rank,) if kind == "null" else (rank, content.decode() if isinstance(content, bytes) else content)


def cited(row: Row) -> set[ElementId]:
    """The elements a row is made of."""
    found: set[ElementId] = set()
    for cell in row:
        match cell:
            case str():
                found.add(cell)
            case EdgeValue(source=source, target=target):
                found.update((source, target))
            case BeliefValue(rests_on=rests_on):
                found |= rests_on
            case Walk(propositions=propositions):
                found.update(propositions)
    return found
