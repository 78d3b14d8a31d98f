"""A worker's watch over itself: one that stands still ends, so that whoever keeps it starts it again.

The ways in which it could are mended where they are known (`workers/transport.py`). This asks for the outcome alone and
knows nothing of how Celery and kombu come to it: messages wait, a process of the pool has nothing to do, and none is
given any.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import structlog
from celery.worker import state

from brain.broker import redis_client
from brain.settings import Settings
from workers.transport import PROBE

log = structlog.get_logger(__name__)

LOOK_S = 10.0
LOOKS = 12
"""So many in a row, two minutes, and it stands still. They are counted, as a machine that slept has not looked."""

_ANSWER_S = 2.0


class Watch:
    """Looks from a thread of the worker's main process, which keeps nothing open between two looks.

    queues       those the worker takes from
    concurrency  processes of its pool
    end          called once, when it stands still
    """

    def __init__(self, settings: Settings, queues: Sequence[str], concurrency: int, end: Callable[[], None]) -> None:
        self._settings = settings
        self._queues = queues
        self._concurrency = concurrency
        self._end = end
        self._stopping = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()

    def _watch(self) -> None:
        before, still = state.all_total_count[0], 0
        while not self._stopping.wait(LOOK_S):
            begun = state.all_total_count[0]
            could_begin = state.should_stop is None and len(state.active_requests) < self._concurrency
            still = still + 1 if begun == before and could_begin and self._waiting() else 0
            before = begun
            if still == LOOKS:
                log.error("stands_still", seconds=LOOK_S * LOOKS, meaning="messages wait and are not taken; it ends")
                self._end()
                return

    def _waiting(self) -> bool:
        """Whether messages wait in a Redis from which they can be taken."""
        client = redis_client(self._settings, _ANSWER_S)
        try:
            client.set(PROBE, 1, px=1)
            return any(client.llen(queue) for queue in self._queues)
        except Exception:  # noqa: BLE001 - whatever it is, there is nothing to take then
            return False
        finally:
            client.close()
