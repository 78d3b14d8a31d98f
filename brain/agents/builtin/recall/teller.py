"""What is held, in sentences: one part of memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from brain.agents.builtin.recall.evidence import Held
from brain.agents.builtin.recall.relations import Relation, Telling
from brain.agents.builtin.recall.told import Told, cited, is_contradicted, negated
from brain.agents.builtin.recall.wording import WORDING, Wording, listed, source, told, value_text
from brain.agents.builtin.text import Language
from brain.agents.turns import KnownClaim, Vocabulary
from brain.names import fold

UNCHANGING = frozenset(("birthday", "anniversary", "comes_from", "species", "breed"))
"""Relations whose value does not change in the world: an earlier one was a mistake or a part of it."""
_FOLLOWED = frozenset(("works_for", "studies_at", "has_role", "reports_to", "partner_of", "works_on"))
_MOST = 12
_FULL_DATE = len("1990-03-04")


class Teller:
    """Tells claims in one language.

    at_a_time  whether the question is about another time than now
    """

    def __init__(self, language: Language, vocabulary: Vocabulary, *, at_a_time: bool) -> None:
        self.language, self.vocabulary, self.at_a_time = language, vocabulary, at_a_time
        self.words: Wording = WORDING[language]

    def part(self, part: Held) -> tuple[list[Told], float]:
        """The sentences about one relation, and how unsure they are."""
        telling = self.telling(part.relation)
        if part.accepted:
            now = self.now(part, telling)
            if part.disputed:
                now += self.disputed(part.disputed, telling)
            elif self.is_single(part.relation) and not self.at_a_time:
                now += self.earlier(part, telling) if part.was else []
                now += [self.differing(claim, telling) for claim in part.hearsay[:2]]
            return now, 0.5 if part.disputed else 0.1
        if part.disputed:
            return self.disputed(part.disputed, telling), 0.6
        if part.planned:
            return [*self.planned(part), *[self.one(claim, telling, past=True) for claim in part.was[:1]]], 0.4
        if part.hearsay:
            return [self.hearsay(claim, telling) for claim in part.hearsay[:3]], 0.7
        if part.was:
            return self.ended(part, telling), 0.4
        return [self.denied(claim, telling) for claim in part.denied[:3]], 0.3

    def earlier(self, part: Held, telling: Telling) -> list[Told]:
        """The value before the one that holds, or one that held at some time before it was told."""
        if part.relation.predicate not in UNCHANGING:
            is_known, _ = part.was[0].ended
            shape = self.words.before if is_known else self.words.once
            return [self.one(part.was[0], telling, past=True).within(shape)]
        said = [claim for claim in part.was if not _is_part(claim.object.name, part.accepted[0].object.name)]
        return [self._also_said(claim, part.accepted[0], telling) for claim in said[:1]]

    def _also_said(self, claim: KnownClaim, holding: KnownClaim, telling: Telling) -> Told:
        """An earlier word on what does not change: part of the answer when it adds what the later one left open."""
        text = told(claim, telling, self.language) + source(claim, self.words, bounds=False)
        adds = claim.object.name.startswith("--") is not holding.object.name.startswith("--")
        is_open = len(claim.object.name) != _FULL_DATE and len(holding.object.name) != _FULL_DATE
        return Told(text, cited(claim) if adds and is_open else ()).within(self.words.earlier_said)

    def differing(self, claim: KnownClaim, telling: Telling) -> Told:
        """Another's word that did not prevail."""
        who, date = claim.by.name if claim.by else "?", (claim.said_at or "")[:10]
        what = told(claim, telling, self.language, past=claim.until is not None)
        return Told(self.words.differs.format(who=who, date=date, what=what), (claim.assertion_id,))

    def ended(self, part: Held, telling: Telling) -> list[Told]:
        """What is over; that nothing followed is said only where one value usually follows another."""
        is_followed = self.is_single(part.relation) or part.relation.predicate in _FOLLOWED
        shape = self.words.ended if is_followed and not self.at_a_time else self.words.not_now
        return [self.one(claim, telling, past=True).within(shape) for claim in part.was[:3]]

    def planned(self, part: Held) -> list[Told]:
        """What is to begin."""
        telling = self.telling(part.relation)
        return [
            Told(
                self.words.planned.format(
                    when=claim.since_text or (claim.since or "")[:10], what=told(claim, telling, self.language)
                )
                + source(claim, self.words, bounds=False),
                cited(claim),
            )
            for claim in part.planned[:3]
        ]

    def now(self, part: Held, telling: Telling) -> list[Told]:
        """What holds, several values of one source in one sentence."""
        groups: dict[str, list[KnownClaim]] = {}
        for claim in part.accepted[:_MOST]:
            groups.setdefault(f"{claim.subject.id}{claim.standing}{source(claim, self.words)}", []).append(claim)
        sentences = []
        for claims in groups.values():
            is_over = self.at_a_time and claims[0].standing == "was"
            if part.relation.by_value or len(claims) == 1:
                sentences += [self.one(claim, telling, past=is_over) for claim in claims]
                continue
            values = listed([value_text(claim, self.language) for claim in claims], self.words)
            shape = telling.was if is_over else telling.now
            text = shape.format(s=claims[0].subject.name, o=values) + source(claims[0], self.words)
            sentences.append(Told(text, tuple(i for claim in claims for i in cited(claim))))
        return sentences

    def past(self, held: Sequence[Held]) -> list[Told]:
        """What held earlier, of at most two relations."""
        return [self.one(claim, self.telling(part.relation), past=True) for part in held[:2] for claim in part.was[:4]]

    def one(self, claim: KnownClaim, telling: Telling, *, past: bool = False) -> Told:
        """One claim, with its bounds and source, and who denies what it tells as former."""
        bounds = claim.predicate not in UNCHANGING
        text = told(claim, telling, self.language, past=past) + source(claim, self.words, bounds=bounds)
        if claim.standing == "was" and claim.against:
            who = listed([ref.name for ref in claim.against], self.words)
            text += self.words.semicolon + self.words.denied_by.format(who=who)
        return Told(text, cited(claim))

    def disputed(self, claims: Sequence[KnownClaim], telling: Telling) -> list[Told]:
        """Every side of a disagreement, or that there is one whose other side is not to be seen."""
        if len(claims) == 1 and not claims[0].against:
            what = Told(told(claims[0], telling, self.language, past=claims[0].is_over), cited(claims[0]))
            return [Told(what.within(self.words.one_sided).text + source(claims[0], self.words), what.ids)]
        sentences = []
        for claim in claims[:4]:
            text = told(claim, telling, self.language, past=claim.is_over)
            if claim.by:
                text = self.words.disputed_one.format(who=claim.by.name, date=(claim.said_at or "")[:10], what=text)
            if claim.against:
                who = listed([ref.name for ref in claim.against], self.words)
                text += self.words.semicolon + self.words.denied_by.format(who=who)
            sentences.append(Told(text, cited(claim)))
        return [sentences[0].within(self.words.is_disputed), *sentences[1:]]

    def hearsay(self, claim: KnownClaim, telling: Telling) -> Told:
        """What somebody passed on."""
        what = Told(told(claim, telling, self.language), cited(claim))
        if claim.by is None:
            return what.within(self.words.hearsay_unnamed)
        return what.within(self.words.hearsay, who=claim.by.name, date=(claim.said_at or "")[:10])

    def denied(self, claim: KnownClaim, telling: Telling) -> Told:
        """What is not so: by the word of whom it is about, or of others; and who says otherwise."""
        turned = Telling(negated(telling.now, self.language), telling.was, telling.topic)
        what = Told(told(claim, turned, self.language), cited(claim))
        if is_contradicted(claim):
            what = what.within(self.words.denied_word, who=listed([ref.name for ref in claim.against], self.words))
            return Told(what.text + self.words.semicolon + self.differing(claim, telling).text, what.ids)
        if claim.by is None or claim.by.id == claim.subject.id:
            return Told(what.text + source(claim, self.words), what.ids)
        return what.within(self.words.denied, who=claim.by.name, date=(claim.said_at or "")[:10])

    def telling(self, relation: Relation) -> Telling:
        return relation.telling[self.language]

    def is_single(self, relation: Relation) -> bool:
        """Whether one value at a time holds; one per type of value counts."""
        return any(word.name == relation.predicate and word.values != "many" for word in self.vocabulary.predicates)

    def by_standing(self, claim: KnownClaim, telling: Telling) -> list[Told]:
        """One claim, told as it stands; what was taken back is not told."""
        tells: dict[str, Callable[[], list[Told]]] = {
            "disputed": lambda: self.disputed([claim], telling),
            "hearsay": lambda: [self.hearsay(claim, telling)],
            "denied": lambda: [self.denied(claim, telling)],
            "was": lambda: [self.one(claim, telling, past=True)],
            "withdrawn": list,
        }
        return tells.get(claim.standing, lambda: [self.one(claim, telling)])()


def _is_part(less: str, more: str) -> bool:
    """Whether a date is the other one told less precisely: `1990`, `1990-03` or `--03-04` of `1990-03-04`."""
    short, full = fold(less), fold(more)
    return full.startswith(short) or (short.startswith("--") and full.endswith(short[1:]))
