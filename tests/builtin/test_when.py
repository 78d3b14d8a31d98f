"""Times said in words, against a Wednesday morning: 2024-01-10 09:00."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.agents.builtin.text import language_of
from brain.agents.builtin.when import When, moment_of, times_in
from brain.agents.remember.dates import read_date
from tests.builtin.cases import cases
from tests.builtin.turns import WEDNESDAY


def shown(when: When | None) -> Any:
    return None if when is None else when.start if when.end is None else [when.start, when.end]


@pytest.mark.requirement("BR-AGENT-010")
@pytest.mark.parametrize("case", cases("times"), ids=lambda case: case["text"])
def test_a_time_is_found_with_its_role_and_meaning(case: dict[str, Any]) -> None:
    text = case["text"]
    found = times_in(text, moment_of(WEDNESDAY), language_of(text))
    assert [
        [text[spot.start : spot.end], spot.role, shown(spot.reading[0]), shown(spot.reading[1])] for spot in found
    ] == case["times"]


def test_a_time_is_no_finer_than_what_was_said() -> None:
    assert When("2024-01-01", "2024-01-07", approximate=True).on == "2024-01"
    assert When("2023-12-25", "2024-01-07").on == "2023-12-25"
    assert When("2024-01-01", "2024-01-07", approximate=True).since == "2024-01"
    assert When("2023-12-29", "2024-01-04", approximate=True).since == "2024-01-04"


@given(
    st.text("0123456789abcdefnhtw 年月日号周点前后昨明今-/:.", max_size=60),
    st.datetimes(timezones=st.none()),
    st.sampled_from(["en", "zh"]),
)
def test_whatever_is_found_is_a_real_date_in_its_text(text: str, at: Any, language: Any) -> None:
    for spot in times_in(text, at, language):
        assert 0 <= spot.start < spot.end <= len(text)
        for when in spot.reading:
            if when is not None and when.start >= "1":
                for part in (when.start, when.last, when.on, when.since):
                    if len(part) >= 4 and part[:4] != "0000":
                        read_date(part)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tomorrow", "2026-06-02"),
        ("last Friday", "2026-05-29"),
        ("tomorrow at 9pm", "2026-06-02T21:00-08:00"),
        ("in two hours", "2026-06-02T01:30-08:00"),
        ("2026-06-05T21:00:00Z", "2026-06-05T21:00Z"),
        ("明天晚上9点", "2026-06-02T21:00-08:00"),
        ("上周五", "2026-05-29"),
    ],
)
def test_days_and_hours_are_those_of_the_clock_at_which_they_are_said(text: str, found: str) -> None:
    [spot] = times_in(text, moment_of("2026-06-01T23:30:00-08:00"), language_of(text))
    assert shown(spot.when("future")) == found
