"""The one writer of a Space: new versions, their references, their postings and what is counted, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import orjson

from brain import errors
from brain.store import rows
from brain.store.base import Commit, Document, Edge, Element, ElementId, Kind, Passage
from brain.store.sqlite import passages, vectors
from brain.store.sqlite.conditions import integers
from brain.store.sqlite.keys import CODES, NUMBER_MASK, eid_of, id_of, kind_of, known_eid
from brain.store.sqlite.snapshot import SqliteSnapshot
from brain.store.sqlite.state import StateWriter, json_text
from brain.times import Clock, Seq

_SYMBOL = "(SELECT id FROM symbol WHERE text = ?)"
_CONTENT = "state, type, key, name, canonical_id, status, subject, object_key, proposition, actor, merged_into, body"
_VALUES = f"?, {_SYMBOL}, ?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?)"
_HOLD = f"INSERT OR REPLACE INTO element (eid, from_seq, {_CONTENT}) VALUES (?, ?, {_VALUES})"
_RETIRE = (
    f"INSERT INTO past (eid, to_seq, from_seq, {_CONTENT})"
    f" SELECT eid, ?, from_seq, {_CONTENT} FROM element WHERE eid = ?"
)
_REWRITE = f"UPDATE past SET ({_CONTENT}) = ({_VALUES}) WHERE eid = ?"
_TALLY = (
    f"INSERT INTO tally VALUES (?, coalesce({_SYMBOL}, 0), ?, ?)"
    " ON CONFLICT (kind, type, state) DO UPDATE SET elements = elements + excluded.elements"
)
_EDGE_PLACE = f"source = ? AND field = {_SYMBOL} AND position = ?"
_ADD_EDGE = f"INSERT INTO edge VALUES (?, {_SYMBOL}, ?, ?, ?, ?)"
_RETIRE_EDGE = (
    "INSERT INTO edge_past (source, field, position, target, role, from_seq, to_seq)"
    f" SELECT source, field, position, target, role, from_seq, ? FROM edge WHERE {_EDGE_PLACE} AND from_seq <= ?"
)
_DROP_EDGE = f"DELETE FROM edge WHERE {_EDGE_PLACE}"


@dataclass(frozen=True, slots=True)
class _Held:
    """An element's version as it stands before a write, and the sequence that wrote it."""

    since: Seq
    element: Element


class SqliteTransaction(StateWriter, SqliteSnapshot):
    """See `brain.store.base.Transaction`. Its reads are those of the head, which its own writes have already moved.

    A scan reads page by page: what is put while it runs shows in the pages to come.
    """

    def __init__(
        self, connection: apsw.Connection, *, space_id: str, seq: Seq, clock: Clock, timeout_ms: int | None
    ) -> None:
        super().__init__(connection, space_id=space_id, seq=seq, at=None, clock=clock, timeout_ms=timeout_ms)
        self._has_changed = False
        self._is_recorded = False
        self.has_erased = False

    @property
    def is_complete(self) -> bool:
        """Whether it may commit: what it changed in the graph has its record."""
        return self._is_recorded or not self._has_changed

    def new_ids(self, kind: Kind, count: int) -> list[ElementId]:
        if count <= 0:
            return []
        row = self._row(
            "INSERT INTO counter VALUES (:kind, :count)"
            " ON CONFLICT (kind) DO UPDATE SET last = last + :count RETURNING last",
            {"kind": CODES[kind], "count": count},
        )
        assert row is not None  # noqa: S101 - RETURNING always gives the row
        last = int(row[0])
        return [f"{kind.letter}-{number}" for number in range(last - count + 1, last + 1)]

    def put(self, elements: Sequence[Element], *, client_keys: Mapping[ElementId, str] | None = None) -> None:
        self._has_changed = True
        new = {known_eid(element.id): element for element in elements}
        held = self._held(new)
        self._retire(held)
        self._hold(new, held)
        self._relate(new, held)
        self._index(new, held)
        self._reserve(eid for eid in new if eid not in held)
        self._write(
            "INSERT INTO client_key VALUES (?, ?, ?)",
            [
                (CODES[kind_of(eid)], client_key, eid)
                for element_id, client_key in (client_keys or {}).items()
                for eid in [known_eid(element_id)]
            ],
        )

    def erase(self, stubs: Sequence[Element]) -> None:
        self._has_changed = self.has_erased = True
        # Until the log is rid of the content too, every process that opens the Space knows it has to be.
        self._write("INSERT OR REPLACE INTO meta VALUES ('scrub', ?)", [(str(self.seq + 1),)])
        new = {known_eid(stub.id): stub for stub in stubs}
        held = self._held(new)
        passages.forget(self._rows, self._write, {eid: old.element for eid, old in held.items()})
        self._retire(held)
        self._hold(new, held)
        self._write(_REWRITE, [(*_stored(rows.columns(stub)), json_text(stub.body), eid) for eid, stub in new.items()])
        # References are content: the past keeps those the stub still has, as if it had always been the stub.
        eids = integers(new)
        first: dict[int, Seq] = dict(
            self._rows("SELECT eid, min(from_seq) FROM past WHERE eid IN carray(?) GROUP BY eid", (eids,))
        )
        self._write("DELETE FROM edge WHERE source = ?", [(eid,) for eid in new])
        self._write("DELETE FROM edge_past WHERE source = ?", [(eid,) for eid in new])
        self._add_edges((edge, first.get(eid, self.seq + 1)) for eid, stub in new.items() for edge in rows.edges(stub))
        found = [(eid, passages.found_by(stub), first.get(eid, self.seq + 1)) for eid, stub in new.items()]
        passages.add(self._write, [(eid, by, since) for eid, by, since in found if by is not None])

    def index(self, embedder: str, vectors_: Sequence[tuple[Passage, Sequence[float] | None]]) -> None:
        vectors.index(self._rows, self._write, embedder, vectors_)

    def put_control(self, name: str, document: Document) -> None:
        self._has_changed = True
        self._write("INSERT OR REPLACE INTO control VALUES (?, ?, ?)", [(name, self.seq + 1, json_text(document))])

    def record(self, commit: Commit) -> None:
        if self._is_recorded or commit.seq != self.seq + 1:
            raise errors.InternalError(f"A commit record for {commit.seq} does not follow {self.seq}.")
        self._is_recorded = True
        row = (commit.seq, commit.tx_id, commit.committed_at, json_text(commit.record), json_text(commit.envelope))
        self._write("INSERT INTO history VALUES (?, ?, ?, ?, ?)", [row])

    # --- how ----------------------------------------------------------------------------------------------------------

    def _held(self, eids: Iterable[int]) -> dict[int, _Held]:
        found = self._rows("SELECT eid, from_seq, json(body) FROM element WHERE eid IN carray(?)", (integers(eids),))
        return {eid: _Held(since, Element(id_of(eid), kind_of(eid), orjson.loads(body))) for eid, since, body in found}

    def _retire(self, held: Mapping[int, _Held]) -> None:
        """Close the versions that earlier commits wrote; one of this transaction is simply replaced."""
        self._write(_RETIRE, [(self.seq + 1, eid) for eid, old in held.items() if old.since <= self.seq])

    def _hold(self, new: Mapping[int, Element], held: Mapping[int, _Held]) -> None:
        """Make these the present versions, and count them."""
        tally: Counter[tuple[int, str, str]] = Counter()
        values = []
        for eid, element in new.items():
            columns = rows.columns(element)
            values.append((eid, self.seq + 1, *_stored(columns), json_text(element.body)))
            tally[CODES[kind_of(eid)], columns.type or "", columns.state] += 1
            if eid in held:
                before = rows.columns(held[eid].element)
                tally[CODES[kind_of(eid)], before.type or "", before.state] -= 1
        self._symbols(type_ for _, type_, _ in tally)
        self._write(_HOLD, values)
        self._write(_TALLY, [(*group, change) for group, change in tally.items() if change])

    def _relate(self, new: Mapping[int, Element], held: Mapping[int, _Held]) -> None:
        """Close the references that are gone and add the new ones; what stays is not touched."""
        gone: list[Edge] = []
        added: list[tuple[Edge, Seq]] = []
        for eid, element in new.items():
            after = rows.edges(element)
            if eid in held:
                before = rows.edges(held[eid].element)
                if before == after:
                    continue
                kept = set(before) & set(after)
                gone += [edge for edge in before if edge not in kept]
                after = [edge for edge in after if edge not in kept]
            added += [(edge, self.seq + 1) for edge in after]
        places = [(known_eid(edge.source), edge.field, edge.position) for edge in gone]
        self._write(_RETIRE_EDGE, [(self.seq + 1, *place, self.seq) for place in places])
        self._write(_DROP_EDGE, places)
        self._add_edges(added)

    def _add_edges(self, added: Iterable[tuple[Edge, Seq]]) -> None:
        edges = list(added)
        self._symbols(edge.field for edge, _ in edges)
        self._write(
            _ADD_EDGE,
            [
                (known_eid(edge.source), edge.field, edge.position, target, edge.role, since)
                for edge, since in edges
                if (target := eid_of(edge.target)) is not None
            ],
        )

    def _index(self, new: Mapping[int, Element], held: Mapping[int, _Held]) -> None:
        changes = [
            passages.Change(
                eid, passages.found_by(held[eid].element) if eid in held else None, passages.found_by(element)
            )
            for eid, element in new.items()
        ]
        passages.follow(self._rows, self._write, self.seq + 1, changes)

    def _symbols(self, texts: Iterable[str]) -> None:
        self._write("INSERT OR IGNORE INTO symbol (text) VALUES (?)", [(text,) for text in set(texts) if text])

    def _reserve(self, eids: Iterable[int]) -> None:
        """Ids that came from elsewhere are used up too."""
        last: dict[int, int] = {}
        for eid in eids:
            code = CODES[kind_of(eid)]
            last[code] = max(last.get(code, 0), eid & NUMBER_MASK)
        self._write(
            "INSERT INTO counter VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET last = max(last, excluded.last)",
            list(last.items()),
        )


def _stored(columns: rows.Columns) -> tuple[Any, ...]:
    """The columns in the order of `_CONTENT`, without the body."""
    return (
        columns.state,
        columns.type,
        columns.key,
        columns.name,
        columns.canonical_id,
        columns.status,
        _reference(columns.subject),
        columns.object_key,
        _reference(columns.proposition),
        _reference(columns.actor),
        _reference(columns.merged_into),
    )


def _reference(element_id: ElementId | None) -> int | None:
    return None if element_id is None else eid_of(element_id)
