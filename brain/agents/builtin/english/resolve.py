"""Whom or what an English noun phrase means, and what the phrase itself says (`my sister Mia`)."""

from __future__ import annotations

from typing import cast as typing_cast

from brain.agents.builtin.cast import Cast, Gender, Unclear
from brain.agents.builtin.english.nouns import Noun, core_noun
from brain.agents.builtin.english.owned import gender_of, link_of
from brain.agents.builtin.facts import Fact, Thing
from brain.agents.builtin.lexicon.people import PETS

_GENDERS: dict[str, Gender] = {"he": "male", "him": "male", "his": "male", "she": "female", "her": "female"}


def resolve(noun: Noun, cast: Cast, msg: int, *, sure: bool) -> tuple[Thing, list[Fact]] | None:
    """The thing meant and what the phrase says of it; None when it is unclear or nothing that has a name.

    sure  whether the sentence leaves no doubt that a person is meant, so that an unknown name is one
    """
    match noun.sort:
        case "i" | "we":
            return cast.speaker, []
        case "pronoun":
            found = cast.antecedent(_GENDERS[noun.words]) if noun.words in _GENDERS else cast.antecedent(None)
            return (found, []) if found and noun.words not in ("they", "them", "their") else None
        case "name":
            thing = _named(noun, cast, sure)
            return (thing, []) if thing else None
        case "owned":
            return _owned(noun, cast, msg)
        case "the" if noun.noun == "project" and noun.name:
            return cast.thing(noun.name, "Project"), []
        case _:
            return None


def _named(noun: Noun, cast: Cast, sure: bool) -> Thing | None:
    found = cast.find(noun.words)
    if isinstance(found, Unclear):
        return None
    if found is not None:
        return found
    plain = not noun.first or " " in noun.words
    if cast.is_person(noun.words) or sure or (plain and " " in noun.words):
        return Thing(noun.words, "Person")
    return None


def _owned(noun: Noun, cast: Cast, msg: int) -> tuple[Thing, list[Fact]] | None:
    if noun.owner is None:
        return None
    owner = resolve(noun.owner, cast, msg, sure=True)
    if owner is None:
        return None
    who, said = owner
    word = core_noun(noun.noun)
    if word in PETS or word.removesuffix("s") in PETS:
        pet = _pet(noun, who, word, cast, msg)
        return (pet[0], [*said, *pet[1]]) if pet else None
    link = link_of(word)
    if link is None:
        return None
    if not noun.name:
        person = cast.relative(who, word, link.key)
        return (person, said) if person else None
    found = cast.person(noun.name)
    if found is None or found.key == who.key:
        return None
    cast.relate(who, word, link.key, found, typing_cast("Gender | None", gender_of(word)))
    first, second = (found, who) if link.flip else (who, found)
    return found, [*said, Fact(msg, cast.speaker, first, link.relation, second)]


def _pet(noun: Noun, owner: Thing, word: str, cast: Cast, msg: int) -> tuple[Thing, list[Fact]] | None:
    if not noun.name:
        pet = cast.relative(owner, word, "has_pet")
        return (pet, []) if pet else None
    pet = cast.thing(noun.name, "Pet")
    cast.relate(owner, word, "has_pet", pet, None)
    return pet, pet_facts(msg, cast.speaker, owner, pet, PETS.get(word) or PETS[word.removesuffix("s")])


def pet_facts(msg: int, speaker: Thing, owner: Thing, pet: Thing, species: str) -> list[Fact]:
    """That somebody keeps an animal, and what sort it is when that was said."""
    facts = [Fact(msg, speaker, owner, "has_pet", pet)]
    return facts if species == "pet" else [*facts, Fact(msg, speaker, pet, "species", species)]
