"""Claims of a document as KIP: which stance, which time, what they put out of force.

The seven changes differ only here. A changed world is a new claim from when it began, and what held before ends there
by itself; an end is the opposite stance from then on; only a correction supersedes, and only the speaker's own claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from brain.agents.remember.dates import Span, just_before, read_date
from brain.agents.remember.document import Claim
from brain.agents.remember.faults import Fault, Wrong
from brain.agents.remember.ground import Ground, Message, Mode, Stance
from brain.agents.remember.parse import Placed
from brain.agents.remember.pieces import Assert, ClaimPiece, Value, Withdraw
from brain.agents.remember.slots import (
    corrected,
    corrected_here,
    ended,
    in_order,
    is_value,
    kept_interval,
    of_value,
    only_value,
)
from brain.agents.remember.things import PERSON, Thing
from brain.agents.remember.timeline import in_time, said_before
from brain.agents.turns import PredicateWord

_MODES: dict[str, tuple[Mode, Stance]] = {
    "stated": ("stated", "support"),
    "new": ("stated", "support"),
    "correction": ("stated", "support"),
    "denied": ("stated", "reject"),
    "hearsay": ("stated", "uncertain"),
    "inferred": ("inferred", "support"),
}
_ANY_TYPE = "Topic"
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?", re.ASCII)


def compile_claims(claims: Sequence[Placed[Claim]], ground: Ground) -> tuple[list[ClaimPiece], list[Fault], list[str]]:
    """Every claim that can be kept, the faults of the others, and what a reader of the answer should know."""
    pieces: list[ClaimPiece] = []
    faults: list[Fault] = []
    warnings: list[str] = []
    for placed in claims:
        try:
            pieces += _compile(placed.at, placed.item, ground, pieces, warnings)
        except Wrong as wrong:
            faults.append(wrong.at(placed.at))
    kept, clashes = in_order(pieces, warnings)
    return in_time(kept, ground), faults + clashes, warnings


def _compile(
    at: str, claim: Claim, ground: Ground, earlier: Sequence[ClaimPiece], warnings: list[str]
) -> list[ClaimPiece]:
    message = ground.message(claim.msg)
    word = ground.predicate(claim.predicate)
    by = _actor(claim, message, ground)
    subject = ground.resolver.resolve(
        claim.subject,
        speaker=message.speaker,
        admitted=word.subject,
        hint=claim.subject_type,
        default=PERSON if not word.subject or PERSON in word.subject else word.subject[0],
        place="subject",
    )
    slot = list(ground.memory.slot(subject.id, word.name)) if subject.id else []
    mine = [
        known
        for known in slot
        if by.id and known.by == by.id and known.stance == "support" and said_before(known, message)
    ]
    value = _value(claim, word, message, ground)
    if claim.change in ("ended", "withdrawn") and value is None:
        value = only_value(mine, slot, word)
    if value is None:
        raise Wrong("Neither object nor text is set.", "Set object for a thing, or text for a plain value.")
    since, until = _span(claim.since, "since", message), _span(claim.until, "until", message)

    if claim.change == "withdrawn":
        return [Withdraw(at, message, tuple(known.assertion_id for known in of_value(mine, value, slot)))]
    if claim.change == "ended":
        past = Assert(at, message, subject, word, value, by, "stated", "support", None, None, "ended")
        return [ended(past, since, until, mine, earlier)]
    mode, stance = _MODES[claim.change]
    stated = Assert(
        at, message, subject, word, value, by, mode, stance, _valid(since, until, message), None, claim.change
    )
    if claim.change == "correction" and corrected_here(earlier, stated) is None:
        wrong = corrected(mine, value, word, warnings, slot, at)
        if wrong:
            last, *others = (known.assertion_id for known in reversed(wrong))
            valid = stated.valid or kept_interval(wrong)
            return [replace(stated, valid=valid, supersedes=last, also_corrects=tuple(others))]
    elif claim.change == "new":
        warnings += [
            f"{at} ends {word.name} {known.object_name}, said {known.asserted_at[:10]}"
            for known in mine
            if word.values == "one" and not is_value(known, value)
        ]
    return [stated]


def _actor(claim: Claim, message: Message, ground: Ground) -> Thing:
    if claim.change == "inferred":
        return ground.self_thing
    if claim.by is None:
        return message.speaker
    actor = ground.resolver.resolve(
        claim.by, speaker=message.speaker, admitted=(PERSON,), hint=PERSON, default=PERSON, place="by"
    )
    if ground.attribution == "speaker" and actor.identity != message.speaker.identity:
        raise Wrong(
            f"{claim.by} did not say message {claim.msg}.",
            "Leave by out; what the speaker passes on of others is the speaker's claim, with change: hearsay.",
        )
    return actor


def _value(claim: Claim, word: PredicateWord, message: Message, ground: Ground) -> Value | None:
    """The value at the object's end, turned into what the predicate takes where that is plain."""
    takes_things = bool(word.object) or not word.literals
    if claim.object is None and claim.text is None:
        return None
    if claim.object is not None and not takes_things:
        return _scalar(claim.object, word)
    if claim.object is None and not takes_things:
        return _scalar(claim.text, word)
    if claim.object is None and word.literals:
        return _scalar(claim.text, word)
    name = claim.object if claim.object is not None else claim.text
    if not isinstance(name, str):
        raise Wrong(f"{word.name} takes a thing, not a plain value.", "Name the thing as object.")
    default = word.object[0] if len(word.object) == 1 else None
    if not word.object and word.values != "one_per_type":
        default = _ANY_TYPE if any(kind.name == _ANY_TYPE for kind in ground.vocabulary.types) else None
    return ground.resolver.resolve(
        name,
        speaker=message.speaker,
        admitted=word.object,
        hint=claim.object_type,
        default=default,
        place="object",
    )


def _scalar(value: Any, word: PredicateWord) -> str | float | bool:
    """A plain value in a type the predicate takes."""
    kind = "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
    if kind in word.literals:
        return value  # type: ignore[no-any-return]
    if "string" in word.literals:
        return str(value).lower() if kind == "boolean" else f"{value:g}"
    if "number" in word.literals and kind == "string" and _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    raise Wrong(f"{word.name} takes {' or '.join(word.literals)}, not {value!r}.", "Send text in that form.")


def _span(text: str | None, member: str, message: Message) -> Span | None:
    if text is None:
        return None
    try:
        return read_date(text, message.utc_offset_minutes)
    except ValueError as wrong:
        raise Wrong(
            f"{member} {text!r} is no date: {wrong}.", "Say it as precisely as the message does, or leave it out."
        ) from None


def _valid(since: Span | None, until: Span | None, message: Message) -> dict[str, Any] | None:
    """World time as said; a value that held until some time is taken to have begun before that."""
    valid: dict[str, Any] = {}
    if since is not None:
        valid["from"] = message.begun(since).point
    if until is not None:
        until = message.over(until)
        valid["until"] = until.point
        if since is None and until.latest <= message.observed_at:
            valid["from"] = {"latest": just_before(until.latest)}
        if since is not None and since.earliest >= until.latest:
            raise Wrong("until is not after since.", "Correct the two dates, or leave one out.")
    return valid or None
