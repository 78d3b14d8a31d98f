"""How much waits in the queues of all Spaces: looked up in the background, told at once.

Looking opens every Space, so nobody waits for it: a scrape gets the figures of the last look and begins another when
they are older than a few seconds.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from brain import logs
from brain.observe.metrics import Family, Labels, gauge
from brain.service import conversations
from brain.service.conversations import Collection
from brain.service.entries import FORMATION, MAINTENANCE, PASS_LEASE
from brain.service.spaces import Spaces
from brain.store.base import Reader, SpaceStore, WorkStatus
from brain.times import Clock

log = structlog.get_logger(__name__)

MOST_OF_A_SPACE = 1_000
"""Entries of one queue of one Space that are counted, at most."""

_STALE_S = 5.0
_FIRST_WAIT_S = 1.0
_OPEN = frozenset({WorkStatus.QUEUED, WorkStatus.RUNNING})
_QUEUES: tuple[Collection, ...] = (FORMATION, MAINTENANCE)


@dataclass(slots=True)
class Figures:
    """What one look found."""

    taken_at: float = 0.0
    spaces: int = 0
    unreadable: int = 0
    leases: int = 0
    entries: Counter[tuple[str, str]] = field(default_factory=Counter)
    oldest_ms: dict[str, int] = field(default_factory=dict)
    running_ms: dict[str, int] = field(default_factory=dict)

    def gauges(self) -> list[Family]:
        """What they tell Prometheus."""
        entries: dict[Labels, float] = {(queue, status.value): 0.0 for queue in _QUEUES for status in _OPEN}
        entries |= {(queue, status): count for (queue, status), count in self.entries.items()}
        ages: dict[Labels, float] = {(queue,): self.oldest_ms.get(queue, 0) / 1000 for queue in _QUEUES}
        running: dict[Labels, float] = {(queue,): self.running_ms.get(queue, 0) / 1000 for queue in _QUEUES}
        return [
            gauge("brain_queue_entries", "Entries that wait or are worked on.", entries, "queue", "status"),
            gauge("brain_queue_oldest_seconds", "Since when the oldest of them was accepted.", ages, "queue"),
            gauge(
                "brain_queue_running_seconds", "Since when the oldest one at work was first taken.", running, "queue"
            ),
            gauge("brain_leases_held", "Passes at work, by the leases of Spaces.", self.leases),
            gauge("brain_spaces", "Spaces in the store.", self.spaces),
            gauge("brain_spaces_unreadable", "Spaces that could not be opened.", self.unreadable),
            gauge("brain_queue_look_age_seconds", "How old these figures are.", time.monotonic() - self.taken_at),
        ]


class Outlook:
    """What waits, over all Spaces."""

    def __init__(self, spaces: Spaces, clock: Clock) -> None:
        self._spaces = spaces
        self._clock = clock
        self._figures: Figures | None = None
        self._looking = threading.Lock()
        self._is_stopped = False

    def stop(self) -> None:
        """A look under way ends after the Space it is at."""
        self._is_stopped = True

    def gauges(self) -> list[Family]:
        """The figures of the last look; nothing before the first has ended, which is waited for a little."""
        figures = self._figures
        if figures is None or time.monotonic() - figures.taken_at > _STALE_S:
            thread = self._look_again()
            if figures is None and thread is not None:
                thread.join(_FIRST_WAIT_S)
        figures = self._figures
        return [] if figures is None else figures.gauges()

    def _look_again(self) -> threading.Thread | None:
        if self._is_stopped or not self._looking.acquire(blocking=False):
            return None
        thread = threading.Thread(target=self._look, name="outlook", daemon=True)
        thread.start()
        return thread

    def _look(self) -> None:
        try:
            figures = Figures()
            for space_id in self._spaces.all_ids():
                if self._is_stopped:
                    return
                figures.spaces += 1
                try:
                    self._spaces.peek(space_id, self._count(figures))
                except Exception as fault:  # noqa: BLE001 - one Space that cannot be read must not hide the others
                    figures.unreadable += 1
                    log.debug("space_not_counted", space=space_id, **logs.fault(fault))
            figures.taken_at = time.monotonic()
            self._figures = figures
        except Exception as fault:  # noqa: BLE001 - the store is away: the next look may find it
            log.warning("outlook_failed", **logs.fault(fault))
        finally:
            self._looking.release()

    def _count(self, figures: Figures) -> Callable[[SpaceStore], None]:
        now_ms = self._clock.now_ms()

        def look(space: SpaceStore) -> None:
            with space.snapshot() as snapshot:
                lease = snapshot.lease(PASS_LEASE)
                figures.leases += lease is not None and lease.expires_ms > now_ms
                for queue in _QUEUES:
                    works = snapshot.work(queue, statuses=_OPEN, limit=MOST_OF_A_SPACE)
                    figures.entries.update((queue, work.status.value) for work in works)
                    for work in works:
                        if work.status is WorkStatus.RUNNING and work.first_attempt_ms is not None:
                            age = now_ms - work.first_attempt_ms
                            figures.running_ms[queue] = max(figures.running_ms.get(queue, 0), age)
                    if works:
                        age = now_ms - _accepted_ms(snapshot, queue, works[0].payload["conversation"], now_ms)
                        figures.oldest_ms[queue] = max(figures.oldest_ms.get(queue, 0), age)

        return look


def _accepted_ms(reader: Reader, queue: Collection, number: int, now_ms: int) -> int:
    record = conversations.read(reader, queue, number)
    return now_ms if record is None else int(record["created_at"])
