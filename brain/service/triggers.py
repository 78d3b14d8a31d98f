"""When a maintenance cycle is due by itself: by formed conversations, and by the clock (BR-MAINT-007 to 012).

Both are decided from stored figures inside a transaction, so that neither restarts nor several workers skip or double a
cycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Scope = Literal["daydream", "full", "quick"]

FULL_EVERY = 168
QUICK_EVERY = 42
DAYDREAM_EVERY = 21
"""Formed conversations between two cycles of a scope."""

CLOCK_MS = 24 * 3_600_000
"""After this long without any cycle a Space that has formed something gets a full one."""


def due_by_count(formed: int, formed_at: Mapping[str, int]) -> Scope | None:
    """The widest cycle that is due after `formed` formed conversations, or None.

    formed_at  how many were formed at the last start of each scope; a wider cycle stands for the narrower ones too
    """
    full, quick, daydream = formed_at["full"], formed_at["quick"], formed_at["daydream"]
    if formed - full >= FULL_EVERY:
        return "full"
    if formed - max(quick, full) >= QUICK_EVERY:
        return "quick"
    if formed - max(daydream, quick, full) >= DAYDREAM_EVERY:
        return "daydream"
    return None


def is_due_by_clock(progress: Mapping[str, Any], created_ms: int, now_ms: int) -> bool:
    """Whether the last cycle, or without any the Space's creation, lies a day back; never in a Space without memory."""
    last: int = progress["maintenance_at"]["start_at"] or created_ms
    return progress["formed"] > 0 and now_ms - last >= CLOCK_MS
