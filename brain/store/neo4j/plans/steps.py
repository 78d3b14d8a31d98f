"""Steps of a block as patterns (KIP 2.0 §43): which versions each adds, by which index, under which conditions.

Ends are compared by their ids as stored: where Concepts were merged, plans with ends are not for this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from brain.kip.algebra import Constant, Filter, Known, Lineages, Match, Not, Scan, Step, Term, Tuple, Var
from brain.kip.values import identity
from brain.store.base import Element, Json, Kind
from brain.store.neo4j.keys import indexed, indexed_all
from brain.store.neo4j.plans.expressions import condition
from brain.store.neo4j.plans.query import End, NotPushable, Query, Row, Stand, Test
from brain.store.neo4j.scans import BY_TEXT, member, same, types_of
from brain.store.rows import indexed_object

_REFERENCES: Mapping[tuple[Any, ...], tuple[str, str]] = {
    ("proposition",): ("proposition", "ABOUT"),
    ("asserted_by",): ("actor", "ASSERTED_BY"),
}
"""References of Assertions with a property of the version, and the type of the relationship that finds them."""

_BY_ID = "id, from_seq"


def add(query: Query, step: Step) -> None:
    """One more step, joined to those before it.

    raises  NotPushable
    """
    _ADD.get(type(step), _refuse)(query, step)


def is_known(steps: Sequence[Step]) -> bool:
    """Whether every step is of a kind that can be joined; a quick look before anything is built."""
    return all(type(step) in _ADD and (not isinstance(step, Not) or is_known(step.block.steps)) for step in steps)


def size(steps: Sequence[Step]) -> int:
    """How many steps these are, those within a NOT too."""
    return sum(1 + size(step.block.steps) if isinstance(step, Not) else 1 for step in steps)


def names_others(step: Step) -> bool:
    """Whether an element comes with others that it refers to."""
    return isinstance(step, Tuple) or (isinstance(step, Scan) and any(match.edges for match in step.matches))


def _refuse(_: Query, step: Step) -> None:
    raise NotPushable(type(step).__name__)


def _filter(query: Query, step: Filter) -> None:
    query.keep(condition(query, step.condition))


def _not(query: Query, step: Not) -> None:
    inner = query.inner()
    for part in step.block.steps:
        add(inner, part)
    query.keep_without(inner)


# --- elements ---------------------------------------------------------------------------------------------------------


def _scan(query: Query, step: Scan) -> None:
    bound = query.stands.get(step.variable)
    references = [match for match in step.matches if match.holds == "reference"]
    given = [match for match in references if _is_given(query, match)]
    for match in references:
        if match.path not in _REFERENCES or step.conditions.kind is not Kind.ASSERTION:
            raise NotPushable("a reference that versions do not have")
    query.compares_ends |= bool(references)
    version = query.version()
    is_found_by_conditions = bound is None and step.ids is None and not given
    conditions = list(_conditions(query, f"{version}.", step, is_open=is_found_by_conditions and not _has_text(step)))
    if bound is not None:
        index, first = _BY_ID, [f"{version}.id = {bound.id}"]
    elif step.ids is not None:
        index, first = _BY_ID, []
    elif given:
        index, first = _by_reference(query, version, given)
    else:
        index, first = _by_conditions(query, version, step)
    query.stands[step.variable] = Row(f"{version}.id")
    query.versions[step.variable] = version
    ends = [one for match in references for one in _reference(query, version, match)]
    query.match(version, index, [*first, *conditions, *ends])
    tests = [*_tests(step, is_found_by_conditions=is_found_by_conditions)]
    query.tests += [(version, test) for test in tests]


def _by_reference(query: Query, version: str, given: list[Match]) -> tuple[str, list[str]]:
    """The index of the Assertions that refer to something, and what else it needs."""
    by = {match.path: match for match in given}
    if ("proposition",) in by:
        return "proposition", []
    path, match = next(iter(by.items()))
    relationship, source = f"r{version[1:]}", f"s{version[1:]}"
    type_ = _REFERENCES[path][1]
    target = _is_end(query, f"{relationship}.target", match.value)
    query.clauses.append(
        f"MATCH ({source}:Element)-[{relationship}:{type_}]->() USING INDEX SEEK {relationship}:{type_}(space, target)"
        f" WHERE {relationship}.space = $space AND {target}"
        f" AND {relationship}.from_seq <= $at AND $at < {relationship}.to_seq"
    )
    query.follow([f"{source}.id AS {source}_id"])
    return _BY_ID, [f"{version}.id = {source}_id"]


def _by_conditions(query: Query, version: str, step: Scan) -> tuple[str, list[str]]:
    """The index of elements that nothing before leads to, and what it needs beside the conditions."""
    conditions = step.conditions
    for name, index in BY_TEXT.items():
        if getattr(conditions, name) is not None:
            return index, [f"{version}.type IS NOT NULL"] if name == "key" and types_of(conditions) is None else []
    if query.is_joined:
        raise NotPushable("every row with every element")
    types = types_of(conditions)
    if types is None or len(types) == 1:
        query.runs_by = f"{version}.space, {version}.{'kind' if types is None else 'type'}, {version}.number"
    if conditions.members or any(match.holds != "reference" for match in step.matches):
        raise NotPushable("most of what is read is thrown away")
    return f"{'kind' if types is None else 'type'}, number", [f"{version}.number IS NOT NULL"]


def _is_given(query: Query, match: Match) -> bool:
    return isinstance(match.value, Known) or (isinstance(match.value, Var) and match.value.name in query.stands)


def _has_text(step: Scan) -> bool:
    return any(getattr(step.conditions, name) is not None for name in BY_TEXT)


def _conditions(query: Query, version: str, step: Scan, *, is_open: bool) -> Iterator[str]:
    """What the properties of a version have to meet; `version` is its name with a dot.

    is_open  it is found by its type alone: an index sorts by itself what has one, and only when that is an equality
    """
    conditions = step.conditions
    yield f"{version}kind = {query.bind(conditions.kind.value)}"
    if step.ids is not None:
        yield query.among(f"{version}id", step.ids)
    types = types_of(conditions)
    if types is not None and len(types) == 1 and is_open:
        yield f"{version}type = {query.bind(types[0])}"
    elif types is not None:
        yield query.among(f"{version}type", types)
    if conditions.states is not None:
        yield query.among(f"{version}state", conditions.states)
    for name in BY_TEXT:
        if (text := getattr(conditions, name)) is not None:
            yield f"{version}{name} = {query.bind(indexed(text))}"
    if conditions.statuses is not None:
        yield query.among(f"{version}status", conditions.statuses)


def _reference(query: Query, version: str, match: Match) -> Iterator[str]:
    column = f"{version}.{_REFERENCES[match.path][0]}"
    yield _end(query, column, match.value)


def _tests(step: Scan, *, is_found_by_conditions: bool) -> Iterator[Test]:
    """What only the body tells. A store's own scan compares texts as they are, a pattern in composed form."""
    equal = same if is_found_by_conditions else _equal
    for path, value in step.conditions.members:
        yield _member_test(path, value, equal)
    yield from map(_match_test, _members(step))


def _members(step: Scan) -> Iterator[Match]:
    for match in step.matches:
        if match.holds == "reference":
            continue
        if match.holds != "value" or not all(isinstance(part, str) for part in match.path):
            raise NotPushable("a member under a symbol")
        if not isinstance(match.value, Constant):
            raise NotPushable("a member that binds")
        yield match


def _member_test(path: tuple[str, ...], wanted: Any, equal: Callable[[Json, Any], bool]) -> Test:
    return lambda element: equal(member(element.body, path), wanted)


def _match_test(match: Match) -> Test:
    *above, last = match.path
    wanted = match.value.value if isinstance(match.value, Constant) else None
    path: Any = tuple(above)

    def test(element: Element) -> bool:
        holder = member(element.body, path)
        return isinstance(holder, Mapping) and last in holder and _equal(holder[last], wanted)

    return test


def _equal(left: Json, right: Json) -> bool:
    return identity(left) == identity(right)


# --- tuples -----------------------------------------------------------------------------------------------------------


def _tuple(query: Query, step: Tuple) -> None:
    if not isinstance(step.predicate, Lineages):
        raise NotPushable("a variable predicate")
    query.compares_ends = True
    version = query.version()
    bound = query.stands.get(step.proposition)
    conditions = [
        f"{version}.kind = {query.bind(Kind.PROPOSITION.value)}",
        query.among(f"{version}.type", indexed_all(step.predicate.lineages)),
        query.among(f"{version}.state", {"active"}),
    ]
    if bound is not None:
        index = _BY_ID
        conditions.append(f"{version}.id = {bound.id}")
    else:
        index = _tuple_index(query, step)
    query.stands[step.proposition] = Row(f"{version}.id")
    query.versions[step.proposition] = version
    conditions.append(_end(query, f"{version}.subject", step.subject))
    conditions.append(_object(query, version, step.object))
    if index == _BY_TYPE:
        conditions.append(f"{version}.number IS NOT NULL")
    query.match(version, index, conditions)


def _tuple_index(query: Query, step: Tuple) -> str:
    for end, index in ((step.subject, _BY_SUBJECT), (step.object, _BY_OBJECT)):
        if isinstance(end, Known) or end.name in query.stands:
            return index
    if query.is_joined:
        raise NotPushable("every row with every tuple")
    return _BY_TYPE


_BY_SUBJECT, _BY_OBJECT, _BY_TYPE = "subject, type, object_key", "object_key, type", "type, number"


def _end(query: Query, column: str, term: Term | object) -> str:
    """The condition on an end that can only be an element, which a free variable then stands for."""
    if isinstance(term, Var) and term.name not in query.stands:
        query.stands[term.name] = Row(column)
        return f"{column} IS NOT NULL"
    return _is_end(query, column, term)


def _is_end(query: Query, column: str, term: Term | object) -> str:
    match term:
        case Known(keys=keys, canonical_id=None):
            return query.among(column, keys)
        case Var(name=name):
            return f"{column} = {query.stands[name].id}"
    raise NotPushable("an end by canonical id")


def _object(query: Query, version: str, term: Term) -> str:
    column = f"{version}.object_key"
    match term:
        case Known(keys=keys, canonical_id=None):
            return query.among(column, {indexed_object(key) for key in keys})
        case Var(name=name) if name in query.stands:
            return f"{column} = {query.stands[name].id}"
        case Var(name=name):
            stand: Stand = End(column, version)
            query.stands[name] = stand
            return f"{column} IS NOT NULL"
    raise NotPushable("an end by canonical id")


_ADD: Mapping[type[Step], Callable[[Query, Any], None]] = {Filter: _filter, Not: _not, Scan: _scan, Tuple: _tuple}
