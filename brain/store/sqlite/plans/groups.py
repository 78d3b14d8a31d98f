"""Statements of grouped plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from brain.kip.algebra import Access, Aggregate, Group
from brain.store.base import Json
from brain.store.sqlite.keys import id_of
from brain.store.sqlite.plans.columns import Cells, Columns, Statement, build, determines, elements, hidden
from brain.store.sqlite.plans.members import member
from brain.store.sqlite.plans.query import End, NotPushable, Query, Row, Value


def groups(query: Query, plan: Group) -> Statement:
    """A row per group: its keys' cells, its aggregates, the elements that bound it. Keys that JSON spells in several
    ways come in several rows."""
    build(query, plan.source.source)
    names = plan.source.variables
    keys = [_group_key(query, key) for key in plan.keys]
    counted = [_counted(query, aggregate) for aggregate in plan.aggregates]
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
        inner = [*(key.by for key in keys), *(key.shown for key in keys), *(c.argument for c in counted), *bound]
        inner_text = ", ".join(f"{expression} AS g{n}" for n, expression in enumerate(inner))
        order = ", ".join(place.expression for place in columns.places)
        source = f" FROM (SELECT {inner_text}, min({first}){query.source} GROUP BY {order})"
        taken = iter(f"g{n}" for n in range(len(inner)))
        by = [next(taken) for _ in keys]
        shown = [next(taken) for _ in keys]
        counted = [_Counted(next(taken), one.distinct) for one in counted]
        bound = list(taken)
    selected = [*shown, *by, *(one.text for one in counted), f"cited({', '.join(bound)})" if bound else "'[]'"]
    text = f"SELECT {', '.join(selected)}{source}" + (f" GROUP BY {', '.join(by)}" if by else "")
    size = len(keys)

    def read(rows: Iterator[Cells]) -> Iterator[tuple[Json, ...]]:
        for row in rows:
            cells = [key.cell(row[n], row[size + n]) for n, key in enumerate(keys)]
            yield (*cells, *row[2 * size : -1], [id_of(eid) for eid in orjson.loads(row[-1])])

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
class _Counted:
    argument: str
    distinct: bool

    @property
    def text(self) -> str:
        return f"count({'DISTINCT ' * self.distinct}{self.argument})"


def _counted(query: Query, aggregate: Aggregate) -> _Counted:
    if aggregate.function != "COUNT":
        raise NotPushable(aggregate.function)
    access = aggregate.argument
    if access.steps:
        if aggregate.distinct:
            raise NotPushable("distinct values")
        return _Counted(member(query, access).value, distinct=False)
    match query.stand(access.variable):
        case Row(eid=eid):
            return _Counted(eid, aggregate.distinct)
        case End(key=key):
            return _Counted(f"nullif({key}, 'null')", aggregate.distinct)
        case Value(value=value) if not aggregate.distinct:
            return _Counted(value, distinct=False)
    raise NotPushable("distinct values")
