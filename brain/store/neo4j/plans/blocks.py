"""Statements of blocks: all rows, in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.kip.algebra import Block, variables
from brain.store.base import Element, Json, Undecided
from brain.store.neo4j.keys import ID_LETTERS, KINDS
from brain.store.neo4j.plans import record
from brain.store.neo4j.plans.query import End, Query, Test
from brain.store.neo4j.versions import element_of


@dataclass(frozen=True, slots=True)
class Rows:
    """The statement of a block.

    columns        per variable the place of its id or object key in a row, and for an object that of the body of a
                   Proposition whose object is a Literal, else None; None for one that only a NOT has
    tests          places of bodies, and tests of their elements
    """

    text: str
    parameters: dict[str, Any]
    columns: tuple[tuple[int, int | None] | None, ...]
    tests: tuple[tuple[int, Test], ...]
    compares_ends: bool
    may_fail: bool

    def rows(self, found: Any) -> Iterator[tuple[Json, ...]]:
        rows, bodies = found
        if len(rows) > record.MOST:
            raise Undecided
        elements = record.by_id(bodies)
        tested: dict[str, Element] = {}
        for row in rows:
            if all(test(_element(row[place], tested)) for place, test in self.tests):
                yield tuple(None if column is None else _cell(row, *column, elements) for column in self.columns)


def rows_of(query: Query, plan: Block) -> Rows:
    selected: dict[str, int] = {}
    columns: list[tuple[int, int | None] | None] = []
    for name in variables(plan):
        stand = query.stands.get(name)
        if stand is None:
            columns.append(None)
            continue
        literal = None
        if isinstance(stand, End):
            body = f"CASE WHEN left({stand.id}, 1) IN {ID_LETTERS} THEN null ELSE {stand.proposition}.body END"
            literal = selected.setdefault(body, len(selected))
        columns.append((selected.setdefault(stand.id, len(selected)), literal))
    tests = [(selected.setdefault(f"{version}.body", len(selected)), test) for version, test in query.tests]
    text = " ".join(
        [
            *query.clauses,
            f"WITH {', '.join(f'{expression} AS c{place}' for expression, place in selected.items())} LIMIT $most",
            f"WITH collect([{', '.join(f'c{place}' for place in range(len(selected)))}]) AS rows",
            record.bodies(sorted({column[0] for column in columns if column is not None})),
            "RETURN [rows, bodies] AS found",
        ]
    )
    parameters = query.parameters | {"most": record.MOST + 1, "few": record.FEW}
    return Rows(text, parameters, tuple(columns), tuple(tests), query.compares_ends, query.may_fail)


def _cell(row: Sequence[Any], place: int, literal: int | None, elements: Mapping[str, Element]) -> Json:
    key: str = row[place]
    if literal is not None and key[0] not in KINDS:
        return ("value", element_of(row[literal]).body["object"])
    return record.cell(key, elements)


def _element(body: str, read: dict[str, Element]) -> Element:
    if body not in read:
        read[body] = element_of(body)
    return read[body]
