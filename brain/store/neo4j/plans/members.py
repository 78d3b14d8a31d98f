"""Members of elements in a statement: the entries of `brain/store/neo4j/members.py`, what type they are, what their
value is, and how both compare with the language's rules (KIP 2.0 §42.5, §44.1, §44.2).

Three values of truth are Cypher's own. Where the language refuses a value, or compares it in a way Cypher does not, the
statement fails, and the caller evaluates the whole plan step by step instead. What may fail is worked out in a clause
of its own: the operands of a condition are judged in any order, and not all of them.
"""

from __future__ import annotations

from typing import Any

from brain.kip import paths
from brain.kip.algebra import Access
from brain.store.neo4j import members
from brain.store.neo4j.members import BOOLEAN, ENTRY, LATE_TEXT, NUMBER, OTHER, TEXT
from brain.store.neo4j.plans.query import NOTHING, End, NotPushable, Query, Row

_COMPUTED = (("_system", "dependency_validity"), ("_system", "recording_validity"))

ANY = frozenset((TEXT, LATE_TEXT, NUMBER, BOOLEAN))
ORDERED = frozenset((TEXT, NUMBER, BOOLEAN))
TEXTS = frozenset((TEXT, LATE_TEXT))


def undecided(query: Query) -> str:
    """An integer that cannot be worked out."""
    return f"1 / {query.constant(NOTHING, 0)}"


def narrow(query: Query, access: Access, wanted: str | float) -> None:
    """Leave out the elements whose member is certain to be another value."""
    version, holder, before = _place(query, access)
    parts = [f"{version}.{holder} CONTAINS {query.bind(part)}" for part in members.like(before, wanted)]
    query.narrow(version, " OR ".join([*parts, f"{version}.{holder} IS NULL"]))


def entry(query: Query, access: Access) -> str:
    """The name of a member as its entry says it, null where there is none.

    raises  NotPushable
    """
    stand = query.stands.get(access.variable)
    if access.steps == ("id",) and isinstance(stand, Row):
        return query.made("m", f"'{TEXT}' + {stand.id}")
    version, holder, before = _place(query, access)
    end = query.constant("entry", ENTRY)
    # An earlier release has written a version that has none.
    held = f"coalesce({version}.{holder}, toString({undecided(query)}))"
    return query.made("m", f"split(split({held}, {query.bind(before)})[1], {end})[0]")


def _place(query: Query, access: Access) -> tuple[str, str, str]:
    """The version that has a member at hand, the property that holds it, and what stands before it there."""
    names: Any = access.steps
    steps, version = access.steps, query.versions.get(access.variable)
    stand = query.stands.get(access.variable)
    if not steps and isinstance(stand, End):
        # A Literal is a member of its Proposition; where it is an element, no statement compares what stands there.
        names, version = ("object",), stand.proposition
    elif not steps or not all(isinstance(name, str) for name in steps) or not paths.is_stored(steps):
        raise NotPushable("what is no stored member")
    if version is None or steps[:2] in _COMPUTED:
        raise NotPushable("an element that is not at hand, or what is computed")
    place = members.place(names)
    if place is None:
        raise NotPushable("a member that no version has by itself")
    return version, *place


def judged(query: Query, access: Access, allowed: frozenset[str] = ANY) -> str:
    """The same, of which is certain that it is null or of these types."""
    found = entry(query, access)
    if access.steps == ("id",):
        return found
    among = ", ".join(f"'{letter}'" for letter in sorted(allowed))
    return query.made(
        "j",
        f"CASE WHEN left({found}, 1) IN [{among}] OR {found} IS NULL THEN {found}"
        f" ELSE toString({undecided(query)}) END",
    )


def number(name: str) -> str:
    return f"toFloat(substring({name}, 1))"


def text(name: str) -> str:
    return f"substring({name}, 1)"


def by_type(name: str, type_: str, then: str, otherwise: str) -> str:
    """`then` for values of one type (a letter), `otherwise` for those of another, null for null."""
    letters = f"'{TEXT}', '{LATE_TEXT}'" if type_ == TEXT else f"'{type_}'"
    return f"CASE WHEN {name} IS NULL THEN null WHEN left({name}, 1) IN [{letters}] THEN {then} ELSE {otherwise} END"


def rank(name: str) -> str:
    """A type's place in the order of values: 0 boolean, 1 number, 2 text; null for null."""
    return (
        f"CASE left({name}, 1) WHEN '{BOOLEAN}' THEN 0 WHEN '{NUMBER}' THEN 1 WHEN '{TEXT}' THEN 2"
        f" WHEN '{LATE_TEXT}' THEN 2 END"
    )


def value(name: str) -> str:
    """What values of one rank are ordered by."""
    return (
        f"CASE left({name}, 1) WHEN '{NUMBER}' THEN {number(name)} WHEN '{BOOLEAN}' THEN {name} = '{BOOLEAN}true'"
        f" ELSE {text(name)} END"
    )


__all__ = ["ANY", "ORDERED", "OTHER", "TEXTS", "by_type", "entry", "judged", "number", "rank", "text", "undecided"]
