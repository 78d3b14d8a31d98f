"""A new Space's file from rows: what they say as it is, and what follows from them made anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import apsw

from brain.store import rows as derived
from brain.store.base import Commit, Edge, Element, ElementId, Kind, Passage, Work
from brain.store.dump import (
    NAMES,
    WORK_COUNTER,
    ClientKeyRow,
    ControlRow,
    CounterRow,
    DamagedDump,
    DocumentRow,
    LeaseRow,
    Row,
    VectorRow,
    VersionRow,
    batches,
)
from brain.store.sqlite import passages, vectors
from brain.store.sqlite.keys import CODES, eid_of, known_eid
from brain.store.sqlite.state import json_text
from brain.store.sqlite.transaction import CONTENT, HOLD, TALLY, VALUES, stored
from brain.times import Seq

_BATCH = 256
_SYMBOL = "(SELECT id FROM symbol WHERE text = ?)"
_PAST = f"INSERT INTO past (eid, from_seq, to_seq, {CONTENT}) VALUES (?, ?, ?, {VALUES})"
_EDGE = f"INSERT INTO edge VALUES (?, {_SYMBOL}, ?, ?, ?, ?)"
_EDGE_PAST = f"INSERT INTO edge_past VALUES (?, {_SYMBOL}, ?, ?, ?, ?, ?)"
_STATEMENTS: dict[type, str] = {
    ControlRow: "INSERT INTO control (name, from_seq, body) VALUES (?, ?, ?)",
    Commit: "INSERT INTO history (seq, tx_id, committed_at, record, envelope) VALUES (?, ?, ?, ?, ?)",
    ClientKeyRow: "INSERT INTO client_key (kind, client_key, eid) VALUES (?, ?, ?)",
    DocumentRow: "INSERT INTO document (namespace, key, expires_ms, body) VALUES (?, ?, ?, ?)",
    Work: "INSERT INTO work (id, queue, payload, status, not_before, attempts, first_attempt_ms, note)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    LeaseRow: "INSERT INTO lease (name, holder, token, expires_ms) VALUES (?, NULL, ?, 0)",
}


def load(connection: apsw.Connection, rows: Iterable[Row]) -> None:
    """Fill the empty tables of a file, within one transaction; `rows` are `checked` and begin after the first.

    raises  DamagedDump for a row the tables cannot take
    """
    loader = _Loader(connection)
    last: type = ControlRow
    try:
        connection.execute("BEGIN IMMEDIATE")
        for section, group in groupby(rows, type):
            if section is VectorRow:
                loader.index()
            last = section
            loader.take(section, group)
        loader.index()
        connection.execute("COMMIT")
    except (apsw.ConstraintError, apsw.MismatchError, _NoId, OverflowError) as error:
        raise DamagedDump(f"there is a {NAMES[last]} row no Space could hold") from error


class _NoId(Exception):
    """What should be an element's id is none."""


class _Loader:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._tally: Counter[tuple[int, str, str]] = Counter()
        self._symbols: set[str] = set()
        self._is_indexed = False

    def take(self, section: type, rows: Iterator[Any]) -> None:
        """Write the rows of one section."""
        if section is VersionRow:
            for _, history in groupby(rows, lambda row: row.element.id):
                self._element([(row.since, row.element) for row in history])
            self._write(TALLY, [(*group, change) for group, change in self._tally.items()])
        elif section is CounterRow:
            for row in rows:
                self._count(row)
        elif section is VectorRow:
            for embedder, group in groupby(rows, lambda row: row.embedder):
                for batch in batches(group, _BATCH):
                    found = [(Passage(_known(row.element_id), row.since, ""), row.vector) for row in batch]
                    self._index(embedder, found)
        else:
            for batch in batches(rows, _BATCH):
                self._write(_STATEMENTS[section], [_values(row) for row in batch])

    def index(self) -> None:
        """Make what versions are found by, once they are all there."""
        if not self._is_indexed:
            passages.rebuild(self._connection)
            self._is_indexed = True

    # --- how ----------------------------------------------------------------------------------------------------------

    def _element(self, history: list[tuple[Seq, Element]]) -> None:
        """All versions of one element, its references over them, and what it counts for."""
        try:
            self._versions(history)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DamagedDump(f"{history[0][1].id} is no element") from error

    def _versions(self, history: list[tuple[Seq, Element]]) -> None:
        eid = known_eid(history[0][1].id)
        for (since, element), (until, _) in pairwise(history):
            self._write(_PAST, [(eid, since, until, *self._content(element))])
            # Scans of the past look up here which types and states there ever were.
            self._tally[_group(element)] += 0
        since, element = history[-1]
        self._write(HOLD, [(eid, since, *self._content(element))])
        self._tally[_group(element)] += 1
        self._relate(history)

    def _content(self, element: Element) -> tuple[Any, ...]:
        columns = derived.columns(element)
        self._know(columns.type)
        return (*stored(columns), json_text(element.body))

    def _relate(self, history: list[tuple[Seq, Element]]) -> None:
        spells = derived.spells(history)
        for edge, *_ in spells:
            self._know(edge.field)
        known = [spell for spell in spells if eid_of(spell[0].target) is not None]
        self._write(_EDGE, [_place(edge, since) for edge, since, until in known if until is None])
        self._write(_EDGE_PAST, [(*_place(edge, since), until) for edge, since, until in known if until is not None])

    def _know(self, text: str | None) -> None:
        if text and text not in self._symbols:
            self._symbols.add(text)
            self._write("INSERT OR IGNORE INTO symbol (text) VALUES (?)", [(text,)])

    def _count(self, row: CounterRow) -> None:
        if row.name == WORK_COUNTER:
            self._write("INSERT INTO sqlite_sequence (name, seq) VALUES ('work', ?)", [(row.last,)])
        else:
            self._write("INSERT INTO counter (kind, last) VALUES (?, ?)", [(CODES[Kind(row.name)], row.last)])

    def _index(self, embedder: str, found: Sequence[tuple[Passage, Sequence[float] | None]]) -> None:
        def run(statement: str, bindings: Any) -> list[Any]:
            return self._connection.execute(statement, bindings).fetchall()

        try:
            vectors.index(run, self._write, embedder, found)
        except ValueError as error:
            raise DamagedDump(f"there are vectors of {embedder} that are none") from error

    def _write(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        if values:
            self._connection.executemany(statement, values)


def _group(element: Element) -> tuple[int, str, str]:
    columns = derived.columns(element)
    return CODES[element.kind], columns.type or "", columns.state


def _values(row: Any) -> tuple[Any, ...]:
    match row:
        case ControlRow():
            return row.name, row.since, json_text(row.document)
        case Commit():
            return row.seq, row.tx_id, row.committed_at, json_text(row.record), json_text(row.envelope)
        case ClientKeyRow():
            return CODES[row.kind], row.client_key, _eid(row.element_id)
        case DocumentRow():
            return row.namespace, row.key, row.expires_ms, json_text(row.document)
        case Work():
            when = (row.not_before, row.attempts, row.first_attempt_ms)
            return row.id, row.queue, json_text(row.payload), row.status.value, *when, row.note
        case LeaseRow():
            return row.name, row.token
    raise TypeError(type(row))


def _eid(element_id: ElementId) -> int:
    eid = eid_of(element_id)
    if eid is None:
        raise _NoId(element_id)
    return eid


def _known(element_id: ElementId) -> ElementId:
    _eid(element_id)
    return element_id


def _place(edge: Edge, since: Seq) -> tuple[Any, ...]:
    return known_eid(edge.source), edge.field, edge.position, eid_of(edge.target), edge.role, since
