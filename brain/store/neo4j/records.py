"""Reads of what goes with the graph as of a sequence: commits, control documents, merges, versions, counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import orjson

from brain.store.base import Commit, Document, Element, ElementId, Kind
from brain.store.neo4j.connection import Row
from brain.store.neo4j.reading import Reading
from brain.store.neo4j.scans import HOLDS
from brain.store.neo4j.state import UNLIMITED
from brain.store.neo4j.versions import element_of
from brain.times import Seq, Timestamp

_CONTROL = (
    "MATCH (c:Control) USING INDEX c:Control(space, name, from_seq)"
    " WHERE c.space = $space AND c.name = $name AND c.from_seq <= $at"
    " WITH c ORDER BY c.space DESC, c.name DESC, c.from_seq DESC LIMIT 1 RETURN collect(c.body) AS found"
)
_COMMIT = "c.seq, c.tx_id, c.committed_at, c.record, c.envelope"
_COMMITS = (
    "MATCH (c:Commit) USING INDEX c:Commit(space, seq)"
    f" WHERE c.space = $space AND c.seq > $after AND c.seq <= $last RETURN {_COMMIT}"
    " ORDER BY c.space, c.seq LIMIT $limit"
)
_COMMIT_BY_TX = (
    "MATCH (c:Commit) USING INDEX c:Commit(space, tx_id)"
    f" WHERE c.space = $space AND c.tx_id = $tx AND c.seq <= $last RETURN {_COMMIT}"
)
_COMMIT_AT = (
    "MATCH (c:Commit) USING INDEX c:Commit(space, seq)"
    " WHERE c.space = $space AND c.seq <= $last AND c.committed_at <= $moment"
    f" RETURN {_COMMIT} ORDER BY c.space DESC, c.seq DESC LIMIT 1"
)
_VERSIONS = (
    "MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = $id AND v.from_seq <= $at RETURN v.from_seq, v.body"
    " ORDER BY v.space, v.id, v.from_seq"
)
_MERGES = (
    "MATCH (v:Version) USING INDEX v:Version(space, merged_into)"
    f" WHERE v.space = $space AND v.merged_into IS NOT NULL AND {HOLDS}"
    " RETURN collect([v.id, v.merged_into]) AS found"
)


class RecordReader(Reading):
    """What `brain.store.base.Snapshot` promises of them."""

    def merges(self) -> Mapping[ElementId, ElementId]:
        known = self._remembered.merges
        if known is not None and self._is_of_now(self._head.merges_seq) and known[0] == self._head.merges_seq:
            return dict(known[1])
        if self._is_of_now(self._head.merges_seq):
            found: Mapping[ElementId, ElementId] = self._read_merges()
            self._remembered.merges = self._head.merges_seq, found
        else:
            found = self._merges_then
        return dict(found)

    def versions(self, element_id: ElementId) -> list[tuple[Seq, Element]]:
        return [(since, element_of(body)) for since, body in self._rows(_VERSIONS, id=element_id)]

    def control(self, name: str) -> Document | None:
        self._time_left()
        known = self._remembered.controls.get(name)
        if known is None or known[0] != self._head.controls_seq or not self._is_of_now(self._head.controls_seq):
            bodies = self._value(_CONTROL, name=name)
            known = self._head.controls_seq, bodies[0] if bodies else None
            if self._is_of_now(self._head.controls_seq):
                self._remembered.controls[name] = known
        return None if known[1] is None else orjson.loads(known[1])

    def counts(self) -> Mapping[Kind, int]:
        self._time_left()
        active = self._head.totals.get("active", {})
        return {kind: active.get(kind.letter, 0) for kind in Kind}

    def commit(self, seq: Seq) -> Commit | None:
        found = self.commits(after=seq - 1, until=seq)
        return found[0] if found else None

    def commit_by_tx(self, tx_id: str) -> Commit | None:
        row = self._row(_COMMIT_BY_TX, tx=tx_id, last=self._newest_shown)
        return None if row is None else _commit(row)

    def commits(self, *, after: Seq = 0, until: Seq | None = None, limit: int | None = None) -> list[Commit]:
        last = self._newest_shown if until is None else min(until, self._newest_shown)
        bound = UNLIMITED if limit is None else limit
        return [_commit(row) for row in self._rows(_COMMITS, after=after, last=last, limit=bound)]

    def commit_at(self, moment: Timestamp) -> Commit | None:
        row = self._row(_COMMIT_AT, moment=moment, last=self._newest_shown)
        return None if row is None else _commit(row)

    def _is_of_now(self, since: Seq) -> bool:
        """Whether what last changed with commit `since` is at this snapshot as it is at the head it was opened at."""
        return self.seq >= since

    @cached_property
    def _merges_then(self) -> Mapping[ElementId, ElementId]:
        return self._read_merges()

    def _read_merges(self) -> dict[ElementId, ElementId]:
        return dict(self._value(_MERGES))

    @property
    def _newest_shown(self) -> Seq:
        """The last commit that shows."""
        self.make_certain()
        return self._at


def _commit(row: Row) -> Commit:
    seq, tx_id, committed_at, record, envelope = row
    return Commit(seq, tx_id, committed_at, orjson.loads(record), orjson.loads(envelope))
