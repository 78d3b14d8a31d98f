"""What the SQLite store adds of its own: the file, its format, its locks, its deadlines and what an erasure leaves."""

from __future__ import annotations

import shutil
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from brain import errors
from brain.store import rows
from brain.store.base import (
    EdgeScan,
    Kind,
    Scan,
    SearchQuery,
    SpaceExists,
    SpaceMissing,
    SpaceStore,
    StoreFormatError,
)
from brain.store.embedding import index_pending
from brain.store.hashing import HashEmbedder
from brain.store.sqlite import SqliteStore, schema
from brain.store.sqlite.keys import id_of
from brain.store.sqlite.snapshot import SqliteSnapshot
from brain.store.sqlite.vectors import packed
from tests.store.building import FRIENDS, concept, erase, evidence, ref, stub, symbol, write, write_in

FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "spaces"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(folder, busy_timeout_ms=200)
    yield opened
    opened.close()


@pytest.fixture
def space(store: SqliteStore) -> SpaceStore:
    return store.create("demo", now_ms=0)


def sql(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


class TestFormat:
    @pytest.mark.requirement("BR-STORE-024")
    def test_the_file_of_another_space_is_refused(self, store: SqliteStore, space: SpaceStore, folder: Path) -> None:
        store.close()
        shutil.copy(folder / "demo.db", folder / "other.db")
        with pytest.raises(StoreFormatError):
            store.open("other")

    @pytest.mark.requirement("BR-STORE-024")
    @pytest.mark.parametrize("content", [b"", b"not a database" * 100, b"SQLite format 3\0" + b"\0" * 100])
    def test_a_file_that_is_no_space_is_refused(self, store: SqliteStore, folder: Path, content: bytes) -> None:
        (folder / "demo.db").write_bytes(content)
        with pytest.raises(StoreFormatError):
            store.open("demo")
        store.delete("demo")
        assert not store.exists("demo")

    @pytest.mark.requirement("BR-STORE-024")
    def test_a_newer_format_is_refused_and_left_alone(
        self, store: SqliteStore, space: SpaceStore, folder: Path
    ) -> None:
        store.close()
        sql(folder / "demo.db", "PRAGMA user_version = 99")
        with pytest.raises(StoreFormatError, match="99"):
            store.open("demo")

    def test_an_older_format_is_brought_up_in_one_step_each_with_a_record(
        self, store: SqliteStore, space: SpaceStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(space, concept("C-1", name="Alice"))
        store.close()

        def add_table(connection: apsw.Connection) -> None:
            connection.execute("CREATE TABLE added (n INTEGER)")

        def fail(connection: apsw.Connection) -> None:
            connection.execute("CREATE TABLE half (n INTEGER)")
            raise KeyError("stop")

        good, bad = schema.Migration("add_table", add_table), schema.Migration("fail", fail)
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, good, bad))
        with pytest.raises(KeyError, match="stop"):
            store.open("demo")
        monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:-1])
        with store.open("demo").snapshot() as snapshot:
            assert snapshot.elements(["C-1"])["C-1"].body["name"] == "Alice"
        connection = apsw.Connection(str(folder / "demo.db"))
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
        assert "added" in tables
        assert "half" not in tables
        records = connection.execute("SELECT name FROM meta WHERE name LIKE 'migration:%'").fetchall()
        assert set(records) == {(f"migration:{migration.name}",) for migration in schema.MIGRATIONS}
        assert connection.pragma("user_version") == len(schema.MIGRATIONS)
        connection.close()

    def test_an_index_of_another_analysis_is_made_anew(
        self, store: SqliteStore, space: SpaceStore, folder: Path
    ) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Alice", state="archived"))
        write(space, concept("C-1", name="Alicia", version=2), evidence("E-1", "Alice said"))
        query = SearchQuery(Kind.CONCEPT, "alicia", None, 5)
        with space.snapshot() as snapshot:
            before = snapshot.search(query)
        store.close()
        sql(
            folder / "demo.db",
            "UPDATE meta SET value = '0' WHERE name = 'analysis'",
            "UPDATE posting SET term = 'old' || term",
            "UPDATE passage SET size = 1000",
            "UPDATE corpus SET texts = 7",
        )
        with store.open("demo").snapshot() as snapshot:
            assert snapshot.search(query) == before
            assert snapshot.search(SearchQuery(Kind.CONCEPT, "alice", None, 5)) == []
            assert len(snapshot.search(SearchQuery(Kind.EVIDENCE, "alice", None, 5))) == 1

    @pytest.mark.requirement("KI-CAP-007")
    def test_a_file_of_the_first_format_learns_to_search_its_past(
        self, store: SqliteStore, space: SpaceStore, folder: Path
    ) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Alice Bell"), concept("C-3"))
        write(space, concept("C-1", name="Alice", version=2, attributes={"age": 5}))
        write(space, concept("C-1", name="Alicia", version=3), concept("C-2", version=2, state="archived"))
        write(space, concept("C-1", name="Alicia", version=4, attributes={"age": 6}))
        erase(space, stub(concept("C-3")))

        def everything() -> list[object]:
            found: list[object] = []
            for seq in range(6):
                with space.snapshot(seq) as snapshot:
                    found += [snapshot.search(SearchQuery(Kind.CONCEPT, text, None, 5)) for text in ("alice", "alicia")]
                    found.append(snapshot.unindexed("any", 9))
            return found

        before = everything()
        store.close()
        tables = ("passage", "vector", "embedder", "passage_past", "posting_past", "vector_past")
        sql(
            folder / "demo.db",
            *(f"DROP TABLE {table}" for table in tables),
            "DELETE FROM meta WHERE name = 'migration:searchable_past'",
            "PRAGMA user_version = 1",
        )
        space = store.open("demo")
        assert everything() == before

    def test_half_made_spaces_and_other_files_are_no_spaces(self, store: SqliteStore, folder: Path) -> None:
        for name in (".0123.new", "A.db", "a-b.db", "notes.txt"):
            (folder / name).write_bytes(b"")
        assert list(store.spaces()) == []

    @pytest.mark.requirement("BR-SPACE-005")
    def test_of_several_creators_one_creates(self, folder: Path) -> None:
        stores = [SqliteStore(folder) for _ in range(4)]
        outcomes: list[str] = []

        def create(store: SqliteStore) -> None:
            try:
                store.create("demo", now_ms=0)
            except SpaceExists:
                outcomes.append("exists")
            else:
                outcomes.append("created")

        threads = [threading.Thread(target=create, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["created", "exists", "exists", "exists"]
        for store in stores:
            store.close()
        assert [path.name for path in folder.iterdir()] == ["demo.db"]

    def test_a_space_deleted_elsewhere_is_missing_here(self, space: SpaceStore, folder: Path) -> None:
        write(space, concept("C-1"))
        elsewhere = SqliteStore(folder)
        elsewhere.delete("demo")
        with pytest.raises(SpaceMissing):
            space.head()
        with pytest.raises(SpaceMissing):
            write(space, concept("C-2"))
        successor = elsewhere.create("demo", now_ms=0)
        with pytest.raises(SpaceMissing):
            space.head()
        with pytest.raises(SpaceMissing):
            write(space, concept("C-2"))
        space.close()
        write(successor, concept("C-1", name="New"))
        with successor.snapshot() as snapshot:
            assert snapshot.seq == 1
        elsewhere.close()

    @pytest.mark.requirement("BR-STORE-018")
    @pytest.mark.parametrize(("durability", "levels"), [("full", [1, 2, 1, 2]), ("normal", [1, 1, 1, 1])])
    def test_what_nobody_was_promised_does_not_wait_for_the_disk(
        self, folder: Path, durability: str, levels: list[int]
    ) -> None:
        store = SqliteStore(folder, durability=durability)  # type: ignore[arg-type]
        space: Any = store.create("demo", now_ms=0)
        seen = []
        for number, durable in enumerate((False, True, False, True)):
            try:
                with space.transaction(durable=durable) as tx:
                    tx.set("counters", str(number), {"n": number})
                    seen.append(tx._connection.pragma("synchronous"))
                    if number == 2:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass
        assert seen == levels
        with store.open("demo").snapshot() as now:
            assert [key for key, _ in now.scan_state("counters")] == ["0", "1", "3"]
        store.close()

    @pytest.mark.requirement("BR-STORE-018")
    @pytest.mark.parametrize(("durability", "level"), [("full", 2), ("normal", 1)])
    def test_durability_is_sqlites_synchronous_setting(self, folder: Path, durability: str, level: int) -> None:
        store = SqliteStore(folder, durability=durability)  # type: ignore[arg-type]
        space = store.create("demo", now_ms=0)
        with space.transaction() as transaction:
            connection = transaction._connection
            assert isinstance(connection, apsw.Connection)
            assert connection.pragma("synchronous") == level
            assert connection.pragma("journal_mode") == "wal"
        store.close()


class TestErasure:
    SECRETS = ("Zanzibar", "Quetzal", "xylophone", "Umbrella")
    EMBEDDER = HashEmbedder(64)

    def fill(self, space: SpaceStore) -> None:
        name, second, attribute, payload = self.SECRETS
        structural = {symbol(FRIENDS): [ref("C-2")]}
        write(space, concept("C-1", key=name, name=name, attributes={"a": attribute}, structural=structural))
        write(space, concept("C-1", name=second, canonical_id=second, version=2), evidence("E-1", payload * 3000))
        write(space, concept("C-2", name="Kept"))
        while index_pending(space, self.EMBEDDER).done:
            pass

    def vectors_of(self, folder: Path, element_id: str) -> int:
        connection = apsw.Connection(str(folder / "demo.db"))
        statement = "SELECT eid FROM vector UNION ALL SELECT eid FROM vector_past"
        found: list[Any] = connection.execute(statement).fetchall()
        connection.close()
        return [id_of(eid) for (eid,) in found].count(element_id)

    def found_in(self, folder: Path) -> list[str]:
        content = bytes_of(folder).lower()
        return [secret for secret in self.SECRETS if secret.lower().encode() in content]

    @pytest.mark.requirement("BR-STORE-015")
    def test_nothing_of_an_erased_element_is_left_in_any_file(self, space: SpaceStore, folder: Path) -> None:
        self.fill(space)
        assert self.found_in(folder) == list(self.SECRETS)
        assert [self.vectors_of(folder, name) for name in ("C-1", "C-2", "E-1")] == [2, 1, 1]
        with space.snapshot() as snapshot:
            # Rare in a file of this size, so that finding it tells of the vector.
            vector = packed(self.EMBEDDER.embed([rows.text(snapshot.elements(["E-1"])["E-1"])])[0])[1]
        assert vector in bytes_of(folder)
        erase(space, stub(concept("C-1", version=2)), stub(evidence("E-1", "")))
        assert self.found_in(folder) == []
        assert [self.vectors_of(folder, name) for name in ("C-1", "C-2", "E-1")] == [0, 1, 0]
        assert vector not in bytes_of(folder)
        assert b"kept" in bytes_of(folder).lower()

    def test_a_reader_in_the_way_only_delays_it(self, space: SpaceStore, folder: Path) -> None:
        self.fill(space)
        with space.snapshot() as before:
            erase(space, stub(concept("C-1", version=2)), stub(evidence("E-1", "")))
            assert before.elements(["C-1"])["C-1"].body["name"] == "Quetzal"
            assert self.found_in(folder) != []
        write(space, concept("C-3"))
        assert self.found_in(folder) == []

    def test_a_process_that_ends_in_between_leaves_it_to_the_next(
        self, store: SqliteStore, space: SpaceStore, folder: Path
    ) -> None:
        self.fill(space)
        keeper = SqliteStore(folder)
        with keeper.open("demo").snapshot():
            erase(space, stub(concept("C-1", version=2)), stub(evidence("E-1", "")))
            space.close()
            assert self.found_in(folder) != []
        store.open("demo")
        assert self.found_in(folder) == []
        keeper.close()


class TestDeadlinesAndFailures:
    @pytest.mark.requirement("BR-STORE-002", "KI-TX-012")
    def test_a_commit_that_fails_at_any_step_changes_nothing(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice", structural={symbol(FRIENDS): [ref("C-2")]}))

        def attempt(failing: int) -> bool:
            """Commit with the `failing`-th statement refused; whether there was such a statement."""
            left = failing

            def trace(_cursor: object, _statement: str, _bindings: object) -> bool:
                nonlocal left
                left -= 1
                return left != 0

            with space.transaction() as transaction:
                connection = transaction._connection  # type: ignore[attr-defined]
                connection.exec_trace = trace
                transaction.new_ids(Kind.CONCEPT, 2)
                write_in(
                    transaction,
                    [
                        concept("C-1", name="Alicia", version=2, structural={symbol(FRIENDS): [ref("C-3")]}),
                        evidence("E-1", "hello"),
                    ],
                    client_keys={"E-1": "message:1"},
                    controls={"schema": {"v": 1}},
                )
                transaction.set("receipts", "r", {})
                transaction.enqueue("formation", {})
            return left > 0

        failing = 0
        while True:
            failing += 1
            try:
                if attempt(failing):
                    break
            except (errors.InternalError, errors.OutcomeUnknown):
                pass
            finally:
                space._writer.exec_trace = None  # type: ignore[attr-defined]
            with space.snapshot() as snapshot:
                assert snapshot.seq == 1
                assert snapshot.elements(["C-1", "E-1"])["C-1"].body["name"] == "Alice"
                assert len(snapshot.versions("C-1")) == 1
                assert [edge.target for edge in snapshot.edges(EdgeScan())] == ["C-2"]
                assert snapshot.counts()[Kind.EVIDENCE] == 0
                assert snapshot.by_client_key(Kind.EVIDENCE, "message:1") is None
                assert snapshot.control("schema") is snapshot.get("receipts", "r") is None
                assert snapshot.work("formation") == []
                assert snapshot.commits(after=1) == []
                assert len(snapshot.search(SearchQuery(Kind.CONCEPT, "alice", None, 5))) == 1
        assert failing > 15
        assert space.head() == 2

    @pytest.mark.requirement("KI-TX-005", "KI-ERR-056")
    def test_a_writer_waits_for_another_and_then_gives_up(self, store: SqliteStore, space: SpaceStore) -> None:
        other = store.open("demo")
        with other.transaction(), pytest.raises(errors.SerializationConflict):
            write(space, concept("C-1"))
        with space.transaction(), pytest.raises(errors.SerializationConflict), space.transaction():
            pass
        assert write(space, concept("C-1")) == 1

    def test_a_writer_gets_its_turn_when_the_other_is_done(self, folder: Path, space: SpaceStore) -> None:
        patient = SqliteStore(folder, busy_timeout_ms=10_000)
        other = patient.open("demo")
        with space.transaction():
            writer = threading.Thread(target=write, args=(other, concept("C-1")))
            writer.start()
            writer.join(timeout=0.05)
            assert writer.is_alive()
        writer.join(timeout=10)
        assert space.head() == 1
        patient.close()

    def test_a_read_past_its_deadline_stops(self, space: SpaceStore) -> None:
        with space.snapshot(timeout_ms=30) as snapshot:
            assert isinstance(snapshot, SqliteSnapshot)
            with pytest.raises(errors.ExecutionTimeout):
                snapshot._rows(FOREVER)
            with pytest.raises(errors.ExecutionTimeout):
                snapshot.elements(["C-1"])
        with space.snapshot() as snapshot:
            assert snapshot.elements(["C-1"]) == {}

    def test_a_write_past_its_deadline_is_undone(self, space: SpaceStore) -> None:
        def write_slowly() -> None:
            with space.transaction(timeout_ms=30) as transaction:
                transaction.set("notes", "a", {})
                transaction._rows(FOREVER)  # type: ignore[attr-defined]

        with pytest.raises(errors.ExecutionTimeout):
            write_slowly()
        with space.snapshot() as snapshot:
            assert snapshot.get("notes", "a") is None
        assert write(space, concept("C-1")) == 1

    @pytest.mark.requirement("BR-STORE-013")
    def test_a_failing_backend_is_an_internal_error_without_its_words(
        self, store: SqliteStore, space: SpaceStore, folder: Path
    ) -> None:
        sql(folder / "demo.db", "DROP TABLE edge")
        with space.snapshot() as snapshot, pytest.raises(errors.InternalError) as caught:
            snapshot.edges(EdgeScan())
        assert "edge" not in str(caught.value.to_wire())
        assert isinstance(caught.value.__cause__, apsw.Error)
        with pytest.raises(errors.InternalError):
            write(space, concept("C-1", structural={symbol(FRIENDS): [ref("C-2")]}))
        assert space.head() == 0

    def test_a_long_scan_does_not_keep_what_it_has_given(self, space: SpaceStore) -> None:
        write(space, *(concept(f"C-{n}", attributes={"text": str(n) * 1000}) for n in range(1, 3001)))
        with space.snapshot() as snapshot:
            tracemalloc.start()
            total = sum(len(element.body["attributes"]["text"]) for element in snapshot.scan(Scan(Kind.CONCEPT)))
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert total > 9_000_000
        assert peak < 6_000_000
