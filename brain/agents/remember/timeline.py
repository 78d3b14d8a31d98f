"""What the order of saying does to the times of one speaker's claims, where the start they name does not say it.

Succession (§25.4) orders a speaker's claims by their start keys. A claim that names no start has its own saying for a
key, though all it says is that it had begun by then. So "I live in Porto", said on Monday, would outlast "I moved to
Lisbon in May", said on Tuesday. Here the later word decides: a start nobody named is put before what followed it. The
claim keeps its value, its speaker and its open end, and succession does the rest, whichever was recorded first.

Starts that are named order claims by themselves: late history stays history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brain.agents.remember.dates import just_before
from brain.agents.remember.ground import Ground, Message, SlotClaim
from brain.agents.remember.pieces import Assert, ClaimPiece, Withdraw
from brain.agents.remember.things import Thing
from brain.agents.turns import PredicateWord
from brain.ids import object_key
from brain.store.base import ElementId
from brain.times import Timestamp

_EVER, _NEVER = "", "~"
_FIRST_INSTANT = "0001-01-01T00:00:00.000Z"
_ROUNDS = 64
"""Each round moves one start back; slots hold a handful of claims, so this is only reached by times before all time."""


def in_time(pieces: Sequence[ClaimPiece], ground: Ground) -> list[ClaimPiece]:
    """The claims of a document with the times the order of saying gives them.

    Claims on record that have to give way are restated with the start they have since been told to have at the latest:
    by the same speaker, made when they were made. The new Assertion supersedes the old one, since what that implied of
    its start was wrong.
    """
    placed: list[ClaimPiece] = []
    for piece in pieces:
        if isinstance(piece, Assert) and _takes_part(piece.mode, piece.stance):
            _place(piece, placed, ground)
        else:
            placed.append(piece)
    return placed


@dataclass(slots=True)
class _Claim:
    """A claim on the speaker's line.

    said  when it was said, and its place among what was said at that instant: what is on record comes first
    """

    said: tuple[Timestamp, int, int]
    stance: str
    value: tuple[str, ...]
    kind: str
    valid: dict[str, Any]
    source: Assert | SlotClaim
    is_moved: bool = False

    @property
    def _from(self) -> Any:
        return self.valid.get("from")

    @property
    def names_start(self) -> bool:
        """Whether it says when it began, not merely by when it had."""
        begun = self._from
        return begun is not None and not (isinstance(begun, dict) and begun.get("earliest") is None)

    @property
    def key(self) -> Timestamp:
        """Its start key (§25.4)."""
        begun = self._from
        if isinstance(begun, dict):
            return begun.get("latest") or self.said[0]
        return begun or self.said[0]

    @property
    def first(self) -> Timestamp:
        """The earliest instant at which it may have begun, as far as it says."""
        begun = self._from
        if isinstance(begun, dict):
            return begun.get("earliest") or self.key
        return begun or self.key

    @property
    def is_open(self) -> bool:
        return self.valid.get("until") is None

    @property
    def is_past(self) -> bool:
        """Whether it was over when it was told, so that its saying says nothing of when it held."""
        until = self.valid.get("until")
        last = until.get("latest") if isinstance(until, dict) else until
        return last is not None and bool(last <= self.said[0])

    def disagrees(self, other: _Claim, word: PredicateWord) -> bool:
        """Whether the two lie on one line and say different things there."""
        if self.value == other.value:
            return self.stance != other.stance
        if not self.stance == other.stance == "support":
            return False
        return word.values == "one" or (word.values == "one_per_type" and self.kind == other.kind)

    def move_before(self, other: _Claim) -> bool:
        """Let it begin before another does; False when its own words do not admit that."""
        limit = other.key if self.names_start else min(other.first, other.key)
        if limit <= _FIRST_INSTANT:
            return False
        latest = just_before(limit)
        if not self.names_start:
            self.valid = {**self.valid, "from": {"latest": latest}}
        elif isinstance(self._from, dict) and self.first <= latest:
            self.valid = {**self.valid, "from": {"earliest": self.first, "latest": latest}}
        else:
            return False
        self.is_moved = True
        return True


def _place(piece: Assert, placed: list[ClaimPiece], ground: Ground) -> None:
    """Add a piece, moving it, or what it follows, to where the order of saying puts them."""
    stored = _on_record(piece, placed, ground)
    new = _said_now(piece, len(placed))
    line = [_stored(known) for known in stored]
    for index, other in enumerate(placed):
        if isinstance(other, Assert) and _takes_part(other.mode, other.stance) and _is_of(other, piece):
            line.append(_said_now(other, index))
    _end_with(new, line)
    line.append(new)
    _settle(line, piece.word)
    for claim in line:
        source = claim.source
        if claim.is_moved and isinstance(source, Assert) and source is not piece:
            placed[placed.index(source)] = replace(source, valid=claim.valid)
    placed += [
        _restated(claim, claim.source, piece)
        for claim in line
        if claim.is_moved and isinstance(claim.source, SlotClaim)
    ]
    placed.append(replace(piece, valid=new.valid or None))


def _on_record(piece: Assert, placed: Iterable[ClaimPiece], ground: Ground) -> list[SlotClaim]:
    """The speaker's own claims about the same, less those this document puts out of force."""
    if piece.subject.id is None or piece.by.id is None:
        return []
    gone: set[ElementId | None] = set()
    for other in (*placed, piece):
        gone.update(other.assertions if isinstance(other, Withdraw) else (other.supersedes, *other.also_corrects))
    return [
        known
        for known in ground.memory.slot(piece.subject.id, piece.word.name)
        if known.by == piece.by.id
        and known.assertion_id not in gone
        and not known.is_scoped
        and _takes_part(known.mode, known.stance)
    ]


def _takes_part(mode: str, stance: str) -> bool:
    """An inference is nobody's account of what they saw change, and doubt is not a stance that ends anything here."""
    return mode == "stated" and stance in ("support", "reject")


def _is_of(other: Assert, piece: Assert) -> bool:
    mine = (piece.subject.identity, piece.word.name, piece.by.identity)
    return (other.subject.identity, other.word.name, other.by.identity) == mine


def _stored(known: SlotClaim) -> _Claim:
    value = (known.object["id"],) if isinstance(known.object, dict) else (object_key(known.object),)
    valid = {name: point for name, point in known.valid_time.items() if point is not None}
    said = (known.asserted_at, 0, int(known.assertion_id[2:]))
    return _Claim(said, known.stance, value, known.object_type or "", valid, known)


def _said_now(piece: Assert, index: int) -> _Claim:
    kind = piece.object.type if isinstance(piece.object, Thing) else ""
    said = (piece.message.observed_at, piece.message.number, index)
    return _Claim(said, piece.stance, piece.value_key, kind, dict(piece.valid or {}), piece)


# --- which of two begins first ----------------------------------------------------------------------------------------


def _settle(line: list[_Claim], word: PredicateWord) -> None:
    """Move starts until every pair that disagrees stands in the order its words and their order ask for."""
    is_stuck: set[tuple[int, int]] = set()
    dirty = {id(line[-1])}
    for _ in range(_ROUNDS):
        violated = None
        # What was said last is settled first, so that what came before it is put before where it ends up.
        for before, after in _pairs(line, word):
            touches = id(before) in dirty or id(after) in dirty
            if touches and before.key >= after.key and (id(before), id(after)) not in is_stuck:
                violated = (before, after)
                break
        if violated is None:
            return
        before, after = violated
        if before.move_before(after):
            dirty.add(id(before))
        else:
            is_stuck.add((id(before), id(after)))


def _pairs(line: list[_Claim], word: PredicateWord) -> Iterable[tuple[_Claim, _Claim]]:
    """Pairs that disagree and whose order is known, as (before, after)."""
    ordered = sorted(line, key=lambda claim: claim.said, reverse=True)
    for number, later in enumerate(ordered):
        for earlier in ordered[number + 1 :]:
            if later.disagrees(earlier, word):
                pair = _in_order(earlier, later, ordered, word)
                if pair is not None:
                    yield pair


def _in_order(
    earlier: _Claim, later: _Claim, line: Sequence[_Claim], word: PredicateWord
) -> tuple[_Claim, _Claim] | None:
    """Which of two claims began first; None when the starts they name say so, or nobody can.

    earlier, later  by when they were said
    """
    if not earlier.is_past and not later.is_past:
        if earlier.key == later.key:
            return earlier, later
        return None if earlier.names_start or _is_history(earlier, later, line, word) else (earlier, later)
    past, present = (earlier, later) if earlier.is_past else (later, earlier)
    if past.names_start or not present.is_open:
        return None
    # What is over does not end what holds: it was before it. What held still earlier may have been before or after.
    others = (
        claim
        for claim in line
        if claim.is_open
        and claim.disagrees(past, word)
        and (claim.value == past.value) == (present.value == past.value)
    )
    return (past, present) if present.key == max(claim.key for claim in others) else None


def _is_history(held: _Claim, later: _Claim, line: Sequence[_Claim], word: PredicateWord) -> bool:
    """Whether a later word tells of a time before one that was named already when `held` was said to have followed."""
    return later.names_start and any(
        claim.is_open
        and claim.names_start
        and claim.said < held.said
        and claim.disagrees(held, word)
        and later.key < claim.key < held.key
        for claim in line
    )


def _end_with(new: _Claim, line: Sequence[_Claim]) -> None:
    """A claim that comes in after the speaker's later word that it is over ends when that says."""
    if not new.is_open or new.stance != "support":
        return
    over = [
        claim
        for claim in line
        if claim.value == new.value and claim.stance == "support" and not claim.is_open and claim.said > new.said
    ]
    if not over:
        return
    until = max(over, key=lambda claim: claim.said).valid["until"]
    end = until if isinstance(until, dict) else {"earliest": until, "latest": until}
    last = end.get("latest") or _NEVER
    if new.first >= last and new.names_start:
        return
    new.valid["until"] = until
    if new.key >= last:
        new.valid["from"] = {"latest": just_before(last)}
    new.is_moved = True


def _restated(claim: _Claim, known: SlotClaim, because: Assert) -> Assert:
    """The speaker's earlier claim with the time that the new one gives it."""
    value = (
        Thing(known.object["id"], known.object_type or "", None, known.object_name)
        if isinstance(known.object, dict)
        else known.object
    )
    return replace(
        because,
        object=value,
        stance="reject" if known.stance == "reject" else "support",
        valid=claim.valid,
        supersedes=known.assertion_id,
        change="restated",
        also_corrects=(),
        said_at=known.asserted_at,
        also_cites=known.evidence,
    )


def said_before(known: SlotClaim, message: Message) -> bool:
    """Whether a claim on record was said no later than a message: what it takes to be corrected or taken back by it."""
    return known.asserted_at <= message.observed_at
