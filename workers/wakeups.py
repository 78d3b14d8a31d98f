"""Sending wake-ups to the workers of the deployment, and what a serving process does beside that.

Celery is imported with the first message: a process that only accepts can listen, and say who it is, before.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import structlog
from anyio.to_thread import run_sync

from brain import logs
from brain.service.spaces import Spaces
from brain.settings import Settings
from workers.kinds import Kind

if TYPE_CHECKING:
    from celery import Celery

log = structlog.get_logger(__name__)

_CONNECT_S = 1.0
_ANSWER_S = 2.0
_FIRST_BACK_OFF_S = 0.5
_LONGEST_BACK_OFF_S = 15.0
_STOP_S = 3.0


class BrokerLost(Exception):
    """A wake-up could not be sent; nothing is lost, since the next sweep finds what it was about."""


class WakeUps:
    """Sends wake-ups to Redis. Thread-safe; connects when it is first used, so it may be made before a fork."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._app: Celery | None = None
        self._connection: Any = None
        self._producer: Any = None
        self._is_lost = False

    def warm(self) -> None:
        """Import what the first message needs."""
        from workers import celery_app  # noqa: F401

    def send(self, kind: Kind, space_id: str, *, delay_s: float = 0) -> None:
        """Wake a worker of a kind for a Space, in `delay_s` seconds.

        raises  BrokerLost within a few seconds; an outage is logged once, and so is its end
        """
        with self._lock:
            try:
                self._publish(kind, space_id, delay_s)
            except Exception as fault:
                self._disconnect()
                if not self._is_lost:
                    self._is_lost = True
                    log.warning("broker_lost", meaning="work waits for the next sweep", **logs.fault(fault))
                raise BrokerLost from fault
            if self._is_lost:
                self._is_lost = False
                log.info("broker_back")

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._disconnect()

    def _publish(self, kind: Kind, space_id: str, delay_s: float) -> None:
        from workers.celery_app import celery_app

        if self._app is None:
            self._app = celery_app(self._settings, socket_connect_timeout=_CONNECT_S, socket_timeout=_ANSWER_S)
        if self._producer is None:
            self._connection = self._app.connection_for_write()
            self._producer = self._app.amqp.Producer(self._connection)
        # By the queue's name, not through a binding: bindings live in Redis, and an emptied one would drop the message.
        self._app.send_task(
            kind.task,
            (space_id,),
            queue=kind.queue,
            countdown=delay_s or None,
            producer=self._producer,
            retry=False,
            ignore_result=True,
        )

    def _disconnect(self) -> None:
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            with suppress(Exception):
                connection.release()


class RemoteRunner:
    """What a serving process does when the workers do the passes: it sends their wake-ups and closes idle Spaces.

    A wake-up is sent from a thread of its own, after the answer was given: the broker can slow down no request. While
    Redis is away the Spaces to wake for are kept, each once, and sent when it is back.
    """

    def __init__(self, spaces: Spaces, settings: Settings, wake_ups: WakeUps) -> None:
        self._spaces = spaces
        self._wake_ups = wake_ups
        self._sweep_s = settings.sweep_interval_ms / 1000
        self._idle_ms = settings.space_idle_ms
        self._pending: dict[tuple[Kind, str], None] = {}
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._sweeping: anyio.CancelScope | None = None

    def warm(self) -> None:
        """Import what the first wake-up needs."""
        self._wake_ups.warm()

    def wake(self, space_id: str, kind: str) -> None:
        """Have a worker of a kind look at a Space soon; returns at once."""
        with self._changed:
            self._pending[Kind(kind), space_id] = None
            self._changed.notify()

    async def release(self, space_id: str) -> None:
        """Nothing is done in Spaces here; whoever is at work in one that is removed finds it missing."""

    def stop(self) -> None:
        """Send what is left, if that can be done at once."""
        self._stopping.set()
        with self._changed:
            self._changed.notify()
        if self._sweeping is not None:
            self._sweeping.cancel()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send until the block is left."""
        thread = threading.Thread(target=self._send_all, name="wake-ups", daemon=True)
        thread.start()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._evict)
                yield
                self.stop()
        finally:
            with anyio.CancelScope(shield=True):
                await run_sync(thread.join, _STOP_S)
                await run_sync(self._spaces.close)

    def _send_all(self) -> None:
        back_off = _FIRST_BACK_OFF_S
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._stopping.is_set())
                if not self._pending:
                    break
                kind, space_id = next(iter(self._pending))
                del self._pending[kind, space_id]
            try:
                self._wake_ups.send(kind, space_id)
                back_off = _FIRST_BACK_OFF_S
            except BrokerLost:
                if self._stopping.is_set():
                    break
                with self._changed:
                    self._pending[kind, space_id] = None
                self._stopping.wait(back_off)
                back_off = min(back_off * 2, _LONGEST_BACK_OFF_S)
        self._wake_ups.close()

    async def _evict(self) -> None:
        structlog.contextvars.clear_contextvars()
        with anyio.CancelScope() as self._sweeping:
            while not self._stopping.is_set():
                try:
                    await run_sync(self._spaces.evict_idle, self._idle_ms)
                except Exception as fault:  # noqa: BLE001 - one Space that cannot be closed must not end the round
                    log.error("eviction_failed", **logs.fault(fault))
                await anyio.sleep(self._sweep_s)
