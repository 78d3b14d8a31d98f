"""How many round trips to Neo4j what is done most often takes; each is worth more than what the database does in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from brain.kip.context import Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.base import Kind, SpaceStore, TupleScan
from brain.store.neo4j import Neo4jStore
from brain.times import SystemClock
from tests.store.building import KNOWS, assertion, commit_of, concept, evidence, proposition, ref, write, write_in
from tests.store.neo4j_service import connected, fresh_store


@pytest.fixture
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        yield opened


@pytest.fixture
def space(store: Neo4jStore) -> SpaceStore:
    made = store.create("demo", now_ms=0, controls={"schema": {"v": 1}})
    write(made, concept("C-1"), concept("C-2"), proposition("P-1", "C-1", KNOWS, ref("C-2")))
    with made.snapshot() as snapshot:
        snapshot.control("schema")
        snapshot.merges()
    return made


def trips(store: Neo4jStore, do: Callable[[], object]) -> int:
    before = store.trips
    do()
    return store.trips - before


def claim(space: SpaceStore, *, assumed: bool = False) -> None:
    """What a new claim writes, once all that it names is known."""
    with space.transaction(assumed=assumed) as transaction:
        n = transaction.seq + 1
        [about] = transaction.new_ids(Kind.PROPOSITION, 1)
        [made] = transaction.new_ids(Kind.ASSERTION, 1)
        [seen] = transaction.new_ids(Kind.EVIDENCE, 1)
        transaction.put(
            [
                proposition(about, "C-1", KNOWS, f"tea {n}"),
                evidence(seen, f"tea {n}"),
                assertion(made, about, "C-1", evidence=[{"id": seen, "role": "support"}]),
            ],
            client_keys={seen: f"message:{n}"},
        )
        transaction.set("receipts", f"{n}", {"n": n})
        transaction.record(commit_of(n))


def test_a_read_takes_the_head_and_one_more(store: Neo4jStore, space: SpaceStore) -> None:
    def read() -> None:
        with space.snapshot() as snapshot:
            snapshot.tuples(TupleScan(frozenset({"C-1"}), frozenset({KNOWS})))

    assert trips(store, space.head) == 1
    assert trips(store, read) == 2


def test_what_a_commit_did_not_change_is_not_asked_for_again(store: Neo4jStore, space: SpaceStore) -> None:
    def read() -> None:
        with space.snapshot() as snapshot:
            assert snapshot.control("schema") == {"v": 1}
            assert snapshot.merges() == {}
            assert snapshot.counts()[Kind.CONCEPT] == 2

    claim(space)
    assert trips(store, read) == 1


def test_a_claim_is_begun_with_the_lock_sent_at_once_and_committed(store: Neo4jStore, space: SpaceStore) -> None:
    claim(space)
    assert trips(store, lambda: claim(space)) == 3


def test_a_claim_that_can_be_made_again_takes_one_statement(store: Neo4jStore, space: SpaceStore) -> None:
    claim(space, assumed=True)
    assert trips(store, lambda: claim(space, assumed=True)) == 1


OWNER = Session(principal_id="owner", channel="test")


def run(engine: Engine, command: str, **parameters: Any) -> dict[str, Any]:
    operation = {"command": command, "parameters": parameters}
    answer = engine.execute({"kip": "2.0", "operations": [operation]}, OWNER).response
    assert answer["status"] == "succeeded", answer
    result: dict[str, Any] = answer["results"][0]["result"]
    return result


def test_a_mutation_looks_up_all_it_names_in_one_statement_and_sends_all_it_writes_in_another(
    store: Neo4jStore,
) -> None:
    library = PackageLibrary()
    controls = Engine.birth_controls(library, ["cognitive-memory", "general"])
    engine = Engine(store.create("demo", now_ms=0, controls=controls), library, clock=SystemClock())
    person = 'CREATE CONCEPT ?{0} {{TYPE "Person" NAME "{0}" SET FIELDS {{key: "{0}"}}}}'
    made = run(engine, f"MUTATE {{ {' '.join(person.format(name) for name in 'abc')} }}")["handles"]
    claims = {
        "new Concepts with keys": f"MUTATE {{ {' '.join(person.format(name) for name in 'defgh')} }}",
        "Concepts by key": " ".join(
            ("MUTATE {", *(f'UPSERT CONCEPT ?{x} {{MATCH {{type: "Person", key: "{x}"}}}}' for x in "abcij"), "}")
        ),
        "a claim by ids": 'ASSERT (:a, "knows", :b) {by: :c, mode: "stated"}',
        "a known claim by ids": 'ASSERT (:a, "knows", :b) {by: :b, mode: "stated"}',
        "a claim of a Literal": 'ASSERT (:a, "timezone", "+01:00") {by: :a, mode: "stated"}',
        "a claim by keys": (
            'ASSERT ({type: "Person", key: "a"}, "timezone", "+02:00") {by: {type: "Person", key: "b"}, mode: "stated"}'
        ),
    }
    ids = {name: {"id": made[name]} for name in "abc"}
    run(
        engine, 'ASSERT (:a, "knows", :c) {by: :c, mode: "stated"}', **ids
    )  # control documents and merges are known now
    taken = {name: trips(store, partial(run, engine, command, **ids)) for name, command in claims.items()}
    # What a key stands for is known only then, and so is the tuple.
    assert taken == {**dict.fromkeys(claims, 2), "a claim by keys": 3}


def test_a_read_that_can_be_made_again_takes_one_statement(store: Neo4jStore, space: SpaceStore) -> None:
    def read() -> None:
        with space.snapshot(assumed=True) as snapshot:
            assert snapshot.control("schema") == {"v": 1}
            assert len(snapshot.tuples(TupleScan(frozenset({"C-1"}), frozenset({KNOWS})))) == 1
            assert snapshot.seq == 1

    assert trips(store, read) == 1


def test_state_alone_is_read_in_one_statement(store: Neo4jStore, space: SpaceStore) -> None:
    def read() -> None:
        with space.snapshot(assumed=True) as snapshot:
            assert snapshot.get("notes", "1") is None

    assert trips(store, read) == 1


def test_state_alone_is_sent_at_once_too(store: Neo4jStore, space: SpaceStore) -> None:
    def note() -> None:
        with space.transaction() as transaction:
            for n in range(5):
                transaction.set("notes", f"{n}", {})
            assert transaction.get("notes", "3") == {}
            assert transaction.lease("pass") is None

    assert trips(store, note) == 3


def test_a_head_of_another_process_is_believed_after_one_question_and_remembered(
    store: Neo4jStore, space: SpaceStore, neo4j_service: Mapping[str, str]
) -> None:
    elsewhere = connected(neo4j_service, store._deployment)
    with elsewhere.open("demo").transaction() as transaction:
        write_in(transaction, [concept("C-3")])
    elsewhere.close()
    assert trips(store, space.head) == 2
    assert trips(store, space.head) == 1
    assert space.head() == 2
