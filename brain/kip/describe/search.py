"""The SEARCH statement: a ranked, pageable list of hits to ground a question with (KIP 2.0 §66)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.kip import ast
from brain.kip.context import Answer, Run
from brain.kip.describe.pages import page_limit, traversal
from brain.kip.govern import permit
from brain.kip.paths import view
from brain.kip.resolve import Binder
from brain.kip.search import search_query
from brain.store import rows
from brain.store.base import Document, Element, Hit

SNIPPET = 240
"""Most characters of text a hit shows."""

GROUNDING: Mapping[str, tuple[str, ...]] = {
    "ACTIVITY": ("activity_class",),
    "ASSERTION": (),
    "CONCEPT": ("name", "aliases", "key", "every text inside attributes"),
    "EVIDENCE": ("payload, when it is kept inline",),
    "PROPOSITION": ("the predicate's name", "a Literal object"),
}
"""The text each kind is found by."""

CAVEAT = "A hit is a place to look, its score says nothing of truth, and no hit does not mean that nothing is known."


def search(statement: ast.Search, run: Run) -> Answer:
    """`{hits, exhaustive, search_context, caveat}`; a hit is `{id, kind, retrieval, snippet, element}`.

    Hits come by falling score, equal scores by id; `exhaustive` is false when a further page follows. A cursor holds as
    long as nothing is committed in between, for the index knows the present only.

    raises  HistoricalSearchUnavailable for AS OF; CursorExpired when the Space moved on between two pages; and those of
            `search_query`
    """
    permit(run.session, "search")
    if statement.as_of is not None:
        raise errors.HistoricalSearchUnavailable("The search index knows the present only; leave AS OF SEQ out.")
    binder = Binder.of(run)
    limit = page_limit(run, statement.limit)
    walk = traversal(run, "search", statement)
    if walk.seq != run.snapshot.seq:
        raise errors.CursorExpired(
            "The Space changed since this cursor was issued, and its ranking with it.",
            hint="Start the search again without a cursor.",
            details={"family": "search", "issued_seq": walk.seq, "current_space_seq": run.snapshot.seq},
        )
    wanted = min(walk.after + limit + 1, run.limits.search_limit + 1)
    query, mode = search_query(binder, statement, wanted)
    found = run.snapshot.search(query) if limit else []
    here = found[walk.after : walk.after + limit]
    cut = len(found) > walk.after + limit
    elements = run.snapshot.elements([hit.id for hit in here])
    context = _context(run, mode)
    return Answer(
        {
            "hits": [_hit(run, hit, elements[hit.id], mode) for hit in here if hit.id in elements],
            "exhaustive": not cut,
            "search_context": {**context, "grounding": list(GROUNDING[statement.kind])},
            "caveat": CAVEAT,
        },
        next_cursor=walk.cursor(run, walk.after + limit) if cut else None,
        context={"search": context},
    )


def _context(run: Run, mode: str) -> dict[str, Any]:
    return {
        "mode": mode,
        "index_seq": run.snapshot.seq,
        "current_space_seq": run.snapshot.seq,
        "consistency": "synchronous",
        "score_semantics": "bm25_relevance_0_to_1_ordinal",
    }


def _hit(run: Run, hit: Hit, element: Element, mode: str) -> Document:
    text = " ".join(rows.text(element).split())
    return {
        "id": hit.id,
        "kind": element.kind.value,
        "retrieval": {"mode": mode, "score": hit.score},
        "snippet": text if len(text) <= SNIPPET else f"{text[: SNIPPET - 1]}…",
        "element": view(element, run.now),
    }
