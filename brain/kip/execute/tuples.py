"""Tuples of one hop (KIP 2.0 §43.2, §43.3): index joins over whole batches, ends compared after following merges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from brain.ids import lineage_of, object_key
from brain.kip.algebra import Lineages, Tuple
from brain.kip.execute.bindings import Batch, Row, end_binding
from brain.kip.execute.ends import End, stored
from brain.kip.execute.frame import BATCH, Frame
from brain.kip.values import SymbolValue
from brain.store.base import Element, Kind, Scan, TupleScan


def tuples(step: Tuple, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows with every Proposition that joins their ends."""
    join = Join(step, frame)
    for batch in batches:
        yield from join.run(batch)


class Join:
    """One tuple pattern, prepared."""

    def __init__(self, step: Tuple, frame: Frame) -> None:
        self.frame = frame
        self.link = frame.cells[step.proposition]
        self.subject = End.of(step.subject, frame)
        self.object = End.of(step.object, frame)
        self.predicate = None if isinstance(step.predicate, Lineages) else frame.cells[step.predicate.name]
        self.lineages = step.predicate.lineages if isinstance(step.predicate, Lineages) else None

    def run(self, batch: Batch) -> Iterator[Batch]:
        """Rows fall into four groups by what they give; each group is one store call."""
        linked: Batch = []
        by_subject: Batch = []
        by_object: Batch = []
        free: Batch = []
        for row in batch:
            if row[self.link] is not None:
                linked.append(row)
            elif self.subject.given(row) is not None:
                by_subject.append(row)
            else:
                (free if self.object.given(row) is None else by_object).append(row)
        if linked:
            yield self._linked(linked)
        if by_subject:
            yield from self._indexed(by_subject, self.subject, self.object)
        if by_object:
            yield from self._indexed(by_object, self.object, self.subject)
        if free:
            yield from self._scanned(free)

    def first_tuples(self, *, after: int = 0) -> Iterator[Batch]:
        """All Propositions of the predicate, as rows in ascending order: how the step runs over one empty row."""
        query = Scan(Kind.PROPOSITION, lineages=self.lineages, after=after)
        found = self.frame.graph.scan(query)
        size, empty = 32, self.frame.empty_row()
        while propositions := list(islice(found, size)):
            yield [row for proposition in propositions for row in self.extend(empty, proposition)]
            size = min(size * 4, BATCH)

    def extend(self, row: Row, proposition: Element) -> Iterator[Row]:
        """The row with this Proposition, when it agrees."""
        body = proposition.body
        if self.predicate is not None:
            symbol = self.frame.symbol(body["predicate_ref"], "predicate")
            if row[self.predicate] not in (None, symbol):
                return
        elif self.lineages is not None and lineage_of(body["predicate_ref"]) not in self.lineages:
            return
        linked = row.copy()
        linked[self.link] = proposition.id
        if self.predicate is not None:
            linked[self.predicate] = row[self.predicate] or symbol
        extended = self.subject.bind(linked, end_binding(body["subject"]))
        if extended is not None:
            extended = self.object.bind(extended, end_binding(body["object"]))
        if extended is not None:
            yield extended

    def _linked(self, rows: Batch) -> Batch:
        graph = self.frame.graph
        ids = {cell for row in rows if isinstance(cell := row[self.link], str)}
        graph.load(ids)
        kept: Batch = []
        for row in rows:
            cell = row[self.link]
            element = graph.element(cell) if isinstance(cell, str) else None
            if element is not None and element.kind is Kind.PROPOSITION and element.state == "active":
                kept += self.extend(row, element)
        return kept

    def _indexed(self, rows: Batch, near: End, far: End) -> Iterator[Batch]:
        """Rows that give the near end: one lookup for all of them, narrowed by the far end where every row gives it."""
        near_keys = {key for row in rows for key in near.given(row) or ()}
        far_given = [far.given(row) for row in rows]
        far_keys = {key for given in far_given for key in given or ()} if None not in far_given else None
        wanted = stored(near_keys, self.frame)
        others = None if far_keys is None else stored(far_keys, self.frame)
        ends = (wanted, others) if near is self.subject else (others, wanted)
        found: dict[str, list[Element]] = {}
        for proposition in self.frame.graph.tuples(TupleScan(ends[0], self._predicates(rows), ends[1])):
            end = proposition.body["subject" if near is self.subject else "object"]
            found.setdefault(self.frame.graph.canonical(object_key(end)), []).append(proposition)
        made: Batch = []
        for row in rows:
            for key in sorted(near.given(row) or ()):
                for proposition in found.get(key, ()):
                    made += self.extend(row, proposition)
            if len(made) >= BATCH:
                yield made
                made = []
        if made:
            yield made

    def _scanned(self, rows: Batch) -> Iterator[Batch]:
        """Rows that give no end: every Proposition of the predicate, read once per batch."""
        predicates = self._predicates(rows)
        found = self.frame.graph.scan(Scan(Kind.PROPOSITION, lineages=predicates))
        while propositions := list(islice(found, BATCH)):
            for row in rows:
                made = [extended for proposition in propositions for extended in self.extend(row, proposition)]
                if made:
                    yield made

    def _predicates(self, rows: Iterable[Row]) -> frozenset[str] | None:
        """The lineages to look for, None for any."""
        if self.predicate is None:
            return self.lineages
        environment = self.frame.graph.run.environment
        lineages: set[str] = set()
        for row in rows:
            cell = row[self.predicate]
            if cell is None:
                return None
            if isinstance(cell, SymbolValue):
                lineages |= environment.group("predicate", cell.lineage)
        return frozenset(lineages)
