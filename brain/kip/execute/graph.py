"""The one way from the executor to the store: batched reads, what was read so far, merges, the deadline."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import cached_property

from brain import errors
from brain.ids import is_element_id
from brain.kip.context import Run
from brain.kip.search import ranking_of, with_likeness
from brain.store.base import Edge, EdgeScan, Element, ElementId, Hit, Json, Scan, SearchQuery, TupleScan
from brain.times import Timestamp

KEPT = 20_000
"""Most elements held in memory between two batches."""


class Survivor(str):
    """An id that was reached by following merges, equal to the plain one.

    Which of the merged elements a variable stands for is open until an element pattern says so: patterns join in any
    order, so `?x {state: "merged"}` and a tuple of ?x agree whichever runs first.
    """

    __slots__ = ()


class Graph:
    """One snapshot as one statement sees it.

    invalid_from  instants at which a projection made on the way stops being current
    ranking       what searches by likeness rank with: the cursor's, else that of the first one that was run
    """

    def __init__(self, run: Run, ranking: Json = None) -> None:
        self.run = run
        self.snapshot = run.snapshot
        self.invalid_from: set[Timestamp] = set()
        self.ranking = ranking
        self._elements: dict[ElementId, Element | None] = {}

    # --- what this caller sees ----------------------------------------------------------------------------------------

    @property
    def sees_everything(self) -> bool:
        """Whether nothing is hidden from the caller, so that the store may run what it can by itself.

        What is hidden the snapshot does not show (`brain/kip/governance/view.py`).
        """
        return self.run.sight is None

    # --- elements -----------------------------------------------------------------------------------------------------

    def load(self, ids: Iterable[ElementId]) -> None:
        """Read all of these at once, those already at hand excepted."""
        missing = {element_id for element_id in ids if element_id not in self._elements}
        if missing:
            self.check_deadline()
            found = self.snapshot.elements(missing)
            self._elements.update((element_id, found.get(element_id)) for element_id in missing)

    def element(self, element_id: ElementId) -> Element | None:
        """An element, or None when there is none to see. Call `load` for a batch first."""
        if element_id not in self._elements:
            self.load((element_id,))
        return self._elements[element_id]

    def keep(self, element: Element) -> Element:
        """Hold an element that was read on the way."""
        self._elements[element.id] = element
        return element

    def forget(self) -> None:
        """Let go of what was read when it has become much; called between batches."""
        if len(self._elements) > KEPT:
            self._elements.clear()

    def scan(self, query: Scan) -> Iterator[Element]:
        """Elements by ascending number."""
        self.check_deadline()
        return map(self.keep, self.snapshot.scan(query))

    def tuples(self, query: TupleScan, *, hops: int = 1) -> list[Element]:
        """Propositions by their stored ends; `hops` says how far they will be followed on, this hop included."""
        self.check_deadline()
        if hops > 1:
            self.snapshot.expect(query, hops=hops)
        return [self.keep(element) for element in self.snapshot.tuples(query)]

    def assertions(self, about: Iterable[ElementId]) -> list[Element]:
        """Assertions about any of these Propositions."""
        self.check_deadline()
        return [self.keep(element) for element in self.snapshot.assertions(frozenset(about))]

    def edges(self, query: EdgeScan) -> list[Edge]:
        """References by their stored ends."""
        self.check_deadline()
        return self.snapshot.edges(query)

    def search(self, query: SearchQuery) -> list[Hit]:
        """Best visible hits."""
        self.check_deadline()
        query = with_likeness(query, self.run, self.ranking)
        self.ranking = self.ranking or ranking_of(query)
        hits = self.snapshot.search(query)
        self.load(hit.id for hit in hits)
        return hits

    # --- merges -------------------------------------------------------------------------------------------------------

    def canonical(self, element_id: ElementId) -> ElementId:
        """Where following merges from this id ends (§11.1)."""
        return self._canonical.get(element_id, element_id)

    def resolved(self, element_id: ElementId) -> ElementId:
        """The same, as what a tuple's or a reference's variable is bound to: an element pattern of the same stretch may
        still mean one of those that were merged into it."""
        survivor = self.canonical(element_id)
        return Survivor(survivor) if survivor in self._merged else survivor

    @property
    def has_merges(self) -> bool:
        return bool(self._canonical)

    def same(self, ids: Iterable[ElementId]) -> set[ElementId]:
        """Every id whose merges end where those of one of these do."""
        if not self._canonical:
            return set(ids)
        found: set[ElementId] = set()
        for element_id in ids:
            survivor = self.canonical(element_id)
            found.add(survivor)
            found.update(self._merged.get(survivor, ()))
        return found

    @cached_property
    def _canonical(self) -> dict[ElementId, ElementId]:
        """Every merged Concept with its survivor."""
        steps = self.snapshot.merges()
        survivors = {}
        for source in steps:
            survivor = source
            while survivor in steps:
                survivor = steps[survivor]
            survivors[source] = survivor
        return survivors

    @cached_property
    def _merged(self) -> dict[ElementId, list[ElementId]]:
        merged: dict[ElementId, list[ElementId]] = {}
        for source, survivor in self._canonical.items():
            merged.setdefault(survivor, []).append(source)
        return merged

    # --- bounds -----------------------------------------------------------------------------------------------------

    def check_held(self, solutions: int) -> None:
        """ResourceExhausted when a query holds more solutions in memory than the engine allows."""
        most = self.run.limits.held_solutions
        if solutions > most:
            raise errors.ResourceExhausted(
                f"The query has more than {most} solutions to hold at once.",
                hint="Narrow its patterns, join them, or add a LIMIT.",
                details={"held_solutions": most},
            )

    def check_deadline(self) -> None:
        """ExecutionTimeout once the operation has run too long; a read has changed nothing and may be sent again."""
        deadline = self.run.deadline_ms
        if deadline is not None and time.monotonic() * 1000 > deadline:
            raise errors.ExecutionTimeout(
                "The deadline passed before the query was answered.", retry=errors.Retry.SAFE_SAME_REQUEST
            )


def element_keys(keys: Iterable[str]) -> set[ElementId]:
    """Those object keys that are element ids."""
    return {key for key in keys if is_element_id(key)}
