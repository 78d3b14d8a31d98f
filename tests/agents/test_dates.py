"""Dates to the precision said."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.agents.remember.dates import just_before, read_date
from brain.times import is_timestamp


@pytest.mark.parametrize(
    ("said", "earliest", "latest"),
    [
        ("2024", "2024-01-01T00:00:00.000Z", "2024-12-31T23:59:59.999Z"),
        ("2024-02", "2024-02-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z"),
        ("2024-03-20", "2024-03-20T00:00:00.000Z", "2024-03-20T23:59:59.999Z"),
        ("2024-03-20T15:00Z", "2024-03-20T15:00:00.000Z", "2024-03-20T15:00:59.999Z"),
        ("2024-03-20T15:00:07+02:00", "2024-03-20T13:00:07.000Z", "2024-03-20T13:00:07.000Z"),
        ("2024-03-20 15:00:07.25", "2024-03-20T15:00:07.250Z", "2024-03-20T15:00:07.250Z"),
    ],
)
def test_a_date_is_the_span_it_may_mean(said: str, earliest: str, latest: str) -> None:
    span = read_date(said)
    assert (span.earliest, span.latest) == (earliest, latest)


@pytest.mark.parametrize(
    "said", ["", "yesterday", "2024-13", "2024-02-30", "24-01-01", "2024/01/01", "0000", "2024-1-1"]
)
def test_what_is_no_date_says_so(said: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_date(said)


def test_what_has_begun_did_not_begin_after_it_was_said() -> None:
    said_at = "2024-03-20T16:15:00.000Z"
    assert read_date("2024").not_after(said_at).latest == said_at
    assert read_date("2025").not_after(said_at) == read_date("2025")
    assert read_date("2023").not_after(said_at) == read_date("2023")


def test_an_instant_is_a_point_and_a_span_a_bound() -> None:
    assert read_date("2024-03-20T15:00:07Z").point == "2024-03-20T15:00:07.000Z"
    assert read_date("2024").point == {"earliest": "2024-01-01T00:00:00.000Z", "latest": "2024-12-31T23:59:59.999Z"}
    assert just_before("2024-01-01T00:00:00.000Z") == "2023-12-31T23:59:59.999Z"


@given(st.datetimes(), st.sampled_from([4, 7, 10, 16, 19]))
def test_every_spelling_gives_protocol_timestamps_in_order(moment: datetime, precision: int) -> None:
    span = read_date(moment.isoformat()[:precision])
    assert is_timestamp(span.earliest)
    assert is_timestamp(span.latest)
    assert span.earliest <= span.latest
