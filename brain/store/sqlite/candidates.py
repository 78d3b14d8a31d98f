"""What both kinds of search share: whose texts they look at, Assertions, and what a caller may see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from brain.store.base import Element, ElementId, Hit, Kind, SearchQuery
from brain.store.sqlite.conditions import integers
from brain.store.sqlite.keys import id_of
from brain.times import Seq

Run = Callable[[str, dict[str, Any]], Sequence[tuple[Any, ...]]]
Load = Callable[[Collection[ElementId]], Mapping[ElementId, Element]]

_READ = 500
"""Elements read at a time to ask whether a caller sees them."""


def texts_of(kind: Kind) -> Kind:
    """The kind whose texts a search looks at: an Assertion is found by its Proposition."""
    return Kind.PROPOSITION if kind is Kind.ASSERTION else kind


def of_assertions(found: str, at: Seq | None) -> str:
    """A statement over Propositions, `(eid, worth)`, as one over the active Assertions about them."""
    return f"WITH found AS MATERIALIZED ({found}) {_about(at)}"


class Sight:
    """What one caller sees; each element is read and judged once."""

    def __init__(self, load: Load, visible: Callable[[Element], bool]) -> None:
        self._load = load
        self._visible = visible
        self._verdicts: dict[int, bool] = {}

    def of(self, eids: Collection[int]) -> set[int]:
        """Those of these elements that are visible."""
        unread = [eid for eid in eids if eid not in self._verdicts]
        for start in range(0, len(unread), _READ):
            part = {eid: id_of(eid) for eid in unread[start : start + _READ]}
            elements = self._load(part.values())
            for eid, element_id in part.items():
                self._verdicts[eid] = element_id in elements and self._visible(elements[element_id])
        return {eid for eid in eids if self._verdicts[eid]}


def visible_hits(
    run: Run, sight: Sight, query: SearchQuery, at: Seq | None, found: Sequence[tuple[int, float]]
) -> list[Hit]:
    """The best hits a caller sees, out of every owner of a text that was found, with its score, the best first."""
    hits: list[tuple[float, int]] = []
    for start in range(0, len(found), _READ):
        end = start + _READ
        part = dict(found[start:end])
        scores = {eid: part[eid] for eid in sight.of(part)}
        if query.kind is Kind.ASSERTION:
            about = run(
                f"WITH found (eid, worth) AS (SELECT value, value FROM carray(:owners)) {_about(at)}",
                {"at": at, "owners": integers(scores)},
            )
            claims = sight.of([eid for eid, _ in about])
            scores = {eid: scores[owner] for eid, owner in about if eid in claims}
        hits += [(-score, eid) for eid, score in scores.items()]
        # Equal scores may still follow; what scores less comes before nothing that is here.
        if len(hits) >= query.limit and end < len(found) and found[end][1] < found[end - 1][1]:
            break
    return [Hit(id_of(eid), -score) for score, eid in sorted(hits)[: query.limit]]


def _about(at: Seq | None) -> str:
    selected = "SELECT element.eid AS eid, found.worth AS worth FROM found CROSS JOIN"
    joined = "ON element.proposition = found.eid WHERE element.state = 'active'"
    statement = f"{selected} element INDEXED BY element_proposition {joined}"
    if at is None:
        return statement
    return (
        f"{statement} AND element.from_seq <= :at UNION ALL {selected} past AS element INDEXED BY past_proposition"
        f" {joined} AND element.from_seq <= :at AND element.to_seq > :at"
    )
