"""Statements of a Group that only counts, and has no keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brain.kip.algebra import Group
from brain.store.base import Json, Undecided
from brain.store.neo4j.plans import record
from brain.store.neo4j.plans.query import End, NotPushable, Query


@dataclass(frozen=True, slots=True)
class Count:
    """The statement of a Group without keys."""

    text: str
    parameters: dict[str, Any]
    compares_ends: bool
    may_fail: bool

    def rows(self, found: Any) -> Iterator[tuple[Json, ...]]:
        met, *counts, named = found
        if met > record.MOST_COUNTED:
            raise Undecided
        yield (*counts, record.named(named))


def count(query: Query, plan: Group) -> Count:
    """How many distinct solutions there are, or distinct bindings of one variable in them: nothing of what it holds."""
    if query.tests:
        raise NotPushable("solutions of which bodies tell")
    names = plan.source.variables
    stands = {name: query.stands[name] for name in (*names, *query.stands)}
    visible = list(dict.fromkeys(stands[name].id for name in names))
    hidden = [id_ for id_ in dict.fromkeys(stand.id for stand in stands.values()) if id_ not in visible]
    counted = []
    for aggregate in plan.aggregates:
        stand = stands[aggregate.argument.variable]
        value = f"nullif({stand.id}, 'null')" if isinstance(stand, End) else stand.id
        counted.append(f"count({'DISTINCT ' * aggregate.distinct}{value})")
    if not visible:
        raise NotPushable("nothing that tells solutions apart")
    solution = ", ".join([*visible, *hidden])
    carried = [*visible, *(f"head(collect({id_})) AS {id_}" for id_ in hidden)]
    text = " ".join(
        [
            *query.clauses,
            f"WITH {solution} LIMIT $most",
            f"WITH {', '.join([*carried, 'count(*) AS ways'])}",
            f"RETURN [coalesce(sum(ways), 0), {', '.join(counted)}, collect([{solution}])[..$cited]] AS found",
        ]
    )
    parameters = query.parameters | {"most": record.MOST_COUNTED + 1, "cited": record.CITED}
    return Count(text, parameters, query.compares_ends, query.may_fail)
