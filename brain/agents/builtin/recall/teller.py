"""What is held, in sentences: one part of memory at a time."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.recall.evidence import Held
from brain.agents.builtin.recall.relations import Relation, Telling
from brain.agents.builtin.recall.wording import WORDING, Wording, listed, source, told, value_text
from brain.agents.builtin.text import Language
from brain.agents.turns import KnownClaim, Vocabulary

_MOST = 12


class Teller:
    """Tells claims in one language.

    at_a_time  whether the question is about another time than now
    """

    def __init__(self, language: Language, vocabulary: Vocabulary, *, at_a_time: bool) -> None:
        self.language, self.vocabulary, self.at_a_time = language, vocabulary, at_a_time
        self.words: Wording = WORDING[language]

    def part(self, part: Held) -> tuple[list[str], float]:
        """The sentences about one relation, and how unsure they are."""
        telling = self.telling(part.relation)
        if part.accepted:
            now = self.now(part, telling)
            if part.disputed:
                now += self.disputed(part.disputed, telling)
            if part.was and self.is_single(part.relation) and not self.at_a_time:
                now.append(self.words.before.format(what=self.one(part.was[0], telling, past=True)))
            return now, 0.5 if part.disputed else 0.1
        if part.disputed:
            return self.disputed(part.disputed, telling), 0.6
        if part.planned:
            planned = self.planned(part)
            former = [self.one(claim, telling, past=True) for claim in part.was[:1]]
            return [*planned, *former], 0.4
        if part.hearsay:
            return [self.hearsay(claim, telling) for claim in part.hearsay[:3]], 0.7
        if part.was:
            return [self.words.ended.format(what=self.one(part.was[0], telling, past=True))], 0.4
        return [self.denied(claim, telling) for claim in part.denied[:3]], 0.3

    def planned(self, part: Held) -> list[str]:
        telling = self.telling(part.relation)
        return [
            self.words.planned.format(
                when=claim.since_text or (claim.since or "")[:10], what=told(claim, telling, self.language)
            )
            + source(claim, self.words, bounds=False)
            for claim in part.planned[:3]
        ]

    def now(self, part: Held, telling: Telling) -> list[str]:
        """What holds, several values of one source in one sentence."""
        past = self.at_a_time
        groups: dict[str, list[KnownClaim]] = {}
        for claim in part.accepted[:_MOST]:
            groups.setdefault(f"{claim.subject.id}{source(claim, self.words)}", []).append(claim)
        sentences = []
        for claims in groups.values():
            is_over = past and claims[0].standing == "was"
            shape = telling.was if is_over else telling.now
            if part.relation.by_value:
                sentences += [told(claim, telling, self.language) + source(claim, self.words) for claim in claims]
                continue
            values = listed([value_text(claim, self.language) for claim in claims], self.words)
            sentences.append(shape.format(s=claims[0].subject.name, o=values) + source(claims[0], self.words))
        return sentences

    def past(self, held: Sequence[Held]) -> list[str]:
        return [self.one(claim, self.telling(part.relation), past=True) for part in held[:2] for claim in part.was[:4]]

    def one(self, claim: KnownClaim, telling: Telling, *, past: bool = False) -> str:
        return told(claim, telling, self.language, past=past) + source(claim, self.words)

    def disputed(self, claims: Sequence[KnownClaim], telling: Telling) -> list[str]:
        sentences = []
        for claim in claims[:4]:
            what = told(claim, telling, self.language)
            if claim.by:
                what = self.words.disputed_one.format(who=claim.by.name, date=(claim.said_at or "")[:10], what=what)
            if claim.against:
                who = listed([ref.name for ref in claim.against], self.words)
                what += self.words.comma + self.words.denied_by.format(who=who)
            sentences.append(what)
        sentences[0] = self.words.is_disputed.format(what=sentences[0])
        return sentences

    def hearsay(self, claim: KnownClaim, telling: Telling) -> str:
        what = told(claim, telling, self.language)
        if claim.by is None:
            return self.words.hearsay_unnamed.format(what=what)
        return self.words.hearsay.format(who=claim.by.name, date=(claim.said_at or "")[:10], what=what)

    def denied(self, claim: KnownClaim, telling: Telling) -> str:
        who = listed([ref.name for ref in claim.against], self.words) or (claim.by.name if claim.by else "?")
        return self.words.denied.format(who=who, what=told(claim, telling, self.language))

    def telling(self, relation: Relation) -> Telling:
        return relation.telling[self.language]

    def is_single(self, relation: Relation) -> bool:
        return any(word.name == relation.predicate and word.values != "many" for word in self.vocabulary.predicates)
