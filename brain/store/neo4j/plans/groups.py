"""Statements of grouped plans (KIP 2.0 §44.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from brain.ids import MAX_SAFE_INTEGER
from brain.kip.algebra import Access, Aggregate, Group
from brain.store.base import Json, Undecided
from brain.store.determined import determines
from brain.store.neo4j import members as entries
from brain.store.neo4j.members import NUMBER
from brain.store.neo4j.plans import members, record
from brain.store.neo4j.plans.query import End, NotPushable, Query

MOST_ADDED = 1 << 40
"""Whole numbers up to this are added up in the statement: only sums of these are exact in any order."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The statement of a Group: a row per key as JSON spells it.

    keys      what makes a cell of what each key's column has; None for an element
    finished  what makes the value of an aggregate of its columns, and how many these are
    """

    text: str
    parameters: dict[str, Any]
    compares_ends: bool
    may_fail: bool
    keys: tuple[Callable[[str], Json] | None, ...]
    finished: tuple[tuple[Callable[..., Json], int], ...]

    def rows(self, found: Any) -> Iterator[tuple[Json, ...]]:
        met, rows, bodies = found
        has_elements = None in self.keys
        if met > record.MOST_COUNTED or len(rows) > (record.FEW if has_elements else record.MOST):
            raise Undecided
        elements = record.by_id(bodies)
        for row in rows:
            taken = iter(row)
            cells = [_cell(next(taken), of_key, elements) for of_key in self.keys]
            values = [finish(*islice(taken, width)) for finish, width in self.finished]
            yield (*cells, *values, record.named(next(taken)))


def groups(query: Query, plan: Group) -> Groups:
    if query.tests or not determines(plan.source):
        raise NotPushable("solutions that are found in several ways, or of which bodies tell")
    keys = [_key(query, key) for key in plan.keys]
    columns = [_aggregate(query, aggregate) for aggregate in plan.aggregates]
    bound = list(dict.fromkeys(stand.id for stand in query.stands.values()))
    arguments = list(dict.fromkeys(argument for argument, _, _ in columns))
    named = {argument: f"a{place}" for place, argument in enumerate(arguments)}
    texts = [text.replace("?", named[argument]) for argument, texts, _ in columns for text in texts]
    values = [*(f"g{place}" for place in range(len(keys))), *(f"n{place}" for place in range(len(texts))), "cited"]
    selected = [
        *(f"{expression} AS g{place}" for place, (expression, _) in enumerate(keys)),
        *(f"{argument} AS {name}" for argument, name in named.items()),
        f"[{', '.join(bound)}] AS solution",
    ]
    grouped = [
        *values[: len(keys)],
        *(f"{text} AS n{place}" for place, text in enumerate(texts)),
        "count(*) AS ways",
        "collect(solution)[..$cited] AS cited",
    ]
    elements = [place for place, (_, of_key) in enumerate(keys) if of_key is None]
    text = " ".join(
        [
            *query.clauses,
            f"WITH {', '.join(selected)} LIMIT $most",
            f"WITH {', '.join(grouped)} LIMIT $rows",
            f"WITH coalesce(sum(ways), 0) AS met, collect([{', '.join(values)}]) AS rows",
            record.bodies(elements) if elements else "WITH met, rows, [] AS bodies",
            "RETURN [met, rows, bodies] AS found",
        ]
    )
    bounds = {
        "most": record.MOST_COUNTED + 1,
        "rows": record.MOST + 1,
        "cited": record.CITED,
        **({"few": record.FEW} if elements else {}),
    }
    return Groups(
        text,
        query.parameters | bounds,
        query.compares_ends,
        query.may_fail,
        tuple(of_key for _, of_key in keys),
        tuple((finish, len(texts)) for _, texts, finish in columns),
    )


def _key(query: Query, key: Access) -> tuple[str, Callable[[str], Json] | None]:
    """What is grouped by, and what makes a cell of it."""
    if key.steps:
        return members.judged(query, key), entries.value
    stand = query.stands.get(key.variable)
    if stand is None or isinstance(stand, End):
        raise NotPushable("groups by an element or a Literal")
    return stand.id, None


def _cell(found: Any, of_key: Callable[[str], Json] | None, elements: Any) -> Json:
    if of_key is None:
        return record.cell(found, elements)
    return None if found is None else ("value", of_key(found))


# --- aggregates -------------------------------------------------------------------------------------------------------


def _aggregate(query: Query, aggregate: Aggregate) -> tuple[str, Sequence[str], Callable[..., Json]]:
    """What is taken of each row, the columns made of it (`?` in its place), and what makes the value of these."""
    distinct = "DISTINCT " * aggregate.distinct
    match aggregate.function:
        case "COUNT":
            return _counted(query, aggregate), (f"count({distinct}?)",), lambda counted: counted
        case "SUM":
            return _whole(query, aggregate), (f"sum({distinct}?)", "count(?)"), _sum
        case "AVG":
            return _whole(query, aggregate), (f"sum({distinct}?)", f"count({distinct}?)"), _average
    raise NotPushable(aggregate.function)


def _counted(query: Query, aggregate: Aggregate) -> str:
    """What COUNT takes: null for what it passes over."""
    access = aggregate.argument
    if access.steps:
        if aggregate.distinct and access.steps != ("id",):
            raise NotPushable("distinct values")
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


def _sum(total: int, counted: int) -> int | None:
    if abs(total) > MAX_SAFE_INTEGER:
        raise Undecided
    return total if counted else None


def _average(total: int, counted: int) -> float | None:
    return float(total) / counted if counted else None
