"""A Space's file is replaced at one stroke: by nobody under whom it is open, and whatever dies on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from brain.backup import archive
from brain.backup.work import restore
from brain.store.base import Kind, Scan, SpaceInUse
from brain.store.dump import Row
from brain.store.sqlite import SqliteStore
from brain.times import timestamp
from tests.store.building import concept, write

VISITOR = """
import sys, time
from brain.store.base import SpaceMissing
from brain.errors import KipError
from brain.store.sqlite import SqliteStore
from tests.store.building import concept, write
store = SqliteStore(sys.argv[1])
print("up", flush=True)
visits = 0
while True:
    try:
        space = store.open("home")
        with space.snapshot() as snapshot:
            found = snapshot.elements(["C-1"])["C-1"]
            assert found.body["name"] in ("old", "new"), found
        with space.transaction() as tx:
            tx.set("visits", sys.argv[2], {"n": visits})
        space.close()
        visits += 1
    except (SpaceMissing, KipError):
        pass
    time.sleep(0.002)
"""


REPLACER = """
import sys
from pathlib import Path
from brain.backup.work import restore
from brain.store.sqlite import SqliteStore
store = SqliteStore(sys.argv[1])
print("up", flush=True)
restore(store, Path(sys.argv[2]), space_id="home", replace=True)
"""


def rows_of(store: SqliteStore, space_id: str = "home") -> list[Row]:
    space = store.open(space_id)
    with space.dump() as rows:
        found = list(rows)
    space.close()
    return found


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    made = SqliteStore(tmp_path, durability="normal")
    space = made.create("home", now_ms=0)
    write(space, concept("C-1", name="new"))
    space.close()
    return made


@pytest.mark.requirement("BR-LIFE-025", "BR-LIFE-011")
class TestReplacing:
    @pytest.mark.slow
    def test_replacing_beside_processes_that_come_and_go_harms_neither_file(
        self, store: SqliteStore, tmp_path: Path
    ) -> None:
        rows = rows_of(store)
        visitors = [
            subprocess.Popen([sys.executable, "-c", VISITOR, str(tmp_path), str(n)], stdout=subprocess.PIPE)
            for n in range(2)
        ]
        replaced = refused = 0
        try:
            for visitor in visitors:
                assert visitor.stdout is not None
                visitor.stdout.readline()
            end = time.monotonic() + 30
            while time.monotonic() < end and replaced < 20:
                try:
                    store.load(rows, replace=True).close()
                    replaced += 1
                except SpaceInUse:
                    refused += 1
            assert [visitor.poll() for visitor in visitors] == [None, None]
        finally:
            for visitor in visitors:
                visitor.kill()
                visitor.communicate()
        assert replaced > 0
        connection = apsw.Connection(str(tmp_path / "home.db"))
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
        space = store.open("home")
        with space.snapshot() as snapshot:
            assert snapshot.elements(["C-1"])["C-1"].body["name"] == "new"
        space.close()
        assert {path.name for path in tmp_path.iterdir()} <= {"home.db", "home.db-wal", "home.db-shm"}

    @pytest.mark.slow
    def test_a_replacement_that_is_killed_leaves_the_old_space_or_the_new_one(
        self, store: SqliteStore, tmp_path: Path
    ) -> None:
        bigger = store.create("bigger", now_ms=0)
        write(bigger, *(concept(f"C-{n}", name="old" * 500) for n in range(1, 2_000)))
        with bigger.dump() as rows:
            archive.write(rows, tmp_path / "bigger.brain", timestamp(0))
        bigger.close()
        small = store.create("small", now_ms=0)
        write(small, concept("C-1", name="new"))
        small.close()
        with (space := store.open("small")).dump() as rows:
            archive.write(rows, tmp_path / "small.brain", timestamp(0))
        space.close()
        outcomes = set()
        started = time.monotonic()
        restore(store, tmp_path / "bigger.brain", space_id="home", replace=True)[0].close()
        takes_s = time.monotonic() - started
        for number in range(14):
            wanted = ("small", "bigger")[number % 2]
            began = subprocess.Popen(
                [sys.executable, "-c", REPLACER, str(tmp_path), str(tmp_path / f"{wanted}.brain")],
                stdout=subprocess.PIPE,
            )
            assert began.stdout is not None
            began.stdout.readline()
            # The small one takes a moment, the bigger one about as long as the one that was timed.
            time.sleep(takes_s * number / 10 if wanted == "bigger" else 0.1 * number)
            began.kill()
            began.communicate()
            space = store.open("home")
            with space.snapshot() as snapshot:
                count = snapshot.count(Scan(Kind.CONCEPT))
                assert count in (1, 1_999)
                assert sum(1 for _ in snapshot.scan(Scan(Kind.CONCEPT))) == count
            space.close()
            outcomes.add(count)
            connection = apsw.Connection(str(tmp_path / "home.db"))
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.close()
        assert outcomes == {1, 1_999}

    def test_what_killed_loads_left_behind_is_gone_with_a_later_one(self, store: SqliteStore, tmp_path: Path) -> None:
        old, young = tmp_path / ".old.new", tmp_path / ".young.new"
        for left in (old, tmp_path / ".old.new-wal", young):
            left.write_bytes(b"x")
            if left != young:
                os.utime(left, (time.time() - 90_000,) * 2)
        store.load(rows_of(store), replace=True).close()
        assert {path.name for path in tmp_path.iterdir()} == {"home.db", ".young.new"}

    def test_a_space_is_replaced_in_its_own_file(self, store: SqliteStore, tmp_path: Path) -> None:
        before = (tmp_path / "home.db").stat().st_ino
        store.load(rows_of(store), replace=True).close()
        assert (tmp_path / "home.db").stat().st_ino == before
        assert [path.name for path in tmp_path.iterdir()] == ["home.db"]
        space = store.open("home")
        assert write(space, concept("C-2", name="next")) == 2
        space.close()
