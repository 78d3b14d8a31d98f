"""A `Scan` as conditions of SQL: which index serves it, what is bound, and what is left to check in Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from brain.store.base import Element, Json, Kind, Scan
from brain.store.sqlite.conditions import among, among_symbols
from brain.store.sqlite.keys import CODES

_NUMBERS = "('integer', 'real')"

Member = tuple[tuple[str, ...], str | int | float | bool]


@dataclass(slots=True)
class ScanPlan:
    """How a scan is answered.

    index          of `schema._INDEXES`, or empty for the kind's range of the primary key
    where          every condition but the kind's range
    members_where  of these, the conditions on members
    tally_where    conditions on `tally`: its rows are the groups of elements the scan has to look at
    is_tallied     the sum of those rows is the count of the scan
    rest           members whose path SQL cannot spell
    """

    kind: Kind
    index: str = ""
    where: str = "TRUE"
    members_where: str = "TRUE"
    tally_where: str = "kind = :kind"
    is_tallied: bool = False
    bindings: dict[str, Any] = field(default_factory=dict)
    rest: list[Member] = field(default_factory=list)

    def holds(self, element: Element) -> bool:
        """Whether an element meets the conditions of `rest`."""
        return all(_same(_at(element.body, path), value) for path, value in self.rest)


def plan_scan(query: Scan) -> ScanPlan:
    """The plan of a scan; the most selective index that its conditions allow."""
    plan = ScanPlan(query.kind, bindings={"kind": CODES[query.kind]})
    conditions = []
    types = _types(query)
    if types is not None:
        conditions.append(among_symbols("type", types, "types", plan.bindings))
        plan.index = "type"
    if query.states is not None:
        conditions.append(among("state", query.states, "states", plan.bindings))
    plan.tally_where = " AND ".join([plan.tally_where, *conditions])
    plan.is_tallied = not query.members
    for index, column, value in (
        ("name", "name", query.name),
        ("canonical", "canonical_id", query.canonical_id),
        ("key", "key", query.key),
    ):
        if value is not None:
            conditions.append(f"{column} = :{column}")
            plan.bindings[column] = value
            plan.index = index
            plan.is_tallied = False
    if query.statuses is not None:
        conditions.append(among("status", query.statuses, "statuses", plan.bindings))
        plan.is_tallied = False
    members = _members(plan, query.members)
    if members:
        plan.members_where = " AND ".join(members)
    plan.where = " AND ".join([*conditions, *members]) or "TRUE"
    return plan


def _types(query: Scan) -> frozenset[str] | None:
    """What the `type` column may hold: lineages for the kinds that have them, classes for the others."""
    if query.kind in (Kind.CONCEPT, Kind.PROPOSITION):
        own, foreign = query.lineages, query.classes
    else:
        own, foreign = query.classes, query.lineages
    return own if foreign is None else frozenset()


def _members(plan: ScanPlan, members: tuple[Member, ...]) -> list[str]:
    conditions = []
    for number, (path, value) in enumerate(members):
        if any('"' in name or "\\" in name for name in path):
            plan.rest.append((path, value))
            continue
        at, wanted = f":path{number}", f":value{number}"
        plan.bindings[at[1:]] = "$" + "".join(f'."{name}"' for name in path)
        if isinstance(value, bool):
            conditions.append(f"json_type(body, {at}) = {wanted}")
            plan.bindings[wanted[1:]] = "true" if value else "false"
        else:
            has_type = "= 'text'" if isinstance(value, str) else f"IN {_NUMBERS}"
            conditions.append(f"json_type(body, {at}) {has_type} AND json_extract(body, {at}) = {wanted}")
            plan.bindings[wanted[1:]] = value
    return conditions


def _at(value: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def _same(found: Json, wanted: str | int | float | bool) -> bool:
    """JSON's equality: a boolean is no number."""
    return isinstance(found, bool) is isinstance(wanted, bool) and bool(found == wanted)
