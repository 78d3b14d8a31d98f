"""What English clauses tell that no relation holds: arrangements, habits, what a team does; kept as told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.clauses import Clause
from brain.agents.builtin.english.nouns import Noun, core_noun
from brain.agents.builtin.english.resolve import resolve
from brain.agents.builtin.english.retell import phrase_of
from brain.agents.builtin.english.tails import tail_of
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.english.verbs import ADVERBS, FORMS, third
from brain.agents.builtin.facts import Thing, Took
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import PETS, RELATIVES
from brain.agents.builtin.lexicon.work import GROUPS, SCHEDULED
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.when import Direction, Spot, When

_RUNS = words("be start begin end happen take move finish run open close kick last")
_RECURS = words("every each daily weekly biweekly fortnightly monthly quarterly yearly annually weekdays")
_DAYS = words("mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends")
_WORKING = words(
    """
    use run deploy ship store host require support follow track test build write release accept offer maintain review
    rotate hold switch migrate pay bill charge manage sell buy rent employ own
    """
)
"""What a group does that is worth knowing."""
_SITED = words("based located headquartered")
_STATES = words(
    """
    married single divorced widowed engaged retired pregnant unemployed self-employed left-handed right-handed
    colour-blind color-blind colourblind colorblind deaf blind bilingual autistic separated
    """
)
_MEASURES = words("a week weeks month months year years happily newly recently")
_CONSUMING = words("smoke drink eat drive cook")
_COUNTS = words("a an one two three four five six no any twin")
_ELSEWHERE = words("you your yours it this that here there these those")


_TOLD = ("present", "past", "perfect", "used_to")


def note_of(clause: Clause, text: str, cast: Cast, msg: int) -> Took | None:
    """The Event that keeps what a clause tells; None when it is nothing that lasts.

    text  the sentence
    """
    group = clause.group
    if clause.aside or group.tense not in _TOLD or len(clause.subjects) > 1:
        return None
    noun = clause.subjects[0]
    if any(token.low in _ELSEWHERE for token in clause.rest) or group.adverbs & {"almost", "just"}:
        return None
    scheduled = _scheduled(noun, clause, text, cast, msg) or _fails(noun, clause, text, cast, msg)
    if scheduled is not None:
        return scheduled
    who = _who(noun, clause, text, cast, msg)
    of_kin = _is_unnamed_kin(noun) and _tells_of_kin(clause)
    if who is None or not (of_kin or _recurs(clause) or _works(noun, clause) or _lasts(noun, clause)):
        return None
    head, people = who
    side: Direction = "future" if group.progressive else "past"
    on = next((when for spot in clause.times if spot.role == "at" and (when := spot.when(side))), None)
    what = f"{head} {phrase_of([*_verbs(noun, clause), *clause.rest], finite=noun.sort == 'i')}".strip()
    return _took(msg, cast, what, on, people, group.lemma)


def away_of(clause: Clause, cast: Cast, msg: int) -> Took | None:
    """`I'll be out on Friday`, `Marc is on leave next week`: when somebody is not there."""
    group, rest = clause.group, clause.rest
    if group.lemma != "be" or group.negated or group.tense not in ("future", "present") or len(clause.subjects) > 1:
        return None
    said = tuple(token.low for token in rest[:2])
    length = 2 if said in _AWAY else 1
    if said[:length] not in _AWAY or tail_of(rest[length:]) is None:
        return None
    when = next(
        (when for spot in clause.times if spot.role in ("at", "since", "range") and (when := spot.when("future"))), None
    )
    who = resolve(clause.subjects[0], cast, msg, sure=False) if clause.subjects[0].sort in ("i", "name") else None
    if when is None or who is None or who[0].type not in ("Person", None):
        return None
    what = f"{cast.called(who[0])} is {' '.join(said if said in _AWAY else said[:1])}"
    return _took(msg, cast, what, when, (who[0],), "be")


_AWAY = frozenset(
    (("out",), ("away",), ("off",), ("unavailable",), ("travelling",), ("traveling",), ("on", "leave"),
     ("on", "vacation"), ("on", "holiday"), ("on", "pto"), ("out", "sick"))
)  # fmt: skip


def _fails(noun: Noun, clause: Clause, text: str, cast: Cast, msg: int) -> Took | None:
    """`My order hasn't arrived`, `we never received the refund`: what went wrong, as told."""
    group = clause.group
    is_thing = noun.sort in ("owned", "the") and not _is_unnamed_kin(noun)
    is_broken = is_thing and group.lemma in _BREAKING and not group.negated and group.tense in ("past", "perfect")
    due = _DUE if is_thing else frozenset(("receive",)) if noun.sort in ("i", "we") else frozenset()
    is_missing = group.negated and group.tense in ("perfect", "past") and group.lemma in due
    if not (is_broken or is_missing) or group.can:
        return None
    who = _who(noun, clause, text, cast, msg)
    if who is None:
        return None
    what = f"{who[0]} {phrase_of([*_verbs(noun, clause), *clause.rest], finite=noun.sort == 'i')}"
    on = next((when for spot in clause.times if spot.role == "at" and (when := spot.when("past"))), None)
    return _took(msg, cast, what, on, who[1], group.lemma)


_BREAKING = words("crash fail break freeze hang expire leak explode")
_DUE = words("arrive receive work load respond start get come ship deliver refund")


def _took(msg: int, cast: Cast, what: str, on: When | None, people: Sequence[Thing], verb: str) -> Took | None:
    return None if looks_secret(what) else Took(msg, cast.speaker, what, on.on if on else None, tuple(people), verb)


def _scheduled(noun: Noun, clause: Clause, text: str, cast: Cast, msg: int) -> Took | None:
    """`The launch is on 5 March`: what it is, and its day."""
    group = clause.group
    named = noun.sort in ("the", "owned") and _is_scheduled(noun)
    if not named or group.lemma not in _RUNS or group.negated or _recurs(clause) or len(clause.rest) > 6:
        return None
    moves = group.lemma == "move" or _begins(clause.rest, _MOVED)
    is_past = group.tense == "past" and not moves and not any(token.low in _SET for token in clause.rest)
    roles = ("at", "by", "since", "until", "range")
    when = next(
        (when for spot in clause.times if spot.role in roles and (when := spot.when("past" if is_past else "future"))),
        None,
    )
    if when is None:
        return None
    if moves and when.end is not None:
        when = replace(when, start=when.end, end=None)  # from one day to another: the second is the one that counts
    end = next((index for index, token in enumerate(clause.rest) if token.text in (",", "-", "—", ";")), None)
    said = phrase_of([*clause.verbs, *clause.rest[:end]], finite=False)
    if group.lemma == "be" and clause.rest[:end] and not _begins(clause.rest, _SET):
        return _took(msg, cast, f"{_subject_text(noun, clause, text, cast)} {said}", when, (), group.lemma)
    day = when.start[:16].replace("T", " at ")
    joint = next((joint for token in clause.rest if (joint := _JOINTS.get(token.low))), None)
    joint = joint or ("to" if group.lemma == "move" else "on" if len(day) >= 10 else "in")
    what = f"{_subject_text(noun, clause, text, cast)} {said} {joint} {day}"
    return _took(msg, cast, what, when, (), group.lemma)


_JOINTS = {"scheduled": "for", "set": "for", "planned": "for", "moved": "to", "postponed": "to", "pushed": "to"}
_MOVED = words("moved postponed pushed rescheduled shifted delayed")
_SET = words("scheduled set planned moved due postponed pushed")


def _is_scheduled(noun: Noun) -> bool:
    parts = noun.noun.replace(" of ", " for ").split(" for ")[0].split(" ")
    return parts[-1] in SCHEDULED or bool(SCHEDULED & set(noun.noun.split(" ")))


def _recurs(clause: Clause) -> bool:
    lows = {token.low for token in clause.rest}
    return clause.group.tense == "present" and bool(lows & (_RECURS | _DAYS)) and not clause.group.progressive


def _works(noun: Noun, clause: Clause) -> bool:
    group = clause.group
    is_group = noun.sort == "we" or (noun.sort in ("owned", "the") and noun.noun.split(" ")[-1] in GROUPS)
    is_work = group.lemma in _WORKING or (group.lemma == "be" and _begins(clause.rest, _SITED))
    says = any(token.kind in ("word", "number", "quote") and len(token.text) > 2 for token in clause.rest)
    return is_group and is_work and group.tense == "present" and says


def _is_unnamed_kin(noun: Noun) -> bool:
    """`my sister`, `our dog`, of a name that is not known."""
    word = core_noun(noun.noun)
    is_own = noun.sort == "owned" and not noun.name and noun.owner is not None and noun.owner.sort in ("i", "we")
    return is_own and (word in RELATIVES or word in PETS)


def _tells_of_kin(clause: Clause) -> bool:
    """Whether a clause tells something of them that lasts, or that happened."""
    group, rest = clause.group, clause.rest
    if not rest or group.can or (group.progressive and not any(map(_may_lie_ahead, clause.times))):
        return False
    if group.lemma == "be":
        return rest[0].low in ("allergic", "from", "born") and group.tense != "perfect"
    return group.lemma in _OF_KIN or (group.lemma in ("have", "get") and bool(_HAPPENINGS & {t.low for t in rest}))


def _may_lie_ahead(spot: Spot) -> bool:
    return spot.ahead or spot.reading[0] != spot.reading[1]


_OF_KIN = words(
    "live move work study join retire marry graduate visit buy sell start quit leave break adopt like love hate"
)
_HAPPENINGS = words(
    "surgery operation accident baby married divorced engaged promoted stroke twins job birthday cancer"
)


def _begins(rest: Sequence[Token], heads: frozenset[str]) -> bool:
    return bool(rest) and rest[0].low in heads


def _lasts(noun: Noun, clause: Clause) -> bool:
    """Whether a clause tells how somebody is or lives: `I'm married`, `Mia doesn't eat pork`, `I have two kids`."""
    group, rest = clause.group, clause.rest
    if noun.sort not in ("i", "name", "owned", "pronoun") or group.tense == "perfect":
        return False
    if group.no_longer and rest and group.tense == "present":
        return True
    if group.tense == "used_to" and group.lemma in _CONSUMING:
        return True
    if not rest:
        is_habit = group.tense == "present" and not group.progressive and not clause.times
        return is_habit and group.lemma in ("smoke", "drink", "drive")
    if group.lemma == "be" and rest[0].low == "born":
        return group.tense == "past" and bool(clause.times) and not group.negated
    if group.tense != "present" or group.progressive or clause.times:
        return False
    if group.lemma == "be" and rest[0].low == "at":
        return "now" in clause.adverbs | {rest[-1].low} and len(rest) < 5 and rest[1:2] != () and rest[1].is_capital
    if group.lemma == "be":
        at = next((index for index, token in enumerate(rest[:4]) if token.low in _STATES), -1)
        measured = all(token.kind == "number" or token.low in _MEASURES for token in rest[: max(at, 0)])
        return at >= 0 and measured and tail_of(rest[at + 1 :]) is not None
    if group.lemma == "have":
        return rest[0].low in _COUNTS | {"kids", "children"} and _has_relative(rest)
    if group.lemma == "play":
        return rest[0].low == "the" and len(rest) <= 3
    return group.lemma in _CONSUMING and (group.negated or group.no_longer) and len(rest) <= 4


def _has_relative(rest: Sequence[Token]) -> bool:
    said = [token.low for token in rest if token.kind == "word" and token.low not in _COUNTS]
    if not said or len(rest) > 4:
        return False
    noun = core_noun(" ".join(said))
    singular = noun.replace("children", "child").removesuffix("s")
    return any(name in RELATIVES or name in PETS for name in (noun, singular))


def _who(noun: Noun, clause: Clause, text: str, cast: Cast, msg: int) -> tuple[str, list[Thing]] | None:
    """How the subject is called and who takes part."""
    match noun.sort:
        case "i":
            return cast.called(cast.speaker), [cast.speaker]
        case "we":
            return f"{cast.called(cast.speaker)} and others", [cast.speaker]
        case "name" | "pronoun" | "owned":
            found = resolve(noun, cast, msg, sure=False)
            if found is not None and found[0].type in ("Person", "Pet", "Organization"):
                return cast.called(found[0]), [found[0]] if found[0].type == "Person" else []
            if noun.sort != "owned" or (
                found is None and noun.owner is not None and noun.owner.sort not in ("we", "i")
            ):
                return None
            return _subject_text(noun, clause, text, cast), []
        case "the":
            return _subject_text(noun, clause, text, cast), []
        case _:
            return None


def _subject_text(noun: Noun, clause: Clause, text: str, cast: Cast) -> str:
    """The subject as written; "my" and "our" are told of whose it is."""
    said = text[clause.start : clause.verbs[0].start].strip(" ,") if clause.verbs else noun.words
    if any(clause.start <= spot.start < clause.verbs[0].start for spot in clause.times) and noun.words in said:
        said = f"{said.partition(' ')[0]} {noun.words}" if noun.sort in ("owned", "the") else noun.words
    first, _, rest = said.partition(" ")
    owner = cast.called(cast.speaker)
    match first.lower():
        case "our" if not GROUPS & {rest.split(" ")[-1].lower()}:
            return f"the {rest}"
        case "my" | "our":
            return f"{owner}'s {rest}"
        case "the" | "a" | "an":
            return f"the {rest}"
        case _ if noun.sort == "owned" and noun.owner is not None and noun.owner.sort == "i":
            return f"{owner}'s {said[:1].lower()}{said[1:]}"
        case _:
            return f"the {said[:1].lower()}{said[1:]}" if noun.sort == "the" else said


def _verbs(noun: Noun, clause: Clause) -> list[Token]:
    """The verb group, of a first person in the third."""
    found = list(clause.verbs)
    if noun.sort != "i" or clause.group.tense != "present" or clause.group.can:
        return found
    for index, token in enumerate(found):
        if token.low in ("not", "never", "no", "longer") or token.low in ADVERBS:
            continue
        if token.low == "am" or (token.low == "have" and index == 0):
            return found
        if any(verb.form == "base" for verb in FORMS.get(token.low, ())) or token.low == "do":
            found[index] = replace(token, text=third(token.low), low=third(token.low))
        return found
    return found
