"""Turns in words: what the typed turn of a pass holds, line by line, as it stands in the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brain.agents.prompts import estimated_tokens
from brain.agents.spoken import day_or_minute
from brain.agents.texts import block, clean, one_line
from brain.agents.tools import compact
from brain.agents.turns import (
    DossierEntry,
    FormationTurn,
    KnownClaim,
    KnownCommitment,
    KnownEvent,
    KnownVoice,
    Line,
    MaintenanceTurn,
    RecallTurn,
    Ref,
)
from brain.times import offset_text

DOSSIER_TOKENS = 1_200
_NAME = 120
_VALUE = 200
_MEMBER = 4_000


def formation_text(turn: FormationTurn) -> str:
    """The user turn of Formation."""
    context = [f"- counterparty: {_ref(turn.counterparty)}"] if turn.counterparty else []
    stated = (("topic", turn.topic), ("source", turn.source))
    context += [f"- {name}: {one_line(text, _VALUE)}" for name, text in stated if text]
    parts = [
        f"Conversation {turn.conversation}{_part(turn)}. This Brain is {turn.self_id}. It is now {turn.now}.",
        block("context", context),
        block("known", entry_lines(turn.dossier) + commitment_lines(turn.commitments) + _cut(turn.cut)),
        block("messages", [message_line(line) for line in turn.lines]),
    ]
    return "\n\n".join(part for part in parts if part)


def _part(turn: FormationTurn) -> str:
    """Which of a long input's messages this pass is about."""
    first, last, of_all = turn.part or (1, 0, 0)
    return f", messages {first} to {last} of {of_all}" if last - first + 1 < of_all else ""


def recall_text(turn: RecallTurn) -> str:
    """The user turn of Recall."""
    context = [f"- asked by: {_ref(turn.asked_by)}"] if turn.asked_by else []
    if turn.topic:
        context.append(f"- topic: {one_line(turn.topic, _VALUE)}")
    known = entry_lines(turn.dossier) + event_lines(turn.events) + commitment_lines(turn.commitments)
    for rule in turn.rules:
        known.append(f"- {rule.id} {'rule' if rule.is_constraint else 'lesson'}: {one_line(rule.summary, _VALUE)}")
    parts = [
        f"It is now {turn.now}. Answer as of {turn.at}.",
        block("context", context),
        block("known", known + _cut(turn.cut)),
        block("question", [f"> {turn.question}"]),
    ]
    return "\n\n".join(part for part in parts if part)


def maintenance_text(turn: MaintenanceTurn, self_id: str) -> str:
    """The user turn of Maintenance: the assessment, one member a line."""
    lines = [f"- {name}: {clean(compact(value), _MEMBER)}" for name, value in turn.assessment.items()]
    head = (
        f"A {turn.scope} cycle, started by {one_line(turn.trigger, 40)}. This Brain is {self_id}. It is now {turn.now}."
    )
    return f"{head}\n\n{block('assessment', lines)}"


def message_line(line: Line) -> str:
    """`[3] Mon 2024-01-08 16:15 -08:00 Marc Xenakis (C-7): …`; no offset for UTC, `[context]` for context only."""
    number = f"[{line.number}]" if line.number is not None else "[context]"
    role = " (agent)" if line.is_agent else ""
    clock = f"{line.clock} {offset_text(line.utc_offset_minutes)}" if line.utc_offset_minutes else line.clock
    return f"{number} {line.weekday} {clock} {_ref(line.speaker)}{role}: {line.text}"


def entry_lines(entries: Sequence[DossierEntry]) -> list[str]:
    """One line per entry, its claims hung below it; a claim between two entries stands once, under its subject."""
    subjects = {entry.who.id for entry in entries if entry.claims}
    lines = []
    for entry in entries:
        told = [claim for claim in entry.claims if claim.subject.id == entry.who.id or claim.subject.id not in subjects]
        lines.append("\n".join([_entry(entry), *(_claim(claim, entry) for claim in told)]))
    return lines


def _entry(entry: DossierEntry) -> str:
    parts = [f"- {entry.who.id or 'new'} {entry.who.type} {_name(entry.who.name)}"]
    if entry.is_speaker:
        parts.append("speaks here")
    if entry.aliases:
        parts.append("also: " + ", ".join(map(_name, entry.aliases)))
    if entry.look_alikes:
        parts.append("not the same as: " + ", ".join(map(_ref, entry.look_alikes)))
    return "; ".join(parts)


def _claim(claim: KnownClaim, entry: DossierEntry) -> str:
    """`lives_in Szeged (C-5) | accepted since 2024-03, said 2024-03-20 by Marc [A-4]`, or `Ann (C-2) knows this`.

    Who else spoke to it follows: `; also said by Ann 2024-03-21 [A-6]; denied by Bob 2024-04-01 [A-9]`.
    """
    if claim.subject.id == entry.who.id:
        said = f"{claim.predicate} {_ref(claim.object)}"
    else:
        said = f"{_ref(claim.subject)} {claim.predicate} this"
    bounds = (("since", claim.since_text), ("until", claim.until_text))
    when = " ".join([claim.standing, *(f"{word} {text}" for word, text in bounds if text)])
    if claim.until and not claim.until_text:
        when += f", over by {claim.until[:10]}"
    if claim.followed_by:
        when += f", then [{claim.followed_by}]"
    source = f"said {claim.said_at[:10]}" if claim.said_at else "said some time"
    by = f" by {_name(claim.by.name)}" if claim.by else ""
    told = f"{said} | {when}, {source}{by} [{claim.assertion_id}]"
    return "; ".join([told, *(_voice(voice) for voice in claim.voices if voice.assertion_id != claim.assertion_id)])


_SAYS = {"for": "also said", "against": "denied", "unsure": "passed on"}


def _voice(voice: KnownVoice) -> str:
    by = f" by {_name(voice.who.name)}" if voice.who else ""
    return f"{_SAYS[voice.side]}{by} {(voice.said_at or '')[:10]} [{voice.assertion_id}]"


def event_lines(events: Sequence[KnownEvent]) -> list[str]:
    """Events, one line each."""
    return [
        f"- {event.id} event {_span(event)}: {one_line(event.summary, _VALUE)}"
        + (f" ({', '.join(_name(who.name) for who in event.who)})" if event.who else "")
        for event in events
    ]


def _span(event: KnownEvent) -> str:
    if event.on is None:
        return f"told {event.said_at[:10]}" if event.said_at else "of unknown date"
    if event.on_text:
        return event.on_text
    if event.until is None or event.until[:10] == event.on[:10]:
        return day_or_minute(event.on)
    return f"{event.on[:10]} to {event.until[:10]}"


def commitment_lines(commitments: Sequence[KnownCommitment]) -> list[str]:
    """Commitments, one line each."""
    lines = []
    for known in commitments:
        people = _name(known.who.name) if known.who else "somebody"
        if known.to:
            people += " to " + ", ".join(_name(ref.name) for ref in known.to)
        due = f", due {known.due_text or day_or_minute(known.due)}" if known.due else ""
        lines.append(f"- {known.id} commitment {known.status}: {one_line(known.summary, _VALUE)} ({people}{due})")
    return lines


_CLAIMS = (24, 12, 8, 5, 3, 1, 0)
"""How many claims of each entry are tried, until all fits."""


def fitted(
    entries: Sequence[DossierEntry], tokens: int = DOSSIER_TOKENS
) -> tuple[tuple[DossierEntry, ...], tuple[str, ...]]:
    """As much of the dossier as fits, with what was cut, in words: fewer claims of each before fewer entries."""
    longest = max((len(entry.claims) for entry in entries), default=0)
    # Of limits that leave all claims in place, the first is enough.
    for most in (_CLAIMS[0], *(fewer for fewer in _CLAIMS[1:] if fewer < longest)):
        kept = tuple(replace(entry, claims=entry.claims[:most]) for entry in entries)
        if estimated_tokens("\n".join(entry_lines(kept))) <= tokens:
            break
    else:
        kept = _first_fitting(kept, tokens)
    cut = [
        f"{len(entry.claims) - len(short.claims)} more claims about {_ref(entry.who)}"
        for entry, short in zip(entries, kept, strict=False)
        if len(short.claims) < len(entry.claims)
    ]
    if len(kept) < len(entries):
        cut.append(f"{len(entries) - len(kept)} more names")
    return kept, tuple(cut)


def _first_fitting(entries: tuple[DossierEntry, ...], tokens: int) -> tuple[DossierEntry, ...]:
    """The first entries that fit, at least one; they have no claims any more, so that each line stands for itself."""
    text = ""
    for number, line in enumerate(entry_lines(entries)):
        text += f"\n{line}" if number else line
        if number and estimated_tokens(text) > tokens:
            return entries[:number]
    return entries


def _cut(cut: Sequence[str]) -> list[str]:
    return [f"- not shown: {one_line(what, _VALUE)}" for what in cut]


def _ref(ref: Ref) -> str:
    name = one_line(ref.name, _VALUE if ref.type is None else _NAME)
    return f"{name} ({ref.id})" if ref.id else name


def _name(name: str) -> str:
    return one_line(name, _NAME)
