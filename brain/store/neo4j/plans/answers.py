"""Blocks and counts as statements, and how the one record of a statement becomes the rows of the plan.

All rows come as one list in one record: Neo4j's protocol makes a message of every record, and a thousand of these take
longer than finding what they say. Where the rows are few the elements they name come along, for whoever looks into
them next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brain.kip.algebra import Block, Group, Step, variables
from brain.store.base import Element, Json, Undecided
from brain.store.neo4j.keys import ID_LETTERS, KINDS
from brain.store.neo4j.plans.query import End, NotPushable, Query, Test
from brain.store.neo4j.plans.steps import add, names_others
from brain.store.neo4j.versions import element_of

MOST = 20_000
"""Rows a statement may come to. More are read step by step, in bounded memory."""

MOST_COUNTED = 200_000
"""Rows a count goes through, which Neo4j holds in memory."""

_CITED = 64
"""Solutions of a count whose elements are named."""

FEW = 256
"""Rows up to which the elements they name come along."""

_MOST_STEPS = 12

_CLAUSE = re.compile(r" (?=(?:MATCH|WITH|CALL|UNWIND|RETURN|WHERE) )")
"""Where a new line begins."""

_BODIES = (
    "CALL (rows) {{ UNWIND CASE WHEN size(rows) <= $few THEN rows ELSE [] END AS row"
    " UNWIND [{ids}] AS id WITH DISTINCT id"
    " MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = id AND v.from_seq <= $at AND $at < v.to_seq RETURN collect(v.body) AS bodies }}"
)


class Statement(Protocol):
    """One statement that reads what a plan asks for.

    compares_ends  whether it is exact only while nothing was merged
    """

    @property
    def text(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...

    @property
    def compares_ends(self) -> bool: ...

    def rows(self, found: Sequence[Any]) -> Iterator[tuple[Json, ...]]:
        """The rows of the plan, of the one record.

        raises  Undecided when there are more than one record should hold
        """
        ...


def shown(statement: Statement) -> str:
    """A statement on several lines, for people."""
    return _CLAUSE.sub("\n", statement.text)


def statement_of(plan: Step) -> Statement:
    """The statement of a Block, or of a Group that counts.

    raises  NotPushable
    """
    match plan:
        case Block():
            return _block(plan)
        case Group(keys=()):
            return _count(plan)
    raise NotPushable(type(plan).__name__)


def _joined(block: Block) -> Query:
    if len(block.steps) > _MOST_STEPS:
        raise NotPushable("a text that takes long to be planned")
    query = Query()
    for step in block.steps:
        add(query, step)
    return query


# --- rows -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rows:
    """The statement of a block.

    columns        per variable the place of its id or object key in a row, and for an object that of the body of a
                   Proposition whose object is a Literal, else None
    tests          places of bodies, and tests of their elements
    """

    text: str
    parameters: dict[str, Any]
    columns: tuple[tuple[int, int | None], ...]
    tests: tuple[tuple[int, Test], ...]
    compares_ends: bool

    def rows(self, found: Sequence[Any]) -> Iterator[tuple[Json, ...]]:
        rows, bodies = found
        if len(rows) > MOST:
            raise Undecided
        elements = {element.id: element for element in map(element_of, bodies)}
        tested: dict[str, Element] = {}
        for row in rows:
            if all(test(_element(row[place], tested)) for place, test in self.tests):
                yield tuple(_cell(row, *column, elements) for column in self.columns)


def _block(plan: Block) -> Rows:
    if len(plan.steps) == 1 and not names_others(plan.steps[0]):
        raise NotPushable("a scan, which gives the elements themselves")
    query = _joined(plan)
    selected: dict[str, int] = {}
    columns = []
    for name in variables(plan):
        stand = query.stands[name]
        literal = None
        if isinstance(stand, End):
            body = f"CASE WHEN left({stand.id}, 1) IN {ID_LETTERS} THEN null ELSE {stand.proposition}.body END"
            literal = selected.setdefault(body, len(selected))
        columns.append((selected.setdefault(stand.id, len(selected)), literal))
    tests = [(selected.setdefault(f"{version}.body", len(selected)), test) for version, test in query.tests]
    ids = sorted({place for place, _ in columns})
    text = " ".join(
        [
            *query.clauses,
            f"WITH {', '.join(f'{expression} AS c{place}' for expression, place in selected.items())} LIMIT $most",
            f"WITH collect([{', '.join(f'c{place}' for place in range(len(selected)))}]) AS rows",
            _BODIES.format(ids=", ".join(f"row[{place}]" for place in ids)),
            "RETURN [rows, bodies] AS found",
        ]
    )
    parameters = query.parameters | {"most": MOST + 1, "few": FEW}
    return Rows(text, parameters, tuple(columns), tuple(tests), query.compares_ends)


def _cell(row: Sequence[Any], place: int, literal: int | None, elements: Mapping[str, Element]) -> Json:
    key: str = row[place]
    if literal is not None and key[0] not in KINDS:
        return ("value", element_of(row[literal]).body["object"])
    return elements.get(key) or ("element", key)


def _element(body: str, read: dict[str, Element]) -> Element:
    if body not in read:
        read[body] = element_of(body)
    return read[body]


# --- counts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """The statement of a Group without keys."""

    text: str
    parameters: dict[str, Any]
    compares_ends: bool

    def rows(self, found: Sequence[Any]) -> Iterator[tuple[Json, ...]]:
        met, *counts, named = found
        if met > MOST_COUNTED:
            raise Undecided
        yield (*counts, list(dict.fromkeys(key for row in named for key in row if key[0] in KINDS)))


def _count(plan: Group) -> Count:
    """How many distinct solutions there are, or distinct bindings of one variable in them."""
    query = _joined(plan.source.source)
    if query.tests or any(one.function != "COUNT" or one.argument.steps for one in plan.aggregates):
        raise NotPushable("what is counted stands in bodies")
    names = plan.source.variables
    stands = {name: query.stands[name] for name in (*names, *query.stands)}
    visible = list(dict.fromkeys(stands[name].id for name in names))
    hidden = [id_ for id_ in dict.fromkeys(stand.id for stand in stands.values()) if id_ not in visible]
    counted = []
    for aggregate in plan.aggregates:
        stand = stands[aggregate.argument.variable]
        value = f"nullif({stand.id}, 'null')" if isinstance(stand, End) else stand.id
        counted.append(f"count({'DISTINCT ' * aggregate.distinct}{value})")
    if not visible:
        raise NotPushable("nothing that tells solutions apart")
    solution = ", ".join([*visible, *hidden])
    carried = [*visible, *(f"head(collect({id_})) AS {id_}" for id_ in hidden)]
    text = " ".join(
        [
            *query.clauses,
            f"WITH {solution} LIMIT $most",
            f"WITH {', '.join([*carried, 'count(*) AS ways'])}",
            f"RETURN [coalesce(sum(ways), 0), {', '.join(counted)}, collect([{solution}])[..$cited]] AS found",
        ]
    )
    return Count(text, query.parameters | {"most": MOST_COUNTED + 1, "cited": _CITED}, query.compares_ends)
