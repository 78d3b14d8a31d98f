"""Answers for whom something holds, and answers about all that is known of one."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.recall.answering import Answering, Reply, relation_of
from brain.agents.builtin.recall.evidence import Held, holders, standing_at
from brain.agents.builtin.recall.happenings import is_named, promise_told
from brain.agents.builtin.recall.told import Told
from brain.agents.builtin.recall.wording import event_text
from brain.agents.turns import KnownClaim, Ref

_MOST = 12
_MOST_ASIDE = 4
_FIRST = (
    "also_known_as",
    "has_role",
    "works_for",
    "lives_in",
    "project_lead",
    "project_phase",
    "deadline",
    "located_in",
)


def reverse_reply(a: Answering) -> Reply:
    """For whom it holds, in the tense of the question: `who lives in Porto`, `who lived in Porto`."""
    telling, tell = a.tell.telling(a.ask.relations[0]), a.tell
    by: dict[str, list[KnownClaim]] = {}
    for claim in holders(a.ask, a.turn, a.looked.claims):
        by.setdefault(standing_at(claim, a.ask) or "", []).append(claim)
    current = [
        tell.one(claim, telling, past=a.ask.time is not None and claim.standing == "was")
        for claim in by.get("accepted", ())[:_MOST]
    ]
    former = [tell.one(claim, telling, past=True) for claim in by.get("was", ())[:_MOST]]
    unsure = tell.disputed(by["disputed"], telling) if by.get("disputed") else []
    passed_on = [tell.hearsay(claim, telling) for claim in by.get("hearsay", ())[:_MOST_ASIDE]]
    if a.ask.wants_former and a.ask.time is None:
        return a.reply(former, 0.2) if former else a.nothing(a.words.nobody)
    if a.ask.wants_past and a.ask.time is None and former:
        now = [sentence.within(a.words.now) for sentence in current]
        return a.reply([*former, *now, *unsure, *passed_on], 0.5 if unsure else 0.2)
    if current or unsure:
        return a.reply([*current, *unsure, *passed_on], 0.5 if unsure else 0.1)
    if a.ask.time is not None:
        return a.reply(passed_on, 0.7) if passed_on else a.nothing(a.words.nobody)
    planned = [_planned(a, claim) for claim in by.get("planned", ())[:_MOST_ASIDE]]
    gone = [sentence.within(a.words.not_now) for sentence in former]
    denied = [tell.denied(claim, telling) for claim in by.get("denied", ())[:_MOST_ASIDE]]
    told = [*passed_on, *planned, *gone]
    if not told and denied:
        return a.reply([Told(a.words.nobody), *denied], 0.4)
    told += denied
    return a.reply(told, 0.7 if passed_on else 0.4) if told else a.nothing(a.words.nobody)


def _is_called_so(claim: KnownClaim) -> bool:
    """Whether a claim only repeats a name that is told anyway."""
    return claim.predicate == "also_known_as" and claim.subject.name.startswith(claim.object.name)


def _planned(a: Answering, claim: KnownClaim) -> Told:
    return a.tell.planned(Held(claim.subject, a.ask.relations[0], planned=(claim,)))[0]


def profile_reply(a: Answering) -> Reply:
    """What is known of one: what is so, what was, what is not, what is promised and what happened."""
    if not a.ask.subjects:
        return a.silence()
    subject = a.ask.subjects[0]
    claims = list(
        {
            claim.proposition_id: claim
            for entry in a.turn.dossier
            for claim in entry.claims
            if subject.id and subject.id in (claim.subject.id, claim.object.id) and not _is_called_so(claim)
        }.values()
    )
    told, doubt, is_cut = _claims_told(a, claims, subject)
    promises = [
        known
        for known in a.turn.commitments
        if known.status in ("pending", "blocked")
        and (subject.id in {ref.id for ref in (known.who, *known.to) if ref} or is_named(subject, known.summary))
    ]
    told += [promise_told(known, a.words) for known in promises[:_MOST_ASIDE]]
    involved = [event for event in a.turn.events if any(ref.id == subject.id for ref in event.who)]
    told += [Told(event_text(event, a.words), (event.id,)) for event in involved[:3]]
    if not told:
        return a.silence()
    is_cut = is_cut or bool(a.turn.cut) or len(promises) > _MOST_ASIDE or len(involved) > 3
    return a.reply([*told, *([Told(a.words.not_shown)] if is_cut else [])], doubt)


def _claims_told(a: Answering, claims: Sequence[KnownClaim], subject: Ref) -> tuple[list[Told], float, bool]:
    """The claims by how they stand, most telling relations first; how unsure they are; whether some are left."""
    by: dict[str, list[KnownClaim]] = {}
    for claim in sorted(claims, key=lambda found: _order(found, subject)):
        by.setdefault(claim.standing, []).append(claim)
    told: list[Told] = []
    current = by.get("accepted", [])
    for predicate in dict.fromkeys((claim.predicate, claim.subject.id) for claim in current[:_MOST]):
        same = tuple(claim for claim in current[:_MOST] if (claim.predicate, claim.subject.id) == predicate)
        relation = relation_of(predicate[0])
        told += a.tell.now(Held(same[0].subject, relation, accepted=same), a.tell.telling(relation))
    asides = 0
    for standing in ("disputed", "planned", "hearsay", "denied", "was"):
        found = by.get(standing, [])
        asides += max(0, len(found) - _MOST_ASIDE)
        if standing == "disputed":
            groups = dict.fromkeys((claim.predicate, claim.subject.id) for claim in found[:_MOST_ASIDE])
            for group in groups:
                same = tuple(claim for claim in found[:_MOST_ASIDE] if (claim.predicate, claim.subject.id) == group)
                told += a.tell.disputed(same, a.tell.telling(relation_of(group[0])))
            continue
        for claim in found[:_MOST_ASIDE]:
            told += _aside(a, claim)
    doubt = 0.5 if by.get("disputed") else 0.2 if current else 0.5
    return told, doubt, len(current) > _MOST or asides > 0


def _aside(a: Answering, claim: KnownClaim) -> list[Told]:
    relation = relation_of(claim.predicate)
    if claim.standing == "planned":
        return a.tell.planned(Held(claim.subject, relation, planned=(claim,)))
    return a.tell.by_standing(claim, a.tell.telling(relation))


def _order(claim: KnownClaim, subject: Ref) -> tuple[bool, int]:
    """What it says of the subject before what says it of others; who and where before the rest."""
    rank = _FIRST.index(claim.predicate) if claim.predicate in _FIRST else len(_FIRST)
    return claim.subject.id != subject.id, rank
