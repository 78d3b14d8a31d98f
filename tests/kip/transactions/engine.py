"""A process of its own with an engine; run as `python -m tests.kip.transactions.engine`.

Each line of its input is a JSON object `{"folder", "request", "hold_ms"}`; each line of its output the response, given
after so many milliseconds, in which the process can be killed. It keeps the last folder's Space open.
"""

from __future__ import annotations

import json
import sys
import time

from brain import logs
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.sqlite import SqliteStore
from brain.times import SystemClock
from tests.kip.conftest import OWNER


def main() -> None:
    logs.configure("error", stream=sys.stderr)
    library = PackageLibrary.bundled()
    opened: dict[str, Engine] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        folder = asked["folder"]
        if folder not in opened:
            opened.clear()
            store = SqliteStore(folder, durability="normal")
            opened[folder] = Engine(store.open("default"), library, clock=SystemClock())
        answer = json.dumps(opened[folder].execute(asked["request"], OWNER).response)
        time.sleep(asked["hold_ms"] / 1000)
        print(answer, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
