"""A day put right: `Sorry, I meant Thursday`, `5 May, not 4 May`, and a birthday told again without its year."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from brain.agents.builtin.facts import Fact, Owed, Redate, Statement, Thing, Took
from brain.agents.builtin.when import Spot
from brain.agents.turns import DossierEntry

_ANNUAL = frozenset(("birthday", "anniversary"))


def redate_of(msg: int, speaker: Thing, spot: Spot, wrong: Spot | None) -> Redate:
    """The correction a time expression makes; `wrong` is the one it takes the place of, where that was said."""
    past, future = spot.reading
    old = frozenset(when.start for when in wrong.reading if when is not None) if wrong else frozenset[str]()
    return Redate(msg, speaker, past.on if past else None, future.last if future else None, spot.clock is not None, old)


def redated(item: Statement, by: Redate) -> Statement | None:
    """The statement with its day put right; None when it has none that this could mean."""
    if isinstance(item, Redate) or item.speaker.key != by.speaker.key:
        return None
    match item:
        case Owed(due=str() as due) if (day := _in_place_of(due, by.future, by)) is not None:
            return replace(item, msg=by.msg, due=day)
        case Took(on=str() as on) if (day := _in_place_of(on, by.past, by)) is not None:
            return replace(item, msg=by.msg, on=day)
        case Fact(relation="birthday" | "anniversary", value=str() as value):
            day = _annual(value, by)
            return replace(item, msg=by.msg, value=day) if day else None
        case Fact(relation="deadline", value=str() as value):
            day = _in_place_of(value, by.future, by)
            return replace(item, msg=by.msg, value=day) if day else None
        case Fact(stance="ended", until=str() as until) if (day := _in_place_of(until, by.past, by)) is not None:
            return replace(item, msg=by.msg, until=day)
        case Fact(stance="holds", since=str() as since, until=None) if (
            day := _in_place_of(since, by.past, by)
        ) is not None:
            return replace(item, msg=by.msg, since=day)
        case _:
            return None


def _in_place_of(old: str, new: str | None, by: Redate) -> str | None:
    """The new time as precise as the old one was; a time of day keeps the day, and a day the time of day."""
    if by.old and not any(old[:10] == wrong[:10] or old == wrong for wrong in by.old):
        return None
    if by.is_clock:
        return old[:10] + new[10:] if new is not None and len(old) >= 10 else None
    if new is None or len(new[:10]) != len(old[:10]):
        return None
    return new + old[10:] if len(new) == 10 else new


def _annual(old: str, by: Redate) -> str | None:
    """A day of the year put right; the year once told stays unless another is."""
    if by.past is None or len(by.past) != 10:
        return None
    if by.old and not any(old[-5:] == wrong[5:10] for wrong in by.old):
        return None
    if by.past == by.future:
        return by.past
    return in_year(old, f"--{by.past[5:]}")


def in_year(old: str, new: str) -> str:
    """`--05-05` in the year of `1990-05-04`; as it is where that year has no such day."""
    if not new.startswith("--") or old.startswith("--") or len(old) != 10:
        return new
    try:
        return date.fromisoformat(old[:4] + new[1:]).isoformat()
    except ValueError:
        return new


def with_year(fact: Fact, said: Iterable[Statement], dossier: Sequence[DossierEntry]) -> Fact:
    """A birthday without its year, in the year its speaker gave before: in this conversation, else on record."""
    value = fact.value
    if fact.relation not in _ANNUAL or fact.stance != "holds" or not isinstance(value, str) or value[:2] != "--":
        return fact
    earlier = [
        item.value
        for item in said
        if isinstance(item, Fact)
        and isinstance(item.value, str)
        and (item.relation, item.subject.key, item.speaker.key) == (fact.relation, fact.subject.key, fact.speaker.key)
    ]
    earlier = earlier or [
        claim.object.name
        for entry in dossier
        for claim in entry.claims
        if claim.predicate == fact.relation
        and claim.standing == "accepted"
        and claim.subject.id == fact.subject.id is not None
        and claim.by is not None
        and claim.by.id == fact.speaker.id
    ]
    return replace(fact, value=in_year(earlier[-1], value)) if earlier else fact
