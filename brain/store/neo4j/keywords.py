"""Keyword search: BM25 over the postings that hold at a snapshot, in one statement.

For a caller who may not see everything the postings are read first and weighed here, by what that caller sees alone:
rarity and length must not tell of texts that are hidden.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from brain.store.base import ElementId, Hit, SearchQuery
from brain.store.neo4j.candidates import Load, Run, Sight, best, texts_of, visible_hits
from brain.store.neo4j.keys import indexed_all, place_of
from brain.store.neo4j.passages import word
from brain.store.search import (
    LENGTH_WEIGHT,
    SATURATION,
    SUPPOSED_TEXTS,
    least_relevance,
    query_terms,
    rarity,
    score,
)

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


def search(run: Run, load: Load, query: SearchQuery, at: int, corpus: tuple[int, int] | None) -> list[Hit]:
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
    hits = run(
        _FOUND + best(query),
        words=words,
        types=types,
        at=at,
        texts=texts,
        saturated=SATURATION + 1,
        base=SATURATION * (1 - LENGTH_WEIGHT),
        slope=SATURATION * LENGTH_WEIGHT * texts / size,
        least=least_relevance(query.threshold),
        limit=query.limit,
    )
    return [Hit(element_id, score(worth)) for element_id, worth in hits]


def _search_seen(
    run: Run, sight: Sight, query: SearchQuery, at: int, words: list[str], types: list[str] | None
) -> list[Hit]:
    """The same over what a caller sees, in a corpus of a supposed size."""
    letter = texts_of(query.kind).letter
    found = [
        (place, f"{letter}-{number}", times, size)
        for place, number, times, size in run(_HOLDERS, words=words, types=types, at=at)
    ]
    sizes = {element_id: size for _, element_id, _, size in found}
    seen = sight.of(sizes)
    held = [(element_id, place, times) for place, element_id, times, _ in found if element_id in seen]
    holders = Counter(place for _, place, _ in held)
    mean = sum(sizes[element_id] for element_id in seen) / max(len(seen), 1)
    worth: dict[ElementId, float] = defaultdict(float)
    for element_id, place, times in sorted(held, key=lambda one: (place_of(one[0]), one[1])):
        weight = (SATURATION + 1) * rarity(max(SUPPOSED_TEXTS, len(seen)), holders[place])
        length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * sizes[element_id] / mean
        worth[element_id] += weight * times / (times + SATURATION * length)
    ranked = sorted(
        ((element_id, score(sum_)) for element_id, sum_ in worth.items()), key=lambda one: (-one[1], place_of(one[0]))
    )
    return visible_hits(run, sight, query, at, [one for one in ranked if one[1] >= query.threshold])
