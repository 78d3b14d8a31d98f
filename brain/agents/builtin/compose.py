"""From what a conversation says to the `remember` document, in the Space's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from brain.agents.builtin.cast import thing_of
from brain.agents.builtin.facts import Erase, Fact, Owed, Reading, Standing, Takeback, Thing, Took, Value
from brain.agents.builtin.topics import Told, on_topic
from brain.agents.builtin.worth import kind_of
from brain.agents.remember.document import Change, Claim, Happening, Promise, RememberDocument, Rule, Wish
from brain.agents.remember.schema import MAX_ITEMS
from brain.agents.turns import FormationTurn, KnownClaim, KnownCommitment, PredicateWord, Ref
from brain.names import fold, words

_MAX_NAME = 200


def document_of(reading: Reading, turn: FormationTurn) -> RememberDocument:
    """The document one pass sends: one call, done."""
    composer = _Composer(turn)
    for statement in reading.statements:
        composer.take(statement)
    return composer.document(reading)


@dataclass(slots=True)
class _Composer:
    turn: FormationTurn
    facts: list[tuple[Fact, Change]] = field(default_factory=list)
    events: list[Happening] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    wishes: list[Wish] = field(default_factory=list)
    words: dict[str, PredicateWord] = field(default_factory=dict)
    known: tuple[KnownClaim, ...] = ()

    def __post_init__(self) -> None:
        self.words = {word.name: word for word in self.turn.vocabulary.predicates}
        claims = {claim.assertion_id: claim for entry in self.turn.dossier for claim in entry.claims}
        self.known = tuple(claims.values())

    def take(self, statement: object) -> None:
        """Add one statement."""
        match statement:
            case Fact():
                self._fact(statement)
            case Took():
                self._event(statement)
            case Owed():
                self._promise(statement)
            case Standing():
                self.rules.append(Rule(statement.msg, statement.rule[:400]))
            case Erase():
                self.wishes.append(Wish(statement.msg, "erase", statement.what[:400]))
            case Takeback():
                self._take_back(statement)

    # facts

    def _fact(self, fact: Fact) -> None:
        fitted = self._fitted(fact)
        if fitted is None or self._is_name_of_another(fitted):
            return
        change = self._change(fitted)
        if change is None:
            return
        if "correction" in fitted.marks and change in ("correction", "stated"):
            earlier = self._said_here(fitted)
            if earlier is not None:
                self.facts[earlier] = (fitted, self.facts[earlier][1])
                return
        if change == "withdrawn" and fitted.stance == "denied":
            self.facts = [(other, kind) for other, kind in self.facts if not _same(other, fitted)]
            if self._mine(fitted, (*_ALIVE, "was")):
                self.facts.append((fitted, "withdrawn"))
            change = "denied"
        if change == "withdrawn":
            held = [index for index, (other, _) in enumerate(self.facts) if _same(other, fitted)]
            if held:
                del self.facts[held[-1]]
                return
        if not any(_same(other, fitted) and kind == change for other, kind in self.facts):
            if change == "correction":
                # It takes the wrong claim's place; that what was wrong is also denied says no more.
                self.facts = [known for known in self.facts if not _denies_for(fitted, *known)]
            if change == "new" and fitted.relation in _REPLACED and self.words[fitted.relation].values == "many":
                self._end_replaced(fitted)
            if change in ("stated", "new", "correction") and fitted.relation in _OPPOSITES:
                self._end_opposite(fitted)
            self.facts.append((fitted, change))

    def _is_name_of_another(self, fact: Fact) -> bool:
        """Whether somebody takes for a second name what another person in memory is called: `My name is Ana Ruiz`."""
        return fact.relation == "also_known_as" and any(
            entry.who.type == "Person"
            and fold(entry.who.name) == fold(str(fact.value))
            and not _is(entry.who.id, entry.who.name, fact.subject)
            for entry in self.turn.dossier
        )

    def _fitted(self, fact: Fact) -> Fact | None:
        """The fact in the words of this Space; None when it has none for it."""
        if fact.relation == "prefers" and isinstance(fact.value, Thing) and fact.value.type is None:
            fact = replace(fact, relation="likes", value=Thing(fact.value.name, kind_of(fact.value.name) or "Topic"))
        word = self.words.get(fact.relation)
        if word is None or (word.subject and fact.subject.type is not None and fact.subject.type not in word.subject):
            return None
        if len(fact.subject.name) > _MAX_NAME:
            return None
        value = self._value(fact.value, word)
        return replace(fact, value=value) if value is not None else None

    def _value(self, value: Value, word: PredicateWord) -> Value | None:
        if not isinstance(value, Thing):
            kind = "string" if isinstance(value, str) else "number"
            return value if kind in word.literals else None
        if word.literals and not word.object:
            return None
        if len(value.name) > _MAX_NAME or (word.object and value.type not in (None, *word.object)):
            return None
        types = {known.name for known in self.turn.vocabulary.types}
        if word.values != "one_per_type" and value.type not in (None, *types) and not word.object:
            return replace(value, type="Topic") if "Topic" in types else value
        return value

    def _change(self, fact: Fact) -> Change | None:
        if "hearsay" in fact.marks:
            return "hearsay" if fact.stance == "holds" else None
        mine = self._mine(fact)
        if fact.stance == "ended":
            if "former" in fact.marks and self.words[fact.relation].values == "one":
                is_held = mine or self._said_here(fact, same=True) is not None
                return None if is_held else "ended"  # what begins ends what is held by itself
            if "if_known" in fact.marks and not (mine or self._said_here(fact, same=True) is not None):
                return None
            return "ended"
        if fact.stance == "denied":
            return self._denial(fact, mine)
        if "new" in fact.marks:
            return "new"
        if "correction" in fact.marks and self._may_correct(fact):
            return "correction"
        return "stated"

    def _denial(self, fact: Fact, mine: Sequence[KnownClaim]) -> Change | None:
        """`I don't live in Rome`: an end of one's own claim, after "never" its withdrawal; else a denial."""
        if "never" in fact.marks and self._mine(fact, ("was",)):
            return "withdrawn"
        if mine or self._said_here(fact, same=True) is not None:
            return "withdrawn" if fact.marks & {"never", "correction"} else "ended"
        return "denied"

    def _may_correct(self, fact: Fact) -> bool:
        """Whether a correction can only mean one earlier claim; of many values it must name the wrong one itself."""
        word = self.words[fact.relation]
        if word.values == "many":
            return False
        return (
            any(
                claim.predicate == fact.relation
                and _is(claim.subject.id, claim.subject.name, fact.subject)
                and self._by_speaker(claim, fact.speaker)
                for claim in self.known
            )
            or self._said_here(fact) is not None
        )

    def _mine(self, fact: Fact, standings: Sequence[str] = ()) -> list[KnownClaim]:
        return [
            claim
            for claim in self.known
            if self._is_about(claim, fact)
            and claim.standing in (standings or _ALIVE)
            and self._by_speaker(claim, fact.speaker)
        ]

    def _end_replaced(self, fact: Fact) -> None:
        """`My new number is …`, `I work for Globex now`: of relations that hold many, what the new one replaces."""
        for claim in self.known:
            if (
                claim.predicate == fact.relation
                and claim.standing in _ALIVE
                and _is(claim.subject.id, claim.subject.name, fact.subject)
                and self._by_speaker(claim, fact.speaker)
                and not self._is_about(claim, fact)
            ):
                held = _held_value(claim)
                self.facts.append((replace(fact, value=held, stance="ended", since=None, until=fact.since), "ended"))

    def _is_about(self, claim: KnownClaim, fact: Fact) -> bool:
        name = fact.value.name if isinstance(fact.value, Thing) else str(fact.value)
        value_id = fact.value.id if isinstance(fact.value, Thing) else None
        same = claim.object.id == value_id if value_id else fold(claim.object.name) == fold(name)
        return claim.predicate == fact.relation and same and _is(claim.subject.id, claim.subject.name, fact.subject)

    def _end_opposite(self, fact: Fact) -> None:
        """`I hate coffee now`: with it the speaker's liking is over."""
        opposite = replace(fact, relation=_OPPOSITES[fact.relation], stance="ended", since=None, until=fact.since)
        if opposite.relation in self.words and (
            self._mine(opposite) or any(_same(other, opposite) and kind != "ended" for other, kind in self.facts)
        ):
            self.facts.append((opposite, "ended"))

    def _by_speaker(self, claim: KnownClaim, speaker: Thing) -> bool:
        return claim.by is not None and _is(claim.by.id, claim.by.name, speaker)

    def _said_here(self, fact: Fact, *, same: bool = False) -> int | None:
        """The index of what this pass already says, by the same speaker, in the same slot (or of the same value)."""
        word = self.words[fact.relation]
        for index in range(len(self.facts) - 1, -1, -1):
            other, change = self.facts[index]
            if change in ("ended", "hearsay", "withdrawn", "denied") or other.speaker.key != fact.speaker.key:
                continue
            if other.subject.key != fact.subject.key or other.relation != fact.relation:
                continue
            if _same_value(other.value, fact.value):
                return index if same else None
            if same or word.values == "many":
                continue
            if word.values == "one" or _kind(other.value) == _kind(fact.value):
                return index
        return None

    # takebacks

    def _take_back(self, taken: Takeback) -> None:
        if taken.topic is not None:
            self._take_back_all(taken, taken.topic)
            return
        index = self._meant(taken)
        if index is not None:
            fact, change = self.facts[index]
            if taken.instead is None:
                del self.facts[index]
            else:
                fitted = self._fitted(replace(fact, msg=taken.msg, value=_instead(fact.value, taken.instead)))
                if fitted is not None:
                    self.facts[index] = (fitted, change)
            return
        if taken.value is None:
            return
        claims = [
            claim
            for claim in self.known
            if self._by_speaker(claim, taken.speaker)
            and claim.standing in _ALIVE
            and fold(claim.object.name) == fold(taken.value)
            and claim.predicate in self.words
        ]
        if len(claims) == 1:
            self._revise(claims[0], taken)

    def _take_back_all(self, taken: Takeback, topic: str) -> None:
        """What the speaker said on a topic: dropped when this pass said it, withdrawn when memory holds it."""
        known = [claim for claim in self.known if self._by_speaker(claim, taken.speaker)]
        told = [told_of(fact) for fact, _ in self.facts] + [
            Told(claim.subject.name, claim.predicate, claim.object.name, *map(_key, (claim.subject, claim.object)))
            for claim in known
        ]
        meant = on_topic(topic, told, taken.speaker.key)
        held = [known[index - len(self.facts)] for index in meant if index >= len(self.facts)]
        for index in reversed([index for index in meant if index < len(self.facts)]):
            if self.facts[index][0].speaker.key == taken.speaker.key:
                del self.facts[index]
        for claim in held:
            if claim.standing in (*_ALIVE, "was"):
                self._revise(claim, taken)

    def _meant(self, taken: Takeback) -> int | None:
        for index in range(len(self.facts) - 1, -1, -1):
            fact, change = self.facts[index]
            if fact.speaker.key != taken.speaker.key or change in ("hearsay", "ended", "denied"):
                continue
            name = fact.value.name if isinstance(fact.value, Thing) else str(fact.value)
            if taken.value is None and taken.instead is not None and not _may_stand_for(fact.value, taken.instead):
                continue
            if taken.value is None or fold(name) == fold(taken.value):
                return index
        return None

    def _revise(self, claim: KnownClaim, taken: Takeback) -> None:
        """A correction, or a withdrawal, of a claim on record."""
        subject = thing_of(claim.subject)
        held = _held_value(claim)
        value = held if taken.instead is None else _instead(held, taken.instead)
        change: Change = "withdrawn" if taken.instead is None else "correction"
        fact = self._fitted(Fact(taken.msg, taken.speaker, subject, claim.predicate, value))
        if fact is None:
            return
        if change == "correction" and self.words[claim.predicate].values == "many":
            self.facts.append((replace(fact, value=held), "withdrawn"))
            change = "stated"
        self.facts.append((fact, change))

    # the other lists

    def _event(self, took: Took) -> None:
        settled = self._settled(took)
        if settled is not None:
            self.promises.append(settled)
        elif not took.settles and not any(event.what == took.what for event in self.events):
            self.events.append(
                Happening(
                    took.msg, took.what[:400], took.on, tuple(_name(thing, took.speaker) for thing in took.who[:16])
                )
            )

    def _settled(self, took: Took) -> Promise | None:
        """The open commitment that this was, when there is exactly one."""
        status: Literal["fulfilled", "cancelled"] = (
            "cancelled" if took.verb == "cancel" or took.cancels else "fulfilled"
        )
        meant = [known for known in self.turn.commitments if _settles(took, known)]
        if len(meant) != 1:
            return None
        who = _name(took.who[0], took.speaker)
        return Promise(took.msg, f"{meant[0].id} {meant[0].summary}"[:400], who, status=status)

    def _promise(self, owed: Owed) -> None:
        promise = Promise(
            owed.msg,
            owed.what[:400],
            _name(owed.who, owed.speaker),
            _name(owed.to, owed.speaker) if owed.to else None,
            owed.due,
        )
        if not any((other.what, other.who) == (promise.what, promise.who) for other in self.promises):
            self.promises.append(promise)

    def document(self, reading: Reading) -> RememberDocument:
        claims = [_claim(fact, change) for fact, change in self.facts]
        lists = (claims, self.events, self.promises, self.rules, self.wishes)
        left = sum(max(0, len(items) - MAX_ITEMS) for items in lists)
        return RememberDocument(
            tuple(claims[:MAX_ITEMS]),
            tuple(self.events[:MAX_ITEMS]),
            tuple(self.promises[:MAX_ITEMS]),
            tuple(self.rules[:MAX_ITEMS]),
            tuple(self.wishes[:MAX_ITEMS]),
            done=True,
            summary=_summary(lists, reading, left),
        )


_REPLACED = frozenset(("email", "phone", "works_for"))
"""Relations that may hold several things at once, and of which a new one commonly takes the old one's place."""

_OPPOSITES = {"likes": "dislikes", "dislikes": "likes"}

_ALIVE = ("accepted", "disputed", "hearsay", "planned")


def _is(element_id: str | None, name: str, thing: Thing) -> bool:
    return element_id == thing.id if thing.id and element_id else fold(name) == fold(thing.name)


def _key(ref: Ref) -> str:
    return thing_of(ref).key


def told_of(fact: Fact) -> Told:
    """A fact as a topic meets it."""
    value = fact.value if isinstance(fact.value, Thing) else Thing(str(fact.value))
    return Told(fact.subject.name, fact.relation, value.name, fact.subject.key, value.key)


def _held_value(claim: KnownClaim) -> Value:
    """The value of a claim on record; of plain ones, ages are numbers."""
    if claim.object.type is not None:
        return thing_of(claim.object)
    name = claim.object.name
    return int(name) if claim.predicate == "age" and name.isdecimal() else name


def _same(one: Fact, other: Fact) -> bool:
    return (
        one.speaker.key == other.speaker.key
        and one.subject.key == other.subject.key
        and one.relation == other.relation
        and _same_value(one.value, other.value)
    )


def _denies_for(fact: Fact, other: Fact, change: Change) -> bool:
    """Whether what was denied or withdrawn before is the other half of a correction: `not in Porto, in Faro`."""
    return (
        change in ("denied", "withdrawn", "ended")
        and "correction" in other.marks
        and (other.speaker.key, other.subject.key, other.relation)
        == (fact.speaker.key, fact.subject.key, fact.relation)
    )


def _same_value(one: Value, other: Value) -> bool:
    if isinstance(one, Thing) and isinstance(other, Thing):
        return one.key == other.key or fold(one.name) == fold(other.name)
    return one == other


def _kind(value: Value) -> str | None:
    return value.type if isinstance(value, Thing) else None


def _instead(held: Value, said: str) -> Value:
    """The value that takes another's place, of the same type."""
    if isinstance(held, Thing):
        return Thing(said, held.type)
    return int(said) if isinstance(held, int) and said.isdecimal() else said


def _may_stand_for(held: Value, said: str) -> bool:
    """Whether a word can be a value where another stood: names for names, figures for figures."""
    old = held.name if isinstance(held, Thing) else str(held)
    if any(char.isdigit() for char in old) != any(char.isdigit() for char in said):
        return False
    return old[:1].isupper() == said[:1].isupper()


_SLIGHT = frozenset(("the", "and", "for", "with", "you", "your", "her", "his", "him", "its", "our", "out", "off"))
"""Words that say little about which deed is meant."""


def _settles(took: Took, known: KnownCommitment) -> bool:
    """Whether what was done is what was owed: the same person, the same deed, most of the same words."""
    if known.status not in ("pending", "blocked") or known.who is None or not took.who:
        return False
    if not _is(known.who.id, known.who.name, took.who[0]):
        return False
    owed, done = words(known.summary), set(words(took.what))
    content = [word for word in owed if len(word) > 2 and word != took.verb and word not in _SLIGHT]
    if not content or (took.verb and took.verb != "cancel" and owed[0] != took.verb):
        return False
    return sum(word in done for word in content) >= max(1, round(0.7 * len(content)))


def _claim(fact: Fact, change: Change) -> Claim:
    subject_type = fact.subject.type if fact.subject.id is None else None
    subject = _name(fact.subject, fact.speaker)
    if isinstance(fact.value, Thing):
        return Claim(
            fact.msg,
            subject,
            fact.relation,
            object=_name(fact.value, fact.speaker),
            subject_type=None if subject == "I" else subject_type,
            object_type=fact.value.type if fact.value.id is None and fact.value.key != fact.speaker.key else None,
            change=change,
            since=fact.since,
            until=fact.until,
        )
    return Claim(
        fact.msg,
        subject,
        fact.relation,
        text=fact.value,
        subject_type=None if subject == "I" else subject_type,
        change=change,
        since=fact.since,
        until=fact.until,
    )


def _name(thing: Thing, speaker: Thing) -> str:
    """How the document calls a thing: I, its id, else its name."""
    return "I" if thing.key == speaker.key else thing.id or thing.name


def _summary(lists: Sequence[Sequence[object]], reading: Reading, left: int) -> str:
    counts = [_count(len(items), one, many) for items, (one, many) in zip(lists, _NOUNS, strict=True) if items]
    said = [f"Kept {_and(counts)}." if counts else "Nothing worth keeping."]
    if reading.ordered:
        said.append(f"Not followed: orders in message {_numbers(reading.ordered)}.")
    if reading.secrets:
        said.append(f"Not kept: credentials in message {_numbers(reading.secrets)}.")
    if reading.cut:
        said.append(f"Not read to the end: message {_numbers(reading.cut)}.")
    if left:
        said.append(f"{left} more than fit were left out.")
    return " ".join(said)[:600]


_NOUNS = (("claim", "claims"), ("event", "events"), ("promise", "promises"), ("rule", "rules"), ("request", "requests"))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _and(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + f" and {parts[-1]}" if len(parts) > 1 else parts[0]


def _numbers(found: Sequence[int]) -> str:
    return ", ".join(str(number) for number in dict.fromkeys(found))
