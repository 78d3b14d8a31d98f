"""How Neo4j runs the store's statements: each starts at an index, whatever the database holds and knows of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from brain.store.base import EdgeScan, Kind, Likeness, Scan, SearchMode, SearchQuery, Snapshot, TupleScan
from brain.store.dump import renamed
from brain.store.embedding import index_pending
from brain.store.hashing import HashEmbedder
from brain.store.neo4j import Neo4jStore, connection
from tests.store.building import KNOWS, LIVES_IN, concept, erase, evidence, proposition, ref, stub, write, write_in
from tests.store.contracts.graph import SCANS, TUPLES, small_world
from tests.store.neo4j_service import fresh_store

EMBEDDER = HashEmbedder(32)
FEW = frozenset({"Removed", "Space"})
"""Labels with a node a Space at most: a look at all of them is a look at the list of Spaces."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Mapping[str, Any]]:
    """Every statement that is sent, with the parameters it was first sent with."""
    found: dict[str, Mapping[str, Any]] = {}
    places: list[tuple[type, str]] = [(connection.Database, "begin"), (connection.Database, "_alone")]
    for owner, name in [*places, (connection.Turn, "run")]:
        sent = getattr(owner, name)

        def note(self: Any, statement: str, parameters: Any, *more: Any, sent: Any = sent, **named: Any) -> Any:
            found.setdefault(statement, dict(parameters))
            return sent(self, statement, parameters, *more, **named)

        monkeypatch.setattr(owner, name, note)
    return found


@pytest.fixture
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        yield opened


def do_everything(store: Neo4jStore) -> None:
    space = store.create("demo", now_ms=0, controls={"schema": {"v": 0}})
    write(space, *small_world(), client_keys={"C-1": "k"}, schema={"v": 1})
    write(space, concept("C-1", name="Alicia", version=2, merged_into=ref("C-2")))
    with space.transaction() as transaction:
        write_in(transaction, [concept("C-1", name="x", version=3)])
        list(transaction.scan(Scan(Kind.CONCEPT)))
        transaction.put([concept("C-1", name="y", version=3)])
        transaction.put_control("schema", {"v": 2})
        transaction.set("n", "a", {}, expires_ms=5)
        transaction.enqueue("q", {})
        transaction.acquire_lease("l", "m", ttl_ms=1, now_ms=0)
        transaction.scan_state("n")
        transaction.delete("n", "a")
        transaction.due_work("q", 1)
    erase(space, stub(evidence("E-1", "")))
    while index_pending(space, EMBEDDER).done:
        pass
    for seq in (None, 1):
        with space.snapshot(seq) as snapshot:
            read_everything(snapshot)
    with space.dump() as rows:
        store.load(renamed(rows, "copy"))
    store.delete("copy")
    store.open("demo")
    store.check()
    assert list(store.spaces()) == ["demo"]


def read_everything(snapshot: Snapshot) -> None:
    for scan, _ in SCANS.values():
        list(snapshot.scan(scan))
        snapshot.count(scan)
    for tuples, _ in TUPLES.values():
        snapshot.tuples(tuples)
    for edges in (EdgeScan(), EdgeScan(targets=frozenset({"C-1"}), fields=frozenset({"subject", KNOWS}))):
        snapshot.edges(edges)
    snapshot.assertions(["P-1"])
    snapshot.merges()
    snapshot.by_client_key(Kind.CONCEPT, "k")
    snapshot.versions("C-1")
    snapshot.control("schema")
    snapshot.commit(1)
    snapshot.commit_by_tx("a")
    snapshot.commit_at("2000-01-01T00:00:00.000Z")
    snapshot.get("n", "a")
    snapshot.scan_state("n", prefix="a", after="ab", reverse=True)
    snapshot.work("q")
    snapshot.due_work("q", 1)
    snapshot.work_by_id(1)
    snapshot.lease("l")
    snapshot.freshness(EMBEDDER.name)
    snapshot.unindexed("another", 3)
    likeness = Likeness(EMBEDDER.name, tuple(EMBEDDER.embed(["alice"])[0]))
    for kind in Kind:
        for mode in SearchMode:
            query = SearchQuery(kind, "alice tea", frozenset({KNOWS}), 5, mode=mode, likeness=likeness)
            snapshot.search(query)
            snapshot.search(replace(query, lineages=None, visible=lambda _: True))


def operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield plan["operatorType"].partition("@")[0], str(plan["args"].get("Details", ""))
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.mark.requirement("BR-STORE-012")
def test_every_statement_starts_at_an_index_and_no_value_stands_in_one(
    store: Neo4jStore, asked: dict[str, Mapping[str, Any]]
) -> None:
    do_everything(store)
    assert len(asked) > 80
    with store._database._driver.session() as session:
        for statement, parameters in asked.items():
            if statement.startswith(("CREATE CONSTRAINT", "CREATE INDEX", "DROP INDEX", "CALL db.")):
                continue
            explained = session.run(f"EXPLAIN {connection._bound(statement)}", {"p": parameters}).consume()
            assert explained.plan is not None
            for operator, details in operators(explained.plan):
                scanned = details.partition(":")[2]
                assert "Scan" not in operator or scanned in FEW, (operator, details, statement)
            assert "alice" not in statement.lower()
            assert "kip://" not in statement


def of(*ids: str) -> frozenset[str]:
    return frozenset(ids)


FROM_HUBS = {
    "a rare predicate of a hub": (TupleScan(of("C-1"), of(KNOWS)), 1),
    "a rare predicate to a hub": (TupleScan(None, of(KNOWS), of("C-2")), 1),
    "one tuple between hubs": (TupleScan(of("C-1"), of(LIVES_IN), of("C-2")), 1),
    "two tuples to a hub": (TupleScan(of("C-1001", "C-1002"), of(LIVES_IN), of("C-2")), 2),
    "two tuples of a hub": (TupleScan(of("C-1"), of(LIVES_IN), of("C-7", "C-8")), 2),
}


@pytest.mark.requirement("BR-STORE-006")
def test_what_is_asked_of_a_hub_costs_what_is_answered(store: Neo4jStore, asked: dict[str, Mapping[str, Any]]) -> None:
    space = store.create("demo", now_ms=0)
    write(space, concept("C-1"), concept("C-2"), proposition("P-1", "C-1", KNOWS, ref("C-2")))
    write(space, *(proposition(f"P-{n}", "C-1", LIVES_IN, ref(f"C-{n}")) for n in range(2, 402)))
    write(space, *(proposition(f"P-{n}", f"C-{n}", LIVES_IN, ref("C-2")) for n in range(1001, 1401)))
    for name, (query, answers) in FROM_HUBS.items():
        with space.snapshot() as snapshot:
            asked.clear()
            assert len(snapshot.tuples(query)) == answers, name
        [(statement, parameters)] = asked.items()
        with store._database._driver.session() as session:
            profile = session.run(f"PROFILE {connection._bound(statement)}", {"p": parameters}).consume().profile
        assert profile is not None
        assert sum(hits(profile)) <= 40, name


def hits(plan: Mapping[str, Any]) -> Iterator[int]:
    yield plan.get("dbHits", 0)
    for child in plan.get("children", ()):
        yield from hits(child)
