"""What a compiled plan answers: the columns of its statement, and rows made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from brain.kip.algebra import (
    Access,
    Aggregate,
    Block,
    Column,
    Distinct,
    Group,
    Lineages,
    Not,
    Project,
    Scan,
    SortKey,
    Step,
    Tuple,
    Var,
    variables,
)
from brain.store.base import Element, Json, Kind
from brain.store.sqlite.keys import id_of
from brain.store.sqlite.plans.members import composed, literal, member
from brain.store.sqlite.plans.positions import Place, behind, first_tie
from brain.store.sqlite.plans.query import TEXT, End, NotPushable, Query, Row, Value
from brain.store.sqlite.plans.steps import add

MOST_DERIVATIONS = 16
"""Ways one solution was found whose elements are named."""

_CLAUSE = re.compile(
    r" (?=FROM (?:element AS|\()|(?:CROSS|LEFT) JOIN |WHERE [a-z]\d|GROUP BY |ORDER BY |LIMIT |UNION ALL )"
)
"""Where a new line begins."""

Cells = tuple[Any, ...]


@dataclass(slots=True)
class Statement:
    """One statement, and how its rows become those of the plan."""

    text: str
    bindings: dict[str, Any]
    read: Callable[[Iterator[Cells]], Iterator[tuple[Json, ...]]]

    @property
    def shown(self) -> str:
        """The statement on several lines, for people."""
        return _CLAUSE.sub("\n", self.text)


def statement_of(plan: Step, at: int | None) -> Statement:
    """The statement of a Project, a Group or a Block.

    raises  NotPushable
    """
    query = Query(at)
    match plan:
        case Project() if plan.group is None:
            return _rows(query, plan)
        case Group():
            return _groups(query, plan)
        case Block():
            return _block(query, plan)
    raise NotPushable(type(plan).__name__)


def steps_of(plan: Step) -> tuple[Step, ...]:
    """The steps at the bottom of a plan."""
    match plan:
        case Project():
            return plan.block.steps
        case Group(source=Distinct(source=Block(steps=steps))) | Block(steps=steps):
            return steps
    return ()


def _build(query: Query, block: Block) -> None:
    for step in block.steps:
        add(query, step)
    if not query.tables:
        raise NotPushable("nothing to read")


# --- cells ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Columns:
    """Columns of a statement and what reads them.

    cells   per variable, how its cell is made of a row
    places  what orders rows by the variables' bindings
    elements  variables that may be elements, each with the column of its integer
    """

    query: Query
    selected: list[str] = field(default_factory=list)
    cells: list[Callable[[Cells], Json]] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    elements: dict[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "SELECT " + ", ".join(f"{column} AS c{at}" for at, column in enumerate(self.selected))

    def select(self, expression: str) -> int:
        self.selected.append(expression)
        return len(self.selected) - 1

    def variable(self, name: str) -> None:
        """The columns of a variable's cell, which also are its place in the order of bindings."""
        match self.query.stand(name):
            case Row(eid=eid):
                at = self.elements[name] = self.select(eid)
                self.places.append(Place(eid, nullable=False, column=f"c{at}"))
                self.cells.append(lambda row: ("element", id_of(row[at])))
            case End() as end:
                value = literal(end)
                columns = (end.eid, value.rank, value.value)
                at = self.elements[name] = self.select(end.eid)
                self.select(value.rank)
                self.select(value.value)
                self.places += [Place(one, column=f"c{at + n}") for n, one in enumerate(columns)]
                self.cells.append(
                    lambda row: (
                        ("value", _json_value(row[at + 1], row[at + 2]))
                        if row[at] is None
                        else ("element", id_of(row[at]))
                    )
                )
            case Value(rank=rank, value=value_):
                content = composed(value_)
                at = self.select(rank)
                self.select(content)
                # A constant in ORDER BY or GROUP BY would name a column by its number.
                places = [Place(rank, column=f"c{at}"), Place(content, column=f"c{at + 1}")]
                self.places += places[1:] if rank == TEXT else places
                self.cells.append(lambda row: ("value", _json_value(row[at], row[at + 1])))


def _json_value(rank: int, value: Any) -> Json:
    return bool(value) if rank == 0 else value


# --- whole answers ----------------------------------------------------------------------------------------------------


def _rows(query: Query, plan: Project) -> Statement:
    if len(plan.block.steps) == 1 and not plan.sort.keys:
        raise NotPushable("a scan, which streams by itself")
    _build(query, plan.block)
    names, limit, after = plan.distinct.variables, plan.source.limit, plan.source.after
    in_order = not plan.sort.keys and _starts_in_order(plan, is_past=query.at is not None)
    if limit is not None and not plan.sort.keys and not in_order:
        raise NotPushable("read in order by steps")
    columns = _Columns(query)
    for name in names:
        columns.variable(name)
    width = len(columns.selected)
    hidden = [columns.select(eid) for eid in _hidden(query, names)]
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
    repeats = not _determines(plan.distinct)
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
            yield (*cells, {id_of(eid) for row in solution for at in hidden if (eid := row[at]) is not None})

    return Statement(text, query.bindings, read)


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


# --- groups -----------------------------------------------------------------------------------------------------------


def _groups(query: Query, plan: Group) -> Statement:
    """A row per group: its keys' cells, its aggregates, the elements that bound it. Keys that JSON spells in several
    ways come in several rows."""
    _build(query, plan.source.source)
    names = plan.source.variables
    keys = [_group_key(query, key) for key in plan.keys]
    counted = [_counted(query, aggregate) for aggregate in plan.aggregates]
    bound = [*_elements(query, names), *_hidden(query, names)]
    if _determines(plan.source):
        by = [key.by for key in keys]
        shown = [key.shown for key in keys]
        source = query.source
    else:
        columns = _Columns(query)
        for name in names:
            columns.variable(name)
        # Of several ways to one solution the first is cited: MIN decides whose columns a bare column is of.
        first = " || ".join(_hidden(query, names)) or "1"
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


# --- blocks -----------------------------------------------------------------------------------------------------------


def _block(query: Query, plan: Block) -> Statement:
    if len(plan.steps) < 2:
        raise NotPushable("a scan, which gives the elements themselves")
    _build(query, plan)
    columns = _Columns(query)
    inside: set[str] = set()
    for step in plan.steps:
        if isinstance(step, Not):
            inside.update(variables(step))
    names = variables(plan)
    for name in names:
        if name not in query.stands and name in inside:
            columns.cells.append(lambda _: None)
        else:
            columns.variable(name)
    text = f"SELECT {', '.join(columns.selected)}{query.source}"

    def read(rows: Iterator[Cells]) -> Iterator[tuple[Json, ...]]:
        for row in rows:
            yield tuple(cell(row) for cell in columns.cells)

    return Statement(text, query.bindings, read)


# --- what a solution is made of ---------------------------------------------------------------------------------------


def _determines(distinct: Distinct) -> bool:
    """Whether the visible variables leave no choice for the others, so that no two rows are one solution."""
    fixed = set(distinct.variables)
    left = [_binds(step) for step in distinct.source.steps if isinstance(step, (Scan, Tuple))]
    while left:
        following = [binds for binds in left if binds[0] not in fixed]
        if len(following) == len(left):
            return all(fixed.issuperset(binds) for binds in left)
        fixed.update(name for binds in left if binds[0] in fixed for name in binds)
        left = following
    return True


def _binds(step: Scan | Tuple) -> tuple[str, ...]:
    """The variables of a step, the one that fixes the others first."""
    if isinstance(step, Scan):
        return (step.variable, *variables(step)) if step.matches else (step.variable,)
    return (step.proposition, *(end.name for end in (step.subject, step.object) if isinstance(end, Var)))


def _hidden(query: Query, visible: tuple[str, ...]) -> list[str]:
    """The integers of elements that bind a row without being named by it."""
    return list(_elements(query, tuple(name for name in query.stands if name not in visible)))


def _elements(query: Query, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        stand = query.stand(name)
        if not isinstance(stand, Value):
            yield stand.eid


def _element(body: str) -> Element:
    document = orjson.loads(body)
    return Element(document["id"], Kind(document["kind"]), document)
