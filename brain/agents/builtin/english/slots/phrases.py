"""What slots share, and the plain phrase: a few words as written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.nouns import NOT_NAMES
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.lexicon import words


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
