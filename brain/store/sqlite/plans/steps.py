"""Steps of a block as joins (KIP 2.0 §43): which rows of `element` each adds, by which index, under which conditions.

Ends are compared by their ids as stored: where Concepts were merged, plans with ends are not for this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brain.kip.algebra import (
    Call,
    Comparison,
    Constant,
    Filter,
    Known,
    Lineages,
    Match,
    Not,
    Scan,
    Step,
    Term,
    Tuple,
    Var,
)
from brain.store.base import Kind
from brain.store.base import Scan as Conditions
from brain.store.rows import indexed_object
from brain.store.sqlite.plans.expressions import condition
from brain.store.sqlite.plans.members import bound_value, composed, json_path
from brain.store.sqlite.plans.query import OUTER, TEXT, End, NotPushable, Query, Row, Value

_REFERENCES: Mapping[tuple[Any, ...], str] = {("proposition",): "proposition", ("asserted_by",): "actor"}
"""References of Assertions with a column of their own."""

_STATE = ("_system", "state")


def add(query: Query, step: Step) -> None:
    """One more step, joined to those before it.

    raises  NotPushable
    """
    _ADD.get(type(step), _refuse)(query, step)


def compares_ends(steps: tuple[Step, ...]) -> bool:
    """Whether any step compares references, which follow merges."""
    return any(
        isinstance(step, Tuple)
        or (isinstance(step, Scan) and any(match.edges for match in step.matches))
        or (isinstance(step, Not) and compares_ends(step.block.steps))
        for step in steps
    )


def is_known(steps: tuple[Step, ...]) -> bool:
    """Whether every step is of a kind that can be joined; a quick look before anything is built."""
    return all(type(step) in _ADD and (not isinstance(step, Not) or is_known(step.block.steps)) for step in steps)


def _refuse(_: Query, step: Step) -> None:
    raise NotPushable(type(step).__name__)


def _filter(query: Query, step: Filter) -> None:
    tested = condition(query, step.condition)
    # As a value: where only truth matters SQLite looks no further than an unknown operand, and the next may be refused.
    query.test(tested if isinstance(step.condition, (Call, Comparison)) else f"({tested} = 1)")


def _not(query: Query, step: Not) -> None:
    inner = query.inner()
    for part in step.block.steps:
        add(inner, part)
    # Where the inner rows are none SQLite would not judge at all what stands before them.
    before = inner.taken_before_rows()
    absent = f"NOT EXISTS (SELECT 1{inner.source})" if inner.tables or not before else "0"
    query.test(f"CASE WHEN {before} THEN {absent} ELSE 1 END" if before else absent)


# --- elements ---------------------------------------------------------------------------------------------------------


def _scan(query: Query, step: Scan) -> None:
    bound = query.stands.get(step.variable)
    if isinstance(bound, Value):
        raise NotPushable("a value in the place of an element")
    if bound is not None:
        alias = _joined(query, bound, "s")
        for needed in _conditions(query, f"{alias}.", step):
            query.need(alias, needed)
    else:
        alias = query.alias("s")
        _found(query, alias, step)
    query.stands[step.variable] = Row(f"{alias}.eid", alias, step.conditions.kind)
    for match in step.matches:
        _match(query, alias, match)


def _joined(query: Query, bound: Row | End, letter: str) -> str:
    """The row of a variable's element, which has to be there."""
    if bound.alias is not None and not bound.alias.startswith(OUTER):
        return bound.alias
    query.only_now()
    alias = query.alias(letter)
    query.join(f"element AS {alias} NOT INDEXED", alias)
    query.need(alias, f"{alias}.eid = {bound.eid}")
    return alias


def _found(query: Query, alias: str, step: Scan) -> None:
    """A scan that nothing before it leads to."""
    index, is_narrow = _access(query, step)
    if query.is_joined and not is_narrow:
        raise NotPushable("every row with every element")
    by_index = f"INDEXED BY element_{index}" if index else "NOT INDEXED"
    if query.at is None:
        query.join(f"element AS {alias} {by_index}", alias)
        query.where += _conditions(query, f"{alias}.", step)
        return
    if query.is_joined:
        query.only_now()
    where = " AND ".join(_conditions(query, "", step))
    at = query.bind(query.at)
    columns = "eid, state, type, key, name, canonical_id, status, proposition, actor, body"
    now = f"element {by_index}"
    query.join(
        f"(SELECT {columns} FROM {now} WHERE {where} AND from_seq <= {at} UNION ALL"
        f" SELECT {columns} FROM past INDEXED BY past_{index or 'eid'}"
        f" WHERE {where} AND from_seq <= {at} AND to_seq > {at}) AS {alias}",
        alias,
    )


def _access(query: Query, step: Scan) -> tuple[str, bool]:
    """The index that serves a scan, and whether it leads to few rows; none for a range of the primary key."""
    conditions = step.conditions
    if step.ids is not None:
        return "", True
    for name, index in (("key", "key"), ("canonical_id", "canonical"), ("name", "name")):
        if getattr(conditions, name) is not None:
            return index, True
    given = [match for match in step.matches if match.edges and _is_given(query, match)]
    if any(match.path == ("proposition",) for match in given):
        return "proposition", True
    if given:
        raise NotPushable("found by a reference")
    return ("type" if _types(conditions) is not None else ""), False


def _is_given(query: Query, match: Match) -> bool:
    return isinstance(match.value, Known) or (isinstance(match.value, Var) and match.value.name in query.stands)


def _conditions(query: Query, row: str, step: Scan) -> Iterator[str]:
    """What a row of `element` has to meet; `row` is its name with a dot, or empty."""
    conditions = step.conditions
    yield query.of_kind(row, conditions.kind)
    if step.ids is not None:
        yield query.among_elements(f"{row}eid", step.ids)
    types = _types(conditions)
    if types is not None:
        yield query.among_symbols(f"{row}type", types)
    if conditions.states is not None:
        yield query.among(f"{row}state", conditions.states)
    for name in ("key", "name", "canonical_id"):
        if (value := getattr(conditions, name)) is not None:
            yield f"{row}{name} = {query.bind(value)}"
    if conditions.statuses is not None:
        yield query.among(f"{row}status", conditions.statuses)
    for path, wanted in conditions.members:
        yield _equals(query, row, path, wanted)


def _types(conditions: Conditions) -> frozenset[str] | None:
    """What the `type` column may hold: lineages for the kinds that have them, classes for the others."""
    if conditions.kind in (Kind.CONCEPT, Kind.PROPOSITION):
        own, foreign = conditions.lineages, conditions.classes
    else:
        own, foreign = conditions.classes, conditions.lineages
    return own if foreign is None else frozenset()


def _equals(query: Query, row: str, steps: tuple[str, ...], wanted: str | int | float | bool) -> str:
    """A member is this value, by JSON's equality."""
    path = query.bind(json_path(steps))
    type_ = f"json_type({row}body, {path})"
    if isinstance(wanted, bool):
        return f"{type_} = {query.bind('true' if wanted else 'false')}"
    has_type = "= 'text'" if isinstance(wanted, str) else "IN ('integer', 'real')"
    return f"{type_} {has_type} AND json_extract({row}body, {path}) = {query.bind(wanted)}"


def _match(query: Query, alias: str, match: Match) -> None:
    if match.holds == "reference":
        column = _REFERENCES.get(match.path)
        if column is None:
            raise NotPushable("a reference without a column")
        _end(query, alias, column, match.value)
        return
    if match.holds != "value" or match.path == ("id",) or not all(isinstance(step, str) for step in match.path):
        raise NotPushable("a member under a symbol")
    match match.value:
        case Constant(value=None):
            query.need(alias, f"json_type({alias}.body, {query.bind(json_path(match.path))}) = 'null'")
        case Constant(value=bool() | int() | float() | str() as wanted):
            steps: Any = match.path
            query.need(alias, _equals(query, f"{alias}.", steps, wanted))
        case Var(name=name):
            _bind_value(query, alias, match.path, name)
        case _:
            raise NotPushable("a list or an object")


def _bind_value(query: Query, alias: str, path: tuple[Any, ...], name: str) -> None:
    """A variable in the place of a member: it binds what stands there, or agrees with it."""
    found = Value(TEXT, f"{alias}.state") if path == _STATE else bound_value(alias, query.bind(json_path(path)))
    before = query.stands.get(name)
    if before is None:
        if found.rank != TEXT:
            query.need(alias, f"{found.rank} IS NOT NULL")
        query.stands[name] = found
    elif isinstance(before, Value):
        query.need(alias, f"{found.rank} = {before.rank} AND {composed(found.value)} IS {composed(before.value)}")
    else:
        raise NotPushable("an element beside a value")


# --- tuples -----------------------------------------------------------------------------------------------------------


def _tuple(query: Query, step: Tuple) -> None:
    query.only_now()
    if not isinstance(step.predicate, Lineages):
        raise NotPushable("a variable predicate")
    bound = query.stands.get(step.proposition)
    if isinstance(bound, Value):
        raise NotPushable("a value in the place of a Proposition")
    if bound is not None:
        alias = _joined(query, bound, "p")
    else:
        alias = query.alias("p")
        query.join(f"element AS {alias} INDEXED BY element_{_tuple_index(query, step)}", alias)
    query.need(alias, query.of_kind(f"{alias}.", Kind.PROPOSITION))
    query.need(alias, query.among_symbols(f"{alias}.type", step.predicate.lineages))
    query.need(alias, query.among(f"{alias}.state", {"active"}))
    query.stands[step.proposition] = Row(f"{alias}.eid", alias, Kind.PROPOSITION)
    _end(query, alias, "subject", step.subject)
    _object(query, alias, step.object)


def _tuple_index(query: Query, step: Tuple) -> str:
    for end, index in ((step.subject, "subject"), (step.object, "object")):
        if isinstance(end, Known) or end.name in query.stands:
            return index
    if query.is_joined:
        raise NotPushable("every row with every tuple")
    return "type"


def _end(query: Query, alias: str, name: str, term: Term | object) -> None:
    """An end that can only be an element, in a column of its own."""
    column = f"{alias}.{name}"
    match term:
        case Known(keys=keys, canonical_id=None):
            query.need(alias, query.among_elements(column, keys))
        case Var(name=name) if name in query.stands:
            stand = query.stands[name]
            if isinstance(stand, Value):
                raise NotPushable("a value in the place of an end")
            query.need(alias, f"{column} = {stand.eid}")
        case Var(name=name):
            query.need(alias, f"{column} IS NOT NULL")
            query.stands[name] = Row(column)
        case _:
            raise NotPushable("an end by canonical id")


def _object(query: Query, alias: str, term: Term) -> None:
    match term:
        case Known(keys=keys, canonical_id=None):
            query.need(alias, query.among(f"{alias}.object_key", keys, indexed_object))
        case Var(name=name) if name in query.stands:
            stand = query.stands[name]
            if isinstance(stand, Value):
                raise NotPushable("a value in the place of an end")
            key = stand.key if isinstance(stand, End) else stand.text
            query.need(alias, f"{alias}.object_key = {key}")
        case Var(name=name):
            query.stands[name] = End(alias)
        case _:
            raise NotPushable("an end by canonical id")


_ADD: Mapping[type[Step], Callable[[Query, Any], None]] = {Filter: _filter, Not: _not, Scan: _scan, Tuple: _tuple}
