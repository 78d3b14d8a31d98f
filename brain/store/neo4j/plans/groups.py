"""Statements of grouped plans (KIP 2.0 §44.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from brain.ids import MAX_SAFE_INTEGER
from brain.kip.algebra import Access, Aggregate, Group
from brain.kip.values import identity
from brain.store.base import Element, Json, Undecided
from brain.store.determined import determines
from brain.store.neo4j import members as entries
from brain.store.neo4j.keys import KINDS, is_digest
from brain.store.neo4j.members import ENTRY, NAME, NUMBER, OTHER, TEXT, is_exact
from brain.store.neo4j.plans import members, record
from brain.store.neo4j.plans.query import End, NotPushable, Query, Row

MOST_ADDED = 1 << 40
"""Whole numbers up to this are added up in the statement: only sums of these are exact in any order."""


_FEW = 2_000
"""Groups up to which the elements they are of come along."""

_IS_ASCII = "\\\\p{ASCII}*"
"""Of one text in NFC there are several only where some character is none of ASCII's."""


@dataclass(frozen=True, slots=True)
class _Key:
    """What is grouped by.

    by     the expression of its column
    shown  that of the entry which says how a Literal was written, where that may differ from the column
    cell   what makes a cell of the column and the least of these
    """

    by: str
    shown: str | None
    cell: Callable[[Any, Any, Mapping[str, Element]], Json]
    is_element: bool


@dataclass(frozen=True, slots=True)
class Groups:
    """The statement of a Group: a row per key as JSON spells it.

    finished  what makes the value of an aggregate of its columns, and how many these are
    """

    text: str
    parameters: dict[str, Any]
    compares_ends: bool
    may_fail: bool
    keys: tuple[_Key, ...]
    finished: tuple[tuple[Callable[..., Json], int], ...]

    def rows(self, found: Any) -> Iterator[tuple[Json, ...]]:
        met, rows, bodies = found
        has_elements = any(key.is_element for key in self.keys)
        if met > record.MOST_COUNTED or len(rows) > (_FEW if has_elements else record.MOST):
            raise Undecided
        elements = record.by_id(bodies)
        for row in rows:
            taken = iter(row)
            columns = list(islice(taken, len(self.keys)))
            shown = [next(taken) if key.shown else None for key in self.keys]
            cells = [key.cell(one, how, elements) for key, one, how in zip(self.keys, columns, shown, strict=True)]
            values = [finish(*islice(taken, width)) for finish, width in self.finished]
            yield (*cells, *values, record.named(next(taken)))


def groups(query: Query, plan: Group) -> Groups:
    if query.tests or not query.stands.keys() >= set(plan.source.variables):
        raise NotPushable("solutions of which bodies tell")
    keys = [_key(query, key) for key in plan.keys]
    columns = [_aggregate(query, aggregate) for aggregate in plan.aggregates]
    arguments = list(dict.fromkeys(argument for argument, _, _ in columns))
    named = {argument: f"a{place}" for place, argument in enumerate(arguments)}
    texts = [text.replace("?", named[argument]) for argument, texts, _ in columns for text in texts]
    shown = {f"h{place}": key.shown for place, key in enumerate(keys) if key.shown}
    visible = list(dict.fromkeys(query.stands[name].id for name in plan.source.variables))
    hidden = [id_ for id_ in dict.fromkeys(stand.id for stand in query.stands.values()) if id_ not in visible]
    by, values = [f"g{place}" for place in range(len(keys))], [f"n{place}" for place in range(len(texts))]
    least = [f"min({name}) AS {name}" for name in shown]
    selected = [
        *(f"{key.by} AS {name}" for key, name in zip(keys, by, strict=True)),
        *(f"{expression} AS {name}" for name, expression in shown.items()),
        *(f"{argument} AS {name}" for argument, name in named.items()),
        f"[{', '.join(visible)}] AS seen",
        f"[{', '.join(hidden)}] AS unseen",
    ]
    distinct, ways = "", "count(*)"
    if not determines(plan.source):
        # What is found in several ways is one solution, of which the first way is cited.
        once = [*by, *least, *named.values(), "seen", "head(collect(unseen)) AS unseen", "count(*) AS ways"]
        distinct, ways = f"WITH {', '.join(once)} ", "sum(ways)"
    grouped = [
        *by,
        *least,
        *(f"{text} AS {name}" for text, name in zip(texts, values, strict=True)),
        f"{ways} AS ways",
        "collect(seen + unseen)[..$cited] AS cited",
    ]
    elements = [place for place, key in enumerate(keys) if key.is_element]
    text = " ".join(
        [
            *query.clauses,
            f"WITH {', '.join(selected)} LIMIT $most",
            f"{distinct}WITH {', '.join(grouped)} LIMIT $rows",
            f"WITH coalesce(sum(ways), 0) AS met, collect([{', '.join([*by, *shown, *values, 'cited'])}]) AS rows",
            record.bodies(elements) if elements else "WITH met, rows, [] AS bodies",
            "RETURN [met, rows, bodies] AS found",
        ]
    )
    bounds = {
        "most": record.MOST_COUNTED + 1,
        "rows": record.MOST + 1,
        "cited": record.CITED,
        **({"few": _FEW} if elements else {}),
    }
    return Groups(
        text,
        query.parameters | bounds,
        query.compares_ends,
        query.may_fail,
        tuple(keys),
        tuple((finish, len(texts)) for _, texts, finish in columns),
    )


def _key(query: Query, key: Access) -> _Key:
    if key.steps:
        return _Key(members.judged(query, key), None, _member, is_element=False)
    stand = query.stands.get(key.variable)
    if isinstance(stand, Row):
        return _Key(stand.id, None, lambda found, _, elements: record.cell(found, elements), is_element=True)
    if isinstance(stand, End):
        before, end = query.bind(f"{ENTRY}object{NAME}"), query.constant("entry", ENTRY)
        entry = f"coalesce(split(split({stand.proposition}.members, {before})[1], {end})[0], '{OTHER}')"
        shown = f"CASE WHEN {stand.id} =~ '{_IS_ASCII}' THEN null ELSE {entry} END"
        return _Key(stand.id, query.made("h", shown), _end, is_element=True)
    raise NotPushable("groups by a value")


def _member(found: str | None, _: Any, __: Any) -> Json:
    return None if found is None else ("value", entries.value(found))


def _end(key: str, shown: str | None, elements: Mapping[str, Element]) -> Json:
    """An element, or a Literal: of several ways to write one the first is shown."""
    if key[0] in KINDS:
        return record.cell(key, elements)
    if shown is not None and shown[0] == TEXT:
        return ("value", shown[1:])
    if shown is not None or is_digest(key):
        raise Undecided
    return ("value", orjson.loads(key))


# --- aggregates -------------------------------------------------------------------------------------------------------


def _aggregate(query: Query, aggregate: Aggregate) -> tuple[str, Sequence[str], Callable[..., Json]]:
    """What is taken of each row, the columns made of it (`?` in its place), and what makes the value of these."""
    distinct = "DISTINCT " * aggregate.distinct
    match aggregate.function:
        case "COUNT" if aggregate.distinct and aggregate.argument.steps not in ((), ("id",)):
            # JSON writes one number in several ways, and texts may be one in NFC.
            return members.judged(query, aggregate.argument), ("collect(DISTINCT ?)",), _distinct
        case "COUNT":
            return _counted(query, aggregate), (f"count({distinct}?)",), lambda counted: counted
        case "SUM":
            return _whole(query, aggregate), (f"sum({distinct}?)", "count(?)"), _sum
        case "AVG":
            return _whole(query, aggregate), (f"sum({distinct}?)", f"count({distinct}?)"), _average
        case "MIN" | "MAX" as function:
            found = members.judged(query, aggregate.argument, members.ORDERED)
            return found, tuple(text.format(function.lower()) for text in _EXTREME), _extreme
    raise NotPushable(aggregate.function)


def _counted(query: Query, aggregate: Aggregate) -> str:
    """What COUNT takes: null for what it passes over."""
    access = aggregate.argument
    if access.steps:
        return members.entry(query, access)
    stand = query.stands[access.variable]
    return f"nullif({stand.id}, 'null')" if isinstance(stand, End) else stand.id


def _whole(query: Query, aggregate: Aggregate) -> str:
    """A whole number small enough to add up very many of them, or null."""
    found = members.judged(query, aggregate.argument, frozenset(NUMBER))
    value = f"toInteger(substring({found}, 1))"
    is_whole = f"NOT ({found} CONTAINS '.' OR {found} CONTAINS 'e') AND abs({value}) <= {MOST_ADDED}"
    return query.made(
        "w",
        f"CASE WHEN {found} IS NULL THEN null WHEN {is_whole} THEN {value} ELSE {members.undecided(query)} END",
    )


def _distinct(found: list[str]) -> int:
    return len({identity(entries.value(entry)) for entry in found})


def _sum(total: int, counted: int) -> int | None:
    if abs(total) > MAX_SAFE_INTEGER:
        raise Undecided
    return total if counted else None


_EXTREME = (
    "collect(DISTINCT left(?, 1))",
    f"{{}}(CASE WHEN left(?, 1) = '{NUMBER}' THEN {members.number('?')} END)",
    f"{{}}(CASE WHEN left(?, 1) <> '{NUMBER}' THEN ? END)",
)
"""The types of values, the least or greatest of the numbers, and that of the others."""


def _extreme(types: list[str], number: float | None, other: str | None) -> Json:
    if len(types) > 1:
        raise Undecided
    if number is None:
        return None if other is None else entries.value(other)
    return int(number) if number.is_integer() and is_exact(int(number)) else number


def _average(total: int, counted: int) -> float | None:
    return float(total) / counted if counted else None
