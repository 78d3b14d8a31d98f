"""An answer in words, from what the dossier holds; every value in it is one that memory returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.chinese import Chinese
from brain.agents.builtin.recall.english import English
from brain.agents.builtin.recall.evidence import Held, held_for, holders, named_value, standing_at
from brain.agents.builtin.recall.happenings import commitments_for, events_for
from brain.agents.builtin.recall.naming import with_given_names
from brain.agents.builtin.recall.relations import Relation, telling_of
from brain.agents.builtin.recall.teller import Teller
from brain.agents.builtin.recall.wording import (
    WORDING,
    Wording,
    commitment_text,
    event_date,
    event_text,
    source,
    told,
)
from brain.agents.builtin.text import clean, language_of
from brain.agents.turns import KnownClaim, RecallTurn
from brain.names import fold

_MOST = 12


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with its own report.

    found        whether memory held what was asked
    uncertainty  0 to 1
    """

    text: str
    found: bool
    uncertainty: float


def ask_of(turn: RecallTurn) -> Ask:
    """The question of a turn, taken apart."""
    text = " ".join(clean(turn.question[:2_000]).split())
    return Chinese(turn, text).ask() if language_of(text) == "zh" else English(turn, text).ask()


def reply_to(ask: Ask, turn: RecallTurn, extra: Sequence[KnownClaim] = ()) -> Reply:
    """The answer to a question.

    extra  claims read beyond the dossier
    """
    return _Answer(_renamed(ask, turn), with_given_names(turn), extra).reply()


class _Answer:
    def __init__(self, ask: Ask, turn: RecallTurn, extra: Sequence[KnownClaim]) -> None:
        self.ask, self.turn, self.extra = ask, turn, extra
        self.words: Wording = WORDING[ask.language]
        self.tell = Teller(ask.language, turn.vocabulary, at_a_time=ask.time is not None)

    def reply(self) -> Reply:
        match self.ask.form:
            case "rules":
                return self._rules()
            case "commitments":
                return self._commitments()
            case "reverse":
                return self._reverse()
            case "profile":
                return self._profile()
            case "events":
                return self._events() or self._silence()
            case _:
                return self._value()

    # what is held under a relation

    def _value(self) -> Reply:
        if self.ask.is_deed and (self.ask.content or self.ask.language == "zh"):
            deeds = self._events()
            if deeds is not None:
                return deeds
        held = held_for(self._with_words(), self.turn, self.extra)
        if not held:
            return self._silence()
        if self.ask.is_check:
            return self._check(held)
        if self.ask.wants_time:
            return self._when(held)
        return self._told(held)

    def _with_words(self) -> Ask:
        """The question with relations of this Space that its own words name, when the tables know none."""
        if self.ask.relations or not self.ask.subjects:
            return self.ask
        if self.ask.is_check and self.ask.values:
            return _with_relations(self.ask, tuple(map(_relation, self._linking())))
        content = {_stem(word) for word in self.ask.content}
        own = {
            claim.predicate: claim
            for entry in self.turn.dossier
            for claim in entry.claims
            if {_stem(part) for part in claim.predicate.split("_") if len(part) > 2} & content
        }
        return _with_relations(self.ask, tuple(_relation(name) for name in own))

    def _linking(self) -> list[str]:
        """The predicates that link the subjects to the values the question names."""
        about, named = {ref.id for ref in self.ask.subjects}, {ref.id for ref in self.ask.values if ref.id}
        claims = (claim for entry in self.turn.dossier for claim in entry.claims)
        return list(dict.fromkeys(c.predicate for c in claims if c.subject.id in about and c.object.id in named))

    def _told(self, held: Sequence[Held]) -> Reply:
        if self.ask.wants_past and self.ask.time is None:
            former = [part for part in held if part.was]
            if former:
                return Reply(self._sentences(self.tell.past(former)), True, 0.2)
        if self.ask.wants_future:
            planned = next((part for part in held if part.planned), None)
            if planned is not None:
                return Reply(self._sentences(self.tell.planned(planned)), True, 0.3)
        first = self._best(held)
        if first is None:
            withdrawn = next((claim for part in held for claim in part.withdrawn), None)
            return self._taken_back(withdrawn, held[0]) if withdrawn else self._silence()
        parts = [part for part in held if part is first or (part.accepted and first.accepted)][:3]
        sentences, uncertainty = [], 0.1
        for part in parts:
            told_part, doubt = self.tell.part(part)
            sentences += told_part
            uncertainty = max(uncertainty, doubt)
        if self.ask.wants_count and first.accepted:
            sentences[0] = self.words.counted.format(count=len(first.accepted), what=sentences[0])
        return Reply(self._sentences(sentences), True, uncertainty)

    def _best(self, held: Sequence[Held]) -> Held | None:
        for member in ("accepted", "disputed", "planned", "hearsay", "was", "denied"):
            for part in held:
                if getattr(part, member):
                    return part
        return None

    # yes or no

    def _check(self, held: Sequence[Held]) -> Reply:
        named = [(part, claim) for part in held for claim in part.all if named_value(claim, self.ask)]
        opposite = self._opposite()
        if opposite is not None and not any(standing_at(claim, self.ask) == "accepted" for _, claim in named):
            return Reply(
                self._sentences(
                    [
                        self.words.no.format(
                            what=self.tell.one(opposite, telling_of(opposite.predicate, self.ask.language))
                        )
                    ]
                ),
                True,
                0.1,
            )
        if named:
            part, claim = min(named, key=lambda found: _RANKS.get(standing_at(found[1], self.ask) or "", 9))
            return self._checked(part, claim)
        gone = next(((part, claim) for part in held for claim in part.withdrawn if named_value(claim, self.ask)), None)
        if gone is not None:
            return self._taken_back(gone[1], gone[0])
        if self._names_other(held):
            best = self._best(held)
            if best is not None and best.accepted and self.tell.is_single(best.relation):
                what = self.tell.now(best, self.tell.telling(best.relation))[0]
                return Reply(self._sentences([self.words.as_far.format(what=what)]), True, 0.3)
            return Reply(self._sentences([self.words.not_said]), False, 0.9)
        return self._told(held)

    def _checked(self, part: Held, claim: KnownClaim) -> Reply:
        telling = self.tell.telling(part.relation)
        one = self.tell.one(claim, telling)
        match standing_at(claim, self.ask):
            case "accepted":
                return Reply(self._sentences([self.words.yes.format(what=one)]), True, 0.1)
            case "was" if self.ask.wants_past or self.ask.text.lower().startswith(("did", "was", "were")):
                return Reply(
                    self._sentences([self.words.yes.format(what=self.tell.one(claim, telling, past=True))]), True, 0.2
                )
            case "was":
                sentences = [self.words.not_now.format(what=self.tell.one(claim, telling, past=True))]
                if part.accepted and self.tell.is_single(part.relation):
                    sentences += self.tell.now(part, telling)
                return Reply(self._sentences(sentences), True, 0.2)
            case "denied":
                return Reply(self._sentences([self.words.no.format(what=self.tell.denied(claim, telling))]), True, 0.2)
            case "disputed":
                return Reply(self._sentences(self.tell.disputed([claim], telling)), True, 0.6)
            case "hearsay":
                return Reply(self._sentences([self.tell.hearsay(claim, telling)]), True, 0.7)
            case _:
                return Reply(self._sentences(self.tell.part(part)[0]), True, 0.4)

    def _opposite(self) -> KnownClaim | None:
        """A dislike of what the question asks a liking of, and the other way round."""
        turned = {"likes": "dislikes", "prefers": "dislikes", "dislikes": "likes"}
        wanted = {turned.get(relation.predicate) for relation in self.ask.relations}
        ids = {ref.id for ref in self.ask.subjects}
        for entry in self.turn.dossier:
            for claim in entry.claims:
                is_turned = claim.predicate in wanted and claim.subject.id in ids and claim.standing == "accepted"
                if is_turned and named_value(claim, self.ask):
                    return claim
        return None

    def _names_other(self, held: Sequence[Held]) -> bool:
        """Whether the question names a value that none of the claims has."""
        if self.ask.language == "zh":
            return True if self.ask.values else not _OPEN_ZH & set(self.ask.text)
        asked = " ".join(sorted(self.ask.content))
        left = {word for word in self.ask.content if not any(part.relation.asks["en"].search(word) for part in held)}
        return bool(left - _OPEN) and bool(asked)

    # when

    def _when(self, held: Sequence[Held]) -> Reply:
        named = [(part, claim) for part in held for claim in part.all if named_value(claim, self.ask)]
        wanted = named or [(part, claim) for part in held for claim in (part.accepted or part.planned or part.was)]
        if not wanted:
            return self._told(held)
        part, claim = wanted[0]
        telling = self.tell.telling(part.relation)
        if part.relation.predicate in _DATES:
            return self._told(held)
        what = told(claim, telling, self.ask.language, past=claim.standing == "was")
        if not claim.since_text or claim.since_text.startswith("by "):
            event = self._events()
            if event is not None:
                return event
            return Reply(self._sentences([self.words.no_date.format(what=what) + source(claim, self.words)]), True, 0.5)
        since = self.words.since_when.format(what=what, when=claim.since_text)
        return Reply(self._sentences([since + source(claim, self.words, bounds=False)]), True, 0.1)

    # the other forms

    def _reverse(self) -> Reply:
        relation = self.ask.relations[0]
        telling = self.tell.telling(relation)
        claims = holders(self.ask, self.turn, self.extra)
        by: dict[str, list[KnownClaim]] = {}
        for claim in claims:
            by.setdefault(standing_at(claim, self.ask) or "", []).append(claim)
        sentences = [self.tell.one(claim, telling) for claim in by.get("accepted", ())[:_MOST]]
        doubt = 0.1
        if by.get("disputed"):
            sentences += self.tell.disputed(by["disputed"], telling)
            doubt = 0.5
        if not sentences and by.get("hearsay"):
            sentences, doubt = [self.tell.hearsay(claim, telling) for claim in by["hearsay"][:4]], 0.7
        if not sentences and by.get("was"):
            sentences = [
                self.words.ended.format(what=self.tell.one(claim, telling, past=True)) for claim in by["was"][:4]
            ]
            doubt = 0.4
        if not sentences:
            return Reply(self._sentences([self.words.nobody]), False, 0.9)
        return Reply(self._sentences(sentences), True, doubt)

    def _profile(self) -> Reply:
        if not self.ask.subjects:
            return self._silence()
        subject = self.ask.subjects[0]
        claims = [
            claim
            for entry in self.turn.dossier
            if entry.who.id == subject.id
            for claim in entry.claims
            if claim.standing in ("accepted", "disputed", "hearsay")
        ]
        sentences = []
        for claim in claims[:_MOST]:
            telling = telling_of(claim.predicate, self.ask.language)
            if claim.standing == "disputed":
                sentences += self.tell.disputed([claim], telling)
            else:
                is_hearsay = claim.standing == "hearsay"
                sentences.append(self.tell.hearsay(claim, telling) if is_hearsay else self.tell.one(claim, telling))
        involved = [event for event in self.turn.events if any(ref.id == subject.id for ref in event.who)]
        sentences += [event_text(event, self.words) for event in involved[:3]]
        if not sentences:
            return self._silence()
        if self.turn.cut:
            sentences.append(self.words.not_shown)
        return Reply(self._sentences(sentences), True, 0.2)

    def _events(self) -> Reply | None:
        events = events_for(self.ask, self.turn)
        if not events:
            return None
        if self.ask.wants_time and event_date(events[0]):
            return Reply(self._sentences([event_text(events[0], self.words)]), True, 0.1)
        return Reply(self._sentences([event_text(event, self.words) for event in events[:6]]), True, 0.2)

    def _commitments(self) -> Reply:
        known = commitments_for(self.ask, self.turn)
        if known:
            return Reply(self._sentences([commitment_text(item, self.words) for item in known[:8]]), True, 0.1)
        if self.ask.unknown:
            return self._silence()
        if self.ask.relations:
            held = held_for(self.ask, self.turn, self.extra)
            if any(part.planned for part in held):
                return self._told([part for part in held if part.planned])
        return self._events() or Reply(self._sentences([self.words.no_commitments]), False, 0.9)

    def _rules(self) -> Reply:
        rules = [rule.summary.rstrip("。.") for rule in self.turn.rules if rule.is_constraint]
        if not rules:
            return Reply(self._sentences([self.words.no_rules]), False, 0.9)
        return Reply(self._sentences([self.words.rules.format(what="; ".join(rules[:8]))]), True, 0.1)

    # silence

    def _silence(self) -> Reply:
        """Which nothing it is: an unknown name, an unknown asker, a time without record, or nothing at all."""
        if self.ask.unknown in ("you", "你"):
            text = self.words.who_asks
        elif self.ask.unknown:
            text = self.words.unknown.format(name=self.ask.unknown)
        elif self.ask.subjects and self.ask.relations:
            subject = self.ask.subjects[0].name
            topic = self.tell.telling(self.ask.relations[0]).topic.format(s=subject, o=subject)
            shape = self.words.no_record_then if self.ask.time else self.words.no_record
            text = shape.format(topic=topic, when=self.ask.time.on if self.ask.time else "")
        elif self.ask.form == "events":
            text = self.words.no_events
        else:
            text = self.words.nothing
        return Reply(self._sentences([text]), False, 0.9)

    def _taken_back(self, claim: KnownClaim, part: Held) -> Reply:
        topic = self.tell.telling(part.relation).topic.format(s=part.subject.name, o=part.subject.name)
        who = claim.by.name if claim.by else part.subject.name
        return Reply(self._sentences([self.words.taken_back.format(who=who, topic=topic)]), False, 0.6)

    def _sentences(self, parts: Sequence[str]) -> str:
        unique = [_capital(part.strip().rstrip("。.")) for part in dict.fromkeys(parts) if part.strip()]
        return "".join(f"{part}{self.words.stop}" for part in unique).strip()


_RANKS = {"accepted": 0, "disputed": 1, "denied": 2, "was": 3, "hearsay": 4, "planned": 5}
_DATES = frozenset(("birthday", "anniversary", "deadline", "age"))
_OPEN = frozenset(
    ("anybody", "anyone", "else", "one", "something", "certain", "married", "single", "have", "has", "own")
)
_OPEN_ZH = frozenset("什几哪")


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _renamed(ask: Ask, turn: RecallTurn) -> Ask:
    """The question with its subjects called as the answer calls them."""
    names = {entry.who.id: entry.who for entry in with_given_names(turn).dossier}
    return replace(ask, subjects=tuple(names.get(ref.id, ref) for ref in ask.subjects))


def _stem(word: str) -> str:
    plain = fold(word)
    for ending in ("ing", "ed", "es", "s"):
        if plain.endswith(ending) and len(plain) > len(ending) + 2:
            return plain[: -len(ending)]
    return plain


def _relation(name: str) -> Relation:
    """A relation the tables do not know, told in its own words."""
    return Relation(name, {"en": telling_of(name, "en"), "zh": telling_of(name, "zh")}, {}, {"en": None, "zh": None})


def _with_relations(ask: Ask, relations: tuple[Relation, ...]) -> Ask:
    return replace(ask, relations=relations)
