"""The SEARCH statement: a ranked, pageable list of hits to ground a question with (KIP 2.0 §66)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from brain.kip import ast
from brain.kip.context import Answer, Run
from brain.kip.describe.pages import Traversal, page_limit, traversal
from brain.kip.describe.sight import run_at, seq_of
from brain.kip.govern import permit
from brain.kip.paths import view
from brain.kip.resolve import Binder
from brain.kip.search import ranking_of, search_context, search_query, with_likeness
from brain.store import rows
from brain.store.base import Document, Element, Hit, SearchMode
from brain.times import Seq

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

    Hits come by falling score, equal scores by id; `exhaustive` is false when a further page follows, which shows the
    same sequence and ranks with the same vectors.

    raises  HistoricalSnapshotUnavailable for a sequence that was never reached, CursorExpired when the ranking of an
            earlier page is no more, and those of `search_query` and `with_likeness`
    """
    permit(run.session, "search")
    walk = traversal(run, "search", statement)
    if statement.cursor is None and statement.as_of is not None:
        walk = replace(walk, seq=seq_of(run, statement.as_of))
    with run_at(run, walk.seq, is_continued=statement.cursor is not None) as pinned:
        return _page(statement, pinned, walk, head=run.snapshot.seq)


def _page(statement: ast.Search, run: Run, walk: Traversal, head: Seq) -> Answer:
    limit = page_limit(run, statement.limit)
    wanted = min(walk.after + limit + 1, run.limits.search_limit + 1)
    query = search_query(Binder.of(run), statement, wanted, run.embedder)
    query = with_likeness(query, run, walk.ranking)
    found = run.snapshot.search(query) if limit else []
    here = found[walk.after : walk.after + limit]
    cut = len(found) > walk.after + limit
    elements = run.snapshot.elements([hit.id for hit in here])
    context = search_context(run, query, head=head)
    walk = replace(walk, ranking=ranking_of(query))
    return Answer(
        {
            "hits": [_hit(run, hit, elements[hit.id], query.mode) for hit in here if hit.id in elements],
            "exhaustive": not cut,
            "search_context": {**context, "grounding": list(GROUNDING[statement.kind])},
            "caveat": CAVEAT,
        },
        next_cursor=walk.cursor(run, walk.after + limit) if cut else None,
        context={"search": context},
    )


def _hit(run: Run, hit: Hit, element: Element, mode: SearchMode) -> Document:
    text = " ".join(rows.text(element).split())
    return {
        "id": hit.id,
        "kind": element.kind.value,
        "retrieval": {"mode": mode.value, "score": hit.score},
        "snippet": text if len(text) <= SNIPPET else f"{text[: SNIPPET - 1]}…",
        "element": view(element, run.now),
    }
