"""Dates as people say them, to the precision they say them, as KIP time points."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from brain.times import Timestamp, milliseconds, offset_text, timestamp

_DATE = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2})"
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,3})\d*)?)?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2})?)?)?)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Span:
    """The instants a date may mean, both ends included.

    is_calendar  whether it is a day, month or year, which stand for themselves and are kept as if said in UTC
    """

    earliest: Timestamp
    latest: Timestamp
    is_calendar: bool = False

    @property
    def point(self) -> Any:
        """As an endpoint of `valid_time`: the instant, or a bound (§25.5)."""
        if self.earliest == self.latest:
            return self.earliest
        return {"earliest": self.earliest, "latest": self.latest}

    def not_after(self, limit: Timestamp) -> Span:
        """The span without its part after `limit`, when it begins before: what was said to have begun has begun."""
        return Span(self.earliest, limit, self.is_calendar) if self.earliest <= limit < self.latest else self


def read_date(text: str, utc_offset_minutes: int = 0) -> Span:
    """The span of `2024`, `2024-03`, `2024-03-20`, `2024-03-20T15:00Z` and finer.

    utc_offset_minutes  of the clock that a time of day without a zone is told by, east positive

    raises  ValueError with what is wrong, for a text of another form or a day that does not exist
    """
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise ValueError("write it as 2024, 2024-03, 2024-03-20 or 2024-03-20T15:00Z")
    part = match.groupdict()
    year, month, day = int(part["year"]), part["month"], part["day"]
    if month is None:
        return _between(datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC))
    if day is None:
        last = calendar.monthrange(year, _month(int(month)))[1]
        return _between(
            datetime(year, int(month), 1, tzinfo=UTC), datetime(year, int(month), last, 23, 59, 59, 999_000, tzinfo=UTC)
        )
    start = datetime(year, int(month), int(day), tzinfo=UTC)
    if part["hour"] is None:
        return _between(start, start.replace(hour=23, minute=59, second=59, microsecond=999_000))
    start = start.replace(hour=int(part["hour"]), minute=int(part["minute"]))
    shift = _offset_ms(part["zone"]) if part["zone"] else utc_offset_minutes * 60_000
    if part["second"] is None:
        return _between(start, start.replace(second=59, microsecond=999_000), shift)
    fraction = int((part["fraction"] or "0").ljust(3, "0"))
    start = start.replace(second=int(part["second"]), microsecond=fraction * 1000)
    return _between(start, start, shift)


def zone_of(text: str) -> str:
    """The zone a time of day was written with, as `Z` or `+01:00`; empty where there is none."""
    match = _DATE.fullmatch(text.strip())
    zone = (match["zone"] or "") if match else ""
    return zone if len(zone) in (0, 1, 6) else f"{zone[:3]}:{zone[3:]}"


def with_zone(text: str, utc_offset_minutes: int) -> str:
    """A date as it is kept beside its instant: a time of day without a zone gets that of the clock it was told by."""
    said = text.strip()
    match = _DATE.fullmatch(said)
    is_told_by_clock = match is not None and match["hour"] is not None and match["zone"] is None
    return said + offset_text(utc_offset_minutes) if is_told_by_clock else said


def just_before(instant: Timestamp) -> Timestamp:
    """One millisecond earlier."""
    return timestamp(milliseconds(instant) - 1)


def _month(number: int) -> int:
    if not 1 <= number <= 12:
        raise ValueError("month must be in 1..12")
    return number


def _offset_ms(zone: str) -> int:
    if zone == "Z":
        return 0
    digits = zone.replace(":", "")
    if int(digits[1:3]) > 23 or int(digits[3:5]) > 59:
        raise ValueError("the zone offset is impossible")
    minutes = int(digits[1:3]) * 60 + int(digits[3:5])
    return minutes * 60_000 * (1 if digits[0] == "+" else -1)


def _between(start: datetime, end: datetime, shift_ms: int | None = None) -> Span:
    return Span(_stamp(start, shift_ms or 0), _stamp(end, shift_ms or 0), is_calendar=shift_ms is None)


def _stamp(moment: datetime, shift_ms: int) -> Timestamp:
    seconds = calendar.timegm(moment.timetuple())
    return timestamp(seconds * 1000 + moment.microsecond // 1000 - shift_ms)
