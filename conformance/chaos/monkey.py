"""Who is killed, and when: chosen by a seed."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Self

from conformance.chaos.deployment import Deployment, Supervised

_PAUSES_S = (0.3, 2.0)
_AWAY_S = (0.1, 3.0)
_PATIENT = 0.75
"""How often it waits until a victim is at work again: on a slow machine nothing would ever be done otherwise."""

_BACK_S = 30.0
_FROZEN_S = 2.0
"""So much longer than a lease lasts, so that somebody else takes over before the frozen one wakes."""


class Monkey:
    """A thread that kills until its block is left; `done` counts what it did.

    away_s  seconds for which nothing could be accepted, because the database was away
    """

    def __init__(self, deployment: Deployment, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self.away_s = 0.0
        self._next_store_kill = 0.0
        self._deployment = deployment
        self._chance = random.Random(seed)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="monkey", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _go_on(self) -> None:
        weighted: list[tuple[str, Callable[[], bool], int]] = [
            ("API process killed", self._kill_one_of(self._deployment.apis), 4),
            ("worker killed", self._kill_one_of(self._deployment.workers), 4),
            ("process of a pool killed", self._kill_in_pool, 5),
            ("clock killed", self._kill_one_of(self._deployment.beats), 1),
            ("Redis killed", self._kill_redis, 2),
            ("Redis emptied", self._empty_redis, 1),
            ("worker frozen past its lease", self._freeze, 1),
        ]
        if self._deployment.store.can_be_killed:
            weighted.append(("database killed", self._kill_store, 1))
        while not self._stopped.wait(self._chance.uniform(*_PAUSES_S)):
            name, act, _ = self._chance.choices(weighted, [weight for _, _, weight in weighted])[0]
            self.done[name] += act()

    def _kill_one_of(self, some: list[Supervised]) -> Callable[[], bool]:
        def kill() -> bool:
            victim = self._chance.choice(some)
            pids = victim.pids()[:1]  # its pool dies with it
            victim.signal(signal.SIGKILL, pids)
            self._wait_for(victim)
            return bool(pids)

        return kill

    def _kill_in_pool(self) -> bool:
        victim = self._chance.choice(self._deployment.workers)
        pool = victim.pids()[1:]
        if not pool:
            return False
        victim.signal(signal.SIGKILL, [self._chance.choice(pool)])
        self._wait_for(victim)
        return True

    def _wait_for(self, victim: Supervised) -> None:
        if self._chance.random() < _PATIENT:
            end = time.monotonic() + _BACK_S
            while not self._stopped.wait(0.1) and time.monotonic() < end:
                if self._deployment.is_at_work(victim):
                    return

    def _kill_redis(self) -> bool:
        self._deployment.redis.kill()
        self._stopped.wait(self._chance.uniform(*_AWAY_S))
        self._deployment.redis.start()
        return True

    def _empty_redis(self) -> bool:
        self._deployment.redis.empty()
        return True

    def _kill_store(self) -> bool:
        begun = time.monotonic()
        if begun < self._next_store_kill:
            return False
        self._deployment.store.kill()
        self._stopped.wait(self._chance.uniform(*_AWAY_S))
        self._deployment.store.start()
        back = time.monotonic()
        self.away_s += back - begun
        # It is there for as long as it was away: where it is always just being started nothing else is ever tried.
        self._next_store_kill = back + (back - begun)
        return True

    def _freeze(self) -> bool:
        victim = self._chance.choice(self._deployment.workers)
        pids = victim.pids()
        victim.signal(signal.SIGSTOP, pids)
        self._stopped.wait(self._deployment.store.lease_ms / 1000 + _FROZEN_S)
        victim.signal(signal.SIGCONT, pids)
        return bool(pids)
