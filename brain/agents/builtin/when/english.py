"""English time expressions: found by the rules, joined, each with what its preposition makes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

from brain.agents.builtin.text import pattern
from brain.agents.builtin.when.calendar import Clock, Role, Spot, When, at_clock, away, spots_of, zone_of
from brain.agents.builtin.when.english_rules import RULES
from brain.agents.builtin.when.english_words import CLOCK, COUNT, UNIT, WEEKDAY, clock_of, count_of, weekday_of

_LENGTH = pattern(
    rf"\bfor (?:about |almost |nearly |over |more than |the (?:past|last) |at least )?{COUNT} {UNIT}(?: now)?\b"
)
_RECURS = pattern(r"\b(?:every|each)(?: other| single)? $")
_LIKELY = pattern(
    r"\d|day\b|night|week|month|year|quarter|tomorrow|tmrw|morning|evening|afternoon|noon|eod|eow|\bago\b|christmas"
    r"|jan|feb|mar|apr|\bmay\b|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter|decade|hour|minute|clos"
    r"|\b(?:mon|tues?|wed|thu|thurs?|fri|sat|sun)\b"
)
_BEFORE = pattern(
    r"(?:^|[\s(,])(since|ever since|starting(?: from| on| in)?|beginning(?: on| in)?|as of|effective|from|until|"
    r"till|up to|up until|through|"
    r"no later than|due(?: on| by)?|by|before|after|on|in|at|during|around|about|over|of|to|between|for|this|"
    r"coming)\s+$"
)
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("since", "ever since", "as of", "effective", "from"), "since"),
    **dict.fromkeys(("until", "till", "up to", "up until", "through"), "until"),
    **dict.fromkeys(("by", "no later than", "due", "due on", "due by"), "by"),
    "before": "before",
    "after": "after",
}
_INSIDE = pattern(r"^(?:to|until|till|through|and) ")
_JOINS_CLOCK = pattern(r"^,? ?(?:at |on |around |by )?(?:the )?$")


def times_in(text: str, at: datetime) -> list[Spot]:
    """Every time expression of an English sentence, in order."""
    if not _LIKELY.search(text):
        return []
    found = [
        spot for spot in spots_of(text, at, RULES) if not _RECURS.search(text[max(0, spot.start - 12) : spot.start])
    ]
    spots = [_with_preposition(text, spot) for spot in found]
    spots = _joined(text, spots, zone_of(at))
    lengths = [spot for spot in _lengths(text, at) if not any(_overlap(spot, other) for other in spots)]
    return sorted([*spots, *lengths], key=lambda spot: spot.start)


def _with_preposition(text: str, spot: Spot) -> Spot:
    before = _BEFORE.search(text[max(0, spot.start - 24) : spot.start])
    if not before:
        return replace(spot, clock=_spot_clock(text, spot))
    word = before[1].lower()
    start = spot.start - (len(before.group()) - before.group().lower().index(word))
    role: Role = "since" if word.startswith(("starting", "beginning")) else _ROLES.get(word, "at")
    return replace(spot, start=start, role=role, clock=_spot_clock(text, spot))


def _spot_clock(text: str, spot: Spot) -> Clock | None:
    match = _CLOCK_ALONE.match(text[spot.start : spot.end])
    return clock_of(match) if match else None


_WEEKDAY_ALONE = pattern(rf"^(?:\w+ )?{WEEKDAY}$")
_CLOCK_ALONE = pattern(rf"^(?:{CLOCK})$")


def _joined(text: str, spots: list[Spot], zone: str) -> list[Spot]:
    """A day and a time of day made one; two ends of a span made one."""
    kept: list[Spot] = []
    for spot in spots:
        previous = kept[-1] if kept else None
        if previous is None:
            kept.append(spot)
            continue
        between = text[previous.end : spot.start]
        if (previous.clock is None) != (spot.clock is None) and _JOINS_CLOCK.match(between):
            kept[-1] = _day_and_clock(previous, spot, zone)
        elif (dated := _weekday_and_date(text, previous, spot, between)) is not None:
            kept[-1] = dated
        elif (merged := _span(text, previous, spot)) is not None:
            kept[-1] = merged
        else:
            kept.append(spot)
    return kept


def _weekday_and_date(text: str, first: Spot, second: Spot, between: str) -> Spot | None:
    """`Friday the 12th of January`: the date, in whichever year it falls on that weekday; impossible in neither."""
    named = _WEEKDAY_ALONE.search(text[first.start : first.end])
    if named is None or not _JOINS_CLOCK.match(between) or _WEEKDAY_ALONE.search(text[second.start : second.end]):
        return None
    weekday = weekday_of(named[1])
    past, future = (
        when if when and len(when.start) == 10 and date.fromisoformat(when.start).weekday() == weekday else None
        for when in second.reading
    )
    is_day = any(when is not None and len(when.start) == 10 and when.end is None for when in second.reading)
    if past is None and future is None and second.is_possible and not is_day:
        return None
    role = first.role if first.role != "at" else second.role
    return replace(second, start=first.start, role=role, reading=(past, future))


def _day_and_clock(first: Spot, second: Spot, zone: str) -> Spot:
    the_day, clock = (second, first.clock) if first.clock else (first, second.clock)
    assert clock is not None  # noqa: S101 - one of the two is a time of day
    past, future = (at_clock(when, clock, zone) for when in the_day.reading)
    role = first.role if first.role != "at" else second.role
    return replace(the_day, start=first.start, end=second.end, role=role, reading=(past, future), clock=None)


def _span(text: str, first: Spot, second: Spot) -> Spot | None:
    opener = text[first.start : first.start + 8].lower()
    bare = _INSIDE.match(text[second.start : second.end])
    core = second.start + (bare.end() if bare else 0)
    joint = text[first.end : core].strip().lower()
    opened = opener.startswith("from ") or first.role == "since"
    if not (
        (opened and joint in ("to", "until", "till", "through", "-", "–", "—"))
        or (opener.startswith("between ") and joint == "and")
        or (joint in ("-", "–", "—", "to", "through") and first.role == "at" and second.clock is None)
    ):
        return None
    readings: list[When | None] = []
    for side in (0, 1):
        start, end = first.reading[side], second.reading[side]
        if start and end and start.start[:4] != end.start[:4] and first.reading[0] != first.reading[1]:
            year = int(end.start[:4])
            start = first.again(datetime(year, 12, 31, tzinfo=None))[0]  # noqa: DTZ001 - a calendar moment
        readings.append(When(start.start, end.last) if start and end and start.start <= end.last else None)
    return replace(first, end=second.end, role="range", reading=(readings[0], readings[1]), clock=None)


def _lengths(text: str, at: datetime) -> list[Spot]:
    spots = []
    for match in _LENGTH.finditer(text):
        begun = away(-count_of(match[1]), match[2].lower(), at)
        if begun:
            spots.append(Spot(match.start(), match.end(), "for", (begun, None), lambda _: (begun, None)))  # noqa: B023
    return spots


def _overlap(one: Spot, other: Spot) -> bool:
    return one.start < other.end and other.start < one.end
