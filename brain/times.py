"""The two axes of time: `Seq`, the order of commits, and the instant, world time in UTC milliseconds.

An instant travels as its only protocol spelling, `YYYY-MM-DDTHH:mm:ss.SSSZ` (KIP 2.0 §6.5), which sorts as text the way
it sorts in time; so inside the engine a timestamp is that string and nothing is converted back and forth.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Protocol

Seq = int
"""A Space's commit sequence number: 0 is the empty Space, each state-changing commit adds 1."""

Timestamp = str
"""An instant in its protocol spelling."""

_CYCLE_MS = 146_097 * 86_400_000
"""400 years, after which the calendar repeats."""

_YEAR_1_MS = -62_135_596_800_000
"""Where Python's calendar begins; the protocol's has the year 0000 before it."""

_YEAR_0_MS = _YEAR_1_MS - 366 * 86_400_000

LAST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, the last of the protocol's calendar."""

_SHAPE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z", re.ASCII)


class Clock(Protocol):
    """Where "now" comes from; passed in, so that tests can hold it still."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z, truncated."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class FixedClock:
    """A clock for tests: it stands still until told to move."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def advance(self, ms: int) -> None:
        """Move forward by `ms` milliseconds."""
        self._now_ms += ms


def shifted(instant: Timestamp, minutes: int) -> Timestamp:
    """So many minutes later; with a UTC offset for them, what a clock of that offset shows at the instant.

    Where the calendar of the protocol ends, the last instant it has.
    """
    return timestamp(max(_YEAR_0_MS, min(milliseconds(instant) + minutes * 60_000, LAST_MS)))


def offset_text(minutes: int) -> str:
    """A UTC offset in minutes as RFC 3339 spells it: `+08:00`, `Z` for none."""
    if minutes == 0:
        return "Z"
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def timestamp(ms: int) -> Timestamp:
    """The protocol spelling of `ms` milliseconds since the epoch."""
    shift = _CYCLE_MS if ms < _YEAR_1_MS else 0
    text = datetime.fromtimestamp((ms + shift) // 1000, UTC).isoformat()
    year = f"{int(text[:4]) - 400:04d}" if shift else text[:4]
    return f"{year}{text[4:19]}.{ms % 1000:03d}Z"


def milliseconds(text: Timestamp) -> int:
    """Milliseconds since the epoch of a protocol timestamp; ValueError when it is not one."""
    if not is_timestamp(text):
        raise ValueError(f"not a protocol timestamp: {text!r}")
    moment = _calendar(text).replace(tzinfo=UTC)
    shift = _CYCLE_MS if text.startswith("0000") else 0
    return int(moment.timestamp()) * 1000 + int(text[20:23]) - shift


def is_timestamp(text: str) -> bool:
    """Whether `text` is exactly one protocol timestamp of a real calendar moment (§6.5)."""
    if not _SHAPE.fullmatch(text):
        return False
    try:
        _calendar(text)
    except ValueError:
        return False
    return True


def _calendar(text: Timestamp) -> datetime:
    """The date and time of day, without its zone; the year 0000, which Python has not, reads as 0400."""
    if text.startswith("0000"):
        text = f"0400{text[4:]}"
    return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007 - UTC by its spelling
