"""Answers to yes-or-no questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brain.agents.builtin.recall.answering import Answering, Reply
from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.english_forms import ALONE, TO_VALUE
from brain.agents.builtin.recall.evidence import Held, held_for, named_value, standing_at
from brain.agents.builtin.recall.noted import endings
from brain.agents.builtin.recall.opposites import OPPOSITES
from brain.agents.builtin.recall.relations import telling_of
from brain.agents.builtin.recall.statements import first_told, future_reply, told_reply
from brain.agents.builtin.recall.told import Told, is_contradicted, stem, words_of
from brain.agents.turns import KnownClaim

_DATES = frozenset(("deadline", "birthday", "anniversary", "age"))
_RANKS = {"accepted": 0, "disputed": 1, "denied": 2, "was": 3, "hearsay": 4, "planned": 5}
_OPEN = frozenset(
    ("anybody", "anyone", "else", "one", "something", "certain", "married", "single", "have", "has", "own")
)
_VALUE_WORDS = frozenset(
    ("diabetes", "diabetic", "asthma", "vegan", "vegetarian", "pescatarian", "halal", "kosher", "keto", "gluten")
)
"""Words that ask for a relation and name its value in one."""


def check_reply(a: Answering, held: Sequence[Held]) -> Reply:
    """Whether it is so: of the value the question names, else whether there is one at all."""
    ask = a.ask
    named = [(part, claim) for part in held for claim in part.all if named_value(claim, ask)]
    if len(ask.subjects) > 1 and not ask.is_group and not ask.several:
        return told_reply(a, held)  # each is told; what they have in common is for the reader to see
    if ask.wants_future and not any(claim.standing == "planned" for _, claim in named):
        return future_reply(a, held)
    if ask.asks_change and ask.relations[0].predicate != "lives_in":
        return _change_reply(a)
    contrary = _contrary(a, named)
    if contrary:
        return a.reply(contrary, 0.1)
    if named:
        part, claim = min(named, key=lambda found: _RANKS.get(standing_at(found[1], ask) or "", 9))
        return checked_reply(a, part, claim)
    gone = next(((part, claim) for part in held for claim in part.withdrawn if named_value(claim, ask)), None)
    if gone is not None:
        return a.taken_back(gone[1], gone[0])
    if _names_other(ask, held):
        best = first_told(held)
        is_dated = best is not None and best.relation.predicate in _DATES and ask.time is None
        if best is not None and best.accepted and a.tell.is_single(best.relation) and not is_dated:
            what = a.tell.now(best, a.tell.telling(best.relation))[0]
            return a.reply([what.within(a.words.as_far)], 0.3)
        return a.nothing(a.words.not_said.format(name=held[0].subject.name))
    best = first_told(held)
    is_over = best is not None and bool(best.was) and best.is_over
    if best is not None and is_over and ask.time is None and not (ask.wants_past or ask.wants_former):
        past = a.tell.past([best])
        return a.reply([past[0].within(a.words.not_now), *past[1:]], 0.3)
    told = told_reply(a, held)
    if told.found and ALONE.search(ask.text) and best is not None and best.accepted:
        return replace(told, text=a.words.no.format(what=told.text))
    is_doubted = best is not None and bool(endings(a, best.accepted))
    is_so = told.found and not is_doubted and not ask.is_narrower and best is not None and bool(best.accepted)
    return replace(told, text=a.words.yes.format(what=told.text)) if is_so else told


def _change_reply(a: Answering) -> Reply:
    """Whether a value changed: from the values that were held one after the other; that none is known is no no."""
    now = replace(a.ask, time=None, is_before=False)
    held = held_for(now, a.turn, a.looked.claims)
    part = next((part for part in held if part.accepted and part.was), None)
    days = {when.start for when in (a.ask.window, a.ask.time) if when is not None}
    is_to = bool(days) and TO_VALUE.search(a.ask.text) is not None
    if part is None or (is_to and part.accepted[0].object.name not in days):
        return a.nothing(a.words.not_said.format(name=a.ask.subjects[0].name))
    telling = a.tell.telling(part.relation)
    told = [sentence.within(a.words.yes) for sentence in a.tell.now(part, telling)[:1]]
    return a.reply(
        [*told, *[a.tell.one(claim, telling, past=True).within(a.words.before) for claim in part.was[:1]]], 0.1
    )


def checked_reply(a: Answering, part: Held, claim: KnownClaim) -> Reply:
    """Whether one claim is so, by how it stands at the question's time."""
    telling, words = a.tell.telling(part.relation), a.words
    narrower = a.ask.left - set(words_of(claim))
    match standing_at(claim, a.ask):
        case "accepted" if narrower and a.ask.language == "en":
            return a.reply([a.tell.one(claim, telling).within(words.not_exactly)], 0.5)
        case "accepted" if a.ask.wants_end and a.ask.time is None:
            return a.nothing(words.not_over.format(what=a.tell.one(claim, telling).text), uncertainty=0.6)
        case "accepted":
            is_over = claim.standing == "was"
            later = endings(a, [claim]) if a.ask.time is None else []
            if later:
                return a.reply([a.tell.one(claim, telling), *later], 0.5)
            return a.reply([a.tell.one(claim, telling, past=is_over).within(words.yes)], 0.1)
        case "was" if a.ask.wants_past or a.ask.wants_former:
            return a.reply([a.tell.one(claim, telling, past=True).within(words.yes)], 0.2)
        case "was":
            sentences = [a.tell.one(claim, telling, past=True).within(words.not_now)]
            return a.reply([*sentences, *_instead(a, part)], 0.2)
        case "denied":
            return a.reply([a.tell.denied(claim, telling).within(words.no), *_instead(a, part)], 0.2)
        case "disputed":
            return a.reply(a.tell.disputed([claim, *_other_sides(part, claim, a)], telling), 0.6)
        case "hearsay":
            return a.reply([a.tell.hearsay(claim, telling), *_instead(a, part)], 0.7)
        case _:
            return a.reply(a.tell.part(part)[0], 0.4)


def _other_sides(part: Held, claim: KnownClaim, a: Answering) -> list[KnownClaim]:
    """What others say instead, where one value at a time holds."""
    if not a.tell.is_single(part.relation):
        return []
    return [other for other in part.disputed if other.proposition_id != claim.proposition_id]


def _instead(a: Answering, part: Held) -> list[Told]:
    """What holds in place of a value that does not."""
    if not part.accepted or not a.tell.is_single(part.relation):
        return []
    return a.tell.now(part, a.tell.telling(part.relation))


def _contrary(a: Answering, named: Sequence[tuple[Held, KnownClaim]]) -> list[Told]:
    """A dislike of what the question asks a liking of, with who says otherwise; empty when there is none to tell."""
    opposite = _opposite(a)
    stands = {standing_at(claim, a.ask): claim for _, claim in named}
    if opposite is None or stands.keys() & {"accepted", "disputed"} or (a.ask.wants_past and "was" in stands):
        return []
    told = [a.tell.one(opposite, telling_of(opposite.predicate, a.ask.language)).within(a.words.no)]
    denied = stands.get("denied")
    if denied is not None and is_contradicted(denied):
        told.append(a.tell.differing(denied, telling_of(denied.predicate, a.ask.language)))
    return told


def _opposite(a: Answering) -> KnownClaim | None:
    """A dislike of what the question asks a liking of, and the other way round."""
    wanted = {name for relation in a.ask.relations for name in OPPOSITES.get(relation.predicate, ())}
    ids = {ref.id for ref in a.ask.subjects}
    for entry in a.turn.dossier:
        for claim in entry.claims:
            is_turned = claim.predicate in wanted and claim.subject.id in ids and claim.standing == "accepted"
            if is_turned and named_value(claim, a.ask):
                return claim
    return None


def _names_other(ask: Ask, held: Sequence[Held]) -> bool:
    """Whether the question names a value that none of the claims has."""
    if _VALUE_WORDS & ask.content:
        return True
    if ask.language == "zh":
        about = {ref.id for part in held for claim in part.all for ref in (claim.subject, claim.object)}
        return bool(ask.left) or any(ref.id not in about and ref.name not in ask.kinds for ref in ask.values)
    left = {word for word in ask.content if not any(_asked_by(part, word) for part in held)}
    return bool(left - _OPEN)


def _asked_by(part: Held, word: str) -> bool:
    asks = part.relation.asks.get("en")
    if asks is None:
        return stem(word) in {stem(piece) for piece in part.relation.predicate.split("_")}
    return asks.search(word) is not None
