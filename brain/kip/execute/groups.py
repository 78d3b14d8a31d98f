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
    """

    values: list[tuple[Any, ...]]
    bound: list[frozenset[ElementId]]
    keys: int

    @classmethod
    def single(cls, values: tuple[Any, ...]) -> Groups:
        """One group over everything, its elements unnamed."""
        return cls([values], [frozenset()], 0)

    @classmethod
    def of(cls, group: Group, batches: Iterator[Batch], frame: Frame) -> Groups:
        """The groups of these solutions."""
        keys = [(frame.reader(key), frame.output(key)) for key in group.keys]
        read = [*group.keys, *(aggregate.argument for aggregate in group.aggregates)]
        arguments = [frame.reader(aggregate.argument) for aggregate in group.aggregates]
        found: dict[tuple[Any, ...], _Gathered] = {}
        if not keys:
            found[()] = _Gathered((), [_Column(aggregate) for aggregate in group.aggregates])
        for batch in batches:
            frame.load(batch, read)
            for row in batch:
                spelled = tuple(_identity(value_of(row)) for value_of, _ in keys)
                gathered = found.get(spelled)
                if gathered is None:
                    shown = tuple(show(row) for _, show in keys)
                    gathered = found[spelled] = _Gathered(shown, [_Column(a) for a in group.aggregates])
                for column, argument in zip(gathered.columns, arguments, strict=True):
                    column.add(argument(row))
                if len(gathered.bound) < CITED:
                    gathered.bound |= cited(row)
        values = [(*g.shown, *(column.result() for column in g.columns)) for g in found.values()]
        return cls(values, [frozenset(g.bound) for g in found.values()], len(keys))

    def order(self, index: int) -> tuple[tuple[Any, ...], ...]:
        """A group's place among groups of equal sort keys: by its key values, nulls last."""
        keys = self.values[index][: self.keys]
        return tuple((9,) if value is None else order_of(Datum(value)) for value in keys)


@dataclass(slots=True)
class _Gathered:
    shown: tuple[Any, ...]
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

    def add(self, value: Value) -> None:
        if value is None:
            return
        if self.aggregate.distinct:
            key = _identity(value)
            if key in self.seen:
                return
            self.seen.add(key)
        if self.aggregate.function == "COUNT":
            self.count += 1
        else:
            self.values.append(value)

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
