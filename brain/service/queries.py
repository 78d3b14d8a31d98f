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
from functools import partial
from time import monotonic
from typing import Any

from brain.errors import ExecutionTimeout, RateLimited, Retry
from brain.service.turns import TurnMissed, Turns

Ask = Callable[[int], dict[str, Any]]
"""Runs a request in the calling thread, for so many milliseconds at most, and gives its KIP response."""


_AFTER_A_BURST_MS = 1_000
"""How long to wait before one query too many is worth sending again."""


@dataclass(frozen=True, slots=True)
class _Lane:
    """Queries of some threads, each for `most_ms` milliseconds, or for all that is left of its own time."""

    turns: Turns
    most_ms: int | None = None


def _lanes() -> tuple[_Lane, ...]:
    return (
        _Lane(Turns(3, of_one=2), most_ms=300),
        _Lane(Turns(2, of_one=1), most_ms=2_000),
        _Lane(Turns(1, of_one=1)),
    )


def one_lane(threads: int, of_one: int) -> tuple[_Lane, ...]:
    """For what is never begun again, because it may have changed something: one turn, for all the time there is."""
    return (_Lane(Turns(threads, of_one)),)


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
        """The response of a query; what runs out of time says so itself, as an `ExecutionTimeout`.

        Whoever waits for a turn can be cancelled. A query that has begun goes on until its time in the lane is over.

        raises  RateLimited at once for one query too many; ExecutionTimeout for one that had no turn in time
        """
        if self._here[space_id] >= self.most:
            raise RateLimited(
                f"{self.most} requests of this Space are on their way already.",
                after_ms=_AFTER_A_BURST_MS,
                details={"limit": self.most},
            )
        self._here[space_id] += 1
        try:
            return await self._answer(space_id, ask)
        finally:
            self._here[space_id] -= 1
            if not self._here[space_id]:
                del self._here[space_id]

    async def _answer(self, space_id: str, ask: Ask) -> dict[str, Any]:
        ends = monotonic() + self.timeout_ms / 1000
        response: dict[str, Any] | None = None
        for lane in self.lanes:
            try:
                response = await lane.turns.run(space_id, partial(_turn, ask, lane.most_ms, ends), ends)
            except TurnMissed:
                break
            if not _ran_out_of_time(response) or monotonic() >= ends:
                break
        if response is not None:
            return response
        raise ExecutionTimeout("The deadline passed before it was begun.", retry=Retry.SAFE_SAME_REQUEST)


def _turn(ask: Ask, most_ms: int | None, ends: float) -> dict[str, Any]:
    left_ms = max(1, int((ends - monotonic()) * 1000))
    return ask(left_ms if most_ms is None else min(most_ms, left_ms))


def _ran_out_of_time(response: dict[str, Any]) -> bool:
    faults = [response.get("error"), *(result.get("error") for result in response.get("results", ()))]
    return any(fault is not None and fault["code"] == ExecutionTimeout.__name__ for fault in faults)
