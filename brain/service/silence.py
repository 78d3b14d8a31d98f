"""Which leases nobody keeps any more, whatever the clocks say."""

from __future__ import annotations

import time
from collections import OrderedDict

from brain.store.base import Lease

_REMEMBERED = 4_096


class Silence:
    """Leases that end later than they can, and how long each has stood unchanged.

    A lease tells its end by its holder's clock. Where that clock was set back since, or is ahead of ours, the end may
    be hours away, and a Space whose holder died would wait for it. A holder that lives renews its lease, so one that
    has not changed for as long as a lease lasts is nobody's: by this process's own time, which no one sets.

    ttl_ms  how long a lease lasts from its last renewal
    """

    def __init__(self, ttl_ms: int) -> None:
        self._ttl_ms = ttl_ms
        self._since: OrderedDict[Lease, float] = OrderedDict()

    def has_ended(self, lease: Lease, now_ms: int) -> bool:
        """Whether a lease is over, or shown to be nobody's."""
        left_ms = lease.expires_ms - now_ms
        return left_ms <= 0 or (left_ms > self._ttl_ms and self._stands_still(lease))

    def left_ms(self, lease: Lease, now_ms: int) -> int:
        """How long to wait before a lease is looked at again: what it has left, and no longer than it can have."""
        return min(max(lease.expires_ms - now_ms, 0), self._ttl_ms)

    def _stands_still(self, lease: Lease) -> bool:
        at = time.monotonic()
        since = self._since.setdefault(lease, at)
        while len(self._since) > _REMEMBERED:
            self._since.popitem(last=False)
        return (at - since) * 1000 > self._ttl_ms
