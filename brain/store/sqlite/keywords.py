"""Keyword search: BM25 over the postings that hold at a snapshot, in one statement.

For a caller who may not see everything the postings are read first and weighed by what that caller sees alone
(`brain/store/sight.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brain.store.base import Hit, Kind, SearchQuery
from brain.store.search import SATURATION, least_relevance, length_norm, query_terms, rarity, score, texts_of
from brain.store.sight import Load, Sight, seen_by_words, visible_hits
from brain.store.sqlite.candidates import Run, claims_about, of_assertions
from brain.store.sqlite.conditions import among_symbols
from brain.store.sqlite.keys import CODES, end_of, first_of, id_of
from brain.store.sqlite.known import Known
from brain.store.sqlite.state import json_list
from brain.times import Seq

_WORTH = "wanted.weight * held.times / (held.times + :base + :slope * held.size)"
_HELD_THEN = "from_seq <= :at AND to_seq > :at"

_TASTE = 256
"""Elements with a word that very many have that are weighed first: the best of them tell which others need not be."""

_CLOSE = 0.001
"""In lengths of texts, far more than rounding comes to and less than the difference of any two."""


def search(run: Run, load: Load, query: SearchQuery, at: Seq | None, known: Known | None = None) -> list[Hit]:
    """Best hits first, ties by ascending number.

    at     the sequence to search as of, None for the head
    known  of the head, where that is what is searched; None inside a transaction that has written
    """
    wanted = query_terms(query.text)
    if not wanted or query.limit <= 0 or query.threshold >= 1:
        return []
    bindings: dict[str, Any] = {"kind": CODES[texts_of(query.kind)], "at": at}
    if query.visible is not None:
        return _search_seen(run, Sight(load, query.visible), query, wanted, bindings)
    holders = [(term, count) for term, count in _holders(run, wanted, bindings, known) if count]
    if not holders:
        return []
    texts, size = _corpus(run, query, bindings, known)
    bindings |= _weighed([(term, (SATURATION + 1) * rarity(texts, count)) for term, count in holders])
    base, slope = length_norm(texts, size)
    bindings |= {"base": base, "slope": slope, "limit": query.limit}
    counts = [count for _, count in holders]
    common = counts.index(max(counts))
    others = [number for number in range(len(holders)) if number != common]
    # Where other terms are about as common, looking for what they find costs what weighing it does.
    is_worth_it = counts[common] > max(2 * max(_TASTE, query.limit), sum(counts[number] for number in others))
    further = _may_be_best(run, query, common, others, bindings) if is_worth_it and at is None else "TRUE"
    statement = _found(f"{_WORTH} AS worth", query, range(len(holders)), bindings, further)
    if len(holders) > 1:
        # Only several terms can find one element twice.
        statement = f"SELECT eid, sum(worth) AS worth FROM ({statement}) GROUP BY eid"
    if query.kind is Kind.ASSERTION:
        statement = of_assertions(statement, at)
    if query.threshold > 0:
        bindings["least"] = least_relevance(query.threshold)
        statement = f"SELECT eid, worth FROM ({statement}) WHERE worth >= :least"
    hits = run(f"{statement} ORDER BY worth DESC, eid LIMIT :limit", bindings)
    return [Hit(id_of(eid), score(worth)) for eid, worth in hits]


def _may_be_best(run: Run, query: SearchQuery, common: int, others: Sequence[int], bindings: dict[str, Any]) -> str:
    """A condition on the postings of the terms bound that all postings of the best meet, and hardly any other of the
    common term: alone it earns no more than one that is known, unless its text is shorter or has the term more often.

    common, others  numbers of the term that very many have, and of the rest
    """
    if query.kind is Kind.ASSERTION:
        return "TRUE"  # how many claims there are about each is open
    taste = _found(f"held.times, held.size, {_WORTH} AS worth", query, [common], bindings)
    tasted = run(f"{taste} LIMIT :taste", bindings | {"taste": max(_TASTE, query.limit)})
    if len(tasted) < query.limit:
        return "TRUE"
    eid, times, size, worth = sorted(tasted, key=lambda one: (-one[3], one[0]))[query.limit - 1]
    slope, reach = bindings["slope"], bindings[f"weight{common}"] / worth - 1
    bindings |= {"last": eid, "times": times, "size": size}
    bindings |= {"reach": reach / slope, "short": _CLOSE - bindings["base"] / slope}
    alone = (
        "(held.size <> :size OR held.times <> :times OR held.eid <= :last) AND held.size < held.times * :reach + :short"
    )
    if not others:
        return alone
    # What has another term as well is weighed with everything it has.
    elsewhere = _found("NULL", query, others, bindings)
    return f"(held.term <> :term{common} OR ({alone}) OR held.eid IN (SELECT eid FROM ({elsewhere})))"


def _search_seen(run: Run, sight: Sight, query: SearchQuery, wanted: list[str], bindings: dict[str, Any]) -> list[Hit]:
    """The same over what a caller sees."""
    bindings |= _weighed([(term, float(number)) for number, term in enumerate(wanted)])
    rows = run(_found("wanted.weight, held.times, held.size", query, range(len(wanted)), bindings), bindings)
    found = [(id_of(eid), int(number), times, size) for eid, number, times, size in rows]
    ranked = seen_by_words(sight, found, query.threshold)
    return visible_hits(sight, query, ranked, claims_about(run, bindings["at"]))


def _holders(run: Run, wanted: list[str], bindings: dict[str, Any], known: Known | None) -> list[tuple[str, int]]:
    """Each term with the number of elements of the kind that hold it."""
    at, kind = bindings["at"], bindings["kind"]
    if known is None or at is not None:
        return _counted(run, wanted, bindings)
    # One question searches for the same words in several ways, and to count what all texts hold takes its time.
    new = [term for term in wanted if (kind, term) not in known.holders]
    counts = dict(_counted(run, new, bindings)) if new else {}
    known.note_holders(kind, counts)
    return [(term, counts[term] if term in counts else known.holders[kind, term]) for term in wanted]


def _counted(run: Run, wanted: list[str], bindings: dict[str, Any]) -> list[tuple[str, int]]:
    at = bindings["at"]
    holding = "posting.term = wanted.value AND posting.kind = :kind"
    counted = f"(SELECT count(*) FROM posting WHERE {holding})"
    if at is not None:
        counted = (
            f"(SELECT count(*) FROM posting CROSS JOIN passage ON passage.eid = posting.eid WHERE {holding}"
            " AND passage.from_seq <= :at)"
            f" + (SELECT count(*) FROM posting_past AS posting WHERE {holding} AND {_HELD_THEN})"
        )
    statement = f"SELECT wanted.value, {counted} FROM json_each(:terms) AS wanted"
    return [(term, count) for term, count in run(statement, bindings | {"terms": json_list(wanted)})]


def _corpus(run: Run, query: SearchQuery, bindings: dict[str, Any], known: Known | None) -> tuple[int, int]:
    """How many texts the kind has, and their terms."""
    if bindings["at"] is None:
        code = bindings["kind"]
        if known is not None and code in known.corpus:
            return known.corpus[code]
        [(texts, size)] = run("SELECT texts, size FROM corpus WHERE kind = :kind", bindings)
        if known is not None:
            known.corpus[code] = texts, size
        return texts, size
    kind = texts_of(query.kind)
    # Read from the passages themselves, which an erasure takes along: no sum kept per commit could be set right again.
    [(texts, size)] = run(
        "SELECT count(*), sum(size) FROM ("
        "SELECT size FROM passage WHERE eid >= :first AND eid < :end AND from_seq <= :at UNION ALL"
        f" SELECT size FROM passage_past WHERE eid >= :first AND eid < :end AND {_HELD_THEN})",
        bindings | {"first": first_of(kind), "end": end_of(kind)},
    )
    return texts, size


def _weighed(terms: list[tuple[str, float]]) -> dict[str, Any]:
    weighed: dict[str, Any] = {}
    for number, (term, weight) in enumerate(terms):
        weighed[f"term{number}"] = term
        weighed[f"weight{number}"] = weight
    return weighed


def _found(
    selected: str, query: SearchQuery, terms: Sequence[int], bindings: dict[str, Any], further: str = "TRUE"
) -> str:
    """A statement of the postings of the terms bound under these numbers that meet a further condition, `(eid, …)`: one
    row per term and element.

    The wanted terms come first, so that the primary key of `posting` serves each of them as one range.
    """
    values = ", ".join(f"(:term{number}, :weight{number})" for number in terms)
    wanted = f"(SELECT column1 AS term, column2 AS weight FROM (VALUES {values})) AS wanted"
    holding = f"held.term = wanted.term AND held.kind = :kind AND {further}"
    if query.lineages is not None:
        holding += " AND " + among_symbols("held.type", query.lineages, "types", bindings)
    found = f"SELECT held.eid AS eid, {selected} FROM {wanted} CROSS JOIN"
    if bindings["at"] is None:
        return f"{found} posting AS held ON {holding}"
    return (
        f"{found} posting AS held ON {holding} CROSS JOIN passage ON passage.eid = held.eid AND passage.from_seq <= :at"
        f" UNION ALL {found} posting_past AS held ON {holding} AND held.from_seq <= :at AND held.to_seq > :at"
    )
