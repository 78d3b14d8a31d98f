"""Reads of the graph in one read transaction, at its head or as of an earlier sequence.

Every statement names the index it is served by (`INDEXED BY`), so that no statistics and no growth can turn a lookup
into a scan: SQLite refuses the statement instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from heapq import merge
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import apsw
import orjson

from brain.store.base import (
    Commit,
    Document,
    Edge,
    EdgeScan,
    Element,
    ElementId,
    Freshness,
    Hit,
    Json,
    Kind,
    Passage,
    Repeated,
    Scan,
    SearchQuery,
    TupleScan,
)
from brain.store.rows import indexed_object
from brain.store.search import by_mode
from brain.store.sqlite import keywords, passages, vectors
from brain.store.sqlite.conditions import among, among_elements, among_symbols
from brain.store.sqlite.failures import translated
from brain.store.sqlite.keys import CODES, KINDS, NUMBER_MASK, eid_of, end_of, first_of, id_of
from brain.store.sqlite.known import Known
from brain.store.sqlite.scans import ScanPlan, plan_scan
from brain.store.sqlite.state import StateReader, json_list
from brain.times import Clock, Seq, Timestamp

if TYPE_CHECKING:
    from brain.kip.algebra import Step
    from brain.store.sqlite import plans

PAGE = 512
"""Elements a scan reads at a time."""

_ALWAYS_TAKEN = 4_000
"""Characters below which no statement reaches a bound of SQLite's: 64 joins, 1,000 levels, 2,000 columns."""
_TEXT_SINCE = (
    "SELECT json(body) FROM past WHERE eid = :eid AND from_seq = :since UNION ALL"
    " SELECT json(body) FROM element WHERE eid = :eid LIMIT 1"
)
_COMMIT = "SELECT seq, tx_id, committed_at, record, envelope FROM history "


class SqliteSnapshot(StateReader):
    """One Space as it stood after commit `seq`; see `brain.store.base.Snapshot`.

    at     the sequence to read as of, None for the head of the open transaction
    known  of this sequence, shared with whoever else reads it
    """

    def __init__(
        self,
        connection: apsw.Connection,
        *,
        space_id: str,
        seq: Seq,
        at: Seq | None,
        clock: Clock,
        timeout_ms: int | None,
        known: Known | None = None,
    ) -> None:
        super().__init__(connection, clock, timeout_ms)
        self.space_id = space_id
        self.seq = seq
        self._at = at
        self._known: Known | None = known or Known(seq)

    # --- elements -----------------------------------------------------------------------------------------------------

    def elements(self, ids: Collection[ElementId]) -> dict[ElementId, Element]:
        bindings: dict[str, Any] = {}
        statement = self._versions("eid, json(body)", among_elements("eid", ids, "eids", bindings))
        return {element.id: element for element in self._elements(statement, bindings)}

    def scan(self, query: Scan) -> Iterator[Element]:
        return islice(self._matching(plan_scan(query), query.after, query.limit), query.limit)

    def count(self, query: Scan) -> int:
        plan = plan_scan(query)
        if self._at is None and plan.is_tallied and query.after == 0:
            rows = self._rows(f"SELECT coalesce(sum(elements), 0) FROM tally WHERE {plan.tally_where}", plan.bindings)
            total = int(rows[0][0])
        elif plan.rest:
            total = sum(1 for _ in self._matching(plan, query.after, None))
        else:
            statement = self._versions("eid", f"{plan.where} AND {_IN_KIND}", plan.index)
            bindings = plan.bindings | _range(query.kind, query.after) | {"at": self._at}
            rows = self._rows(f"SELECT count(*) FROM ({statement})", bindings)
            total = int(rows[0][0])
        return total if query.limit is None else min(total, query.limit)

    def tuples(self, query: TupleScan) -> list[Element]:
        bindings: dict[str, Any] = _range(Kind.PROPOSITION)
        where, index, source = [_IN_KIND], "", ""
        if query.predicates is not None:
            where.append(among_symbols("type", query.predicates, "types", bindings))
            index = "type"
        if query.objects is not None:
            keys = {indexed_object(key) for key in query.objects}
            where.append(among("object_key", keys, "objects", bindings))
            index = "object"
        if query.subjects is not None:
            where.append(among_elements("subject", query.subjects, "subjects", bindings))
            if query.objects is None or len(query.subjects) <= len(query.objects):
                index = "subject"
        if query.pairs is not None:
            source, index = "(SELECT value FROM json_each(:pairs)) AS pair", "subject"
            where.append("subject = pair.value ->> 0 AND object_key = pair.value ->> 1")
            known = ((eid_of(subject), indexed_object(key)) for subject, key in query.pairs)
            bindings["pairs"] = json_list(pair for pair in known if pair[0] is not None)
        if query.states is not None:
            where.append(among("state", query.states, "states", bindings))
        statement = self._versions("eid, json(body)", " AND ".join(where), index, source)
        return list(self._elements(statement + " ORDER BY eid", bindings))

    def assertions(self, about: Collection[ElementId]) -> list[Element]:
        bindings: dict[str, Any] = {}
        where = among_elements("proposition", about, "about", bindings)
        statement = self._versions("eid, json(body)", where, "proposition")
        return list(self._elements(statement + " ORDER BY eid", bindings))

    def expect(self, query: TupleScan, *, hops: int = 1, claims: bool = False, of_next_scan: bool = False) -> None:
        pass

    def by_client_key(self, kind: Kind, client_key: str) -> Element | None:
        rows = self._rows("SELECT eid FROM client_key WHERE kind = ? AND client_key = ?", (CODES[kind], client_key))
        if not rows:
            return None
        element_id = id_of(rows[0][0])
        return self.elements([element_id]).get(element_id)

    def versions(self, element_id: ElementId) -> list[tuple[Seq, Element]]:
        eid = eid_of(element_id)
        rows = self._rows(
            "SELECT from_seq, json(body) FROM past WHERE eid = :eid AND from_seq <= :at UNION ALL"
            " SELECT from_seq, json(body) FROM element WHERE eid = :eid AND from_seq <= :at ORDER BY from_seq",
            {"eid": eid, "at": self._newest},
        )
        return [(seq, _element(body)) for seq, body in rows]

    # --- references ---------------------------------------------------------------------------------------------------

    def edges(self, query: EdgeScan) -> list[Edge]:
        bindings: dict[str, Any] = {"at": self._at, "mask": NUMBER_MASK}
        where = []
        if query.sources is not None:
            where.append(among_elements("source", query.sources, "sources", bindings))
        if query.fields is not None:
            where.append(among_symbols("field", query.fields, "fields", bindings))
        if query.targets is not None:
            # With sources at hand the primary key serves; a `+` keeps the other index out of it.
            target = "target" if query.sources is None else "+target"
            where.append(among_elements(target, query.targets, "targets", bindings))
        condition = " AND ".join(where) or "TRUE"
        columns = "source, field, target, position, role"
        held = f"SELECT {columns} FROM edge WHERE {condition}"
        if self._at is not None:
            held += (
                f" AND from_seq <= :at UNION ALL SELECT {columns} FROM edge_past"
                f" WHERE {condition} AND from_seq <= :at AND to_seq > :at"
            )
        rows = self._rows(
            f"SELECT held.source, symbol.text, held.target, held.position, held.role FROM ({held}) AS held"
            " CROSS JOIN symbol ON symbol.id = held.field"
            " ORDER BY held.source & :mask, held.source, symbol.text, held.position",
            bindings,
        )
        return [
            Edge(id_of(source), field, id_of(target), position, role) for source, field, target, position, role in rows
        ]

    def merges(self) -> Mapping[ElementId, ElementId]:
        known = self._known
        if known is not None and known.merges is not None:
            return known.merges
        statement = self._versions("eid, merged_into", "merged_into IS NOT NULL", "merged")
        merges = {id_of(eid): id_of(into) for eid, into in self._rows(statement, {"at": self._at})}
        if known is not None:
            known.merges = MappingProxyType(merges)
        return merges

    # --- search and plans ---------------------------------------------------------------------------------------------

    def search(self, query: SearchQuery) -> list[Hit]:
        def by_words(asked: SearchQuery) -> list[Hit]:
            return keywords.search(self._rows, self.elements, asked, self._at, self._known)

        def by_likeness(asked: SearchQuery) -> list[Hit]:
            return vectors.search(self._rows, self.elements, asked, self._at)

        return by_mode(query, by_words, by_likeness)

    def freshness(self, embedder: str, kind: Kind | None = None) -> Freshness:
        return vectors.freshness(self._rows, embedder, kind, self.seq, self._at)

    def unindexed(self, embedder: str, limit: int) -> list[Passage]:
        found = []
        for eid, since in vectors.unindexed(self._rows, embedder, limit):
            [(body,)] = self._rows(_TEXT_SINCE, {"eid": eid, "since": since})
            by = passages.found_by(_element(body))
            assert by is not None  # noqa: S101 - a passage is what its version is found by
            found.append(Passage(id_of(eid), since, by.text))
        return found

    def select(self, plan: Step, repeated: Repeated | None = None) -> Iterator[tuple[Json, ...]] | None:
        statement = self._compiled(plan, repeated)
        return None if statement is None else statement.read(self._stream(statement.text, statement.bindings))

    def explain(self, plan: Step) -> str | None:
        statement = self._compiled(plan)
        return None if statement is None else statement.shown

    def _compiled(self, plan: Step, repeated: Repeated | None = None) -> plans.Statement | None:
        from brain.store.sqlite import plans

        steps = plans.steps_of(plan)
        if not plans.is_known(steps) or (plans.compares_ends(steps) and self.merges()):
            return None
        if repeated is None or self._at is not None:  # a statement about the past depends on the sequence
            return self._made(plan)
        memory = repeated.memory
        if "statement" not in memory:
            memory["statement"] = self._made(repeated.plan)
        statement: plans.Statement | None = memory["statement"]
        return None if statement is None else statement.filled(repeated.values)

    def _made(self, plan: Step) -> plans.Statement | None:
        from brain.store.sqlite import plans

        try:
            statement = plans.statement_of(plan, self._at)
        except plans.NotPushable:
            return None
        return statement if self._takes(statement) else None

    def _takes(self, statement: plans.Statement) -> bool:
        """Whether SQLite takes a statement: it bounds joins, columns and how deep an expression goes."""
        if len(statement.text) < _ALWAYS_TAKEN:
            return True
        try:
            self._connection.execute(f"EXPLAIN {statement.text}", statement.bindings).close(True)
        except (apsw.SQLError, apsw.TooBigError):
            return False
        except apsw.Error as error:
            raise translated(error) from error
        return True

    # --- control documents, counts, commits ---------------------------------------------------------------------------

    def control(self, name: str) -> Document | None:
        known = self._known
        if known is not None and name in known.controls:
            return known.controls[name]
        row = self._row(
            "SELECT body FROM control WHERE name = ? AND from_seq <= ? ORDER BY from_seq DESC LIMIT 1",
            (name, self._newest),
        )
        document: Document | None = None if row is None else orjson.loads(row[0])
        if known is not None:
            known.controls[name] = document
        return document

    def counts(self) -> Mapping[Kind, int]:
        rows = self._rows("SELECT kind, sum(elements) FROM tally WHERE state = 'active' GROUP BY kind")
        return dict.fromkeys(Kind, 0) | {KINDS[code]: total for code, total in rows}

    def commit(self, seq: Seq) -> Commit | None:
        return self._commit("WHERE seq = ? AND seq <= ?", (seq, self._newest))

    def commit_by_tx(self, tx_id: str) -> Commit | None:
        return self._commit("WHERE tx_id = ? AND seq <= ?", (tx_id, self._newest))

    def commits(self, *, after: Seq = 0, until: Seq | None = None, limit: int | None = None) -> list[Commit]:
        last = self._newest if until is None else min(until, self._newest)
        rows = self._rows(
            _COMMIT + "WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", (after, last, -1 if limit is None else limit)
        )
        return [_commit(*row) for row in rows]

    def commit_at(self, moment: Timestamp) -> Commit | None:
        return self._commit(
            "WHERE seq = (SELECT max(seq) FROM history INDEXED BY history_moment WHERE committed_at <= ? AND seq <= ?)",
            (moment, self._newest),
        )

    # --- how ----------------------------------------------------------------------------------------------------------

    @property
    def _newest(self) -> Seq:
        """The last sequence that shows; at the head, whatever is in the open transaction."""
        return _ANY_SEQ if self._at is None else self._at

    def _versions(self, selected: str, where: str, index: str = "", source: str = "") -> str:
        """A statement over the versions that hold at this snapshot; its bindings must have `at`.

        source  what is gone through first, each of its rows looked up among the versions
        """
        first = f"{source} CROSS JOIN " if source else ""
        element = first + (f"element INDEXED BY element_{index}" if index else "element NOT INDEXED")
        if self._at is None:
            return f"SELECT {selected} FROM {element} WHERE {where}"
        past = f"{first}past INDEXED BY past_{index or 'eid'}"
        return (
            f"SELECT {selected} FROM {element} WHERE {where} AND from_seq <= :at"
            f" UNION ALL SELECT {selected} FROM {past} WHERE {where} AND from_seq <= :at AND to_seq > :at"
        )

    def _elements(self, statement: str, bindings: dict[str, Any]) -> Iterator[Element]:
        for _, body in self._rows(statement, bindings | {"at": self._at}):
            yield _element(body)

    def _matching(self, plan: ScanPlan, after: int, limit: int | None) -> Iterator[Element]:
        """The elements of a plan by ascending number, one page in memory per stream."""
        page = PAGE if limit is None or plan.rest else max(1, min(PAGE, limit))
        if plan.index != "type":
            found = self._pages(plan, plan.where, plan.bindings, after, page)
        else:
            groups = self._rows(f"SELECT type, state FROM tally WHERE {plan.tally_where}", plan.bindings)
            where = f"type = :type AND state = :state AND {plan.members_where}"
            # In index order each group is sorted by number, all of them together are not.
            found = merge(
                *(
                    self._pages(plan, where, plan.bindings | {"type": type_, "state": state}, after, page)
                    for type_, state in groups
                )
            )
        for _, body in found:
            element = _element(body)
            if not plan.rest or plan.holds(element):
                yield element

    def _pages(
        self, plan: ScanPlan, where: str, bindings: dict[str, Any], after: int, page: int
    ) -> Iterator[tuple[int, str]]:
        statement = (
            self._versions("eid, json(body)", f"{where} AND {_IN_KIND}", plan.index) + " ORDER BY eid LIMIT :page"
        )
        bindings = bindings | _range(plan.kind, after) | {"at": self._at, "page": page}
        while True:
            rows = self._rows(statement, bindings)
            yield from rows
            if len(rows) < page:
                return
            bindings["after"] = rows[-1][0]

    def _commit(self, where: str, bindings: tuple[Any, ...]) -> Commit | None:
        row = self._row(_COMMIT + where, bindings)
        return None if row is None else _commit(*row)


_ANY_SEQ = 1 << 62
_IN_KIND = "eid > :after AND eid < :end"


def _range(kind: Kind, after: int = 0) -> dict[str, Any]:
    return {"after": first_of(kind, after) - 1, "end": end_of(kind)}


def _element(body: str) -> Element:
    document = orjson.loads(body)
    return Element(document["id"], Kind(document["kind"]), document)


def _commit(seq: Seq, tx_id: str, committed_at: Timestamp, record: str, envelope: str) -> Commit:
    return Commit(seq, tx_id, committed_at, orjson.loads(record), orjson.loads(envelope))
