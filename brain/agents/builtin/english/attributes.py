"""What "X's <noun> is Y" says: kin by name, contact, dates, favourites, codes, a project's lead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.clauses import Clause
from brain.agents.builtin.english.nouns import Noun, core_noun
from brain.agents.builtin.english.owned import (
    ACCOUNTS,
    ATTRIBUTES,
    CODE_HEADS,
    OF_PETS,
    OF_PROJECTS,
    PERSONAL,
    Attribute,
    gender_of,
    link_of,
)
from brain.agents.builtin.english.resolve import pet_facts, resolve
from brain.agents.builtin.english.slots import SLOTS, Scene
from brain.agents.builtin.english.tails import Tail, tail_of
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.facts import Fact, Mark, Stance, Statement, Thing, Value
from brain.agents.builtin.lexicon.people import PETS
from brain.agents.builtin.lexicon.things import FAVOURITE_KINDS, KEEPABLES, KIND_HEADS
from brain.agents.builtin.when import Spot
from brain.agents.builtin.worth import kind_by_head, kind_of

_FAVOURITES = ("favourite", "favorite", "preferred")


def of_clause(
    noun: Noun, clause: Clause, scene: Scene, cast: Cast, msg: int, marks: frozenset[Mark]
) -> list[Statement] | None:
    """The facts of a clause whose subject names an attribute; None when it names none."""
    if noun.sort not in ("owned", "the"):
        return None
    moved = _moved(noun, clause)
    if moved is not None:
        clause, marks = moved, marks | {"new"}
    elif clause.group.lemma != "be" or clause.group.tense not in ("present", "past") or clause.group.progressive:
        return None
    reader = _Reader(noun, clause, scene, cast, msg, marks)
    facts = list(reader.facts())
    return list(facts) if facts else None


def _plain_noun(word: str) -> str:
    """An attribute's noun without what tells which of several it is: `account email` is an email."""
    first, _, rest = word.partition(" ")
    return rest if first in _WHICH and rest in ("email", "email address", "phone", "phone number", "number") else word


_WHICH = frozenset(
    ("account", "contact", "main", "primary", "office", "business", "current", "login", "home", "company")
)


def _moved(noun: Noun, clause: Clause) -> Clause | None:
    """`The deadline for Falcon moved to 15 July`, `my email has changed to …`: as `… is`."""
    group, rest = clause.group, list(clause.rest)
    if group.negated:
        return None
    attribute = ATTRIBUTES.get(_plain_noun(core_noun(noun.noun)))
    if attribute is not None and attribute.relation in ("email", "phone"):
        if group.lemma != "change" or group.tense not in ("past", "perfect") or rest[:1] == [] or rest[0].low != "to":
            return None
        return replace(
            clause, group=replace(group, lemma="be", tense="present", progressive=False), rest=tuple(rest[1:])
        )
    if core_noun(noun.noun) not in ("deadline", "due date") or not clause.times:
        return None
    if group.lemma == "be" and rest and rest[0].low in _SHIFTED and group.tense in ("present", "past", "perfect"):
        rest = rest[1:]
    elif group.lemma not in ("move", "change", "shift", "slip") or group.tense not in ("past", "perfect"):
        return None
    if [token.low for token in rest] not in ([], ["to"], ["until"], ["back"], ["back", "to"]):
        return None
    return replace(clause, group=replace(group, lemma="be", tense="present", progressive=False), rest=())


_SHIFTED = frozenset(("moved", "extended", "postponed", "pushed", "changed", "shifted", "brought", "set", "delayed"))


class _Reader:
    def __init__(self, noun: Noun, clause: Clause, scene: Scene, cast: Cast, msg: int, marks: frozenset[Mark]) -> None:
        self.noun, self.clause, self.scene, self.cast, self.msg = noun, clause, scene, cast, msg
        is_new = bool(clause.adverbs & {"now", "newly"}) or noun.noun.startswith("new ")
        self.marks: frozenset[Mark] = marks | {"new"} if is_new else marks
        self.word = core_noun(noun.noun).removeprefix("new ").removeprefix("current ")

    def facts(self) -> Iterator[Statement]:
        rest = self.clause.rest
        if rest and rest[0].low in ("called", "named") and len(rest) > 1:
            yield from self._named(rest[1:])
            return
        if self.noun.sort == "owned" and not self.noun.name:
            if any(self.word.startswith(f"{word} ") for word in _FAVOURITES):
                yield from self._favourite(self.word.partition(" ")[2])
                return
            if (link_of(self.word) or link_of(self.word.removesuffix("s"))) is not None:
                yield from self._kin()
                return
            if self.word in PETS:
                yield from self._named(rest)
                return
        attribute = ATTRIBUTES.get(self.word) or ATTRIBUTES.get(_plain_noun(self.word))
        if attribute is not None:
            yield from self._attribute(attribute)
        elif self.word.split(" ")[-1] in CODE_HEADS or ("asked_to_keep" in self.marks and self.word == "wifi password"):
            yield from self._code()
        elif self.word.split(" ")[-1] in KEEPABLES and rest[:1] and rest[0].low == "in":
            yield from self._kept(rest[1:])
        elif self.word.split(" ")[0] in ACCOUNTS:
            yield from self._account()

    def _owner(self) -> tuple[Thing, list[Fact]] | None:
        if self.noun.owner is None:
            return None
        return resolve(self.noun.owner, self.cast, self.msg, sure=True)

    def _fact(self, subject: Thing, relation: str, value: Value) -> Fact:
        stance: Stance = "denied" if self.clause.group.negated else "holds"
        if self.clause.group.no_longer or (self.clause.group.tense == "past" and not self.clause.group.negated):
            stance = "ended"
        return Fact(self.msg, self.cast.speaker, subject, relation, value, stance, self.marks)

    def _fill(self, slot: str) -> Iterator[tuple[object, Tail]]:
        for value, end in SLOTS[slot](self.scene, self.clause.rest, 0):
            tail = tail_of(self.clause.rest[end:])
            if tail is not None:
                if tail.corrects:
                    self.marks = self.marks | {"correction"}
                if tail.now:
                    self.marks = self.marks | {"new"}
                yield value, tail

    def _kin(self) -> Iterator[Statement]:
        """`My boss is Marc`: who a relative is."""
        link = link_of(self.word)
        found = next(self._fill("name"), None)
        owner = self._owner()
        if found is None and self.word.endswith(("s", "children")):
            yield from self._named(self.clause.rest)  # `My kids are Max and Mia`
            return
        if link is None or found is None or owner is None:
            return
        yield from owner[1]
        person = self.cast.person(str(found[0]))
        if person is None or person.key == owner[0].key:
            return
        first, second = (person, owner[0]) if link.flip else (owner[0], person)
        if self.clause.group.negated:
            yield self._fact(first, link.relation, second)
            return
        gender = gender_of(self.word)
        self.cast.relate(
            owner[0], self.word, link.key, person, "female" if gender == "female" else "male" if gender else None
        )
        self.cast.mention(person)
        yield self._fact(first, link.relation, second)

    def _named(self, rest: tuple[Token, ...]) -> Iterator[Statement]:
        """`My dog is called Rex`, `my sister is called Mia`, `our cats are called Miso and Tofu`."""
        owner = self._owner()
        found = next(((value, end) for value, end in SLOTS["names"](self.scene, rest, 0)), None)
        if owner is None or found is None or self.clause.group.negated or tail_of(rest[found[1] :]) is None:
            return
        word = self.word if self.word in PETS else self.word.removesuffix("s")
        link = link_of(self.word) or link_of(word)
        yield from owner[1]
        for name in found[0]:
            if word in PETS:
                pet = self.cast.thing(name, "Pet")
                self.cast.relate(owner[0], word, "has_pet", pet)
                yield from pet_facts(self.msg, self.cast.speaker, owner[0], pet, PETS[word])
            elif link is not None:
                person = self.cast.person(name)
                if person is not None and person.key != owner[0].key:
                    self.cast.relate(owner[0], word, link.key, person)
                    self.cast.mention(person)
                    first, second = (person, owner[0]) if link.flip else (owner[0], person)
                    yield self._fact(first, link.relation, second)

    def _favourite(self, kind_words: str) -> Iterator[Statement]:
        kind = FAVOURITE_KINDS.get(kind_words) or FAVOURITE_KINDS.get(kind_words.split(" ")[-1])
        owner = self._owner()
        found = next(self._fill("thing"), None)
        if owner is None or found is None or not kind_words:
            return
        value = str(found[0])
        kind = kind or kind_of(value) or KIND_HEADS.get(kind_words.split(" ")[-1]) or kind_by_head(f"x {kind_words}")
        if kind is not None and owner[0].type in ("Person", None):
            yield from owner[1]
            yield self._fact(owner[0], "prefers", Thing(value, kind))

    def _attribute(self, attribute: Attribute) -> Iterator[Statement]:
        subject = self._subject(attribute.relation)
        if subject is None:
            return
        owner, said = subject
        values = list(self._attribute_values(attribute, owner))
        if values or attribute.relation == "name":
            yield from [*said, *values]

    def _subject(self, relation: str) -> tuple[Thing, list[Fact]] | None:
        """What has the attribute: a person, a project, an animal; None when the relation is not for it."""
        if self.noun.sort == "the":
            if relation in OF_PROJECTS and self.noun.name:
                return self.cast.thing(self.noun.name, "Project"), []
            return None
        owner = self._owner()
        if owner is None:
            owner = self._unnamed_owner(relation)
        elif self.noun.owner is not None and self.noun.owner.sort == "name" and relation in OF_PROJECTS:
            held = owner[0]
            if held.type == "Project" or (held.id is None and not self.cast.is_person(held.name)):
                return self.cast.thing(held.name, "Project"), []
            return None
        if owner is None:
            return None
        allowed = OF_PROJECTS if owner[0].type == "Project" else OF_PETS if owner[0].type == "Pet" else PERSONAL
        return owner if relation in allowed else None

    def _unnamed_owner(self, relation: str) -> tuple[Thing, list[Fact]] | None:
        """`My dog's name is Rex`, `my sister's name is Mia`: the one named is the owner itself."""
        inner = self.noun.owner
        if relation != "name" or inner is None or inner.sort != "owned" or inner.owner is None:
            return None
        found = next(self._fill("name"), None)
        owner = resolve(inner.owner, self.cast, self.msg, sure=True)
        if found is None or owner is None:
            return None
        return resolve(
            Noun("owned", inner.words, inner.end, str(found[0]), inner.noun, inner.owner),
            self.cast,
            self.msg,
            sure=True,
        )

    def _attribute_values(self, attribute: Attribute, owner: Thing) -> Iterator[Statement]:
        relation = attribute.relation
        if attribute.slot == "date":
            for spot in self.clause.times[:1]:
                due = spot.when("future")
                said = due.start if relation == "deadline" and due and len(due.start) == 10 else calendar_date(spot)
                if said is not None and tail_of(self.clause.rest) is not None:
                    yield self._fact(owner, relation, said)
            return
        found = next(self._fill(attribute.slot), None)
        if found is None:
            return
        value = found[0]
        if relation == "name":
            if isinstance(value, str) and value.casefold() != owner.name.casefold():
                yield self._fact(owner, "also_known_as", value)
            return
        if isinstance(value, Noun):
            resolved = resolve(value, self.cast, self.msg, sure=True)
            if resolved is None or resolved[0].type not in ("Person", None):
                return
            yield from resolved[1]
            value = resolved[0]
        if relation == "comes_from" and isinstance(value, tuple):
            value = value[0]
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, (str, int, Thing)):
                yield self._fact(owner, relation, one)

    def _code(self) -> Iterator[Statement]:
        """`The wifi code is 8841-AC`: a code of a thing."""
        words = self.word.split(" ")
        of = " ".join(words[:-1]) if len(words) > 1 else self.noun.name
        if not of or set(words) & {
            "bank",
            "card",
            "credit",
            "debit",
            "atm",
            "sim",
            "account",
            "verification",
            "recovery",
        }:
            return
        found = next(self._fill("code"), None)
        if found is not None and not self.clause.group.negated:
            yield self._fact(Thing(of, "Thing"), "has_code", str(found[0]))

    def _kept(self, rest: tuple[Token, ...]) -> Iterator[Statement]:
        """`The spare key is in the kitchen drawer`."""
        for where, end in SLOTS["where"](self.scene, rest, 0):
            if tail_of(rest[end:]) is not None and not self.clause.group.negated:
                yield self._fact(Thing(self.word, "Thing"), "kept_in", where)
                return

    def _account(self) -> Iterator[Statement]:
        service, _, what = self.word.partition(" ")
        owner = self._owner()
        found = next(self._fill("handle"), None)
        if (
            owner is not None
            and found is not None
            and what in ("username", "handle", "account", "name", "user", "id", "nick", "")
        ):
            yield from owner[1]
            yield self._fact(owner[0], "has_account", f"{service}:{found[0]}")


def calendar_date(spot: Spot) -> str | None:
    """A day as a calendar date; `--05-17` when the year was not said."""
    past, future = spot.reading
    if past is None or future is None or len(past.start) != 10 or past.end is not None:
        return None
    return past.start if past == future else f"--{past.start[5:]}"
