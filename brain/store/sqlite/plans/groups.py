"""Statements of grouped plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from brain.ids import MAX_SAFE_INTEGER
from brain.kip.algebra import Access, Aggregate, Group
from brain.store.base import Json, Undecided
from brain.store.sqlite.keys import id_of
from brain.store.sqlite.plans.columns import Cells, Columns, Statement, build, determines, elements, hidden
from brain.store.sqlite.plans.members import member
from brain.store.sqlite.plans.query import End, NotPushable, Query, Row, Value

MOST_ADDED = 1 << 40


def groups(query: Query, plan: Group) -> Statement:
    """A row per group: its keys' cells, its aggregates, the elements that bound it. Keys that JSON spells in several
    ways come in several rows."""
    build(query, plan.source.source)
    names = plan.source.variables
    keys = [_group_key(query, key) for key in plan.keys]
    columns_of = [_aggregate(query, aggregate) for aggregate in plan.aggregates]
    arguments = [column.argument for column in columns_of]
    bound = [*elements(query, names), *hidden(query, names)]
    if determines(plan.source):
        by = [key.by for key in keys]
        shown = [key.shown for key in keys]
        source = query.source
    else:
        columns = Columns(query)
        for name in names:
            columns.variable(name)
        # Of several ways to one solution the first is cited: MIN decides whose columns a bare column is of.
        first = " || ".join(hidden(query, names)) or "1"
        inner = [*(key.by for key in keys), *(key.shown for key in keys), *arguments, *bound]
        inner_text = ", ".join(f"{expression} AS g{n}" for n, expression in enumerate(inner))
        order = ", ".join(place.expression for place in columns.places)
        source = f" FROM (SELECT {inner_text}, min({first}){query.source} GROUP BY {order})"
        taken = iter(f"g{n}" for n in range(len(inner)))
        by = [next(taken) for _ in keys]
        shown = [next(taken) for _ in keys]
        arguments = [next(taken) for _ in arguments]
        bound = list(taken)
    counted = [text for column, argument in zip(columns_of, arguments, strict=True) for text in column.texts(argument)]
    selected = [*shown, *by, *counted, f"cited({', '.join(bound)})" if bound else "'[]'"]
    text = f"SELECT {', '.join(selected)}{source}" + (f" GROUP BY {', '.join(by)}" if by else "")
    size = len(keys)

    def read(rows: Iterator[Cells]) -> Iterator[tuple[Json, ...]]:
        for row in rows:
            cells = [key.cell(row[n], row[size + n]) for n, key in enumerate(keys)]
            taken = iter(row[2 * size : -1])
            values = [column.finish(*islice(taken, column.width)) for column in columns_of]
            yield (*cells, *values, [id_of(eid) for eid in orjson.loads(row[-1])])

    return Statement(text, query.bindings, read)


@dataclass(frozen=True, slots=True)
class _GroupKey:
    """by  what is grouped; shown  what the cell is made of"""

    by: str
    shown: str
    cell: Callable[[Any, Any], Json]


def _group_key(query: Query, key: Access) -> _GroupKey:
    stand = query.stand(key.variable)
    if key.steps:
        found = member(query, key)
        if not found.json:
            raise NotPushable("a path into a value")
        return _GroupKey(found.json, "NULL", _text_cell if not found.type else _json_cell)
    match stand:
        case Row(eid=eid):
            return _GroupKey(eid, "NULL", lambda _, eid: ("element", id_of(eid)))
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
