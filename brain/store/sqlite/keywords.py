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
from brain.store.sqlite.state import json_list, json_text

Write = Callable[[str, Sequence[Sequence[Any]]], Any]
Run = Callable[[str, dict[str, Any]], Sequence[tuple[Any, ...]]]

# The wanted terms come first: the primary key of `posting` then serves each of them as one range.
_RELEVANCE = "json_extract(wanted.value, '$[1]') * posting.times / (posting.times + :base + :slope * posting.size)"
_POSTINGS = (
    "json_each(:terms) AS wanted CROSS JOIN posting"
    " ON posting.term = json_extract(wanted.value, '$[0]') AND posting.kind = :kind"
)

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
    holding = run(
        "SELECT wanted.value, (SELECT count(*) FROM posting WHERE term = wanted.value AND kind = :kind)"
        " FROM json_each(:terms) AS wanted",
        bindings,
    )
    held = [(term, count) for term, count in holding if count]
    if not corpus or not held:
        return []
    texts, size = corpus[0]
    bindings |= {
        "terms": json_text([(term, (SATURATION + 1) * rarity(texts, count)) for term, count in held]),
        "base": SATURATION * (1 - LENGTH_WEIGHT),
        "slope": SATURATION * LENGTH_WEIGHT * texts / size,
        "least": least_relevance(query.threshold),
        "limit": query.limit,
    }
    of_types = ""
    if query.lineages is not None:
        of_types = " AND " + among_symbols("posting.type", query.lineages, "types", bindings)
    # Only several terms can find one element twice.
    relevance, grouped = (_RELEVANCE, "") if len(held) == 1 else (f"sum({_RELEVANCE})", " GROUP BY posting.eid")
    statement = f"SELECT posting.eid AS eid, {relevance} AS relevance FROM {_POSTINGS}{of_types}{grouped}"
    if query.kind is Kind.ASSERTION:
        statement = (
            f"SELECT element.eid AS eid, found.relevance AS relevance FROM ({statement}) AS found"
            " CROSS JOIN element INDEXED BY element_proposition ON element.proposition = found.eid"
            " WHERE element.state = 'active'"
        )
    hits = run(
        f"SELECT eid, relevance FROM ({statement}) WHERE relevance >= :least ORDER BY relevance DESC, eid LIMIT :limit",
        bindings,
    )
    return [Hit(id_of(eid), score(relevance)) for eid, relevance in hits]


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
