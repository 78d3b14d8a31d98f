"""Temporal succession (§25.4): an actor's newer account ends that actor's older one, and nothing is rewritten for it.

A line joins claims of one actor in one context set: a proposition line holds one value in every stance, a slot line the
supports of different values of one partition. Two claims of a line disagree when their marks differ; the mark is
the stance on a proposition line and the value on a slot line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from brain.kip.belief.intervals import Bound, Interval
from brain.kip.belief.model import Claim, Timed
from brain.store.base import ElementId
from brain.times import Timestamp


def effective_times(claims: Sequence[Claim], at: Timestamp) -> list[Timed]:
    """The eligible claims of one partition with their effective intervals and standing at `at`, in the given order."""
    placed: dict[ElementId, list[_Place]] = defaultdict(list)
    for line in _lines(claims):
        for place in _places(line):
            placed[place.claim.id].append(place)
    return [_timed(claim, placed.get(claim.id, []), at) for claim in claims]


@dataclass(frozen=True, slots=True)
class _Marked:
    claim: Claim
    mark: str


@dataclass(frozen=True, slots=True)
class _Step:
    """The claims of a line that share one start key: simultaneous, so none of them succeeds another."""

    key: Timestamp
    members: tuple[_Marked, ...]
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Place:
    """A claim on one line: where it starts and ends there, and the successors that end it, if any do."""

    claim: Claim
    start: Bound
    end: Bound
    ended_by: tuple[ElementId, ...]


def _lines(claims: Iterable[Claim]) -> list[list[_Marked]]:
    """Every line on which at least two claims disagree; the others change nothing."""
    lines: dict[tuple[object, ...], list[_Marked]] = defaultdict(list)
    for claim in claims:
        if not claim.takes_part:
            continue
        speaker = (claim.actor, claim.contexts)
        lines[*speaker, claim.label].append(_Marked(claim, claim.stance))
        if claim.stance == "support":
            lines[speaker].append(_Marked(claim, claim.label))
    return [line for line in lines.values() if any(member.mark != line[0].mark for member in line)]


def _places(line: list[_Marked]) -> list[_Place]:
    ordered = sorted(line, key=_start_key)
    steps = []
    for key, group in groupby(ordered, key=_start_key):
        members = tuple(group)
        steps.append(_Step(key, members, frozenset(member.mark for member in members)))
    before = _nearest_disagreeing(steps, range(len(steps)))
    after = _nearest_disagreeing(steps, range(len(steps) - 1, -1, -1))
    starts = {
        member.claim.id: _line_start(member.claim, before.get((i, member.mark)), steps)
        for i, step in enumerate(steps)
        for member in step.members
    }
    return [
        _place(member, after.get((i, member.mark)), steps, starts)
        for i, step in enumerate(steps)
        for member in step.members
    ]


def _start_key(member: _Marked) -> Timestamp:
    return member.claim.time.start_key


def _nearest_disagreeing(steps: Sequence[_Step], order: range) -> dict[tuple[int, str], int]:
    """For every step and mark in it, the nearest step passed before it that holds another mark."""
    found: dict[tuple[int, str], int] = {}
    passed: int | None = None
    for i in order:
        if passed is not None:
            for mark in steps[i].marks:
                if steps[passed].marks != {mark}:
                    found[i, mark] = passed
                elif (passed, mark) in found:
                    found[i, mark] = found[passed, mark]
        passed = i
    return found


def _line_start(claim: Claim, predecessor: int | None, steps: Sequence[_Step]) -> Bound:
    written = claim.time.interval.start
    if claim.time.is_exact or predecessor is None:
        return written
    return Bound(max(written.earliest, steps[predecessor].key), claim.time.start_key)


def _place(member: _Marked, successor: int | None, steps: Sequence[_Step], starts: dict[ElementId, Bound]) -> _Place:
    claim = member.claim
    if not claim.time.is_open or successor is None:
        return _Place(claim, starts[claim.id], claim.time.interval.end, ())
    heirs = [heir.claim.id for heir in steps[successor].members if heir.mark != member.mark]
    end = Bound(min(starts[heir].earliest for heir in heirs), min(starts[heir].latest for heir in heirs))
    return _Place(claim, starts[claim.id], end, tuple(heirs))


def _timed(claim: Claim, places: Sequence[_Place], at: Timestamp) -> Timed:
    """Combine a claim's lines: of every bound the one that narrows most."""
    if not places:
        return Timed(claim, claim.time.interval, claim.time.interval.standing(at))
    start = Bound(max(p.start.earliest for p in places), max(p.start.latest for p in places))
    end = Bound(min(p.end.earliest for p in places), min(p.end.latest for p in places))
    interval = Interval(start, end)
    ended_by = dict.fromkeys(heir for place in places for heir in place.ended_by)
    return Timed(claim, interval, interval.standing(at), tuple(ended_by))
