"""Statements of whole plans: distinct solutions in order, behind a position, at most so many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import orjson

from brain.kip.algebra import Access, Column, Lineages, Project, Scan, SortKey, Tuple, Var
from brain.store.base import Element, Json, Kind
from brain.store.determined import determines
from brain.store.sqlite.keys import id_of
from brain.store.sqlite.plans.columns import Cells, Columns, Statement, build, hidden
from brain.store.sqlite.plans.members import member
from brain.store.sqlite.plans.positions import Place, behind, first_tie
from brain.store.sqlite.plans.query import End, NotPushable, Query, Row

MOST_DERIVATIONS = 16
"""Ways one solution was found whose elements are named."""


def solutions(query: Query, plan: Project) -> Statement:
    """The distinct solutions of a plan, in order and cut."""
    if len(plan.block.steps) == 1 and not plan.sort.keys:
        raise NotPushable("a scan, which streams by itself")
    build(query, plan.block)
    names, limit, after = plan.distinct.variables, plan.source.limit, plan.source.after
    in_order = not plan.sort.keys and _starts_in_order(plan, is_past=query.at is not None)
    if limit is not None and not plan.sort.keys and not in_order:
        raise NotPushable("read in order by steps")
    columns = Columns(query)
    for name in names:
        columns.variable(name)
    width = len(columns.selected)
    further = [columns.select(eid) for eid in hidden(query, names)]
    keys = [_sort_key(query, key) for key in plan.sort.keys]
    if after is not None:
        if in_order and (first := columns.places[0]).expression == f"{query.first}.eid":
            query.where.append(f"{first.expression} >= {query.bind(first_tie(after))}")
        query.test(behind(query, keys, columns.places, after, names))
    # Where rows are sorted, all of them are before the first is answered: bodies are read behind the sort.
    looked_into = _looked_into(plan)
    early = [name for name in names if name in looked_into and (in_order or query.at is not None)]
    bodies = {name: columns.select(body) for name, body in _bodies(query, early)}
    order = [place.order for key in keys for place in key] + [place.order for place in columns.places]
    text = f"{columns.text}{query.source} ORDER BY {', '.join(order)}"
    repeats = not determines(plan.distinct)
    if limit is not None and not repeats:
        text += f" LIMIT {query.bind(limit)}"
    left = [name for name in columns.elements if name in looked_into and name not in bodies]
    if left:
        text = _with_bodies(text, [columns.elements[name] for name in left])
        bodies |= {name: len(columns.selected) + at for at, name in enumerate(left)}
    places = {names.index(name): at for name, at in bodies.items()}

    def read(rows: Iterator[Cells]) -> Iterator[tuple[Json, ...]]:
        solutions = _solutions(rows, width) if repeats else ([row] for row in rows)
        for solution in islice(solutions, limit):
            first = solution[0]
            cells = [cell(first) for cell in columns.cells]
            for place, at in places.items():
                if first[at] is not None:
                    cells[place] = _element(first[at])
            yield (*cells, {id_of(eid) for row in solution for at in further if (eid := row[at]) is not None})

    return Statement.of(query, text, read)


def _bodies(query: Query, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Variables that may be elements, with the bodies of these."""
    for name in names:
        match query.stand(name):
            case Row(alias=str() as alias) | End(alias=str() as alias):
                yield name, f"json({alias}.body)"
            case Row(eid=eid) | End(eid=eid):
                query.only_now()
                yield name, f"(SELECT json(body) FROM element NOT INDEXED WHERE eid = {eid})"


def _with_bodies(text: str, columns: list[int]) -> str:
    """The statement with the bodies of the elements in some columns."""
    bodies = ", ".join(f"(SELECT json(body) FROM element NOT INDEXED WHERE eid = found.c{at})" for at in columns)
    return f"WITH found AS MATERIALIZED ({text}) SELECT *, {bodies} FROM found"


def _solutions(rows: Iterator[Cells], width: int) -> Iterator[list[Cells]]:
    """Neighbouring rows that are one solution, the first of them."""
    solution: list[Cells] = []
    for row in rows:
        if solution and row[:width] != solution[0][:width]:
            yield solution
            solution = []
        if len(solution) < MOST_DERIVATIONS:
            solution.append(row)
    if solution:
        yield solution


def _starts_in_order(plan: Project, *, is_past: bool) -> bool:
    """Whether a cut answer is read no further than it has to: by an index that runs in the answer's order, or to few
    rows anyway."""
    first, leading = plan.block.steps[0], plan.distinct.variables[:1]
    match first:
        case Scan(variable=variable, conditions=conditions, ids=ids, matches=matches):
            if ids is not None or any((conditions.key, conditions.canonical_id, conditions.name)):
                return True
            types = conditions.lineages or conditions.classes
            by_index = types is not None
            runs = conditions.states is not None and len(conditions.states) == 1 and len(types or "1") == 1
            return (
                not is_past
                and (variable,) == leading
                and (runs or not by_index)
                and not any(match.edges for match in matches)
            )
        case Tuple(proposition=proposition, subject=Var(), object=Var(), predicate=Lineages(lineages=lineages)):
            return (proposition,) == leading and len(lineages) == 1
        case Tuple():
            return True
    return False


def _looked_into(plan: Project) -> frozenset[str]:
    """Variables whose elements the answer needs."""
    accesses = {*plan.outputs, *(key.key for key in plan.sort.keys)}
    return frozenset(access.variable for access in accesses if isinstance(access, Access) and access.steps != ("id",))


def _sort_key(query: Query, key: SortKey) -> list[Place]:
    """The columns that a sort key orders by."""
    if isinstance(key.key, Column):
        raise NotPushable("a column of a group")
    found = member(query, key.key)
    value = Place(found.value, key.descending)
    return [Place(found.rank, key.descending), value] if found.type else [value]


def _element(body: str) -> Element:
    document = orjson.loads(body)
    return Element(document["id"], Kind(document["kind"]), document)
