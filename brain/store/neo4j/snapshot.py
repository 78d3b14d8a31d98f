"""Reads of the graph as of a sequence. The present and the past are one query: each takes the versions that hold then.

Every statement begins at an index, named by a hint, and is one round trip. What has been committed as a whole by the
sequence read at is found entire, whatever is being committed meanwhile: later versions begin past it, and the end of
one is written past it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from brain import errors
from brain.store import rows
from brain.store.base import (
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
    Undecided,
)
from brain.store.neo4j import keywords, vectors
from brain.store.neo4j.failures import code_of
from brain.store.neo4j.keys import indexed, place_of
from brain.store.neo4j.records import RecordReader
from brain.store.neo4j.scans import HOLDS, ScanPlan, plan_scan
from brain.store.neo4j.schema import RELATIONSHIPS, STRUCTURAL
from brain.store.neo4j.state import UNLIMITED
from brain.store.neo4j.tuples import pattern_of
from brain.store.neo4j.versions import element_of
from brain.store.search import by_mode, texts_of
from brain.times import Seq

if TYPE_CHECKING:
    from brain.kip.algebra import Step
    from brain.store.neo4j import plans

PAGE = 512
"""Elements a scan reads at a time."""

# An index sorts by itself only for those who name all its columns.
LAST_VERSION = " ORDER BY v.space DESC, v.id DESC, v.from_seq DESC LIMIT 1"
ELEMENTS = (
    "UNWIND $ids AS id CALL (id) { MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    f" WHERE v.space = $space AND v.id = id AND v.from_seq <= $at RETURN v{LAST_VERSION} }}"
    " RETURN collect([v.from_seq, v.body]) AS found"
)
"""One list in one record: each record is a message of its own, and a thousand of these take longer than to find what
they say."""
_ASSERTIONS = (
    "MATCH (v:Version) USING INDEX v:Version(space, proposition)"
    f" WHERE v.space = $space AND v.proposition IN $about AND {HOLDS}"
    " WITH v ORDER BY v.number RETURN collect(v.body) AS found"
)
_CLIENT_KEY = (
    "MATCH (k:ClientKey) USING INDEX k:ClientKey(space, kind, key)"
    " WHERE k.space = $space AND k.kind = $kind AND k.key = $key"
    " MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    f" WHERE v.space = $space AND v.id = k.id AND v.from_seq <= $at"
    f" WITH v{LAST_VERSION} RETURN collect(v.body) AS found"
)
_TALLIES = (
    "MATCH (t:Tally) USING INDEX t:Tally(space, kind, type, state)"
    " WHERE t.space = $space AND t.kind = $kind AND t.type IS NOT NULL AND t.state IS NOT NULL"
    " AND ($types IS NULL OR t.type IN $types) AND ($states IS NULL OR t.state IN $states)"
    " RETURN collect(coalesce(t.value, [])) AS found"
)
_UNDECIDED = "ArithmeticError"
"""How a statement fails that met a value it cannot judge."""
_FIELDS = {type_: name for name, type_ in RELATIONSHIPS.items()}


class Neo4jSnapshot(RecordReader):
    """One Space as it stood after commit `seq`; see `brain.store.base.Snapshot`."""

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
            total = self._value(plan.total, after=query.after, **plan.parameters)
        return int(total) if query.limit is None else min(int(total), query.limit)

    def tuples(self, query: TupleScan) -> list[Element]:
        pattern = pattern_of(query)
        if pattern is None:
            return []
        match, parameters = pattern
        found = self._value(f"{match} WITH v ORDER BY v.number RETURN collect(v.body) AS found", **parameters)
        return [element_of(body) for body in found]

    def assertions(self, about: Collection[ElementId]) -> list[Element]:
        if not about:
            return []
        return [element_of(body) for body in self._value(_ASSERTIONS, about=sorted(set(about)))]

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

    def expect(self, query: TupleScan, *, hops: int = 1, claims: bool = False, of_next_scan: bool = False) -> None:
        pass

    def by_client_key(self, kind: Kind, client_key: str) -> Element | None:
        bodies = self._value(_CLIENT_KEY, kind=kind.value, key=indexed(client_key))
        return element_of(bodies[0]) if bodies else None

    # --- search -------------------------------------------------------------------------------------------------------

    def search(self, query: SearchQuery) -> list[Hit]:
        return by_mode(query, self._by_words, self._by_likeness)

    def _by_words(self, query: SearchQuery) -> list[Hit]:
        letter = texts_of(query.kind).letter
        totals = self._totals  # of the head, which from here on is told of
        corpus = None if totals is None else (_total(totals, "texts", letter), _total(totals, "terms", letter))
        return keywords.search(self._rows, self._value, self.elements, query, self._at, corpus)

    def _by_likeness(self, query: SearchQuery) -> list[Hit]:
        self.make_certain()
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

    def select(self, plan: Step, repeated: Repeated | None = None) -> Iterator[tuple[Json, ...]] | None:  # noqa: ARG002
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
        try:
            found = self._value(statement.text, **statement.parameters)
        except errors.InternalError as error:
            if code_of(error.__cause__ or error) == _UNDECIDED:
                raise Undecided from error
            raise
        yield from statement.rows(found)

    # --- how ----------------------------------------------------------------------------------------------------------

    def _versions_of(self, ids: Collection[ElementId]) -> list[tuple[Seq, Element]]:
        found = self._value(ELEMENTS, ids=sorted(set(ids)))
        return [(since, element_of(body)) for since, body in found]

    def _matching(self, plan: ScanPlan, after: int, limit: int | None) -> Iterator[Element]:
        """The elements of a plan by ascending number, one page in memory."""
        page = PAGE if limit is None or plan.members else max(1, min(PAGE, limit))
        while True:
            found = self._value(plan.page, after=after, limit=page, **plan.parameters)
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
        for value in self._value(_TALLIES, kind=plan.kind.value, types=plan.by_type, states=states):
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
            " RETURN [e.id, r.field, r.target, r.position, r.role] AS edge"
            for type_ in sorted(types)
        )
        found = self._value(
            f"CALL () {{ {statement} }} RETURN collect(edge) AS found",
            targets=None if targets is None else sorted(targets),
            fields=None if fields is None else sorted(fields),
        )
        return [Edge(*row) for row in found]


_ALL_TYPES = frozenset((*RELATIONSHIPS.values(), STRUCTURAL))


def _total(totals: Mapping[str, Mapping[str, int]], name: str, letter: str) -> int:
    return totals.get(name, {}).get(letter, 0)
