"""Keyword search: BM25 over the postings that hold at a snapshot, in one statement.

For a caller who may not see everything the postings are read first and weighed by what that caller sees alone
(`brain/store/sight.py`).
"""

from __future__ import annotations

from brain.store.base import Hit, SearchQuery
from brain.store.neo4j.candidates import Run, Value, best, claims_about
from brain.store.neo4j.keys import indexed_all
from brain.store.neo4j.passages import word
from brain.store.search import SATURATION, least_relevance, length_norm, query_terms, score, texts_of
from brain.store.sight import Load, Sight, seen_by_words, visible_hits

_HOLDS = "p.from_seq <= $at AND $at < p.to_seq"
_POSTINGS = (
    "MATCH (p:Posting) USING INDEX p:Posting(space, word, number)"
    f" WHERE p.space = $space AND p.word = word AND p.number IS NOT NULL AND {_HOLDS}"
)
_FOUND = (
    f"UNWIND $words AS word CALL (word) {{ {_POSTINGS} RETURN collect(p) AS postings }}"
    " WITH postings, $saturated * log(1 + ($texts - size(postings) + 0.5) / (size(postings) + 0.5)) AS weight"
    " UNWIND postings AS p WITH p, weight WHERE $types IS NULL OR p.type IN $types"
    " WITH p.number AS number, sum(weight * p.times / (p.times + $base + $slope * p.size)) AS worth"
)
_HOLDERS = (
    f"UNWIND range(0, size($words) - 1) AS place WITH place, $words[place] AS word {_POSTINGS}"
    " AND ($types IS NULL OR p.type IN $types) RETURN place, p.number, p.times, p.size"
)
_CORPUS = (
    "MATCH (p:Passage) USING INDEX p:Passage(space, kind, number, from_seq)"
    " WHERE p.space = $space AND p.kind = $kind AND p.number IS NOT NULL"
    f" AND {_HOLDS} RETURN count(p), sum(p.size)"
)


def search(
    run: Run, value: Value, load: Load, query: SearchQuery, at: int, corpus: tuple[int, int] | None
) -> list[Hit]:
    """Best hits first, ties by ascending number.

    corpus  how many texts the kind has, and how many terms; None when that has to be counted
    """
    wanted = query_terms(query.text)
    if not wanted or query.limit <= 0 or query.threshold >= 1:
        return []
    letter = texts_of(query.kind).letter
    words = [word(letter, term) for term in wanted]
    types = None if query.lineages is None else indexed_all(query.lineages)
    if query.visible is not None:
        return _search_seen(run, Sight(load, query.visible), query, at, words, types)
    if corpus is None:
        [(counted, size)] = run(_CORPUS, kind=letter, at=at)
        corpus = counted, size
    texts, size = corpus
    if not texts:
        return []
    base, slope = length_norm(texts, size)
    hits = value(
        f"{_FOUND}{best(query)} RETURN collect([id, worth]) AS found",
        words=words,
        types=types,
        texts=texts,
        saturated=SATURATION + 1,
        base=base,
        slope=slope,
        least=least_relevance(query.threshold),
        limit=query.limit,
    )
    return [Hit(element_id, score(worth)) for element_id, worth in hits]


def _search_seen(
    run: Run, sight: Sight, query: SearchQuery, at: int, words: list[str], types: list[str] | None
) -> list[Hit]:
    """The same over what a caller sees."""
    letter = texts_of(query.kind).letter
    rows = run(_HOLDERS, words=words, types=types, at=at)
    found = [(f"{letter}-{number}", place, times, size) for place, number, times, size in rows]
    return visible_hits(sight, query, seen_by_words(sight, found, query.threshold), claims_about(run, at))
