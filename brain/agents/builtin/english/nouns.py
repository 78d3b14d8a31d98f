"""English noun phrases: who or what a clause is about, before names are resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.english.verbs import ADVERBS, FORMS
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import PETS, RELATIVES

Sort = Literal["i", "we", "you", "pronoun", "it", "name", "owned", "the"]


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun phrase.

    sort     i, we, you; pronoun: he, she, they; it: it, this, that; name: a proper name; owned: something of
             somebody's; the: a described thing (`the wifi code`, `the lead of Falcon`)
    words    as written, without determiner
    name     for `owned` and `the`: the name given with it (`my sister Mia`), else empty
    noun     for `owned` and `the`: the describing noun in lower case (`sister`, `favourite color`, `wifi code`)
    owner    for `owned`: whose
    first    a name at the head of its sentence, where a capital proves nothing
    """

    sort: Sort
    words: str
    end: int
    name: str = ""
    noun: str = ""
    owner: Noun | None = None
    first: bool = False


_PRONOUNS = {"i": "i", "we": "we", "you": "you", "he": "pronoun", "she": "pronoun", "they": "pronoun", "it": "it",
             "this": "it", "that": "it"}  # fmt: skip
_OBJECT_PRONOUNS = {"me": "i", "us": "we", "him": "pronoun", "her": "pronoun", "them": "pronoun"}
_POSSESSIVES = {
    "my": "i",
    "our": "we",
    "your": "you",
    "his": "pronoun",
    "her": "pronoun",
    "their": "pronoun",
    "its": "it",
}

PARTICLES = words("de da di del della van von der den dos das du la le bin al el ter ten")
NOT_NAMES = words(
    """
    i a an the this that these those my your his her its our their and or but so if when while because although
    though yes no ok okay hi hello hey thanks thank please sorry well oh great nice good bad sure right also then
    there here who what where why how which whose whom everyone everybody nobody someone somebody anyone anybody
    people all both some most many few each every none another other others something nothing everything anything
    today tomorrow yesterday now later soon maybe perhaps actually honestly basically currently finally recently
    just still only even again let do does did is are was were am be been has have had will would can could shall
    should may might must not never mom mum dad mother father grandma grandpa sister brother kids cats dogs morning
    evening monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december in on at by for from to with without of about after before since until
    during under over between into as like than btw fyi ps lol haha wow hmm ah update note reminder correction edit
    question answer god jesus internet english french german spanish chinese japanese italian portuguese dutch
    russian korean arabic management marketing engineering legal it's it he she we you they me us him them mr mrs ms
    dr prof once unless whether both either neither
    """
)
"""Words that begin with a capital without naming anybody."""
_TITLES = words("mr mrs ms dr prof professor sir")
_EVALUATING = words(
    """
    good best bad worst great old new little big older younger elder youngest oldest twin dear beloved only close
    current former ex own personal work private
    """
)


def is_name_word(token: Token, *, first: bool) -> bool:
    """Whether a token can be part of a proper name."""
    if token.kind != "word" or not token.is_capital or token.low in NOT_NAMES:
        return False
    verbs = FORMS.get(token.low, ())
    return not (first and any(verb.form in ("base", "ing") for verb in verbs) and len(token.text) > 1)


def name_at(tokens: Sequence[Token], at: int, *, first: bool = False) -> tuple[str, int] | None:
    """The proper name that begins at `tokens[at]` and where it ends."""
    index, words = at, list[str]()
    if at < len(tokens) and tokens[at].low in _TITLES and tokens[at].is_capital:
        words.append(tokens[at].text.rstrip("."))
        index = _after_dot(tokens, at + 1)
    begin = index
    while index < len(tokens) and len(words) < 6:
        token = tokens[index]
        if is_name_word(token, first=first and index == 0):
            words.append(token.text)
        elif not (words and token.low in PARTICLES and _name_follows(tokens, index)):
            break
        else:
            words.append(token.text)
        index += 1
    if index == begin:
        return None
    return " ".join(words), index


def _after_dot(tokens: Sequence[Token], index: int) -> int:
    return index + 1 if index < len(tokens) and tokens[index].text == "." else index


def _name_follows(tokens: Sequence[Token], index: int) -> bool:
    ahead = index + 1
    while ahead < len(tokens) and tokens[ahead].low in PARTICLES:
        ahead += 1
    return ahead < len(tokens) and is_name_word(tokens[ahead], first=False)


def noun_at(tokens: Sequence[Token], at: int, cast: Cast, *, objects: bool = False) -> Noun | None:
    """The noun phrase that begins at `tokens[at]`; `objects` also takes me, him, her."""
    if at >= len(tokens):
        return None
    token = tokens[at]
    low = token.low
    if objects and low in _OBJECT_PRONOUNS and not (low == "her" and _owned_noun(tokens, at + 1)):
        return Noun(_OBJECT_PRONOUNS[low], token.text, at + 1)  # type: ignore[arg-type]
    if low in _PRONOUNS:
        return Noun(_PRONOUNS[low], low, at + 1)  # type: ignore[arg-type]
    if low in _POSSESSIVES:
        owner = Noun(_POSSESSIVES[low], low, at + 1)  # type: ignore[arg-type]
        return _owned(tokens, at + 1, owner, cast)
    if low == "the":
        return _described(tokens, at, cast)
    known, spelled = _known_name(tokens, at, cast), name_at(tokens, at, first=at == 0)
    # Ana Silva is not the Ana who is known: a person's name goes as far as it is spelled.
    named = spelled if known and spelled and spelled[1] > known[1] and cast.is_person(known[0]) else known or spelled
    if named is None:
        return None
    name, end = named
    noun = Noun("name", name, end, first=at == 0 and tokens[0].start == 0)
    if end + 2 < len(tokens) and tokens[end].text == "," and tokens[end + 1].low in _POSSESSIVES:
        apposed = _apposed(tokens, end + 1, name)
        if apposed is not None:
            return apposed
    if end < len(tokens) and tokens[end].low == "'s" and _owned_noun(tokens, end + 1):
        return _owned(tokens, end + 1, noun, cast)
    return _project(tokens, noun)


def _apposed(tokens: Sequence[Token], at: int, name: str) -> Noun | None:
    """`Tom, my brother, …`: the same as `my brother Tom`."""
    found = _owned_noun(tokens, at + 1)
    if found is None or found[1] >= len(tokens) or tokens[found[1]].text != "," or core_noun(found[0]) not in RELATIVES:
        return None
    owner = Noun(_POSSESSIVES[tokens[at].low], tokens[at].low, at + 1)  # type: ignore[arg-type]
    return Noun("owned", found[0], found[1] + 1, name, found[0], owner)


def _known_name(tokens: Sequence[Token], at: int, cast: Cast) -> tuple[str, int] | None:
    """A name memory knows, written as it likes: lower case, or more words than capitals."""
    for length in (4, 3, 2, 1):
        part = tokens[at : at + length]
        if len(part) < length or any(token.kind not in ("word", "number") for token in part):
            continue
        name = " ".join(token.text for token in part)
        found = cast.find(name)
        if found is not None and (length > 1 or part[0].is_capital or name.casefold() not in NOT_NAMES):
            return name, at + length
    return None


def _owned_noun(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    """A describing noun of one to five words: `sister`, `best friend`, `favourite ice cream`, `wifi code`."""
    words, index = list[str](), at
    best: tuple[str, int] | None = None
    while index < len(tokens) and len(words) < 5:
        token = tokens[index]
        if token.kind != "word" or (token.is_capital and words and token.low not in ("wifi", "wi-fi", "pin", "id")):
            break
        if token.low in _ENDS_NOUN:
            break
        if (token.low in NOT_NAMES and token.low not in _KIN_WORDS) or token.low in ADVERBS:
            break
        verbs = FORMS.get(token.low, ())
        if words and any(verb.form in ("s", "past") for verb in verbs) and token.low not in ("left",):
            break
        words.append(token.low)
        index += 1
        if " ".join(words) in RELATIVES or words[-1] in RELATIVES or words[-1] in PETS:
            best = (" ".join(words), index)
    if best and (best[1] == index or tokens[best[1]].low in FORMS):
        return best
    return (" ".join(words), index) if words else None


_ENDS_NOUN = words(
    "anymore any longer either too also though is are was were 's and or will has had have who which that"
)
_KIN_WORDS = words("mom mum dad mother father grandma grandpa sister brother kids cats dogs")


def _owned(tokens: Sequence[Token], at: int, owner: Noun, cast: Cast) -> Noun | None:
    found = _owned_noun(tokens, at)
    if found is None:
        return None
    noun, index = found
    name, end = _name_after(tokens, index, cast)
    if (
        end < len(tokens)
        and tokens[end].low == "'s"
        and _owned_noun(tokens, end + 1)
        and not _is_verbal(tokens, end + 1)
    ):
        return _owned(tokens, end + 1, Noun("owned", noun, end, name, noun, owner), cast)
    return Noun("owned", noun, end, name, noun, owner)


def _is_verbal(tokens: Sequence[Token], at: int) -> bool:
    """Whether `'s` before this token is "is": an -ing form, an article, "not" follow."""
    token = tokens[at]
    if token.is_capital and token.low not in (
        "github",
        "gitlab",
        "twitter",
        "instagram",
        "telegram",
        "linkedin",
        "discord",
    ):
        return True
    return token.low in ("a", "an", "the", "not", "in", "at", "from") or any(
        verb.form == "ing" for verb in FORMS.get(token.low, ())
    )


def _name_after(tokens: Sequence[Token], index: int, cast: Cast) -> tuple[str, int]:
    """The name after a describing noun: `sister Mia`, `sister, Mia,`, `dog "Rex"`."""
    if index < len(tokens):
        if tokens[index].kind == "quote":
            return tokens[index].said.strip(), index + 1
        if tokens[index].low in ("named", "called") and index + 1 < len(tokens):
            return _name_after(tokens, index + 1, cast)
        named = _known_name(tokens, index, cast) if tokens[index].is_capital else None
        named = named or name_at(tokens, index)
        if named:
            return named
        if tokens[index].text in (",", "(") and index + 1 < len(tokens):
            named = name_at(tokens, index + 1)
            if named and named[1] < len(tokens) and tokens[named[1]].text in (",", ")"):
                return named[0], named[1] + 1
    return "", index


_OF_NAMED = frozenset(("deadline", "due date"))
"""Nouns that a project's name may stand before: `the Heron deadline`."""


def _described(tokens: Sequence[Token], at: int, cast: Cast) -> Noun | None:
    """`the wifi code`, `the lead of Falcon`, `the Falcon project`, `the code for the garage`."""
    named = name_at(tokens, at + 1)
    if named and named[1] < len(tokens) and tokens[named[1]].low == "project":
        return Noun("the", f"{named[0]} project", named[1] + 1, named[0], "project")
    if named and tokens[at + 1].is_capital:
        headed = _owned_noun(tokens, named[1])
        if headed and headed[0] in _OF_NAMED:
            return Noun("the", f"{named[0]} {headed[0]}", headed[1], named[0], headed[0])
    found = _owned_noun(tokens, at + 1)
    if found is None:
        if named is None:
            return None
        noun = Noun("name", named[0], named[1])
        if named[1] < len(tokens) and tokens[named[1]].low == "'s" and _owned_noun(tokens, named[1] + 1):
            return _owned(tokens, named[1] + 1, noun, cast)
        after = _owned_noun(tokens, named[1])
        if after:
            return Noun("the", f"{named[0]} {after[0]}", after[1], named[0], after[0])
        return noun
    noun_words, index = found
    if noun_words == "project":
        name, index = _name_after(tokens, index, cast)
        return Noun("the", noun_words, index, name, noun_words)
    if index < len(tokens) and tokens[index].low in ("of", "for", "on", "to", "at"):
        start = index + 1 + (1 if index + 1 < len(tokens) and tokens[index + 1].low in ("the", "my", "our") else 0)
        of = name_at(tokens, start) if start < len(tokens) else None
        if of:
            end = of[1] + (1 if of[1] < len(tokens) and tokens[of[1]].low == "project" else 0)
            return Noun("the", noun_words, end, of[0], noun_words)
        rest = _owned_noun(tokens, start)
        if rest:
            return Noun("the", f"{noun_words} {tokens[index].low} {rest[0]}", rest[1], "", f"{rest[0]} {noun_words}")
    return Noun("the", noun_words, index, "", noun_words)


def _project(tokens: Sequence[Token], noun: Noun) -> Noun:
    """`Project Falcon` is the project of that name."""
    head, _, rest = noun.words.partition(" ")
    if head.lower() == "project" and rest:
        return Noun("the", rest, noun.end, rest, "project")
    if noun.end < len(tokens) and tokens[noun.end].low == "project":
        return Noun("the", noun.words, noun.end + 1, noun.words, "project")
    return noun


def core_noun(noun: str) -> str:
    """A describing noun without its judging adjectives: `little sister` keeps only what the tables know."""
    words = noun.split(" ")
    while len(words) > 1 and " ".join(words) not in RELATIVES and words[0] in _EVALUATING:
        words = words[1:]
    return " ".join(words)
