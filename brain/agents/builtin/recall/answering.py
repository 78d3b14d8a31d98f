"""What every kind of answer has at hand: the question, what is known, the words; and how nothing is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.evidence import Held
from brain.agents.builtin.recall.lookup import Looked
from brain.agents.builtin.recall.relations import RELATIONS, Relation, telling_of
from brain.agents.builtin.recall.teller import Teller
from brain.agents.builtin.recall.told import Told, ids_of
from brain.agents.builtin.recall.wording import WORDING, Wording
from brain.agents.turns import KnownClaim, RecallTurn, Ref
from brain.store.base import ElementId

_OPEN = 0.9
_CALLED = frozenset(("Person", "Project", "Organization", "Pet", "Product", "Tool"))
"""Types whose names keep their spelling at the head of a sentence."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with its own report.

    found        whether memory held what was asked
    uncertainty  0 to 1
    rests_on     the elements that carry it; none when nothing was found
    is_definite  whether "nothing" is itself what memory says: a word that was taken back, a date that is not known
    """

    text: str
    found: bool
    uncertainty: float
    rests_on: tuple[ElementId, ...] = ()
    is_definite: bool = False


class Answering:
    """A question being answered.

    turn    what is known, people called as the answer calls them
    looked  what was read beyond it
    """

    def __init__(self, ask: Ask, turn: RecallTurn, looked: Looked) -> None:
        self.ask, self.turn, self.looked = ask, turn, looked
        self.words: Wording = WORDING[ask.language]
        self.tell = Teller(ask.language, turn.vocabulary, at_a_time=ask.time is not None)
        self._names = tuple({entry.who.name for entry in turn.dossier if entry.who.type in _CALLED})

    def reply(self, told: Sequence[Told], uncertainty: float) -> Reply:
        """What was found, sentence by sentence."""
        return Reply(self._sentences(told), True, uncertainty, ids_of(told))

    def nothing(self, *texts: str, uncertainty: float = 0.9) -> Reply:
        """That nothing was found, in words."""
        return Reply(self._sentences([Told(text) for text in texts]), False, uncertainty, (), uncertainty < _OPEN)

    def silence(self) -> Reply:
        """Which nothing it is: an unknown name, an unknown asker, a time without record, or nothing at all."""
        ask, words = self.ask, self.words
        if ask.unknown in ("you", "你"):
            return self.nothing(words.who_asks)
        if ask.unknown:
            return self.nothing(words.unknown.format(name=ask.unknown))
        if ask.subjects and ask.left:
            return self._nothing_about()
        if ask.subjects and ask.relations:
            shape = words.no_record_then if ask.time else words.no_record
            when = ask.time.on if ask.time else ""
            return self.nothing(shape.format(topic=self.topic(ask.relations[0]), when=when))
        if ask.form == "events":
            return self.nothing(words.no_events)
        return self._nothing_about()

    def _nothing_about(self) -> Reply:
        """Nothing that answers the question; about whom, where it is about one that it names."""
        subjects = self.ask.subjects
        if len(subjects) == 1 and subjects[0].type not in (None, "Thing"):
            return self.nothing(self.words.no_record_about.format(name=subjects[0].name))
        return self.nothing(self.words.nothing)

    def taken_back(self, claim: KnownClaim, part: Held) -> Reply:
        """That what was said on the matter was taken back."""
        who = claim.by.name if claim.by else part.subject.name
        return self.nothing(self.words.taken_back.format(who=who, topic=self.topic(part.relation)), uncertainty=0.6)

    def topic(self, relation: Relation, subject: Ref | None = None) -> str:
        """What a relation of a subject, the question's first unless told, is about, for "no record of …"."""
        about = subject or (self.ask.subjects[0] if self.ask.subjects else None)
        name = about.name if about else ""
        return self.tell.telling(relation).topic.format(s=name, o=name)

    def _sentences(self, parts: Sequence[Told]) -> str:
        unique = dict.fromkeys(part.text.strip().rstrip("。.") for part in parts if part.text.strip())
        return "".join(f"{self._capital(part)}{self.words.stop}" for part in unique).strip()

    def _capital(self, sentence: str) -> str:
        """A capital at its head, unless a name or key stands there: `user-1` is not `User-1`."""
        is_name = any(sentence.startswith(name) for name in self._names)
        return sentence if is_name else sentence[:1].upper() + sentence[1:]


def relation_of(name: str) -> Relation:
    """A predicate's relation; one that the tables do not know is told in its own words."""
    for relation in RELATIONS:
        if relation.predicate == name and not relation.by_value:
            return relation
    return Relation(name, {"en": telling_of(name, "en"), "zh": telling_of(name, "zh")}, {}, {"en": None, "zh": None})


def with_relations(ask: Ask, relations: tuple[Relation, ...]) -> Ask:
    """The question, asking for these relations."""
    return replace(ask, relations=relations)
