"""What English clauses say was done, and what somebody will do: Events and promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.clauses import Clause
from brain.agents.builtin.english.nouns import Noun, noun_at
from brain.agents.builtin.english.resolve import resolve
from brain.agents.builtin.english.retell import is_shared, phrase_of
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.facts import Mark, Owed, Statement, Thing, Took
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.when import When

_EVENTFUL = words(
    """
    meet visit buy sell travel fly drive attend finish complete deliver launch ship sign send submit pay discuss
    agree decide present give receive get win lose break fix repair cancel book order hire graduate celebrate
    publish release interview deploy hurt injure fail pass adopt marry divorce move join leave quit resign start go
    call paint build install replace rent host organise organize speak talk begin open close promote accept reject
    refuse announce approve write read watch record run perform plant repaint sprain catch climb hike camp swim migrate
    invest donate borrow lend introduce invite welcome become enrol enroll register renew reserve make bring take
    see return come find
    """
)
_THIN = words("leave join get go take make see come find bring give call talk start begin")
"""Verbs that tell of something only with a time or somebody named."""

_IDLE = words(
    """
    be see think try let look wait check know feel guess hope wish like love need want mean suppose believe consider
    """
)
"""What one "will" do that is no promise, unless a day is named."""

_APPOINTMENTS = words(
    """
    appointment meeting interview exam flight call presentation surgery checkup check-up date lesson class
    reservation party wedding conference trip webinar workshop audition hearing training concert dinner lunch train
    session viewing birthday deadline operation test
    """
)
_UNDERGONE = _APPOINTMENTS | words("surgery accident baby argument fight breakdown stroke miscarriage transplant")
"""What one "had": it happened."""
_VOWS = frozenset(("promise", "plan", "intend", "swear", "commit"))
_OBLIGED = frozenset(("have", "need"))


def of_clause(clause: Clause, cast: Cast, msg: int, marks: frozenset[Mark]) -> list[Statement]:
    """The Event or promise of a clause, if it tells of one."""
    if "hearsay" in marks:
        return []
    found = list(_of_clause(clause, cast, msg))
    return [item for item in found if not looks_secret(item.what)]


def _of_clause(clause: Clause, cast: Cast, msg: int) -> Iterator[Took | Owed]:
    group = clause.group
    appointment = _appointment(clause, cast, msg)
    if appointment is not None:
        yield appointment
        return
    if group.negated and group.tense == "future" and clause.subjects[0].sort == "i" and not clause.times:
        called_off = _settling(clause, cast, msg, cancels=True)  # `I won't call Mia after all`
        if called_off is not None:
            yield called_off
    if group.negated or group.no_longer:
        return
    subject = next((noun for noun in clause.subjects if noun.sort == "i"), clause.subjects[0])
    vowed = _vowed(subject, clause, cast, msg)
    if vowed is not None:
        yield vowed
        return
    if (
        group.tense in ("past", "perfect")
        and not group.progressive
        and (group.lemma in _EVENTFUL or (group.lemma == "have" and _has_head(clause.rest, _UNDERGONE)))
    ):
        event = _event(clause, cast, msg) or _settling(clause, cast, msg)
        if event is not None:
            yield event
    elif group.tense in ("past", "perfect") and not group.progressive:
        settling = _settling(clause, cast, msg)
        if settling is not None:
            yield settling
    elif group.tense == "future" or _is_planned(clause) or (group.must and _due(clause) is not None):
        promise = _promise(subject, clause, clause.rest, group.lemma, cast, msg)
        if promise is not None:
            yield promise
    elif _is_bound(clause):
        promise = _promise(subject, clause, clause.rest[2:], clause.rest[1].low, cast, msg)
        if promise is not None:
            yield promise


def _vowed(subject: Noun, clause: Clause, cast: Cast, msg: int) -> Owed | None:
    """`I promised Priya to review it by Friday`: a promise given, to whom it was given."""
    group, rest = clause.group, list(clause.rest)
    if group.lemma != "promise" or group.tense not in ("present", "past", "perfect") or len(rest) < 3:
        return None
    to: Thing | None = None
    if rest[0].low != "to":
        noun = noun_at(rest, 0, cast, objects=True)
        found = resolve(noun, cast, msg, sure=False) if noun is not None and noun.sort in ("name", "owned") else None
        if noun is None or found is None or found[0].type not in ("Person", None):
            return None
        to, rest = found[0], rest[noun.end :]
    if len(rest) < 2 or rest[0].low != "to":
        return None
    owed = _promise(subject, clause, rest[2:], rest[1].low, cast, msg)
    return replace(owed, to=to or owed.to) if owed is not None else None


def _is_bound(clause: Clause) -> bool:
    """`I promise to call`, `I have to call by Friday`: a duty counts only with its day."""
    if clause.group.must:
        return False
    group, rest = clause.group, clause.rest
    if group.tense != "present" or len(rest) < 3 or rest[0].low != "to":
        return False
    return group.lemma in _VOWS or (group.lemma in _OBLIGED and _due(clause) is not None)


def _has_head(rest: Sequence[Token], heads: frozenset[str]) -> bool:
    """Whether one of the first words of what follows the verb is one of these nouns."""
    return any(token.low in heads for token in rest[:4])


def _is_planned(clause: Clause) -> bool:
    """`I'm flying to Rome on Friday`: a present progressive with a day to come."""
    if not clause.group.progressive or clause.group.tense != "present" or _due(clause) is None:
        return False
    return any(spot.ahead or spot.reading[0] != spot.reading[1] for spot in clause.times)


def _due(clause: Clause) -> When | None:
    for spot in clause.times:
        when = spot.when("future")
        if spot.role in ("at", "by", "range", "until", "since", "before") and when is not None:
            return when
    return None


def _says_more(clause: Clause) -> bool:
    """Whether more than a bare hour follows: `at 10`."""
    return bool(clause.rest) and not (
        len(clause.rest) == 2 and clause.rest[0].low == "at" and clause.rest[1].kind == "number"
    )


def _who(subject: Noun, cast: Cast, msg: int) -> Thing | None:
    if subject.sort in ("you", "we", "it"):
        return None
    found = resolve(subject, cast, msg, sure=False)
    return found[0] if found and found[0].type in ("Person", None) else None


def _event(clause: Clause, cast: Cast, msg: int) -> Took | None:
    rest = clause.rest
    actors = [cast.speaker if noun.sort == "we" else _who(noun, cast, msg) for noun in clause.subjects]
    if not actors or None in actors or is_shared(rest) or not _says_something(rest):
        return None
    people = _people_in(rest, cast, msg)
    on = next((when for spot in clause.times if spot.role == "at" and (when := spot.when("past"))), None)
    if clause.group.lemma in _THIN and on is None and not people:
        return None
    if clause.group.adverbs & {"always", "usually", "often", "mostly", "once"}:
        return None
    named = [actor for actor in actors if actor is not None]
    for actor in named:
        cast.mention(actor)
    head = " and ".join(
        [*(cast.called(actor) for actor in named), *(["others"] if clause.subjects[0].sort == "we" else [])]
    )
    teller = "" if any(actor.key == cast.speaker.key for actor in named) else cast.called(cast.speaker)
    what = f"{head} {phrase_of([*clause.verbs, *clause.rest], teller=teller)}".strip()
    return Took(
        msg, cast.speaker, what, on.on if on else None, tuple(dict.fromkeys([*named, *people])), clause.group.lemma
    )


def _settling(clause: Clause, cast: Cast, msg: int, *, cancels: bool = False) -> Took | None:
    """What is no event worth keeping, and may yet be what the speaker promised: `I've sent you the invoice`."""
    if len(clause.subjects) != 1 or clause.subjects[0].sort != "i" or not _says_something(clause.rest):
        return None
    what = phrase_of([*clause.verbs, *(token for token in clause.rest if token.low != "you")])
    return Took(msg, cast.speaker, what, None, (cast.speaker,), clause.group.lemma, settles=True, cancels=cancels)


def _says_something(rest: Sequence[Token]) -> bool:
    said = (token for token in rest if token.kind in ("word", "number", "quote") and token.low != "not")
    return any(len(token.text) > 2 for token in said)


def _people_in(rest: Sequence[Token], cast: Cast, msg: int) -> list[Thing]:
    found: list[Thing] = []
    index = 0
    while index < len(rest):
        noun = noun_at(rest, index, cast, objects=True) if index else noun_at(rest, 0, cast, objects=True)
        if noun is not None and noun.sort in ("name", "owned", "pronoun"):
            resolved = resolve(noun, cast, msg, sure=False)
            if resolved and resolved[0].type == "Person" and resolved[0] not in found:
                found.append(resolved[0])
            index = noun.end
        else:
            index += 1
    return found


def _promise(subject: Noun, clause: Clause, rest: Sequence[Token], verb: str, cast: Cast, msg: int) -> Owed | None:
    who = _who(subject, cast, msg)
    due = _due(clause)
    if who is None or (verb in _IDLE and (due is None or verb == "be")) or not _says_something(rest):
        return None
    if clause.group.adverbs & {"always", "never"} or any(token.low in ("how", "why") for token in rest):
        return None
    to, rest = _addressee(rest, cast, msg)
    if is_shared(rest) or not _says_something(rest):
        return None
    what = f"{verb} {phrase_of(rest, finite=False)}"
    is_vague = due is not None and due.approximate and len(due.last) == 4  # `on 05/06/2026`: the year is no day
    return Owed(msg, cast.speaker, what, who, to, due.last if due and not is_vague else None)


def _addressee(rest: Sequence[Token], cast: Cast, msg: int) -> tuple[Thing | None, Sequence[Token]]:
    """To whom: `send you the report`, `send the report to you`; the words for the listener are taken out."""
    if rest and rest[0].low == "you":
        return cast.addressee, rest[1:]
    for index in range(1, len(rest)):
        if rest[index].low == "you" and rest[index - 1].low in ("to", "for", "with") and index + 1 == len(rest):
            return cast.addressee, rest[: index - 1]
    if len(rest) > 1:
        noun = noun_at(rest, 0, cast)
        if (
            noun is not None
            and noun.sort == "name"
            and noun.end < len(rest)
            and rest[noun.end].low in ("the", "a", "an", "my")
        ):
            found = resolve(noun, cast, msg, sure=False)
            if found and found[0].type == "Person":
                return found[0], rest
    return None, rest


def _appointment(clause: Clause, cast: Cast, msg: int) -> Owed | None:
    """`I have a dentist appointment on Friday`, `my flight to Rome is on Friday`."""
    due = next((when for spot in clause.times if spot.role in ("at", "by") and (when := spot.when("future"))), None)
    if due is None or clause.group.tense != "present" or clause.group.negated or clause.group.progressive:
        return None
    subject = clause.subjects[0]
    if clause.group.lemma == "have" and subject.sort == "i":
        words = [token for token in clause.rest if token.kind in ("word", "quote")]
        head = next((index for index, token in enumerate(words) if token.low in _APPOINTMENTS), None)
        if head is None or head > 3 or is_shared(clause.rest):
            return None
        rest = clause.rest[1:] if clause.rest[0].low in ("a", "an", "my", "the", "another") else clause.rest
        return Owed(msg, cast.speaker, phrase_of(rest, finite=False), cast.speaker, None, due.start)
    is_mine = subject.sort == "owned" and subject.owner is not None and subject.owner.sort == "i"
    last = subject.noun.split(" ")[-1]
    if (
        clause.group.lemma == "be"
        and is_mine
        and last in _APPOINTMENTS - {"birthday", "deadline"}
        and not _says_more(clause)
    ):
        return Owed(msg, cast.speaker, subject.noun, cast.speaker, None, due.start)
    return None
