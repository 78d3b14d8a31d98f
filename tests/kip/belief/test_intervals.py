"""World time: half-open intervals whose ends may be known only roughly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.kip.belief.intervals import Bound, Interval, Standing, written_time
from brain.times import timestamp
from tests.kip.belief.world import day, instants

ROUGH = {"earliest": "2026-03-01", "latest": "2026-06-01"}


def standing(valid: dict[str, Any] | None, at: str, made: str = "2026-01-01") -> str:
    return written_time(instants(valid), day(made)).interval.standing(day(at)).value


@pytest.mark.requirement("KI-BELIEF-041")
@pytest.mark.parametrize(
    ("at", "expected"),
    [("2026-02-28", "outside"), ("2026-03-01", "inside"), ("2026-05-31", "inside"), ("2026-06-01", "outside")],
)
def test_an_interval_has_its_start_and_not_its_end(at: str, expected: str) -> None:
    assert standing({"from": "2026-03-01", "until": "2026-06-01"}, at) == expected


@pytest.mark.requirement("KI-BELIEF-043")
@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-02-28", "outside"),
        ("2026-03-01", "indeterminate"),
        ("2026-05-01", "indeterminate"),
        ("2026-06-01", "inside"),
        ("2026-07-01", "inside"),
    ],
)
def test_a_rough_start_is_certain_from_its_latest_instant(at: str, expected: str) -> None:
    assert standing({"from": ROUGH}, at) == expected


@pytest.mark.requirement("KI-BELIEF-043")
@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-02-28", "inside"),
        ("2026-03-01", "indeterminate"),
        ("2026-05-01", "indeterminate"),
        ("2026-06-01", "outside"),
        ("2026-07-01", "outside"),
    ],
)
def test_a_rough_end_is_certain_from_its_latest_instant(at: str, expected: str) -> None:
    assert standing({"from": "2026-01-01", "until": ROUGH}, at) == expected


@pytest.mark.requirement("KI-BELIEF-042", "KI-BELIEF-045")
@pytest.mark.parametrize("valid", [None, {}, {"from": None}, {"from": None, "until": None}])
def test_no_written_time_means_since_it_was_made_at_the_latest(valid: dict[str, Any] | None) -> None:
    assert standing(valid, "2025-12-31") == "indeterminate"
    assert standing(valid, "2026-01-01") == "inside"
    assert standing(valid, "2999-01-01") == "inside"


@pytest.mark.requirement("KI-BELIEF-043")
def test_an_end_in_the_past_without_a_start_is_read_literally() -> None:
    lived_there = {"until": "2020-01-01"}
    assert standing(lived_there, "2019-01-01") == "indeterminate"
    assert standing(lived_there, "2020-01-01") == "outside"


@pytest.mark.requirement("KI-BELIEF-043", "KI-BELIEF-050")
def test_a_start_of_which_only_the_earliest_is_known_is_never_certain_by_itself() -> None:
    not_before = written_time(instants({"from": {"earliest": "2026-03-01"}}), day("2026-01-01"))
    assert not_before.start_key == day("2026-01-01")
    assert not_before.interval.standing(day("2026-02-01")) is Standing.OUTSIDE
    assert not_before.interval.standing(day("2999-01-01")) is Standing.INDETERMINATE


@pytest.mark.requirement("KI-BELIEF-050")
@pytest.mark.parametrize(
    ("since", "key"),
    [
        (None, "2026-01-01"),
        ("2025-05-05", "2025-05-05"),
        (ROUGH, "2026-06-01"),
        ({"latest": "2025-07-07"}, "2025-07-07"),
    ],
)
def test_the_start_key_is_the_latest_instant_a_claim_may_have_begun(since: Any, key: str) -> None:
    assert written_time({"from": instants(since)}, day("2026-01-01")).start_key == day(key)


moments = st.integers(0, 30).map(lambda days: timestamp(days * 86_400_000))
bounds = st.one_of(moments.map(lambda t: Bound(t, t)), st.tuples(moments, moments).map(lambda p: Bound(*sorted(p))))


@pytest.mark.requirement("KI-BELIEF-046")
@given(start=bounds, end=bounds, at=moments)
def test_nothing_changes_before_the_next_change(start: Bound, end: Bound, at: str) -> None:
    interval = Interval(start, end)
    turn = interval.next_change(at)
    days = [timestamp(n * 86_400_000) for n in range(40)]
    differing = [d for d in days if d > at and interval.standing(d) is not interval.standing(at)]
    assert turn == (differing[0] if differing else None)
