"""Callers' own KIP, which may be anything: bounded in time, and in lanes, so that short reads never queue behind long
ones.

Every query starts in the first lane. What does not end in that lane's time starts again in the next, which gives more
time to fewer at once. Reads change nothing, so to begin one again costs only a little work; and since threads of one
process share a processor, long queries are not slower for waiting for each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import anyio
from anyio.to_thread import run_sync

from brain.errors import ExecutionTimeout, RateLimited

Ask = Callable[[int], dict[str, Any]]
"""Runs a request in the calling thread, for so many milliseconds at most, and gives its KIP response."""


_AFTER_A_BURST_MS = 1_000
"""How long to wait before one query too many is worth sending again."""


@dataclass(frozen=True, slots=True)
class _Lane:
    """`threads` queries at a time, each for `most_ms` milliseconds, or for all that is left of its own time."""

    threads: anyio.CapacityLimiter
    most_ms: int | None = None


def _lanes() -> tuple[_Lane, ...]:
    return (
        _Lane(anyio.CapacityLimiter(3), most_ms=300),
        _Lane(anyio.CapacityLimiter(2), most_ms=2_000),
        _Lane(anyio.CapacityLimiter(1)),
    )


def one_lane(threads: int) -> tuple[_Lane, ...]:
    """For what is never begun again, because it may have changed something: one turn, for all the time there is."""
    return (_Lane(anyio.CapacityLimiter(threads)),)


@dataclass(frozen=True, slots=True)
class Queries:
    """Runs queries.

    timeout_ms  counts from when one comes, waiting for its turn included
    most        of one Space at a time, so that a burst on one keeps the others waiting for no longer than that
    """

    timeout_ms: int
    most: int
    lanes: tuple[_Lane, ...] = field(default_factory=_lanes)
    _here: Counter[str] = field(default_factory=Counter)

    async def answer(self, space_id: str, ask: Ask) -> dict[str, Any]:
        """The response of a query; what has no time left says so itself, as an `ExecutionTimeout`.

        Whoever waits for a turn can be cancelled. A query that has begun goes on until its time in the lane is over.

        raises  RateLimited at once for one query too many
        """
        if self._here[space_id] >= self.most:
            raise RateLimited(
                f"{self.most} requests of this Space are on their way already.",
                after_ms=_AFTER_A_BURST_MS,
                details={"limit": self.most},
            )
        self._here[space_id] += 1
        try:
            return await self._answer(ask)
        finally:
            self._here[space_id] -= 1
            if not self._here[space_id]:
                del self._here[space_id]

    async def _answer(self, ask: Ask) -> dict[str, Any]:
        ends = monotonic() + self.timeout_ms / 1000

        def turn(lane: _Lane) -> dict[str, Any]:
            left_ms = max(1, int((ends - monotonic()) * 1000))
            return ask(left_ms if lane.most_ms is None else min(lane.most_ms, left_ms))

        response: dict[str, Any] | None = None
        for lane in self.lanes:
            with anyio.move_on_after(ends - monotonic()) as waiting:
                response = await run_sync(turn, lane, limiter=lane.threads)
            if waiting.cancelled_caught or not _ran_out_of_time(response) or monotonic() >= ends:
                break
        if response is not None:
            return response
        # Its first turn did not come in time; so that it can say so itself, it has one now that ends at once.
        return await run_sync(turn, self.lanes[0], limiter=self.lanes[0].threads)


def _ran_out_of_time(response: dict[str, Any] | None) -> bool:
    if response is None:
        return False
    faults = [response.get("error"), *(result.get("error") for result in response.get("results", ()))]
    return any(fault is not None and fault["code"] == ExecutionTimeout.__name__ for fault in faults)
