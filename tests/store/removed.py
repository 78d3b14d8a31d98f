"""Kill whoever removes a Space at every step of it, and say what the next to look finds.

Run as `python -m tests.store.removed` with the folder of a store told (`tests/store/opened.py`). It prints one JSON
object: how many steps there were to be killed at, and every fault found.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from brain.store.base import Store
from brain.store.sqlite import SqliteStore, removal
from tests.store.building import concept, write
from tests.store.opened import opened


def main() -> dict[str, object]:
    faults: list[str] = []
    steps = 0
    while True:
        store = opened()
        assert isinstance(store, SqliteStore)
        space = store.create("demo", now_ms=0)
        write(space, concept("C-1", name="Alice"))
        witness = store.open("demo")  # another who has it open, so that there is a log beside the file
        is_killed = killed_at(steps)
        faults += [f"step {steps}: {fault}" for fault in faults_of(store, is_begun=store.exists("demo"))]
        witness.close()
        space.close()
        store.close()
        if not is_killed:
            return {"steps": steps, "faults": faults}
        steps += 1


def faults_of(store: Store, *, is_begun: bool) -> list[str]:
    """A Space is there whole, or it is gone, and then the next Space of its id is a new one."""
    if is_begun:
        found = store.open("demo")
        head = found.head()
        found.close()
        store.delete("demo")
        return [] if head == 1 else [f"it is there at {head}"]
    faults = [] if list(store.spaces()) == [] else ["it is gone and listed"]
    later = opened()  # finishes what was begun
    if any(later.holds("demo", "").values()):
        faults.append(f"there is left {later.holds('demo', '')}")
    again = later.create("demo", now_ms=1)
    if again.head() != 0:
        faults.append("the next Space of its id is not empty")
    again.close()
    later.delete("demo")
    later.close()
    return faults


def killed_at(step: int) -> bool:
    """Remove the Space in a process that is killed before its so-manieth step; whether it was."""
    child = os.fork()
    if child == 0:
        remove_and_die(step)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def remove_and_die(step: int) -> NoReturn:
    left = step

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def before(*given: Any, **named: Any) -> Any:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return call(*given, **named)

        return before

    removal.flush = counted(removal.flush)
    removal.fcntl.flock = counted(removal.fcntl.flock)  # type: ignore[attr-defined]
    Path.unlink = counted(Path.unlink)  # type: ignore[method-assign]
    opened().delete("demo")
    os._exit(0)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main()))
