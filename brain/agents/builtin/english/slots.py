"""What may stand in a slot of a frame: places, organisations, people, roles, options, languages, values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from brain.agents.builtin.cast import Cast, Unclear
from brain.agents.builtin.english.nouns import NOT_NAMES, Noun, is_name_word, name_at, noun_at
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.english.verbs import FORMS, ing
from brain.agents.builtin.facts import Thing
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import PETS, RELATIVES
from brain.agents.builtin.lexicon.places import NO_PLACE, PLACES
from brain.agents.builtin.lexicon.things import (
    BREEDS,
    CONDITIONS,
    DIETS,
    KEEPABLES,
    KIND_HEADS,
    KIND_OF,
    LANGUAGES,
    MAKES,
    MEDICINES,
    PHASES,
    ROLE_HEADS,
    TOOL_KINDS,
    VEHICLES,
)
from brain.agents.builtin.text import pattern


@dataclass(frozen=True, slots=True)
class Scene:
    """What a slot may ask about the sentence around it.

    careless  the writer uses no capitals, so that a name without one is a name
    """

    text: str
    cast: Cast
    careless: bool


Found: TypeAlias = Iterator[tuple[Any, int]]
"""Values that can begin at a token, each with the index after it, the likeliest first."""

Slot: TypeAlias = Callable[[Scene, Sequence[Token], int], Found]


def place(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A place name; with the larger place after a comma as `(place, larger)`."""
    index = at
    while index < len(tokens) and tokens[index].low in (
        "downtown",
        "central",
        "northern",
        "southern",
        "eastern",
        "western",
    ):
        index += 1
    if index < len(tokens) and tokens[index].low in NO_PLACE:
        return
    found = _proper(scene, tokens, index, "Place")
    if found is None:
        found = _lower_place(scene, tokens, index)
    if found is None or (scene.cast.is_person(found[0]) and found[0].casefold() not in PLACES):
        return
    name, end = found
    if end + 1 < len(tokens) and tokens[end].text == ",":
        larger = _proper(scene, tokens, end + 1, "Place")
        if larger and not scene.cast.is_person(larger[0]):
            yield (scene.cast.thing(name, "Place"), scene.cast.thing(larger[0], "Place")), larger[1]
    yield (scene.cast.thing(name, "Place"), None), end


def organisation(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """The name of a company, school, club or team."""
    found = _proper(scene, tokens, at, "Organization")
    if found is None and scene.careless and at < len(tokens) and _plain_word(tokens[at]):
        if tokens[at].low not in NO_PLACE and tokens[at].low not in PLACES:
            found = tokens[at].text, at + 1
    if found is None:
        return
    held = scene.cast.find(found[0])
    if found[0].casefold() in PLACES and (held is None or isinstance(held, Unclear) or held.type != "Organization"):
        return
    if isinstance(held, Unclear) or (held is not None and held.type in ("Person", "Place")):
        return
    yield scene.cast.thing(found[0], "Organization"), found[1]


def named_organisation(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """An organisation whose name shows that it is one: with a capital, or known."""
    yield from organisation(replace(scene, careless=False), tokens, at)


def group(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A team or club under its name: `the design team`, `the Falcon chess club`."""
    index = at + 1 if at < len(tokens) and tokens[at].low in ("the", "a", "our") else at
    words: list[str] = []
    while index < len(tokens) and len(words) < 5 and tokens[index].kind == "word":
        words.append(tokens[index].text)
        index += 1
        if tokens[index - 1].low in _GROUPS and len(words) > 1:
            yield Thing(" ".join(words), "Organization"), index
            return


_GROUPS = words("team club choir band orchestra union committee board association society group league squad guild")


def person(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A noun phrase that can mean a person; resolved by the reader."""
    noun = noun_at(tokens, at, scene.cast, objects=True)
    if noun is not None and noun.sort in ("i", "pronoun", "name", "owned", "you"):
        yield noun, noun.end


def people(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """One person or several, `Ana, Tom and Eva`, as a tuple of noun phrases."""
    nouns: list[Noun] = []
    index = at
    while True:
        found = next(person(scene, tokens, index), None)
        if found is None:
            break
        nouns.append(found[0])
        end = index = found[1]
        if index < len(tokens) and tokens[index].low in (",", "and"):
            index += 1
            if index < len(tokens) and tokens[index].low == "and":
                index += 1
            continue
        break
    if nouns:
        yield tuple(nouns), end


def kin(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """Relatives by their noun, one or several: `a sister`, `two kids`; the noun in the singular."""
    index = at
    while index < len(tokens) and (tokens[index].low in _COUNTS or tokens[index].kind == "number"):
        index += 1
    for length in (2, 1):
        words_said = " ".join(token.low for token in tokens[index : index + length])
        for noun in (words_said, words_said.removesuffix("s"), words_said.replace("children", "child")):
            if noun in RELATIVES and index + length <= len(tokens):
                yield noun, index + length
                return


_COUNTS = words("a an one two three four five six")


def new_name(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A name being given: capitals, a quotation, or one word of a writer without capitals."""
    if at < len(tokens) and tokens[at].kind == "quote":
        yield tokens[at].said.strip(), at + 1
        return
    found = name_at(tokens, at)
    if found is None and scene.careless and at < len(tokens) and _plain_word(tokens[at]):
        found = tokens[at].text.capitalize(), at + 1
    if found:
        yield found


def names(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """Names being given, `Miso and Tofu`."""
    found: list[str] = []
    index = end = at
    while (one := next(new_name(scene, tokens, index), None)) is not None:
        found.append(one[0])
        end = index = one[1]
        if index < len(tokens) and tokens[index].low in ("and", ",", "&"):
            index += 1
            continue
        break
    if found:
        yield tuple(found), end


def role(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001 - every slot takes the scene
    """A job title, article and praise left out: `senior data engineer`, `head of marketing`."""
    index = at
    while index < len(tokens) and tokens[index].low in ("a", "an", "the", "their", "our", "new", "former"):
        index += 1
    words: list[str] = []
    ends: list[tuple[str, int]] = []
    while index < len(tokens) and len(words) < 6 and tokens[index].kind == "word":
        token = tokens[index]
        if token.low in _JUDGING or (
            token.low in NOT_NAMES and token.low not in ("engineering", "marketing", "management")
        ):
            break
        words.append(token.text)
        index += 1
        if token.low in ("head", "vp", "director", "chief", "dean", "chair", "president") and _of_field(tokens, index):
            field, index = _of_field(tokens, index) or ("", index)
            ends.append((" ".join([*words, "of", field]), index))
            break
        if token.low in ROLE_HEADS and not (token.low in _NEEDS_KIND and len(words) == 1):
            ends.append((" ".join(words), index))
    for title, end in reversed(ends):
        yield Thing(title if title.isupper() or title[1:2].isupper() else title.lower(), "Role"), end


_JUDGING = words(
    """
    good great bad terrible awful better best big huge slow fast careful heavy light proud born natural
    """
)
_NEEDS_KIND = words("lead driver reader operator tester officer model cook")


def _of_field(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    if at + 1 < len(tokens) and tokens[at].low == "of" and tokens[at + 1].kind == "word":
        words = [tokens[at + 1].text]
        index = at + 2
        while index < len(tokens) and tokens[index].kind == "word" and tokens[index].low in _FIELD_WORDS:
            words.append(tokens[index].text)
            index += 1
        return " ".join(words).lower(), index
    return None


_FIELD_WORDS = words("and engineering design marketing development science research resources product sales staff")

STOPS = words(
    """
    over than rather instead because but since so when while if as though although which who whom that where anymore
    too very at from for to and or every per until unless despite even about after before during per these those it
    them him her you me us this is are was were will would can could more most best much now again either neither
    unlike whenever
    """
)
_INNER = frozenset(("of", "with", "in", "on"))
_DETERMINERS = words("a an the some any all")


def thing(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """A short noun phrase as written, determiner left out, the longest first."""
    index = at
    while index < len(tokens) and tokens[index].low in _DETERMINERS:
        index += 1
    begin, ends = index, list[int]()
    while index < len(tokens) and index - begin < 6:
        token = tokens[index]
        if token.kind not in ("word", "number", "quote") or token.low in STOPS or token.low == "'s":
            break
        if index == begin and token.low in NOT_NAMES and token.low not in _THING_WORDS:
            break
        index += 1
        if token.low not in _INNER and token.low not in _DETERMINERS:
            ends.append(index)
    for end in reversed(ends):
        yield phrase(tokens[begin:end]), end


_THING_WORDS = words(
    """
    english french german spanish chinese japanese italian portuguese dutch russian korean arabic cats dogs morning
    evening internet marketing engineering
    """
)


def phrase(tokens: Sequence[Token]) -> str:
    """Words joined as written; a quotation without its marks."""
    words = [token.said if token.kind == "quote" else token.text for token in tokens]
    text = " ".join(word for word in words if word)
    return text if not (text[:1].isupper() and text[1:].islower() and text.lower() in _SENTENCE_CASE) else text.lower()


_SENTENCE_CASE = frozenset(["tea", "coffee", "music", "pizza"])


def things(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """One noun phrase or several, `tea, coffee and jazz`, as a tuple of texts."""
    found: list[str] = []
    index = end = at
    while (one := next(thing(scene, tokens, index), None)) is not None:
        found.append(one[0])
        end = index = one[1]
        if index < len(tokens) and tokens[index].low in (",", "and", "&"):
            index += 1
            if index < len(tokens) and tokens[index].low == "and":
                index += 1
            continue
        break
    if found:
        yield tuple(found), end


def languages(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """Languages as BCP 47 tags, `English, some German and Farsi`."""
    tags: list[str] = []
    index = end = at
    while index < len(tokens):
        low = tokens[index].low
        if low in LANGUAGES:
            tags.append(LANGUAGES[low])
            end = index + 1
        elif low not in (
            ",",
            "and",
            "both",
            "fluent",
            "fluently",
            "a",
            "bit",
            "little",
            "of",
            "some",
            "basic",
            "native",
            "good",
            "well",
            "also",
            "&",
        ):
            break
        index += 1
    if tags:
        yield tuple(dict.fromkeys(tags)), end


def diet(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    index = at + 1 if at < len(tokens) and tokens[at].low in ("a", "an", "the", "strictly", "strict") else at
    for length in (2, 1):
        words = " ".join(token.low for token in tokens[index : index + length])
        if words in DIETS and index + length <= len(tokens):
            yield Thing(DIETS[words], "Diet"), index + length
            return


def condition(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    for length in (4, 3, 2, 1):
        words = " ".join(token.low for token in tokens[at : at + length])
        if words in CONDITIONS and at + length <= len(tokens):
            yield Thing(words, "HealthCondition"), at + length
            return


def pet(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """An animal kept at home, by its species; counts and articles left out."""
    index = at
    while index < len(tokens) and (
        tokens[index].low
        in ("a", "an", "two", "three", "four", "my", "our", "new", "little", "old", "young", "black", "white")
        or tokens[index].kind == "number"
    ):
        index += 1
    for length in (2, 1):
        words = " ".join(token.low for token in tokens[index : index + length])
        singular = words.removesuffix("s") if words not in PETS else words
        if singular in PETS and index + length <= len(tokens):
            yield PETS[singular], index + length
            return


def project(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A project: one memory knows, or a name with the word project."""
    noun = noun_at(tokens, at, scene.cast)
    if noun is None:
        return
    if noun.sort == "the" and noun.noun == "project" and noun.name:
        yield scene.cast.thing(noun.name, "Project"), noun.end
    elif noun.sort == "name":
        held = scene.cast.find(noun.words)
        if isinstance(held, Thing) and held.type == "Project":
            yield held, noun.end


def doing(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """What one likes to do, `to cook Thai food`, named as an activity: `cooking Thai food`."""
    if at + 1 >= len(tokens) or tokens[at].low != "to":
        return
    verb = next((verb for verb in FORMS.get(tokens[at + 1].low, ()) if verb.form == "base"), None)
    if verb is None:
        return
    end = at + 2
    while end < len(tokens) and tokens[end].kind == "word" and tokens[end].low not in STOPS and end - at < 6:
        end += 1
    yield " ".join([ing(verb.lemma), *(token.text for token in tokens[at + 2 : end])]), end


def possession(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """One particular thing somebody has; `a red Tesla` is a Vehicle when its last word or make says so."""
    if at < len(tokens) and tokens[at].low in ("a", "an", "the", "this", "two", "three"):
        for words, end in thing(scene, tokens, at):
            yield Thing(words, "Vehicle" if _is_vehicle(words) else "Thing"), end


def vehicle(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    if at < len(tokens) and tokens[at].low in ("a", "an", "my"):
        for words, end in thing(scene, tokens, at + 1):
            if _is_vehicle(words):
                yield Thing(words, "Vehicle"), end


def _is_vehicle(words: str) -> bool:
    parts = words.lower().split(" ")
    return parts[-1] in VEHICLES or any(part in MAKES for part in parts)


def tool(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """Something one works with: of a known kind, or written like a product's name."""
    for words, end in thing(scene, tokens, at):
        kind = KIND_OF.get(words.lower())
        if kind in TOOL_KINDS or (kind is None and words[:1].isupper() and not scene.cast.is_person(words)):
            held = scene.cast.find(words)
            if held is None or (isinstance(held, Thing) and held.type == "Tool"):
                yield scene.cast.thing(words, "Tool"), end


def tools(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """Tools, `Vim and Python`, as a tuple."""
    found: list[Thing] = []
    index = end = at
    while (one := next(tool(scene, tokens, index), None)) is not None:
        found.append(one[0])
        end = index = one[1]
        if index < len(tokens) and tokens[index].low in (",", "and", "&"):
            index += 1
            continue
        break
    if found:
        yield tuple(found), end


def option(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """An option of a kind the tables know; others are not told apart from anything else one may switch to."""
    for words, end in thing(scene, tokens, at):
        if words.lower() in KIND_OF or words.lower().split(" ")[-1] in KIND_HEADS:
            yield words, end


def kept(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """Something that is kept somewhere: `my passport`, `the spare key`."""
    if at < len(tokens) and tokens[at].low in ("my", "the", "our"):
        for words, end in thing(scene, tokens, at + 1):
            if words.lower().split(" ")[-1] in KEEPABLES:
                yield Thing(words, "Thing"), end


def where(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """Where something is kept: `the top drawer`."""
    if at < len(tokens) and tokens[at].low in ("my", "the", "our", "a"):
        for words, end in thing(scene, tokens, at + 1):
            yield Thing(words, "Thing"), end


def years(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """An age in years; without the word "years" the number must end the clause."""
    if at < len(tokens) and tokens[at].text.isdecimal() and 0 < int(tokens[at].text) < 130:
        if at + 1 == len(tokens) or tokens[at + 1].low in ("year", "years"):
            yield int(tokens[at].text), at + 1


def phase(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """A project's phase, one to three words."""
    words: list[str] = []
    for index in range(at, min(at + 3, len(tokens))):
        token = tokens[index]
        if (
            token.kind != "word"
            or token.low in ("phase", "stage", "from", "to", "into", "the", "a", "an")
            or token.low in STOPS
        ):
            return
        words.append(token.text)
        joined = " ".join(words).lower()
        ends = index + 1 == len(tokens)
        if joined in PHASES or (not ends and tokens[index + 1].low in ("phase", "stage")):
            yield joined, index + 1


def medicine(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    if at < len(tokens) and tokens[at].low in MEDICINES:
        yield Thing(tokens[at].low, "Substance"), at + 1


def diabetic(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """Conditions said as adjectives."""
    held = {"diabetic": "diabetes", "asthmatic": "asthma", "epileptic": "epilepsy", "dyslexic": "dyslexia"}
    if at < len(tokens) and tokens[at].low in held:
        yield Thing(held[tokens[at].low], "HealthCondition"), at + 1


def breed(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    for length in (2, 1):
        words = " ".join(token.low for token in tokens[at : at + length])
        if words in BREEDS and at + length <= len(tokens):
            yield words, at + length
            return


def email(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    if at < len(tokens) and tokens[at].kind == "address" and "@" in tokens[at].text:
        yield tokens[at].text.rstrip("."), at + 1


_PHONE = pattern(r"^\+?[\d(][\d ().\/-]{4,22}\d$")


def phone(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A telephone number of six digits or more, as written."""
    end = at
    while end < len(tokens) and (tokens[end].text[:1] in "+(-)/." or tokens[end].text[:1].isdigit()):
        end += 1
    if end > at:
        number = scene.text[tokens[at].start : tokens[end - 1].end].strip(" .-")
        if _PHONE.match(number) and sum(char.isdigit() for char in number) >= 6:
            yield number, end


def code(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A code as written: figures, capitals, a quotation, up to three groups."""
    end = at
    while end < len(tokens) and end - at < 6 and _is_code_part(tokens[end], end > at):
        end += 1
    while end > at and tokens[end - 1].kind == "mark":
        end -= 1
    if end == at:
        return
    if tokens[at].kind == "quote":
        yield tokens[at].said.strip(), at + 1
        return
    said = scene.text[tokens[at].start : tokens[end - 1].end]
    if any(char.isdigit() for char in said) or said.isupper():
        yield said, end


def _is_code_part(token: Token, inside: bool) -> bool:
    if token.kind in ("number", "quote"):
        return True
    if token.kind == "word":
        return token.text.isupper() or any(char.isdigit() for char in token.text)
    return token.text in ("#", "*") or (inside and token.text == "-")


def handle(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """A name on a service: one word, `@` left out."""
    index = at + 1 if at < len(tokens) and tokens[at].text == "@" else at
    if index + 1 == len(tokens) and tokens[index].kind in ("word", "number", "quote"):
        yield (tokens[index].said or tokens[index].text), index + 1


_ZONE = pattern(
    r"^(?:[A-Z][A-Za-z]+(?:/[A-Za-z_]+)+|(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d{2})?)?|[+-]\d{2}:\d{2})$", ignore_case=False
)


def timezone(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """An IANA name or a UTC offset."""
    if at < len(tokens):
        said = scene.text[tokens[at].start : tokens[-1].end].strip()
        if _ZONE.match(said):
            yield said, len(tokens)


def pronouns(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    if (
        at < len(tokens)
        and tokens[at].low in ("she", "he", "they", "ze", "xe")
        and "/" in scene.text[tokens[at].start :]
    ):
        yield scene.text[tokens[at].start : tokens[-1].end].replace(" ", ""), len(tokens)


def species(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    for animal, end in pet(scene, tokens, at):
        if animal != "pet":
            yield animal, end


def value(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """The rest of the clause as one value, as written."""
    if at < len(tokens):
        if len(tokens) == at + 1 and tokens[at].kind == "quote":
            yield tokens[at].said.strip(), len(tokens)
        elif all(token.kind != "quote" for token in tokens[at:]):
            yield scene.text[tokens[at].start : tokens[-1].end].strip(), len(tokens)


def _proper(scene: Scene, tokens: Sequence[Token], at: int, kind: str) -> tuple[str, int] | None:
    """A run of capitals, `the` before and `&`, `of` inside included, or a known name of that type in any case."""
    for length in (4, 3, 2, 1):
        part = tokens[at : at + length]
        if len(part) == length and all(token.kind in ("word", "number") for token in part):
            words = " ".join(token.text for token in part)
            if any(held.type == kind for held in scene.cast.all(words)):
                return words, at + length
    index, words_found = at, list[str]()
    if index + 1 < len(tokens) and tokens[index].low == "the" and is_name_word(tokens[index + 1], first=False):
        following = name_at(tokens, index + 1)
        if following and following[0].split(" ")[0].casefold() in _THE_NAMES:
            words_found.append(tokens[index].text)
        index += 1
    begin = index
    while index < len(tokens) and len(words_found) < 7:
        token = tokens[index]
        joins = token.low in ("of", "and", "&", "for", "de", "du", "la", "am", "upon") and index > begin
        if (
            is_name_word(token, first=False)
            or (token.kind == "number" and index > begin)
            or (
                joins
                and index + 1 < len(tokens)
                and is_name_word(tokens[index + 1], first=False)
                and (
                    token.low in ("of", "&", "de", "du", "la", "am", "upon")
                    or (kind == "Organization" and token.low == "&")
                )
            )
        ):
            words_found.append(token.text)
        else:
            break
        index += 1
    return (" ".join(words_found), index) if index > begin else None


_THE_NAMES = words("hague netherlands philippines bronx bahamas gambia")


def _lower_place(scene: Scene, tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    for length in (3, 2, 1):
        words = " ".join(token.low for token in tokens[at : at + length])
        if words in PLACES and at + length <= len(tokens):
            return _title(words), at + length
    if scene.careless and at < len(tokens) and _plain_word(tokens[at]) and at + 1 == len(tokens):
        return _title(tokens[at].low), at + 1
    return None


def _title(words: str) -> str:
    return " ".join(word.upper() if word in ("uk", "us", "usa") else word if word in ("de", "the") else word.capitalize()
                    for word in words.split(" "))  # fmt: skip


def _plain_word(token: Token) -> bool:
    return (
        token.kind == "word"
        and len(token.low) > 2
        and token.low not in NOT_NAMES
        and token.low not in STOPS
        and token.low not in FORMS
        and token.low
        not in ("home", "school", "university", "college", "work", "bed", "hospital", "town", "there", "here")
    )


SLOTS: dict[str, Slot] = {
    "place": place, "org": organisation, "named": named_organisation, "group": group, "person": person, "people": people, "name": new_name,
    "names": names, "kin": kin, "role": role, "thing": thing, "things": things, "langs": languages, "diet": diet,
    "condition": condition, "pet": pet, "project": project, "value": value, "doing": doing, "possession": possession,
    "vehicle": vehicle, "tool": tool, "tools": tools, "option": option, "kept": kept, "where": where, "years": years,
    "email": email, "phone": phone, "code": code, "handle": handle, "timezone": timezone, "pronouns": pronouns,
    "species": species, "phase": phase, "medicine": medicine, "diabetic": diabetic, "breed": breed,
}  # fmt: skip
