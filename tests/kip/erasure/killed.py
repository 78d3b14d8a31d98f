"""Carry out a plan one batch at a time, saying so after each; run as a process that is killed between two batches."""

from __future__ import annotations

import sys
import time

from brain.kip.erasure import Eraser
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from tests.kip.conftest import OWNER


def main(folder: str, plan: str, now_ms: int) -> None:
    store = SqliteStore(folder)
    eraser = Eraser(Engine(store.open("default"), PackageLibrary.bundled(), clock=FixedClock(now_ms)), batch=1)
    while True:
        report = eraser.step(OWNER, plan)
        sys.stdout.write(f"{len(report.record['receipts'])} {report.status}\n")
        sys.stdout.flush()
        time.sleep(0.2 if report.status != "completed" else 30)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
