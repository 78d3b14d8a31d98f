"""Chinese time expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from brain.agents.builtin.text import pattern
from brain.agents.builtin.when.calendar import (
    IMPOSSIBLE,
    Clock,
    Reading,
    Role,
    Rule,
    Spot,
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
    spots_of,
    week,
    weekday_of_week,
    weekday_reading,
    weekend,
    whole_month,
    zone_of,
)

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_NUMBER = r"([0-9]{1,4}|[零〇一二两三四五六七八九十百]{1,6})"
_FIGURES = r"(\b[0-9]{1,4}|[零〇一二三四五六七八九十百]{1,6})"
"""Whole figures, so that the end of a number never passes for a month, a day or an hour of its own."""
_YEAR = r"(\b[12][0-9]{3}|[一二][零〇一二三四五六七八九]{3}) ?年"
_ANY_YEAR = r"(\b[0-9]{2}|\b[0-9]{4}|[零〇一二三四五六七八九]{4}) ?年 ?"
"""The year of a date with its month, which needs no care to tell it from a count."""
_MONTH = rf"{_FIGURES} ?月(?:份)?"
_DAY = rf"{_FIGURES} ?[日号號]"
_WEEKDAY = r"(?:周|星期|礼拜|週|禮拜)([一二三四五六日天])"
_PART = pattern(r"^的?(?:凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|夜里|晚间)")
_UNITS = {
    "分钟": "minute", "小时": "hour", "个小时": "hour", "天": "day", "日": "day", "周": "week", "个星期": "week",
    "星期": "week", "个礼拜": "week", "个月": "month", "年": "year",
}  # fmt: skip
_UNIT = r"(分钟|个?小时|天|日|周|个?星期|个礼拜|个月|年)"
_DAY_WORDS = {
    "大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0, "今日": 0,
    "今早": 0, "今晨": 0, "今晚": 0, "明天": 1, "明日": 1, "明早": 1, "明晚": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_WEEK_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "这个": 0, "上个": -1, "下": 1, "下个": 1, "下下": 2}
_YEAR_WORDS = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_SEASONS = {"春": (3, 5), "夏": (6, 8), "秋": (9, 11), "冬": (12, 14)}


_PLAIN = pattern(
    r"^(?:[零〇]?[一二两三四五六七八九]|(?:[一二三四五六七八九]百)?零?[一二三四五六七八九]?十?[一二三四五六七八九]?)$"
)


def number(text: str) -> int | None:
    """A number in Arabic or Chinese figures up to 999, or year digits such as 二〇二四."""
    if text.isascii():
        return int(text) if text.isdecimal() else None
    if not any(char in "十百" for char in text):
        digits = [_DIGITS[char] for char in text]
        return int("".join(map(str, digits)))
    total, held = 0, 0
    for char in text:
        if char == "百":
            total, held = total + (held or 1) * 100, 0
        elif char == "十":
            total, held = total + (held or 1) * 10, 0
        else:
            held = _DIGITS[char]
    return total + held


def _figure(text: str) -> int:
    """A month, day, hour or minute; 0, which is no month or day, for what is no one number: 二三月 is two months."""
    if text.isascii():
        return int(text)
    return (number(text) or 0) if _PLAIN.match(text) else 0


def _year_of(said: str | None, relative: str | None, at: datetime) -> int | None:
    """The year of a date; of two figures the one of the hundred years that end twenty years on."""
    if said is None:
        return at.year + _YEAR_WORDS[relative] if relative else None
    year = number(said) or 0
    if len(said) > 2:
        return year
    century = at.year // 100 * 100
    return century + year if year <= at.year % 100 + 20 else century - 100 + year


def _weekday(char: str) -> int:
    return 6 if char in "日天" else "一二三四五六".index(char)


def _dashed(match: Any, at: datetime) -> Reading | None:  # noqa: ARG001 - every rule takes the moment
    year, month, the_day = (int(group) for group in match.groups())
    value = real_date(year, month, the_day)
    if value is None and not (1900 <= year < 2100 or (0 < month < 13 and 0 < the_day < 32)):
        return None  # a code: 1234-56-78
    return fixed(on_day(value))


def _full_date(match: Any, at: datetime) -> Reading:
    said_year, relative, month, the_day = match.groups()
    year = _year_of(said_year, relative, at)
    if year is None:
        return month_day_reading(_figure(month), _figure(the_day), at)
    return fixed(on_day(real_date(year, _figure(month), _figure(the_day))))


def _year_month(match: Any, at: datetime) -> Reading:
    said_year, relative, month = match.groups()
    year, number_of_month = _year_of(said_year, relative, at), _figure(month)
    return fixed(whole_month(year, number_of_month) if year is not None and 1 <= number_of_month <= 12 else None)


def _month_alone(match: Any, at: datetime) -> Reading:
    value = _figure(match[1])
    return month_reading(value, at) if 1 <= value <= 12 else IMPOSSIBLE


def _in_week(match: Any, at: datetime) -> Reading | None:
    return fixed(weekday_of_week(_weekday(match[2]), _WEEK_STEPS[match[1]], at))


def _weeks(match: Any, at: datetime) -> Reading | None:
    steps = _WEEK_STEPS[match[1]]
    return fixed(weekend(steps, at) if match[2] else week(steps, at))


def _months(match: Any, at: datetime) -> Reading | None:
    value = away(
        {"上上个": -2, "上个": -1, "上": -1, "这个": 0, "本": 0, "下个": 1, "下": 1, "下下个": 2}[match[1]], "month", at
    )
    if value and match[2]:
        return fixed(on_day(real_date(int(value.start[:4]), int(value.start[5:7]), _figure(match[2]))))
    return fixed(value)


def _from_today(match: Any, at: datetime) -> Reading | None:
    count, unit, side = number(match[1]), _UNITS[match[2]], match[3]
    if count is None:
        return None
    if side[-1] in "前":
        return fixed(away(-count, unit, at))
    return None, away(count, unit, at)


def _year_part(match: Any, at: datetime) -> Reading | None:
    year = at.year + _YEAR_WORDS[match[1]]
    if not 1 <= year < 9999:
        return None
    part = match[2]
    if not part:
        return fixed(When(f"{year:04d}"))
    if part == "底" or part == "年底":
        return fixed(When(f"{year:04d}-12-31"))
    if part in ("初", "年初"):
        return fixed(When(f"{year:04d}"))
    first, last = _SEASONS[part[0]]
    start, end = whole_month(year, first), whole_month(year, last)
    return fixed(When(start.start, end.start)) if start and end else None


def _month_end(at: datetime) -> When | None:
    following = whole_month(at.year, at.month + 1)
    first = real_date(int(following.start[:4]), int(following.start[5:]), 1) if following else None
    return shifted(first, days=-1) if first else None


def _said_year(match: Any, at: datetime) -> Reading | None:  # noqa: ARG001 - every rule takes the moment
    year = number(match[1])
    return fixed(When(f"{year:04d}")) if year else None


def _quarter(match: Any, at: datetime) -> Reading | None:
    said_year, relative, which = match.groups()
    count = number(which)
    year = _year_of(said_year, relative, at)
    return fixed(quarter(year, count) if year and count and 1 <= count <= 4 else None)


def _clock_of(match: Any) -> Clock:
    """The time of day as said, possible or not."""
    part, hour_text, minute_text, quarters, half, hour_too, minute_too = match.groups()
    if hour_too:
        hour, minute = int(hour_too), int(minute_too)
    else:
        hour = _figure(hour_text) if hour_text not in ("零", "〇") else 0
        minute = _figure(minute_text) if minute_text else 15 * _figure(quarters) if quarters else 30 if half else 0
    if hour_text and not hour_text.isascii() and not _PLAIN.match(hour_text):
        return _NO_CLOCK
    if part and part in "下午傍晚晚上晚间" and 1 <= hour < 12:
        hour += 12
    return hour, minute


_NO_CLOCK = (99, 0)
_CLOCK = (
    r"(凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|晚间)?(?:(\b[0-9]{1,3}|[零〇一二两三四五六七八九十百]{1,4})[点點]"
    r"(?:([0-9]{1,3}|[零〇一二三四五六七八九]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九])分?|([一三])刻|(半)|钟|整)?"
    r"|\b([0-9]{1,2})[:：]([0-9]{2})\b)"
)
_RELATIVE_YEAR = r"(大前年|前年|去年|今年|明年|后年)"

_RULES: tuple[Rule, ...] = (
    (pattern(r"\b([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})\b"), _dashed),
    (pattern(rf"(?:{_ANY_YEAR}|{_RELATIVE_YEAR}的?)?{_MONTH}[的 ]?{_DAY}"), _full_date),
    (pattern(rf"(?:{_ANY_YEAR}|{_RELATIVE_YEAR}的?){_MONTH}(?:初|底|中旬|上旬|下旬)?"), _year_month),
    (pattern(rf"{_MONTH}(?:初|底|中旬|上旬|下旬)?"), _month_alone),
    (pattern(rf"{_YEAR}(?:初|底)?"), _said_year),
    (pattern(rf"(?:{_YEAR}|{_RELATIVE_YEAR}的?)第?([一二三四五六七八九0-9])季度"), _quarter),
    (pattern(rf"{_RELATIVE_YEAR}(年?底|年?初|春天|夏天|秋天|冬天)?"), _year_part),
    (pattern(r"((?:这个|本)?月底)"), lambda _, at: fixed(_month_end(at))),
    (pattern(r"(年底)"), lambda _, at: fixed(When(f"{at.year:04d}-12-31"))),
    (pattern(r"(大前天|大后天|前天|昨天|昨日|昨晚|昨夜|前晚|今天|今日|今早|今晨|今晚|明天|明日|明早|明晚|后天)"),
     lambda m, at: fixed(shifted(at.date(), days=_DAY_WORDS[m[1]]))),
    (pattern(r"(上上|上个|上|这个|这|本|下下|下个|下)(?:周|星期|礼拜)([一二三四五六日天])"), _in_week),
    (pattern(r"(上上|上个|上|这个|这|本|下下|下个|下)(?:周|星期|礼拜)(末)?"), _weeks),
    (pattern(r"(?P<core>(?:上上|上个|上|这个|这|本|下下|下个|下)(?:周|星期|礼拜)[七八九])(?:[，,。；;、\s]|$)"),
     lambda _, __: IMPOSSIBLE),
    (pattern(rf"(上上个|上个|上|这个|本|下下个|下个|下)月(?:{_DAY})?(?:初|底)?"), _months),
    (pattern(rf"{_WEEKDAY}"), lambda m, at: weekday_reading(_weekday(m[1]), at)),
    (pattern(rf"{_NUMBER}{_UNIT}(之?前|以前|之?后|以后|之?内|以内)"), _from_today),
    (pattern(rf"{_DAY}"), lambda m, at: day_of_month_reading(_figure(m[1]), at)),
    (pattern(_CLOCK), lambda m, at: clock_reading(_clock_of(m), at)),
)  # fmt: skip
_LENGTH = pattern(rf"{_NUMBER}{_UNIT}了")
_LIKELY = pattern(r"[年月日号周天点晚早前后0-9]|星期|礼拜|季度")
_SINCE_BEFORE, _SINCE_AFTER = pattern(r"(?:自从|自|从)$"), pattern(r"^(?:以来|起|开始|之后|以后|后)")
_UNTIL_BEFORE = pattern(r"(?:直到|到|至)$")
_BY_BEFORE, _BY_AFTER = pattern(r"(?:最晚|最迟|截止到?)$"), pattern(r"^(?:之前|以前|前)")
_JOINT = pattern(r"^(?:到|至|-|—|–|~)$")


def times_in(text: str, at: datetime) -> list[Spot]:
    """Every time expression of a Chinese sentence, in order."""
    if not _LIKELY.search(text):
        return []
    spots = [replace(spot, clock=_spot_clock(text, spot)) for spot in spots_of(text, at, _RULES)]
    joined = [_with_words(text, spot) for spot in _joined(text, spots, zone_of(at))]
    for match in _LENGTH.finditer(text):
        count = number(match[1])
        begun = away(-count, _UNITS[match[2]], at) if count else None
        if begun and not any(spot.start < match.end() and match.start() < spot.end for spot in joined):
            reading: Reading = (begun, None)
            joined.append(Spot(match.start(), match.end(), "for", reading, _always(reading)))
    return sorted(joined, key=lambda spot: spot.start)


def _always(reading: Reading) -> Callable[[datetime], Reading]:
    return lambda _: reading


def _spot_clock(text: str, spot: Spot) -> Clock | None:
    match = _CLOCK_ALONE.match(text[spot.start : spot.end])
    return _clock_of(match) if match else None


_WEEKDAY_ALONE = pattern(f"^{_WEEKDAY}$")
_CLOCK_ALONE = pattern(f"^{_CLOCK}$")


def _joined(text: str, spots: list[Spot], zone: str) -> list[Spot]:
    kept: list[Spot] = []
    for spot in spots:
        previous = kept[-1] if kept else None
        if previous is None:
            kept.append(spot)
            continue
        between = text[previous.end : spot.start].strip()
        if between in ("", "（", "(") and _WEEKDAY_ALONE.match(text[spot.start : spot.end]) and _is_day(previous):
            kept[-1] = _on_weekday(previous, spot, _weekday(text[spot.end - 1]))
        elif between in ("", "的") and previous.clock is None and spot.clock is not None:
            clock = _evening(text[previous.start : previous.end], spot.clock)
            past, future = (at_clock(when, clock, zone) for when in previous.reading)
            kept[-1] = replace(previous, end=spot.end, reading=(past, future))
        elif _JOINT.match(between) and previous.clock is None and spot.clock is None:
            kept[-1] = _span(previous, spot)
        else:
            kept.append(spot)
    return kept


def _is_day(spot: Spot) -> bool:
    """Whether a time is one day, or put like one."""
    return spot.clock is None and all(when is None or (len(when.start) == 10 and not when.end) for when in spot.reading)


def _on_weekday(spot: Spot, named: Spot, weekday: int) -> Spot:
    """A date with its weekday: in whichever year it falls on that; impossible in neither."""
    past, future = (
        when if when and date.fromisoformat(when.start).weekday() == weekday else None for when in spot.reading
    )
    return replace(spot, end=named.end, reading=(past, future))


def _evening(words: str, clock: Clock) -> Clock:
    late = any(word in words for word in ("下午", "晚上", "傍晚", "今晚", "明晚", "昨晚", "晚间"))
    return (clock[0] + 12, clock[1]) if late and 1 <= clock[0] < 12 else clock


def _span(first: Spot, second: Spot) -> Spot:
    readings: list[When | None] = []
    for side in (0, 1):
        start, end = first.reading[side], second.reading[side]
        if start and end and start.start[:4] != end.start[:4] and first.reading[0] != first.reading[1]:
            start = first.again(datetime(int(end.start[:4]), 12, 31, tzinfo=None))[0]  # noqa: DTZ001 - a calendar moment
        readings.append(When(start.start, end.last) if start and end and start.start <= end.last else None)
    return replace(first, end=second.end, role="range", reading=(readings[0], readings[1]))


def _with_words(text: str, spot: Spot) -> Spot:
    """The words around a time that say what it does: 从…起, …以来, 到…, …之前."""
    role: Role = spot.role
    start, end = spot.start, spot.end
    if part := _PART.match(text[end : end + 3]):
        end += part.end()
    before, after = text[max(0, start - 3) : start], text[end : end + 3]
    ahead = None
    if match := _BY_BEFORE.search(before):
        role, ahead = "by", match
    elif match := _SINCE_BEFORE.search(before):
        role, ahead = ("range" if role == "range" else "since"), match
    elif match := _UNTIL_BEFORE.search(before):
        role, ahead = "until", match
    start -= len(ahead.group()) if ahead else 0
    if match := _BY_AFTER.match(after):
        role, end = "by", end + match.end()
    elif (match := _SINCE_AFTER.match(after)) and role in ("at", "since"):
        word = match.group()
        role = "after" if word in ("之后", "以后", "后") and role == "at" else "since"
        end += match.end()
    if text[max(0, start - 1) : start] == "在":
        start -= 1
    return replace(spot, start=start, end=end, role=role)
