"""What both kinds of search share: Assertions, found by the texts of their Propositions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from brain.store.base import ElementId
from brain.store.sight import Claims
from brain.store.sqlite.conditions import integers
from brain.store.sqlite.keys import id_of, known_eid
from brain.times import Seq

Run = Callable[[str, dict[str, Any]], Sequence[tuple[Any, ...]]]


def of_assertions(found: str, at: Seq | None) -> str:
    """A statement over Propositions, `(eid, worth)`, as one over the active Assertions about them."""
    return f"WITH found AS MATERIALIZED ({found}) {_about(at)}"


def claims_about(run: Run, at: Seq | None) -> Claims:
    """How active Assertions are found by their Propositions."""
    statement = f"WITH found (eid, worth) AS (SELECT value, value FROM carray(:owners)) {_about(at)}"

    def claims(owners: Collection[ElementId]) -> Iterator[tuple[ElementId, ElementId]]:
        bound = {"at": at, "owners": integers(known_eid(owner) for owner in owners)}
        for eid, owner in run(statement, bound):
            yield id_of(eid), id_of(owner)

    return claims


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
