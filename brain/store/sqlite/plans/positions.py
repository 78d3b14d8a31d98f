"""The order of answer rows in SQL, and what comes behind a position (KIP 2.0 §44.7, §44.8).

A position is what `brain/kip/execute/ordering.py` makes of a row: sort keys, then the bindings of the solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brain.store.base import Json
from brain.store.sqlite.plans.query import SHIFT, TEXT, End, Query, Row, Value


@dataclass(frozen=True, slots=True)
class Place:
    """One column that rows are ordered by; NULL, where there can be one, comes last whichever way it runs.

    column  the name it is selected under
    """

    expression: str
    descending: bool = False
    nullable: bool = True
    column: str | None = None

    @property
    def order(self) -> str:
        direction = " DESC" if self.descending else ""
        return f"{self.column or self.expression}{direction}{' NULLS LAST' if self.nullable else ''}"


def behind(
    query: Query, keys: list[list[Place]], ties: list[Place], position: tuple[Json, ...], names: tuple[str, ...]
) -> str:
    """The condition that a row comes after a position.

    keys  per sort key its rank and value, or its value alone where its type is certain
    """
    reached = [*_keys(position[0], keys), *_ties(position[1], names, query)]
    places = [place for key in keys for place in key] + ties
    condition = query.truth(False)
    for place, value in reversed(list(zip(places, reached, strict=True))):
        beyond, same = _compared(query, place, value)
        condition = f"({beyond} OR ({same} AND {condition}))"
    return condition


def first_tie(position: tuple[Json, ...]) -> int:
    """The integer of the element that leads a position's bindings."""
    _, kind, number = position[1][0]
    return ((int(kind) + 1) << SHIFT) | int(number)


def _compared(query: Query, place: Place, value: Any) -> tuple[str, str]:
    if value is None:
        return query.truth(False), f"({place.expression}) IS NULL"
    wanted = query.bind(value)
    sign = "<" if place.descending else ">"
    past = f"({place.expression}) {sign} {wanted}"
    return f"({past} OR ({place.expression}) IS NULL)" if place.nullable else past, f"({place.expression}) = {wanted}"


def _keys(reached: Any, keys: list[list[Place]]) -> Iterator[Any]:
    for key, place in zip(keys, reached, strict=True):
        # A null is its mark alone; anything else is a mark, the rank of its type and the value.
        rank, value = (None, None) if len(place) == 1 else place[1:]
        yield from (rank, value)[-len(key) :]


def _ties(reached: Any, names: tuple[str, ...], query: Query) -> Iterator[Any]:
    for name, place in zip(names, reached, strict=True):
        kind, *rest = place
        eid = ((rest[0] + 1) << SHIFT) | rest[1] if kind == 0 else None
        rank, value = (rest[0], rest[1] if len(rest) > 1 else None) if kind == 1 else (None, None)
        match query.stand(name):
            case Row():
                yield eid
            case End():
                yield from (eid, rank, value)
            case Value(rank=own):
                yield from (value,) if own == TEXT else (rank, value)
