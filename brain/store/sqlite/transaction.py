"""The one writer of a Space: new versions, their references, their postings and what is counted, in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import apsw
import orjson

from brain import errors
from brain.store import rows
from brain.store.base import Commit, Document, Edge, Element, ElementId, Kind, Lookups, Passage
from brain.store.sqlite import passages, vectors
from brain.store.sqlite.conditions import integers
from brain.store.sqlite.keys import (
    CODES,
    KINDS,
    LETTERS,
    NUMBER_MASK,
    code_of,
    eid_of,
    id_of,
    kind_of,
    known_eid,
    number_of,
)
from brain.store.sqlite.known import Known
from brain.store.sqlite.snapshot import SqliteSnapshot
from brain.store.sqlite.state import StateWriter, json_text
from brain.times import Clock, Seq

_SYMBOL = "(SELECT id FROM symbol WHERE text = ?)"
CONTENT = "state, type, key, name, canonical_id, status, subject, object_key, proposition, actor, merged_into, body"
VALUES = f"?, {_SYMBOL}, ?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?)"
HOLD = f"INSERT OR REPLACE INTO element (eid, from_seq, {CONTENT}) VALUES (?, ?, {VALUES})"
_RETIRE = (
    f"INSERT INTO past (eid, to_seq, from_seq, {CONTENT}) SELECT eid, ?, from_seq, {CONTENT} FROM element WHERE eid = ?"
)
_REWRITE = f"UPDATE past SET ({CONTENT}) = ({VALUES}) WHERE eid = ?"
TALLY = (
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
class _Version:
    """A version of an element with what is kept beside it, and the sequence that wrote it."""

    since: Seq
    element: Element
    columns: rows.Columns
    edges: list[Edge]
    found_by: passages.FoundBy | None

    @classmethod
    def of(cls, element: Element, since: Seq) -> _Version:
        columns = rows.columns(element)
        return cls(since, element, columns, rows.edges(element), passages.found_by(element, columns))


class SqliteTransaction(StateWriter, SqliteSnapshot):
    """See `brain.store.base.Transaction`. Its reads are those of the head, which its own writes have already moved.

    A scan reads page by page: what is put while it runs shows in the pages to come.

    symbols      some texts that earlier commits made symbols of; no symbol is ever taken back
    new_symbols  those this transaction sees to, for who knows that it was committed
    """

    def __init__(
        self,
        connection: apsw.Connection,
        *,
        space_id: str,
        seq: Seq,
        clock: Clock,
        timeout_ms: int | None,
        symbols: AbstractSet[str],
        known: Known,
    ) -> None:
        super().__init__(
            connection, space_id=space_id, seq=seq, at=None, clock=clock, timeout_ms=timeout_ms, known=known
        )
        self._has_changed = False
        self._is_recorded = False
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._written: set[int] = set()
        self._symbols = symbols
        self.new_symbols: set[str] = set()
        self.has_erased = False

    def settle(self) -> None:
        """Write down which ids are used up: the last thing before the commit."""
        self._write(
            "INSERT INTO counter VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET last = excluded.last",
            list(self._last.items()),
        )

    @property
    def is_complete(self) -> bool:
        """Whether it may commit: what it changed in the graph has its record."""
        return self._is_recorded or not self._has_changed

    def look_ahead(self, lookups: Callable[[], Lookups]) -> None:
        pass

    def new_ids(self, kind: Kind, count: int) -> list[ElementId]:
        if count <= 0:
            return []
        code = CODES[kind]
        first = self._last_of(code) + 1
        self._last[code] = first + count - 1
        return [f"{LETTERS[code]}-{number}" for number in range(first, first + count)]

    def put(self, elements: Sequence[Element], *, client_keys: Mapping[ElementId, str] | None = None) -> None:
        self._change()
        new = self._new(elements)
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
        self._change()
        self.has_erased = True
        # Until the log is rid of the content too, every process that opens the Space knows it has to be.
        self._write("INSERT OR REPLACE INTO meta VALUES ('scrub', ?)", [(str(self.seq + 1),)])
        new = self._new(stubs)
        held = self._held(new)
        passages.forget(self._rows, self._write, {eid: old.element for eid, old in held.items()}, self.check_deadline)
        self._retire(held)
        self._hold(new, held)
        self._write(_REWRITE, [(*stored(stub.columns), json_text(stub.element.body), eid) for eid, stub in new.items()])
        # References are content: the past keeps those the stub still has, as if it had always been the stub.
        eids = integers(new)
        first: dict[int, Seq] = dict(
            self._rows("SELECT eid, min(from_seq) FROM past WHERE eid IN carray(?) GROUP BY eid", (eids,))
        )
        self._write("DELETE FROM edge WHERE source = ?", [(eid,) for eid in new])
        self._write("DELETE FROM edge_past WHERE source = ?", [(eid,) for eid in new])
        self._add_edges((edge, first.get(eid, self.seq + 1)) for eid, stub in new.items() for edge in stub.edges)
        found = [(eid, stub.found_by, first.get(eid, self.seq + 1)) for eid, stub in new.items()]
        passages.add(self._write, [(eid, by, since) for eid, by, since in found if by is not None], self.check_deadline)

    def index(self, embedder: str, vectors_: Sequence[tuple[Passage, Sequence[float] | None]]) -> None:
        vectors.index(self._rows, self._write, embedder, vectors_)

    def put_control(self, name: str, document: Document) -> None:
        self._change()
        self._write("INSERT OR REPLACE INTO control VALUES (?, ?, ?)", [(name, self.seq + 1, json_text(document))])

    def record(self, commit: Commit) -> None:
        if self._is_recorded or commit.seq != self.seq + 1:
            raise errors.InternalError(f"A commit record for {commit.seq} does not follow {self.seq}.")
        self._is_recorded = True
        row = (commit.seq, commit.tx_id, commit.committed_at, json_text(commit.record), json_text(commit.envelope))
        self._write("INSERT INTO history VALUES (?, ?, ?, ?, ?)", [row])

    # --- how ----------------------------------------------------------------------------------------------------------

    def _change(self) -> None:
        """From now on its reads are of what it writes, no longer of the commit before it."""
        self._has_changed = True
        self._known = None

    def _new(self, elements: Iterable[Element]) -> dict[int, _Version]:
        return {known_eid(element.id): _Version.of(element, self.seq + 1) for element in elements}

    def _held(self, eids: Collection[int]) -> dict[int, _Version]:
        """The present versions of those that there are; what has just got its id and was not written yet has none."""
        older = [
            eid for eid in eids if eid in self._written or number_of(eid) <= self._first.get(code_of(eid), NUMBER_MASK)
        ]
        self._written.update(eids)
        if not older:
            return {}
        found = self._rows("SELECT eid, from_seq, json(body) FROM element WHERE eid IN carray(?)", (integers(older),))
        return {
            eid: _Version.of(Element(id_of(eid), kind_of(eid), orjson.loads(body)), since) for eid, since, body in found
        }

    def _retire(self, held: Mapping[int, _Version]) -> None:
        """Close the versions that earlier commits wrote; one of this transaction is simply replaced."""
        self._write(_RETIRE, [(self.seq + 1, eid) for eid, old in held.items() if old.since <= self.seq])

    def _hold(self, new: Mapping[int, _Version], held: Mapping[int, _Version]) -> None:
        """Make these the present versions, and count them."""
        tally: Counter[tuple[int, str, str]] = Counter()
        for versions, counted in ((new, 1), (held, -1)):
            for eid, version in versions.items():
                tally[CODES[kind_of(eid)], version.columns.type or "", version.columns.state] += counted
        self._know(type_ for _, type_, _ in tally)
        self._write(
            HOLD,
            [
                (eid, version.since, *stored(version.columns), json_text(version.element.body))
                for eid, version in new.items()
            ],
        )
        self._write(TALLY, [(*group, change) for group, change in tally.items() if change])

    def _relate(self, new: Mapping[int, _Version], held: Mapping[int, _Version]) -> None:
        """Close the references that are gone and add the new ones; what stays is not touched."""
        gone: list[Edge] = []
        added: list[tuple[Edge, Seq]] = []
        for eid, version in new.items():
            after = version.edges
            if eid in held:
                before = held[eid].edges
                if before == after:
                    continue
                kept = set(before) & set(after)
                gone += [edge for edge in before if edge not in kept]
                after = [edge for edge in after if edge not in kept]
            added += [(edge, version.since) for edge in after]
        places = [(known_eid(edge.source), edge.field, edge.position) for edge in gone]
        self._write(_RETIRE_EDGE, [(self.seq + 1, *place, self.seq) for place in places])
        self._write(_DROP_EDGE, places)
        self._add_edges(added)

    def _add_edges(self, added: Iterable[tuple[Edge, Seq]]) -> None:
        edges = list(added)
        self._know(edge.field for edge, _ in edges)
        self._write(
            _ADD_EDGE,
            [
                (known_eid(edge.source), edge.field, edge.position, target, edge.role, since)
                for edge, since in edges
                if (target := eid_of(edge.target)) is not None
            ],
        )

    def _index(self, new: Mapping[int, _Version], held: Mapping[int, _Version]) -> None:
        changes = [
            passages.Change(eid, held[eid].found_by if eid in held else None, version.found_by)
            for eid, version in new.items()
        ]
        passages.follow(self._rows, self._write, self.seq + 1, changes, self.check_deadline)

    def _know(self, texts: Iterable[str]) -> None:
        """See to it that there are symbols for these texts."""
        unknown = {text for text in texts if text and text not in self._symbols} - self.new_symbols
        self._write("INSERT OR IGNORE INTO symbol (text) VALUES (?)", [(text,) for text in unknown])
        self.new_symbols |= unknown

    def _reserve(self, eids: Iterable[int]) -> None:
        """Ids that came from elsewhere are used up too."""
        for eid in eids:
            code = CODES[kind_of(eid)]
            self._last[code] = max(self._last_of(code), eid & NUMBER_MASK)

    def _last_of(self, code: int) -> int:
        """The last number given out of a kind."""
        return self._last[code] if code in self._last else self._first_of(KINDS[code])

    def _first_of(self, kind: Kind) -> int:
        """The last number that was given out of a kind before this transaction."""
        code = CODES[kind]
        if code not in self._first:
            row = self._row("SELECT last FROM counter WHERE kind = ?", (code,))
            self._first[code] = int(row[0]) if row else 0
        return self._first[code]


def stored(columns: rows.Columns) -> tuple[Any, ...]:
    """The columns in the order of `CONTENT`, without the body."""
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
