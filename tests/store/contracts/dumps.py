"""What every store promises of a Space as rows: that one made of them is the same, past and present, and goes on."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from brain import errors
from brain.store.base import (
    Element,
    Freshness,
    Kind,
    Likeness,
    Scan,
    SearchMode,
    SearchQuery,
    SpaceExists,
    SpaceInUse,
    SpaceMissing,
    SpaceStore,
    Store,
    WorkStatus,
)
from brain.store.dump import (
    SECTIONS,
    ClientKeyRow,
    CounterRow,
    DamagedDump,
    LeaseRow,
    Row,
    SpaceRow,
    VersionRow,
    renamed,
    tally_of,
)
from brain.store.embedding import index_pending
from brain.store.hashing import HashEmbedder
from tests.store.building import assertion, concept, erase, evidence, proposition, ref, stub, write
from tests.store.contracts.history import EVERY_ID, Past, by_number, check, histories

EMBEDDER = HashEmbedder(64)
KNOWS = "kip://profiles/memory/knows"


def rows_of(space: SpaceStore) -> list[Row]:
    with space.dump() as rows:
        return list(rows)


def copied(store: Store, space: SpaceStore, space_id: str) -> SpaceStore:
    """The Space, dumped and loaded under another id."""
    with space.dump() as rows:
        return store.load(renamed(rows, space_id))


def moved(element: Element, space_id: str) -> Element:
    return replace(element, body={**element.body, "space_id": f"kip:space:{space_id}"})


@pytest.fixture
def full(space: SpaceStore) -> SpaceStore:
    """A Space with something of everything a store keeps."""
    alice = concept("C-1", key="alice", name="Alice", attributes={"city": "Oslo", "age": 41.0, "big": 2**53 - 1})
    write(space, alice, concept("C-2", name="Bob"), client_keys={"C-1": "key-ü"}, schema={"version": 1})
    write(space, proposition("P-1", "C-1", KNOWS, ref("C-2")), evidence("E-1", "Alice's secret is 1234"))
    write(space, assertion("A-1", "P-1", "C-1", evidence=[{"id": "E-1", "role": "support"}]), schema={"version": 2})
    write(space, concept("C-1", key="alice", name="Alicia", version=2))
    erase(space, stub(evidence("E-1", "")))
    with space.transaction() as transaction:
        transaction.new_ids(Kind.CONCEPT, 5)
        transaction.set("notes", "a", {"text": 'é"\u0000', "n": 1.5, "list": [None, True]})
        transaction.set("notes", "b", {}, expires_ms=2**41)
        ids = [transaction.enqueue("formation", {"n": n}, not_before=n) for n in range(4)]
        transaction.begin_work(ids[0], 7)
        transaction.update_work(ids[1], status=WorkStatus.FAILED, note="no use")
        transaction.delete_work(ids[3])
        for name in ("pass", "other"):
            transaction.acquire_lease(name, "me", ttl_ms=10, now_ms=0)
            transaction.acquire_lease(name, "you", ttl_ms=2**40, now_ms=10)
    while index_pending(space, EMBEDDER).done:
        pass
    return space


class DumpContract:
    @pytest.mark.requirement("BR-LIFE-025", "BR-LIFE-026")
    # One process may run it for each store; the examples of one are good for the other.
    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(history=histories)
    def test_a_space_made_of_rows_answers_as_the_dumped_one_at_every_sequence(
        self, store: Store, history: list[object]
    ) -> None:
        space_id, copy_id = uuid.uuid4().hex, uuid.uuid4().hex
        space, past = store.create(space_id, now_ms=5), Past()
        for step in history:
            if isinstance(step, list):
                write(space, *step)
                past.put(step)
            elif step in past.states[-1]:
                left = stub(past.states[-1][step])
                erase(space, left)
                past.erase(left)
        past.states = [{key: moved(found, copy_id) for key, found in state.items()} for state in past.states]
        copy = copied(store, space, copy_id)
        assert copy.instance_id != space.instance_id
        for seq, state in enumerate(past.states):
            with copy.snapshot(seq) as snapshot:
                check(snapshot, state)
        with copy.snapshot() as snapshot, space.snapshot() as original:
            check(snapshot, past.states[-1])
            active = [found for found in past.states[-1].values() if found.state == "active"]
            assert snapshot.counts() == {kind: len(by_number(active, kind)) for kind in Kind}
            for element_id in EVERY_ID:
                assert snapshot.versions(element_id) == past.versions(element_id)
            assert snapshot.commits() == original.commits()
        store.delete(space_id)
        store.delete(copy_id)

    @pytest.mark.requirement("BR-LIFE-025")
    def test_rows_stand_in_their_sections_and_give_the_same_digest_again(self, store: Store, full: SpaceStore) -> None:
        rows = rows_of(full)
        places = [SECTIONS.index(type(row)) for row in rows]
        assert places == sorted(places)
        assert {SECTIONS[place] for place in places} == set(SECTIONS)
        assert isinstance(rows[0], SpaceRow)
        assert (rows[0].space_id, rows[0].created_ms, rows[0].seq) == ("demo", 0, 5)
        with full.dump() as dumped:
            again = store.load(renamed(dumped, "copy"))
        assert tally_of(rows_of(again)).digest == tally_of(renamed(rows, "copy")).digest

    def test_state_queue_keys_and_controls_come_along(self, store: Store, full: SpaceStore) -> None:
        with copied(store, full, "copy").snapshot() as snapshot, full.snapshot() as original:
            assert snapshot.get("notes", "a") == {"text": 'é"\u0000', "n": 1.5, "list": [None, True]}
            assert snapshot.scan_state("notes") == original.scan_state("notes")
            assert snapshot.work("formation") == original.work("formation")
            assert [work.status for work in snapshot.work("formation")] == [
                WorkStatus.RUNNING,
                WorkStatus.FAILED,
                WorkStatus.QUEUED,
            ]
            found = snapshot.by_client_key(Kind.CONCEPT, "key-ü")
            assert found is not None
            assert found.body["name"] == "Alicia"
            assert snapshot.control("schema") == {"version": 2}
            for seq in range(6):
                assert snapshot.commit(seq) == original.commit(seq)
        with store.open("copy").snapshot(2) as snapshot:
            assert snapshot.control("schema") == {"version": 1}

    def test_what_was_given_out_is_not_given_out_again(self, store: Store, full: SpaceStore) -> None:
        with full.transaction() as transaction:
            expected = transaction.new_ids(Kind.CONCEPT, 1), transaction.enqueue("formation", {})
            raise_to = transaction.lease("pass")
        copy = copied(store, full, "copy")
        with copy.transaction() as transaction:
            [number] = transaction.new_ids(Kind.CONCEPT, 1)
            assert int(number[2:]) == int(expected[0][0][2:]) + 1
            assert transaction.enqueue("formation", {}) == expected[1] + 1
            assert transaction.lease("pass") is None
            lease = transaction.acquire_lease("pass", "us", ttl_ms=10, now_ms=0)
            assert raise_to is not None
            assert lease is not None
            assert lease.token > raise_to.token
        assert write(copy, concept("C-40", name="Carol")) == 6

    def test_searches_find_the_same_with_the_same_scores(self, store: Store, full: SpaceStore) -> None:
        copy = copied(store, full, "copy")
        likeness = Likeness(EMBEDDER.name, tuple(EMBEDDER.embed(["Alicia"])[0]))
        for mode in SearchMode:
            for kind in Kind:
                for seq in (1, 3, 5):
                    query = SearchQuery(kind, "alice alicia knows", None, 10, mode=mode, likeness=likeness)
                    with copy.snapshot(seq) as snapshot, full.snapshot(seq) as original:
                        assert snapshot.search(query) == original.search(query)
        with copy.snapshot() as snapshot:
            assert [hit.id for hit in snapshot.search(SearchQuery(Kind.CONCEPT, "Alicia", None, 5))] == ["C-1"]
            assert snapshot.search(SearchQuery(Kind.EVIDENCE, "secret 1234", None, 5)) == []
            fresh = snapshot.freshness(EMBEDDER.name)
            assert replace(fresh, revision=0) == Freshness(5, 0, False, 0)
            assert snapshot.unindexed(EMBEDDER.name, 10) == []

    @pytest.mark.requirement("BR-LIFE-025")
    def test_a_dump_is_of_one_moment_while_others_write(self, store: Store, full: SpaceStore) -> None:
        with full.dump() as rows:
            first = [next(rows) for _ in range(2)]
            write(full, concept("C-1", name="Later", version=3), concept("C-50", name="Dora"))
            with full.transaction() as transaction:
                transaction.set("notes", "later", {})
                transaction.enqueue("formation", {"n": "later"})
            every = [*first, *rows]
        assert isinstance(every[0], SpaceRow)
        assert every[0].seq == 5
        names = [row.element.body.get("name") for row in every if isinstance(row, VersionRow)]
        assert "Later" not in names
        assert "Dora" not in names
        store.load(renamed(every, "copy"))
        with store.open("copy").snapshot() as snapshot:
            assert snapshot.seq == 5
            assert snapshot.get("notes", "later") is None
            assert len(snapshot.work("formation")) == 3

    def test_a_dump_left_half_way_holds_nothing_up(self, store: Store, full: SpaceStore) -> None:
        with full.dump() as rows:
            next(rows)
        assert write(full, concept("C-1", name="Later", version=3)) == 6
        full.close()
        store.delete("demo")

    @pytest.mark.parametrize("damage", ["cut", "lost", "doubled", "changed", "early", "gap", "uncounted", "stranger"])
    def test_rows_that_make_no_space_leave_none(self, store: Store, full: SpaceStore, damage: str) -> None:
        rows = list(renamed(rows_of(full), "copy"))
        with pytest.raises(DamagedDump):
            store.load(_damaged(rows, damage))
        assert list(store.spaces()) == ["demo"]
        store.load(rows)

    def test_a_source_that_fails_leaves_no_space(self, store: Store, full: SpaceStore) -> None:
        def failing() -> Iterator[Row]:
            yield from list(renamed(rows_of(full), "copy"))[:-2]
            raise RuntimeError("the source is gone")

        with pytest.raises(RuntimeError, match="gone"):
            store.load(failing())
        assert list(store.spaces()) == ["demo"]

    def test_an_id_of_another_form_is_no_space_to_load(self, store: Store, full: SpaceStore) -> None:
        with pytest.raises(errors.InvalidIdentifier):
            store.load(list(renamed(rows_of(full), "../a")))

    def test_a_space_is_replaced_only_when_that_was_asked_for(self, store: Store, full: SpaceStore) -> None:
        rows = rows_of(full)
        write(full, concept("C-1", name="Later", version=3))
        with pytest.raises(SpaceExists):
            store.load(rows)
        with full.snapshot() as snapshot:
            assert snapshot.elements(["C-1"])["C-1"].body["name"] == "Later"

    def test_a_replaced_space_is_another_instance_and_its_handles_are_stale(
        self, store: Store, full: SpaceStore
    ) -> None:
        rows = rows_of(full)
        write(full, concept("C-1", name="Later", version=3))
        try:
            restored = store.load(rows, replace=True)
        except SpaceInUse:
            # A store may want it closed first; until then nothing has happened to it.
            with full.snapshot() as snapshot:
                assert snapshot.elements(["C-1"])["C-1"].body["name"] == "Later"
            assert write(full, concept("C-2", name="Rob", version=2)) == 7
            full.close()
            restored = store.load(rows, replace=True)
        assert restored.instance_id != full.instance_id
        assert restored.head() == 5
        with restored.snapshot() as snapshot:
            assert snapshot.elements(["C-1"])["C-1"].body["name"] == "Alicia"
        with pytest.raises(SpaceMissing):
            full.head()
        with pytest.raises(SpaceMissing):
            write(full, concept("C-1", name="Stale", version=3))
        assert write(restored, concept("C-1", name="Next", version=3)) == 6

    def test_a_replacement_that_fails_leaves_the_space_as_it_was(self, store: Store, full: SpaceStore) -> None:
        rows = rows_of(full)
        write(full, concept("C-1", name="Later", version=3))
        full.close()
        with pytest.raises(DamagedDump):
            store.load(_damaged(rows, "lost"), replace=True)
        again = store.open("demo")
        assert again.instance_id == full.instance_id
        assert again.head() == 6

    def test_an_empty_space_is_copied_too(self, store: Store, space: SpaceStore) -> None:
        copy = copied(store, space, "copy")
        assert copy.head() == 0
        with copy.transaction() as transaction:
            assert transaction.new_ids(Kind.CONCEPT, 1) == ["C-1"]
        with copy.snapshot() as snapshot:
            assert list(snapshot.scan(Scan(Kind.CONCEPT))) == []


def _damaged(rows: list[Row], damage: str) -> list[Row]:
    """Rows with one fault of a kind."""
    place = next(place for place, row in enumerate(rows) if isinstance(row, VersionRow))
    without: dict[str, Callable[[], list[Row]]] = {
        "cut": lambda: rows[:3],
        "lost": lambda: [replace(row, seq=row.seq + 1) if isinstance(row, SpaceRow) else row for row in rows],
        "doubled": lambda: [*rows[: place + 1], *rows[place:]],
        "changed": lambda: [*rows[:place], _at(rows[place], 99), *rows[place + 1 :]],
        "early": lambda: [rows[0], *(row for row in rows if isinstance(row, LeaseRow)), *rows[1:]],
        "gap": lambda: [row for row in rows if getattr(row, "tx_id", "") != "kip:space:demo#2"],
        "uncounted": lambda: [
            row if not isinstance(row, CounterRow) or row.name != "concept" else replace(row, last=1) for row in rows
        ],
        "stranger": lambda: [replace(row, element_id="Z-1") if isinstance(row, ClientKeyRow) else row for row in rows],
    }
    return without[damage]()


def _at(row: Row, since: int) -> Row:
    assert isinstance(row, VersionRow)
    return replace(row, since=since)
