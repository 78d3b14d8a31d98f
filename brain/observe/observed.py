"""What operators see of one process, in one hand.

Checks and the look into queues are made when somebody first asks: a process that starts has others to answer before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from brain.observe.measures import Measures
from brain.observe.traces import Tracer

if TYPE_CHECKING:
    from brain.observe.health import Check, Readiness
    from brain.observe.metrics import Family
    from brain.observe.outlook import Outlook


class Observed:
    """Its numbers, its traces, whether it is ready; and what waits in its store, where it looks into one. Thread-safe.

    checks   makes what it needs to be ready
    outlook  makes the look into queues; None for a process that opens no Space
    """

    def __init__(
        self,
        measures: Measures,
        tracer: Tracer,
        *,
        checks: Callable[[], tuple[Check, ...]],
        outlook: Callable[[], Outlook] | None = None,
    ) -> None:
        self.measures = measures
        self.tracer = tracer
        self._checks = checks
        self._make_outlook = outlook
        self._readiness: Readiness | None = None
        self._outlook: Outlook | None = None
        self._is_draining = False
        self._lock = threading.Lock()

    @property
    def readiness(self) -> Readiness:
        with self._lock:
            if self._readiness is None:
                from brain.observe.health import Readiness

                self._readiness = Readiness(self._checks())
                if self._is_draining:
                    self._readiness.drain()
            return self._readiness

    def gauges(self) -> list[Family]:
        """What waits in the store, as far as it is known."""
        with self._lock:
            if self._outlook is None and self._make_outlook is not None and not self._is_draining:
                self._outlook = self._make_outlook()
        return [] if self._outlook is None else self._outlook.gauges()

    @property
    def is_draining(self) -> bool:
        """Whether it takes no new work."""
        return self._is_draining

    def drain(self) -> None:
        """From now on it is not ready, and looks into no further Space."""
        with self._lock:
            self._is_draining = True
            if self._readiness is not None:
                self._readiness.drain()
            if self._outlook is not None:
                self._outlook.stop()
