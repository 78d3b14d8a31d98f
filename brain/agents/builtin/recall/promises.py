"""Answers for promises, plans and what is due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brain.agents.builtin.recall.answering import Answering, Reply
from brain.agents.builtin.recall.evidence import held_for
from brain.agents.builtin.recall.happenings import commitments_for, events_reply, names_matter, promise_told
from brain.agents.builtin.recall.statements import told_reply
from brain.agents.builtin.recall.told import Told
from brain.agents.builtin.when import When
from brain.agents.turns import KnownCommitment

_MOST = 8


def promises_reply(a: Answering) -> Reply:
    """What is promised or due: of whom the question names, else of everybody."""
    if a.ask.unknown and a.ask.unknown not in ("you", "你"):
        return a.silence()
    known = {item.id: item for item in (*a.turn.commitments, *a.looked.commitments)}
    turn = replace(a.turn, commitments=tuple(sorted(known.values(), key=_soonest)))
    found = commitments_for(a.ask, turn)
    dated, undated = _due_in(found, a.ask.window, a.turn.at) if a.ask.window else (found, [])
    if dated or undated:
        told = [promise_told(item, a.words) for item in dated[:_MOST]]
        told += [promise_told(item, a.words).within(a.words.undated) for item in undated[: _MOST - len(told)]]
        more = [Told(a.words.not_shown)] if len(dated) + len(undated) > len(told) else []
        if a.ask.unknown:
            return a.reply([Told(a.words.asker_unknown), *told, *more], 0.5)
        return a.reply([*told, *more], 0.1)
    if a.ask.unknown:
        return a.silence()
    if a.ask.relations:
        planned = [part for part in held_for(a.ask, a.turn, a.looked.claims) if part.planned]
        if planned:
            return told_reply(a, planned)
    happened = events_reply(a) if names_matter(a.ask) or a.ask.time else None
    if happened is not None:
        return happened
    return a.nothing(a.words.no_commitments_then if found else a.words.no_commitments)


def _soonest(known: KnownCommitment) -> tuple[str, str]:
    return known.due or "9", known.id


def _due_in(
    found: Sequence[KnownCommitment], window: When, at: str
) -> tuple[list[KnownCommitment], list[KnownCommitment]]:
    """Those due in the window, with what is overdue when the window holds today; and then those without a date."""
    first, last = window.start[:10], window.last[:10]
    is_now = first <= at[: len(first)] and at[: len(last)] <= last
    due = [
        known
        for known in found
        if known.due and known.due[: len(last)] <= last and (is_now or known.due[: len(first)] >= first)
    ]
    return due, [known for known in found if known.due is None] if is_now else []
