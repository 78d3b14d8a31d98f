"""Answers that tell what is held, was held or is to be, in the tense of the question."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.recall.answering import Answering, Reply, relation_of
from brain.agents.builtin.recall.evidence import Held, named_value
from brain.agents.builtin.recall.happenings import promise_told
from brain.agents.builtin.recall.noted import endings
from brain.agents.builtin.recall.told import Told
from brain.agents.builtin.text import language_of
from brain.agents.turns import KnownClaim

_STANDINGS = ("accepted", "disputed", "planned", "hearsay", "was", "denied")


def told_reply(a: Answering, held: Sequence[Held]) -> Reply:
    """What is held, as it stands, in the tense of the question."""
    ask, tell = a.ask, a.tell
    if (ask.wants_past or ask.wants_former) and ask.time is None:
        past = _past(a, held)
        if past is not None:
            return past
    if ask.wants_future:
        return future_reply(a, held)
    first = first_told(held)
    if first is None:
        withdrawn = next((claim for part in held for claim in part.withdrawn), None)
        return a.taken_back(withdrawn, held[0]) if withdrawn else a.silence()
    if ask.time is not None and not (first.accepted or first.disputed or first.hearsay):
        return a.silence()
    parts = [part for part in held if part is first or (part.accepted and first.accepted)][:3]
    sentences: list[Told] = []
    uncertainty = 0.1
    for part in parts:
        told_part, doubt = tell.part(part)
        sentences += told_part
        uncertainty = max(uncertainty, doubt)
    if len(ask.subjects) > 1 and not ask.is_group and not ask.several:
        told_of = {part.subject.id for part in parts}
        topics = [a.topic(ask.relations[0], ref) for ref in ask.subjects if ref.id not in told_of]
        sentences += [Told(a.words.no_record.format(topic=topic)) for topic in topics]
    later = endings(a, [claim for part in parts for claim in part.accepted]) if ask.time is None else []
    if later:
        sentences, uncertainty = [*sentences, *later], max(uncertainty, 0.5)
    if ask.wants_count and first.accepted:
        sentences[0] = sentences[0].within(a.words.counted, count=len(first.accepted))
    return a.reply(sentences, uncertainty)


def future_reply(a: Answering, held: Sequence[Held]) -> Reply:
    """What is to be: a claim for a time to come, or a plan that speaks of the relation; what is now is no answer."""
    planned = next((part for part in held if part.planned), None)
    if planned is not None:
        return a.reply(a.tell.planned(planned), 0.3)
    plans = [
        known
        for known in a.turn.commitments
        if known.who is not None
        and known.who.id in {ref.id for ref in a.ask.subjects}
        and known.status in ("pending", "blocked")
        and any(part.relation.asks[language_of(known.summary)].search(known.summary) for part in held)
    ]
    if plans:
        return a.reply([promise_told(known, a.words) for known in plans[:3]], 0.3)
    return a.nothing(a.words.no_commitments)


def _past(a: Answering, held: Sequence[Held]) -> Reply | None:
    """What was, told as past, and what still is; that nothing earlier is on record when only that was asked."""
    pivot = next((claim for part in held for claim in part.all if named_value(claim, a.ask)), None)
    if pivot is not None and a.ask.wants_former:
        held = [part.only(lambda claim: claim is pivot or _ends_before(claim, pivot)) for part in held]
        earlier = [part.only(lambda claim: claim is not pivot and claim.standing == "was") for part in held]
        earlier = [part for part in earlier if part.was]
        if earlier:
            return a.reply(a.tell.past(earlier), 0.2)
        return a.nothing(a.words.no_earlier.format(what=_plainly(a, pivot).text))
    former = [part for part in held if part.was]
    current = next((part for part in held if part.accepted), None)
    if former:
        sentences = a.tell.past(former)
        if current is not None and not a.ask.wants_former:
            now = a.tell.now(current, a.tell.telling(current.relation))
            sentences += [sentence.within(a.words.now) for sentence in now[:2]]
        return a.reply(sentences, 0.2)
    said_before = [part for part in held if part.hearsay and part is current]
    if a.ask.wants_former and said_before:
        telling = a.tell.telling(said_before[0].relation)
        return a.reply([a.tell.hearsay(claim, telling) for claim in said_before[0].hearsay[:3]], 0.6)
    if a.ask.wants_former and current is not None and len(current.accepted) == 1:
        now = a.tell.now(current, a.tell.telling(current.relation))
        return a.nothing(a.words.no_earlier.format(what=now[0].text))
    return None


def _plainly(a: Answering, claim: KnownClaim) -> Told:
    telling = a.tell.telling(relation_of(claim.predicate))
    return a.tell.one(claim, telling, past=claim.standing == "was")


def _ends_before(claim: KnownClaim, other: KnownClaim) -> bool:
    """Whether a former value came before another one."""
    begun = other.since or other.said_at or ""
    return (claim.until or claim.since or claim.said_at or "") <= begun


def first_told(held: Sequence[Held]) -> Held | None:
    """What there is to tell first: what holds before what is disputed, planned, passed on, over or denied."""
    return next((part for name in _STANDINGS for part in held if getattr(part, name)), None)
