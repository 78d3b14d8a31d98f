"""Reads of the graph as of a sequence. The present and the past are one query: each takes the versions that hold then.

Every statement begins at an index, named by a hint, and is one round trip. What has been committed as a whole by the
sequence read at is found entire, whatever is being committed meanwhile: later versions begin past it, and the end of
one is written past it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

import orjson

from brain.store import rows
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
    Scan,
    SearchQuery,
    TupleScan,
)
from brain.store.neo4j import keywords, vectors
from brain.store.neo4j.connection import Database, Row
from brain.store.neo4j.keys import indexed, place_of
from brain.store.neo4j.scans import HOLDS, ScanPlan, plan_scan
from brain.store.neo4j.schema import RELATIONSHIPS, STRUCTURAL
from brain.store.neo4j.state import UNLIMITED, StateReader
from brain.store.neo4j.tuples import pattern_of
from brain.store.neo4j.versions import element_of
from brain.store.search import by_mode, texts_of
from brain.times import Clock, Seq, Timestamp

if TYPE_CHECKING:
    from brain.kip.algebra import Step
    from brain.store.neo4j import plans

PAGE = 512
"""Elements a scan reads at a time."""

# An index sorts by itself only for those who name all its columns.
_LAST_VERSION = " ORDER BY v.space DESC, v.id DESC, v.from_seq DESC LIMIT 1"
ELEMENTS = (
    "UNWIND $ids AS id CALL (id) { MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    f" WHERE v.space = $space AND v.id = id AND v.from_seq <= $at RETURN v{_LAST_VERSION} }}"
    " RETURN collect([v.from_seq, v.body])"
)
"""One list in one record: each record is a message of its own, and a thousand of these take longer than to find what
they say."""
_ASSERTIONS = (
    "MATCH (v:Version) USING INDEX v:Version(space, proposition)"
    f" WHERE v.space = $space AND v.proposition IN $about AND {HOLDS} WITH v ORDER BY v.number RETURN collect(v.body)"
)
_MERGES = (
    "MATCH (v:Version) USING INDEX v:Version(space, merged_into)"
    f" WHERE v.space = $space AND v.merged_into IS NOT NULL AND {HOLDS} RETURN v.id, v.merged_into"
)
_CLIENT_KEY = (
    "MATCH (k:ClientKey) USING INDEX k:ClientKey(space, kind, key)"
    " WHERE k.space = $space AND k.kind = $kind AND k.key = $key"
    " MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    f" WHERE v.space = $space AND v.id = k.id AND v.from_seq <= $at RETURN v.body{_LAST_VERSION}"
)
_VERSIONS = (
    "MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = $id AND v.from_seq <= $at RETURN v.from_seq, v.body"
    " ORDER BY v.space, v.id, v.from_seq"
)
_CONTROL = (
    "MATCH (c:Control) USING INDEX c:Control(space, name, from_seq)"
    " WHERE c.space = $space AND c.name = $name AND c.from_seq <= $at RETURN c.body"
    " ORDER BY c.space DESC, c.name DESC, c.from_seq DESC LIMIT 1"
)
_TALLIES = (
    "MATCH (t:Tally) USING INDEX t:Tally(space, kind, type, state)"
    " WHERE t.space = $space AND t.kind = $kind AND t.type IS NOT NULL AND t.state IS NOT NULL"
    " AND ($types IS NULL OR t.type IN $types) AND ($states IS NULL OR t.state IN $states)"
    " RETURN t.value"
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
_FIELDS = {type_: name for name, type_ in RELATIONSHIPS.items()}


@dataclass(frozen=True, slots=True)
class Head:
    """What a Space's node says after one commit, read as a whole.

    totals        per kind how many elements are active, how many texts there are, and how many terms in them
    controls_seq  the last commit that wrote a control document
    merges_seq    the last commit that changed which Concepts are merged
    """

    seq: Seq
    totals: Mapping[str, Mapping[str, int]]
    controls_seq: Seq
    merges_seq: Seq


@dataclass(slots=True)
class Remembered:
    """What was read of a Space and holds until a commit that a `Head` names; shared by the readers of one process."""

    controls: dict[str, tuple[Seq, str | None]] = field(default_factory=dict)
    merges: tuple[Seq, Mapping[ElementId, ElementId]] | None = None
    lock: Lock = field(default_factory=Lock)


class Neo4jSnapshot(StateReader):
    """One Space as it stood after commit `seq`; see `brain.store.base.Snapshot`.

    head  of the Space when this was opened
    """

    def __init__(
        self,
        database: Database,
        *,
        space_id: str,
        space_key: str,
        seq: Seq,
        head: Head,
        remembered: Remembered,
        clock: Clock,
        timeout_ms: int | None,
    ) -> None:
        super().__init__(space_key, clock, timeout_ms)
        self._database = database
        self.space_id = space_id
        self.seq = seq
        self._head = head
        self._remembered = remembered
        self._past_merges: Mapping[ElementId, ElementId] | None = None

    @property
    def _at(self) -> Seq:
        """The sequence whose versions are read."""
        return self.seq

    def _ask(self, statement: str, parameters: Mapping[str, Any], timeout_s: float | None) -> list[Row]:
        return self._database.read(statement, parameters, timeout_s)

    # --- elements -----------------------------------------------------------------------------------------------------

    def elements(self, ids: Collection[ElementId]) -> dict[ElementId, Element]:
        if not ids:
            self._time_left()
            return {}
        return {element.id: element for _, element in self._versions_of(ids)}

    def scan(self, query: Scan) -> Iterator[Element]:
        plan = plan_scan(query)
        found = iter(()) if plan is None else self._matching(plan, query.after, query.limit)
        return islice(found, query.limit)

    def count(self, query: Scan) -> int:
        plan = plan_scan(query)
        if plan is None:
            return 0
        total = None
        if plan.is_tallied and query.after == 0 and self.seq == self._head.seq:
            # Of the past they say nothing: an erasure changes what is there to be counted.
            total = self._tallied(plan)
        if total is None and plan.members:
            total = sum(1 for _ in self._matching(plan, query.after, None))
        elif total is None:
            [(total,)] = self._rows(plan.total, at=self._at, after=query.after, **plan.parameters)
        return int(total) if query.limit is None else min(int(total), query.limit)

    def tuples(self, query: TupleScan) -> list[Element]:
        pattern = pattern_of(query)
        if pattern is None:
            return []
        match, parameters = pattern
        found = self._list(f"{match} WITH v ORDER BY v.number RETURN collect(v.body)", at=self._at, **parameters)
        return [element_of(body) for body in found]

    def assertions(self, about: Collection[ElementId]) -> list[Element]:
        if not about:
            return []
        return [element_of(body) for body in self._list(_ASSERTIONS, about=sorted(set(about)), at=self._at)]

    def edges(self, query: EdgeScan) -> list[Edge]:
        if any(values is not None and not values for values in (query.sources, query.fields, query.targets)):
            return []
        if query.sources is not None:
            # What an element refers to stands in itself.
            found = [edge for element in self.elements(query.sources).values() for edge in rows.edges(element)]
            found = [
                edge
                for edge in found
                if (query.fields is None or edge.field in query.fields)
                and (query.targets is None or edge.target in query.targets)
            ]
        else:
            found = self._edges_to(query.fields, query.targets)
        return sorted(found, key=lambda edge: (place_of(edge.source), edge.field, edge.position))

    def expect(self, query: TupleScan, *, hops: int = 1, claims: bool = False) -> None:
        pass

    def by_client_key(self, kind: Kind, client_key: str) -> Element | None:
        row = self._row(_CLIENT_KEY, kind=kind.value, key=indexed(client_key), at=self._at)
        return None if row is None else element_of(row[0])

    def merges(self) -> Mapping[ElementId, ElementId]:
        known = self._remembered.merges
        if known is not None and self._is_of_now(self._head.merges_seq) and known[0] == self._head.merges_seq:
            return dict(known[1])
        if self._is_of_now(self._head.merges_seq):
            found: Mapping[ElementId, ElementId] = self._read_merges()
            self._remembered.merges = self._head.merges_seq, found
        elif self._past_merges is None:
            found = self._past_merges = self._read_merges()
        else:
            found = self._past_merges
        return dict(found)

    def versions(self, element_id: ElementId) -> list[tuple[Seq, Element]]:
        return [(since, element_of(body)) for since, body in self._rows(_VERSIONS, id=element_id, at=self._at)]

    # --- search -------------------------------------------------------------------------------------------------------

    def search(self, query: SearchQuery) -> list[Hit]:
        return by_mode(query, self._by_words, self._by_likeness)

    def _by_words(self, query: SearchQuery) -> list[Hit]:
        letter = texts_of(query.kind).letter
        totals = self._totals
        corpus = None if totals is None else (_total(totals, "texts", letter), _total(totals, "terms", letter))
        return keywords.search(self._rows, self.elements, query, self._at, corpus)

    def _by_likeness(self, query: SearchQuery) -> list[Hit]:
        return vectors.search(self._rows, self.elements, query, self._at)

    @property
    def _totals(self) -> Mapping[str, Mapping[str, int]] | None:
        """The totals at this snapshot, where they are known."""
        return self._head.totals if self.seq == self._head.seq else None

    def freshness(self, embedder: str, kind: Kind | None = None) -> Freshness:
        return vectors.freshness(self._rows, embedder, kind, self.seq, self._at)

    def unindexed(self, embedder: str, limit: int) -> list[Passage]:
        return vectors.unindexed(self._rows, embedder, limit)

    # --- plans --------------------------------------------------------------------------------------------------------

    def select(self, plan: Step) -> Iterator[tuple[Json, ...]] | None:
        statement = self._compiled(plan)
        return None if statement is None else self._run_plan(statement)

    def explain(self, plan: Step) -> str | None:
        from brain.store.neo4j import plans

        statement = self._compiled(plan)
        return None if statement is None else plans.shown(statement)

    def _compiled(self, plan: Step) -> plans.Statement | None:
        from brain.store.neo4j import plans

        try:
            statement = plans.statement_of(plan)
        except plans.NotPushable:
            return None
        return None if statement.compares_ends and self.merges() else statement

    def _run_plan(self, statement: plans.Statement) -> Iterator[tuple[Json, ...]]:
        [found] = self._rows(statement.text, at=self._at, **statement.parameters)
        yield from statement.rows(found)

    # --- control documents, counts, commits ---------------------------------------------------------------------------

    def control(self, name: str) -> Document | None:
        self._time_left()
        known = self._remembered.controls.get(name)
        if known is None or known[0] != self._head.controls_seq or not self._is_of_now(self._head.controls_seq):
            row = self._row(_CONTROL, name=name, at=self._at)
            known = self._head.controls_seq, None if row is None else row[0]
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
        row = self._row(_COMMIT_BY_TX, tx=tx_id, last=self._at)
        return None if row is None else _commit(row)

    def commits(self, *, after: Seq = 0, until: Seq | None = None, limit: int | None = None) -> list[Commit]:
        last = self._at if until is None else min(until, self._at)
        bound = UNLIMITED if limit is None else limit
        return [_commit(row) for row in self._rows(_COMMITS, after=after, last=last, limit=bound)]

    def commit_at(self, moment: Timestamp) -> Commit | None:
        row = self._row(_COMMIT_AT, moment=moment, last=self._at)
        return None if row is None else _commit(row)

    # --- how ----------------------------------------------------------------------------------------------------------

    def _rows(self, statement: str, **parameters: Any) -> list[Row]:
        """The rows of one statement about the graph, one round trip; `$space` is bound for it."""
        return self._state_rows(statement, **parameters)

    def _row(self, statement: str, **parameters: Any) -> Row | None:
        rows_ = self._rows(statement, **parameters)
        return rows_[0] if rows_ else None

    def _list(self, statement: str, **parameters: Any) -> list[Any]:
        """The one value of a statement, which collects all it finds in a list."""
        [(found,)] = self._rows(statement, **parameters)
        return list(found)

    def _is_of_now(self, since: Seq) -> bool:
        """Whether what last changed with commit `since` is at this snapshot as it is at the head it was opened at."""
        return self.seq >= since

    def _read_merges(self) -> dict[ElementId, ElementId]:
        return dict(self._rows(_MERGES, at=self._at))

    def _versions_of(self, ids: Collection[ElementId]) -> list[tuple[Seq, Element]]:
        found = self._list(ELEMENTS, ids=sorted(set(ids)), at=self._at)
        return [(since, element_of(body)) for since, body in found]

    def _matching(self, plan: ScanPlan, after: int, limit: int | None) -> Iterator[Element]:
        """The elements of a plan by ascending number, one page in memory."""
        page = PAGE if limit is None or plan.members else max(1, min(PAGE, limit))
        while True:
            found = self._list(plan.page, at=self._at, after=after, limit=page, **plan.parameters)
            for _, body in found:
                element = element_of(body)
                if plan.holds(element):
                    yield element
            if len(found) < page:
                return
            after = found[-1][0]

    def _tallied(self, plan: ScanPlan) -> int | None:
        """How many elements the tallies say, None when they say nothing of this sequence."""
        states = plan.parameters.get("states")
        total = 0
        for (value,) in self._rows(_TALLIES, kind=plan.kind.value, types=plan.by_type, states=states):
            since, elements, since_before, elements_before = value or (UNLIMITED, 0, UNLIMITED, 0)
            if since <= self._at:
                total += elements
            elif since_before <= self._at:
                total += elements_before
            else:
                return None
        return total

    def _edges_to(self, fields: Collection[str] | None, targets: Collection[ElementId] | None) -> list[Edge]:
        types = {RELATIONSHIPS.get(name, STRUCTURAL) for name in fields} if fields is not None else _ALL_TYPES
        among = "IN $targets" if targets is not None else "IS NOT NULL"
        also = " AND r.field IN $fields" if fields is not None else ""
        statement = " UNION ALL ".join(
            f"MATCH (e)-[r:{type_}]->() USING INDEX r:{type_}(space, target)"
            f" WHERE r.space = $space AND r.target {among} AND r.from_seq <= $at AND $at < r.to_seq{also}"
            " RETURN e.id AS source, r.field AS field, r.target AS target, r.position AS position, r.role AS role"
            for type_ in sorted(types)
        )
        found = self._rows(
            statement,
            at=self._at,
            targets=None if targets is None else sorted(targets),
            fields=None if fields is None else sorted(fields),
        )
        return [Edge(*row) for row in found]


_ALL_TYPES = frozenset((*RELATIONSHIPS.values(), STRUCTURAL))


def _total(totals: Mapping[str, Mapping[str, int]], name: str, letter: str) -> int:
    return totals.get(name, {}).get(letter, 0)


def _commit(row: Row) -> Commit:
    seq, tx_id, committed_at, record, envelope = row
    return Commit(seq, tx_id, committed_at, orjson.loads(record), orjson.loads(envelope))
