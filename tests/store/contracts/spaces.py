"""What every store promises of Spaces as wholes."""

from __future__ import annotations

import pytest

from brain import errors
from brain.store.base import Kind, Scan, SearchQuery, SpaceExists, SpaceMissing, Store
from tests.store.building import concept, write

ALL_CONCEPTS = Scan(Kind.CONCEPT)


class SpacesContract:
    @pytest.mark.requirement("BR-SPACE-002")
    @pytest.mark.parametrize(
        "space_id", ["", "A", "a-b", "a" * 65, "../a", "a/b", "a.b", "é", "a\n", "a b", "a\0", "٣"]
    )
    def test_an_id_of_another_form_names_no_space(self, store: Store, space_id: str) -> None:
        with pytest.raises(errors.InvalidIdentifier):
            store.create(space_id, now_ms=0)
        with pytest.raises(SpaceMissing):
            store.open(space_id)
        assert not store.exists(space_id)
        store.delete(space_id)
        assert list(store.spaces()) == []

    @pytest.mark.requirement("BR-SPACE-002")
    @pytest.mark.parametrize("space_id", ["a", "a_1", "0", "_", "a" * 64])
    def test_an_id_of_the_right_form_names_a_space(self, store: Store, space_id: str) -> None:
        assert store.create(space_id, now_ms=0).space_id == space_id
        assert store.exists(space_id)

    def test_spaces_are_listed_by_id(self, store: Store) -> None:
        for space_id in ("b", "a_2", "a"):
            store.create(space_id, now_ms=0)
        assert list(store.spaces()) == ["a", "a_2", "b"]

    def test_a_new_space_is_empty_at_sequence_0_and_has_its_first_controls(self, store: Store) -> None:
        space = store.create("a", now_ms=0, controls={"schema": {"version": 1}})
        assert space.head() == 0
        with space.snapshot() as snapshot:
            assert (snapshot.seq, snapshot.space_id) == (0, "a")
            assert snapshot.control("schema") == {"version": 1}
            assert snapshot.control("policies") is None
            assert list(snapshot.scan(ALL_CONCEPTS)) == []

    @pytest.mark.requirement("BR-SPACE-005")
    def test_creating_a_space_again_is_refused_and_changes_nothing(self, store: Store) -> None:
        space = store.create("a", now_ms=0, controls={"schema": {"version": 1}})
        write(space, concept("C-1", name="Alice"))
        with pytest.raises(SpaceExists):
            store.create("a", now_ms=1, controls={"schema": {"version": 2}})
        again = store.open("a")
        assert again.instance_id == space.instance_id
        with again.snapshot() as snapshot:
            assert snapshot.control("schema") == {"version": 1}
            assert snapshot.elements(["C-1"])["C-1"].body["name"] == "Alice"

    def test_opening_a_space_that_is_not_there_is_refused(self, store: Store) -> None:
        with pytest.raises(SpaceMissing):
            store.open("a")

    def test_what_was_written_is_there_when_opened_again(self, store: Store) -> None:
        space = store.create("a", now_ms=0)
        write(space, concept("C-1", name="Alice"))
        space.close()
        with store.open("a").snapshot() as snapshot:
            assert snapshot.seq == 1
            assert snapshot.elements(["C-1"])["C-1"].body["name"] == "Alice"

    @pytest.mark.requirement("BR-SPACE-001", "BR-STORE-011")
    def test_two_spaces_share_nothing(self, store: Store) -> None:
        one, other = store.create("a", now_ms=0), store.create("b", now_ms=0)
        write(one, concept("C-1", name="Alice"))
        with one.transaction() as transaction:
            transaction.set("notes", "n", {"text": "Alice"})
            work_id = transaction.enqueue("formation", {"text": "Alice"})
            transaction.acquire_lease("formation", "me", ttl_ms=10, now_ms=0)
        assert other.head() == 0
        with other.snapshot() as snapshot:
            assert snapshot.elements(["C-1"]) == {}
            assert snapshot.search(SearchQuery(Kind.CONCEPT, "Alice", None, 10)) == []
            assert snapshot.get("notes", "n") is None
            assert snapshot.work("formation") == []
            assert snapshot.work_by_id(work_id) is None
            assert snapshot.lease("formation") is None

    @pytest.mark.requirement("BR-SPACE-007")
    def test_a_recreated_space_is_another_instance_and_empty(self, store: Store) -> None:
        first = store.create("a", now_ms=0)
        write(first, concept("C-1"))
        store.delete("a")
        assert not store.exists("a")
        second = store.create("a", now_ms=0)
        assert second.instance_id != first.instance_id
        assert second.head() == 0

    @pytest.mark.requirement("BR-SPACE-001")
    def test_the_store_holds_nothing_of_a_deleted_space_and_all_of_the_others(self, store: Store) -> None:
        spaces = {}
        for space_id in ("a", "b"):
            spaces[space_id] = store.create(space_id, now_ms=0, controls={"schema": {"version": 1}})
            write(spaces[space_id], concept("C-1", name="Alice"))
            with spaces[space_id].transaction() as transaction:
                transaction.set("notes", "n", {"text": "Alice"})
                transaction.enqueue("formation", {"text": "Alice"})

        def held(space_id: str) -> dict[str, int]:
            return {kind: n for kind, n in store.holds(space_id, spaces[space_id].instance_id).items() if n}

        before = held("b")
        assert len(before) >= 5
        assert held("a").keys() == before.keys()
        store.delete("a")
        assert held("a") == {}
        assert held("b") == before
        assert store.finish_removals() == []

    def test_a_handle_of_a_deleted_space_reads_and_writes_nothing_more(self, store: Store) -> None:
        stale = store.create("a", now_ms=0)
        store.delete("a")
        successor = store.create("a", now_ms=0)
        with pytest.raises(SpaceMissing):
            write(stale, concept("C-1"))
        with pytest.raises(SpaceMissing):
            stale.head()
        assert successor.head() == 0

    @pytest.mark.requirement("BR-OPS-020")
    def test_a_store_that_works_says_nothing_when_it_is_checked(self, store: Store) -> None:
        store.check()
        store.create("a", now_ms=0)
        store.check()
        assert list(store.spaces()) == ["a"]

    def test_deleting_a_space_that_is_not_there_does_nothing(self, store: Store) -> None:
        store.delete("a")
