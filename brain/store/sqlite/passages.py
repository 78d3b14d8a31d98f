"""What each active element is found by, over time: the ground both indexes stand on.

A passage is one text of one element under one type, from the commit that wrote it to the one that changed it, however
many versions came and went in between. Words are looked up in `posting`, vectors in `vector`; passages that no longer
hold stand with their entries in tables of the same names ending in `_past`, so that a search of the present never
reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import orjson

from brain.store import rows
from brain.store.base import Element
from brain.store.search import counted
from brain.store.sqlite.conditions import integers
from brain.store.sqlite.keys import CODES, id_of, kind_of
from brain.times import Seq

Write = Callable[[str, Sequence[Sequence[Any]]], Any]
Run = Callable[[str, Any], Sequence[tuple[Any, ...]]]
Look = Callable[[], None]

_REBUILD_PAGE = 1_000
_SYMBOL = "(SELECT id FROM symbol WHERE text = ?)"
_ADD = f"INSERT INTO passage (eid, type, from_seq, size) VALUES (?, {_SYMBOL}, ?, ?)"
_REMOVE = "DELETE FROM passage WHERE eid = ?"
_RETIRE = (
    "INSERT INTO passage_past (eid, from_seq, to_seq, type, size, embedder)"
    " SELECT eid, from_seq, ?, type, size, embedder FROM passage WHERE eid = ?"
)
_ADD_POSTING = f"INSERT INTO posting VALUES (?, ?, {_SYMBOL}, ?, ?, ?)"
_REMOVE_POSTING = f"DELETE FROM posting WHERE term = ? AND kind = ? AND type = {_SYMBOL} AND eid = ?"
_ADD_POSTING_PAST = f"INSERT INTO posting_past VALUES (?, ?, {_SYMBOL}, ?, ?, ?, ?, ?)"
_REMOVE_POSTING_PAST = f"DELETE FROM posting_past WHERE term = ? AND kind = ? AND type = {_SYMBOL} AND eid = ?"
_REMOVE_VECTOR = "DELETE FROM vector WHERE eid = ?"
_RETIRE_VECTOR = (
    "INSERT INTO vector_past (eid, from_seq, to_seq, type, embedder, revision, norm, body)"
    " SELECT eid, from_seq, ?, type, embedder, revision, norm, body FROM vector WHERE eid = ?"
)
_CORPUS = (
    "INSERT INTO corpus VALUES (?, ?, ?)"
    " ON CONFLICT (kind) DO UPDATE SET texts = texts + excluded.texts, size = size + excluded.size"
)


@dataclass(frozen=True, slots=True)
class FoundBy:
    """What an active element is found by: its type and its text."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What an element was found by before a write, and is found by after it."""

    eid: int
    before: FoundBy | None
    after: FoundBy | None


def found_by(element: Element, columns: rows.Columns | None = None) -> FoundBy | None:
    """None for an element that no search finds.

    columns  the element's, for who has them
    """
    if element.state != "active":
        return None
    type_ = (columns or rows.columns(element)).type
    text = rows.text(element) if type_ else ""
    return FoundBy(type_, text) if type_ and text else None


def follow(run: Run, write: Write, seq: Seq, changes: Iterable[Change], look: Look) -> None:
    """Let both indexes follow the writes of commit `seq`; what an earlier commit wrote becomes the past.

    look  at the clock, while long texts are taken apart; what it raises leaves the indexes half changed, to be undone
          with the transaction
    """
    changed = [change for change in changes if change.before != change.after]
    earlier = [change.eid for change in changed if change.before is not None]
    since: dict[int, Seq] = {}
    if earlier:
        since |= run("SELECT eid, from_seq FROM passage WHERE eid IN carray(?)", (integers(earlier),))
    tally = _Tally()
    gone: list[tuple[Any, ...]] = []
    past: list[tuple[Any, ...]] = []
    added: list[tuple[Any, ...]] = []
    passages: list[tuple[Any, ...]] = []
    for change in changed:
        eid, code = change.eid, CODES[kind_of(change.eid)]
        if change.before is not None:
            found = counted(change.before.text, look)
            tally.count(code, -1, -found.total())
            gone += [(term, code, change.before.type, eid) for term in found]
            if since[eid] < seq:
                past += _past_postings(eid, change.before.type, found, since[eid], seq)
        if change.after is not None:
            found = counted(change.after.text, look)
            tally.count(code, 1, found.total())
            added += _postings(eid, change.after.type, found)
            passages.append((eid, change.after.type, seq, found.total()))
    replaced = [(eid,) for eid in since]
    retired = [(seq, eid) for eid, first in since.items() if first < seq]
    write(_RETIRE, retired)
    write(_RETIRE_VECTOR, retired)
    write(_REMOVE, replaced)
    write(_REMOVE_VECTOR, replaced)
    write(_REMOVE_POSTING, gone)
    write(_ADD_POSTING_PAST, past)
    write(_ADD_POSTING, added)
    write(_ADD, passages)
    tally.keep(write)


def forget(run: Run, write: Write, held: Mapping[int, Element], look: Look) -> None:
    """Take every trace of these elements out of both indexes, the past included. Their versions must still be there."""
    eids = integers(held)
    tally = _Tally()
    gone: set[tuple[Any, ...]] = set()
    for eid, element in held.items():
        code = CODES[kind_of(eid)]
        if (before := found_by(element)) is not None:
            found = counted(before.text, look)
            tally.count(code, -1, -found.total())
            gone |= {(term, code, before.type, eid) for term in found}
    gone_past: set[tuple[Any, ...]] = set()
    for eid, body in run("SELECT eid, json(body) FROM past WHERE eid IN carray(?)", (eids,)):
        before = found_by(_element(eid, body))
        if before is not None:
            gone_past |= {(term, CODES[kind_of(eid)], before.type, eid) for term in counted(before.text, look)}
    write(_REMOVE_POSTING, sorted(gone))
    write(_REMOVE_POSTING_PAST, sorted(gone_past))
    for table in ("passage", "passage_past", "vector", "vector_past"):
        write(f"DELETE FROM {table} WHERE eid = ?", [(eid,) for eid in held])
    tally.keep(write)


def add(write: Write, found: Iterable[tuple[int, FoundBy, Seq]], look: Look) -> None:
    """Passages of elements that have none, each since a commit."""
    tally = _Tally()
    for eid, by, since in found:
        code, words = CODES[kind_of(eid)], counted(by.text, look)
        tally.count(code, 1, words.total())
        write(_ADD_POSTING, _postings(eid, by.type, words))
        write(_ADD, [(eid, by.type, since, words.total())])
    tally.keep(write)


def rebuild(connection: apsw.Connection) -> None:
    """Make everything anew from the kept versions, within the open transaction; all texts wait for their vectors."""
    tables = ("posting", "posting_past", "corpus", "passage", "passage_past", "vector", "vector_past")
    connection.execute("; ".join(f"DELETE FROM {table}" for table in tables))
    write, tally = connection.executemany, _Tally()
    for eid, since, until, by in _spells(connection):
        code, found = CODES[kind_of(eid)], counted(by.text, lambda: None)
        if until is None:
            tally.count(code, 1, found.total())
            write(_ADD_POSTING, _postings(eid, by.type, found))
            write(_ADD, [(eid, by.type, since, found.total())])
        else:
            write(_ADD_POSTING_PAST, _past_postings(eid, by.type, found, since, until))
            write(
                f"INSERT INTO passage_past (eid, from_seq, to_seq, type, size) VALUES (?, ?, ?, {_SYMBOL}, ?)",
                [(eid, since, until, by.type, found.total())],
            )
    tally.keep(write)


class _Tally:
    """Texts and terms gained and lost per kind."""

    def __init__(self) -> None:
        self._texts: Counter[int] = Counter()
        self._size: Counter[int] = Counter()

    def count(self, code: int, texts: int, size: int) -> None:
        self._texts[code] += texts
        self._size[code] += size

    def keep(self, write: Write) -> None:
        write(_CORPUS, [(code, texts, self._size[code]) for code, texts in self._texts.items()])


def _postings(eid: int, type_: str, found: Counter[str]) -> list[tuple[Any, ...]]:
    code, size = CODES[kind_of(eid)], found.total()
    return [(term, code, type_, eid, times, size) for term, times in found.items()]


def _past_postings(eid: int, type_: str, found: Counter[str], since: Seq, until: Seq) -> list[tuple[Any, ...]]:
    code, size = CODES[kind_of(eid)], found.total()
    return [(term, code, type_, eid, since, until, times, size) for term, times in found.items()]


def _spells(connection: apsw.Connection) -> Iterator[tuple[int, Seq, Seq | None, FoundBy]]:
    """Each stretch of commits over which an element was found by one text: from, until (None for now), and by what."""
    open_eid, since, until = 0, 0, None
    by: FoundBy | None = None
    for eid, from_seq, to_seq, element in versions(connection):
        found = found_by(element)
        if eid == open_eid and found == by:
            until = to_seq
            continue
        if by is not None:
            yield open_eid, since, until, by
        open_eid, since, until, by = eid, from_seq, to_seq, found
    if by is not None:
        yield open_eid, since, until, by


def versions(connection: apsw.Connection) -> Iterator[tuple[int, Seq, Seq | None, Element]]:
    """Every kept version by element and age, a page of elements in memory at a time."""
    after = 0
    while True:
        page: list[Any] = connection.execute(
            "SELECT eid FROM element WHERE eid > ? ORDER BY eid LIMIT ?", (after, _REBUILD_PAGE)
        ).fetchall()
        if not page:
            return
        bounds = {"first": page[0][0], "last": page[-1][0]}
        found = connection.execute(
            "SELECT eid, from_seq, to_seq, json(body) FROM past WHERE eid BETWEEN :first AND :last UNION ALL"
            " SELECT eid, from_seq, NULL, json(body) FROM element WHERE eid BETWEEN :first AND :last"
            " ORDER BY eid, from_seq",
            bounds,
        )
        rows_: list[Any] = found.fetchall()
        for eid, from_seq, to_seq, body in rows_:
            yield eid, from_seq, to_seq, _element(eid, body)
        after = bounds["last"]


def _element(eid: int, body: str) -> Element:
    return Element(id_of(eid), kind_of(eid), orjson.loads(body))
