"""What a time expression can mean: calendar arithmetic against the moment a sentence was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal, TypeAlias

from brain.agents.builtin.text import Pattern

Direction: TypeAlias = Literal["past", "future"]
Role: TypeAlias = Literal["at", "since", "until", "by", "after", "before", "range", "for"]
"""What a time does in its sentence: `by` is a deadline, `for` a length up to now, `after` and `before` say no date."""


@dataclass(frozen=True, slots=True)
class When:
    """A calendar time at the precision said.

    start        `2024`, `2024-03`, `2024-03-05`, or `2024-03-05T15:30` with the zone of the moment it was said (`Z`,
                 `-08:00`)
    end          the last day, month or year of a span; None when the span is what `start` says
    approximate  `start` is finer than what was said (a week, "a few days ago")
    """

    start: str
    end: str | None = None
    approximate: bool = False

    @property
    def last(self) -> str:
        """The end of the span, at its own precision."""
        return self.end or self.start

    @property
    def since(self) -> str:
        """When something began in the span, no finer than what was said."""
        if not self.approximate:
            return self.start
        return next((self.start[:size] for size in (7, 4) if self.start[:size] == self.last[:size]), self.last)

    @property
    def on(self) -> str:
        """One ISO date no finer than what was said."""
        if self.end is None and not self.approximate:
            return self.start
        last = self.last
        for length in (10, 7, 4) if not self.approximate else (7, 4):
            if self.start[:length] == last[:length] and len(self.start) >= length:
                return self.start[:length]
        return self.start


Reading: TypeAlias = tuple[When | None, When | None]
"""What an expression means when the sentence tells of the past, and when it tells of the future."""

IMPOSSIBLE: Reading = (None, None)
"""What is put like a date and is none, `31 June`: found like any other, so that no part of it passes for a date."""

Clock: TypeAlias = tuple[int, int]
"""Hour and minute as said, `24:00` and impossible ones among them."""

Rule: TypeAlias = tuple[Pattern, Callable[[Any, datetime], "Reading | None"]]
"""A pattern and what its match means at the time of the message; None when it is not put like a date after all. A group
named `core` holds the time itself when the pattern needs the word before it."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A time expression at `text[start:end]`, its preposition included.

    reading  its meaning in either direction
    said     when the sentence was said, as ISO minutes
    again    the same expression read at another moment: how the first end of "March to June 2023" finds its year
    clock    when it is a time of day alone
    """

    start: int
    end: int
    role: Role
    reading: Reading
    again: Callable[[datetime], Reading]
    said: str = ""
    clock: Clock | None = None

    @property
    def is_possible(self) -> bool:
        """Whether it means anything; else its clause has no such time."""
        return self.reading != IMPOSSIBLE

    @property
    def ahead(self) -> bool:
        """Whether the time can only lie after the sentence that tells it."""
        past, future = self.reading
        return future is not None if past is None else past.start > self.said[: len(past.start)]

    @property
    def is_soon(self) -> bool:
        """Whether it may lie ahead by some weeks: `from 1 June`, said in May, is no day of the year before."""
        past, future = self.reading
        if future is None or past == future or len(future.start) < 10 or not self.said:
            return False
        ahead = date.fromisoformat(future.start[:10]) - date.fromisoformat(self.said[:10])
        return 0 <= ahead.days <= _SOON_DAYS

    def when(self, direction: Direction | None) -> When | None:
        """The time meant; without a direction only what is the same both ways."""
        past, future = self.reading
        if direction == "past":
            return past
        if direction == "future":
            return future
        return past if past == future else None


_SOON_DAYS = 62


def fixed(when: When | None) -> Reading:
    """A reading that does not depend on the direction; impossible when the calendar has no such time."""
    return when, when


def day(value: date) -> str:
    return value.strftime("%Y-%m-%d") if value.year >= 1000 else f"{value.year:04d}-{value.month:02d}-{value.day:02d}"


def real_date(year: int, month: int, number: int) -> date | None:
    """The date, or None when the calendar has none."""
    try:
        return date(year, month, number)
    except ValueError:
        return None


def on_day(value: date | None) -> When | None:
    return None if value is None else When(day(value))


def whole_month(year: int, month: int) -> When | None:
    """A month; `month` may run past 12 or below 1."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return When(f"{year:04d}-{month:02d}") if 1 <= year <= 9999 else None


def month_reading(month: int, at: datetime) -> Reading:
    """A month without a year: the last one that has begun, or the next one that is not over."""
    past = at.year if month <= at.month else at.year - 1
    future = at.year if month >= at.month else at.year + 1
    return whole_month(past, month), whole_month(future, month)


def month_day_reading(month: int, number: int, at: datetime) -> Reading:
    """A day without a year: the last one up to today, or the next one from today on."""
    today = at.date()
    years = [real_date(year, month, number) for year in range(at.year - 8, at.year + 9) if 1 <= year <= 9999]
    real = [value for value in years if value is not None]
    past = max((value for value in real if value <= today), default=None)
    future = min((value for value in real if value >= today), default=None)
    return on_day(past), on_day(future)


def day_of_month_reading(number: int, at: datetime) -> Reading | None:
    """`the 5th`: of the month it last fell in, or next falls in."""
    if not 1 <= number <= 31:
        return None
    today = at.date()
    months = [(at.year + (at.month + step - 1) // 12, (at.month + step - 1) % 12 + 1) for step in range(-2, 3)]
    real = [value for year, month in months if (value := _safe(year, month, number)) is not None]
    past = max((value for value in real if value <= today), default=None)
    future = min((value for value in real if value >= today), default=None)
    return on_day(past), on_day(future)


def weekday_reading(weekday: int, at: datetime) -> Reading:
    """A bare weekday: the last one before today, or the next one after today."""
    today = at.date()
    back = (today.weekday() - weekday - 1) % 7 + 1
    ahead = (weekday - today.weekday() - 1) % 7 + 1
    return shifted(today, days=-back), shifted(today, days=ahead)


def weekday_of_week(weekday: int, weeks: int, at: datetime) -> When | None:
    """A weekday of the week `weeks` away, weeks beginning on Monday."""
    today = at.date()
    return shifted(today, days=weekday - today.weekday() + 7 * weeks)


def week(weeks: int, at: datetime) -> When | None:
    """The week `weeks` away, Monday to Sunday."""
    first, last = weekday_of_week(0, weeks, at), weekday_of_week(6, weeks, at)
    return When(first.start, last.start, approximate=True) if first and last else None


def weekend(weeks: int, at: datetime) -> When | None:
    first, last = weekday_of_week(5, weeks, at), weekday_of_week(6, weeks, at)
    return When(first.start, last.start) if first and last else None


def shifted(today: date, *, days: int) -> When | None:
    try:
        return on_day(today + timedelta(days=days))
    except OverflowError:
        return None


def away(count: int, unit: str, at: datetime) -> When | None:
    """The time `count` units from the message, negative for the past, as fine as the unit.

    unit  minute, hour, day, week, month, quarter, year or decade
    """
    if abs(count) > 100_000:
        return None
    match unit:
        case "minute" | "hour":
            try:
                moment = at + timedelta(**{f"{unit}s": count})
            except OverflowError:
                return None
            return When(f"{moment:%Y-%m-%dT%H:%M}{zone_of(at)}") if moment.year >= 1000 else None
        case "day":
            return shifted(at.date(), days=count)
        case "week":
            value = shifted(at.date(), days=7 * count)
            return replace(value, approximate=True) if value else None
        case "month" | "quarter":
            return whole_month(at.year, at.month + count * (3 if unit == "quarter" else 1))
        case _:
            year = at.year + count * (10 if unit == "decade" else 1)
            return When(f"{year:04d}") if 1 <= year <= 9999 else None


def quarter(year: int, number: int) -> When:
    return When(f"{year:04d}-{3 * number - 2:02d}", f"{year:04d}-{3 * number:02d}")


def zone_of(at: datetime) -> str:
    """The zone of a moment as times of day are written: `Z`, `-08:00`."""
    minutes = int((at.utcoffset() or timedelta()) / timedelta(minutes=1))
    sign, minutes = ("-" if minutes < 0 else "+"), abs(minutes)
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}" if minutes else "Z"


def is_clock(clock: Clock) -> bool:
    """Whether a day has this time; 24:00 is the midnight that ends it."""
    hour, minute = clock
    return (0 <= hour < 24 and 0 <= minute < 60) or clock == (24, 0)


def at_clock(when: When | None, clock: Clock, zone: str) -> When | None:
    """A day with a time of day, by the clock of whoever says it; what is no single day stays as it is.

    zone  of that clock: `Z`, `-08:00`
    """
    if when is None or not is_clock(clock):
        return None
    if len(when.start) != 10 or when.end is not None:
        return when
    if clock == (24, 0):
        following = shifted(date.fromisoformat(when.start), days=1)
        return at_clock(following, (0, 0), zone)
    return When(f"{when.start}T{clock[0]:02d}:{clock[1]:02d}{zone}")


def clock_reading(clock: Clock, at: datetime) -> Reading:
    """A time of day alone: the last such moment, or the next."""
    if not is_clock(clock):
        return IMPOSSIBLE
    today, zone = at.date(), zone_of(at)
    clock = (clock[0] % 24, clock[1])
    passed = (at.hour, at.minute) >= clock
    past = shifted(today, days=0 if passed else -1)
    future = shifted(today, days=1 if passed else 0)
    return at_clock(past, clock, zone), at_clock(future, clock, zone)


def moment_of(timestamp: str) -> datetime:
    """The moment of a protocol timestamp, or of any ISO spelling; noon of 2000-01-01 when it is neither."""
    try:
        return datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    except ValueError:
        return datetime.fromisoformat("2000-01-01T12:00:00+00:00")


def spots_of(text: str, at: datetime, rules: tuple[Rule, ...]) -> list[Spot]:
    """The matches of the rules, leftmost first, the longest of those that overlap.

    What is put like a date and is impossible takes its place among them, so that no part of it is read instead.
    """
    found: list[Spot] = []
    for compiled, meaning in rules:
        for match in compiled.finditer(text):
            reading = meaning(match, at)
            if reading is not None:
                found.append(_spot(match, meaning, reading, at))
    found.sort(key=lambda spot: (spot.start, -spot.end, not spot.is_possible))
    kept: list[Spot] = []
    for spot in found:
        if not kept or spot.start >= kept[-1].end:
            kept.append(spot)
        elif spot.end > kept[-1].end and spot.start == kept[-1].start:
            kept[-1] = spot
    return kept


def _spot(match: Any, meaning: Callable[[Any, datetime], Reading | None], reading: Reading, at: datetime) -> Spot:
    start, end = match.span(match.re.groupindex.get("core", 0))
    return Spot(start, end, "at", reading, lambda moment: meaning(match, moment) or IMPOSSIBLE, at.isoformat()[:16])


def _safe(year: int, month: int, number: int) -> date | None:
    return real_date(year, month, number) if 1 <= year <= 9999 else None
