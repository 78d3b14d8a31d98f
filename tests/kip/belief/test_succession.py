"""Which claim ends which, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.kip.belief.intervals import NEVER
from brain.kip.belief.model import Claim, Timed
from brain.kip.belief.succession import effective_times
from tests.kip.belief.claims import claim
from tests.kip.belief.world import NOW, day


def spans(*claims: Claim) -> list[tuple[str, str]]:
    """Effective start and end of each claim: the day, or `earliest..latest`; empty where a bound is unknown."""
    return [(_days(t.interval.start.earliest, t.interval.start.latest), _end(t)) for t in effective_times(claims, NOW)]


def _end(timed: Timed) -> str:
    return (
        "open"
        if timed.interval.end.earliest == NEVER
        else _days(timed.interval.end.earliest, timed.interval.end.latest)
    )


def _days(earliest: str, latest: str) -> str:
    return earliest[:10] if earliest == latest else f"{earliest[:10]}..{latest[:10].replace(NEVER, '')}"


@pytest.mark.requirement("KI-BELIEF-048", "KI-BELIEF-053")
def test_a_new_value_ends_the_old_one_where_it_starts() -> None:
    old = claim(1, value="old", valid={"from": "2026-01-01"})
    new = claim(2, value="new", valid={"from": "2026-06-01"})
    assert spans(old, new) == [("2026-01-01", "2026-06-01"), ("2026-06-01", "open")]


@pytest.mark.requirement("KI-BELIEF-048", "KI-BELIEF-057")
def test_a_rejection_ends_the_support_it_takes_back() -> None:
    held = claim(1, valid={"from": "2026-01-01"})
    left = claim(2, stance="reject", valid={"from": "2026-06-01"})
    assert spans(held, left) == [("2026-01-01", "2026-06-01"), ("2026-06-01", "open")]


@pytest.mark.requirement("KI-BELIEF-048")
def test_rejecting_one_value_does_not_end_support_of_another() -> None:
    assert spans(claim(1, value="a"), claim(2, value="b", stance="reject", at="2026-06-01"))[0][1] == "open"


@pytest.mark.requirement("KI-BELIEF-049")
def test_saying_it_again_neither_ends_nor_narrows() -> None:
    assert spans(claim(1), claim(2, at="2026-06-01")) == [("..2026-01-01", "open"), ("..2026-06-01", "open")]


@pytest.mark.requirement("KI-BELIEF-049", "KI-BELIEF-052")
def test_a_restated_value_is_still_ended_by_the_next_other_value() -> None:
    first, again = claim(1, value="a"), claim(2, value="a", at="2026-03-01")
    other = claim(3, value="b", at="2026-06-01")
    assert spans(first, again, other) == [
        ("..2026-01-01", "2026-03-01..2026-06-01"),
        ("..2026-03-01", "2026-03-01..2026-06-01"),
        ("2026-03-01..2026-06-01", "open"),
    ]


@pytest.mark.requirement("KI-BELIEF-051")
def test_values_of_one_instant_do_not_end_each_other() -> None:
    assert spans(claim(1, value="a"), claim(2, value="b")) == [("..2026-01-01", "open")] * 2


@pytest.mark.requirement("KI-BELIEF-052")
def test_an_inexact_start_lies_between_the_values_and_an_exact_one_stays() -> None:
    january = claim(1, value="a", at="2026-01-10")
    september = claim(2, value="b", at="2026-09-10")
    exact = claim(3, value="c", at="2026-09-15", valid={"from": "2026-09-12"})
    assert spans(january, september, exact) == [
        ("..2026-01-10", "2026-01-10..2026-09-10"),
        ("2026-01-10..2026-09-10", "2026-09-12"),
        ("2026-09-12", "open"),
    ]


@pytest.mark.requirement("KI-BELIEF-053")
def test_a_written_end_stays_and_several_nearest_successors_share_their_earliest_bounds() -> None:
    ended = claim(1, value="a", valid={"from": "2026-01-01", "until": "2026-02-01"})
    open_one = claim(2, value="b", valid={"from": "2026-01-15"})
    exact = claim(3, value="c", valid={"from": "2026-06-01"})
    rough = claim(4, value="d", valid={"from": {"earliest": "2026-04-01", "latest": "2026-06-01"}})
    assert [span[1] for span in spans(ended, open_one, exact, rough)] == [
        "2026-02-01",
        "2026-04-01..2026-06-01",
        "open",
        "open",
    ]


@pytest.mark.requirement("KI-BELIEF-047")
@pytest.mark.parametrize("other", [{"by": "C-2"}, {"context": ["C-9"]}])
def test_other_actors_and_other_contexts_are_other_lines(other: dict[str, object]) -> None:
    assert spans(claim(1, value="a"), claim(2, value="b", at="2026-06-01", **other))[0][1] == "open"  # type: ignore[arg-type]


@pytest.mark.requirement("KI-BELIEF-050")
def test_late_history_does_not_displace_what_came_after_it() -> None:
    current = claim(1, value="b", valid={"from": "2026-08-01"})
    recorded_later = claim(2, value="a", at="2026-09-01", valid={"from": "2026-03-01"})
    assert spans(current, recorded_later) == [("2026-08-01", "open"), ("2026-03-01", "2026-08-01")]


@pytest.mark.requirement("KI-BELIEF-054")
def test_a_claim_on_two_lines_takes_the_narrowest_of_both() -> None:
    """`b` follows `a` on the slot line and a rejection of `b` on its own line; the nearer predecessor narrows it more.

    `a` ends where `b` starts on the slot line, which the later rejection does not narrow.
    """
    a = claim(1, value="a", at="2026-01-01")
    never_b = claim(2, value="b", stance="reject", at="2026-03-01")
    b = claim(3, value="b", at="2026-09-01")
    assert spans(a, never_b, b) == [
        ("..2026-01-01", "2026-01-01..2026-09-01"),
        ("..2026-03-01", "2026-03-01..2026-09-01"),
        ("2026-03-01..2026-09-01", "open"),
    ]


@pytest.mark.requirement("KI-BELIEF-055")
@pytest.mark.parametrize("mode", ["inferred", "predicted", "hypothetical", "imported"])
def test_what_was_not_witnessed_is_on_a_line_only_with_a_written_start(mode: str) -> None:
    old, new = claim(1, value="a", mode=mode), claim(2, value="b", mode=mode, at="2026-06-01")
    assert spans(old, new) == [("..2026-01-01", "open"), ("..2026-06-01", "open")]
    dated = claim(3, value="c", mode=mode, valid={"from": "2026-07-01"})
    witnessed = claim(4, value="d", at="2026-05-01")
    assert spans(old, dated, witnessed)[2][1] == "2026-07-01"
    assert spans(old, dated, witnessed)[0][1] == "open"


claims = st.lists(
    st.builds(
        lambda value, by, stance, month, exact: (value, by, stance, f"2026-{month:02d}-01", exact),
        st.sampled_from("abc"),
        st.sampled_from(["C-1", "C-2"]),
        st.sampled_from(["support", "support", "reject"]),
        st.integers(1, 9),
        st.booleans(),
    ),
    max_size=8,
).map(
    lambda rows: [
        claim(i, value=value, by=by, stance=stance, at=at, valid={"from": at} if exact else None)
        for i, (value, by, stance, at, exact) in enumerate(rows, 1)
    ]
)


@pytest.mark.requirement("KI-BELIEF-058")
@given(claims=claims, seed=st.randoms(use_true_random=False))
def test_order_of_claims_changes_nothing_and_intervals_only_narrow(claims: list[Claim], seed: object) -> None:
    times = {t.claim.id: t.interval for t in effective_times(claims, NOW)}
    shuffled = list(claims)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    assert {t.claim.id: t.interval for t in effective_times(shuffled, NOW)} == times
    for one in claims:
        written, effective = one.time.interval, times[one.id]
        assert effective.start.earliest >= written.start.earliest
        assert effective.start.latest == written.start.latest
        assert effective.end.latest <= written.end.latest


@given(claims=claims)
def test_the_short_way_agrees_with_the_definition(claims: list[Claim]) -> None:
    """The successor that ends a claim is, by definition, among the disagreeing later ones of its line the nearest."""
    for timed in effective_times(claims, NOW):
        one = timed.claim
        slot = [
            c for c in claims if c.actor == one.actor and c.stance == one.stance == "support" and c.label != one.label
        ]
        own = [c for c in claims if c.actor == one.actor and c.label == one.label and c.stance != one.stance]
        expected = set()
        for line in (slot, own):
            later = [c for c in line if c.time.start_key > one.time.start_key]
            nearest = min((c.time.start_key for c in later), default=None)
            expected |= {c.id for c in later if c.time.start_key == nearest}
        assert set(timed.ended_by) == expected


def test_ten_thousand_claims_of_one_actor_are_placed_quickly() -> None:
    many = [claim(i, value=str(i % 2), at=f"2026-01-01T00:00:00.{i % 1000:03d}Z") for i in range(1, 10_001)]
    assert len(effective_times(many, day("2026-09-01"))) == 10_000
