"""The kinds of background work, each with a queue and a task of its name."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a wake-up is for. What its message carries stands behind it."""

    FORMATION = "formation"  # a Space's id
    MAINTENANCE = "maintenance"  # a Space's id
    INDEX = "index"  # a Space's id
    SWEEP = "sweep"  # nothing
    CLOCK = "clock"  # nothing

    @property
    def task(self) -> str:
        """The name of the task."""
        return f"brain.{self.value}"

    @property
    def queue(self) -> str:
        """The name of the queue in Redis; the clock's few messages travel with the sweep's."""
        return f"brain.{Kind.SWEEP.value if self is Kind.CLOCK else self.value}"


QUEUES = tuple(kind.value for kind in Kind if kind is not Kind.CLOCK)
"""What `--queues` may name."""
