"""A Space moves between SQLite and Neo4j, and back, with everything it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from brain.backup.work import backup, copy, restore
from brain.store.base import Kind, Scan, SpaceStore
from brain.store.dump import tally_of
from brain.store.neo4j import Neo4jStore
from brain.store.sqlite import SqliteStore
from tests.service.world import world
from tests.store.neo4j_service import fresh_store

TEXTS = ("I live in Lisbon.", "I have moved to Porto.", "My name is Ana Ruiz and I like tea.")


@pytest.fixture
def neo4j(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as store:
        yield store


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store with the Space `home`, in which two inputs were formed and one waits."""
    made = world(tmp_path / "spaces")
    made.create()

    async def live() -> None:
        await made.submit(*TEXTS[:2])
        await made.work()
        await made.submit(TEXTS[2])

    asyncio.run(live())
    made.application.spaces.close()
    store = SqliteStore(tmp_path / "spaces")
    yield store
    store.close()


def digest_of(space: SpaceStore) -> str:
    with space.dump() as rows:
        return tally_of(rows).digest


def reads_of(space: SpaceStore) -> list[object]:
    """What its reads give, at every sequence and of the state beside the graph."""
    found: list[object] = []
    for seq in range(space.head() + 1):
        with space.snapshot(seq) as snapshot:
            elements = [element for kind in Kind for element in snapshot.scan(Scan(kind, states=None))]
            found += [elements, snapshot.commits(), snapshot.control("schema"), snapshot.control("identity")]
    with space.snapshot() as snapshot:
        found += [snapshot.work("formation"), snapshot.counts(), snapshot.merges()]
        found += [snapshot.versions(element.id) for element in snapshot.scan(Scan(Kind.CONCEPT, states=None))]
    return found


@pytest.mark.slow
@pytest.mark.requirement("BR-LIFE-025", "BR-LIFE-026")
def test_a_space_goes_to_neo4j_and_back_and_is_the_same(sqlite: SqliteStore, neo4j: Neo4jStore, tmp_path: Path) -> None:
    original = sqlite.open("home")
    there = copy(sqlite, neo4j, "home")
    assert there.rows["work"] == 1
    moved = neo4j.open("home")
    assert digest_of(moved) == there.digest == digest_of(original)
    assert reads_of(moved) == reads_of(original)

    again = SqliteStore(tmp_path / "again")
    assert copy(neo4j, again, "home").digest == there.digest
    back = again.open("home")
    assert reads_of(back) == reads_of(original)
    with moved.transaction() as one, back.transaction() as other:
        for kind in Kind:
            assert one.new_ids(kind, 1) == other.new_ids(kind, 1)
        assert one.enqueue("formation", {}) == other.enqueue("formation", {})
        leases = [tx.acquire_lease("pass", "me", ttl_ms=1, now_ms=2**41) for tx in (one, other)]
        assert leases[0] == leases[1]
        assert leases[0] is not None
        assert leases[0].token > 1
    again.close()


@pytest.mark.slow
@pytest.mark.requirement("BR-LIFE-025")
def test_an_archive_of_one_store_is_restored_by_the_other(
    sqlite: SqliteStore, neo4j: Neo4jStore, tmp_path: Path
) -> None:
    first = backup(sqlite, "home", tmp_path / "kept", 0)
    space, tally = restore(neo4j, first.path, space_id="copy")
    assert tally.digest == first.tally.digest
    assert reads_of(space)
    space.close()
    second = backup(neo4j, "copy", tmp_path / "kept", 0)
    restored, _ = restore(sqlite, second.path)
    assert digest_of(restored) == second.tally.digest
    restored.close()
