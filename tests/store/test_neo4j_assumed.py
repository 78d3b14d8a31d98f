"""Who can begin again starts from what this process last knew of a Space, and writes nothing when that is past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import neo4j
import pytest

from brain.errors import InternalError
from brain.store.base import Kind, Overtaken, Scan, SpaceStore
from brain.store.neo4j import Neo4jStore
from brain.store.neo4j.connection import Database, Row
from tests.store.building import concept, write, write_in
from tests.store.neo4j_service import connected, fresh_store

CONCEPTS = Scan(Kind.CONCEPT)


@pytest.fixture
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        yield opened


@pytest.fixture
def space(store: Neo4jStore) -> SpaceStore:
    made = store.create("demo", now_ms=0, controls={"schema": {"v": 1}})
    write(made, concept("C-1", name="Alice"))
    return made


@pytest.fixture
def elsewhere(store: Neo4jStore, neo4j_service: Mapping[str, str]) -> Iterator[SpaceStore]:
    """The same Space in another process's hands."""
    other = connected(neo4j_service, store._deployment)
    yield other.open("demo")
    other.close()


def names(space: SpaceStore) -> list[str]:
    with space.snapshot() as snapshot:
        return [element.body["name"] for element in snapshot.scan(CONCEPTS)]


def add(space: SpaceStore, name: str) -> None:
    """One more Concept, as if nobody else wrote."""
    with space.transaction(assumed=True) as transaction:
        [made] = transaction.new_ids(Kind.CONCEPT, 1)
        transaction.set("notes", name, {"id": made})
        write_in(transaction, [concept(made, name=name)])


@pytest.mark.requirement("BR-STORE-017", "KI-TX-005")
def test_a_writer_whom_another_came_before_writes_nothing_and_may_begin_again(
    space: SpaceStore, elsewhere: SpaceStore
) -> None:
    add(elsewhere, "Bob")
    with pytest.raises(Overtaken):
        add(space, "Carol")
    assert names(space) == ["Alice", "Bob"]
    with space.snapshot() as snapshot:
        assert snapshot.get("notes", "Carol") is None
    add(space, "Carol")
    add(space, "Dan")
    assert names(elsewhere) == ["Alice", "Bob", "Carol", "Dan"]


def test_what_only_state_was_written_to_is_another_space_too(space: SpaceStore, elsewhere: SpaceStore) -> None:
    with elsewhere.transaction() as transaction:
        assert transaction.acquire_lease("pass", "them", ttl_ms=1000, now_ms=0) is not None
    with pytest.raises(Overtaken), space.transaction(assumed=True) as transaction:
        assert transaction.acquire_lease("pass", "us", ttl_ms=1000, now_ms=0) is not None
    with space.transaction(assumed=True) as transaction:
        assert transaction.acquire_lease("pass", "us", ttl_ms=1000, now_ms=0) is None


def test_a_refusal_that_rests_on_what_is_no_more_so_is_not_told(space: SpaceStore, elsewhere: SpaceStore) -> None:
    def refuse() -> None:
        with space.transaction(assumed=True) as transaction:
            raise LookupError(transaction.seq)

    with pytest.raises(LookupError, match="1"):
        refuse()
    add(elsewhere, "Bob")
    with pytest.raises(Overtaken):
        refuse()
    with pytest.raises(LookupError, match="2"):
        refuse()


def test_a_reader_who_was_told_of_the_head_hears_that_it_is_another(space: SpaceStore, elsewhere: SpaceStore) -> None:
    assert space.head() == 1
    add(elsewhere, "Bob")
    with space.snapshot(assumed=True) as snapshot:
        assert len(snapshot.elements(["C-1", "C-2"])) == 2, "nothing was told yet: it begins with what is there"
        assert snapshot.seq == 2
    add(elsewhere, "Carol")
    with pytest.raises(Overtaken), space.snapshot(assumed=True) as snapshot:
        snapshot.elements([f"C-{snapshot.seq}"])
    add(elsewhere, "Dan")
    with pytest.raises(Overtaken), space.snapshot(assumed=True) as snapshot:
        assert snapshot.seq == 3


@pytest.mark.requirement("BR-STORE-014")
@pytest.mark.parametrize("arrives", ["in time", "never", "late"])
def test_a_statement_whose_answer_is_lost_is_written_as_it_is_told(
    space: SpaceStore, monkeypatch: pytest.MonkeyPatch, arrives: str
) -> None:
    sent: list[tuple[str, Any]] = []
    run = Database.run_once_raw

    def lost(database: Database, statement: str, parameters: Any, timeout_s: float) -> list[Row]:
        sent.append((statement, parameters))
        if arrives == "in time":
            run(database, statement, parameters, timeout_s)
        raise neo4j.exceptions.ServiceUnavailable

    add(space, "Bob")
    monkeypatch.setattr(Database, "run_once_raw", lost)
    if arrives == "in time":
        add(space, "Carol")
    else:
        with pytest.raises(InternalError, match="cannot be reached"):
            add(space, "Carol")
    monkeypatch.undo()
    if arrives == "late":
        database: Database = space._database  # type: ignore[attr-defined]
        assert run(database, *sent[0], 5.0) == []
    assert names(space) == ["Alice", "Bob", *(["Carol"] if arrives == "in time" else [])]
