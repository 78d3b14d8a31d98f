"""What both kinds of search share: how the best hits end a statement, and Assertions, found by their Propositions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from brain.store.base import ElementId, Kind, SearchQuery
from brain.store.neo4j.connection import Row
from brain.store.search import texts_of
from brain.store.sight import Claims


class Run(Protocol):
    """Runs a statement about the graph, `$space` bound for it."""

    def __call__(self, statement: str, **parameters: Any) -> list[Row]: ...


class Value(Protocol):
    """Runs a statement about the graph that gives one value as `found`; `$space` and `$at` are bound for it."""

    def __call__(self, statement: str, **parameters: Any) -> Any: ...


_ABOUT = (
    "MATCH (v:Version) USING INDEX v:Version(space, proposition)"
    " WHERE v.space = $space AND v.proposition IN $owners AND v.state = 'active'"
    " AND v.from_seq <= $at AND $at < v.to_seq RETURN v.id, v.proposition"
)


def best(query: SearchQuery) -> str:
    """The end of a pattern that has `number` and `worth` of the owners of texts: `id` and `worth` of the best hits, in
    order."""
    if query.kind is not Kind.ASSERTION:
        return (
            " WITH number, worth WHERE worth >= $least"
            f" WITH '{texts_of(query.kind).letter}-' + toString(number) AS id, number, worth"
            " ORDER BY worth DESC, number LIMIT $limit"
        )
    return (
        " WITH number, worth WHERE worth >= $least"
        " MATCH (v:Version) USING INDEX v:Version(space, proposition)"
        " WHERE v.space = $space AND v.proposition = 'P-' + toString(number) AND v.state = 'active'"
        " AND v.from_seq <= $at AND $at < v.to_seq WITH v.id AS id, v.number AS number, worth"
        " ORDER BY worth DESC, number LIMIT $limit"
    )


def claims_about(run: Run, at: int) -> Claims:
    """How active Assertions are found by their Propositions."""

    def claims(owners: Collection[ElementId]) -> list[tuple[ElementId, ElementId]]:
        return [(claim, owner) for claim, owner in run(_ABOUT, owners=sorted(owners), at=at)]

    return claims
