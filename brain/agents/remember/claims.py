"""Claims of a document as KIP: which stance, which time, what they put out of force.

The seven changes differ only here. A changed world is a new claim from when it began, and what held before ends there
by itself; an end is the opposite stance from then on; only a correction supersedes, and only the speaker's own claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from brain.agents.remember.block import Block
from brain.agents.remember.dates import Span, just_before, read_date
from brain.agents.remember.document import Claim
from brain.agents.remember.faults import Fault, Wrong
from brain.agents.remember.ground import Ground, Message, Mode, SlotClaim, Stance
from brain.agents.remember.parse import Placed
from brain.agents.remember.things import PERSON, Thing
from brain.agents.turns import PredicateWord
from brain.ids import object_key
from brain.store.base import ElementId
from brain.times import Timestamp

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


@dataclass(frozen=True, slots=True)
class Assert:
    """One claim, ready to be written.

    object      a Thing, or a scalar
    valid       `valid_time`, None when nothing was said about it
    supersedes  the speaker's own earlier claim it corrects
    """

    at: str
    message: Message
    subject: Thing
    word: PredicateWord
    object: Thing | str | float | bool
    by: Thing
    mode: Mode
    stance: Stance
    valid: dict[str, Any] | None
    supersedes: ElementId | None
    change: str

    def write(self, block: Block) -> None:
        subject = block.thing(self.subject)
        target = block.thing(self.object) if isinstance(self.object, Thing) else block.value(self.object)
        members = [
            f"by: {block.thing(self.by)}",
            f'mode: "{self.mode}"',
            f'stance: "{self.stance}"',
            f"at: {block.value(self.message.observed_at)}",
            f"evidence: :{self.message.binding}",
        ]
        if self.valid:
            members.append(f"valid: {block.value(self.valid)}")
        key = block.key("claim", self._content())
        members.append(f"key: {key}")
        handle = block.handle()
        superseding = f" SUPERSEDING {block.value(self.supersedes)}" if self.supersedes else ""
        block.add(
            f"ASSERT {handle} ({subject}, {block.value(self.word.name)}, {target}) "
            f"{{{', '.join(members)}}}{superseding}"
        )
        if self.supersedes:
            _record_revision(block, self.message, self.supersedes, handle)
        else:
            block.output(self.message.binding, handle, key)

    @property
    def slot(self) -> tuple[Any, ...]:
        """What only one value may hold of at a time; the value itself where many may."""
        kind = self.object.type if isinstance(self.object, Thing) else ""
        line: tuple[Any, ...] = (self.subject.identity, self.word.name, self.by.identity)
        if self.word.values == "one":
            return line
        return (*line, kind) if self.word.values == "one_per_type" else (*line, self.value_key)

    @property
    def value_key(self) -> tuple[str, ...]:
        """Equal for equal values."""
        return self.object.identity if isinstance(self.object, Thing) else (object_key(self.object),)

    def _content(self) -> dict[str, Any]:
        return {
            "message": self.message.binding,
            "subject": list(self.subject.stable),
            "predicate": self.word.name,
            "object": list(self.object.stable if isinstance(self.object, Thing) else self.value_key),
            "by": list(self.by.stable),
            "mode": self.mode,
            "stance": self.stance,
            "valid": self.valid,
            "supersedes": self.supersedes,
        }


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A speaker takes an earlier claim of theirs back and puts nothing in its place."""

    at: str
    message: Message
    assertion: ElementId

    def write(self, block: Block) -> None:
        block.add(f'TRANSITION {block.value(self.assertion)} TO "retracted"')
        _record_revision(block, self.message, self.assertion, None)


ClaimPiece = Assert | Withdraw


def _record_revision(block: Block, message: Message, old: ElementId, new: str | None) -> None:
    activity = block.handle()
    entries = [f'("inputs", :{message.binding})', f'("inputs", {block.reference(old)})']
    if new:
        entries.append(f'("outputs", {new})')
    key = block.key("revision", {"message": message.binding, "old": old, "is_replaced": new is not None})
    block.add(
        f"CREATE ACTIVITY {activity} {{ CLIENT KEY {key} "
        'SET FIELDS {activity_class: "belief_revision", status: "completed"} '
        f"SET STRUCTURAL {{ {' '.join(entries)} }} }}"
    )


def compile_claims(claims: Sequence[Placed[Claim]], ground: Ground) -> tuple[list[ClaimPiece], list[Fault], list[str]]:
    """Every claim that can be kept, the faults of the others, and what a reader of the answer should know."""
    pieces: list[ClaimPiece] = []
    faults: list[Fault] = []
    warnings: list[str] = []
    for placed in claims:
        try:
            pieces += _compile(placed.at, placed.item, ground, warnings)
        except Wrong as wrong:
            faults.append(wrong.at(placed.at))
    kept, clashes = _in_order(pieces, warnings)
    return kept, faults + clashes, warnings


def _compile(at: str, claim: Claim, ground: Ground, warnings: list[str]) -> list[ClaimPiece]:
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
    value = _value(claim, word, message, ground)
    if claim.change in ("ended", "withdrawn") and value is None:
        value = _only_value(slot, by, word)
    if value is None:
        raise Wrong("Neither object nor text is set.", "Set object for a thing, or text for a plain value.")
    since, until = _span(claim.since, "since"), _span(claim.until, "until")
    mine = [known for known in slot if by.id and known.by == by.id and known.stance == "support"]

    if claim.change == "withdrawn":
        return [Withdraw(at, message, _same_value(mine, value, slot).assertion_id)]
    if claim.change == "ended":
        return [_ended(at, message, subject, word, value, by, since, until, mine)]
    mode, stance = _MODES[claim.change]
    supersedes: ElementId | None = None
    valid = _valid(since, until, message)
    if claim.change == "correction":
        wrong_one = _corrected(mine, value, word, warnings, slot, at)
        if wrong_one is not None:
            supersedes = wrong_one.assertion_id
            valid = valid or _kept_interval(wrong_one)
    elif claim.change == "new":
        warnings += [
            f"{at} ends {word.name} {known.object_name}, said {known.asserted_at[:10]}"
            for known in mine
            if word.values == "one" and not _is_value(known, value)
        ]
    return [Assert(at, message, subject, word, value, by, mode, stance, valid, supersedes, claim.change)]


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
            f"{actor.name} did not say message {claim.msg}.",
            "Leave by out; what the speaker passes on of others is the speaker's claim, with change: hearsay.",
        )
    return actor


def _value(claim: Claim, word: PredicateWord, message: Message, ground: Ground) -> Thing | str | float | bool | None:
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


# --- time -------------------------------------------------------------------------------------------------------------


def _span(text: str | None, member: str) -> Span | None:
    if text is None:
        return None
    try:
        return read_date(text)
    except ValueError as wrong:
        raise Wrong(
            f"{member} {text!r} is no date: {wrong}.", "Say it as precisely as the message does, or leave it out."
        ) from None


def _valid(since: Span | None, until: Span | None, message: Message) -> dict[str, Any] | None:
    """World time as said; a value that held until some time is taken to have begun before that."""
    valid: dict[str, Any] = {}
    if since is not None:
        valid["from"] = since.not_after(message.observed_at).point
    if until is not None:
        valid["until"] = until.point
        if since is None and until.latest <= message.observed_at:
            valid["from"] = {"latest": just_before(until.latest)}
        if since is not None and since.earliest >= until.latest:
            raise Wrong("until is not after since.", "Correct the two dates, or leave one out.")
    return valid or None


def _kept_interval(known: SlotClaim) -> dict[str, Any]:
    """The world time of a corrected claim: as written, a missing start being no later than when it was said (§14.2)."""
    valid = {name: point for name, point in known.valid_time.items() if point is not None}
    return valid if "from" in valid else {"from": {"latest": known.asserted_at}, **valid}


# --- what a claim does to earlier ones --------------------------------------------------------------------------------


def _start_key(known: SlotClaim) -> Timestamp:
    """When a claim says it began at the latest (§25.4): an end before that would not end it."""
    begun = known.valid_time.get("from")
    return (begun.get("latest") if isinstance(begun, dict) else begun) or known.asserted_at


def _is_value(known: SlotClaim, value: Thing | str | float | bool) -> bool:
    if isinstance(value, Thing):
        return isinstance(known.object, dict) and known.object.get("id") == value.id is not None
    return not isinstance(known.object, dict) and object_key(known.object) == object_key(value)


def _only_value(slot: Sequence[SlotClaim], by: Thing, word: PredicateWord) -> Thing | str | float | bool:
    """The value meant by "no longer" without a value: the only one the speaker has on record."""
    mine = {object_key(known.object): known for known in slot if known.by == by.id and known.stance == "support"}
    if len(mine) == 1:
        known = next(iter(mine.values()))
        if isinstance(known.object, dict):
            return Thing(known.object["id"], known.object_type or "", None, known.object_name)
        return known.object  # type: ignore[no-any-return]
    raise Wrong(
        f"It is not said which value of {word.name} is meant.",
        "Set object or text to it.",
        tuple(known.to_choice() for known in slot),
    )


def _same_value(mine: Sequence[SlotClaim], value: Thing | str | float | bool, slot: Sequence[SlotClaim]) -> SlotClaim:
    for known in reversed(mine):
        if _is_value(known, value):
            return known
    raise Wrong(
        "The speaker has no such claim on record to take back.",
        "Leave it out, or state what the speaker holds now.",
        tuple(known.to_choice() for known in slot),
    )


def _corrected(
    mine: Sequence[SlotClaim],
    value: Thing | str | float | bool,
    word: PredicateWord,
    warnings: list[str],
    slot: Sequence[SlotClaim],
    at: str,
) -> SlotClaim | None:
    """The speaker's earlier claim that a correction replaces; None when there is none, which is said."""
    kind = value.type if isinstance(value, Thing) else None
    candidates = [known for known in mine if word.values != "one_per_type" or known.object_type == kind]
    wrong = {object_key(known.object): known for known in candidates if not _is_value(known, value)}
    if not wrong:
        known_values = ", ".join(f"{known.object_name} (by {known.by})" for known in slot) or "nothing"
        warnings.append(f"{at} corrects no claim of this speaker and was kept as stated; on record: {known_values}")
        return None
    if word.values == "many" and len(wrong) > 1:
        raise Wrong(
            f"The speaker has {len(wrong)} values of {word.name} on record; it is not said which was wrong.",
            "Withdraw the wrong one by its value, and state the right one.",
            tuple(known.to_choice() for known in wrong.values()),
        )
    return list(wrong.values())[-1]


def _ended(
    at: str,
    message: Message,
    subject: Thing,
    word: PredicateWord,
    value: Thing | str | float | bool,
    by: Thing,
    since: Span | None,
    until: Span | None,
    mine: Sequence[SlotClaim],
) -> Assert:
    """An end: against one's own claim on record the opposite stance from then on, else the past interval itself."""
    stopped = until.not_after(message.observed_at) if until else None
    known = next((known for known in reversed(mine) if _is_value(known, value)), None)
    if known is not None:
        if stopped and stopped.latest <= _start_key(known) < message.observed_at:
            stopped = Span(stopped.earliest, message.observed_at)
        valid = {"from": stopped.point} if stopped else None
        return Assert(at, message, subject, word, value, by, "stated", "reject", valid, None, "ended")
    end = stopped or Span(message.observed_at, message.observed_at)
    begun = since.not_after(message.observed_at).point if since else {"latest": just_before(end.latest)}
    point = end.point if stopped else {"latest": message.observed_at}
    valid = {"from": begun, "until": point}
    return Assert(at, message, subject, word, value, by, "stated", "support", valid, None, "ended")


# --- claims of one document about one slot ----------------------------------------------------------------------------


def _in_order(pieces: Sequence[ClaimPiece], warnings: list[str]) -> tuple[list[ClaimPiece], list[Fault]]:
    """Claims of one document that touch each other.

    A correction takes the place of what the same document says before it. Of two values at one instant the earlier
    ends when the later says the world changed; otherwise the later is a fault, since both cannot hold.
    """
    kept: list[ClaimPiece] = []
    faults: list[Fault] = []
    for piece in pieces:
        if not isinstance(piece, Assert) or piece.stance != "support":
            kept.append(piece)
            continue
        rival = next((known for known in kept if isinstance(known, Assert) and _rivals(known, piece)), None)
        if rival is None:
            kept.append(piece)
        elif piece.change == "correction":
            kept.remove(rival)
            kept.append(replace(piece, supersedes=rival.supersedes, valid=piece.valid or rival.valid))
            warnings.append(f"{rival.at} was corrected by {piece.at} and not kept")
        elif piece.change == "new":
            kept[kept.index(rival)] = replace(rival, valid={**(rival.valid or {}), "until": piece.message.observed_at})
            kept.append(piece)
        else:
            faults.append(
                Fault(
                    piece.at,
                    f"{piece.word.name} holds one value at a time, and {rival.at} gives another.",
                    "Mark the one that changed as new, the one that stopped as ended, or date them with since.",
                )
            )
    return kept, faults


def _rivals(earlier: Assert, later: Assert) -> bool:
    """Whether two claims give one slot two values from the same instant on."""
    return (
        earlier.stance == "support"
        and earlier.slot == later.slot
        and earlier.value_key != later.value_key
        and "until" not in (earlier.valid or {})
        and "until" not in (later.valid or {})
        and ((earlier.valid or {}).get("from"), earlier.message.observed_at)
        == ((later.valid or {}).get("from"), later.message.observed_at)
    ) or (
        later.change == "correction"
        and earlier.stance == "support"
        and earlier.slot == later.slot
        and earlier.value_key != later.value_key
    )
