"""Times as a person says them: to the precision they were said, and a time of day with the zone it is told in.

What holds in the world keeps instants only, so its times of day are told in UTC. Promises and happenings keep their
date as it was written beside its instant, and with it the offset of the clock it was said by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.agents.remember.dates import read_date, zone_of
from brain.times import Timestamp

_MINUTE, _DAY, _MONTH, _YEAR = 16, 10, 7, 4


def first_instant(point: Any) -> Timestamp | None:
    """The earliest instant an endpoint may mean; its latest when it has no earliest."""
    if isinstance(point, Mapping):
        return point.get("earliest") or point.get("latest")
    return str(point) if point is not None else None


def spoken(point: Any) -> str:
    """An endpoint as a person would say it after "since" or "until", to the precision known.

    `2024-03-20`, `2024-03-20 15:00 UTC`, `2024-03`, `2024`; a span that is none of these `some time between … and …`.
    Of an end that is only known to lie before an instant nothing is said: that instant is when somebody spoke, no date
    of what they spoke about.
    """
    if point is None:
        return ""
    if not isinstance(point, Mapping):
        return f"{point[:_DAY]}" if point.endswith("T00:00:00.000Z") else _minute(point)
    earliest, latest = point.get("earliest"), point.get("latest")
    if earliest is None:
        return ""
    if latest is None:
        return f"some time from {earliest[:_DAY]} on"
    if earliest[:_MINUTE] == latest[:_MINUTE]:
        return _minute(earliest)
    if earliest[:_DAY] == latest[:_DAY]:
        return str(earliest[:_DAY])
    # A month or year that was not over when it was named ends where it was said.
    for width, begins in ((_MONTH, "-01T00:00"), (_YEAR, "-01-01T00:00")):
        if earliest[:width] == latest[:width] and earliest[width:].startswith(begins):
            return str(earliest[:width])
    return f"some time between {earliest[:_DAY]} and {latest[:_DAY]}"


def as_said(text: Any, instant: Timestamp | None) -> str:
    """A date as it was written, a time of day with its zone; else the instant that stands for it, as a day or minute.

    text     the date as stored beside its instant, of any shape; one that does not fit the instant counts for nothing
    instant  the first or last instant of what was said; None for no date

    >>> as_said("2026-04-16T16:00+01:00", "2026-04-16T15:00:59.999Z")
    '2026-04-16 16:00 +01:00'
    >>> as_said("2026-05", "2026-05-31T23:59:59.999Z")
    '2026-05'
    """
    if instant is None:
        return ""
    try:
        span = read_date(text) if isinstance(text, str) else None
    except ValueError:
        span = None
    if span is None or not span.earliest <= instant <= span.latest:
        return day_or_minute(instant)
    said = str(text).strip()
    if span.is_calendar:
        return said
    zone = zone_of(said)
    return f"{said[:_DAY]} {said[_DAY + 1 : _MINUTE]} {'UTC' if zone in ('', 'Z', '+00:00') else zone}"


def span_as_said(text: Any, first: Timestamp | None, last: Timestamp | None) -> str:
    """What `as_said` tells of a span; empty where its two ends are not one day, month, year or minute."""
    said = as_said(text, first)
    return said if last is None or said == as_said(text, last) else ""


def day_or_minute(instant: Timestamp) -> str:
    """The first or last instant of a day as that day, any other to the minute."""
    return instant[:_DAY] if instant[11:19] in ("00:00:00", "23:59:59") else _minute(instant)


def _minute(instant: Timestamp) -> str:
    return f"{instant[:_MINUTE].replace('T', ' ')} UTC"
