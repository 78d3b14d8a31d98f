"""The order of answer rows, and a row's place in it (KIP 2.0 §44.7, §44.8).

A position is `[[sort key, …], [tie, …]]` in plain JSON values, so that a cursor can carry it. Nulls come last whichever
way a key runs; rows with equal keys follow the bindings of the solution, or the values of the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

from brain.kip.values import Value, sort_value
from brain.store.base import Json

Key: TypeAlias = tuple[Any, ...]
"""Comparable with every other key of its column."""

Item = TypeVar("Item")


@dataclass(slots=True)
class Ranked(Generic[Item]):
    """One row of an answer with its place.

    keys   one per sort key
    ties   what orders rows of equal keys
    items  what made the row: equal solutions count once and are kept together
    """

    keys: tuple[Key, ...]
    ties: tuple[Key, ...]
    items: list[Item] = field(default_factory=list)

    @property
    def position(self) -> tuple[Json, ...]:
        return (self.keys, self.ties)


def key_of(value: Value, *, descending: bool) -> Key:
    """A sort key that falls in place when ascending keys are sorted up and descending ones down."""
    place = sort_value(value)
    if place is None:
        return (0,) if descending else (1,)
    return (1, *place) if descending else (0, *place)


def sort(rows: list[Ranked[Item]], descending: Sequence[bool]) -> None:
    """Put rows in order; each pass is stable, so the last one counts most."""
    rows.sort(key=attrgetter("ties"))
    for place in reversed(range(len(descending))):
        column = itemgetter(place)
        rows.sort(key=lambda row, column=column: column(row.keys), reverse=descending[place])  # type: ignore[misc]


def is_behind(row: Ranked[Item], position: tuple[Json, ...], descending: Sequence[bool]) -> bool:
    """Whether a row comes after a position."""
    keys, ties = position
    for key, reached, down in zip(row.keys, keys, descending, strict=True):
        if key != reached:
            return bool((key > reached) != down)
    return bool(row.ties > ties)


def position_from(wire: Json) -> tuple[Json, ...] | None:
    """A position that went through JSON; None for the place before the first row.

    raises  ValueError when it is none
    """
    if wire is None:
        return None
    keys, ties = wire
    return (_tuple(keys), _tuple(ties))


def _tuple(value: Json) -> Any:
    return tuple(_tuple(item) for item in value) if isinstance(value, list) else value
