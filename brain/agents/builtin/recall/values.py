"""Answers about one relation of what the question is about: what it is, whether it is so, since when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brain.agents.builtin.recall.answering import Answering, Reply, relation_of, with_relations
from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.evidence import Held, held_for, named_value, standing_at
from brain.agents.builtin.recall.happenings import events_reply, promise_told, promised_reply
from brain.agents.builtin.recall.relations import telling_of
from brain.agents.builtin.recall.told import Told, cited, uncited
from brain.agents.builtin.recall.wording import source, told
from brain.agents.builtin.text import language_of
from brain.agents.turns import KnownClaim, RecallTurn
from brain.names import fold, words

_RANKS = {"accepted": 0, "disputed": 1, "denied": 2, "was": 3, "hearsay": 4, "planned": 5}
_DATES = frozenset(("birthday", "anniversary", "deadline", "age"))
_OPEN = frozenset(
    ("anybody", "anyone", "else", "one", "something", "certain", "married", "single", "have", "has", "own")
)
_VALUE_WORDS = frozenset(
    ("diabetes", "diabetic", "asthma", "vegan", "vegetarian", "pescatarian", "halal", "kosher", "keto", "gluten")
)
"""Words that ask for a relation and name its value in one."""
_PLACE_WORDS = "city town country village place 城市 国家 地方"
_DAY = len("1990-03-04")
_STANDINGS = ("accepted", "disputed", "planned", "hearsay", "was", "denied")


def value_reply(a: Answering) -> Reply:
    """The answer to a question for a value, a yes or no, or a date."""
    if a.ask.is_deed and (a.ask.content or a.ask.language == "zh"):
        deeds = events_reply(a)
        if deeds is not None:
            return deeds
    ask = with_own_words(a.ask, a.turn)
    held = held_for(ask, a.turn, a.looked.claims)
    if not held:
        return _age(a) or promised_reply(a) or a.silence()
    if ask.is_check:
        return _check(a, held)
    if ask.left:
        held = _narrowed(held, ask)
        if not held:
            return a.silence()
    return _when(a, held) if ask.wants_time else told_reply(a, held)


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


# what it is


def told_reply(a: Answering, held: Sequence[Held]) -> Reply:
    """What is held, as it stands, in the tense of the question."""
    ask, tell = a.ask, a.tell
    if (ask.wants_past or ask.wants_former) and ask.time is None:
        past = _past(a, held)
        if past is not None:
            return past
    if ask.wants_future:
        return _future(a, held)
    first = _best(held)
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
    if ask.wants_count and first.accepted:
        sentences[0] = sentences[0].within(a.words.counted, count=len(first.accepted))
    return a.reply(sentences, uncertainty)


def _future(a: Answering, held: Sequence[Held]) -> Reply:
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
            sentences += [uncited(sentence).within(a.words.now) for sentence in now[:2]]
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


def _best(held: Sequence[Held]) -> Held | None:
    return next((part for name in _STANDINGS for part in held if getattr(part, name)), None)


# yes or no


def _check(a: Answering, held: Sequence[Held]) -> Reply:
    ask = a.ask
    named = [(part, claim) for part in held for claim in part.all if named_value(claim, ask)]
    if len(ask.subjects) > 1 and not ask.is_group and not ask.several:
        return told_reply(a, held)  # each is told; what they have in common is for the reader to see
    if ask.wants_future and not any(claim.standing == "planned" for _, claim in named):
        return _future(a, held)
    opposite = _opposite(a)
    if opposite is not None and not any(standing_at(claim, ask) == "accepted" for _, claim in named):
        return a.reply([a.tell.one(opposite, telling_of(opposite.predicate, ask.language)).within(a.words.no)], 0.1)
    if named:
        part, claim = min(named, key=lambda found: _RANKS.get(standing_at(found[1], ask) or "", 9))
        return _checked(a, part, claim)
    gone = next(((part, claim) for part in held for claim in part.withdrawn if named_value(claim, ask)), None)
    if gone is not None:
        return a.taken_back(gone[1], gone[0])
    if _names_other(ask, held):
        best = _best(held)
        if best is not None and best.accepted and a.tell.is_single(best.relation):
            what = a.tell.now(best, a.tell.telling(best.relation))[0]
            return a.reply([what.within(a.words.as_far)], 0.3)
        return a.nothing(a.words.not_said.format(name=held[0].subject.name))
    best = _best(held)
    is_over = best is not None and bool(best.was) and best.is_over
    if best is not None and is_over and ask.time is None and not (ask.wants_past or ask.wants_former):
        past = a.tell.past([best])
        return a.reply([past[0].within(a.words.not_now), *past[1:]], 0.3)
    told = told_reply(a, held)
    is_so = told.found and not ask.is_narrower and best is not None and bool(best.accepted)
    return replace(told, text=a.words.yes.format(what=told.text)) if is_so else told


def _checked(a: Answering, part: Held, claim: KnownClaim) -> Reply:
    telling, words = a.tell.telling(part.relation), a.words
    narrower = a.ask.left - set(words_of(claim))
    match standing_at(claim, a.ask):
        case "accepted" if narrower and a.ask.language == "en":
            return a.reply([a.tell.one(claim, telling).within(words.not_exactly)], 0.5)
        case "accepted":
            is_over = claim.standing == "was"
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
            return a.reply([a.tell.hearsay(claim, telling), *map(uncited, _instead(a, part))], 0.7)
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


def _opposite(a: Answering) -> KnownClaim | None:
    """A dislike of what the question asks a liking of, and the other way round."""
    turned = {"likes": "dislikes", "prefers": "dislikes", "dislikes": "likes"}
    wanted = {turned.get(relation.predicate) for relation in a.ask.relations}
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


# when


def _when(a: Answering, held: Sequence[Held]) -> Reply:
    ask = a.ask
    named = [(part, claim) for part in held for claim in part.all if named_value(claim, ask)]
    if not named and ask.values and any(ref.type not in ("Person", None) for ref in ask.values):
        named = []
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
        return _checked(a, part, claim)
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


def stem(word: str) -> str:
    """A word without its ending."""
    plain = fold(word)
    for ending in ("ing", "ed", "es", "s"):
        if plain.endswith(ending) and len(plain) > len(ending) + 2:
            return plain[: -len(ending)]
    return plain


def words_of(claim: KnownClaim) -> list[str]:
    """The words of a claim's two ends."""
    return words(f"{claim.subject.name} {claim.object.name}")
