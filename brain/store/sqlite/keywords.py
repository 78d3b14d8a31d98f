"""The search index: postings of terms, and BM25 over them in one statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import orjson

from brain.store import rows
from brain.store.base import Element, Hit, Kind, SearchQuery
from brain.store.search import (
    LENGTH_WEIGHT,
    SATURATION,
    least_relevance,
    query_terms,
    rarity,
    score,
    terms,
)
from brain.store.sqlite.conditions import among_symbols
from brain.store.sqlite.keys import CODES, id_of, kind_of
from brain.store.sqlite.state import json_list

Write = Callable[[str, Sequence[Sequence[Any]]], Any]
Run = Callable[[str, dict[str, Any]], Sequence[tuple[Any, ...]]]

_RELEVANCE = "wanted.weight * posting.times / (posting.times + :base + :slope * posting.size)"

_REBUILD_PAGE = 1_000
_SYMBOL = "(SELECT id FROM symbol WHERE text = ?)"
_REMOVE = f"DELETE FROM posting WHERE term = ? AND kind = ? AND type = {_SYMBOL} AND eid = ?"
_ADD = f"INSERT INTO posting VALUES (?, ?, {_SYMBOL}, ?, ?, ?)"
_CORPUS = (
    "INSERT INTO corpus VALUES (?, ?, ?)"
    " ON CONFLICT (kind) DO UPDATE SET texts = texts + excluded.texts, size = size + excluded.size"
)


@dataclass(frozen=True, slots=True)
class FoundBy:
    """What an active element is found by: its type and its text."""

    type: str
    text: str


def found_by(element: Element) -> FoundBy | None:
    """None for an element that no search finds."""
    if element.state != "active":
        return None
    type_, text = rows.columns(element).type, rows.text(element)
    return FoundBy(type_, text) if type_ and text else None


def reindex(write: Write, changes: Iterable[tuple[int, FoundBy | None, FoundBy | None]]) -> None:
    """Move the index from what elements were found by to what they are found by now."""
    gone: list[tuple[Any, ...]] = []
    added: list[tuple[Any, ...]] = []
    texts: Counter[int] = Counter()
    size: Counter[int] = Counter()
    for eid, before, after in changes:
        if before == after:
            continue
        code = CODES[kind_of(eid)]
        if before is not None:
            found = terms(before.text)
            gone += [(term, code, before.type, eid) for term in set(found)]
            texts[code] -= 1
            size[code] -= len(found)
        if after is not None:
            found = terms(after.text)
            added += [(term, code, after.type, eid, times, len(found)) for term, times in Counter(found).items()]
            texts[code] += 1
            size[code] += len(found)
    write(_REMOVE, gone)
    write(_ADD, added)
    write(_CORPUS, [(code, texts[code], size[code]) for code in texts if texts[code] or size[code]])


def search(run: Run, query: SearchQuery) -> list[Hit]:
    """Best hits first, ties by ascending number. An Assertion has the relevance of its Proposition."""
    wanted = query_terms(query.text)
    if not wanted or query.limit <= 0 or query.threshold >= 1:
        return []
    indexed = Kind.PROPOSITION if query.kind is Kind.ASSERTION else query.kind
    bindings: dict[str, Any] = {"kind": CODES[indexed], "terms": json_list(wanted)}
    corpus = run("SELECT texts, size FROM corpus WHERE kind = :kind", bindings)
    counted = run(
        "SELECT wanted.value, (SELECT count(*) FROM posting WHERE term = wanted.value AND kind = :kind)"
        " FROM json_each(:terms) AS wanted",
        bindings,
    )
    held = [(term, count) for term, count in counted if count]
    if not held:
        return []
    [(texts, size)] = corpus
    for number, (term, count) in enumerate(held):
        bindings[f"term{number}"] = term
        bindings[f"weight{number}"] = (SATURATION + 1) * rarity(texts, count)
    bindings |= {
        "base": SATURATION * (1 - LENGTH_WEIGHT),
        "slope": SATURATION * LENGTH_WEIGHT * texts / size,
        "limit": query.limit,
    }
    hits = run(_statement(query, len(held), bindings), bindings)
    return [Hit(id_of(eid), score(relevance)) for eid, relevance in hits]


def _statement(query: SearchQuery, terms_held: int, bindings: dict[str, Any]) -> str:
    """The wanted terms come first, so that the primary key of `posting` serves each of them as one range."""
    values = ", ".join(f"(:term{number}, :weight{number})" for number in range(terms_held))
    # Only several terms can find one element twice.
    relevance, grouped = (f"sum({_RELEVANCE})", " GROUP BY posting.eid") if terms_held > 1 else (_RELEVANCE, "")
    statement = (
        f"SELECT posting.eid AS eid, {relevance} AS relevance FROM (SELECT column1 AS term, column2 AS weight"
        f" FROM (VALUES {values})) AS wanted"
        " CROSS JOIN posting ON posting.term = wanted.term AND posting.kind = :kind"
    )
    if query.lineages is not None:
        statement += " AND " + among_symbols("posting.type", query.lineages, "types", bindings)
    statement += grouped
    if query.kind is Kind.ASSERTION:
        statement = (
            f"SELECT element.eid AS eid, found.relevance AS relevance FROM ({statement}) AS found"
            " CROSS JOIN element INDEXED BY element_proposition ON element.proposition = found.eid"
            " WHERE element.state = 'active'"
        )
    if query.threshold > 0:
        bindings["least"] = least_relevance(query.threshold)
        statement = f"SELECT eid, relevance FROM ({statement}) WHERE relevance >= :least"
    return statement + " ORDER BY relevance DESC, eid LIMIT :limit"


def rebuild(connection: apsw.Connection) -> None:
    """Make the whole index anew from the present versions, within the open transaction."""
    connection.execute("DELETE FROM posting; DELETE FROM corpus")
    after = 0
    while True:
        page: list[Any] = connection.execute(
            "SELECT eid, json(body) FROM element WHERE eid > ? ORDER BY eid LIMIT ?", (after, _REBUILD_PAGE)
        ).fetchall()
        if not page:
            return
        elements = ((eid, Element(id_of(eid), kind_of(eid), orjson.loads(body))) for eid, body in page)
        reindex(connection.executemany, [(eid, None, found_by(element)) for eid, element in elements])
        after = page[-1][0]
