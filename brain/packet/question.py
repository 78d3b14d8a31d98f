"""What is asked, and the times it names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from brain.agents.builtin.text import clean, language_of
from brain.agents.builtin.when import times_in
from brain.agents.remember.dates import read_date
from brain.names import worth_searching
from brain.store.search import query_terms
from brain.times import LAST_MS, Timestamp, timestamp

_SEARCHED_WORDS = 24
_LOOKED_THROUGH = 2_000
"""Characters of a question that are looked through for dates."""

_MOST_SPANS = 4

FIRST, LAST = timestamp(0), timestamp(LAST_MS)


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of world time, both ends included."""

    first: Timestamp
    last: Timestamp

    def touches(self, first: Timestamp | None, last: Timestamp | None) -> bool:
        """Whether something from `first` to `last` (None is open) has a moment in it."""
        return (first or FIRST) <= self.last and (last or LAST) >= self.first


@dataclass(frozen=True, slots=True)
class Question:
    """What a packet is put together for.

    counterparty  key of the Person who asks, when the caller said so
    at            the instant beliefs are worked out for
    now           the clock
    """

    text: str
    at: Timestamp
    now: Timestamp
    counterparty: str | None = None
    topic: str | None = None

    @property
    def words(self) -> str:
        """Its words that are worth a search; empty when none is."""
        return " ".join(worth_searching(f"{self.text} {self.topic or ''}", _SEARCHED_WORDS))

    @property
    def terms(self) -> frozenset[str]:
        """The same as the search index spells them."""
        return frozenset(query_terms(self.words))

    def periods(self) -> tuple[Period, ...]:
        """The times it names, in order; a time that may lie in the past or ahead is taken to lie in the past."""
        text = clean(self.text[:_LOOKED_THROUGH])
        at = datetime.fromisoformat(self.now).astimezone(UTC)
        found: dict[Period, None] = {}
        for spot in times_in(text, at, language_of(text)):
            when = spot.when("past") or spot.when("future")
            if when is None:
                continue
            try:
                first, last = read_date(when.start).earliest, read_date(when.last).latest
            except ValueError:
                continue  # put like a date, and none of the calendar's
            if spot.role in ("since", "after", "for"):
                last = max(last, self.now)
            elif spot.role in ("until", "by", "before"):
                first = FIRST
            found[Period(first, last)] = None
        return tuple(found)[:_MOST_SPANS]
