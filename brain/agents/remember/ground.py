"""What a document is compiled against: who spoke, what is known, which words there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from brain.agents.remember.dates import Span
from brain.agents.remember.faults import Wrong
from brain.agents.remember.things import Lookup, Resolver, Thing
from brain.agents.turns import KnownCommitment, PredicateWord, Vocabulary
from brain.gate.facts import Attribution
from brain.store.base import ElementId
from brain.times import Timestamp, shifted


@dataclass(frozen=True, slots=True)
class SlotClaim:
    """An active Assertion about a subject and predicate, as stored.

    object      `{"id": …}` or a scalar; `object_name` is how a person calls it
    valid_time  as stored, possibly empty
    evidence    what it cites
    is_scoped   whether it holds in some context only
    """

    assertion_id: ElementId
    object: Any
    object_name: str
    object_type: str | None
    by: ElementId | None
    stance: str
    mode: str
    asserted_at: Timestamp
    valid_time: Mapping[str, Any]
    evidence: tuple[ElementId, ...]
    is_scoped: bool

    def to_choice(self) -> dict[str, Any]:
        return {"value": self.object_name, "by": self.by, "stance": self.stance, "said": self.asserted_at[:10]}


class Memory(Lookup, Protocol):
    """What the compiler may ask of memory."""

    def slot(self, subject: ElementId, predicate: str) -> Sequence[SlotClaim]:
        """Active claims about a subject and predicate, oldest first."""
        ...

    def nearest_predicates(self, name: str) -> Sequence[PredicateWord]:
        """The predicates most alike to a name, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """A citable message of the pass: its number and binding (`msg3`), when it was observed, who said it.

    utc_offset_minutes  of the speaker's clock; days, months and years are those of its calendar
    now                 when the pass reads it
    """

    number: int
    binding: str
    observed_at: Timestamp
    speaker: Thing
    utc_offset_minutes: int = 0
    now: Timestamp = ""

    def begun(self, since: Span) -> Span:
        """A start as told in this message: what was said to have begun has begun.

        A day of the speaker's calendar is kept under its own date. Where it has begun on the speaker's clock and not
        in UTC, it begins with the message as long as that matters; where it is the other way round, when it does there.
        """
        offset = self.utc_offset_minutes
        if not since.is_calendar or offset == 0:
            return since.not_after(self.observed_at)
        if since.earliest > shifted(self.observed_at, offset):
            earliest = max(since.earliest, shifted(since.earliest, -offset))
            return Span(earliest, max(since.latest, earliest), is_calendar=True)
        limit = self.observed_at
        if limit < since.earliest <= self.now:
            limit = since.earliest
        return Span(min(since.earliest, limit), min(since.latest, limit), is_calendar=True)

    def over(self, until: Span) -> Span:
        """An end as told in this message: what is over on the speaker's clock is over."""
        if not until.is_calendar or until.latest > shifted(self.observed_at, self.utc_offset_minutes):
            return until
        limit = self.observed_at
        return Span(min(until.earliest, limit), min(until.latest, limit), is_calendar=True)


@dataclass(slots=True)
class Ground:
    """The pass a document belongs to.

    messages  by the number they are cited under
    origin    prefix of client keys, the same in every run of the pass
    """

    origin: str
    messages: Mapping[int, Message]
    self_thing: Thing
    attribution: Attribution
    vocabulary: Vocabulary
    commitments: Sequence[KnownCommitment]
    memory: Memory
    resolver: Resolver

    def message(self, number: int) -> Message:
        """The message of a number; Wrong when there is none."""
        found = self.messages.get(number)
        if found is None:
            known = sorted(self.messages)
            span = f"{known[0]} to {known[-1]}" if known else "none"
            raise Wrong(f"There is no message {number} to cite.", f"Messages that can be cited: {span}.")
        return found

    def predicate(self, name: str) -> PredicateWord:
        """The predicate of a name; Wrong with the nearest when there is none."""
        for word in self.vocabulary.predicates:
            if word.name == name:
                return word
        raise Wrong(
            f"There is no predicate {name!r}.",
            "Use one of these, or add it to new_predicates in the same document.",
            tuple(choice(word) for word in self.memory.nearest_predicates(name)),
        )


def choice(word: PredicateWord) -> dict[str, Any]:
    """A predicate as a short row."""
    ends = "|".join(word.subject) or "anything"
    values = "|".join([*word.object, *(("text",) if word.literals else ())]) or "anything"
    return {"predicate": f"{word.name} {ends} -> {values}", "values": word.values, "meaning": word.meaning}


Mode = Literal["inferred", "stated"]
Stance = Literal["reject", "support", "uncertain"]
