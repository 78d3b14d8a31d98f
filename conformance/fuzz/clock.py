"""A clock that counts what this thread computed: a deadline means the same on an idle machine and on a busy one."""

from __future__ import annotations

import sys
import time
from typing import Any

_FRESH_S = 0.005
"""Elapsed time for which a reading is good: the clock of a thread is a call of the system, which may be slow."""


class ProcessorTime:
    """Stands for the module `time` in the engine's modules; only its monotonic clock is another."""

    def __init__(self) -> None:
        self._read_at = 0.0
        self._reading = 0.0

    def monotonic(self) -> float:
        """Processor seconds of the thread, a few milliseconds old at most."""
        now = time.perf_counter()
        if now - self._read_at > _FRESH_S:
            self._read_at, self._reading = now, time.thread_time()
        return self._reading

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


def use_processor_time(clock: ProcessorTime) -> None:
    """From now on the engine's modules that are loaded measure their deadlines by this clock.

    For a process that plays commands and nothing else: a wait for a lock, which takes no processor time, would never
    be given up.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("brain."):
            if getattr(module, "monotonic", None) is time.monotonic:
                vars(module)["monotonic"] = clock.monotonic
            if getattr(module, "time", None) is time:
                vars(module)["time"] = clock
