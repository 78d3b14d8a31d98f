"""Grouped solutions and their aggregates (KIP 2.0 §44.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from brain.kip.algebra import Aggregate, Group
from brain.kip.execute.bindings import Batch, Datum, cited, order_of
from brain.kip.execute.frame import Frame
from brain.kip.functions import AGGREGATES
from brain.kip.values import Ref, SymbolValue, Value, identity
from brain.store.base import ElementId

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
    bound: list[frozenset[ElementId]]
    order: list[tuple[tuple[Any, ...], ...]]

    @classmethod
    def single(cls, values: tuple[Any, ...]) -> Groups:
        """One group over everything, its elements unnamed."""
        return cls([values], [frozenset()], [()])

    @classmethod
    def of(cls, group: Group, batches: Iterator[Batch], frame: Frame) -> Groups:
        """The groups of these solutions."""
        keys = [(frame.reader(key), frame.output(key)) for key in group.keys]
        read = [*group.keys, *(aggregate.argument for aggregate in group.aggregates)]
        arguments = [frame.reader(aggregate.argument) for aggregate in group.aggregates]
        found: dict[tuple[Any, ...], _Gathered] = {}
        if not keys:
            found[()] = _Gathered((), (), [_Column(aggregate) for aggregate in group.aggregates])
        held = 0
        for batch in batches:
            frame.graph.check_deadline()
            frame.load(batch, read)
            frame.graph.check_held(len(found) + held)
            for row in batch:
                values = [value_of(row) for value_of, _ in keys]
                spelled = tuple(map(_identity, values))
                gathered = found.get(spelled)
                if gathered is None:
                    shown = tuple(show(row) for _, show in keys)
                    columns = [_Column(aggregate) for aggregate in group.aggregates]
                    gathered = found[spelled] = _Gathered(shown, tuple(map(_order, values)), columns)
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


@dataclass(slots=True)
class _Gathered:
    shown: tuple[Any, ...]
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
