"""A date is what was said or nothing: what the calendar has not never becomes another date."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.agents.builtin.text import language_of
from brain.agents.builtin.when import moment_of, times_in
from brain.agents.turns import Vocabulary
from tests.builtin.turns import WEDNESDAY, formed, plain

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
Form = Callable[[int, int, int], str]

FIGURES: dict[str, Form] = {
    "iso": lambda y, m, d: f"{y}-{m:02d}-{d:02d}",
    "iso unpadded": lambda y, m, d: f"{y}-{m}-{d}",
    "slashes, year first": lambda y, m, d: f"{y}/{m:02d}/{d:02d}",
    "dots": lambda y, m, d: f"{d}.{m}.{y}",
    "Chinese figures": lambda y, m, d: f"{y}年{m}月{d}日",
    "Chinese figures, spoken": lambda y, m, d: f"{y}年{m}月{d}号",
    "dots, year first": lambda y, m, d: f"{y}.{m:02d}.{d:02d}",
    "Chinese figures, spaced": lambda y, m, d: f"{y} 年 {m} 月 {d} 日",
    "Chinese numerals": lambda y, m, d: f"{_digits(y)}年{_numeral(m)}月{_numeral(d)}日",
}
NAMED: dict[str, Form] = {
    "day first": lambda y, m, d: f"{d} {MONTHS[m - 1]} {y}",
    "day of month": lambda y, m, d: f"the {d}{_suffix(d)} of {MONTHS[m - 1]}, {y}",
    "day of month of year": lambda y, m, d: f"{d}{_suffix(d)} {MONTHS[m - 1]} of {y}",
    "year first": lambda y, m, d: f"{y} {MONTHS[m - 1]} {d}",
    "dashes": lambda y, m, d: f"{d}-{MONTHS[m - 1][:3]}-{y}",
    "slashes": lambda y, m, d: f"{MONTHS[m - 1]}/{d}/{y}",
    "dotted day": lambda y, m, d: f"{d}. {MONTHS[m - 1]} {y}",
    "short month": lambda y, m, d: f"{d} {MONTHS[m - 1][:3]} {y}",
    "month first": lambda y, m, d: f"{MONTHS[m - 1]} {d}, {y}",
    "month the day": lambda y, m, d: f"{MONTHS[m - 1]} the {d}{_suffix(d)} {y}",
    "in words": lambda y, m, d: f"the {ORDINALS[d - 1]} of {MONTHS[m - 1]} {y}",
    "month first, in words": lambda y, m, d: f"{MONTHS[m - 1]} the {ORDINALS[d - 1]}, {y}",
}


def _digits(number: int) -> str:
    return "".join("〇一二三四五六七八九"[int(digit)] for digit in str(number))


def _numeral(number: int) -> str:
    tens, ones = divmod(number, 10)
    if number == 0:
        return "零"
    return ("" if tens == 0 else "十" if tens == 1 else f"{_digits(tens)}十") + (_digits(ones) if ones else "")


def _suffix(number: int) -> str:
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number not in (11, 12, 13) else 0, "th")


def _real(year: int, month: int, day: int) -> list[str]:
    try:
        return [date(year, month, day).isoformat()]
    except ValueError:
        return []


def dates_in(text: str, at: str = WEDNESDAY) -> list[str]:
    """Every date that can be read out of a sentence, whichever way its verb points."""
    found: list[str] = []
    for spot in times_in(text, moment_of(at), language_of(text)):
        found += [when.start for when in spot.reading if when is not None]
    return list(dict.fromkeys(found))


def _sentence(date_text: str) -> str:
    return f"我{date_text}搬到了里斯本" if language_of(date_text) == "zh" else f"I moved to Lisbon on {date_text}"


@pytest.mark.requirement("BR-AGENT-010")
@pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in FIGURES.items()])
@given(year=st.integers(1900, 2099), month=st.integers(0, 99), day=st.integers(0, 99))
def test_a_date_in_figures_is_itself_or_none(form: Form, year: int, month: int, day: int) -> None:
    assert dates_in(_sentence(form(year, month, day))) == _real(year, month, day)


@pytest.mark.requirement("BR-AGENT-010")
@pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in NAMED.items()])
@given(year=st.integers(1000, 9999), month=st.integers(1, 12), day=st.integers(1, 31))
def test_a_date_in_words_is_itself_or_none(form: Form, year: int, month: int, day: int) -> None:
    assert dates_in(_sentence(form(year, month, day))) == _real(year, month, day)


@pytest.mark.requirement("BR-AGENT-010")
@given(year=st.integers(1900, 2099), month=st.integers(1, 99), day=st.integers(1, 99))
def test_a_date_with_slashes_is_the_one_order_that_makes_a_date(year: int, month: int, day: int) -> None:
    either = {*_real(year, month, day), *_real(year, day, month)}
    expected = [*either] if len(either) < 2 else [str(year)]
    assert dates_in(f"I moved to Lisbon on {day}/{month}/{year}") == expected


@pytest.mark.requirement("BR-AGENT-010")
@given(
    at=st.dates(date(1990, 1, 1), date(2090, 12, 31)),
    month=st.integers(1, 12),
    day=st.integers(1, 31),
    form=st.sampled_from(["{d} {M}", "the {d}{s} of {M}", "{M} {d}", "{m}月{d}日", "{zm}月{zd}号"]),
)
def test_a_day_without_a_year_is_that_day_of_some_year_or_none(at: date, month: int, day: int, form: str) -> None:
    text = form.format(d=day, m=month, s=_suffix(day), M=MONTHS[month - 1], zm=_numeral(month), zd=_numeral(day))
    found = dates_in(_sentence(text), f"{at.isoformat()}T12:00:00.000Z")
    assert {each[5:] for each in found} == {each[5:] for each in _real(2000, month, day)}


@pytest.mark.requirement("BR-AGENT-010")
@given(
    hour=st.integers(0, 99),
    minute=st.integers(0, 99),
    form=st.sampled_from(["tomorrow at {}", "明天{}", "2024-01-11 {}"]),
)
def test_a_time_of_day_is_itself_or_its_day_has_none_either(hour: int, minute: int, form: str) -> None:
    found = dates_in(form.format(f"{hour:02d}:{minute:02d}"))
    if (hour, minute) == (24, 0):
        assert found == ["2024-01-12T00:00Z"]
    elif hour < 24 and minute < 60:
        assert found == [f"2024-01-11T{hour:02d}:{minute:02d}Z"]
    else:
        assert found == []


@pytest.mark.requirement("BR-AGENT-010")
@pytest.mark.parametrize(
    "text",
    [
        "by 2026-02-30",
        "on 2026-13-45",
        "in 2026-13",
        "since June 31",
        "on the 31st of June",
        "by the 30th of February",
        "on 29 Feb 2025",
        "on 31/02/2026",
        "on 02/30/2026",
        "mid June 31",
        "in early 2025.2.29",
        "late February/29/2025",
        "in early 2025 February 29",
        "on Friday 31 June",
        "on Friday, 31 June",
        "31 June at 9pm",
        "tomorrow at 25:70",
        "at 25:70 tomorrow",
        "tomorrow at 13pm",
        "on 2026-06-01T25:00",
        "from 31 June to 5 July",
        "by the 31st of next month",
        "next February 30",
        "in Q5 of 2024",
        "on Monday, 12 January 2024",
        "on the thirtieth of February",
        "2月30日",
        "13月1日",
        "十三月一日",
        "6月31号",
        "二月三十日",
        "二月四十日",
        "2026年13月",
        "明年13月",
        "明年2月30日",
        "下个月31号",
        "二三月",
        "明天二十五点",
        "明天9点75分",
        "明天九点七十五分",
        "2026年五季度",
        "下周八",
        "2025年2月29日",
        "从2月30日到3月5日",
        "on 31 June this year",
        "June 31st last year",
        "2024年1月12日周一",
        "2024年1月12日（星期一）",
        "2月30日周五",
    ],
)
def test_what_is_put_like_a_date_and_is_none_yields_none(text: str) -> None:
    assert dates_in(text) == []


@pytest.mark.requirement("BR-AGENT-010")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on 29 Feb 2024", ["2024-02-29"]),
        ("on 5 January last year", ["2023-01-05"]),
        ("on 5-Jan-2023", ["2023-01-05"]),
        ("on 05-13-2023", ["2023-05-13"]),
        ("my code is 99-99-2023", []),
        ("in June 2023, 5 people", ["2023-06"]),
        ("in early 2023 10 people", ["2023"]),
        ("in March last year", ["2023-03"]),
        ("March 5 next year", ["2025-03-05"]),
        ("2024年1月12日周五", ["2024-01-12"]),
        ("1月12日（周五）", ["2024-01-12"]),
        ("from 2019-21", ["2019"]),
        ("by the 5th of next month", ["2024-02-05"]),
        ("next February 28", ["2024-02-28"]),
        ("on 5 March 1850", ["1850-03-05"]),
        ("in March 1850", ["1850-03"]),
        ("on 2026-06-01T21:00:00+02:00", ["2026-06-01T21:00+02:00"]),
        ("98年5月3日", ["1998-05-03"]),
        ("1850年3月5日", ["1850-03-05"]),
        ("明天24点", ["2024-01-12T00:00Z"]),
        ("明天三点一刻", ["2024-01-11T03:15Z"]),
        ("住在301号", []),
        ("四十五号", []),
    ],
)
def test_what_is_a_date_is_read_whole(text: str, found: list[str]) -> None:
    assert dates_in(text) == found


@pytest.mark.requirement("BR-AGENT-010", "BR-FORM-046")
@pytest.mark.parametrize(
    ("said", "claims"),
    [
        ("I moved to Lisbon on the 31st of June.", [["I", "lives_in", "Lisbon", {"change": "new"}]]),
        ("I lived in Rome until 30 February.", [["I", "lives_in", "Rome", {"change": "ended"}]]),
        ("I have worked for Acme since 2023-02-30.", [["I", "works_for", "Acme"]]),
        ("我2月30日搬到了里斯本。", [["I", "lives_in", "里斯本", {"change": "new"}]]),
    ],
)
def test_a_claim_with_an_impossible_date_is_kept_without_a_date(
    vocabulary: Vocabulary, said: str, claims: list[object]
) -> None:
    assert plain(formed(vocabulary, [("Ana Ruiz", said)]))["claims"] == claims


def test_a_promise_with_an_impossible_day_is_no_promise_of_another_day(vocabulary: Vocabulary) -> None:
    document = formed(vocabulary, [("Ana Ruiz", "I'll send the slides by 31 June.")])
    assert all(promise.due is None for promise in document.commitments)
