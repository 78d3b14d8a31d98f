"""Answers about one relation of what the question is about, and since or until when it holds."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.recall.answering import Answering, Reply, relation_of, with_relations
from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.checks import check_reply, checked_reply
from brain.agents.builtin.recall.evidence import Held, held_for, named_value, standing_at
from brain.agents.builtin.recall.happenings import events_reply, promised_reply
from brain.agents.builtin.recall.statements import told_reply
from brain.agents.builtin.recall.told import Told, cited, stem
from brain.agents.builtin.recall.wording import source, told
from brain.agents.turns import KnownClaim, RecallTurn
from brain.names import fold, words

_DATES = frozenset(("birthday", "anniversary", "deadline", "age"))
_PLACE_WORDS = "city town country village place 城市 国家 地方"
_DAY = len("1990-03-04")


def value_reply(a: Answering) -> Reply:
    """The answer to a question for a value, a yes or no, or a date."""
    if a.ask.is_deed and not (a.ask.kin or a.ask.unknown) and (a.ask.content or a.ask.language == "zh"):
        deeds = events_reply(a)
        if deeds is not None:
            return deeds
    ask = with_own_words(a.ask, a.turn)
    held = held_for(ask, a.turn, a.looked.claims)
    if not held:
        return _age(a) or promised_reply(a) or a.silence()
    if ask.is_check:
        return check_reply(a, held)
    if ask.left:
        held = _narrowed(held, ask)
        if not held:
            return a.silence()
    return when_reply(a, held) if ask.wants_time else told_reply(a, held)


def with_own_words(ask: Ask, turn: RecallTurn) -> Ask:
    """The question with relations that its own words name, when the tables know none."""
    if ask.relations or not ask.subjects:
        return ask
    if (ask.is_check or ask.wants_time) and ask.values:
        return with_relations(ask, tuple(map(relation_of, _linking(ask, turn))))
    content = {stem(word) for word in ask.content}
    own = {
        claim.predicate
        for entry in turn.dossier
        for claim in entry.claims
        if {stem(part) for part in claim.predicate.split("_") if len(part) > 2} & content
    }
    return with_relations(ask, tuple(map(relation_of, sorted(own))))


def _linking(ask: Ask, turn: RecallTurn) -> list[str]:
    """The predicates that link the subjects to the values the question names."""
    about, named = {ref.id for ref in ask.subjects}, {ref.id for ref in ask.values if ref.id}
    claims = (claim for entry in turn.dossier for claim in entry.claims)
    return list(dict.fromkeys(c.predicate for c in claims if c.subject.id in about and c.object.id in named))


def _narrowed(held: Sequence[Held], ask: Ask) -> list[Held]:
    """Only the claims that speak of every word nothing else in the question accounts for."""
    kept = []
    for part in held:
        narrowed = part.only(lambda claim: _speaks_of(claim, ask))
        if not narrowed.is_empty:
            kept.append(narrowed)
    return kept


def _speaks_of(claim: KnownClaim, ask: Ask) -> bool:
    kinds = _PLACE_WORDS if claim.object.type == "Place" else ""
    said = fold(f"{claim.subject.name} {claim.object.name} {claim.object.type or ''} {kinds}")
    if ask.language == "zh":
        return all(word in said for word in ask.left)
    stems = {stem(word) for word in (*words(said), *claim.predicate.split("_"))}
    return all(stem(word) in stems for word in ask.left)


def _age(a: Answering) -> Reply | None:
    """An age worked out from a full date of birth, for the time asked about."""
    if not any(relation.predicate == "age" for relation in a.ask.relations) or a.ask.is_check:
        return None
    at = a.ask.time.last if a.ask.time else a.turn.at[:_DAY]
    born = held_for(with_relations(a.ask, (relation_of("birthday"),)), a.turn)
    claim = next((claim for part in born for claim in part.accepted if len(claim.object.name) == _DAY), None)
    if claim is None or len(at) < _DAY or at < claim.object.name:
        return None
    years = int(at[:4]) - int(claim.object.name[:4]) - (at[4:_DAY] < claim.object.name[4:])
    birthday = a.tell.one(claim, a.tell.telling(relation_of("birthday")))
    return a.reply([birthday.within(a.words.age_now, who=claim.subject.name, years=years, date=at[:_DAY])], 0.1)


def when_reply(a: Answering, held: Sequence[Held]) -> Reply:
    """Since when, until when or when: of the value the question names, else of what is held."""
    ask = a.ask
    named = [(part, claim) for part in held for claim in part.all if named_value(claim, ask)]
    if not named and any(ref.id and ref.type != "Person" for ref in ask.values):
        return promised_reply(a) or events_reply(a) or a.silence()  # it asks of another value than those held
    wanted = named or [
        (part, claim)
        for part in held
        for claim in (part.accepted or part.planned or part.was or part.disputed or part.hearsay)
    ]
    if ask.wants_end:
        wanted = sorted(wanted, key=lambda found: not found[1].until_text)
    if not wanted or wanted[0][0].relation.predicate in _DATES:
        return told_reply(a, held)
    part, claim = wanted[0]
    telling = a.tell.telling(part.relation)
    standing = standing_at(claim, ask)
    if standing in ("denied", "disputed", "hearsay"):
        return checked_reply(a, part, claim)
    what = told(claim, telling, ask.language, past=claim.standing == "was")
    origin = source(claim, a.words, bounds=False)
    if ask.wants_end:
        if claim.until_text:
            return a.reply([a.tell.one(claim, telling, past=claim.standing == "was")], 0.1)
        return a.nothing(a.words.not_over.format(what=what) + origin)
    if claim.since_text and not claim.since_text.startswith("by "):
        if claim.standing == "was":
            return a.reply([a.tell.one(claim, telling, past=True)], 0.1)
        since = a.words.since_when.format(what=what, when=claim.since_text.removeprefix("from "))
        return a.reply([Told(since + origin, cited(claim))], 0.1)
    event = events_reply(a)
    if event is not None:
        return event
    if claim.until_text and claim.standing == "was":
        return a.reply([a.tell.one(claim, telling, past=True)], 0.4)
    return a.nothing(a.words.no_date.format(what=what) + origin, uncertainty=0.8)
