"""When a request is sent again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from brain.client import errors
from brain.client.calls import Call, Repeat

_PASSING = frozenset({408, 429, 502, 503, 504})
"""Statuses that say something of now, not of the request."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how patiently.

    attempts    requests in all; 1 for never again
    first_s     the first pause; each further one is twice as long
    longest_s   the longest pause of our own, and the longest `Retry-After` that is waited for
    chance      a number from 0 to 1, so that clients that failed together do not come back together
    """

    attempts: int = 4
    first_s: float = 0.25
    longest_s: float = 20.0
    chance: Callable[[], float] = random.random

    def pause(self, call: Call[Any], failure: errors.BrainError, attempt: int) -> float | None:
        """Seconds until a request is sent again after its `attempt`-th failure; None when it is not."""
        if attempt >= self.attempts or not _may(call, failure):
            return None
        asked = failure.after_s if isinstance(failure, errors.Busy) else None
        if asked is not None and asked > self.longest_s:
            return None
        return self.backoff(attempt, asked)

    def backoff(self, attempt: int, at_least_s: float | None = None) -> float:
        """The pause after the `attempt`-th failure in a row."""
        ours = min(self.longest_s, self.first_s * float(2 ** min(attempt - 1, 16)))
        return (at_least_s or 0) + ours * (0.5 + self.chance() / 2)


def _may(call: Call[Any], failure: errors.BrainError) -> bool:
    if call.repeat is Repeat.NEVER:
        return False
    if isinstance(failure, errors.Busy) and failure.after_s is not None:
        return True
    if call.repeat is Repeat.REFUSED:
        return False
    return isinstance(failure, errors.ConnectionLost) or (
        isinstance(failure, errors.Refused) and failure.status in _PASSING
    )
