"""The embedded runner: background work inside the serving process, without a broker.

A wake-up only says "look at this Space"; what there is to do stands in the Space's store. So a lost wake-up costs at
most one sweep, and a process that starts finds the backlog by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from anyio.to_thread import run_sync

from brain.service.failures import ServiceFailure
from brain.service.passes import Passes
from brain.service.spaces import Spaces
from brain.settings import Settings

log = structlog.get_logger(__name__)

_PAUSE_S = 0.05


class EmbeddedRunner:
    """Drains the queues of every Space, each Space in order, different Spaces side by side."""

    def __init__(self, spaces: Spaces, passes: Passes, settings: Settings) -> None:
        self._spaces = spaces
        self._passes = passes
        self._settings = settings
        self._drains: dict[str, asyncio.Task[None]] = {}
        self._calls: dict[str, asyncio.Event] = {}
        self._stopping = False

    def wake(self, space_id: str) -> None:
        """Look at a Space soon; callable from the event loop only, cheap, and never lost while the runner lives."""
        if self._stopping:
            return
        self._calls.setdefault(space_id, asyncio.Event()).set()
        drain = self._drains.get(space_id)
        if drain is None or drain.done():
            self._drains[space_id] = asyncio.get_running_loop().create_task(self._drain(space_id))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Work until the block is left, then let runs finish for the grace time and hand back the rest."""
        sweeper = asyncio.get_running_loop().create_task(self._sweep())
        try:
            yield
        finally:
            self._stopping = True
            sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sweeper
            await self._stop_drains()
            await run_sync(self._spaces.close)

    async def _stop_drains(self) -> None:
        for call in self._calls.values():
            call.set()
        drains = [drain for drain in self._drains.values() if not drain.done()]
        if drains:
            await asyncio.wait(drains, timeout=self._settings.shutdown_grace_ms / 1000)
        for drain in drains:
            drain.cancel()
        await asyncio.gather(*drains, return_exceptions=True)

    async def _drain(self, space_id: str) -> None:
        call = self._calls[space_id]
        try:
            space = await run_sync(self._spaces.get, space_id)
            while not self._stopping:
                call.clear()
                if await self._passes.step(space):
                    continue
                wait = await run_sync(self._passes.wait_ms, space)
                if wait is None and not call.is_set():
                    return
                # Something waits for its round or for another holder's lease; a call ends the waiting at once.
                pause = min(wait or 0, self._settings.sweep_interval_ms) / 1000 + _PAUSE_S
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(call.wait(), pause)
        except ServiceFailure as failure:
            log.warning("drain_stopped", space=space_id, reason=failure.message)
        except Exception:
            log.exception("drain_failed", space=space_id)

    async def _sweep(self) -> None:
        while True:
            try:
                for space_id in await run_sync(self._spaces.all_ids):
                    if await run_sync(self._has_work, space_id):
                        self.wake(space_id)
                await run_sync(self._spaces.evict_idle, self._settings.space_idle_ms)
            except Exception:
                log.exception("sweep_failed")
            await asyncio.sleep(self._settings.sweep_interval_ms / 1000)

    def _has_work(self, space_id: str) -> bool:
        try:
            return self._passes.has_work(self._spaces.get(space_id))
        except ServiceFailure:
            return False
