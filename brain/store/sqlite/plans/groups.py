"""Statements of grouped plans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from brain.ids import MAX_SAFE_INTEGER
from brain.kip.algebra import Access, Aggregate, Group
from brain.store.base import ElementId, Json, Undecided
from brain.store.determined import determines
from brain.store.sqlite.functions import CITED
from brain.store.sqlite.keys import id_of
from brain.store.sqlite.plans.columns import Cells, Columns, Statement, build, elements, hidden
from brain.store.sqlite.plans.members import member
from brain.store.sqlite.plans.query import End, NotPushable, Query, Row, Value

MOST_ADDED = 1 << 40

_ROW = re.compile(r"[^,]+")

_KEPT = 16_384
"""Characters up to which the elements of a group are kept as they came."""


def groups(query: Query, plan: Group) -> Statement:
    """A row per group: its keys' cells, its aggregates, the elements that bound it. Keys that JSON spells in several
    ways come in several rows."""
    build(query, plan.source.source)
    names = plan.source.variables
    keys = [_group_key(query, key) for key in plan.keys]
    columns_of = [_aggregate(query, aggregate) for aggregate in plan.aggregates]
    bound = [*elements(query, names), *hidden(query, names)]
    arguments = [column.argument for column in columns_of]
    inner = dict.fromkeys([*(key.by for key in keys), *(key.shown for key in keys if key.shown), *arguments, *bound])
    named = {expression: f"g{n}" for n, expression in enumerate(inner)}
    source = f"SELECT {', '.join(f'{expression} AS {name}' for expression, name in named.items())}"
    if determines(plan.source):
        # A LIMIT keeps the two SELECT apart: as one, SQLite would sort whole documents to read the keys out of them.
        source += f"{query.source} LIMIT -1"
    else:
        columns = Columns(query)
        for name in names:
            columns.variable(name)
        # Of several ways to one solution the first is cited: MIN decides whose columns a bare column is of.
        first = " || ".join(hidden(query, names)) or "1"
        order = ", ".join(place.expression for place in columns.places)
        source += f", min({first}){query.source} GROUP BY {order}"
    by = [named[key.by] for key in keys]
    counted = [text for column in columns_of for text in column.texts(named[column.argument])]
    cited = _cited([named[eid] for eid in bound], is_sorted=bool(keys))
    # Of several ways to write one Literal the first is shown, as of those that come in rows of their own.
    shown = [f"min({named[key.shown]})" if key.shown else "NULL" for key in keys]
    selected = [*shown, *by, *counted, cited]
    text = f"SELECT {', '.join(selected)} FROM ({source})" + (f" GROUP BY {', '.join(by)}" if by else "")
    size = len(keys)

    def read(rows: Iterator[Cells]) -> Iterator[tuple[Json, ...]]:
        for row in rows:
            cells = [key.cell(row[n], row[size + n]) for n, key in enumerate(keys)]
            taken = iter(row[2 * size : -1])
            values = [column.finish(*islice(taken, column.width)) for column in columns_of]
            yield (*cells, *values, _Cited.of(row[-1] or ""))

    return Statement.of(query, text, read)


def _cited(bound: list[str], *, is_sorted: bool) -> str:
    """The elements that bound a group: the integers of a row apart by spaces, the rows by commas.

    A sort holds every row in memory anyway, so the groups it makes may name all of their elements, which SQLite does by
    itself; a group of everything may be larger than memory, and names only its first.
    """
    if not bound:
        return "''"
    row = f"concat_ws(' ', {', '.join(bound)})" if len(bound) > 1 else bound[0]
    return f"group_concat({row})" if is_sorted else f"cited({', '.join(bound)})"


@dataclass(frozen=True, slots=True)
class _Cited:
    """The first elements of a group, whole rows of them; read when asked for, as few groups of many are shown."""

    text: str

    @classmethod
    def of(cls, text: str) -> Iterable[ElementId]:
        return cls(text) if len(text) <= _KEPT else tuple(cls(text))

    def __iter__(self) -> Iterator[ElementId]:
        found: dict[str, None] = {}
        for row in _ROW.finditer(self.text):
            found.update(dict.fromkeys(row[0].split()))
            if len(found) >= CITED:
                break
        return map(id_of, map(int, found))


@dataclass(frozen=True, slots=True)
class _GroupKey:
    """by  what is grouped; shown  what the cell is made of, empty where that is the same"""

    by: str
    shown: str
    cell: Callable[[Any, Any], Json]


def _group_key(query: Query, key: Access) -> _GroupKey:
    stand = query.stand(key.variable)
    if key.steps:
        found = member(query, key)
        if not found.json:
            raise NotPushable("a path into a value")
        return _GroupKey(found.json, "", _text_cell if not found.type else _json_cell)
    match stand:
        case Row(eid=eid):
            return _GroupKey(eid, "", lambda _, eid: ("element", id_of(eid)))
        case End(key=by, proposition=proposition):
            return _GroupKey(by, f"{proposition}.body -> '$.object'", _end_cell)
    raise NotPushable("groups by a value")


def _text_cell(_: Any, text: str | None) -> Json:
    return None if text is None else ("value", text)


def _json_cell(_: Any, text: str | None) -> Json:
    return None if text is None else ("value", orjson.loads(text))


def _end_cell(shown: str, _: str) -> Json:
    value = orjson.loads(shown)
    return ("element", value["id"]) if isinstance(value, dict) and "id" in value else ("value", value)


@dataclass(frozen=True, slots=True)
class _Aggregate:
    """argument  per row; texts  the columns made of it; finish  the value made of these, so many of them"""

    argument: str
    texts: Callable[[str], tuple[str, ...]]
    finish: Callable[..., Json]
    width: int = 1


def _aggregate(query: Query, aggregate: Aggregate) -> _Aggregate:
    distinct = "DISTINCT " * aggregate.distinct
    match aggregate.function:
        case "COUNT":
            return _Aggregate(_counted(query, aggregate), lambda one: (f"count({distinct}{one})",), lambda count: count)
        case "SUM":
            return _Aggregate(_whole(query, aggregate), lambda one: (f"sum({distinct}{one})",), _sum)
        case "AVG":
            texts = (f"sum({distinct}{{0}})", f"count({distinct}{{0}})")
            number = _whole(query, aggregate)
            return _Aggregate(number, lambda one: tuple(text.format(one) for text in texts), _average, 2)
    raise NotPushable(aggregate.function)


def _counted(query: Query, aggregate: Aggregate) -> str:
    """What COUNT takes: NULL for what it passes over."""
    access = aggregate.argument
    if access.steps and not aggregate.distinct:
        return member(query, access).value
    match None if access.steps else query.stand(access.variable):
        case Row(eid=eid):
            return eid
        case End(key=key):
            return f"nullif({key}, 'null')"
        case Value(value=value) if not aggregate.distinct:
            return value
    raise NotPushable("distinct values")


def _whole(query: Query, aggregate: Aggregate) -> str:
    """A whole number small enough for SQL to add up millions of them: only sums of these are exact in any order."""
    found = member(query, aggregate.argument)
    value = found.value
    if not found.type:
        return f"CASE WHEN {value} IS NOT NULL THEN undecided() END"
    number = f"CASE WHEN typeof({value}) = 'integer' AND {value} BETWEEN -{MOST_ADDED} AND {MOST_ADDED} THEN {value}"
    other = f"CASE WHEN {found.type} <> 'null' THEN undecided() END"
    return f"CASE {found.type} WHEN 'integer' THEN {number} ELSE undecided() END ELSE {other} END"


def _sum(total: int | None) -> int | None:
    if total is not None and abs(total) > MAX_SAFE_INTEGER:
        raise Undecided
    return total


def _average(total: int | None, count: int) -> float | None:
    return None if total is None else float(total) / count
