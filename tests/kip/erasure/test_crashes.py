"""A process that is killed between two batches leaves a plan that the next one finishes, once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from brain.kip.erasure import Eraser
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from tests.kip.conftest import OWNER, fresh
from tests.kip.erasure.learning import learn

ROOT = Path(__file__).parents[3]


@pytest.mark.requirement("KI-RETAIN-025")
@pytest.mark.parametrize("batches", [1, 3])
def test_a_plan_killed_between_batches_is_finished_once(tmp_path: Path, clock: FixedClock, batches: int) -> None:
    folder = tmp_path / "space"
    with fresh(folder, clock) as space:
        made = learn(space)
        plan = Eraser(space.engine).plan(OWNER, [made["e"]]).plan_ref
        before = space.seq
    command = [sys.executable, "-m", "tests.kip.erasure.killed", str(folder), plan, str(clock.now_ms())]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for batch in range(1, batches + 1):
            assert process.stdout.readline().split() == [str(batch), "partial"]
        process.kill()
    store = SqliteStore(folder, clock=clock)
    engine = Engine(store.open("default"), PackageLibrary.bundled(), clock=clock)
    report = Eraser(engine, batch=1).run(OWNER, plan)
    assert report.status == "completed"
    with engine.space.snapshot() as snapshot:
        commits = snapshot.commits(after=before)
        assert [one.tx_id for one in commits] == list(report.record["receipts"])
        erased = Counter(entry["id"] for one in commits for entry in one.envelope["changes"])
        states = {one.id: one.state for one in snapshot.elements(list(erased)).values()}
    assert set(erased.values()) == {1}
    assert set(states.values()) == {"purged"}
    assert set(erased) == {made[one] for one in ("e", "s", "a", "b", "opera", "a#proposition", "b#proposition")}
    store.close()
