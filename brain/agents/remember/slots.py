"""What a claim does to earlier ones of its slot: on record, and in the same document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from brain.agents.remember.dates import Span, just_before
from brain.agents.remember.faults import Fault, Wrong
from brain.agents.remember.ground import SlotClaim
from brain.agents.remember.pieces import Assert, ClaimPiece, Value
from brain.agents.remember.things import Thing
from brain.agents.turns import PredicateWord
from brain.ids import object_key
from brain.times import Timestamp


def is_value(known: SlotClaim, value: Value) -> bool:
    if isinstance(value, Thing):
        return isinstance(known.object, dict) and known.object.get("id") == value.id is not None
    return not isinstance(known.object, dict) and object_key(known.object) == object_key(value)


def only_value(mine: Sequence[SlotClaim], slot: Sequence[SlotClaim], word: PredicateWord) -> Value:
    """The value meant by "no longer" without a value: the only one the speaker has on record."""
    values = {object_key(known.object): known for known in mine}
    if len(values) == 1:
        known = next(iter(values.values()))
        if isinstance(known.object, dict):
            return Thing(known.object["id"], known.object_type or "", None, known.object_name)
        return known.object  # type: ignore[no-any-return]
    raise Wrong(
        f"It is not said which value of {word.name} is meant.",
        "Set object or text to it.",
        tuple(known.to_choice() for known in slot),
    )


def of_value(mine: Sequence[SlotClaim], value: Value, slot: Sequence[SlotClaim]) -> list[SlotClaim]:
    """Every claim by which the speaker says a value holds; Wrong when there is none."""
    found = [known for known in mine if is_value(known, value)]
    if not found:
        raise Wrong(
            "The speaker has no such claim on record to take back.",
            "Leave it out, or state what the speaker holds now.",
            tuple(known.to_choice() for known in slot),
        )
    return found


def corrected(
    mine: Sequence[SlotClaim],
    value: Value,
    word: PredicateWord,
    warnings: list[str],
    slot: Sequence[SlotClaim],
    at: str,
) -> list[SlotClaim]:
    """The speaker's claims of the value that a correction replaces; none when there are none, which is said."""
    kind = value.type if isinstance(value, Thing) else None
    candidates = [known for known in mine if word.values != "one_per_type" or known.object_type == kind]
    wrong = {object_key(known.object): known for known in candidates if not is_value(known, value)}
    if not wrong:
        known_values = ", ".join(f"{known.object_name} (by {known.by})" for known in slot) or "nothing"
        warnings.append(f"{at} corrects no claim of this speaker and was kept as stated; on record: {known_values}")
        return []
    if word.values == "many" and len(wrong) > 1:
        raise Wrong(
            f"The speaker has {len(wrong)} values of {word.name} on record; it is not said which was wrong.",
            "Withdraw the wrong one by its value, and state the right one.",
            tuple(known.to_choice() for known in wrong.values()),
        )
    last = object_key(next(reversed(wrong.values())).object)
    return [known for known in candidates if object_key(known.object) == last]


def ended(
    claim: Assert, since: Span | None, until: Span | None, mine: Sequence[SlotClaim], earlier: Sequence[ClaimPiece]
) -> Assert:
    """An end: of what the speaker claimed before, the opposite stance from then on; else the past interval itself.

    claim    the value that ended, as a support without times
    earlier  claims of the same document
    """
    now = claim.message.observed_at
    stopped = claim.message.begun(until) if until else None
    open_ones = (known for known in mine if known.valid_time.get("until") is None)
    if any(is_value(known, claim.object) for known in open_ones) or any(_holds(piece, claim) for piece in earlier):
        return replace(claim, stance="reject", valid={"from": stopped.point} if stopped else None)
    end = stopped or Span(now, now)
    begun = claim.message.begun(since).point if since else {"latest": just_before(end.latest)}
    return replace(claim, valid={"from": begun, "until": end.point if stopped else {"latest": now}})


def _holds(piece: ClaimPiece, claim: Assert) -> bool:
    """Whether a claim of the same document says the value of another holds."""
    return (
        isinstance(piece, Assert)
        and piece.stance == "support"
        and "until" not in (piece.valid or {})
        and (piece.subject.identity, piece.word.name, piece.by.identity, piece.value_key)
        == (claim.subject.identity, claim.word.name, claim.by.identity, claim.value_key)
        and piece.message.observed_at <= claim.message.observed_at
    )


def kept_interval(wrong: Sequence[SlotClaim]) -> dict[str, Any]:
    """The world time of corrected claims: as written, a missing start being no later than when it was said (§14.2)."""
    known = min(wrong, key=start_key)
    valid = {name: point for name, point in known.valid_time.items() if point is not None}
    return valid if "from" in valid else {"from": {"latest": known.asserted_at}, **valid}


def start_key(known: SlotClaim) -> Timestamp:
    """The latest instant by which a claim says to have begun (§25.4)."""
    begun = known.valid_time.get("from")
    return (begun.get("latest") if isinstance(begun, dict) else begun) or known.asserted_at


# --- claims of one document -------------------------------------------------------------------------------------------


def in_order(pieces: Sequence[ClaimPiece], warnings: list[str]) -> tuple[list[ClaimPiece], list[Fault]]:
    """Claims of one document that touch each other.

    A correction takes the place of what the same document says before it. Two values that one message gives one slot
    at one instant are a fault, unless the later says the world changed; of two messages the later word counts.
    """
    kept: list[ClaimPiece] = []
    faults: list[Fault] = []
    for piece in pieces:
        if not isinstance(piece, Assert) or piece.stance != "support":
            kept.append(piece)
            continue
        if piece.change == "correction":
            rival = corrected_here(kept, piece)
        else:
            rival = next((known for known in kept if isinstance(known, Assert) and _rivals(known, piece)), None)
        if rival is None:
            kept.append(piece)
        elif piece.change == "correction":
            kept.remove(rival)
            kept.append(replace(piece, supersedes=rival.supersedes, valid=piece.valid or rival.valid))
            warnings.append(f"{rival.at} was corrected by {piece.at} and not kept")
        elif piece.change == "new" or rival.message.number != piece.message.number:
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


def corrected_here(earlier: Sequence[ClaimPiece], later: Assert) -> Assert | None:
    """The claim of the same document that a correction replaces: the last other value, or the only one of many."""
    candidates = [
        known
        for known in earlier
        if isinstance(known, Assert)
        and known.stance == "support"
        and (known.subject.identity, known.word.name, known.by.identity)
        == (later.subject.identity, later.word.name, later.by.identity)
        and known.value_key != later.value_key
        and (later.word.values != "one_per_type" or known.slot == later.slot)
    ]
    if not candidates or (later.word.values == "many" and len(candidates) > 1):
        return None
    return candidates[-1]


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
    )
