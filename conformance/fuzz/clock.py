"""A clock that counts what this thread computed: a deadline means the same on an idle machine and on a busy one."""

from __future__ import annotations

import sys
import time
from typing import Any


class ProcessorTime:
    """Stands for the module `time` in the engine's modules; only its monotonic clock is another."""

    monotonic = staticmethod(time.thread_time)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


def use_processor_time() -> None:
    """From now on the engine's modules that are loaded measure their deadlines in processor time of the thread.

    For a process that plays commands and nothing else: a wait for a lock, which takes no processor time, would never
    be given up.
    """
    clock = ProcessorTime()
    for name, module in list(sys.modules.items()):
        if name.startswith("brain."):
            if getattr(module, "monotonic", None) is time.monotonic:
                vars(module)["monotonic"] = time.thread_time
            if getattr(module, "time", None) is time:
                vars(module)["time"] = clock
