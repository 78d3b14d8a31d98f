"""Callers' own KIP, which may be anything: bounded in time, and in two lanes, so that short reads never queue behind
long ones.

Every query first runs in the quick lane, for a moment. What does not end there starts again in the slow lane, where few
run at a time and wait for each other. Reads change nothing, so to run one twice is only a little work.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

import anyio
from anyio.to_thread import run_sync

from brain.errors import ExecutionTimeout

Ask = Callable[[int], dict[str, Any]]
"""Runs a request in the calling thread, for so many milliseconds at most, and gives its KIP response."""

_QUICK_MS = 250
_QUICK_THREADS = 4
_SLOW_THREADS = 2


class Queries:
    """Runs queries; `timeout_ms` counts from when they come, waiting for a thread included."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_s = timeout_ms / 1000
        self._quick = anyio.CapacityLimiter(_QUICK_THREADS)
        self._slow = anyio.CapacityLimiter(_SLOW_THREADS)

    async def answer(self, ask: Ask) -> dict[str, Any]:
        """The response of a query; what has no time left says so itself, as an `ExecutionTimeout`.

        Whoever waits for a thread can be cancelled. A thread that has begun goes on until its time is over.
        """
        ends = monotonic() + self._timeout_s

        def left() -> int:
            return max(1, int((ends - monotonic()) * 1000))

        response = await run_sync(lambda: ask(min(_QUICK_MS, left())), limiter=self._quick)
        if _ran_out_of_time(response) and monotonic() < ends:
            response = await run_sync(lambda: ask(left()), limiter=self._slow)
        return response


def _ran_out_of_time(response: dict[str, Any]) -> bool:
    faults = [response.get("error"), *(result.get("error") for result in response.get("results", ()))]
    return any(fault is not None and fault["code"] == ExecutionTimeout.code for fault in faults)
