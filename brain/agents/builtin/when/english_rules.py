"""What English time expressions look like, and what each means."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from brain.agents.builtin.text import pattern
from brain.agents.builtin.when.calendar import (
    IMPOSSIBLE,
    Reading,
    Rule,
    When,
    at_clock,
    away,
    clock_reading,
    day_of_month_reading,
    fixed,
    month_day_reading,
    month_reading,
    on_day,
    quarter,
    real_date,
    shifted,
    week,
    weekday_of_week,
    weekday_reading,
    weekend,
    whole_month,
    zone_of,
)
from brain.agents.builtin.when.english_words import (
    ANY_YEAR,
    CLOCK,
    COUNT,
    DAYNAME,
    DAYS,
    FEASTS,
    MONTH,
    MONTH_NAME,
    NEAR,
    NUMBER,
    OF,
    ORDINAL,
    PART,
    SEASON,
    SEASONS,
    STEPS,
    UNIT,
    WEEKDAY,
    YEAR,
    clock_of,
    count_of,
    month_of,
    ordinal_of,
    weekday_of,
)


def _iso(match: Any, at: datetime) -> Reading | None:
    year, month, number, hour, minute, zone = match.groups()
    value = real_date(int(year), int(month), int(number))
    if value is None and not (1900 <= int(year) < 2100 or (0 < int(month) < 13 and 0 < int(number) < 32)):
        return None  # a code: 1234-56-78
    if hour is None:
        return fixed(on_day(value))
    said = (zone or zone_of(at)).upper()
    if said != "Z" and (int(said[1:3]) > 23 or int(said[-2:]) > 59):
        return IMPOSSIBLE
    said = said if said == "Z" else f"{said[:3]}:{said[-2:]}"
    return fixed(at_clock(on_day(value), (int(hour), int(minute)), said))


def _slashed(match: Any, at: datetime) -> Reading:  # noqa: ARG001 - every rule takes the moment
    """`13/03/2024`: the one of the two orders that makes a date; with both, the year. With dots the day is first."""
    first, second, year = (int(group) for group in match.groups())
    year += 2000 if len(match.group(3)) == 2 else 0
    day_first, month_first = real_date(year, second, first), real_date(year, first, second)
    if match.group()[len(match.group(1))] == ".":
        return fixed(on_day(day_first))
    if day_first and month_first and day_first != month_first:
        return fixed(When(f"{year:04d}", approximate=True))
    return fixed(on_day(day_first or month_first))


def _dashed(match: Any, at: datetime) -> Reading | None:
    """`13-03-2024`, as with slashes; what can be no day and month is a code."""
    first, second = int(match[1]), int(match[2])
    is_plausible = 0 < min(first, second) < 13 and max(first, second) < 32
    return _slashed(match, at) if is_plausible else None


def _year_month(match: Any, at: datetime) -> Reading:  # noqa: ARG001
    """`2024-03`, and the span of years `2019-21`."""
    year, number = int(match[2]), int(match[3])
    if 1 <= number <= 12:
        return fixed(whole_month(year, number))
    return fixed(When(match[2], f"{year // 100}{match[3]}") if number > year % 100 else None)


def _day_month(number: str, month: str, year: str | None, at: datetime) -> Reading:
    if year:
        full = int(year) if len(year) == 4 else at.year // 100 * 100 + int(year[1:])
        return fixed(on_day(real_date(full, month_of(month), int(number))))
    return month_day_reading(month_of(month), int(number), at)


def _in_near_year(match: Any, at: datetime) -> Reading:
    """`5 March last year`, `March 5 this year`, `in March next year`."""
    number, month, month_too, number_too, which = match.groups()
    year = at.year + STEPS[which.lower()]
    if not 1 <= year <= 9999:
        return IMPOSSIBLE
    said, name = number or number_too, month_of(month or month_too)
    return fixed(on_day(real_date(year, name, int(said))) if said else whole_month(year, name))


def _day_of_near_month(number: str, month: When | None) -> Reading:
    """A day of a month that was told from the month of the message."""
    return fixed(on_day(real_date(int(month.start[:4]), int(month.start[5:7]), int(number))) if month else None)


def _near_day(match: Any, at: datetime) -> Reading:
    """`the 5th of next month`, `next February 28`, `the 5th of last March`."""
    number, which, month, which_too, month_too, number_too = match.groups()
    steps = STEPS[(which or which_too).lower()]
    name = (month or month_too).lower()
    meant = away(steps, "month", at) if name == "month" else _near_month(steps, month_of(name), at)
    return _day_of_near_month(number or number_too, meant)


_DAY_FOLLOWS = pattern(r"^(?: (?:the )?|[-/.])\d{1,2}(?:st|nd|rd|th)?\b")
_DATE_FOLLOWS = pattern(rf"^(?:[-/.]\d|,? {MONTH} \d)")


def _part_of(match: Any, at: datetime) -> Reading | None:
    part, month, year_of_month, year, which, unit = match.groups()
    if (_DATE_FOLLOWS if year else _DAY_FOLLOWS).match(match.string[match.end() :]) and not year_of_month:
        return None  # mid June 31
    if month:
        return _part_of_month(part.lower(), month, year_of_month, at)
    if year:
        return fixed(When(f"{year}-12-31") if part.lower() == "end" else When(year))
    steps = {"this": 0, "the": 0, "next": 1, "last": -1}[which.lower()]
    ends = part.lower() == "end"
    if unit == "year":
        if not 1 < at.year < 9998:
            return None
        return fixed(When(f"{at.year + steps:04d}-12-31") if ends else When(f"{at.year + steps:04d}"))
    if unit == "month":
        value = whole_month(at.year, at.month + steps)
        return fixed(_last_day(value) if ends and value else value)
    if unit == "week":
        value = week(steps, at)
        return fixed(When(value.last) if ends and value else value)
    return fixed(When(at.strftime("%Y-%m-%d"))) if unit == "day" and ends else None


def _part_of_month(part: str, month: str, year: str | None, at: datetime) -> Reading | None:
    reading = fixed(whole_month(int(year), month_of(month))) if year else month_reading(month_of(month), at)
    if part != "end" or reading is None:
        return reading
    return tuple(_last_day(value) if value else None for value in reading)  # type: ignore[return-value]


def _last_day(month: When) -> When | None:
    year, number = int(month.start[:4]), int(month.start[5:7])
    following = whole_month(year, number + 1)
    if following is None:
        return month
    first = real_date(int(following.start[:4]), int(following.start[5:7]), 1)
    return shifted(first, days=-1) if first else None


def _quarter(match: Any, at: datetime) -> Reading | None:
    number, year = match.groups()
    if not 1 <= int(number) <= 4:
        return IMPOSSIBLE if year else None
    if year:
        return fixed(quarter(int(year), int(number)))
    now = (at.month + 2) // 3
    past = at.year if int(number) <= now else at.year - 1
    future = at.year if int(number) >= now else at.year + 1
    return quarter(past, int(number)), quarter(future, int(number))


def _season(match: Any, at: datetime) -> Reading | None:
    which, name, year = match.groups()
    first, last = SEASONS[name.lower()]

    def in_year(number: int) -> When | None:
        start, end = whole_month(number, first), whole_month(number, last)
        return When(start.start, end.start) if start and end else None

    if year:
        return fixed(in_year(int(year)))
    begun, over = at.month >= first, at.month > last
    past, future = in_year(at.year if begun else at.year - 1), in_year(at.year + 1 if over else at.year)
    match (which or "").lower():
        case "last":
            return fixed(in_year(at.year if over else at.year - 1))
        case "next":
            return fixed(in_year(at.year + 1 if begun else at.year))
        case "this":
            return fixed(in_year(at.year))
        case _:
            return past, future


def _relative(match: Any, at: datetime) -> Reading | None:
    which, what = match.group(1).lower(), match.group(2).lower()
    steps = STEPS[which]
    match what:
        case "week":
            return fixed(week(steps, at))
        case "weekend":
            return fixed(weekend(steps, at))
        case "month" | "year":
            return fixed(away(steps, what, at))
        case "quarter":
            value = whole_month(at.year, 3 * ((at.month - 1) // 3) + 1 + 3 * steps)
            return fixed(quarter(int(value.start[:4]), (int(value.start[5:7]) + 2) // 3)) if value else None
        case "night":
            return fixed(shifted(at.date(), days=steps)) if steps <= 0 else None
        case "decade":
            return None
        case _:
            return _relative_name(steps, what, at)


def _relative_name(steps: int, what: str, at: datetime) -> Reading | None:
    if what[:3] in DAYS:
        past, future = weekday_reading(weekday_of(what), at)
        return fixed(past if steps < 0 else future if steps == 0 else weekday_of_week(weekday_of(what), 1, at))
    return fixed(_near_month(steps, month_of(what), at))


def _near_month(steps: int, number: int, at: datetime) -> When | None:
    """The month of a name in this year, or the last or next one that is not this month."""
    if steps == 0:
        return whole_month(at.year, number)
    if steps < 0:
        return whole_month(at.year if number < at.month else at.year - 1, number)
    return whole_month(at.year if number > at.month else at.year + 1, number)


def _day_word(match: Any, at: datetime) -> Reading | None:
    word = match.group(1).lower()
    steps = {"the day before yesterday": -2, "yesterday": -1, "tomorrow": 1, "tmrw": 1, "the day after tomorrow": 2}
    return fixed(shifted(at.date(), days=steps.get(word, 0)))


def _weekday_in_week(match: Any, at: datetime) -> Reading | None:
    name, which, which_too, name_too = match.groups()
    steps = {"last": -1, "this": 0, "next": 1}[(which or which_too).lower()]
    return fixed(weekday_of_week(weekday_of(name or name_too), steps, at))


def _from_today(match: Any, at: datetime) -> Reading | None:
    count, unit = count_of(match.group(1)), match.group(2).lower()
    if match.group(3).lower() in ("ago", "back", "earlier"):
        return fixed(away(-count, unit, at))
    return None, away(count, unit, at)


def _few_ago(match: Any, at: datetime) -> Reading | None:
    """`a few days ago` is this month when the month is old enough, `a few weeks ago` this year likewise."""
    if match.group(1).lower() == "day":
        return fixed(away(0, "month", at)) if at.day > 9 else None
    return fixed(away(0, "year", at)) if at.month > 3 else None


_PREPOSITIONS = r"(?:in|since|from|until|till|by|before|after|during|of|for|through|around|to|between|and)"

RULES: tuple[Rule, ...] = (
    (
        pattern(
            r"\b(\d{4})-(\d{1,2})-(\d{1,2})"
            r"(?:[t ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(z|[+-]\d{2}:?\d{2})?)?\b"
        ),
        _iso,
    ),
    (pattern(r"\b(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?:[t ](\d{2}):(\d{2}))?(z)?\b"), _iso),
    (pattern(r"\b(\d{1,2})[./](\d{1,2})[./](\d{4}|\d{2})\b"), _slashed),
    (pattern(r"\b(\d{1,2})-(\d{1,2})-((?:19|20)\d{2})\b"), _dashed),
    (pattern(rf"\b(\d{{4}}),? {MONTH} {NUMBER}\b"), lambda m, at: _day_month(m[3], m[2], m[1], at)),
    (
        pattern(r"\b(?P<core>((?:19|20)\d{2})-(\d{2}))(?:[^-\d]|$)"),
        _year_month,
    ),
    (
        pattern(rf"\b(?:the )?{NUMBER}{OF}{MONTH}{ANY_YEAR}?\b"),
        lambda m, at: _day_month(m[1], m[2], m[3], at),
    ),
    (pattern(rf"\b{MONTH}(?: (?:the )?|[-/]){NUMBER}{ANY_YEAR}?\b"), lambda m, at: _day_month(m[2], m[1], m[3], at)),
    (
        pattern(rf"\b(?:the )?{ORDINAL} of {MONTH}{ANY_YEAR}?\b"),
        lambda m, at: _day_month(ordinal_of(m[1]), m[2], m[3], at),
    ),
    (
        pattern(rf"\b{MONTH} the {ORDINAL}{ANY_YEAR}?\b"),
        lambda m, at: _day_month(ordinal_of(m[2]), m[1], m[3], at),
    ),
    (
        pattern(
            rf"\b(?:(?:the )?{NUMBER} of {NEAR} (month|{MONTH_NAME[1:-1]})"
            rf"|{NEAR} {MONTH_NAME} (?:the )?{NUMBER})\b"
        ),
        _near_day,
    ),
    (
        pattern(
            rf"\b(?:(?:the )?{NUMBER}(?: of)? {MONTH}|{MONTH}(?: (?:the )?{NUMBER})?),?(?: of)? (last|this|next) year\b"
        ),
        _in_near_year,
    ),
    (pattern(rf"\b{MONTH},?(?: of)? ([12]\d{{3}})\b"), lambda m, _: fixed(whole_month(int(m[2]), month_of(m[1])))),
    (
        pattern(
            rf"\b(?:the )?(early|late|mid|middle|start|beginning|end)(?:(?: of| in)? |-)(?:(?:{MONTH}(?: {YEAR})?)"
            rf"|{YEAR}|(this|the|next|last) (day|week|month|year))\b"
        ),
        _part_of,
    ),
    (pattern(rf"\bq(\d)(?: of| in)?(?:,? {YEAR})?\b"), _quarter),
    (pattern(rf"\b(?:(last|this|next) |in (?:the )?|since (?:the )?){SEASON}(?: of)?(?: {YEAR})?\b"), _season),
    (pattern(rf"\b(?:(last|this|next) )?{SEASON} (?:of )?{YEAR}\b"), _season),
    (
        pattern(
            r"\b(?:the )?(last|past|previous|this|current|next|coming|following) "
            rf"(week|weekend|month|year|quarter|night|{DAYNAME[1:-1]}|january|february|march|april|may|june|july|august"
            rf"|september|october|november|december){PART}\b"
        ),
        _relative,
    ),
    (
        pattern(rf"\b(the day before yesterday|the day after tomorrow|yesterday|today|tonight|tomorrow|tmrw){PART}\b"),
        _day_word,
    ),
    (pattern(r"\b(this (?:morning|afternoon|evening)|earlier today|later today)\b"), _day_word),
    (
        pattern(rf"\b(?:{DAYNAME} (?:of )?(last|this|next) week|(last|this|next) week(?: on)? {DAYNAME})\b"),
        _weekday_in_week,
    ),
    (
        pattern(rf"\b(?:about |around |roughly |exactly )?{COUNT} {UNIT} (ago|back|earlier|from now|from today)\b"),
        _from_today,
    ),
    (pattern(rf"\b(?:with)?in (?:about |around |exactly )?{COUNT} {UNIT}()(?: time)?\b"), _from_today),
    (pattern(r"\ba few (day|week)s ago\b"), _few_ago),
    (
        pattern(rf"\b(?:on|by|until|till|before|after|since) (?P<core>the {NUMBER})\b"),
        lambda m, at: day_of_month_reading(int(m[2]), at),
    ),
    (pattern(rf"\b{DAYNAME}{PART}\b"), lambda m, at: weekday_reading(weekday_of(m[1]), at)),
    (
        pattern(rf"\b(?:on|by|until|till|since) (?P<core>{WEEKDAY})\b"),
        lambda m, at: weekday_reading(weekday_of(m[1]), at),
    ),
    (
        pattern(rf"\b{_PREPOSITIONS} (?:about |around )?(?P<core>{MONTH})(?:\W|$)"),
        lambda m, at: month_reading(month_of(m[2]), at),
    ),
    (pattern(rf"\b{_PREPOSITIONS} (?:about |around |the year )?(?P<core>{YEAR})\b"), lambda m, _: fixed(When(m[2]))),
    (
        pattern(r"\b(christmas eve|christmas|new year's eve|new year's day)\b"),
        lambda m, at: month_day_reading(*FEASTS[m[1].lower()], at),
    ),
    (
        pattern(r"\b(?:the )?(eod|end of (?:the )?day|close of business)\b"),
        lambda _, at: fixed(shifted(at.date(), days=0)),
    ),
    (
        pattern(r"\b(?:the )?(eow|end of (?:the )?week)\b"),
        lambda _, at: fixed(weekday_of_week(4, 0 if at.weekday() < 5 else 1, at)),
    ),
    (pattern(rf"\b(?:{CLOCK})"), lambda m, at: clock_reading(clock_of(m), at)),
)
