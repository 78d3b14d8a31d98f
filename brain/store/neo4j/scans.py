"""A `Scan` as one statement, and what is left of it to check in Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from brain.store.base import Element, Json, Kind, Scan
from brain.store.neo4j.keys import indexed, indexed_all

HOLDS = "v.from_seq <= $at AND $at < v.to_seq"
"""That a version `v` holds at the snapshot."""


@dataclass(slots=True)
class ScanPlan:
    """How a scan is answered.

    match         the versions looked at, from an index; with `by_type`, those of one `$type`
    where         further conditions
    order         what sorts them by number: all columns of the index, where the index does it by itself
    by_type       the types to look through one by one, or None; each is a range in order of number
    is_by_text    they are found by a text, so they are few
    is_tallied    the sum of the tallies of these types and states is the count of the scan
    """

    kind: Kind
    match: str
    where: str
    order: str
    by_type: list[str] | None
    is_by_text: bool
    is_tallied: bool
    parameters: dict[str, Any] = field(default_factory=dict)
    members: tuple[tuple[tuple[str, ...], str | int | float | bool], ...] = ()

    @property
    def page(self) -> str:
        """A statement of the numbers and bodies past number `$after`, `$limit` of them in one list."""
        if self.by_type is None:
            return f"{self.found} RETURN collect([v.number, v.body]) AS found"
        versions = f"{self.match} AND v.number > $after AND {self.where}"
        return (
            f"UNWIND $types AS type CALL (type) {{ {versions} RETURN v AS one ORDER BY {self.order} LIMIT $limit }}"
            " WITH one ORDER BY one.number LIMIT $limit RETURN collect([one.number, one.body]) AS found"
        )

    @property
    def found(self) -> str:
        """The same versions `v` in order, where there are no types to look through one by one."""
        return f"{self.match} AND v.number > $after AND {self.where} WITH v ORDER BY {self.order} LIMIT $limit"

    @property
    def total(self) -> str:
        """A statement of how many there are past number `$after`."""
        versions = f"{self.match} AND v.number > $after AND {self.where}"
        return f"{'UNWIND $types AS type ' if self.by_type else ''}{versions} RETURN count(v) AS found"

    def holds(self, element: Element) -> bool:
        """Whether the members of an element are the ones asked for."""
        return all(same(member(element.body, path), value) for path, value in self.members)


def plan_scan(query: Scan) -> ScanPlan | None:
    """The plan of a scan, by the most selective index that its conditions allow; None when nothing meets them."""
    types = types_of(query)
    if types == [] or query.states == frozenset() or query.statuses == frozenset():
        return None
    conditions = ["v.kind = $kind", HOLDS]
    parameters: dict[str, Any] = {"kind": query.kind.value}
    if query.states is not None:
        conditions.append("v.state IN $states")
        parameters["states"] = sorted(query.states)
    if query.statuses is not None:
        conditions.append("v.status IN $statuses")
        parameters["statuses"] = sorted(query.statuses)
    by_text = [
        (name, text)
        for name, text in (("key", query.key), ("canonical_id", query.canonical_id), ("name", query.name))
        if text is not None
    ]
    for name, text in by_text:
        parameters[name] = indexed(text)
        conditions.append(f"v.{name} = ${name}")
    by_type = None
    if by_text:
        name = by_text[0][0]
        condition = f"v.{name} = ${name}" + (" AND v.type IS NOT NULL" if name == "key" else "")
        match = (
            f"MATCH (v:Version) USING INDEX v:Version(space, {BY_TEXT[name]}) WHERE v.space = $space AND {condition}"
        )
        order = "v.number"
        if types is not None:
            conditions.append("v.type IN $types")
            parameters["types"] = types
    elif types is not None:
        order = "v.space, v.type, v.number"
        match = "MATCH (v:Version) USING INDEX v:Version(space, type, number) WHERE v.space = $space AND v.type = type"
        parameters["types"] = by_type = types
    else:
        order = "v.space, v.kind, v.number"
        match = "MATCH (v:Version) USING INDEX v:Version(space, kind, number) WHERE v.space = $space AND v.kind = $kind"
    is_tallied = not (by_text or query.statuses is not None or query.members)
    return ScanPlan(
        query.kind,
        match,
        " AND ".join(conditions),
        order,
        by_type,
        bool(by_text),
        is_tallied,
        parameters,
        query.members,
    )


BY_TEXT = {"key": "key, type", "canonical_id": "canonical_id", "name": "name"}
"""Texts that elements are found by, each with its index (behind the Space), the most selective first."""


def types_of(query: Scan) -> list[str] | None:
    """What the `type` of a version may be: lineages for the kinds that have them, classes for the others."""
    if query.kind in (Kind.CONCEPT, Kind.PROPOSITION):
        own, foreign = query.lineages, query.classes
    else:
        own, foreign = query.classes, query.lineages
    if foreign is not None:
        return []
    return None if own is None else indexed_all(own)


def member(value: Json, path: tuple[str, ...]) -> Json:
    """What a path leads to, None where it leads nowhere."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def same(found: Json, wanted: str | int | float | bool) -> bool:
    """JSON's equality: a boolean is no number."""
    return isinstance(found, bool) is isinstance(wanted, bool) and bool(found == wanted)
