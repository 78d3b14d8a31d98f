"""What the Neo4j store says when the database is not there, or its answer is not."""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Iterator, Mapping

import pytest

from brain import errors
from brain.errors import Retry
from brain.store.base import SpaceStore
from brain.store.neo4j import Neo4jStore, space
from tests.store.building import concept, write, write_in
from tests.store.neo4j_service import connected
from tests.store.wire import Cut, Wire, wire_to


@pytest.fixture
def wire(neo4j_service: Mapping[str, str]) -> Iterator[Wire]:
    with wire_to(neo4j_service["NEO4J_URI"]) as made:
        yield made


@pytest.fixture
def store(neo4j_service: Mapping[str, str], wire: Wire) -> Iterator[Neo4jStore]:
    made = connected({**neo4j_service, "NEO4J_URI": wire.uri}, f"test-{uuid.uuid4().hex}")
    yield made
    made.close()


@pytest.fixture
def demo(store: Neo4jStore) -> SpaceStore:
    opened = store.create("demo", now_ms=0)
    write(opened, concept("C-1", name="first"))
    return opened


def names(opened: SpaceStore) -> list[str]:
    with opened.snapshot() as snapshot:
        return [one.body["name"] for one in snapshot.elements(["C-1", "C-2"]).values()]


@pytest.mark.requirement("BR-STORE-013", "BR-STORE-002", "KI-TX-012")
def test_a_commit_whose_answer_was_lost_is_found_to_have_taken_place(demo: SpaceStore, wire: Wire) -> None:
    wire.cut = Cut.AFTER
    assert write(demo, concept("C-2", name="second")) == 2
    assert names(demo) == ["first", "second"]
    wire.cut = Cut.AFTER
    with demo.transaction() as transaction:
        transaction.set("notes", "a", {"n": 1})
    with demo.snapshot() as snapshot:
        assert snapshot.get("notes", "a") == {"n": 1}


@pytest.mark.requirement("BR-STORE-013", "BR-STORE-002", "KI-TX-012")
def test_a_commit_that_never_arrived_is_found_not_to_have_and_may_be_sent_again(demo: SpaceStore, wire: Wire) -> None:
    wire.cut = Cut.BEFORE
    with pytest.raises(errors.InternalError) as told:
        write(demo, concept("C-2", name="second"))
    assert told.value.retry is Retry.SAFE_SAME_REQUEST
    assert told.value.after_ms is not None
    assert names(demo) == ["first"]
    assert write(demo, concept("C-2", name="second")) == 2
    wire.cut = Cut.BEFORE
    with pytest.raises(errors.InternalError), demo.transaction() as transaction:
        transaction.set("notes", "a", {"n": 1})
    with demo.snapshot() as snapshot:
        assert snapshot.get("notes", "a") is None


@pytest.mark.requirement("BR-STORE-013", "KI-TX-012")
@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
def test_an_outcome_nobody_can_look_up_is_told_as_unknown(
    demo: SpaceStore, wire: Wire, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "ASK_AGAIN_S", (0.0, 0.01))
    wire.cut, wire.stays_down = cut, True
    with pytest.raises(errors.OutcomeUnknown):
        write(demo, concept("C-2", name="second"))
    wire.is_down = False
    assert demo.head() == (2 if cut is Cut.AFTER else 1)


def test_a_transaction_that_is_cut_off_midway_leaves_nothing_and_the_lock_is_free(demo: SpaceStore, wire: Wire) -> None:

    def cut_off() -> None:
        with demo.transaction() as transaction:
            write_in(transaction, [concept("C-2", name="second")])
            wire.break_all()

    with pytest.raises(errors.InternalError):
        cut_off()
    assert names(demo) == ["first"]
    assert write(demo, concept("C-2", name="other")) == 2


def test_connections_that_broke_while_idle_hold_nobody_up(demo: SpaceStore, wire: Wire) -> None:
    for _ in range(3):
        wire.break_all()
        assert names(demo) == ["first"]
        wire.break_all()
        with demo.transaction() as transaction:
            transaction.set("notes", "a", {})


@pytest.mark.requirement("BR-STORE-013")
def test_a_database_that_is_down_is_told_and_never_taken_for_an_empty_one(
    demo: SpaceStore, store: Neo4jStore, wire: Wire
) -> None:
    wire.is_down = True
    wire.break_all()
    for ask in (
        store.check,
        store.spaces,
        lambda: store.exists("demo"),
        lambda: store.open("demo"),
        lambda: store.create("other", now_ms=0),
        lambda: store.delete("demo"),
        demo.head,
        lambda: names(demo),
        lambda: write(demo, concept("C-2", name="second")),
    ):
        with pytest.raises(errors.InternalError) as told:
            ask()
        assert (told.value.retry, told.value.after_ms) == (Retry.SAFE_SAME_REQUEST, 5_000)
    wire.is_down = False
    assert store.exists("demo")
    assert names(demo) == ["first"]


def test_a_store_starts_without_its_database_and_says_so_when_asked(neo4j_service: Mapping[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    store = connected({**neo4j_service, "NEO4J_URI": f"bolt://127.0.0.1:{port}"}, "none")
    with pytest.raises(errors.InternalError, match="cannot be reached"):
        store.check()
    store.close()


def test_a_wrong_password_is_told_apart(neo4j_service: Mapping[str, str]) -> None:
    store = connected({**neo4j_service, "NEO4J_PASSWORD": "wrong-one"}, "none")
    with pytest.raises(errors.InternalError, match="name or password"):
        store.check()
    store.close()


@pytest.mark.requirement("BR-STORE-014")
def test_a_writer_of_another_process_is_waited_for_until_the_deadline(
    demo: SpaceStore, store: Neo4jStore, neo4j_service: Mapping[str, str]
) -> None:
    other_store = connected(neo4j_service, store._deployment)
    other = other_store.open("demo")

    def wait() -> None:
        with other.transaction(timeout_ms=300):
            pass

    with demo.transaction():
        with pytest.raises(errors.SerializationConflict):
            wait()
        with other.snapshot(timeout_ms=5_000) as snapshot:
            assert snapshot.seq == 1
    assert write(other, concept("C-2", name="second")) == 2
    other_store.close()


@pytest.mark.requirement("BR-STORE-013")
def test_a_read_past_its_deadline_says_so(demo: SpaceStore) -> None:
    with demo.snapshot(timeout_ms=100) as snapshot:
        slow = "UNWIND range(1, 200000000) AS n WITH n WHERE n % 7 = 8 RETURN n"
        with pytest.raises(errors.ExecutionTimeout):
            snapshot._rows(slow)  # type: ignore[attr-defined]
        time.sleep(0.1)
        with pytest.raises(errors.ExecutionTimeout):
            snapshot.elements(["C-1"])
