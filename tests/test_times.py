"""Instants and their one spelling (KIP 2.0 §6.5)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.times import is_timestamp, milliseconds, timestamp

_FIRST, _LAST = -62_167_219_200_000, 253_402_300_799_999
"""The first millisecond of the year 0000 and the last of 9999."""


@pytest.mark.requirement("KI-LEX-020", "KI-LEX-023")
@given(st.integers(_FIRST, _LAST))
def test_every_instant_has_one_spelling_and_comes_back_from_it(ms: int) -> None:
    text = timestamp(ms)
    assert is_timestamp(text)
    assert milliseconds(text) == ms


@pytest.mark.requirement("KI-LEX-020")
@given(st.lists(st.integers(_FIRST, _LAST), min_size=2, max_size=8))
def test_spellings_sort_as_the_instants_do(instants: list[int]) -> None:
    assert sorted(map(timestamp, instants)) == [timestamp(ms) for ms in sorted(instants)]


@pytest.mark.requirement("KI-LEX-023")
def test_what_is_finer_than_a_millisecond_is_cut_off_not_rounded() -> None:
    moment = datetime(2026, 9, 20, 23, 59, 59, 999_600, UTC)
    assert timestamp(int(moment.timestamp() * 1_000_000) // 1000) == "2026-09-20T23:59:59.999Z"


@pytest.mark.requirement("KI-LEX-020")
@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29T00:00:00.000Z",
        "2000-02-29T23:59:59.999Z",
        "0000-02-29T00:00:00.000Z",
        "0000-01-01T00:00:00.000Z",
        "9999-12-31T23:59:59.999Z",
    ],
)
def test_real_calendar_moments_are_timestamps(text: str) -> None:
    assert is_timestamp(text)


@pytest.mark.requirement("KI-LEX-020")
@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T00:00:00.000Z",
        "1900-02-29T00:00:00.000Z",
        "2026-13-01T00:00:00.000Z",
        "2026-00-01T00:00:00.000Z",
        "2026-01-01T24:00:00.000Z",
        "2026-01-01T00:60:00.000Z",
        "2026-01-01T00:00:60.000Z",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.00Z",
        "2026-01-01T00:00:00.0000Z",
        "2026-01-01T00:00:00.000+00:00",
        "2026-01-01t00:00:00.000Z",
        "2026-01-01T00:00:00.000z",
        "2026-01-01 00:00:00.000Z",
        "2026-01-01T00:00:00.000Z\n",
        "+2026-01-01T00:00:00.000Z",
        "\u0662026-01-01T00:00:00.000Z",
        "",
    ],
)
def test_other_spellings_are_not_timestamps(text: str) -> None:
    assert not is_timestamp(text)
    with pytest.raises(ValueError, match="not a protocol timestamp"):
        milliseconds(text)
