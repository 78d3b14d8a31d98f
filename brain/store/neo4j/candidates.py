"""What both kinds of search share: whose texts they look at, Assertions, and what a caller may see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from brain.store.base import Element, ElementId, Hit, Kind, SearchQuery
from brain.store.neo4j.connection import Row
from brain.store.neo4j.keys import place_of

Load = Callable[[Collection[ElementId]], Mapping[ElementId, Element]]


class Run(Protocol):
    """Runs a statement about the graph, `$space` bound for it."""

    def __call__(self, statement: str, **parameters: Any) -> list[Row]: ...


_READ = 500
"""Elements read at a time to ask whether a caller sees them."""

_ABOUT = (
    "MATCH (v:Version) USING INDEX v:Version(space, proposition)"
    " WHERE v.space = $space AND v.proposition IN $owners AND v.state = 'active'"
    " AND v.from_seq <= $at AND $at < v.to_seq RETURN v.id, v.proposition"
)


def texts_of(kind: Kind) -> Kind:
    """The kind whose texts a search looks at: an Assertion is found by its Proposition."""
    return Kind.PROPOSITION if kind is Kind.ASSERTION else kind


def best(query: SearchQuery) -> str:
    """The end of a statement that has `number` and `worth` of the owners of texts: the best hits asked for."""
    if query.kind is not Kind.ASSERTION:
        return (
            " WITH number, worth WHERE worth >= $least"
            f" RETURN '{texts_of(query.kind).letter}-' + toString(number), worth"
            " ORDER BY worth DESC, number LIMIT $limit"
        )
    return (
        " WITH number, worth WHERE worth >= $least"
        " MATCH (v:Version) USING INDEX v:Version(space, proposition)"
        " WHERE v.space = $space AND v.proposition = 'P-' + toString(number) AND v.state = 'active'"
        " AND v.from_seq <= $at AND $at < v.to_seq RETURN v.id, worth ORDER BY worth DESC, v.number LIMIT $limit"
    )


class Sight:
    """What one caller sees; each element is read and judged once."""

    def __init__(self, load: Load, visible: Callable[[Element], bool]) -> None:
        self._load = load
        self._visible = visible
        self._verdicts: dict[ElementId, bool] = {}

    def of(self, ids: Collection[ElementId]) -> set[ElementId]:
        """Those of these elements that are visible."""
        unread = [element_id for element_id in ids if element_id not in self._verdicts]
        for start in range(0, len(unread), _READ):
            part = unread[start : start + _READ]
            elements = self._load(part)
            for element_id in part:
                self._verdicts[element_id] = element_id in elements and self._visible(elements[element_id])
        return {element_id for element_id in ids if self._verdicts[element_id]}


def visible_hits(
    run: Run, sight: Sight, query: SearchQuery, at: int, found: Sequence[tuple[ElementId, float]]
) -> list[Hit]:
    """The best hits a caller sees, out of every owner of a text that was found, with its score, the best first."""
    hits: list[Hit] = []
    for start in range(0, len(found), _READ):
        end = start + _READ
        part = dict(found[start:end])
        scores = {element_id: part[element_id] for element_id in sight.of(part)}
        if query.kind is Kind.ASSERTION:
            about = run(_ABOUT, owners=sorted(scores), at=at)
            claims = sight.of([claim for claim, _ in about])
            scores = {claim: scores[owner] for claim, owner in about if claim in claims}
        hits += [Hit(element_id, score) for element_id, score in scores.items()]
        # Equal scores may still follow; what scores less comes before nothing that is here.
        if len(hits) >= query.limit and end < len(found) and found[end][1] < found[end - 1][1]:
            break
    return sorted(hits, key=lambda hit: (-hit.score, place_of(hit.id)))[: query.limit]
