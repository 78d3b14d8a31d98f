"""What the one record of a statement holds: rows as one list and, where these are few, the elements they name.

Neo4j's protocol makes a message of every record, and a thousand of these take longer than finding what they say. The
elements come along for whoever looks into them next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from brain.store.base import Element, ElementId, Json
from brain.store.neo4j.keys import KINDS
from brain.store.neo4j.versions import element_of

MOST = 20_000
"""Rows a statement may come to. More are read step by step, in bounded memory."""

MOST_COUNTED = 200_000
"""Rows that a count or groups go through, which Neo4j holds in memory."""

CITED = 64
"""Solutions of a count or a group whose elements are named."""

FEW = 256
"""Rows up to which the elements they name come along."""

_BODIES = (
    "CALL (rows) {{ UNWIND CASE WHEN size(rows) <= $few THEN rows ELSE [] END AS row"
    " UNWIND [{ids}] AS id WITH DISTINCT id"
    " MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = id AND v.from_seq <= $at AND $at < v.to_seq RETURN collect(v.body) AS bodies }}"
)


def bodies(places: Iterable[int]) -> str:
    """A clause that reads the elements named in some places of `rows`, when the rows are few."""
    return _BODIES.format(ids=", ".join(f"row[{place}]" for place in places))


def by_id(found: Iterable[str]) -> dict[ElementId, Element]:
    """The elements whose bodies came along."""
    return {element.id: element for element in map(element_of, found)}


def cell(key: str, elements: Mapping[ElementId, Element]) -> Json:
    """A cell that is an element."""
    return elements.get(key) or ("element", key)


def named(rows: Iterable[Sequence[str]]) -> list[ElementId]:
    """The elements in rows of ids and of keys of Literals, each once."""
    return list(dict.fromkeys(key for row in rows for key in row if key[0] in KINDS))
