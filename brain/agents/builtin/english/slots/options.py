"""Things people have, use, eat, speak and suffer from."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.english.slots.phrases import STOPS, Found, Scene, thing
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.english.verbs import FORMS, ing
from brain.agents.builtin.facts import Thing
from brain.agents.builtin.lexicon.people import PETS
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
    TOOL_KINDS,
    VEHICLES,
)


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


def species(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    for animal, end in pet(scene, tokens, at):
        if animal != "pet":
            yield animal, end


def breed(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    for length in (2, 1):
        words = " ".join(token.low for token in tokens[at : at + length])
        if words in BREEDS and at + length <= len(tokens):
            yield words, at + length
            return


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
    if at < len(tokens) and tokens[at].low in ("a", "an", "the", "this"):
        for words, end in thing(scene, tokens, at):
            yield Thing(words, "Vehicle" if _is_vehicle(words) else "Thing"), end


def vehicle(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    if at < len(tokens) and tokens[at].low in ("a", "an", "my"):
        for words, end in thing(scene, tokens, at + 1):
            if _is_vehicle(words):
                yield Thing(words, "Vehicle"), end


def _is_vehicle(said: str) -> bool:
    parts = said.lower().split(" ")
    return parts[-1] in VEHICLES or any(part in MAKES for part in parts)


def tool(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """Something one works with: of a known kind, or written like a product's name."""
    for said, end in thing(scene, tokens, at):
        kind = KIND_OF.get(said.lower())
        if kind in TOOL_KINDS or (kind is None and said[:1].isupper() and not scene.cast.is_person(said)):
            held = scene.cast.find(said)
            if held is None or (isinstance(held, Thing) and held.type == "Tool"):
                yield scene.cast.thing(said, "Tool"), end


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
    for said, end in thing(scene, tokens, at):
        if said.lower() in KIND_OF or said.lower().split(" ")[-1] in KIND_HEADS:
            yield said, end


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


def medicine(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    if at < len(tokens) and tokens[at].low in MEDICINES:
        yield Thing(tokens[at].low, "Substance"), at + 1


def diabetic(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """Conditions said as adjectives."""
    held = {"diabetic": "diabetes", "asthmatic": "asthma", "epileptic": "epilepsy", "dyslexic": "dyslexia"}
    if at < len(tokens) and tokens[at].low in held:
        yield Thing(held[tokens[at].low], "HealthCondition"), at + 1
