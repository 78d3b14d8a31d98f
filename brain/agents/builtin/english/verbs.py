"""English verbs: their forms, and the verb group at the head of a predicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.lexicon import words

Form = Literal["base", "s", "ing", "past", "part"]
Tense = Literal["present", "past", "perfect", "future", "used_to", "unreal"]

_REGULAR = """
live work move join leave:left,left like love hate prefer:preferred adore enjoy dislike favour favor own use adopt
switch change start:started quit:quit,quit resign retire relocate settle stay grow:grew,grown marry divorce name call
lead:led,led manage run:ran,run head launch enter reach finish complete deliver ship sign send:sent,sent submit
pay:paid,paid buy:bought,bought sell:sold,sold visit travel fly:flew,flown drive:drove,driven attend meet:met,met
see:saw,seen discuss agree decide present give:gave,given receive get:got,gotten win:won,won lose:lost,lost
break:broke,broken fix repair cancel book order hire graduate celebrate watch read:read,read write:wrote,written paint
publish release interview find:found,found deploy hurt:hurt,hurt injure fail pass return come:came,come go:went,gone
take:took,taken bring:brought,brought make:made,made build:built,built speak:spoke,spoken know:knew,known study
teach:taught,taught learn play collect keep:kept,kept need want plan promise remind remember forget:forgot,forgotten
tell:told,told say:said,said mention hear:heard,heard think:thought,thought believe guess suppose feel:felt,felt hope
wish try have:had,had do:did,done report review prepare organise organize arrange schedule confirm check pick clean
cook eat:ate,eaten drink:drank,drunk wear:wore,worn rent host help test update upload share reply answer email phone
text ring:rang,rung contact talk chat begin:began,begun end stop quit renew register apply enrol enroll translate
migrate install replace order borrow lend:lent,lent donate plant bake repaint sprain twist become:became,become turn
celebrate announce approve reject accept refuse offer promote elect appoint earn save spend:spent,spent invest open
close draft follow:followed set:set,set put:put,put cut:cut,cut hold:held,held catch:caught,caught swim:swam,swum camp
hike climb ski train practise practice perform record sing:sang,sung teach invite welcome introduce coordinate date
detest suffer understand:understood,understood mean:meant,meant avoid stand:stood,stood tolerate support consider
expect look commit swear:swore,sworn intend drop water feed:fed,fed walk ask owe wait guess realise realize notice
reserve smoke postpone own extend crash freeze:froze,frozen expire arrive respond load
"""
_DOUBLES = words("travel quit run get cut set put swim ship plan stop prefer commit chat drop begin forget")


@dataclass(frozen=True, slots=True)
class Verb:
    """A form of a verb."""

    lemma: str
    form: Form


@dataclass(frozen=True, slots=True)
class Group:
    """A verb group.

    lemma       of the main verb
    begin, end  where it stands in the tokens
    tense       unreal: would, could, might and the like, and what "was going to" happen
    negated     not, never (`never` too); `no_longer` for "no longer"
    agrees      whether the finite form is that of a third person singular (`lives`, `is`), None when it shows neither
    can, must   the modal verb before it
    """

    lemma: str
    end: int
    tense: Tense
    negated: bool = False
    never: bool = False
    no_longer: bool = False
    progressive: bool = False
    adverbs: frozenset[str] = frozenset()
    agrees: bool | None = None
    can: bool = False
    must: bool = False
    begin: int = 0


def _forms() -> dict[str, tuple[Verb, ...]]:
    table: dict[str, list[Verb]] = {}

    def add(form: str, lemma: str, kind: Form) -> None:
        verbs = table.setdefault(form, [])
        if Verb(lemma, kind) not in verbs:
            verbs.append(Verb(lemma, kind))

    for entry in _REGULAR.split():
        lemma, _, irregular = entry.partition(":")
        past, _, part = irregular.partition(",")
        past = past or _past(lemma)
        add(lemma, lemma, "base")
        add(third(lemma), lemma, "s")
        add(ing(lemma), lemma, "ing")
        add(past, lemma, "past")
        add(part or past, lemma, "part")
    add("has", "have", "s")
    add("does", "do", "s")
    return {form: tuple(verbs) for form, verbs in table.items()}


def third(lemma: str) -> str:
    """The form of a verb in the third person singular."""
    if lemma == "have":
        return "has"
    if lemma.endswith(("s", "x", "z", "ch", "sh")) or lemma in ("go", "do"):
        return lemma + "es"
    return lemma[:-1] + "ies" if lemma.endswith("y") and lemma[-2] not in "aeiou" else lemma + "s"


def _past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + (lemma[-1] if lemma in _DOUBLES else "") + "ed"


def ing(lemma: str) -> str:
    """The -ing form of a verb."""
    if lemma.endswith("e") and not lemma.endswith("ee"):
        return lemma[:-1] + "ing"
    return lemma + (lemma[-1] if lemma in _DOUBLES else "") + "ing"


FORMS = _forms()

ADVERBS = words(
    """
    also still now currently really just always actually recently usually already finally mostly once never
    originally absolutely definitely simply truly officially presently today mainly only even permanently
    temporarily soon eventually long formerly previously first then quickly gladly certainly surely both all
    strongly much generally typically often much finally newly
    """
)
HEDGES = words("probably maybe perhaps possibly apparently supposedly allegedly hopefully likely almost nearly")
_UNREAL = words("would could might may should ought must")
_BE = {"am": None, "is": True, "are": False, "was": None, "were": False, "be": None, "been": None, "being": None}
_HAVE = {"have": False, "has": True, "had": None}
_DO = {"do": False, "does": True, "did": None}


@dataclass(slots=True)
class _Seen:
    be: str = ""
    have: str = ""
    do: str = ""
    will: bool = False
    can: bool = False
    unreal: bool = False
    must: bool = False
    going: bool = False
    used: bool = False
    negated: bool = False
    never: bool = False
    no_longer: bool = False
    hedged: bool = False


def verb_group(tokens: Sequence[Token], at: int) -> Group | None:
    """The verb group that begins at `tokens[at]`, or None when none does."""
    seen, adverbs, index = _Seen(), set[str](), at
    while index < len(tokens):
        step = _auxiliary(tokens, index, seen, adverbs)
        if not step:
            break
        index += step
    if seen.hedged:
        return None
    main = _main(tokens, index, seen)
    if main is None:
        alone = _without_main(index, seen, adverbs)
        return replace(alone, begin=at) if alone else None
    verb, progressive = main
    return replace(_group(verb.lemma, index + 1, seen, adverbs, verb.form, progressive), begin=at)


def _auxiliary(tokens: Sequence[Token], index: int, seen: _Seen, adverbs: set[str]) -> int:
    """How many tokens of the group stand here before its main verb; 0 when none."""
    return _particle(tokens, index, seen, adverbs) or _helping_verb(tokens, index, seen)


def _particle(tokens: Sequence[Token], index: int, seen: _Seen, adverbs: set[str]) -> int:
    """Negation, adverbs, `going to`, `used to`."""
    low = tokens[index].low
    after = tokens[index + 1].low if index + 1 < len(tokens) else ""
    if low in ("not", "never"):
        seen.negated = True
        seen.never = seen.never or low == "never"
        return 1
    if low == "no" and after == "longer":
        seen.no_longer = True
        return 2
    if low in HEDGES:
        seen.hedged = True
        return 1
    if low == "going" and seen.be and after == "to" and index + 2 < len(tokens) and _is_base(tokens[index + 2]):
        seen.going = True
        return 2
    if low == "used" and after == "to" and not seen.be:
        seen.used = True
        return 2
    if low in ADVERBS and tokens[index].kind == "word":
        adverbs.add(low)
        return 1
    return 0


def _helping_verb(tokens: Sequence[Token], index: int, seen: _Seen) -> int:
    low = tokens[index].low
    is_first = not (seen.be or seen.have or seen.do or seen.will or seen.can or seen.unreal)
    if low in _BE and not (seen.do or (seen.going and low != "be")):
        seen.be = low
    elif low == "'s" and is_first:
        seen.be = "is"
    elif low in _HAVE and is_first and _takes_participle(tokens, index + 1):
        seen.have = low
    elif low in _DO and is_first and _takes_base(tokens, index + 1):
        seen.do = low
    elif low in ("will", "shall") and is_first:
        seen.will = True
    elif low == "can":
        seen.can = True
    elif low in _UNREAL or (low == "'d" and is_first):
        seen.unreal, seen.must = True, low == "must"
    else:
        return 0
    return 1


def _is_base(token: Token) -> bool:
    return token.low == "be" or any(verb.form == "base" for verb in FORMS.get(token.low, ()))


def _skip_adverbs(tokens: Sequence[Token], index: int) -> int:
    while index < len(tokens) and (tokens[index].low in ADVERBS or tokens[index].low in ("not", "never")):
        index += 1
    return index


def _takes_participle(tokens: Sequence[Token], index: int) -> bool:
    index = _skip_adverbs(tokens, index)
    if index + 1 < len(tokens) and tokens[index].low == "no" and tokens[index + 1].low == "longer":
        index = _skip_adverbs(tokens, index + 2)
    if index >= len(tokens):
        return False
    return tokens[index].low == "been" or any(verb.form == "part" for verb in FORMS.get(tokens[index].low, ()))


def _takes_base(tokens: Sequence[Token], index: int) -> bool:
    index = _skip_adverbs(tokens, index)
    if index + 1 < len(tokens) and tokens[index].low == "no" and tokens[index + 1].low == "longer":
        index = _skip_adverbs(tokens, index + 2)
    return index < len(tokens) and (_is_base(tokens[index]) or tokens[index].low in ("have", "do"))


def _main(tokens: Sequence[Token], index: int, seen: _Seen) -> tuple[Verb, bool] | None:
    if index >= len(tokens) or tokens[index].kind != "word":
        return None
    verbs = FORMS.get(tokens[index].low, ())
    if seen.do or seen.will or seen.can or seen.unreal or seen.going or seen.used:
        wanted: tuple[Form, ...] = ("base",)
    elif seen.have and not seen.be:
        wanted = ("part",)
    elif seen.be:
        wanted = ("ing",)
    else:
        wanted = ("s", "past", "base")
    if seen.be and not seen.going:
        wanted = ("ing",)
    for form in wanted:
        for verb in verbs:
            if verb.form == form:
                return verb, form == "ing"
    return None


def _without_main(index: int, seen: _Seen, adverbs: set[str]) -> Group | None:
    """A group whose auxiliary is its main verb: `is a nurse`, `had been ill`."""
    if seen.be:
        return _group("be", index, seen, adverbs, "base", progressive=False)
    if seen.have:
        return _group("have", index, seen, adverbs, "base", progressive=False)
    return None


def _group(lemma: str, end: int, seen: _Seen, adverbs: set[str], form: Form, progressive: bool) -> Group:
    tense: Tense = "present"
    if seen.unreal or (seen.going and seen.be in ("was", "were")):
        tense = "unreal"
    elif seen.will or seen.going:
        tense = "future"
    elif seen.used:
        tense = "used_to"
    elif seen.have:
        tense = "past" if seen.have == "had" else "perfect"
    elif seen.be in ("was", "were") or seen.do == "did" or (form == "past" and not seen.be):
        tense = "past"
    if lemma in ("stand", "bear") and seen.can and seen.negated:
        return Group("hate", end, tense, adverbs=frozenset(adverbs))
    agrees = (
        _HAVE.get(seen.have) if seen.have else _DO.get(seen.do) if seen.do else _BE.get(seen.be) if seen.be else None
    )
    if not (seen.have or seen.do or seen.be or seen.will or seen.can or seen.unreal or seen.used):
        agrees = True if form == "s" else False if form == "base" else None
    return Group(
        lemma,
        end,
        tense,
        negated=seen.negated,
        never=seen.never,
        no_longer=seen.no_longer,
        progressive=progressive,
        adverbs=frozenset(adverbs),
        agrees=agrees,
        can=seen.can,
        must=seen.must,
    )
