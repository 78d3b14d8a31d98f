"""Columns of a statement, how its rows are read, and what its solutions are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from brain.kip.algebra import Block
from brain.store.base import Json
from brain.store.sqlite.keys import id_of
from brain.store.sqlite.plans.members import composed, literal
from brain.store.sqlite.plans.positions import Place
from brain.store.sqlite.plans.query import TEXT, End, Late, NotPushable, Query, Row, Value
from brain.store.sqlite.plans.steps import add

_CLAUSE = re.compile(
    r" (?=FROM (?:element AS|\()|(?:CROSS|LEFT) JOIN |WHERE [a-z]\d|GROUP BY |ORDER BY |LIMIT |UNION ALL )"
)
"""Where a new line begins."""

Cells = tuple[Any, ...]


@dataclass(slots=True)
class Statement:
    """One statement, and how its rows become those of the plan.

    late  bindings that are made of given texts, by their names
    """

    text: str
    bindings: dict[str, Any]
    read: Callable[[Iterator[Cells]], Iterator[tuple[Json, ...]]]
    late: dict[str, Late]

    @classmethod
    def of(cls, query: Query, text: str, read: Callable[[Iterator[Cells]], Iterator[tuple[Json, ...]]]) -> Statement:
        return cls(text, query.bindings, read, query.late)

    def filled(self, values: Mapping[str, Json]) -> Statement:
        """The same statement for other given texts."""
        bindings = self.bindings.copy()
        for name, late in self.late.items():
            bindings[name] = late(values)
        return Statement(self.text, bindings, self.read, self.late)

    @property
    def shown(self) -> str:
        """The statement on several lines, for people."""
        return _CLAUSE.sub("\n", self.text)


def build(query: Query, block: Block) -> None:
    """Join the steps of a block; NotPushable when one cannot be."""
    for step in block.steps:
        add(query, step)
    if not query.tables:
        raise NotPushable("nothing to read")


@dataclass(slots=True)
class Columns:
    """Columns of a statement and what reads them.

    cells     per variable, how its cell is made of a row
    places    what orders rows by the variables' bindings
    elements  variables that may be elements, each with the column of its integer
    """

    query: Query
    selected: list[str] = field(default_factory=list)
    cells: list[Callable[[Cells], Json]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    elements: dict[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "SELECT " + ", ".join(f"{column} AS c{at}" for at, column in enumerate(self.selected))

    def select(self, expression: str) -> int:
        self.selected.append(expression)
        return len(self.selected) - 1

    def variable(self, name: str) -> None:
        """The columns of a variable's cell, which also are its place in the order of bindings."""
        match self.query.stand(name):
            case Row(eid=eid):
                at = self.elements[name] = self.select(eid)
                self.places.append(Place(eid, nullable=False, column=f"c{at}"))
                self.cells.append(lambda row: ("element", id_of(row[at])))
            case End() as end:
                value = literal(end)
                columns = (end.eid, value.rank, value.value)
                at = self.elements[name] = self.select(end.eid)
                self.select(value.rank)
                self.select(value.value)
                self.places += [Place(one, column=f"c{at + n}") for n, one in enumerate(columns)]
                self.cells.append(
                    lambda row: (
                        ("value", _json_value(row[at + 1], row[at + 2]))
                        if row[at] is None
                        else ("element", id_of(row[at]))
                    )
                )
            case Value(rank=rank, value=value_):
                content = composed(value_)
                at = self.select(rank)
                self.select(content)
                # A constant in ORDER BY or GROUP BY would name a column by its number.
                places = [Place(rank, column=f"c{at}"), Place(content, column=f"c{at + 1}")]
                self.places += places[1:] if rank == TEXT else places
                self.cells.append(lambda row: ("value", _json_value(row[at], row[at + 1])))


def _json_value(rank: int, value: Any) -> Json:
    return bool(value) if rank == 0 else value


def hidden(query: Query, visible: tuple[str, ...]) -> list[str]:
    """The integers of elements that bind a row without being named by it."""
    return list(elements(query, tuple(name for name in query.stands if name not in visible)))


def elements(query: Query, names: tuple[str, ...]) -> Iterator[str]:
    """The integers of those of these variables that may be elements."""
    for name in names:
        stand = query.stand(name)
        if not isinstance(stand, Value):
            yield stand.eid
