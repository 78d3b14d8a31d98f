"""Reading one English sentence into statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english import attributes, doings
from brain.agents.builtin.english.attributes import calendar_date
from brain.agents.builtin.english.clauses import Clause, clauses_of
from brain.agents.builtin.english.courses import Course, course_of
from brain.agents.builtin.english.forgetting import taken_back
from brain.agents.builtin.english.fragments import fragment
from brain.agents.builtin.english.frames import AT_WORK, PERSON_FRAMES, PET_FRAMES, PROJECT_FRAMES, Frame, Say
from brain.agents.builtin.english.heads import with_head
from brain.agents.builtin.english.notes import away_of, note_of
from brain.agents.builtin.english.nouns import Noun, core_noun, noun_at
from brain.agents.builtin.english.openers import Opened, opened
from brain.agents.builtin.english.owned import link_of
from brain.agents.builtin.english.requests import request_of
from brain.agents.builtin.english.resolve import pet_facts, resolve
from brain.agents.builtin.english.shapes import matches
from brain.agents.builtin.english.slots import SLOTS, Scene
from brain.agents.builtin.english.tails import Tail, tail_of
from brain.agents.builtin.english.tokens import tokens_of
from brain.agents.builtin.facts import Fact, Mark, Statement, Thing, Took, Value
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import PETS
from brain.agents.builtin.lexicon.places import PLACES
from brain.agents.builtin.lexicon.work import WORK_TOOLS
from brain.agents.builtin.text import Sentence, pattern
from brain.agents.builtin.when import times_in
from brain.agents.builtin.worth import typed

_NOT_BUT = pattern(
    r"^(?:(?:correction|sorry|actually|oops)[:,]? )?(?P<head>(?:the|my|our) [^,:;]{2,50}?) "
    r"(?:is not|isn't) [^,:;]{2,40}, (?:but|it is|it's) (?P<new>[^,:;]{2,40})$"
)
_CAPITAL = pattern(r"\p{Lu}", ignore_case=False)


@dataclass(frozen=True, slots=True)
class _Kin:
    """Who is whose relative by a clause: `fact` says it, `aside` what the noun phrases say besides."""

    owner: Thing
    person: Thing
    noun: str
    key: str
    fact: Fact
    aside: list[Fact]


@dataclass(slots=True)
class EnglishReader:
    """Reads the English sentences of one message.

    msg     its number
    moment  when it was said
    """

    msg: int
    moment: datetime
    cast: Cast

    def read(self, sentence: Sentence) -> tuple[list[Statement], bool]:
        """What a sentence states, and whether it calls off the sentence before it (`Just kidding.`)."""
        corrected = _NOT_BUT.match(sentence.text)
        if corrected:
            # `The deadline is not 20 April, it is 22 April`, as the correction it is.
            text = f"Correction: {corrected['head']} is {corrected['new']}"
            return self.read(replace(sentence, text=text, quotes=()))
        tokens = tokens_of(sentence.text, times_in(sentence.text, self.moment, "en"), sentence.quotes)
        opening = opened(sentence.text, sentence.end, tokens, self.cast)
        if opening.stop:
            return [], opening.retracts
        opening = replace(opening, tokens=with_head(opening.tokens, self.cast))
        scene = Scene(sentence.text, self.cast, not _CAPITAL.search(sentence.text[1:].replace("I", "")))
        taken = taken_back(scene, self.msg)
        if taken is not None:
            return [taken], False
        asked = request_of(opening, scene, self.msg)
        if asked is not None:
            return asked, opening.retracts
        if opening.request and "asked_to_keep" not in opening.marks:
            return [], False
        replaced = fragment(opening, scene, self.msg)
        if replaced is not None:
            return [replaced], False
        return self._statements(opening, scene), opening.retracts

    def _statements(self, opening: Opened, scene: Scene) -> list[Statement]:
        if opening.source is not None:
            teller = resolve(opening.source, self.cast, self.msg, sure=True)
            if teller is None:
                return []
            self.cast.mention(teller[0])
        found: list[Statement] = []
        for clause in clauses_of(opening.tokens, self.cast):
            if not clause.aside and (clause.group.tense != "unreal" or clause.group.must):
                found += self._of_clause(clause, scene, opening.marks)
        if opening.untrue:
            return [_denied(item) for item in found if isinstance(item, Fact) and item.stance == "holds"]
        if "hearsay" in opening.marks:
            return [item for item in found if isinstance(item, Fact) and item.subject.key != self.cast.speaker.key]
        return found

    def _of_clause(self, clause: Clause, scene: Scene, marks: frozenset[Mark]) -> list[Statement]:
        said: list[Statement] = []
        stated = False
        for noun in clause.subjects:
            facts = self._introduced(noun, clause, scene, marks)
            if facts is None:
                facts = attributes.of_clause(noun, clause, scene, self.cast, self.msg, marks)
            if facts is None:
                facts = self._framed(noun, clause, scene, marks)
            if facts is not None:
                said += facts
                stated = stated or any(not (isinstance(fact, Fact) and "if_known" in fact.marks) for fact in facts)
            else:
                said += self._mentioned(noun)
        if "hearsay" not in marks:
            said += [fact for fact in self._named_kin(clause) if fact not in said]
        if not stated:
            done = doings.of_clause(clause, self.cast, self.msg, marks)
            only_settles = all(isinstance(item, Took) and item.settles for item in done)
            if only_settles and "hearsay" not in marks:
                note = note_of(clause, scene.text, self.cast, self.msg) or away_of(clause, self.cast, self.msg)
                done = [*done, note] if note else done
            said += done
        return said

    def _mentioned(self, noun: Noun) -> list[Statement]:
        """What the noun phrase alone says (`my sister Mia`), when its clause says nothing that can be kept."""
        resolved = resolve(noun, self.cast, self.msg, sure=False)
        if resolved is None:
            return []
        self.cast.mention(resolved[0])
        return list(resolved[1])

    def _introduced(self, noun: Noun, clause: Clause, scene: Scene, marks: frozenset[Mark]) -> list[Statement] | None:
        """`I'm Ana Ruiz`, `Marc is my boss`, `I have two cats named Miso and Tofu`."""
        group = clause.group
        if group.lemma == "be" and group.tense == "present" and group.negated != group.no_longer:
            return self._no_kin(noun, clause, scene, marks)
        if group.negated or group.no_longer or group.tense not in ("present", "perfect", "past"):
            return None
        if group.lemma == "have" and group.tense != "past":
            return self._pets(noun, clause, scene) or self._relatives(noun, clause, scene)
        if group.lemma in ("get", "adopt", "buy") and group.tense != "present":
            return self._pets(noun, clause, scene)
        if group.lemma == "be" and clause.rest[:1] and clause.rest[0].low == "born":
            return self._birth(noun, clause, scene, marks)
        if group.tense == "past":
            return None
        if group.lemma != "be" or not clause.rest or group.progressive:
            return None
        if noun.sort == "i":
            return self._own_name(clause, scene, marks)
        kin = self._is_kin(noun, clause, scene)
        if kin is None:
            return None
        self.cast.relate(kin.owner, kin.noun, kin.key, kin.person)
        self.cast.mention(kin.person)
        return [*kin.aside, replace(kin.fact, marks=marks)]

    def _is_kin(self, noun: Noun, clause: Clause, scene: Scene) -> _Kin | None:
        """`Marc … my boss`."""
        predicate = next(SLOTS["person"](scene, clause.rest, 0), None)
        if predicate is None or predicate[0].sort != "owned" or noun.sort not in ("name", "pronoun"):
            return None
        kin: Noun = predicate[0]
        link = link_of(core_noun(kin.noun))
        if link is None or kin.name or tail_of(clause.rest[predicate[1] :]) is None:
            return None
        owner = resolve(kin.owner, self.cast, self.msg, sure=True) if kin.owner else None
        person = resolve(noun, self.cast, self.msg, sure=True)
        if owner is None or person is None or owner[0].key == person[0].key:
            return None
        if person[0].type not in ("Person", None) or owner[0].type not in ("Person", None):
            return None
        first, second = (person[0], owner[0]) if link.flip else (owner[0], person[0])
        fact = Fact(self.msg, self.cast.speaker, first, link.relation, second)
        return _Kin(owner[0], person[0], core_noun(kin.noun), link.key, fact, [*owner[1], *person[1]])

    def _no_kin(self, noun: Noun, clause: Clause, scene: Scene, marks: frozenset[Mark]) -> list[Statement] | None:
        """`Mia is not my sister`, `Marc is no longer my boss`; of a looser tie than that nothing follows."""
        kin = self._is_kin(noun, clause, scene)
        if kin is None or kin.fact.relation in ("knows", "relative_of"):
            return None
        is_over = clause.group.no_longer or bool({"anymore", "longer"} & {token.low for token in clause.rest})
        is_over = is_over or [token.low for token in clause.rest[-2:]] == ["any", "more"]
        self.cast.mention(kin.person)
        return [*kin.aside, replace(kin.fact, stance="ended" if is_over else "denied", marks=marks)]

    def _own_name(self, clause: Clause, scene: Scene, marks: frozenset[Mark]) -> list[Statement] | None:
        """A speaker's name, when it is one: two capitalised words, or a first name that is common somewhere."""
        found = next(SLOTS["name"](scene, clause.rest, 0), None)
        if found is None or tail_of(clause.rest[found[1] :]) is None or clause.rest[0].low in _ADJECTIVES:
            return None
        name = str(found[0])
        if not scene.cast.is_person(name) and (" " not in name or scene.careless):
            return None
        if name.casefold() == self.cast.speaker.name.casefold():
            return []
        return [Fact(self.msg, self.cast.speaker, self.cast.speaker, "also_known_as", name, marks=marks)]

    def _birth(self, noun: Noun, clause: Clause, scene: Scene, marks: frozenset[Mark]) -> list[Statement] | None:
        """`I was born on 12 June 1988 in Leeds`."""
        day = next((said for spot in clause.times if (said := calendar_date(spot))), None)
        who = resolve(noun, self.cast, self.msg, sure=True)
        if day is None or who is None or who[0].type not in ("Person", "Pet", None):
            return None
        self.cast.mention(who[0])
        facts = [*who[1], Fact(self.msg, self.cast.speaker, who[0], "birthday", day, marks=marks)]
        for held, end in matches("born in <place>", scene, clause.rest):
            if tail_of(clause.rest[end:]) is not None:
                facts += self._valued(who[0], "comes_from", held["place"], Course("holds"), marks)
                break
        return list(facts)

    def _pets(self, noun: Noun, clause: Clause, scene: Scene) -> list[Statement] | None:
        for shape in _PET_SHAPES:
            for held, end in matches(shape, scene, clause.rest):
                owner = resolve(noun, self.cast, self.msg, sure=True)
                if owner is None or tail_of(clause.rest[end:]) is None:
                    return None
                facts: list[Statement] = list(owner[1])
                for name in held["names"]:
                    pet = self.cast.thing(name, "Pet")
                    self.cast.relate(owner[0], held["pet"], "has_pet", pet)
                    facts += pet_facts(self.msg, self.cast.speaker, owner[0], pet, held["pet"])
                return facts
        return None

    def _relatives(self, noun: Noun, clause: Clause, scene: Scene) -> list[Statement] | None:
        """`I have two kids, Leo and Mia`, `I have a sister named Mia`."""
        for shape in _KIN_SHAPES:
            for held, end in matches(shape, scene, clause.rest):
                owner, link = resolve(noun, self.cast, self.msg, sure=True), link_of(held["kin"])
                if owner is None or link is None or tail_of(clause.rest[end:]) is None:
                    return None
                facts: list[Statement] = list(owner[1])
                for name in held["names"]:
                    person = self.cast.person(name)
                    if person is not None and person.key != owner[0].key:
                        self.cast.relate(owner[0], held["kin"], link.key, person)
                        self.cast.mention(person)
                        first, second = (person, owner[0]) if link.flip else (owner[0], person)
                        facts.append(Fact(self.msg, self.cast.speaker, first, link.relation, second))
                return facts
        return None

    def _named_kin(self, clause: Clause) -> list[Statement]:
        """What the other noun phrases of a clause say by themselves: `lunch with my sister Mia`."""
        found: list[Statement] = []
        for index in range(len(clause.rest)):
            other = noun_at(clause.rest, index, self.cast, objects=True)
            if other is not None and other.sort == "owned" and other.name:
                resolved = resolve(other, self.cast, self.msg, sure=True)
                if resolved is not None:
                    found += resolved[1]
        return found

    # frames

    def _framed(self, noun: Noun, clause: Clause, scene: Scene, marks: frozenset[Mark]) -> list[Statement] | None:
        """What the clause says of one subject through the frames of its kind; None when no frame fits."""
        ends: list[Statement] = []
        for frame, held, tail in self._frames(noun, clause, scene):
            resolved = resolve(noun, self.cast, self.msg, sure=frame.sure and clause.group.agrees is not False)
            if resolved is None:
                return None
            subject, aside = resolved
            if noun.sort == "we":
                group = _group_meant(frame, held, clause, self.cast)
                if group is None:
                    return None
                subject = group
            known: frozenset[Mark] = frozenset() if frame.sure else frozenset(["if_known"])
            facts = [
                fact
                for say in frame.says
                for fact in self._said(say, subject, held, clause, tail, marks | _marks_of(say, known))
            ]
            if facts and all("if_known" in fact.marks and fact.stance == "ended" for fact in facts):
                # `I left Rotary` ends whichever of a job and a membership is known.
                ends += [fact for fact in [*aside, *facts] if fact not in ends]
                continue
            if facts and not ends:
                self.cast.mention(subject)
                return [*aside, *facts]
        return ends or None

    def _frames(self, noun: Noun, clause: Clause, scene: Scene) -> Iterator[tuple[Frame, dict[str, Any], Tail]]:
        for frame in self._table(noun):
            if clause.group.lemma not in frame.verbs:
                continue
            for held, end in matches(frame.shape, scene, clause.rest):
                tail = tail_of(clause.rest[end:])
                if tail is not None and (
                    frame.shape != AT_WORK or self._at_work(noun, held["org"], clause, tail, scene)
                ):
                    yield frame, held, tail

    def _at_work(self, noun: Noun, org: Thing, clause: Clause, tail: Tail, scene: Scene) -> bool:
        """Whether being "at" a named place now means working there: it employs people, or the talk is of jobs."""
        if not (clause.adverbs & {"now", "currently"} or tail.now) or noun.sort not in ("i", "name", "pronoun"):
            return False
        who = resolve(noun, self.cast, self.msg, sure=True)
        employed = who is not None and self.cast.has_employer(who[0])
        return employed or any(held.type == "Organization" for held in self.cast.all(org.name)) or _of_jobs(scene)

    def _table(self, noun: Noun) -> tuple[Frame, ...]:
        if noun.sort == "the":
            return PROJECT_FRAMES if noun.noun == "project" and noun.name else ()
        types = {thing.type for thing in self.cast.all(noun.name or noun.words)}
        if "Project" in types and noun.sort == "name":
            return PROJECT_FRAMES
        if core_noun(noun.noun) in PETS or (types == {"Pet"} and noun.sort in ("name", "owned")):
            return PET_FRAMES
        if types and not types & {"Person", None} and noun.sort == "name":
            return ()
        return PERSON_FRAMES

    def _said(
        self, say: Say, subject: Thing, held: dict[str, Any], clause: Clause, tail: Tail, marks: frozenset[Mark]
    ) -> Iterator[Fact]:
        course = course_of(say, clause, tail)
        if course is None:
            return
        if say.effect == "pair":
            first, second = say.slot.split(">")
            yield self._fact(held[first], say.relation, held[second], course, marks)
            return
        value = held.get(say.slot)
        if value is None:
            return
        relation = say.denied if course.denied_taste else say.relation
        values = value if isinstance(value, tuple) and say.slot not in _PAIRS else (value,)
        for one in values:
            if say.effect == "of":
                yield self._fact(one, relation, subject, course, marks)
            else:
                yield from self._valued(subject, relation, one, course, marks)

    def _valued(
        self, subject: Thing, relation: str, value: Any, course: Course, marks: frozenset[Mark]
    ) -> Iterator[Fact]:
        if isinstance(value, Noun):
            if value.words.casefold() in PLACES and not self.cast.all(value.words):
                return
            resolved = resolve(value, self.cast, self.msg, sure=True)
            if resolved is None or resolved[0].key == subject.key or resolved[0].type not in ("Person", None):
                return
            self.cast.mention(resolved[0])
            yield from resolved[1]
            yield self._fact(subject, relation, resolved[0], course, marks)
            return
        if isinstance(value, tuple):
            value, larger = value
            if larger is not None:
                yield Fact(self.msg, self.cast.speaker, value, "located_in", larger)
        known = typed(relation, value, self.cast)
        if known is not None:
            yield self._fact(subject, relation, known, course, marks)

    def _fact(self, subject: Thing, relation: str, value: Value, course: Course, marks: frozenset[Mark]) -> Fact:
        added: set[Mark] = set(marks)
        if course.changed:
            added.add("new")
        if course.corrects:
            added.add("correction")
        if course.never:
            added.add("never")
        return Fact(
            self.msg,
            self.cast.speaker,
            subject,
            relation,
            value,
            course.stance,
            frozenset(added),
            course.since,
            course.until,
        )


def _denied(fact: Fact) -> Fact:
    return replace(fact, stance="denied", marks=fact.marks - {"new", "correction"}, since=None, until=None)


def _marks_of(say: Say, known: frozenset[Mark]) -> frozenset[Mark]:
    if say.effect == "end":
        return known
    return frozenset(["former"]) if say.effect == "former" else frozenset()


def _group_meant(frame: Frame, held: dict[str, Any], clause: Clause, cast: Cast) -> Thing | None:
    """Of whom a statement about "us" holds: the speaker, their team or employer, or nobody it can be kept of."""
    relations = {say.relation for say in frame.says}
    if relations == {"uses"}:
        tools = held["tools"] if "tools" in held else (held.get("tool"),)
        if not all(isinstance(tool, Thing) and tool.name.casefold() in WORK_TOOLS for tool in tools):
            return None
        return cast.circle(cast.speaker)
    if not relations <= _SHARED or (clause.rest and clause.rest[0].low in ("based", "located")):
        return None
    possession = held.get("possession")
    if isinstance(possession, Thing) and possession.type != "Vehicle":
        return None
    return cast.speaker


def _of_jobs(scene: Scene) -> bool:
    return _JOBS.search(scene.text) is not None


_JOBS = pattern(r"\b(?:work(?:ed|ing)?|job|left|quit|resigned|joined|employer|position|hired)\b")
_PAIRS = frozenset(("place", "old"))
_SHARED = frozenset(("lives_in", "has_pet", "owns", "works_on"))
"""What holds of the speaker when it holds of "us"."""
_KIN_SHAPES = ("<kin> named|called <names>", "<kin> , <names>", "<kin> : <names>")
_PET_SHAPES = ("<pet> named|called <names>", "<pet> , <names>", "<pet> whose names? are|is <names>")
_ADJECTIVES = words("happy sure afraid good fine back here home sorry glad ready busy tired sick done late")
