"""What every store promises of documents, the durable queue and leases."""

from __future__ import annotations

import pytest

from brain.store.base import Lease, LeaseLost, SpaceStore, Store, Work, WorkStatus
from brain.times import FixedClock
from tests.store.building import concept, write_in


class StateContract:
    def test_a_document_is_read_as_it_was_set_last(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            transaction.set("notes", "a", {"n": 1, "text": 'é"\u0000'})
            transaction.set("notes", "b", {"n": 2})
            transaction.set("others", "a", {"n": 3})
            transaction.set("notes", "b", {"n": 4})
        with space.transaction() as transaction:
            transaction.delete("others", "a")
            transaction.delete("others", "nothing")
        with space.snapshot() as snapshot:
            assert snapshot.get("notes", "a") == {"n": 1, "text": 'é"\u0000'}
            assert snapshot.get("notes", "b") == {"n": 4}
            assert snapshot.get("others", "a") is snapshot.get("notes", "c") is snapshot.get("x", "a") is None

    @pytest.mark.requirement("BR-STORE-021")
    def test_a_document_past_its_time_reads_as_absent(self, space: SpaceStore, clock: FixedClock) -> None:
        soon = clock.now_ms() + 1000
        with space.transaction() as transaction:
            transaction.set("notes", "a", {"n": 1}, expires_ms=soon)
            transaction.set("notes", "b", {"n": 2})
            transaction.set("notes", "c", {"n": 3}, expires_ms=soon)
            transaction.set("notes", "c", {"n": 4})
        clock.advance(999)
        with space.snapshot() as snapshot:
            assert snapshot.get("notes", "a") == {"n": 1}
        clock.advance(1)
        with space.snapshot() as snapshot:
            assert snapshot.get("notes", "a") is None
            assert snapshot.scan_state("notes") == [("b", {"n": 2}), ("c", {"n": 4})]
        with space.transaction() as transaction:
            transaction.set("notes", "d", {"n": 5}, expires_ms=clock.now_ms() + 1)
            transaction.set("notes", "a", {"n": 6})
            assert transaction.get("notes", "a") == {"n": 6}

    def test_a_namespace_is_scanned_in_key_order_from_either_end(self, space: SpaceStore) -> None:
        keys = ["", "a", "a\0", "a/1", "a/10", "a/2", "ab", "a\ud7ff1", "a\ue000", "b", "é", "中", "\U0010ffff1"]
        with space.transaction() as transaction:
            for number, key in enumerate(reversed(keys)):
                transaction.set("n", key, {"number": number})
            transaction.set("m", "a/1", {})

        with space.snapshot() as snapshot:

            def found(**how: object) -> list[str]:
                return [key for key, _ in snapshot.scan_state("n", **how)]  # type: ignore[arg-type]

            assert found() == keys == sorted(keys)
            assert found(reverse=True) == keys[::-1]
            assert found(after="a/1") == keys[4:]
            assert found(after="a/1", reverse=True) == keys[2::-1]
            assert found(after="a/15", limit=2) == keys[5:7]
            assert found(limit=0) == []
            assert found(prefix="a/") == ["a/1", "a/10", "a/2"]
            assert found(prefix="a/", after="a/1", limit=1) == ["a/10"]
            assert found(prefix="a/", reverse=True, limit=1) == ["a/2"]
            assert found(prefix="a/", after="b") == []
            assert found(prefix="a\ud7ff") == ["a\ud7ff1"]
            assert found(prefix="\U0010ffff") == ["\U0010ffff1"]
            assert found(prefix="zzz") == []
            assert snapshot.scan_state("nothing") == []

    @pytest.mark.requirement("BR-STORE-020")
    def test_work_is_taken_in_the_order_it_was_accepted(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            first = transaction.enqueue("formation", {"n": 1})
            other = transaction.enqueue("maintenance", {"n": 2})
            second = transaction.enqueue("formation", {"n": 3}, not_before=500)
        assert first < other < second
        with space.transaction() as transaction:
            begun = transaction.begin_work(first, 100)
            assert begun == Work(first, "formation", {"n": 1}, WorkStatus.RUNNING, 0, 1, 100, None)
            transaction.update_work(first, status=WorkStatus.QUEUED, not_before=900, note="again")
            again = transaction.begin_work(first, 950)
            assert again == Work(first, "formation", {"n": 1}, WorkStatus.RUNNING, 900, 2, 100, "again")
        with space.snapshot() as snapshot:
            assert snapshot.work_by_id(second) == Work(
                second, "formation", {"n": 3}, WorkStatus.QUEUED, 500, 0, None, None
            )
            assert [work.id for work in snapshot.work("formation")] == [first, second]
            assert [work.id for work in snapshot.work("formation", limit=1)] == [first]
            assert [work.id for work in snapshot.work("formation", statuses={WorkStatus.QUEUED})] == [second]
            assert snapshot.work("formation", statuses=[]) == snapshot.work("nothing") == []
        with space.transaction() as transaction:
            transaction.update_work(first, status=WorkStatus.DONE)
            transaction.delete_work(second)
            third = transaction.enqueue("formation", {"n": 4})
            with pytest.raises(LookupError):
                transaction.begin_work(second, 0)
        assert third > second
        with space.snapshot() as snapshot:
            done = snapshot.work_by_id(first)
            assert done is not None
            assert (done.status, done.not_before, done.note) == (WorkStatus.DONE, 900, None)
            assert snapshot.work_by_id(second) is None
            assert [work.id for work in snapshot.work("formation")] == [first, third]

    @pytest.mark.requirement("BR-STORE-020")
    def test_due_work_leaves_out_what_waits_and_keeps_what_runs(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            ids = [transaction.enqueue("q", {"n": n}, not_before=n % 3 * 100) for n in range(9)]
            transaction.enqueue("other", {})
            transaction.begin_work(ids[5], 0)
            transaction.update_work(ids[8], status=WorkStatus.DONE)
        with space.snapshot() as snapshot:

            def due(now_ms: int, limit: int | None = None) -> list[int]:
                return [ids.index(work.id) for work in snapshot.due_work("q", now_ms, limit=limit)]

            assert due(0) == [0, 3, 5, 6]
            assert due(0, 3) == [0, 3, 5]
            assert due(99, 0) == []
            assert due(100) == [0, 1, 3, 4, 5, 6, 7]
            assert due(200) == [0, 1, 2, 3, 4, 5, 6, 7]
            assert snapshot.due_work("nothing", 200) == []

    def test_a_deleted_entry_never_gives_its_id_to_another(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            first = transaction.enqueue("q", {})
            transaction.delete_work(first)
            assert transaction.enqueue("q", {}) > first

    @pytest.mark.requirement("BR-STORE-020")
    def test_a_lease_is_held_by_one_until_it_ends(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            mine = transaction.acquire_lease("formation", "me", ttl_ms=100, now_ms=1000)
            assert mine == Lease("formation", "me", 1, 1100)
            assert transaction.acquire_lease("formation", "you", ttl_ms=100, now_ms=1099) is None
            assert transaction.acquire_lease("maintenance", "you", ttl_ms=5, now_ms=0) is not None
            longer = transaction.acquire_lease("formation", "me", ttl_ms=100, now_ms=1050)
            assert longer == Lease("formation", "me", 1, 1150)
            transaction.check_lease(mine, 1149)
            with pytest.raises(LeaseLost):
                transaction.check_lease(mine, 1150)
        with space.snapshot() as snapshot:
            assert snapshot.lease("formation") == longer
            assert snapshot.lease("nothing") is None

    @pytest.mark.requirement("BR-STORE-020")
    def test_a_token_grows_with_every_holder_and_never_repeats(self, space: SpaceStore) -> None:
        tokens = []
        with space.transaction() as transaction:
            for number in range(3):
                now_ms = number * 1000
                lease = transaction.acquire_lease("l", "me", ttl_ms=100, now_ms=now_ms)
                assert lease is not None
                tokens.append(lease.token)
                transaction.release_lease(lease)
                assert transaction.lease("l") is None
                with pytest.raises(LeaseLost):
                    transaction.check_lease(lease, now_ms)
                expired = transaction.acquire_lease("l", "you", ttl_ms=100, now_ms=now_ms)
                assert expired is not None
                tokens.append(expired.token)
                transaction.release_lease(lease)
                assert transaction.lease("l") == expired
        assert tokens == [1, 2, 3, 4, 5, 6]

    def test_a_holder_that_was_overtaken_has_lost_its_lease(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            old = transaction.acquire_lease("l", "me", ttl_ms=100, now_ms=0)
            new = transaction.acquire_lease("l", "you", ttl_ms=100, now_ms=100)
            assert old is not None
            assert new is not None
            with pytest.raises(LeaseLost):
                transaction.check_lease(old, 50)
            transaction.check_lease(new, 150)

    def test_the_holder_of_an_expired_lease_gets_a_new_one(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            transaction.acquire_lease("l", "me", ttl_ms=100, now_ms=0)
            again = transaction.acquire_lease("l", "me", ttl_ms=100, now_ms=100)
            assert again == Lease("l", "me", 2, 200)

    @pytest.mark.requirement("BR-OPS-003")
    def test_a_store_that_tells_where_there_is_work_tells_every_such_space(
        self, store: Store, space: SpaceStore
    ) -> None:
        store.create("idle", now_ms=0)
        with space.transaction() as transaction:
            done = transaction.enqueue("formation", {})
            transaction.update_work(done, status=WorkStatus.DONE)
        assert not store.with_work(unindexed=True)
        with space.transaction() as transaction:
            waiting = transaction.enqueue("formation", {}, not_before=1 << 50)
        assert store.with_work(unindexed=False) in (None, [space.space_id])
        with space.transaction() as transaction:
            transaction.begin_work(waiting, 0)
        assert store.with_work(unindexed=False) in (None, [space.space_id])
        with space.transaction() as transaction:
            transaction.delete_work(waiting)
            write_in(transaction, [concept("C-1", name="Alice")])
        assert not store.with_work(unindexed=False)
        assert store.with_work(unindexed=True) in (None, [space.space_id])
