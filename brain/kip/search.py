"""What SEARCH takes, as a statement and as a pattern: kind, words, filters, mode, threshold (KIP 2.0 §43.8, §66)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brain import errors
from brain.kip import ast
from brain.kip.capabilities import search_modes
from brain.kip.context import Run
from brain.kip.resolve import Binder, shown
from brain.kip.values import is_number
from brain.kip.walk import walk
from brain.store.base import ElementId, Json, Kind, Likeness, SearchMode, SearchQuery
from brain.store.embedding import Embedder, EmbeddingFailure, vectors_of
from brain.times import Seq

DEFAULT_MODE = SearchMode.KEYWORD
"""The mode of a search that names none."""

_UNTIL_INDEXED_MS = 1_000
"""How long to wait before a search by likeness is worth sending again."""

_SCORES = {
    SearchMode.KEYWORD: "bm25_relevance_0_to_1_ordinal",
    SearchMode.SEMANTIC: "cosine_0_to_1_ordinal",
    SearchMode.HYBRID: "reciprocal_rank_share_0_to_1_ordinal",
}


def search_query(
    binder: Binder, node: ast.SearchPattern | ast.Search, limit: int, embedder: Embedder | None
) -> SearchQuery:
    """The store's query; what it compares with is added by `with_likeness`, when it is run.

    raises  ConstraintViolation for a word that is no mode and a threshold outside 0 to 1, SearchModeUnsupported for a
            mode not offered, TypeMismatch for a wrong type, SchemaSymbolNotFound and SchemaSymbolAmbiguous
    """
    lineages = None
    if node.type is not None:
        lineages = binder.symbol("concept_type", binder.text(node.type, "WITH TYPE")).lineages
    elif node.predicate is not None:
        lineages = binder.symbol("predicate", binder.text(node.predicate, "WITH PREDICATE")).lineages
    mode = search_mode(binder, node.mode, embedder)
    text = binder.given_text(node.text, "The text of a SEARCH")
    return SearchQuery(Kind(node.kind.lower()), text, lineages, limit, threshold(binder, node.threshold), mode)


def search_mode(binder: Binder, node: ast.Scalar | None, embedder: Embedder | None) -> SearchMode:
    """The mode to search in."""
    if node is None:
        return DEFAULT_MODE
    asked = binder.text(node, "MODE")
    offered = search_modes(embedder)
    if asked not in list(SearchMode):
        raise errors.ConstraintViolation(
            f"{shown(asked)} is no search mode.",
            hint=f"Use MODE {' or '.join(map(shown, offered))}, or leave MODE out.",
        )
    if asked not in offered:
        raise errors.SearchModeUnsupported(f"MODE {shown(asked)} is not offered here.")
    return SearchMode(asked)


def threshold(binder: Binder, node: ast.Scalar | None) -> float:
    """The least score a hit may have; 0 without the clause."""
    if node is None:
        return 0.0
    value = binder.scalar(node)
    if not is_number(value):
        raise errors.TypeMismatch(f"THRESHOLD is a number from 0 to 1, not {shown(value)}.")
    if not 0 <= value <= 1:
        raise errors.ConstraintViolation(f"THRESHOLD lies between 0 and 1, and {value} does not.")
    return float(value)


def with_likeness(query: SearchQuery, run: Run, ranking: Json = None) -> SearchQuery:
    """The query with what it compares with, when its mode needs that, and without what is quarantined (§31.6) or was
    never said (§57.8).

    ranking  of the cursor that goes on, from `ranking_of`: all pages of a traversal show one ranking
    raises   SearchIndexUnavailable when there are no vectors yet or none of the words searched for, CursorExpired when
             vectors are no more those of the ranking
    """
    left_out = _left_out(query.kind, run)
    if left_out:
        query = replace(query, visible=lambda element: element.id not in left_out)
    if query.mode is SearchMode.KEYWORD:
        return query
    embedder = run.embedder
    assert embedder is not None  # noqa: S101 - the modes that need one are offered only with one
    fresh = run.snapshot.freshness(embedder.name, query.kind)
    if fresh.is_empty and fresh.pending:
        raise errors.SearchIndexUnavailable(
            f"None of the {fresh.pending} texts has its vector yet.", after_ms=_UNTIL_INDEXED_MS
        )
    name, revision = (embedder.name, fresh.revision) if ranking is None else ranking
    if name != embedder.name:
        raise errors.CursorExpired(
            "The embedder changed since this cursor was issued, and the ranking with it.",
            hint="Start the search again without a cursor.",
        )
    vector: list[float] = []
    if query.text.strip():
        found = run.vectors.get(query.text)
        found = _embedded(embedder, query.text) if found is None else found
        if isinstance(found, EmbeddingFailure):
            raise errors.SearchIndexUnavailable(
                "The embedder gave no vector for the words searched for.",
                after_ms=_UNTIL_INDEXED_MS,
                details={"reason": found.reason},
            ) from found
        vector = found
    return replace(query, likeness=Likeness(name, tuple(vector), revision))


def _left_out(kind: Kind, run: Run) -> frozenset[ElementId]:
    """What no search of a kind finds: the quarantined as of now, and recordings that are invalid as of the snapshot."""
    recording = run.snapshot.control("recording")
    invalid = () if recording is None else recording["invalidated"].keys()
    quarantined = frozenset[str]() if run.plane is None else run.plane.quarantined
    return quarantined.union(found for found in invalid if found[0] == kind.letter)


def embed_ahead(
    statement: ast.Node | None, parameters: Mapping[str, Json], embedder: Embedder | None
) -> dict[str, list[float] | EmbeddingFailure]:
    """The vectors of the words a statement searches for by likeness, or why there is none.

    An embedder may take seconds, in which no snapshot should be open: this is called before. A text that is at fault
    is left out; the statement says so when it is run.
    """
    if embedder is None or statement is None:
        return {}
    modes = (SearchMode.SEMANTIC, SearchMode.HYBRID)
    searches = [
        node
        for node in walk(statement)
        if isinstance(node, ast.SearchPattern | ast.Search) and _value(node.mode, parameters) in modes
    ]
    texts = dict.fromkeys(_value(node.text, parameters) for node in searches)
    return {text: _embedded(embedder, text) for text in texts if isinstance(text, str) and text.strip()}


def _value(node: ast.Scalar | None, parameters: Mapping[str, Json]) -> Json:
    if isinstance(node, ast.Literal):
        return node.value
    value = None if node is None else parameters.get(node.name)
    return value if isinstance(value, str) else None


def _embedded(embedder: Embedder, text: str) -> list[float] | EmbeddingFailure:
    try:
        return vectors_of(embedder, [text])[0]
    except EmbeddingFailure as failure:
        return failure


def ranking_of(query: SearchQuery) -> Json:
    """What a cursor keeps of a search that was run; None when its ranking cannot change."""
    return None if query.likeness is None else [query.likeness.embedder, query.likeness.revision]


def search_context(run: Run, query: SearchQuery, *, head: Seq | None = None) -> dict[str, Any]:
    """What a result says of the search in it (§66.5): words are indexed with the write, vectors follow.

    head  where the Space stands, when the run looks back
    """
    context: dict[str, Any] = {
        "mode": query.mode.value,
        "index_seq": run.snapshot.seq,
        "current_space_seq": run.snapshot.seq if head is None else head,
        "consistency": "synchronous",
        "score_semantics": _SCORES[query.mode],
    }
    if query.mode is not SearchMode.KEYWORD and run.embedder is not None:
        fresh = run.snapshot.freshness(run.embedder.name, query.kind)
        context |= {
            "index_seq": fresh.index_seq,
            "consistency": "eventual",
            "pending": fresh.pending,
            "embedder": {"name": run.embedder.name, "likeness": run.embedder.likeness},
        }
    return context
