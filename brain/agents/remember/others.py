"""The other lists of a document as KIP: what happened, what is owed, standing rules, wishes about memory itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.remember.block import Block
from brain.agents.remember.dates import Span, read_date, with_zone
from brain.agents.remember.document import Happening, Promise, Rule, Wish
from brain.agents.remember.faults import Wrong
from brain.agents.remember.ground import Ground, Message
from brain.agents.remember.things import PERSON, Thing
from brain.agents.turns import KnownCommitment
from brain.names import words
from brain.store.base import ElementId

_ID = re.compile(r"\bC-[1-9][0-9]*\b", re.ASCII)

_TASKS = {"erase": "review_retention", "correct_identity": "resolve_identity", "other": "consolidate"}
"""The class of review each kind of wish asks for."""

_ASKS = {"erase": "asks to have forgotten", "correct_identity": "says who is who", "other": "asks of memory"}


@dataclass(frozen=True, slots=True)
class NewRecord:
    """An Event, Commitment, Insight or SleepTask that one message led to.

    attributes  as stored, `summary` among them
    links       structural fields and what they point to
    """

    at: str
    message: Message
    type: str
    attributes: dict[str, Any]
    links: tuple[tuple[str, Thing], ...]

    def write(self, block: Block) -> None:
        entries = [f'("{field}", {block.thing(thing)})' for field, thing in self.links]
        handle = block.handle(self.attributes["summary"])
        content = {
            "message": self.message.binding,
            "type": self.type,
            "attributes": self.attributes,
            "links": [[field, *thing.stable] for field, thing in self.links],
        }
        key = block.key(self.type.lower(), content)
        structural = f" SET STRUCTURAL {{ {' '.join(entries)} }}" if entries else ""
        attributes = ", ".join(f"{name}: {block.value(value)}" for name, value in self.attributes.items())
        block.add(
            f'CREATE CONCEPT {handle} {{ TYPE "{self.type}" CLIENT KEY {key} '
            f"SET ATTRIBUTES {{{attributes}}}{structural} }}"
        )
        block.output(self.message.binding, handle, key)


@dataclass(frozen=True, slots=True)
class EndedCommitment:
    """A known Commitment gets a new status, on the word of a message."""

    at: str
    message: Message
    commitment: ElementId
    attributes: dict[str, Any]

    def write(self, block: Block) -> None:
        handle = block.handle()
        attributes = ", ".join(f"{name}: {block.value(value)}" for name, value in self.attributes.items())
        block.add(
            f"UPSERT CONCEPT {handle} {{ MATCH {{id: {block.value(self.commitment)}}} "
            f"SET ATTRIBUTES {{{attributes}}} }}"
        )
        content = {"message": self.message.binding, "id": self.commitment, "attributes": self.attributes}
        block.output(self.message.binding, handle, block.key("commitment", content))


OtherPiece = NewRecord | EndedCommitment


def compile_event(at: str, item: Happening, ground: Ground) -> OtherPiece:
    """An Event with those involved; its dates are the earliest and latest it may have been."""
    message = ground.message(item.msg)
    attributes: dict[str, Any] = {"summary": item.what, "event_class": "episode"}
    if item.on is not None:
        span = _span(item.on, "on", message)
        on = with_zone(item.on, message.utc_offset_minutes)
        attributes |= {"when": on, "started_at": span.earliest, "ended_at": span.latest}
    who = [_someone(name, message, ground, "who", ()) for name in item.who] or [message.speaker]
    return NewRecord(at, message, "Event", attributes, tuple(("involves", thing) for thing in _once(who)))


def compile_commitment(at: str, item: Promise, ground: Ground) -> OtherPiece:
    """A new Commitment, or the new status of a known one."""
    message = ground.message(item.msg)
    who = _someone(item.who, message, ground, "who")
    if item.status != "pending":
        return _settle(at, item, message, who, ground)
    attributes: dict[str, Any] = {"summary": item.what, "status": "pending", "created_at": message.observed_at}
    if item.due is not None:
        due = with_zone(item.due, message.utc_offset_minutes)
        attributes |= {"due": due, "due_at": _span(item.due, "due", message).latest}
    links = [("committed_to", who)]
    if item.to is not None:
        links.append(("owed_to", _someone(item.to, message, ground, "to")))
    return NewRecord(at, message, "Commitment", attributes, tuple(links))


def compile_rule(at: str, item: Rule, ground: Ground) -> OtherPiece:
    """A standing rule of the speaker's, kept as a constraint."""
    message = ground.message(item.msg)
    attributes = {"summary": item.rule, "insight_class": "constraint", "created_at": message.observed_at}
    return NewRecord(at, message, "Insight", attributes, (("about", message.speaker),))


def compile_wish(at: str, item: Wish, ground: Ground) -> OtherPiece:
    """A wish about memory itself becomes a task for the owner, told with whose it is; nothing is erased by asking."""
    message = ground.message(item.msg)
    attributes = {
        "task_class": _TASKS[item.kind],
        "summary": f"{message.speaker.name} {_ASKS[item.kind]}: {item.what}",
        "status": "pending",
        "request": item.kind,
        "created_at": message.observed_at,
    }
    return NewRecord(at, message, "SleepTask", attributes, (("about", message.speaker),))


def _settle(at: str, item: Promise, message: Message, who: Thing, ground: Ground) -> OtherPiece:
    open_ones = [known for known in ground.commitments if known.status in ("pending", "blocked")]
    named = _ID.findall(item.what)
    meant = [known for known in open_ones if known.id in named] or _closest(item, who, open_ones)
    if len(meant) != 1:
        raise Wrong(
            f"It is not clear which open commitment is {item.status}.",
            "Put its id into what; if it was never on record, keep it as an event.",
            tuple({"id": known.id, "what": known.summary} for known in meant or open_ones),
        )
    attributes: dict[str, Any] = {"status": item.status}
    if item.status == "fulfilled":
        attributes["completed_at"] = message.observed_at
    return EndedCommitment(at, message, meant[0].id, attributes)


def _closest(item: Promise, who: Thing, known: Sequence[KnownCommitment]) -> list[KnownCommitment]:
    """Open commitments of this person that share most of their words with what was said."""
    said = set(words(item.what))
    scored = []
    for commitment in known:
        owed = set(words(commitment.summary))
        share = len(said & owed) / max(1, min(len(said), len(owed)))
        if share >= 0.5 and (commitment.who is None or commitment.who.id == who.id):
            scored.append((share, commitment))
    best = max((share for share, _ in scored), default=0.0)
    return [commitment for share, commitment in scored if share == best]


def _someone(name: str, message: Message, ground: Ground, place: str, admitted: tuple[str, ...] = (PERSON,)) -> Thing:
    """Who takes part: a known one of the name, else a new Person."""
    return ground.resolver.resolve(
        name, speaker=message.speaker, admitted=admitted, hint=None, default=PERSON, place=place
    )


def _once(things: Sequence[Thing]) -> list[Thing]:
    return list({thing.identity: thing for thing in things}.values())


def _span(text: str, member: str, message: Message) -> Span:
    try:
        return read_date(text, message.utc_offset_minutes)
    except ValueError as wrong:
        raise Wrong(f"{member} {text!r} is no date: {wrong}.", "Say it as precisely as the message does.") from None
