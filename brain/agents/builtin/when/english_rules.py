"""What English time expressions look like, and what each means."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from brain.agents.builtin.text import pattern
from brain.agents.builtin.when.calendar import (
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
)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 14)}
_COUNTS = {
    **{
        word: number
        for number, word in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"], 1
        )
    },
    "a": 1,
    "an": 1,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "a couple of": 2,
    "couple of": 2,
}
_FEASTS = {"christmas": (12, 25), "christmas eve": (12, 24), "new year's eve": (12, 31), "new year's day": (1, 1)}

MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
WEEKDAY = (
    r"(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_DAYNAME = r"(monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
COUNT = (
    r"(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|a couple of|couple of)"
)
UNIT = r"(minute|hour|day|week|month|quarter|year|decade)s?"
_YEAR = r"((?:19|20)\d{2})"
_SEASON = r"(spring|summer|autumn|fall|winter)"
_PART = r"(?: (?:early )?(?:morning|afternoon|evening|night)| noon)?"
_NUMBER = r"(\d{1,2})(?:st|nd|rd|th)?"
CLOCK = r"(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?|(\d{1,2}):(\d{2})\b|(noon|midday|midnight)\b"


def _month(word: str) -> int:
    return _MONTHS.index(word[:3].lower()) + 1


def weekday_of(word: str) -> int:
    """Monday is 0."""
    return _DAYS.index(word[:3].lower())


def count_of(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS[word.lower()]


def _iso(match: Any, at: datetime) -> Reading | None:  # noqa: ARG001 - every rule takes the moment
    year, month, number, hour, minute = match.groups()
    value = on_day(real_date(int(year), int(month), int(number)))
    if hour and int(hour) < 24 and int(minute) < 60:
        value = at_clock(value, (int(hour), int(minute)))
    return fixed(value)


def _slashed(match: Any, at: datetime) -> Reading | None:  # noqa: ARG001
    first, second, year = (int(group) for group in match.groups())
    year += 2000 if year < 100 else 0
    day_first = real_date(year, second, first) if match.group()[len(match.group(1))] == "." or first > 12 else None
    month_first = real_date(year, first, second) if second > 12 or first == second else None
    value = day_first or month_first
    return fixed(on_day(value) if value else When(f"{year:04d}"))


def _day_month(number: str, month: str, year: str | None, at: datetime) -> Reading | None:
    if year:
        return fixed(on_day(real_date(int(year), _month(month), int(number))))
    return month_day_reading(_month(month), int(number), at)


def _part_of(match: Any, at: datetime) -> Reading | None:
    part, month, year_of_month, year, which, unit = match.groups()
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
    reading = fixed(whole_month(int(year), _month(month))) if year else month_reading(_month(month), at)
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
    if year:
        return fixed(quarter(int(year), int(number)))
    now = (at.month + 2) // 3
    past = at.year if int(number) <= now else at.year - 1
    future = at.year if int(number) >= now else at.year + 1
    return quarter(past, int(number)), quarter(future, int(number))


def _season(match: Any, at: datetime) -> Reading | None:
    which, name, year = match.groups()
    first, last = _SEASONS[name.lower()]

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
    steps = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "following": 1}[
        which
    ]
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
    if what[:3] in _DAYS:
        past, future = weekday_reading(weekday_of(what), at)
        return fixed(past if steps < 0 else future if steps == 0 else weekday_of_week(weekday_of(what), 1, at))
    number = _month(what)
    if steps == 0:
        return fixed(whole_month(at.year, number))
    if steps < 0:
        return fixed(whole_month(at.year if number < at.month else at.year - 1, number))
    return fixed(whole_month(at.year if number > at.month else at.year + 1, number))


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


def clock_of(match: Any) -> tuple[int, int] | None:
    hour, minute, half, plain_hour, plain_minute, word = match.groups()
    if word:
        return (0, 0) if word.lower() == "midnight" else (12, 0)
    if half:
        value = (int(hour) % 12 + (12 if half.lower() == "p" else 0), int(minute or 0))
        return value if 1 <= int(hour) <= 12 and value[1] < 60 else None
    value = (int(plain_hour), int(plain_minute))
    return value if value[0] < 24 and value[1] < 60 else None


def _rule_clock(match: Any, at: datetime) -> Reading | None:
    clock = clock_of(match)
    return clock_reading(clock, at) if clock else None


_PREPOSITIONS = r"(?:in|since|from|until|till|by|before|after|during|of|for|through|around|to|between|and)"

RULES: tuple[Rule, ...] = (
    (pattern(r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?:[t ](\d{2}):(\d{2})(?::\d{2})?z?)?\b"), _iso),
    (pattern(r"\b(\d{4})/(\d{1,2})/(\d{1,2})()()\b"), _iso),
    (pattern(r"\b(\d{1,2})[./](\d{1,2})[./](\d{4}|\d{2})\b"), _slashed),
    (
        pattern(r"\b(?P<core>(\d{4})-(0[1-9]|1[0-2]))(?:[^-\d]|$)"),
        lambda m, _: fixed(whole_month(int(m[2]), int(m[3]))),
    ),
    (
        pattern(rf"\b(?:the )?{_NUMBER}(?: of)? {MONTH}(?:,? {_YEAR})?\b"),
        lambda m, at: _day_month(m[1], m[2], m[3], at),
    ),
    (pattern(rf"\b{MONTH} (?:the )?{_NUMBER}(?:,? {_YEAR})?\b"), lambda m, at: _day_month(m[2], m[1], m[3], at)),
    (pattern(rf"\b{MONTH},?(?: of)? {_YEAR}\b"), lambda m, _: fixed(whole_month(int(m[2]), _month(m[1])))),
    (
        pattern(
            rf"\b(?:the )?(early|late|mid|middle|start|beginning|end)(?:(?: of| in)? |-)(?:(?:{MONTH}(?: {_YEAR})?)"
            rf"|{_YEAR}|(this|the|next|last) (day|week|month|year))\b"
        ),
        _part_of,
    ),
    (pattern(rf"\bq([1-4])(?: of| in)?(?:,? {_YEAR})?\b"), _quarter),
    (pattern(rf"\b(?:(last|this|next) |in (?:the )?|since (?:the )?){_SEASON}(?: of)?(?: {_YEAR})?\b"), _season),
    (pattern(rf"\b(?:(last|this|next) )?{_SEASON} (?:of )?{_YEAR}\b"), _season),
    (
        pattern(
            r"\b(?:the )?(last|past|previous|this|current|next|coming|following) "
            rf"(week|weekend|month|year|quarter|night|{_DAYNAME[1:-1]}|january|february|march|april|may|june|july|august"
            rf"|september|october|november|december){_PART}\b"
        ),
        _relative,
    ),
    (
        pattern(rf"\b(the day before yesterday|the day after tomorrow|yesterday|today|tonight|tomorrow|tmrw){_PART}\b"),
        _day_word,
    ),
    (pattern(r"\b(this (?:morning|afternoon|evening)|earlier today|later today)\b"), _day_word),
    (
        pattern(rf"\b(?:{_DAYNAME} (?:of )?(last|this|next) week|(last|this|next) week(?: on)? {_DAYNAME})\b"),
        _weekday_in_week,
    ),
    (
        pattern(rf"\b(?:about |around |roughly |exactly )?{COUNT} {UNIT} (ago|back|earlier|from now|from today)\b"),
        _from_today,
    ),
    (pattern(rf"\b(?:with)?in (?:about |around |exactly )?{COUNT} {UNIT}()(?: time)?\b"), _from_today),
    (pattern(r"\ba few (day|week)s ago\b"), _few_ago),
    (
        pattern(rf"\b(?:on|by|until|till|before|after|since) (?P<core>the {_NUMBER})\b"),
        lambda m, at: day_of_month_reading(int(m[2]), at),
    ),
    (pattern(rf"\b{_DAYNAME}{_PART}\b"), lambda m, at: weekday_reading(weekday_of(m[1]), at)),
    (
        pattern(rf"\b(?:on|by|until|till|since) (?P<core>{WEEKDAY})\b"),
        lambda m, at: weekday_reading(weekday_of(m[1]), at),
    ),
    (
        pattern(rf"\b{_PREPOSITIONS} (?:about |around )?(?P<core>{MONTH})(?:\W|$)"),
        lambda m, at: month_reading(_month(m[2]), at),
    ),
    (pattern(rf"\b{_PREPOSITIONS} (?:about |around |the year )?(?P<core>{_YEAR})\b"), lambda m, _: fixed(When(m[2]))),
    (
        pattern(r"\b(christmas eve|christmas|new year's eve|new year's day)\b"),
        lambda m, at: month_day_reading(*_FEASTS[m[1].lower()], at),
    ),
    (
        pattern(r"\b(?:the )?(eod|end of (?:the )?day|close of business)\b"),
        lambda _, at: fixed(shifted(at.date(), days=0)),
    ),
    (
        pattern(r"\b(?:the )?(eow|end of (?:the )?week)\b"),
        lambda _, at: fixed(weekday_of_week(4, 0 if at.weekday() < 5 else 1, at)),
    ),
    (pattern(rf"\b(?:{CLOCK})"), _rule_clock),
)
