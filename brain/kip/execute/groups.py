"""Grouped solutions and their aggregates (KIP 2.0 §44.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from brain.kip.algebra import Access, Aggregate, Group
from brain.kip.execute.bindings import Batch, Datum, cited, order_of
from brain.kip.execute.frame import WIDE, Frame, value_of
from brain.kip.execute.pushdown import binding
from brain.kip.functions import AGGREGATES
from brain.kip.values import Ref, SymbolValue, Value, identity
from brain.store.base import ElementId, Undecided

CITED = 64
"""Most elements a group names as having bound it."""


@dataclass(slots=True)
class Groups:
    """Rows of a Group.

    values  per group its key values as JSON, then its aggregates
    bound   per group the first elements that bound it
    order   per group its place among groups of equal sort keys: by its key values, nulls last
    """

    values: list[tuple[Any, ...]]
    bound: list[Iterable[ElementId]]
    order: list[tuple[tuple[Any, ...], ...]]

    @classmethod
    def single(cls, values: tuple[Any, ...]) -> Groups:
        """One group over everything, its elements unnamed."""
        return cls([values], [frozenset()], [()])

    @classmethod
    def of(cls, group: Group, batches: Iterator[Batch], frame: Frame) -> Groups:
        """The groups of these solutions."""
        keys = [(frame.reader(key), frame.output(key)) for key in group.keys]
        taken = [aggregate.argument for aggregate in group.aggregates]
        arguments = [frame.reader(argument) for argument in taken]
        # An element as a whole is taken as one, whatever it holds.
        read = [*group.keys, *(argument for argument in taken if argument.steps)]
        found: dict[tuple[Any, ...], _Gathered] = {}
        if not keys:
            found[()] = _Gathered((), [], (), [_Column(aggregate) for aggregate in group.aggregates])
        held = 0
        for batch in batches:
            frame.graph.check_deadline()
            frame.load(batch, read)
            frame.graph.check_held(len(found) + held)
            for row in batch:
                if len(keys) + len(taken) > WIDE:
                    frame.graph.check_deadline()
                values = [value_of(row) for value_of, _ in keys]
                spelled = tuple(map(_identity, values))
                gathered = found.get(spelled)
                if gathered is None:
                    shown = tuple(show(row) for _, show in keys)
                    columns = [_Column(aggregate) for aggregate in group.aggregates]
                    gathered = found[spelled] = _Gathered(shown, values, tuple(map(_order, values)), columns)
                elif values != gathered.values:
                    gathered.values = [_first(one, other) for one, other in zip(gathered.values, values, strict=True)]
                    shown = tuple(_first(one, value) for one, value in zip(gathered.shown, values, strict=True))
                    gathered.shown = shown
                for column, argument in zip(gathered.columns, arguments, strict=True):
                    held += column.add(argument(row))
                if len(gathered.bound) < CITED:
                    gathered.bound |= cited(row)
        groups = list(found.values())
        return cls(
            [(*group_.shown, *(column.result() for column in group_.columns)) for group_ in groups],
            [frozenset(group_.bound) for group_ in groups],
            [group_.order for group_ in groups],
        )

    @classmethod
    def made(cls, group: Group, found: Iterable[tuple[Any, ...]], frame: Frame) -> Groups:
        """The groups a store made; rows of equal keys, which JSON can spell in several ways, are added up."""
        size = len(group.keys)
        groups = cls([], [], [])
        places: dict[tuple[Any, ...], int] = {}
        for row in found:
            frame.graph.check_held(len(places))
            keys, counts, bound = row[:size], row[size:-1], row[-1]
            values = [value_of(binding(cell, frame)) for cell in keys]
            place = places.setdefault(tuple(map(_identity, values)), len(groups.values))
            if place < len(groups.values):
                groups._add(place, group, values, counts, bound)
                continue
            shown = tuple(_shown(key, value, frame) for key, value in zip(group.keys, values, strict=True))
            groups.values.append((*shown, *counts))
            groups.bound.append(bound)
            groups.order.append(tuple(map(_order, values)))
        return groups

    def _add(
        self, place: int, group: Group, values: list[Value], counts: tuple[Any, ...], bound: Iterable[ElementId]
    ) -> None:
        if any(aggregate.distinct or aggregate.function != "COUNT" for aggregate in group.aggregates):
            raise Undecided
        before, size = self.values[place], len(group.keys)
        totals = (one + other for one, other in zip(before[size:], counts, strict=True))
        shown = (_first(one, other) for one, other in zip(before[:size], values, strict=True))
        self.values[place] = (*shown, *totals)
        self.bound[place] = frozenset(islice(chain(self.bound[place], bound), CITED))


def _shown(key: Access, value: Value, frame: Frame) -> Any:
    """A key's value as JSON: a bare element is its whole view."""
    if not isinstance(value, Ref):
        return value
    row = frame.empty_row()
    row[frame.cells[key.variable]] = value.id
    return frame.output(key)(row)


def _first(one: Any, other: Any) -> Any:
    """Of two ways to write one text the one that comes first: which rows were met first is nobody's business."""
    return min(one, other) if isinstance(one, str) and isinstance(other, str) else one


@dataclass(slots=True)
class _Gathered:
    shown: tuple[Any, ...]
    values: list[Value]
    order: tuple[tuple[Any, ...], ...]
    columns: list[_Column]
    bound: set[ElementId] = field(default_factory=set)


class _Column:
    """One aggregate of one group, on the way."""

    __slots__ = ("aggregate", "count", "seen", "values")

    def __init__(self, aggregate: Aggregate) -> None:
        self.aggregate = aggregate
        self.count = 0
        self.seen: set[Any] = set()
        self.values: list[Value] = []

    def add(self, value: Value) -> int:
        """Take a value in; how many more are held for it."""
        if value is None:
            return 0
        if self.aggregate.distinct:
            key = _identity(value)
            if key in self.seen:
                return 0
            self.seen.add(key)
        if self.aggregate.function == "COUNT":
            self.count += 1
            return int(self.aggregate.distinct)
        self.values.append(value)
        return 1

    def result(self) -> Value:
        if self.aggregate.function == "COUNT":
            return self.count
        return AGGREGATES[self.aggregate.function](self.values)


def _identity(value: Value) -> tuple[str, Any]:
    if isinstance(value, Ref):
        return ("element", value.id)
    if isinstance(value, SymbolValue):
        return ("symbol", value.lineage)
    return identity(value)


def _order(value: Value) -> tuple[Any, ...]:
    if isinstance(value, Ref):
        return order_of(value.id)
    if value is None or isinstance(value, SymbolValue):
        return order_of(value)
    return order_of(Datum(value))
