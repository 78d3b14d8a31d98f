"""What every store promises of transactions and snapshots."""

from __future__ import annotations

import threading

import pytest

from brain import errors
from brain.store.base import EdgeScan, Kind, Scan, SearchQuery, SpaceStore
from tests.store.building import commit_of, concept, evidence, ref, write, write_in

ALL_CONCEPTS = Scan(Kind.CONCEPT)


class TransactionsContract:
    @pytest.mark.requirement("BR-STORE-002", "KI-TX-001")
    def test_a_commit_makes_everything_in_it_visible_at_once(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            assert transaction.seq == 0
            write_in(transaction, [concept("C-1", name="Alice")], controls={"schema": {"v": 1}})
            transaction.set("receipts", "r1", {"seq": 1})
            transaction.enqueue("formation", {"n": 1})
        with space.snapshot() as snapshot:
            assert snapshot.seq == 1 == space.head()
            assert snapshot.elements(["C-1"]).keys() == {"C-1"}
            assert snapshot.commit(1) == commit_of(1)
            assert snapshot.control("schema") == {"v": 1}
            assert snapshot.get("receipts", "r1") == {"seq": 1}
            assert len(snapshot.work("formation")) == 1
            assert [hit.id for hit in snapshot.search(SearchQuery(Kind.CONCEPT, "alice", None, 5))] == ["C-1"]

    @pytest.mark.requirement("BR-STORE-002", "KI-TX-001")
    def test_an_exception_undoes_everything(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))

        def fail() -> None:
            with space.transaction() as transaction:
                transaction.new_ids(Kind.CONCEPT, 5)
                write_in(transaction, [concept("C-1", name="Eve", version=2), concept("C-2", name="Bob")])
                transaction.set("receipts", "r1", {})
                transaction.enqueue("formation", {})
                transaction.acquire_lease("formation", "me", ttl_ms=10, now_ms=0)
                raise KeyError("stop")

        with pytest.raises(KeyError, match="stop"):
            fail()
        with space.snapshot() as snapshot:
            assert snapshot.seq == 1
            assert [element.body["name"] for element in snapshot.scan(ALL_CONCEPTS)] == ["Alice"]
            assert snapshot.get("receipts", "r1") is None
            assert snapshot.work("formation") == []
            assert snapshot.lease("formation") is None
            assert snapshot.counts()[Kind.CONCEPT] == 1
            for gone in ("Eve", "Bob"):
                assert snapshot.search(SearchQuery(Kind.CONCEPT, gone, None, 5)) == []
        with space.transaction() as transaction:
            assert transaction.new_ids(Kind.CONCEPT, 1) == ["C-2"]

    @pytest.mark.requirement("KI-TX-013")
    def test_a_change_of_the_graph_without_a_record_is_undone(self, space: SpaceStore) -> None:
        def forget() -> None:
            with space.transaction() as transaction:
                transaction.put([concept("C-1")])
                transaction.set("receipts", "r1", {})

        with pytest.raises(errors.InternalError):
            forget()
        with space.snapshot() as snapshot:
            assert snapshot.seq == 0
            assert snapshot.elements(["C-1"]) == {}
            assert snapshot.get("receipts", "r1") is None

    def test_a_record_must_follow_the_head_and_stand_alone(self, space: SpaceStore) -> None:
        def record(*seqs: int) -> None:
            with space.transaction() as transaction:
                transaction.put([concept("C-1")])
                for seq in seqs:
                    transaction.record(commit_of(seq))

        for wrong in ([0], [2], [1, 1], [1, 2]):
            with pytest.raises(errors.InternalError):
                record(*wrong)
        assert space.head() == 0

    @pytest.mark.requirement("KI-TX-008")
    def test_state_beside_the_graph_commits_without_a_sequence_number(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            transaction.set("receipts", "r1", {"status": "no_effect"})
        with space.snapshot() as snapshot:
            assert snapshot.seq == 0
            assert snapshot.get("receipts", "r1") == {"status": "no_effect"}

    @pytest.mark.requirement("KI-TX-002")
    def test_a_transaction_reads_its_own_writes_and_nobody_else_does(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))
        with space.transaction() as transaction:
            write_in(transaction, [concept("C-1", name="Alicia", version=2), concept("C-2", name="Bob")])
            transaction.set("receipts", "r1", {})
            assert [element.body["name"] for element in transaction.scan(ALL_CONCEPTS)] == ["Alicia", "Bob"]
            assert transaction.count(ALL_CONCEPTS) == 2
            assert transaction.get("receipts", "r1") == {}
            assert [hit.id for hit in transaction.search(SearchQuery(Kind.CONCEPT, "Bob", None, 5))] == ["C-2"]
            assert transaction.seq == 1
            with space.snapshot() as other:
                assert other.seq == 1
                assert [element.body["name"] for element in other.scan(ALL_CONCEPTS)] == ["Alice"]
                assert other.get("receipts", "r1") is None
                assert other.search(SearchQuery(Kind.CONCEPT, "Bob", None, 5)) == []

    @pytest.mark.requirement("BR-STORE-004")
    def test_a_snapshot_does_not_see_later_commits(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))
        with space.snapshot() as before:
            scan = before.scan(ALL_CONCEPTS)
            write(space, concept("C-1", name="Alicia", version=2), concept("C-2", name="Bob"), schema={"v": 2})
            assert before.seq == 1
            assert [element.body["name"] for element in scan] == ["Alice"]
            assert before.elements(["C-2"]) == {}
            assert before.control("schema") is None
            assert before.commit(2) is None
            assert before.commits() == [commit_of(1)]
            assert before.counts()[Kind.CONCEPT] == 1
            assert before.search(SearchQuery(Kind.CONCEPT, "Bob", None, 5)) == []
        assert space.head() == 2

    @pytest.mark.requirement("KI-TX-009")
    def test_several_puts_of_one_transaction_make_one_version(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice", structural={"kip://a@1.0.0/f": [{"id": "C-1"}]}))
        with space.transaction() as transaction:
            transaction.put([concept("C-1", name="first", version=2)])
            transaction.put([concept("C-1", name="second", version=2), concept("C-2", name="new")])
            transaction.put([concept("C-2", name="newer")])
            transaction.record(commit_of(2))
        with space.snapshot() as snapshot:
            versions = [(seq, version.body["name"]) for seq, version in snapshot.versions("C-1")]
            assert versions == [(1, "Alice"), (2, "second")]
            assert [(seq, version.body["name"]) for seq, version in snapshot.versions("C-2")] == [(2, "newer")]
            assert snapshot.search(SearchQuery(Kind.CONCEPT, "first", None, 5)) == []
            assert snapshot.search(SearchQuery(Kind.CONCEPT, "new", None, 5)) == []
            assert snapshot.counts()[Kind.CONCEPT] == 2

    def test_ids_are_fresh_and_grow_per_kind(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            assert transaction.new_ids(Kind.CONCEPT, 2) == ["C-1", "C-2"]
            assert transaction.new_ids(Kind.ACTIVITY, 1) == ["X-1"]
            assert transaction.new_ids(Kind.CONCEPT, 1) == ["C-3"]
            assert transaction.new_ids(Kind.CONCEPT, 0) == []
        with space.transaction() as transaction:
            assert transaction.new_ids(Kind.CONCEPT, 1) == ["C-4"]

    def test_an_id_that_came_from_elsewhere_is_used_up(self, space: SpaceStore) -> None:
        write(space, concept("C-7"), concept("C-3"))
        with space.transaction() as transaction:
            assert transaction.new_ids(Kind.CONCEPT, 1) == ["C-8"]

    def test_an_element_put_twice_under_a_new_id_is_there_once(self, space: SpaceStore) -> None:
        write(space, concept("C-1"))
        with space.transaction() as transaction:
            [made] = transaction.new_ids(Kind.CONCEPT, 1)
            transaction.put([concept(made, name="Ann", merged_into=ref("C-1"))])
            write_in(transaction, [concept(made, name="Bea")])
        with space.snapshot() as snapshot:
            assert snapshot.counts()[Kind.CONCEPT] == 2
            assert [found.body["name"] for _, found in snapshot.versions(made)] == ["Bea"]
            assert snapshot.edges(EdgeScan(sources=frozenset({made}))) == []
            assert [hit.id for hit in snapshot.search(SearchQuery(Kind.CONCEPT, "Ann", None, 5))] == []
            assert [hit.id for hit in snapshot.search(SearchQuery(Kind.CONCEPT, "Bea", None, 5))] == [made]

    def test_a_class_first_named_by_what_was_undone_is_known_the_next_time(self, space: SpaceStore) -> None:
        told = evidence("E-1", "Hello", evidence_class="overheard")
        with pytest.raises(errors.InternalError), space.transaction() as transaction:
            transaction.put([told])
        write(space, told)
        overheard = Scan(Kind.EVIDENCE, classes=frozenset({"overheard"}))
        with space.snapshot() as snapshot:
            assert [found.id for found in snapshot.scan(overheard)] == ["E-1"]

    def test_nothing_can_be_read_or_written_once_it_is_over(self, space: SpaceStore) -> None:
        write(space, *(concept(f"C-{number}") for number in range(1, 4)))
        with space.snapshot() as snapshot:
            scan = snapshot.scan(ALL_CONCEPTS)
        with pytest.raises(RuntimeError):
            next(scan)
        with space.transaction() as transaction:
            pass
        with pytest.raises(RuntimeError):
            transaction.set("a", "b", {})

    @pytest.mark.requirement("KI-TX-005")
    def test_writers_take_turns(self, space: SpaceStore) -> None:
        write(space, concept("C-1", attributes={"n": 0}))

        def count_up() -> None:
            for _ in range(20):
                with space.transaction() as transaction:
                    old = transaction.elements(["C-1"])["C-1"]
                    n = old.body["attributes"]["n"] + 1
                    write_in(transaction, [concept("C-1", version=old.version + 1, attributes={"n": n})])

        threads = [threading.Thread(target=count_up) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with space.snapshot() as snapshot:
            assert snapshot.elements(["C-1"])["C-1"].body["attributes"] == {"n": 80}
            assert snapshot.seq == 81

    def test_readers_go_on_while_a_writer_works(self, space: SpaceStore) -> None:
        write(space, concept("C-1"))
        seen: list[int] = []

        def read() -> None:
            with space.snapshot() as snapshot:
                seen.append(snapshot.count(ALL_CONCEPTS))

        with space.transaction() as transaction:
            write_in(transaction, [concept("C-2")])
            readers = [threading.Thread(target=read) for _ in range(12)]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join(timeout=10)
        assert seen == [1] * 12

    @pytest.mark.parametrize("seq", [-1, 2, 99])
    def test_a_sequence_that_was_never_reached_is_unavailable(self, space: SpaceStore, seq: int) -> None:
        write(space, concept("C-1"))
        with pytest.raises(errors.HistoricalSnapshotUnavailable), space.snapshot(seq):
            pass
        with space.snapshot() as snapshot:
            assert snapshot.seq == 1
