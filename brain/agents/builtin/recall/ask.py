"""A question, taken apart; and what taking it apart needs in either language."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.things import CHINESE_LANGUAGES, LANGUAGES
from brain.agents.builtin.recall.called import condition_names, diet_names, language_names
from brain.agents.builtin.recall.relations import RELATIONS, Relation
from brain.agents.builtin.text import Language, pattern
from brain.agents.builtin.when import When, moment_of, times_in
from brain.agents.turns import DossierEntry, RecallTurn, Ref
from brain.names import fold, place_of
from brain.store.base import ElementId

Form = Literal["value", "reverse", "profile", "events", "commitments", "rules", "sources", "sayings"]

KINSHIP = words("sibling_of parent_of partner_of relative_of friend_of knows client_of reports_to has_pet")
SYMMETRIC = words("partner_of sibling_of friend_of relative_of knows")
_GENERAL = words(
    """
    partner spouse sibling siblings child children kid kids parent parents relative relatives
    孩子 小孩 父母 兄弟姐妹 亲戚 家人 亲人 伴侣 配偶 爱人
    """
)
_BY_WORD = words("sibling_of parent_of relative_of partner_of knows client_of")
BY_THING = words("has_code kept_in")
"""Relations of things without a proper name, found by the words that describe them."""

_BEATS: dict[str, frozenset[str]] = {
    "works_on": words("works_for"),
    "works_for": words("lives_in"),
    "comes_from": words("lives_in located_in"),
    "prefers": words("likes dislikes uses"),
    "dislikes": words("likes"),
    "email": words("works_for lives_in phone address also_known_as"),
    "phone": words("works_for lives_in"),
    "address": words("lives_in"),
    "has_code": words("also_known_as phone kept_in works_for email has_account address"),
    "timezone": words("lives_in"),
    "has_pet": words("also_known_as owns"),
    "sibling_of": words("also_known_as"),
    "partner_of": words("also_known_as"),
    "parent_of": words("also_known_as"),
    "relative_of": words("also_known_as sibling_of parent_of"),
    "friend_of": words("also_known_as"),
    "reports_to": words("also_known_as has_role"),
    "client_of": words("also_known_as"),
    "allergic_to": words("likes"),
    "follows_diet": words("likes"),
    "project_phase": words("works_for"),
    "project_lead": words("has_role works_for"),
    "deadline": words("works_for lives_in"),
    "kept_in": words("located_in lives_in"),
    "drives": words("owns"),
    "interested_in": words("likes"),
    "has_account": words("uses also_known_as"),
    "studies_at": words("works_for lives_in"),
    "breed": words("has_pet species"),
    "species": words("has_pet"),
    "age": words("birthday"),
    "member_of": words("works_for"),
}
"""Relations a question may seem to ask for as well when it asks for the first."""


IDIOMS = pattern(r"\bdo for a living\b|\bfor a living\b")
USED_TO = pattern(r"\bused? to\b")
"""Phrases with words in them that ask for something else."""


_SPEAKS = next(relation for relation in RELATIONS if relation.predicate == "speaks")


@dataclass(frozen=True, slots=True)
class Kin:
    """A word for a relative in a question: whose, the word, and the relation it is held under."""

    owner: Ref
    noun: str
    predicate: str
    by_value: bool


@dataclass(frozen=True, slots=True)
class Ask:
    """A question.

    subjects    whom or what it is about, as memory knows them
    unknown     a name it is about that memory does not know; empty when there is none
    relations   what it asks for, the likeliest first
    values      known things it names besides its subjects
    is_check    a yes-or-no question; wants_time asks when; wants_end until when; wants_count how many; wants_past is in
                the past tense; wants_former asks for what was before; wants_future what will be; is_deed what
                somebody did
    asks_change asks whether it is another than before
    time        the time it is about, None for the turn's own; `is_before` the time before that
    window      the time to come it is about, for what is due
    content     its words that carry meaning, folded; names of its subjects and question words left out
    left        those of them that no name, relation or kind in it accounts for: what narrows the question further
    kinds       Concept Types, or species, the answer is limited to
    is_narrower whether its word for a relative says more than the relation holds: a son, where children are held
    kin         the word for a relative it uses, where that says more than the relation
    owner       whose relative it speaks of
    is_group    whether the subjects are those "we" may mean
    several     relatives of whom one is meant, when it is not on record which
    creditors   to whom something is owed or promised
    name        a name in it that several people have: `people`, of whom `others` is the question read of each but the
                first; `are_more` when not all are told
    """

    language: Language
    text: str
    form: Form
    subjects: tuple[Ref, ...] = ()
    unknown: str = ""
    relations: tuple[Relation, ...] = ()
    values: tuple[Ref, ...] = ()
    is_check: bool = False
    wants_time: bool = False
    wants_count: bool = False
    wants_end: bool = False
    wants_past: bool = False
    wants_former: bool = False
    wants_future: bool = False
    is_deed: bool = False
    asks_change: bool = False
    time: When | None = None
    is_before: bool = False
    window: When | None = None
    content: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    is_narrower: bool = False
    kin: Kin | None = None
    owner: Ref | None = None
    is_group: bool = False
    several: tuple[Ref, ...] = ()
    creditors: tuple[Ref, ...] = ()
    name: str = ""
    people: tuple[Ref, ...] = ()
    others: tuple[Ask, ...] = ()
    are_more: bool = False


def other_names(entry: DossierEntry) -> list[str]:
    """What an entry is also known as, by the claims about it."""
    return [
        claim.object.name
        for claim in entry.claims
        if claim.predicate == "also_known_as" and claim.subject.id == entry.who.id and claim.standing == "accepted"
    ]


@dataclass(frozen=True, slots=True)
class Mention:
    """A known thing a question names, from `at` to `end` of the folded text; `people` are all who have that name."""

    at: int
    end: int
    ref: Ref
    people: tuple[Ref, ...] = ()


def _as_held(name: str) -> tuple[str, ...]:
    return (name,)


_SAID: dict[str, Callable[[str], tuple[str, ...]]] = {
    "speaks": language_names,
    "follows_diet": diet_names,
    "has_condition": condition_names,
}
"""Values that are held as a tag and called by names."""


def is_narrower(noun: str, relation: Relation) -> bool:
    """Whether a word for a relative says more than the relation does."""
    return relation.predicate in ("sibling_of", "parent_of", "relative_of") and noun not in _GENERAL


def married(asked: Ask) -> Ask:
    """The question with a spouse for the relative it is about, when it asks whether somebody is married."""
    is_partner = bool(asked.relations) and asked.relations[0].predicate == "partner_of"
    if not is_partner or len(asked.subjects) != 1 or not _MARRIED.search(asked.text):
        return asked
    owner = asked.subjects[0]
    return replace(
        asked, kin=Kin(owner, "配偶" if asked.language == "zh" else "spouse", "partner_of", False), owner=owner
    )


def kin_of(owner: Ref, noun: str, relation: Relation) -> Kin | None:
    """The word for a relative as what narrows the relation; None where it says no more."""
    if relation.predicate not in _BY_WORD or noun in _GENERAL:
        return None
    return Kin(owner, noun, relation.predicate, relation.by_value)


_MARRIED = pattern(r"\bmarr(?:y|ied|iage)\b|结婚|已婚")
_LISTING = frozenset((",", "and", ", and", "&", "or", "和", "与", "跟", "及", "、", "以及", "或"))


class Analysis(ABC):
    """A question against its turn.

    meant  who is meant by a name that several people have; None takes the first
    """

    language: Language
    meant: ElementId | None = None

    def __init__(self, turn: RecallTurn, text: str) -> None:
        self.turn = turn
        self.text = text.rstrip("?？。.!！ ")
        self.folded = fold(self.text)
        self.times = times_in(self.text, moment_of(turn.at), self.language)
        self.mentions = self._mentions()

    @abstractmethod
    def ask(self) -> Ask:
        """The question, taken apart."""

    def of(self, person: ElementId) -> Self:
        """The same question, with this person meant; what does not depend on it is not worked out anew."""
        other = copy(self)
        other.meant = person
        other.mentions = other._mentions()
        return other

    def time(self) -> tuple[When | None, bool]:
        """The time the question is about, and whether it means the time before that."""
        for spot in self.times:
            when = spot.when("past")
            if when is not None and spot.role != "after" and not spot.ahead:
                return when, spot.role == "before"
        return None, False

    def window(self) -> When | None:
        """The time to come the question is about."""
        found = (spot.when("future") for spot in self.times if spot.role != "after")
        return next((when for when in found if when is not None), None)

    def _mentions(self) -> list[Mention]:
        """Known things the question names; where two overlap, the longer."""
        found = []
        for name, refs in self._names.items():
            if len(name) > 1 and (at := place_of(name, self.folded)) >= 0:
                ref = next((ref for ref in refs if ref.id is not None and ref.id == self.meant), refs[0])
                people = tuple(other for other in refs if other.type == "Person" and other.id)
                found.append(Mention(at, at + len(name), ref, people if ref.type == "Person" else ()))
        kept: list[Mention] = []
        for mention in sorted(found, key=lambda found: found.at - found.end):
            if all(mention.end <= other.at or other.end <= mention.at for other in kept):
                kept.append(mention)
        return sorted(kept, key=lambda mention: mention.at)

    @cached_property
    def _names(self) -> dict[str, list[Ref]]:
        """Who and what each folded name may mean."""
        names: dict[str, dict[str, Ref]] = {}

        def add(name: str, ref: Ref) -> None:
            names.setdefault(fold(name), {}).setdefault(ref.id or ref.name, ref)

        for entry in self.turn.dossier:
            known = [entry.who.name, *entry.aliases, *other_names(entry)]
            if entry.who.type == "Person":
                known += [name.split(" ")[0] for name in known if " " in name]
            for name in known:
                add(name, entry.who)
        for entry in self.turn.dossier:
            for claim in entry.claims:
                for ref in (claim.subject, claim.object):
                    add(ref.name, ref)
                for name in _SAID.get(claim.predicate, _as_held)(claim.object.name):
                    add(name, claim.object)
        if _SPEAKS.asks[self.language].search(self.text):
            # A language is held as a tag that no search for its name finds.
            for table in (LANGUAGES, CHINESE_LANGUAGES):
                for name, tag in table.items():
                    add(name, Ref(None, tag, None))
        return {name: list(refs.values()) for name, refs in names.items()}

    def shared(self) -> Mention | None:
        """The first name in the question that several people have."""
        return next((mention for mention in self.mentions if len(mention.people) > 1), None)

    def relations(self) -> list[Relation]:
        """What the question may ask for."""
        return list(self._relations)

    @cached_property
    def _relations(self) -> list[Relation]:
        text = IDIOMS.sub("do", USED_TO.sub("did", self.text))
        matched = [relation for relation in RELATIONS if relation.asks[self.language].search(text)]
        beaten = {name for winner in matched for name in _BEATS.get(winner.predicate, ())}
        return [relation for relation in matched if relation.predicate not in beaten]

    def admits(self, relation: Relation, ref: Ref) -> bool:
        """Whether the relation can be about this thing."""
        word = next((word for word in self.turn.vocabulary.predicates if word.name == relation.predicate), None)
        if word is None:
            return False
        types = word.object if relation.by_value else word.subject
        return not types or ref.type is None or ref.type in types

    def related(self, owner: Ref, predicate: str, *, by_value: bool) -> list[Ref]:
        """Those the owner is related to, as memory holds it now."""
        found: dict[str, Ref] = {}
        for entry in self.turn.dossier:
            for claim in entry.claims:
                if claim.predicate != predicate or claim.standing != "accepted":
                    continue
                near, far = (claim.object, claim.subject) if by_value else (claim.subject, claim.object)
                if near.id == owner.id:
                    found[far.id or far.name] = far
                elif predicate in SYMMETRIC and far.id == owner.id:
                    found[near.id or near.name] = near
        return list(found.values())

    def group(self) -> tuple[Ref, ...]:
        """Whom "we" may mean: what the asker works for, belongs to or works on, besides the asker."""
        asker = self.turn.asked_by
        if asker is None:
            return ()
        names = ("works_for", "member_of", "works_on")
        return (*(ref for name in names for ref in self.related(asker, name, by_value=False)), asker)

    def listed(self, mentions: list[Mention]) -> list[Mention]:
        """The first of these and those listed with it: `Leo, Ivy and Sam`."""
        chosen = mentions[:1]
        for mention in mentions[1:]:
            if self.folded[chosen[-1].end : mention.at].strip() not in _LISTING:
                break
            chosen.append(mention)
        return chosen

    def bare(self) -> Ref | None:
        """What the question names, when it is nothing but a name."""
        named = [mention for mention in self.mentions if mention.ref.id]
        if len(named) == 1 and not self.folded[: named[0].at].strip() and not self.folded[named[0].end :].strip():
            return named[0].ref
        return None

    def described(self, content: frozenset[str]) -> list[Ref]:
        """Things with a code or a place where they are kept, by the words that describe them."""
        found: dict[str, tuple[int, Ref]] = {}
        for entry in self.turn.dossier:
            for claim in entry.claims:
                if claim.predicate in BY_THING and claim.subject.id:
                    shared = len(set(fold(claim.subject.name).split()) & content)
                    if shared:
                        found[claim.subject.id] = (shared, claim.subject)
        most = max((shared for shared, _ in found.values()), default=0)
        return [ref for shared, ref in found.values() if shared == most]
