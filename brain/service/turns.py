"""Threads that Spaces take turns for: one of them, however busy, never has all, and who has few requests does not wait
behind all requests of another."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

from brain.service.failures import Unavailable

T = TypeVar("T")


class TurnMissed(Unavailable):
    """There was no turn in time; nothing was begun."""

    def __init__(self) -> None:
        super().__init__("too many other requests are at work; send the same request again")


class Turns:
    """Runs blocking work, so much of it at a time. For one event loop.

    threads  at a time
    of_one   of them for one Space at most
    """

    def __init__(self, threads: int, of_one: int) -> None:
        self._threads = anyio.CapacityLimiter(threads)
        self._free = threads
        self._of_one = of_one
        self._at_work: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()
        """Of each Space that waits, in the order of the Spaces' turns."""

    async def run(self, space_id: str, work: Callable[[], T], ends: float = inf) -> T:
        """What the work comes to. Who waits can be cancelled; what has begun is waited for.

        ends    until when to wait for a turn, a moment of the monotonic clock in seconds
        raises  TurnMissed
        """
        await self._enter(space_id, ends)
        try:
            return await run_sync(work, limiter=self._threads)
        finally:
            self._leave(space_id)

    async def _enter(self, space_id: str, ends: float) -> None:
        if self._free and self._at_work[space_id] < self._of_one:
            self._take(space_id)
            return
        turn = anyio.Event()
        self._waiting.setdefault(space_id, deque()).append(turn)
        try:
            with anyio.move_on_after(ends - monotonic()):
                await turn.wait()
        except BaseException:
            if turn.is_set():
                self._leave(space_id)
            else:
                self._forget(space_id, turn)
            raise
        if not turn.is_set():
            self._forget(space_id, turn)
            raise TurnMissed

    def _leave(self, space_id: str) -> None:
        self._free += 1
        self._at_work[space_id] -= 1
        if not self._at_work[space_id]:
            del self._at_work[space_id]
        while self._free:
            following = next((one for one in self._waiting if self._at_work[one] < self._of_one), None)
            if following is None:
                return
            turn = self._waiting[following].popleft()
            self._waiting.move_to_end(following)
            if not self._waiting[following]:
                del self._waiting[following]
            self._take(following)
            turn.set()

    def _take(self, space_id: str) -> None:
        self._free -= 1
        self._at_work[space_id] += 1

    def _forget(self, space_id: str, turn: anyio.Event) -> None:
        self._waiting[space_id].remove(turn)
        if not self._waiting[space_id]:
            del self._waiting[space_id]
