"""World time (§25.2, §25.5): when a claim says its value held, and where an instant lies against that.

Instants are protocol timestamps, so they compare as text. Two texts stand outside of time: `EVER` sorts before every
instant and `NEVER` after, which makes an unknown or open end an ordinary bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from brain.store.base import Document, Json
from brain.times import Timestamp

EVER = ""
NEVER = "~"


@dataclass(frozen=True, slots=True)
class Bound:
    """An instant that lies in [earliest, latest]; an exact one has both equal."""

    earliest: Timestamp
    latest: Timestamp

    def to_wire(self) -> Json:
        """The instant itself, an object of the known bounds, or null where nothing is known."""
        if self.earliest == self.latest:
            return self.earliest
        known = {"earliest": self.earliest, "latest": self.latest}
        return {name: value for name, value in known.items() if value not in (EVER, NEVER)} or None


OPEN = Bound(NEVER, NEVER)
"""The end of a claim that states none: it lasts until something ends it."""


class Standing(StrEnum):
    """Where an instant lies against an interval whose ends may be known only roughly."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    INDETERMINATE = "indeterminate"


@dataclass(frozen=True, slots=True)
class Interval:
    """Half-open world time `[start, end)`."""

    start: Bound
    end: Bound

    def standing(self, at: Timestamp) -> Standing:
        """Where `at` lies. Bounds that contradict each other count as outside: nothing certain is read out of them."""
        if self.start.earliest > at or self.end.latest <= at:
            return Standing.OUTSIDE
        if self.start.latest <= at and self.end.earliest > at:
            return Standing.INSIDE
        return Standing.INDETERMINATE

    def next_change(self, at: Timestamp) -> Timestamp | None:
        """The first instant after `at` at which the standing differs from that at `at`, or None."""
        now = self.standing(at)
        turns = {self.start.earliest, self.start.latest, self.end.earliest, self.end.latest}
        for turn in sorted(turns):
            if at < turn < NEVER and self.standing(turn) is not now:
                return turn
        return None

    def to_wire(self) -> Document:
        return {"from": self.start.to_wire(), "until": None if self.end == OPEN else self.end.to_wire()}


@dataclass(frozen=True, slots=True)
class WrittenTime:
    """What a claim itself says of its time.

    start_key   the latest instant by which it claims to have begun (§25.4)
    is_exact    its start is one written instant
    is_written  it writes a start at all, exact or bounded
    is_open     it writes no end
    """

    interval: Interval
    start_key: Timestamp
    is_exact: bool
    is_written: bool
    is_open: bool


def written_time(valid_time: Document | None, asserted_at: Timestamp) -> WrittenTime:
    """Read a `valid_time` member. A claim that writes no start had begun when it was made (§13.2)."""
    since, until = (valid_time or {}).get("from"), (valid_time or {}).get("until")
    end = OPEN if until is None else _bound(until)
    if since is None:
        return WrittenTime(Interval(Bound(EVER, asserted_at), end), asserted_at, False, False, until is None)
    start = _bound(since)
    key = start.latest if start.latest != NEVER else asserted_at
    return WrittenTime(Interval(start, end), key, isinstance(since, str), True, until is None)


def earliest(instants: Iterable[Timestamp | None]) -> Timestamp | None:
    """The first of several instants, None when there is none."""
    return min((instant for instant in instants if instant is not None), default=None)


def _bound(value: Json) -> Bound:
    if isinstance(value, str):
        return Bound(value, value)
    return Bound(value.get("earliest") or EVER, value.get("latest") or NEVER)
