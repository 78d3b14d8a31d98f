"""The elements a transaction has to do with: as it found them, as it has sent them, and as they are to be sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from brain.store import rows
from brain.store.base import Element, ElementId
from brain.store.neo4j import passages
from brain.store.neo4j.changes import Changes
from brain.times import Seq


@dataclass(frozen=True, slots=True)
class _Held:
    """An element's version as the transaction found it, and the sequence that wrote it."""

    since: Seq
    element: Element


class Pending:
    """
    totals       of the Space, as `Head` has them, with what is written here
    has_merged   whether what is written here changes which Concepts are merged
    """

    def __init__(self, totals: Mapping[str, Mapping[str, int]]) -> None:
        self.totals = {name: dict(of_kind) for name, of_kind in totals.items()}
        self.has_merged = False
        self._held: dict[ElementId, _Held | None] = {}
        self._sent: dict[ElementId, Element] = {}
        self._unsent: dict[ElementId, Element] = {}

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def unknown(self, ids: Collection[ElementId]) -> list[ElementId]:
        """Which of these have to be read before they are asked for or written."""
        return sorted({element_id for element_id in ids if element_id not in self._held})

    def learn(self, ids: Iterable[ElementId], found: Iterable[tuple[Seq, Element]] = ()) -> None:
        """What was found of these, with the sequence that wrote it; what was not is not there."""
        self._held.update(dict.fromkeys(ids))
        for since, element in found:
            self._held[element.id] = _Held(since, element)

    def present(self, element_id: ElementId) -> Element | None:
        """An element as it is now; it has to be known."""
        element = self._unsent.get(element_id) or self._sent.get(element_id)
        if element is not None:
            return element
        held = self._held.get(element_id)
        return None if held is None else held.element

    def put(self, element: Element) -> bool:
        """Write an element, which has to be known; whether it is new."""
        before = self.present(element.id)
        self._count(before, element)
        self._unsent[element.id] = element
        return before is None

    def send(self, changes: Changes) -> None:
        """Add to the rows what is not sent yet, which it is then."""
        for element_id, element in self._unsent.items():
            held, sent = self._held[element_id], self._sent.get(element_id)
            changes.add(
                element,
                sent or (held.element if held else None),
                since=held.since if held else None,
                is_sent=sent is not None,
            )
            self._sent[element_id] = element
        self._unsent = {}

    def _count(self, before: Element | None, after: Element) -> None:
        """Keep the totals, and notice a merge."""
        for one, change in ((before, -1), (after, 1)):
            if one is None:
                continue
            letter = one.id[0]
            if one.state == "active":
                self._add("active", letter, change)
            by = passages.found_by(one)
            if by is not None:
                self._add("texts", letter, change)
                self._add("terms", letter, change * passages.size(by))
        merged = {None if one is None else rows.columns(one).merged_into for one in (before, after)}
        self.has_merged = self.has_merged or len(merged) > 1

    def _add(self, name: str, letter: str, change: int) -> None:
        of_kind = self.totals.setdefault(name, {})
        of_kind[letter] = of_kind.get(letter, 0) + change
