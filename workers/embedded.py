"""The embedded runner: background work inside the serving process, without a broker.

A wake-up only says "look at this Space"; what there is to do stands in the Space's store. So a lost wake-up costs at
most one sweep, and a process that starts finds the backlog by itself.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TypeVar

import anyio
import structlog
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from brain import logs
from brain.service.failures import SpaceNotFound, Unavailable
from brain.service.passes import Passes
from brain.service.queue import Queue
from brain.service.spaces import OpenSpace, Spaces
from brain.settings import Settings
from brain.store.base import SpaceStore
from workers.indexing import Indexing

log = structlog.get_logger(__name__)

T = TypeVar("T")

_PAUSE_S = 0.05
_FIRST_BACK_OFF_S = 1.0
_ROUND_S = 300.0
"""How often every Space of the deployment is looked at, open here or not, and its clock with it."""


class EmbeddedRunner:
    """Drains the queues of every Space, each Space in order, different Spaces side by side."""

    def __init__(self, spaces: Spaces, queue: Queue, passes: Passes, settings: Settings) -> None:
        self._spaces = spaces
        self._queue = queue
        self._passes = passes
        self._sweep_s = settings.sweep_interval_ms / 1000
        self._indexing = Indexing(spaces, pause_s=self._sweep_s)
        self._idle_ms = settings.space_idle_ms
        self._grace_s = settings.shutdown_grace_ms / 1000
        self._calls: dict[str, asyncio.Event] = {}
        """A call per Space that is being drained; set to look again."""

        self._drains: dict[str, anyio.CancelScope] = {}
        self._group: TaskGroup | None = None
        self._sweeping: anyio.CancelScope | None = None
        self._stopped_at: float | None = None

    def wake(self, space_id: str, _: str | None = None) -> None:
        """Look at a Space soon, at every kind of work; from the event loop only, and in vain before it runs."""
        if self._group is None or self._stopped_at is not None:
            return
        call = self._calls.get(space_id)
        if call is None:
            call = self._calls[space_id] = asyncio.Event()
            self._group.start_soon(self._drain, space_id, call)
        call.set()

    async def release(self, space_id: str) -> None:
        """End the work on a Space here: what is in hand is handed back, and stays queued. From the event loop only."""
        drain = self._drains.get(space_id)
        if drain is not None:
            drain.cancel()
        while space_id in self._calls:  # noqa: ASYNC110 - what is waited for has no event
            await anyio.sleep(0.01)

    def stop(self) -> None:
        """Take nothing more: passes under way have the grace time from now on. From the event loop only."""
        if self._stopped_at is None:
            self._stopped_at = anyio.current_time()
            if self._sweeping is not None:
                self._sweeping.cancel()
            for call in self._calls.values():
                call.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Work until the block is left, then let passes finish for the grace time and hand the rest back."""
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._sweep)
                yield
                self.stop()
                group.cancel_scope.deadline = self._stopped_at + self._grace_s  # type: ignore[operator]
        finally:
            self._group = None
            with anyio.CancelScope(shield=True):
                await run_sync(self._spaces.close)

    # --- one Space ----------------------------------------------------------------------------------------------------

    async def _drain(self, space_id: str, call: asyncio.Event) -> None:
        """Work through a Space's queue until it is empty; what breaks is tried again after a growing pause."""
        structlog.contextvars.clear_contextvars()
        back_off = _FIRST_BACK_OFF_S
        try:
            with anyio.CancelScope() as self._drains[space_id]:
                while self._stopped_at is None:
                    try:
                        space = await run_sync(self._spaces.hold, space_id)
                        try:
                            await self._work_through(space, call)
                            is_left = space.is_closing  # for later: to go on would open again what is being closed
                        finally:
                            space.unpin()
                        if is_left or not call.is_set():
                            return
                    except SpaceNotFound:
                        log.warning("drain_stopped", space=space_id, reason="the Space is gone")
                        return
                    except Unavailable as wait:
                        log.info("drain_waits", space=space_id, reason=wait.message)
                        call.clear()
                        await self._pause(call, wait.after_s)
                    except Exception as fault:  # noqa: BLE001 - one Space's trouble must end nobody's work
                        log.error("drain_failed", space=space_id, **logs.fault(fault))
                        call.clear()  # else what called last would end every pause
                        await self._pause(call, back_off)
                        back_off = min(back_off * 2, self._sweep_s)
        finally:
            del self._drains[space_id], self._calls[space_id]

    async def _work_through(self, space: OpenSpace, call: asyncio.Event) -> None:
        while self._stopped_at is None and not space.is_closing:
            call.clear()
            if await self._passes.step(space) or await run_sync(self._indexing.step, space):
                continue
            wait_ms = await run_sync(self._queue.wait_ms, space.store)
            if wait_ms is None:
                return
            # Something waits for its round or for another holder's lease; a call ends the waiting at once.
            await self._pause(call, min(wait_ms / 1000, self._sweep_s) + _PAUSE_S)

    async def _pause(self, call: asyncio.Event, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(call.wait(), seconds)

    # --- all Spaces ---------------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Find work whose wake-up was lost, whose holder died, or that the clock calls for; close what is idle."""
        structlog.contextvars.clear_contextvars()
        looked_at_all = -math.inf
        with anyio.CancelScope() as self._sweeping:
            while self._stopped_at is None:
                begun = anyio.current_time()
                is_round = begun - looked_at_all >= _ROUND_S
                for space_id in await self._asked(self._spaces.all_ids if is_round else self._spaces.resident) or []:
                    if await self._asked(partial(self._spaces.peek, space_id, self._needs_work), space_id):
                        self.wake(space_id)
                if is_round:
                    looked_at_all = begun
                    await self._asked(self._spaces.finish_removals)
                    await self._asked(self._spaces.flush)
                await self._asked(partial(self._spaces.evict_idle, self._idle_ms))
                await anyio.sleep(self._sweep_s)

    def _needs_work(self, space: SpaceStore) -> bool:
        return (
            self._queue.accept_cycle_by_clock(space) or self._queue.has_work(space) or self._indexing.is_needed(space)
        )

    async def _asked(self, question: Callable[[], T], space_id: str | None = None) -> T | None:
        """The answer, or None when there is none: a broken Space must not hide the others."""
        try:
            return await run_sync(question)
        except SpaceNotFound:
            return None
        except Exception as fault:  # noqa: BLE001 - as above
            log.error("sweep_failed", space=space_id, **logs.fault(fault))
            return None
