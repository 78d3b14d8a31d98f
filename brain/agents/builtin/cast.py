"""Who and what a conversation is about: the people of the dossier, those it introduces, and what pronouns mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from brain.agents.builtin.facts import Thing
from brain.agents.builtin.lexicon.people import GIVEN_NAMES
from brain.agents.builtin.lexicon.work import GROUPS
from brain.agents.turns import DossierEntry, Ref

Gender = Literal["female", "male"]


_NAMED = frozenset(("Person", "Project", "Pet", "Organization"))


@dataclass(frozen=True, slots=True)
class Unclear:
    """A name that fits more than one known thing."""

    name: str


@dataclass(slots=True)
class Cast:
    """The people and things a text may name.

    speaker    whose message is being read
    addressee  the other person of a two-person conversation, else None
    """

    speaker: Thing
    addressee: Thing | None = None
    _known: dict[str, list[Thing]] = field(default_factory=dict)
    _present: set[str] = field(default_factory=set)
    _kin: dict[tuple[str, str], Thing] = field(default_factory=dict)
    _related: dict[tuple[str, str], list[Thing]] = field(default_factory=dict)
    _called: dict[str, str] = field(default_factory=dict)
    _gender: dict[str, Gender] = field(default_factory=dict)
    _spoken: list[tuple[int, Thing]] = field(default_factory=list)
    _sentence: int = 0

    @classmethod
    def of(cls, dossier: Sequence[DossierEntry], speakers: Iterable[Ref]) -> Cast:
        """The cast of a turn; set `speaker` before reading a line."""
        cast = cls(Thing(""))
        for entry in dossier:
            thing = thing_of(entry.who)
            also = [
                claim.object.name
                for claim in entry.claims
                if claim.predicate == "also_known_as" and claim.subject.id == entry.who.id
            ]
            cast.add(thing, [*entry.aliases, *also])
            for name in also[:1]:
                cast.call(thing, name)
            for other in entry.look_alikes:
                cast.add(thing_of(other))
            for claim in entry.claims:
                for end in (claim.subject, claim.object):
                    if end.type is not None:
                        cast.add(thing_of(end))
                if claim.standing == "accepted" and claim.object.type in ("Person", "Pet", "Organization"):
                    one, two = thing_of(claim.subject), thing_of(claim.object)
                    cast._link(one, claim.predicate, two)
                    cast._link(two, "~" + claim.predicate, one)
        for ref in speakers:
            thing = thing_of(ref)
            cast.add(thing)
            cast._present.add(thing.key)
        return cast

    def add(self, thing: Thing, aliases: Iterable[str] = ()) -> None:
        """Make a thing known by its name, its aliases and, for a person of several names, the first of them."""
        names = [thing.name, *aliases]
        if thing.type in ("Person", None) and " " in thing.name:
            names.append(thing.name.split(" ")[0])
        for name in names:
            things = self._known.setdefault(name.casefold(), [])
            if thing.name and all(held.key != thing.key for held in things):
                things[:] = [held for held in things if not (held.id is None and held.name == thing.name)]
                things.append(thing)

    def call(self, thing: Thing, name: str) -> None:
        """Call somebody known by a key, `user-1`, by the name they gave."""
        if is_key(thing.name):
            self._called.setdefault(thing.key, name)

    def called(self, thing: Thing) -> str:
        """What to call a thing in a sentence."""
        return self._called.get(thing.key, thing.name)

    def learn(self, *things: object) -> None:
        """Make known what a statement has just named, so that a later sentence may speak of it."""
        for thing in things:
            if isinstance(thing, Thing) and thing.type in _NAMED and thing.key != self.speaker.key:
                self.add(thing)

    def find(self, name: str) -> Thing | Unclear | None:
        """What a name means: a known thing, several, or nothing known.

        A full name beats a first name; among people of one first name the one who takes part is meant, unless they
        speak themselves.
        """
        things = self._known.get(name.casefold(), [])
        exact = [thing for thing in things if thing.name.casefold() == name.casefold()]
        others = [thing for thing in exact or things if thing.key != self.speaker.key] or (exact or things)
        if len(others) > 1:
            present = [thing for thing in others if thing.key in self._present]
            others = present if len(present) == 1 else others
        if not others:
            return None
        return others[0] if len(others) == 1 else Unclear(name)

    def all(self, name: str) -> tuple[Thing, ...]:
        """Every known thing of that name."""
        return tuple(self._known.get(name.casefold(), ()))

    def named_in(self, text: str) -> list[Thing]:
        """Known things whose name stands in a text, once each."""
        folded = text.casefold()
        found: dict[str, Thing] = {}
        for name, things in self._known.items():
            if len(things) == 1 and name and name in folded:
                found[things[0].key] = things[0]
        return list(found.values())

    def is_person(self, name: str) -> bool:
        """Whether a name is known, or common, as a person's."""
        things = self._known.get(name.casefold(), [])
        if things:
            return any(thing.type == "Person" for thing in things)
        return name.split(" ")[0].casefold() in GIVEN_NAMES

    def person(self, name: str) -> Thing | None:
        """The person of that name, known or new; None when the name is unclear or another kind of thing's."""
        found = self.find(name)
        if isinstance(found, Unclear):
            return None
        if found is None:
            return Thing(name, "Person")
        return found if found.type in ("Person", None) else None

    def thing(self, name: str, kind: str) -> Thing:
        """The thing of that name and type, known or new."""
        for held in self._known.get(name.casefold(), []):
            if held.type == kind:
                return held
        return Thing(name, kind)

    def relate(self, owner: Thing, noun: str, relation: str, person: Thing, gender: Gender | None = None) -> None:
        """Note that `owner`'s sister, boss, dog … is this one, for a later "my sister".

        relation  the predicate that says so, `~` before it when the owner is its object
        """
        self._kin[(owner.key, noun)] = person
        self._link(owner, relation, person)
        self.add(person)
        if gender:
            self._gender[person.key] = gender

    def _link(self, owner: Thing, relation: str, other: Thing) -> None:
        others = self._related.setdefault((owner.key, relation), [])
        if all(held.key != other.key for held in others):
            others.append(other)

    def tie(self, owner: Thing, relation: str, other: Thing) -> None:
        """Note what a statement has just related, for what "we" may stand for."""
        self._link(owner, relation, other)

    def has_employer(self, person: Thing) -> bool:
        """Whether memory or this conversation holds where a person works."""
        return bool(self._related.get((person.key, "works_for")))

    def circle(self, person: Thing) -> Thing | None:
        """Whom a person means by "we" at work: their only team, else their only employer."""
        clubs = self._related.get((person.key, "member_of"), [])
        teams = [
            other for other in clubs if other.name.casefold().split(" ")[-1] in GROUPS or other.name.endswith("团队")
        ]
        others = teams or self._related.get((person.key, "works_for"), [])
        return others[0] if len(others) == 1 else None

    def relative(self, owner: Thing, noun: str, relation: str) -> Thing | None:
        """Who `owner`'s `noun` is: as this conversation said, else the only one memory holds under the relation."""
        named = self._kin.get((owner.key, noun))
        if named is not None:
            return named
        others = self._related.get((owner.key, relation), [])
        return others[0] if len(others) == 1 else None

    def next_sentence(self, *, new_message: bool = False) -> None:
        """Move on; what a pronoun may mean reaches one sentence back, within a message."""
        self._sentence += 3 if new_message else 1

    def mention(self, person: Thing) -> None:
        """Note that a person was just spoken of."""
        if person.key != self.speaker.key:
            self._spoken.append((self._sentence, person))

    def antecedent(self, gender: Gender | None) -> Thing | None:
        """Whom "he" or "she" means: the one person spoken of in this sentence or the one before, when there is one."""
        near = {}
        for sentence, person in reversed(self._spoken):
            if sentence < self._sentence - 1:
                break
            if gender is None or self._gender.get(person.key, gender) == gender:
                near[person.key] = person
        return next(iter(near.values())) if len(near) == 1 else None


def is_key(name: str) -> bool:
    """Whether a name looks like an identifier, not like what people are called."""
    return name.isascii() and (not name[:1].isupper() or any(char.isdigit() or char in "_@" for char in name))


def thing_of(ref: Ref) -> Thing:
    """A turn's Ref as a Thing."""
    return Thing(ref.name, ref.type, ref.id)
