"""What an agent knows when it is called, as types: the facts that its prompt tells in words.

A run of Formation, Recall or Maintenance gives its turn to the model twice: rendered into the messages, and typed as
`ModelRequest.task`. Providers see only the words. `builtin/offline` reads the types. Nothing stands in one and not in
the other, so the key-free model knows no more than a language model would.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from brain.store.base import ElementId
from brain.times import Timestamp

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

Standing: TypeAlias = Literal["accepted", "was", "denied", "disputed", "hearsay", "planned", "withdrawn"]
"""How a known claim stands at the turn's time.

accepted  held under the memory policy
was       held for an earlier time; it ended or a later value followed it
denied    everybody who spoke to it says it is not so, or whom it is about does and others only passed it on
disputed  people contradict each other, about now or about what one of them tells as over
hearsay   too weak to hold: reported, or without a stance of somebody who would know
planned   claimed for a time that has not begun at the turn's time
withdrawn taken back by whoever claimed it; only Recall is told
"""


@dataclass(frozen=True, slots=True)
class Ref:
    """An element, or a Literal, as a person would name it.

    id    None for a Literal, and for a speaker memory does not hold yet
    type  the local type name; None for a Literal
    """

    id: ElementId | None
    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class KnownVoice:
    """One person's word on a claim: the newest they said on that side.

    who   None when the record names nobody
    side  for: it is or was so; against: it is not so; unsure: passed on, without a stance of their own
    """

    who: Ref | None
    said_at: Timestamp | None
    assertion_id: ElementId
    side: Literal["for", "against", "unsure"]


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """One claim memory holds.

    since, until  world time of the claim, None where open or not said
    said_at       when it was said: the observation time of its source
    by            who claims it; of a denied claim who denies it; None when the record names nobody
    since_text, until_text  the two times as a person would say them, to the precision known (`2024-03`); empty where
                  nothing is known, or only that it was before somebody spoke: such an `until` is that instant
    against       people who say it is not so
    assertion_id  the Assertion that carries it. Of several it is one of the person's own whom the claim is about, where
                  there is one, and the newest of those; `by`, `said_at` and the times are its own
    rests_on      other Assertions that what is told here rests on: who says it is not so, what ended it
    voices        everybody who spoke to it, the carrier first, then people's own word, then the newest
    is_over       whether what it tells is over at the turn's time, disputed or not
    followed_by   the Assertion whose start ended it
    """

    subject: Ref
    predicate: str
    object: Ref
    standing: Standing
    since: Timestamp | None
    until: Timestamp | None
    said_at: Timestamp | None
    by: Ref | None
    assertion_id: ElementId
    proposition_id: ElementId
    since_text: str = ""
    until_text: str = ""
    against: tuple[Ref, ...] = ()
    rests_on: tuple[ElementId, ...] = ()
    voices: tuple[KnownVoice, ...] = ()
    is_over: bool = False
    followed_by: ElementId | None = None

    @property
    def ended(self) -> tuple[bool, Timestamp]:
        """Orders former values by their end, the last one greatest; before all others those whose end nobody knows."""
        is_known = bool(self.until_text or self.followed_by)
        return is_known, self.until or self.since or self.said_at or ""


@dataclass(frozen=True, slots=True)
class DossierEntry:
    """A person or thing the text is likely to be about.

    who          its identity; `who.id` is None for a speaker memory does not know yet
    key          its Space-local key, None when it has none
    is_speaker   whether one of the turn's messages is theirs
    claims       what is held about it, as subject or as object, accepted first
    look_alikes  other entries that could be meant by the same name, kept apart until somebody says otherwise
    """

    who: Ref
    key: str | None
    aliases: tuple[str, ...]
    is_speaker: bool
    claims: tuple[KnownClaim, ...]
    look_alikes: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """An Event on record; `on` is its start, `said_at` when it was told, `on_text` its date as a person would say it.

    `on_text` is a year, month, day or minute, and empty of a longer span. A time of day has its zone: the offset of the
    clock it was said by (`2026-04-16 16:00 +01:00`), or UTC.
    """

    id: ElementId
    summary: str
    on: Timestamp | None
    until: Timestamp | None
    who: tuple[Ref, ...]
    said_at: Timestamp | None
    on_text: str = ""


@dataclass(frozen=True, slots=True)
class KnownCommitment:
    """A Commitment on record; `status` is pending, blocked, fulfilled, cancelled or expired.

    due       the last instant of when it is due
    due_text  that as a person would say it, like an Event's `on_text`
    """

    id: ElementId
    summary: str
    status: str
    who: Ref | None
    to: tuple[Ref, ...]
    due: Timestamp | None
    due_text: str = ""


@dataclass(frozen=True, slots=True)
class KnownRule:
    """A standing rule or lesson on record (an Insight)."""

    id: ElementId
    summary: str
    is_constraint: bool


@dataclass(frozen=True, slots=True)
class PredicateWord:
    """A relation that may be used.

    subject, object  local type names admitted; empty admits every Concept type (for `object` only when
                     `literals` is empty, else no Concept at all)
    literals         JSON scalar types admitted as value: of string, number, boolean, null
    values           how many values hold at one time: one, many, or one per type of the value
    """

    name: str
    meaning: str
    subject: tuple[str, ...]
    object: tuple[str, ...]
    literals: tuple[str, ...]
    values: Literal["one", "many", "one_per_type"]


@dataclass(frozen=True, slots=True)
class TypeWord:
    """A Concept Type that may be used; `count` is how many active Concepts have it, None when that was not counted."""

    name: str
    meaning: str
    count: int | None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of the Space."""

    types: tuple[TypeWord, ...]
    predicates: tuple[PredicateWord, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a conversation, in order.

    number       the N of `:msgN`, by which claims cite it; None for a message that is context only
    speaker      the resolved speaker; `speaker.id` is None until memory holds that person
    is_agent     whether the speaker is the business agent, not a person it serves
    observed_at  its observation time; `weekday` and `clock` spell it the way the prompt line does (`Mon`,
                 `2024-01-08 16:15`), by the speaker's clock
    text         the message, control characters removed, cut at the prompt's bound
    utc_offset_minutes  of the speaker's clock, east positive
    """

    number: int | None
    role: Role
    speaker: Ref
    is_agent: bool
    observed_at: Timestamp
    weekday: str
    clock: str
    text: str
    utc_offset_minutes: int = 0


@dataclass(frozen=True, slots=True)
class FormationTurn:
    """The user turn of a Formation pass.

    cut   what was left out of the dossier for room, in words; empty when nothing was
    part  the first and the last citable message within the whole input, and how many that has
    """

    conversation: int
    lines: tuple[Line, ...]
    dossier: tuple[DossierEntry, ...]
    commitments: tuple[KnownCommitment, ...]
    vocabulary: Vocabulary
    self_id: ElementId
    counterparty: Ref | None
    topic: str | None
    source: str | None
    now: Timestamp
    cut: tuple[str, ...] = ()
    part: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class RecallTurn:
    """The user turn of a Recall.

    at        the instant the answer is about
    asked_by  who asks, when the caller said so: what "I" and "me" mean
    cut       what was left out for room, in words
    """

    question: str
    at: Timestamp
    now: Timestamp
    asked_by: Ref | None
    topic: str | None
    dossier: tuple[DossierEntry, ...]
    events: tuple[KnownEvent, ...]
    commitments: tuple[KnownCommitment, ...]
    rules: tuple[KnownRule, ...]
    vocabulary: Vocabulary
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MaintenanceTurn:
    """The user turn of a maintenance cycle; `assessment` is what the host's settlement found and did."""

    scope: Literal["daydream", "full", "quick"]
    trigger: str
    assessment: Mapping[str, Any]
    vocabulary: Vocabulary
    now: Timestamp


Turn: TypeAlias = FormationTurn | RecallTurn | MaintenanceTurn
