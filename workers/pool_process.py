"""One process of a worker's pool: it opens Spaces and works on one of them at a time.

Nothing is opened before the fork; the first task builds the application. While a task runs, the process takes three
signals: to stop (finish the entry in hand within the grace time, take no other), to hurry (give it back now), and the
soft time limit (give it back now, and count that against the entry). In each case the rest stays queued in the store.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import anyio
import structlog
from anyio.to_thread import run_sync

from brain import collector, logs
from brain.service.entries import FORMATION, MAINTENANCE
from brain.service.failures import SpaceNotFound
from brain.service.spaces import OpenSpace
from brain.settings import Settings
from brain.store.base import SpaceStore
from workers.celery_app import sweep_s
from workers.indexing import Indexing
from workers.kinds import Kind
from workers.wakeups import BrokerLost, WakeUps

if TYPE_CHECKING:
    from brain.app import Application

log = structlog.get_logger(__name__)

STOP_SIGNAL = signal.SIGUSR2
"""From the worker's main process: stop; a second time: hurry. SIGTERM, which may come to a whole group, only stops."""

OVERRUN_SIGNAL = signal.SIGUSR1
"""From Celery, at the soft time limit."""

_TURN_S = 60.0
"""How long a task goes on taking entries of one Space before others have their turn."""

_DELAY_MARGIN_S = 0.1

_KINDS = {FORMATION: Kind.FORMATION, MAINTENANCE: Kind.MAINTENANCE}


@dataclass(slots=True)
class _Stop:
    """What a running task was told."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    has_overrun: bool = False


class PoolProcess:
    """What one process of the pool holds between its tasks. For its main thread only.

    build  makes the application, when the first task needs it
    """

    def __init__(self, settings: Settings, build: Callable[[Settings], Application]) -> None:
        self._settings = settings
        self._build = build
        self._wake_ups = WakeUps(settings)
        self._grace_s = settings.shutdown_grace_ms / 1000
        self._lease_s = settings.lease_ttl_ms / 1000
        self._ahead_s = sweep_s(settings)
        """What can be taken before the next sweep is sent with a delay; the rest is left to the sweeps."""

        self._application: Application | None = None
        self._indexing: Indexing | None = None
        self._loop: asyncio.Runner | None = None
        self._is_stopping = False

    def begin(self) -> None:
        """The process was just forked: from now on being told to stop does not end it."""
        signal.signal(STOP_SIGNAL, self._note_stop)

    def end(self) -> None:
        """Close what is open."""
        self._wake_ups.close()
        if self._application is not None:
            self._application.spaces.close()
        if self._loop is not None:
            self._loop.close()

    # --- tasks --------------------------------------------------------------------------------------------------------

    def work(self, kind: Kind, space_id: str, *, is_again: bool) -> None:
        """Do what a Space has queued of a kind, until there is nothing to take or others should have their turn.

        is_again  the message was given out before, and its process died: its lease, and perhaps its cause, are left
                  alone for as long as a lease lasts
        """
        if is_again:
            log.warning("wake_up_again", space=space_id, kind=kind.value)
            self._tell(kind, space_id, self._lease_s + _DELAY_MARGIN_S)
            return
        application = self._opened()
        if kind is Kind.INDEX:
            self._run(partial(self._in_space, space_id, self._index))
        else:
            self._run(partial(self._in_space, space_id, partial(self._drain, kind)))
        self._evict(application)

    def sweep(self) -> None:
        """Wake for everything that can be done in any Space before the next sweep."""
        self._each_space(self._wake_for_work, self._opened().spaces.with_work)

    def look_at_clock(self) -> None:
        """Begin the maintenance the clock calls for, and what no sweep finds: vectors of an embedder that is new."""
        queue = self._opened().queue

        def look(space_id: str, space: SpaceStore) -> None:
            if queue.accept_cycle_by_clock(space):
                self._tell(Kind.MAINTENANCE, space_id)
            if self._indexing is not None and self._indexing.is_needed(space):
                self._tell(Kind.INDEX, space_id)

        self._each_space(look, self._opened().spaces.all_ids)
        try:
            self._opened().spaces.finish_removals()
        except Exception as fault:  # noqa: BLE001 - the next look tries again
            log.error("removal_unfinished", **logs.fault(fault))

    def _each_space(self, look: Callable[[str, SpaceStore], None], of: Callable[[], list[str]]) -> None:
        application = self._opened()
        spaces = application.spaces
        try:
            for space_id in of():
                if self._is_stopping:
                    return
                try:
                    spaces.peek(space_id, partial(look, space_id))
                except SpaceNotFound:
                    continue
                except BrokerLost:
                    raise
                except Exception as fault:  # noqa: BLE001 - a broken Space must not hide the others
                    log.error("sweep_failed", space=space_id, **logs.fault(fault))
        except BrokerLost:
            return  # the next sweep comes by the same way
        self._evict(application)

    def _wake_for_work(self, space_id: str, space: SpaceStore) -> None:
        outlook = self._opened().queue.outlook(space)
        if outlook is not None and outlook[1] / 1000 <= self._ahead_s:
            collection, wait_ms = outlook
            self._wake_ups.send(_KINDS[collection], space_id, delay_s=_delay(wait_ms))
        if self._indexing is not None and self._indexing.is_needed(space):
            self._wake_ups.send(Kind.INDEX, space_id)

    # --- one Space ----------------------------------------------------------------------------------------------------

    async def _in_space(self, space_id: str, work: Callable[[OpenSpace, _Stop], Awaitable[bool]], stop: _Stop) -> None:
        """Work in a Space until it is done, or told to stop; then tell of what is left."""
        structlog.contextvars.clear_contextvars()
        spaces = self._opened().spaces
        try:
            space = await run_sync(spaces.hold, space_id)
        except SpaceNotFound:
            log.warning("drain_stopped", space=space_id, reason="the Space is gone")
            return
        except Exception as fault:  # noqa: BLE001 - the sweep comes back to it
            log.error("drain_failed", space=space_id, **logs.fault(fault))
            return
        has_worked = True
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._cut_short, stop, group.cancel_scope)
                has_worked = await work(space, stop)
                group.cancel_scope.cancel()
            if has_worked:
                await run_sync(self._tell_what_is_left, space)
        except* Exception as faults:  # noqa: BLE001 - the sweep comes back to it
            log.error("drain_failed", space=space_id, **logs.fault(faults.exceptions[0]))
        finally:
            space.unpin()

    async def _cut_short(self, stop: _Stop, scope: anyio.CancelScope) -> None:
        """Cancel the work when it was told to hurry, or its grace time is over."""
        await stop.asked.wait()
        with anyio.move_on_after(self._grace_s):
            await stop.hurry.wait()
        scope.cancel()

    async def _drain(self, kind: Kind, space: OpenSpace, stop: _Stop) -> bool:
        """Do entries of one kind; whether there is something to tell others."""
        application = self._opened()
        only = MAINTENANCE if kind is Kind.MAINTENANCE else FORMATION
        end = anyio.current_time() + _TURN_S
        has_worked = False
        while not stop.asked.is_set() and anyio.current_time() < end:
            if not await application.passes.step(space, only, overran=lambda: stop.has_overrun):
                break
            has_worked = True
        if has_worked or stop.asked.is_set():
            return True
        # Nothing to take. Another holder that is at work tells on what it leaves, and if it dies the sweep finds it;
        # but of work of the other kind, which goes first, perhaps nobody was told.
        outlook = await run_sync(application.queue.outlook, space.store)
        return outlook is not None and outlook[0] != only and outlook[1] == 0

    async def _index(self, space: OpenSpace, stop: _Stop) -> bool:
        end = anyio.current_time() + _TURN_S
        while self._indexing is not None and not stop.asked.is_set() and anyio.current_time() < end:
            if not await run_sync(self._indexing.step, space):
                return False
        return True

    def _tell_what_is_left(self, space: OpenSpace) -> None:
        with suppress(BrokerLost):
            self._wake_for_work(space.id, space.store)

    def _tell(self, kind: Kind, space_id: str, delay_s: float = 0) -> None:
        with suppress(BrokerLost):  # which it has told; the sweep finds what this was about
            self._wake_ups.send(kind, space_id, delay_s=delay_s)

    # --- the process --------------------------------------------------------------------------------------------------

    def _opened(self) -> Application:
        if self._application is None:
            self._application = self._build(self._settings)
            collector.settle()
            self._indexing = Indexing(self._application.spaces, pause_s=self._settings.sweep_interval_ms / 1000)
        return self._application

    def _evict(self, application: Application) -> None:
        try:
            application.spaces.evict_idle(self._settings.space_idle_ms)
        except Exception as fault:  # noqa: BLE001 - the next task tries again
            log.error("eviction_failed", **logs.fault(fault))

    def _run(self, work: Callable[[_Stop], Awaitable[None]]) -> None:
        """Run a coroutine in the process's event loop, with the signals answered there."""
        if self._is_stopping:
            return
        if self._loop is None:
            self._loop = asyncio.Runner()
        loop, stop = self._loop.get_loop(), _Stop()

        async def main() -> None:
            await work(stop)

        with self._signals(loop, stop):
            self._loop.run(main())

    @contextmanager
    def _signals(self, loop: asyncio.AbstractEventLoop, stop: _Stop) -> Iterator[None]:
        def told(number: int, _: FrameType | None) -> None:
            stop.has_overrun |= number == OVERRUN_SIGNAL
            if number == OVERRUN_SIGNAL or (number == STOP_SIGNAL and self._is_stopping):
                loop.call_soon_threadsafe(stop.hurry.set)
            self._is_stopping |= number == STOP_SIGNAL
            loop.call_soon_threadsafe(stop.asked.set)

        before = {number: signal.signal(number, told) for number in (STOP_SIGNAL, OVERRUN_SIGNAL, signal.SIGTERM)}
        try:
            if self._is_stopping:
                stop.asked.set()
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note_stop(self, _: int, __: FrameType | None) -> None:
        self._is_stopping = True


def _delay(wait_ms: int) -> float:
    return wait_ms / 1000 + _DELAY_MARGIN_S if wait_ms else 0.0
