"""Every hot read of the SQLite store is served by an index, whatever the size of a Space and without statistics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brain.store.base import EdgeScan, Kind, Likeness, Scan, SearchMode, SearchQuery, SpaceStore, TupleScan
from brain.store.embedding import index_pending
from brain.store.hashing import HashEmbedder
from brain.store.sqlite import SqliteStore
from brain.store.sqlite.snapshot import SqliteSnapshot
from brain.times import FixedClock
from tests.store.building import FRIENDS, KNOWS, PERSON, PLACE, assertion, concept, evidence, proposition, ref, write

TABLES = (
    *("element", "past", "edge", "edge_past", "posting", "posting_past", "passage", "passage_past", "vector"),
    *("vector_past", "history", "control", "document", "work", "lease", "client_key"),
)
SCANNED = re.compile(rf"SCAN (?:{'|'.join(TABLES)})\b")

EMBEDDER = HashEmbedder(64)
SEMANTIC, LIKE = SearchMode.SEMANTIC, Likeness(EMBEDDER.name, tuple(EMBEDDER.embed(["alice"])[0]))
ONE, TWO = frozenset({PERSON}), frozenset({PERSON, PLACE})

READS: dict[str, Callable[[SqliteSnapshot], Any]] = {
    "one id": lambda s: s.elements(["C-1"]),
    "many ids": lambda s: s.elements(["C-1", "P-1", "A-1"]),
    "type": lambda s: list(s.scan(Scan(Kind.CONCEPT, lineages=ONE))),
    "types": lambda s: list(s.scan(Scan(Kind.CONCEPT, lineages=TWO, states=None))),
    "type and key": lambda s: list(s.scan(Scan(Kind.CONCEPT, lineages=ONE, key="alice"))),
    "types and key": lambda s: list(s.scan(Scan(Kind.CONCEPT, lineages=TWO, key="alice", states=None))),
    "name": lambda s: list(s.scan(Scan(Kind.CONCEPT, name="Alice"))),
    "canonical id": lambda s: list(s.scan(Scan(Kind.CONCEPT, canonical_id="x"))),
    "class": lambda s: list(s.scan(Scan(Kind.EVIDENCE, classes=frozenset({"message"})))),
    "type and member": lambda s: list(s.scan(Scan(Kind.CONCEPT, lineages=ONE, members=((("attributes", "a"), 1),)))),
    "count of a name": lambda s: s.count(Scan(Kind.CONCEPT, name="Alice")),
    "count of a type": lambda s: s.count(Scan(Kind.CONCEPT, lineages=ONE)),
    "subject": lambda s: s.tuples(TupleScan(subjects=frozenset({"C-1"}))),
    "subject, predicate": lambda s: s.tuples(TupleScan(frozenset({"C-1", "C-2"}), frozenset({KNOWS}))),
    "object": lambda s: s.tuples(TupleScan(objects=frozenset({"C-1"}))),
    "whole tuple": lambda s: s.tuples(TupleScan(frozenset({"C-1"}), frozenset({KNOWS}), frozenset({"C-2", "C-3"}))),
    "pairs": lambda s: s.tuples(
        TupleScan(None, frozenset({KNOWS, FRIENDS}), pairs=frozenset({("C-1", "C-2"), ("C-2", "C-3")}))
    ),
    "predicate": lambda s: s.tuples(TupleScan(predicates=frozenset({KNOWS, FRIENDS}))),
    "assertions": lambda s: s.assertions(["P-1", "P-2"]),
    "edges by source": lambda s: s.edges(EdgeScan(sources=frozenset({"C-1", "A-1"}), fields=frozenset({FRIENDS}))),
    "edges by target": lambda s: s.edges(EdgeScan(targets=frozenset({"C-1"}), fields=frozenset({FRIENDS, "object"}))),
    "edges by both": lambda s: s.edges(EdgeScan(sources=frozenset({"C-1"}), targets=frozenset({"C-2"}))),
    "client key": lambda s: s.by_client_key(Kind.EVIDENCE, "k"),
    "versions": lambda s: s.versions("C-1"),
    "control": lambda s: s.control("schema"),
    "commit": lambda s: s.commit(1),
    "commit by id": lambda s: s.commit_by_tx("kip:space:demo#1"),
    "commits": lambda s: s.commits(after=0, limit=5),
    "document": lambda s: s.get("notes", "a"),
    "documents": lambda s: s.scan_state("notes", prefix="a", after="ab", limit=5),
    "work": lambda s: s.work("formation", limit=1),
    "one entry of work": lambda s: s.work_by_id(1),
    "lease": lambda s: s.lease("formation"),
}
SEARCHES: dict[str, Callable[[SqliteSnapshot], Any]] = {
    "a term": lambda s: s.search(SearchQuery(Kind.CONCEPT, "alice", None, 5)),
    "terms": lambda s: s.search(SearchQuery(Kind.CONCEPT, "alice bob", None, 5)),
    "terms of a type": lambda s: s.search(SearchQuery(Kind.CONCEPT, "alice bob", ONE, 5)),
    "terms of types": lambda s: s.search(SearchQuery(Kind.CONCEPT, "alice bob", TWO, 5)),
    "assertions": lambda s: s.search(SearchQuery(Kind.ASSERTION, "knows", None, 5)),
    "likeness": lambda s: s.search(SearchQuery(Kind.CONCEPT, "", None, 5, 0.1, SEMANTIC, LIKE)),
    "likeness of a type": lambda s: s.search(SearchQuery(Kind.CONCEPT, "", ONE, 5, 0.0, SEMANTIC, LIKE)),
    "likeness of types": lambda s: s.search(SearchQuery(Kind.CONCEPT, "", TWO, 5, 0.0, SEMANTIC, LIKE)),
    "likeness of assertions": lambda s: s.search(SearchQuery(Kind.ASSERTION, "", None, 5, 0.0, SEMANTIC, LIKE)),
    "both": lambda s: s.search(SearchQuery(Kind.CONCEPT, "alice bob", ONE, 5, 0.0, SearchMode.HYBRID, LIKE)),
    "freshness": lambda s: s.freshness("any", Kind.CONCEPT),
    "freshness of all": lambda s: s.freshness(EMBEDDER.name),
    "what waits": lambda s: s.unindexed("any", 5),
    "what a guest may see": lambda s: s.search(
        SearchQuery(Kind.ASSERTION, "knows", None, 5, 0.0, SearchMode.HYBRID, LIKE, lambda one: True)
    ),
}


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpaceStore]:
    folder: Path = tmp_path_factory.mktemp("spaces")
    store = SqliteStore(folder, clock=FixedClock(0))
    space = store.create("demo", now_ms=0)
    for version in (1, 2):
        write(
            space,
            concept("C-1", key="alice", name=f"Alice {version}", version=version),
            concept("C-2", PLACE, name="Bob", version=version),
            proposition("P-1", "C-1", KNOWS, ref("C-2"), version=version),
            assertion("A-1", "P-1", "C-1", version=version),
            evidence("E-1", "text", version=version),
            schema={"version": version},
        )
        index_pending(space, EMBEDDER)
    yield space
    store.close()


def plans(space: SpaceStore, seq: int | None, read: Callable[[SqliteSnapshot], Any]) -> list[tuple[str, list[str]]]:
    """Each statement a read ran, with the lines of its plan."""
    ran: list[tuple[str, Any]] = []
    with space.snapshot(seq) as snapshot:
        assert isinstance(snapshot, SqliteSnapshot)
        connection: Any = snapshot._connection

        def trace(_: Any, statement: str, bindings: Any) -> bool:
            ran.append((statement, bindings))
            return True

        connection.exec_trace = trace
        try:
            read(snapshot)
        finally:
            connection.exec_trace = None
        return [
            (statement, [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)])
            for statement, bindings in ran
        ]


@pytest.mark.requirement("BR-STORE-006")
@pytest.mark.parametrize("seq", [None, 1], ids=["head", "past"])
@pytest.mark.parametrize("name", READS)
def test_a_hot_read_scans_no_table(space: SpaceStore, name: str, seq: int | None) -> None:
    found = plans(space, seq, READS[name])
    assert found
    for statement, lines in found:
        assert not [line for line in lines if SCANNED.match(line)], statement


@pytest.mark.requirement("BR-STORE-006")
@pytest.mark.parametrize("seq", [None, 1], ids=["head", "past"])
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_scans_no_table(space: SpaceStore, name: str, seq: int | None) -> None:
    for statement, lines in plans(space, seq, SEARCHES[name]):
        assert not [line for line in lines if SCANNED.match(line)], statement
