"""Does an element meet a pattern, and what does the pattern bind from it? (KIP 2.0 §43.1)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from brain.ids import lineage_of
from brain.kip import paths
from brain.kip.algebra import Constant, Known, Match, MatchItems, MatchMembers, MatchValue, Var
from brain.kip.execute.bindings import Binding, Datum, Row, end_key
from brain.kip.execute.frame import Frame
from brain.kip.values import identity
from brain.store.base import Element, Json, Kind
from brain.store.base import Scan as Conditions

_MISSING = object()


def meets(element: Element, conditions: Conditions) -> bool:
    """The store's conditions, for an element that came another way than by a scan."""
    body = element.body
    if element.kind is not conditions.kind:
        return False
    if conditions.states is not None and element.state not in conditions.states:
        return False
    if conditions.lineages is not None:
        ref = body.get("schema_ref" if element.kind is Kind.CONCEPT else "predicate_ref")
        if ref is None or lineage_of(ref) not in conditions.lineages:
            return False
    for name in ("key", "name", "canonical_id"):
        wanted = getattr(conditions, name)
        if wanted is not None and body.get(name) != wanted:
            return False
    if conditions.classes is not None and _class(body) not in conditions.classes:
        return False
    if conditions.statuses is not None and _status(body) not in conditions.statuses:
        return False
    return all(_equal(paths.follow(body, path), value) for path, value in conditions.members)


def extend(row: Row, element: Element, matches: tuple[Match, ...], frame: Frame) -> Iterator[Row]:
    """The row with what the matches bind; none when one does not agree, several when a list of references fans out.

    The row itself is handed on when nothing is bound.
    """
    if not matches:
        yield row
        return
    first, rest = matches[0], matches[1:]
    for extended in _agree(row, element, first, frame):
        yield from extend(extended, element, rest, frame)


def bindings(element: Element, match: Match, frame: Frame) -> Iterator[Binding]:
    """Everything a variable could bind at a match's member."""
    found = _at(element.body, match)
    if found is _MISSING:
        return
    if match.holds == "reference":
        for target in references(found):
            yield frame.graph.resolved(target)
    elif match.holds == "symbol":
        yield frame.symbol(str(found), "concept_type")
    else:
        yield Datum(found)


def references(value: Json) -> Iterator[str]:
    """The ids a reference or a list of references names."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, Mapping) and isinstance(item.get("id"), str):
            yield item["id"]


def _agree(row: Row, element: Element, match: Match, frame: Frame) -> Iterator[Row]:
    value = match.value
    if isinstance(value, Var):
        yield from _bind(row, frame.cells[value.name], list(dict.fromkeys(bindings(element, match, frame))), frame)
    elif isinstance(value, Known):
        wanted = frame.graph.same(value.keys)
        found = _at(element.body, match)
        if found is not _MISSING and any(target in wanted for target in references(found)):
            yield row
    else:
        found = _at(element.body, match)
        if found is not _MISSING:
            yield from _fit(row, found, value, frame)


def _bind(row: Row, place: int, options: list[Binding], frame: Frame) -> Iterator[Row]:
    bound = row[place]
    if bound is None:
        for option in options:
            extended = row.copy()
            extended[place] = option
            yield extended
    elif any(same_binding(bound, option, frame) for option in options):
        yield row


def same_binding(left: Binding, right: Binding, frame: Frame) -> bool:
    """Whether two bindings join: equal ones, and elements that merges lead to the same survivor."""
    if isinstance(left, str) and isinstance(right, str):
        return left == right or frame.graph.canonical(left) == frame.graph.canonical(right)
    return left == right


def _fit(row: Row, found: Json, value: MatchValue, frame: Frame) -> Iterator[Row]:
    """A value against a constant, a list or an object of a pattern."""
    match value:
        case Constant(value=wanted):
            if _equal(found, wanted):
                yield row
        case Var(name=name):
            yield from _bind(row, frame.cells[name], [Datum(found)], frame)
        case MatchItems(items=items):
            if isinstance(found, list) and len(found) == len(items):
                yield from _fit_all(row, list(zip(found, items, strict=True)), frame)
        case MatchMembers(members=members):
            if isinstance(found, Mapping) and all(_at(found, member) is not _MISSING for member in members):
                yield from _fit_all(row, [(_at(found, member), member.value) for member in members], frame)
        case Known(keys=keys):
            if end_key(Datum(found)) in keys:
                yield row


def _fit_all(row: Row, pairs: list[tuple[Json, MatchValue]], frame: Frame) -> Iterator[Row]:
    if not pairs:
        yield row
        return
    (found, value), rest = pairs[0], pairs[1:]
    for extended in _fit(row, found, value, frame):
        yield from _fit_all(extended, rest, frame)


def _at(body: Json, match: Match) -> Json:
    """The member a match looks at, told apart from an explicit null."""
    value = body
    for step in match.path:
        if not isinstance(value, Mapping):
            return _MISSING
        if isinstance(step, str):
            value = value.get(step, _MISSING)
        else:
            value = paths.named(value, step)
            value = _MISSING if value is None else value
        if value is _MISSING:
            return _MISSING
    return value


def _class(body: Mapping[str, Json]) -> Json:
    return body.get("evidence_class", body.get("activity_class"))


def _status(body: Mapping[str, Json]) -> Json:
    return body.get("status") or (body.get("lifecycle") or {}).get("status")


def _equal(left: Json, right: Json) -> bool:
    return identity(left) == identity(right)
