"""Several real processes on one Space: they take turns writing, and a killed one leaves whole commits only."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from brain.store.sqlite import SqliteStore
from tests.store.opened import told
from tests.store.processes import answer_of, start, write_together


@pytest.mark.requirement("BR-STORE-017", "KI-TX-005")
def test_several_processes_write_one_space_and_lose_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    write_together(store, told(tmp_path), processes=4, times=40)
    store.close()


@pytest.mark.slow
@pytest.mark.requirement("BR-STORE-018", "BR-STORE-002", "KI-TX-012")
def test_200_killed_writers_leave_every_commit_whole_or_not_at_all(tmp_path: Path) -> None:
    report = answer_of(start(told(tmp_path), "tests.store.killed", 200, 20260920, 12))
    assert report["faults"] == []
    assert report["kills"] == 200
    assert report["commits"] > 0  # how many depends on how busy the machine is; a kill may fall before the first
    # Some kills must have struck between a commit and its acknowledgement, or the test proves little.
    assert report["unacknowledged"] > 0
    connection = apsw.Connection(str(tmp_path / "demo.db"))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
