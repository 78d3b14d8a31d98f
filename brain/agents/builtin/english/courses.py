"""When a statement holds: what tense, negation and times make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brain.agents.builtin.english.clauses import Clause
from brain.agents.builtin.english.frames import Say
from brain.agents.builtin.english.tails import Tail
from brain.agents.builtin.facts import Stance
from brain.agents.builtin.when import Spot, When

_TIMELESS = frozenset(("likes", "dislikes", "prefers"))
_CHANGING = frozenset(("now", "newly", "recently"))


@dataclass(frozen=True, slots=True)
class Course:
    """How a statement stands in time.

    changed       the sentence says it became so
    denied_taste  a taste denied: its opposite is stated
    never         denied for all the time there was
    """

    stance: Stance
    since: str | None = None
    until: str | None = None
    changed: bool = False
    corrects: bool = False
    denied_taste: bool = False
    never: bool = False


def course_of(say: Say, clause: Clause, tail: Tail) -> Course | None:
    """The course of what a frame says in this clause; None when the clause does not state it (plans, abilities)."""
    group = clause.group
    if group.can and say.relation != "speaks":
        return None
    if group.tense == "future" or group.tense == "unreal":
        return None
    match say.effect:
        case "fact":
            if group.negated and "from" in [token.low for token in clause.rest[:2]] and not clause.times:
                return Course("denied")
            return None if group.negated or group.no_longer else Course("holds", corrects=tail.corrects)
        case "start":
            return _started(clause, tail)
        case "end" | "former":
            return _ended(clause)
        case _:
            return _state(say, clause, tail)


def _started(clause: Clause, tail: Tail) -> Course | None:
    group = clause.group
    has_just_got = group.tense == "present" and group.lemma == "have"
    if group.negated or group.no_longer or not (group.tense in ("past", "perfect") or has_just_got):
        return None
    since = _first(clause.times, "past", ("at", "since"))
    return Course("holds", since.since if since else None, changed=True, corrects=tail.corrects)


def _ended(clause: Clause) -> Course | None:
    if clause.group.negated or clause.group.tense not in ("past", "perfect"):
        return None
    until = _first(clause.times, "past", ("at", "since"))
    return Course("ended", until=until.on if until else None)


def _state(say: Say, clause: Clause, tail: Tail) -> Course | None:
    group = clause.group
    span = _first(clause.times, "past", ("range",))
    until = _first(clause.times, "past", ("until",))
    if group.no_longer or tail.no_longer or group.tense == "used_to":
        if group.negated and not tail.no_longer:
            return None
        ended = until or _first(clause.times, "past", ("since", "at"))
        return Course("ended", until=ended.on if ended else None)
    if group.negated:
        return _denied(say, clause)
    if group.tense == "past":
        return _was(say, clause, span, until)
    if say.relation in _TIMELESS and any(spot.role == "at" for spot in clause.times):
        return None
    soon = next((spot for spot in clause.times if spot.role == "since" and spot.is_soon), None)
    if soon is not None and group.tense == "present" and (begins := soon.when("future")) is not None:
        return Course("holds", begins.start, changed=True, corrects=tail.corrects)
    if _lies_ahead(clause.times):
        return None
    since = span or _first(clause.times, "past", ("since", "for"))
    changed = (bool(clause.adverbs & _CHANGING) or tail.now) and "still" not in clause.adverbs
    return Course(
        "holds",
        since.since if since else None,
        span.last if span else None,
        changed=changed,
        corrects=tail.corrects,
    )


def _denied(say: Say, clause: Clause) -> Course | None:
    if say.effect == "taste" and clause.group.tense == "present":
        return Course("holds", denied_taste=True)
    since = _first(clause.times, "past", ("since",))
    if clause.group.tense == "perfect" and since is not None:
        return Course("ended", until=since.on)
    if clause.times:
        return None
    return Course("denied", never=clause.group.never or clause.group.tense in ("perfect", "past"))


def _was(say: Say, clause: Clause, span: When | None, until: When | None) -> Course | None:
    """A state told in the past: with its years it held then, without them it is over."""
    if say.relation in _TIMELESS or say.relation in ("knows", "speaks"):
        return None
    if span is not None:
        return Course("holds", span.start, span.last)
    if until is not None:
        return Course("ended", until=until.last)
    at = _first(clause.times, "past", ("at",))
    if at is not None:
        return Course("holds", at.start, at.last) if len(at.start) <= 7 else None
    return None if clause.times and clause.times[0].role != "for" else Course("ended")


def _first(times: Sequence[Spot], direction: str, roles: Sequence[str]) -> When | None:
    for spot in times:
        if spot.role in roles:
            when = spot.when("past" if direction == "past" else "future")
            if when is not None:
                return when
    return None


def _lies_ahead(times: Sequence[Spot]) -> bool:
    """Whether a time of the clause can only lie ahead: a plan told in the present."""
    return any(spot.ahead for spot in times if spot.role in ("at", "since", "by", "range"))
