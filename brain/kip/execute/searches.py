"""Search inside a query (KIP 2.0 §43.8)."""

from __future__ import annotations

from collections.abc import Iterator

from brain.kip.algebra import Search
from brain.kip.execute.bindings import Batch, Datum, Row
from brain.kip.execute.frame import Frame, in_batches
from brain.store.base import Hit


def search(step: Search, batches: Iterator[Batch], frame: Frame) -> Iterator[Batch]:
    """Rows with every hit; a bound variable keeps its row when it is one. One search serves all rows."""
    place, retrieval = frame.cells[step.variable], frame.cells[step.retrieval]
    hits: dict[str, Hit] | None = None
    for batch in batches:
        if hits is None:
            hits = {hit.id: hit for hit in frame.graph.search(step.query)} if step.query.limit else {}
        yield from in_batches(_found(step, batch, hits, place, retrieval))


def _found(step: Search, rows: Batch, hits: dict[str, Hit], place: int, retrieval: int) -> Iterator[Row]:
    for row in rows:
        cell = row[place]
        chosen = hits.values() if cell is None else filter(None, (hits.get(cell),) if isinstance(cell, str) else ())
        for hit in chosen:
            extended = row.copy()
            extended[place] = hit.id
            if extended[retrieval] is None:
                extended[retrieval] = Datum({"score": hit.score, "mode": step.query.mode.value})
            yield extended
