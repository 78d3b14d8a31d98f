"""Statements of whole plans: distinct solutions in order, behind a position, at most so many (KIP 2.0 §44.7, §44.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from brain.kip.algebra import Access, Project, Scan, SortKey
from brain.store.base import Json, Undecided
from brain.store.determined import determines
from brain.store.neo4j.keys import ORDER
from brain.store.neo4j.members import is_in_order
from brain.store.neo4j.plans import members, record
from brain.store.neo4j.plans.query import NotPushable, Query, Row

_NO_KEY = 9
"""The place of null among the ranks of a sort key; the opposite where the key runs down."""


@dataclass(frozen=True, slots=True)
class Solutions:
    """The statement of a Project without groups.

    visible        how many variables are named by the answer; the ids behind these are of others that bound the row
    """

    text: str
    parameters: dict[str, Any]
    compares_ends: bool
    may_fail: bool
    visible: int

    def rows(self, found: Sequence[Any]) -> Iterator[tuple[Json, ...]]:
        rows, bodies = found
        if len(rows) > record.MOST:
            raise Undecided
        elements = record.by_id(bodies)
        for row in rows:
            cells = [record.cell(key, elements) for key in row[: self.visible]]
            yield (*cells, record.named([row[self.visible :]]))


def solutions(query: Query, plan: Project) -> Solutions:
    """The distinct solutions of a plan whose steps are joined, in order and cut."""
    names, limit, after = plan.distinct.variables, plan.source.limit, plan.source.after
    if limit is None and not query.is_filtered:
        raise NotPushable("every row, which is sorted as well when it is read")
    if query.tests or not determines(plan.distinct) or not query.stands.keys() >= set(names):
        raise NotPushable("solutions that are found in several ways, or of which bodies tell")
    keys = [key for sort_key in plan.sort.keys for key in _sort_key(query, sort_key)]
    # An index sorts by itself only for those who name all its columns, and by those names.
    first = query.runs_by if not keys and _leads(plan, names[0]) else None
    ties = [tie for name in names for tie in _ties(query, name, first if name == names[0] else None)]
    places = [*keys, *ties]
    if after is not None:
        query.keep(_behind(query, places, [*_reached_keys(plan, after[0]), *_reached_ties(query, names, after[1])]))
    ids = list(dict.fromkeys(query.stands[name].id for name in names))
    order = [f"{name}{' DESC' if is_descending else ''}" for name, is_descending in places]
    if first is not None:
        order[0] = first
    cut = record.MOST + 1 if limit is None else min(limit, record.MOST + 1)
    selected = [*(query.stands[name].id for name in names), *_hidden(query, ids)]
    columns = [f"c{place}" for place in range(len(selected))]
    text = " ".join(
        [
            *query.clauses,
            f"WITH {', '.join(query.carried)} ORDER BY {', '.join(order)} LIMIT {query.bind(cut)}",
            f"WITH {', '.join(f'{one} AS {column}' for one, column in zip(selected, columns, strict=True))}",
            f"WITH collect([{', '.join(columns)}]) AS rows",
            record.bodies(range(len(names))),
            "RETURN [rows, bodies] AS found",
        ]
    )
    return Solutions(text, query.parameters | {"few": record.FEW}, query.compares_ends, query.may_fail, len(names))


def _hidden(query: Query, ids: list[str]) -> list[str]:
    """The ids of elements that bind a row without being named by it."""
    return [id_ for id_ in dict.fromkeys(stand.id for stand in query.stands.values()) if id_ not in ids]


# --- order ------------------------------------------------------------------------------------------------------------


def _sort_key(query: Query, key: SortKey) -> list[tuple[str, bool]]:
    """Names that a sort key orders by, each with whether it runs down: the rank of the value's type, and the value."""
    if not isinstance(key.key, Access):
        raise NotPushable("a column of a group")
    found = members.judged(query, key.key, members.ORDERED)
    last = -_NO_KEY if key.descending else _NO_KEY
    rank = query.made("k", f"coalesce({members.rank(found)}, {last})")
    return [(rank, key.descending), (query.made("k", members.value(found)), key.descending)]


def _leads(plan: Project, name: str) -> bool:
    """Whether a variable is what the first pattern scans for."""
    first = plan.block.steps[0]
    return isinstance(first, Scan) and first.variable == name


def _ties(query: Query, name: str, index: str | None) -> list[tuple[str, bool]]:
    """Names that a variable's element is ordered by: its kind, unless that is known, and its number.

    index  the columns of the index that sorts by it
    """
    version, stand = query.versions.get(name), query.stands[name]
    if version is not None and index is not None:
        return [(f"{version}.number", False)]
    if version is not None:
        return [(query.made("t", f"{version}.number"), False)]
    if not isinstance(stand, Row):
        raise NotPushable("an order of Literals")
    kinds = " ".join(f"WHEN '{letter}' THEN {place}" for letter, place in ORDER.items())
    kind = query.made("t", f"CASE left({stand.id}, 1) {kinds} END")
    return [(kind, False), (query.made("t", f"toInteger(substring({stand.id}, 2))"), False)]


def _behind(query: Query, places: list[tuple[str, bool]], reached: list[Any]) -> str:
    """The condition that a row comes after a position."""
    condition = "false"
    for (name, is_descending), value in reversed(list(zip(places, reached, strict=True))):
        if value is None:
            continue
        bound = query.bind(value)
        condition = f"({name} {'<' if is_descending else '>'} {bound} OR ({name} = {bound} AND {condition}))"
    return condition


def _reached_keys(plan: Project, reached: Any) -> Iterator[Any]:
    """Per sort key its rank and its value, None for one that every row has which comes so far."""
    for sort_key, place in zip(plan.sort.keys, reached, strict=True):
        if len(place) == 1:
            yield from (-_NO_KEY if sort_key.descending else _NO_KEY, None)
            continue
        _, rank, value = place
        if isinstance(value, str) and not is_in_order(value):
            raise NotPushable("a text Neo4j orders in its own way")
        yield from (rank, float(value) if rank == 1 else value)


def _reached_ties(query: Query, names: tuple[str, ...], reached: Any) -> Iterator[Any]:
    for name, (_, kind, number) in zip(names, reached, strict=True):
        yield from (number,) if name in query.versions else (kind, number)
