"""Events as they come over the wire, in whatever pieces."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.client import Busy, NotAuthenticated, Refused, UnexpectedAnswer
from brain.client.events import Following

json_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
envelopes = st.lists(st.fixed_dictionaries({"space_seq": st.integers(1, 10**6), "text": json_text}), max_size=6)


def event(number: int, envelope: Any) -> bytes:
    return b"id: cursor%d\nevent: change\ndata: %s\n\n" % (number, orjson.dumps(envelope))


@given(envelopes=envelopes, cuts=st.lists(st.integers(0, 2_000), max_size=12), ends=st.sampled_from([b"\n", b"\r\n"]))
def test_events_are_the_same_in_whatever_pieces_they_come(envelopes: list[Any], cuts: list[int], ends: bytes) -> None:
    whole = b"retry: 1000\n\n: still here\n\n" + b"".join(event(n, one) for n, one in enumerate(envelopes))
    whole = whole.replace(b"\n", ends) + b"id: end\n\n"
    at = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    following = Following.of(None, None, None)
    reader = following.reader()
    read = [change for start, stop in pairwise(at) for change in reader.feed(whole[start:stop])]
    assert [change.envelope for change in read] == envelopes
    assert [change.cursor for change in read] == [f"cursor{n}" for n in range(len(envelopes))]
    assert following.cursor == "end"


def test_half_an_event_is_none() -> None:
    following = Following.of("before", None, None)
    assert list(following.reader().feed(event(1, {"space_seq": 1})[:-1])) == []
    assert following.cursor == "before"
    assert following.headers()["last-event-id"] == "before"


def test_what_came_before_the_end_is_had_before_the_reason() -> None:
    reader = Following.of(None, "now", None).reader()
    told = reader.feed(event(1, {"space_seq": 1}) + b'event: error\ndata: {"error":{"message":"gone"}}\n\n')
    assert next(told).seq == 1
    with pytest.raises(Refused, match="gone"):
        next(told)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "authentication failed"}, NotAuthenticated),
        ({"message": "space not found"}, Refused),
        ({"message": "busy", "data": {"retry": {"class": "safe_same_request"}}}, Busy),
    ],
)
def test_a_stream_that_ended_for_a_reason_tells_it(error: Any, kind: type[Refused]) -> None:
    reader = Following.of(None, None, None).reader()
    with pytest.raises(kind):
        list(reader.feed(b"event: error\ndata: " + orjson.dumps({"error": error}) + b"\n\n"))


def test_a_stream_that_ended_for_a_moment_says_when_to_come_again() -> None:
    error = {"message": "busy", "data": {"retry": {"class": "safe_same_request", "after_ms": 1_500}}}
    reader = Following.of(None, None, None).reader()
    with pytest.raises(Busy) as busy:
        list(reader.feed(b"event: error\ndata: " + orjson.dumps({"error": error}) + b"\n\n"))
    assert busy.value.after_s == 1.5


def test_an_event_without_an_end_is_not_held_for_ever() -> None:
    reader = Following.of(None, None, None).reader()
    for _ in range(16):
        assert list(reader.feed(b"x" * 2**20)) == []
    with pytest.raises(UnexpectedAnswer):
        next(reader.feed(b"x"))


def test_a_place_that_was_reached_is_asked_for_and_not_the_one_it_began_at() -> None:
    following = Following.of(None, "now", 5)
    assert following.params() == {"after": "now", "limit": 5}
    list(following.reader().feed(b"id: c1\n\n"))
    assert following.params() == {"limit": 5}
    assert following.headers() == {"accept": "text/event-stream", "last-event-id": "c1"}
