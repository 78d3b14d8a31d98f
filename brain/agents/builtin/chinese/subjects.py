"""Whom a Chinese clause is about, and what its subject says by itself (`我妹妹小美`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.chinese.slots import ends_in_verb, is_chinese_name
from brain.agents.builtin.english.owned import KIN, Link
from brain.agents.builtin.facts import Fact, Thing
from brain.agents.builtin.lexicon.people import CHINESE_PETS, CHINESE_RELATIVES
from brain.agents.builtin.text import pattern

_LATIN = pattern(r"^\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*){0,3}", ignore_case=False)
_PROJECT = pattern(r"^(?P<name>[\p{Han}\p{Latin}0-9 ]{1,16}?)(?:这个)?项目")
_PROJECT_NAMED = pattern(r"^项目(?P<name>[\p{Han}\p{Latin}0-9]{1,12}?)的")
_AT_HOME = pattern(
    r"^((?:我们|咱们)(?:俩|都|又|还|一家|全家)*|我(?:和|跟|与)我?(?:丈夫|妻子|老公|老婆|太太|先生|爱人|孩子|家人|爸妈|父母|男朋友|女朋友|室友)(?:都|一起)*)"
    r"(?:住在|搬|养了?|有一[只条])"
)
"""What holds of the speaker when it holds of "us"."""
_RELATIVES = sorted(CHINESE_RELATIVES, key=len, reverse=True)
_PETS = sorted(CHINESE_PETS, key=len, reverse=True)


@dataclass(frozen=True, slots=True)
class Subject:
    """A way to read the head of a clause.

    thing  who is meant; None for a relative without a name, whose `owner` and `noun` are then set
    rest   the clause after it
    """

    thing: Thing | None
    rest: str
    facts: list[Fact] = field(default_factory=list)
    owner: Thing | None = None
    noun: str = ""


def link_of(noun: str) -> Link | None:
    kin = CHINESE_RELATIVES.get(noun)
    return KIN[kin] if kin else None


def kin_fact(owner: Thing, link: Link, person: Thing, msg: int, speaker: Thing) -> Fact:
    """That `person` is `owner`'s relative."""
    first, second = (person, owner) if link.flip else (owner, person)
    return Fact(msg, speaker, first, link.relation, second)


def subjects_of(text: str, cast: Cast, msg: int) -> Iterator[Subject]:
    """The ways to read the subject at the head of a clause, the likeliest first."""
    named = _PROJECT_NAMED.match(text)
    if named:
        yield Subject(cast.thing(named["name"], "Project"), text[named.end() - 1 :])
        return
    project = _PROJECT.match(text)
    if project and project["name"].strip()[:1] not in ("我", "这", "那", "本", "该"):
        yield Subject(cast.thing(project["name"].strip(), "Project"), text[project.end() :])
    for home in ("我们家", "咱们家", "咱家"):
        if text.startswith(home):
            yield from _of(cast.speaker, text[len(home) :], cast, msg)
            return
    ours = _AT_HOME.match(text)
    if ours:
        yield Subject(cast.speaker, text[ours.end(1) :])
        return
    if text.startswith(("我们", "咱们", "你们", "他们", "她们", "大家", "你", "您", "它")):
        return
    for pronoun in ("我自己", "我家", "本人", "我"):
        if text.startswith(pronoun):
            yield from _of(cast.speaker, text[len(pronoun) :], cast, msg)
            return
    for pronoun, gender in (("他", "male"), ("她", "female")):
        if text.startswith(pronoun):
            person = cast.antecedent(gender)  # type: ignore[arg-type]
            if person is not None:
                yield from _of(person, text[1:], cast, msg)
            return
    yield from _named(text, cast, msg)


def _named(text: str, cast: Cast, msg: int) -> Iterator[Subject]:
    """One's own family, as one speaks of them, and people by name."""
    for noun in _OWN_FAMILY:
        if text.startswith(noun):
            yield from _relative(cast.speaker, noun, text[len(noun) :], cast, msg)
            return
    for name in _names_at(text, cast):
        known = cast.find(name)
        if isinstance(known, Thing) and known.type == "Project":
            yield Subject(known, text[len(name) :])
            continue
        who = cast.person(name)
        if who is not None:
            yield from _of(who, text[len(name) :].lstrip(" "), cast, msg)


_OWN_FAMILY = (
    "妈妈",
    "爸爸",
    "奶奶",
    "爷爷",
    "外婆",
    "外公",
    "舅舅",
    "姑姑",
    "姐姐",
    "妹妹",
    "哥哥",
    "弟弟",
    "老婆",
    "老公",
)
"""How one speaks of one's own, without 我."""


def _of(owner: Thing, rest: str, cast: Cast, msg: int) -> Iterator[Subject]:
    """A person, or the relative or animal of theirs that follows."""
    after = rest.removeprefix("的").removeprefix("新")
    for noun in _RELATIVES:
        if after.startswith(noun):
            yield from _relative(owner, noun, after[len(noun) :], cast, msg)
            break
    for noun in _PETS:
        if after.startswith(noun):
            pet = cast.relative(owner, noun, "has_pet")
            yield Subject(pet, after[len(noun) :], [], owner, noun)
            break
    yield Subject(owner, rest)


def _relative(owner: Thing, noun: str, rest: str, cast: Cast, msg: int) -> Iterator[Subject]:
    link = link_of(noun)
    if link is None:
        return
    for name in _names_at(rest.removeprefix("叫"), cast):
        person = cast.person(name)
        if person is not None and person.key != owner.key:
            end = len(name) + (1 if rest.startswith("叫") else 0)
            if rest[end:]:
                cast.relate(owner, noun, link.key, person)
                yield Subject(person, rest[end:], [kin_fact(owner, link, person, msg, cast.speaker)])
    yield Subject(cast.relative(owner, noun, link.key), rest, [], owner, noun)


def _names_at(text: str, cast: Cast) -> Iterator[str]:
    """The names a text may begin with: known ones, Latin ones, words of the shape of a Chinese name."""
    for length in range(min(12, len(text)), 0, -1):
        if cast.all(text[:length]) and (length > 1 or not text[:1].isascii()):
            yield text[:length]
            break
    latin = _LATIN.match(text)
    if latin:
        yield latin.group()
        return
    for length in (4, 3, 2):
        if len(text) > length and is_chinese_name(text[:length]) and not ends_in_verb(text, length):
            yield text[:length]
