"""A `TupleScan` as a pattern."""

from __future__ import annotations

from typing import Any

from brain.store.base import TupleScan
from brain.store.neo4j.keys import indexed_all
from brain.store.neo4j.scans import HOLDS
from brain.store.rows import indexed_object

_MOST_EXACT = 500
"""Look-ups of single tuples that are done rather than one of everything at an end."""


def pattern_of(query: TupleScan) -> tuple[str, dict[str, Any]] | None:
    """The pattern of the versions `v` that a scan asks for, and its parameters; None when nothing meets it."""
    wanted = (query.subjects, query.predicates, query.objects, query.pairs, query.states)
    if any(values is not None and not values for values in wanted):
        return None
    conditions: list[str] = [HOLDS]
    parameters: dict[str, Any] = {}
    if query.subjects is not None:
        conditions.append("v.subject IN $subjects")
        parameters["subjects"] = sorted(query.subjects)
    if query.predicates is not None:
        conditions.append("v.type IN $types")
        parameters["types"] = indexed_all(query.predicates)
    if query.objects is not None:
        conditions.append("v.object_key IN $objects")
        parameters["objects"] = sorted({indexed_object(key) for key in query.objects})
    if query.states is not None:
        conditions.append("v.state IN $states")
        parameters["states"] = sorted(query.states)
    first = ""
    if query.pairs is not None:
        first = "UNWIND $pairs AS pair "
        conditions += ["v.subject = pair[0]", "v.object_key = pair[1]", "v.type IS NOT NULL"]
        parameters["pairs"] = sorted([subject, indexed_object(key)] for subject, key in query.pairs)
        index = "space, subject, type, object_key"
    elif query.subjects is not None and (
        query.objects is None or _is_exact(query) or len(query.subjects) <= len(query.objects)
    ):
        index = "space, subject, type, object_key"
        conditions += ["v.type IS NOT NULL", "v.object_key IS NOT NULL"]
    elif query.objects is not None:
        index = "space, object_key, type"
        conditions.append("v.type IS NOT NULL")
    elif query.predicates is not None:
        index = "space, type, number"
        conditions += ["v.number IS NOT NULL", "v.kind = 'proposition'"]
    else:
        index = "space, kind, number"
        conditions += ["v.kind = 'proposition'", "v.number IS NOT NULL"]
    where = " AND ".join(["v.space = $space", *conditions])
    return f"{first}MATCH (v:Version) USING INDEX SEEK v:Version({index}) WHERE {where}", parameters


def _is_exact(query: TupleScan) -> bool:
    """Whether every tuple asked for can be looked up by all of it, however many others its ends have."""
    if query.subjects is None or query.predicates is None or query.objects is None:
        return False
    return len(query.subjects) * len(query.predicates) * len(query.objects) <= _MOST_EXACT
