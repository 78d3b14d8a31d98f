"""Corrections without a verb of their own: `I meant Porto, not Lisbon`, `scratch that`."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.english.openers import Opened
from brain.agents.builtin.english.slots import Scene
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.facts import Redate, Takeback
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.redate import redate_of
from brain.agents.builtin.text import pattern
from brain.agents.builtin.when import Spot

_TAKES_BACK = pattern(
    r"^(?:(?:please )?scratch that|strike that|i take (?:that|it|this) back|never ?mind(?: that)?|disregard that|"
    r"forget that|"
    r"that was (?:wrong|a mistake|not true|a lie)|that is (?:wrong|not true|a mistake)|that is not (?:true|right|"
    r"correct))$"
)
_HEADS = (
    ("i", "meant", "to", "say"),
    ("i", "meant"),
    ("i", "mean"),
    ("it", "is"),
    ("it", "was"),
    ("that", "is"),
    ("make", "that"),
    ("make", "it"),
    ("should", "be"),
    ("it", "should", "be"),
)
_NOT_VALUES = words("i you we he she they it is was are that this what just only really so to very too a an my")


def fragment(opening: Opened, scene: Scene, msg: int) -> Takeback | Redate | None:
    """The takeback a sentence amounts to, if it is one."""
    day = _other_day(opening, scene, msg)
    if day is not None:
        return day
    tokens = [token for token in opening.tokens if token.kind != "time"]
    words = " ".join(token.low for token in tokens if token.kind != "mark")
    speaker = scene.cast.speaker
    if _TAKES_BACK.match(words):
        return Takeback(msg, speaker, None)
    said = _said_but_meant(tokens, scene, msg)
    if said is not None:
        return said
    meant = tuple(token.low for token in tokens[:2]) == ("i", "meant")
    body = _without_head(tokens)
    if body is None:
        body = tokens if "correction" in opening.marks or (tokens and tokens[0].low == "not") else None
    elif not (meant or "correction" in opening.marks or _has_not(body)):
        return None
    return _pair(body, scene, msg, meant=meant) if body else None


def _other_day(opening: Opened, scene: Scene, msg: int) -> Redate | None:
    """`I meant Thursday`, `5 May, not 4 May`, `I said Friday but I meant Thursday`."""
    words = [
        token for token in opening.tokens if token.kind != "mark" and token.low not in ("on", "but", "rather", "at")
    ]
    lows = tuple("T" if token.kind == "time" else token.low for token in words)
    spots = [token.spot for token in words if token.spot is not None]
    meant = "correction" in opening.marks or "not" in lows
    if lows[:2] in (("i", "said"), ("i", "wrote"), ("i", "typed")) and lows[2:3] == ("T",):
        wrong, lows, spots, meant = spots[0], lows[3:], spots[1:], True
        return _redate(lows[2:], spots, wrong, scene, msg) if lows[:2] in _MEANT else None
    if len(lows) == 5 and lows[0] == "i" and lows[2:] == ("T", "not", "T"):  # `I moved on the 5th, not on the 3rd`
        return redate_of(msg, scene.cast.speaker, spots[0], spots[1])
    head = next((len(head) for head in _HEADS if lows[: len(head)] == head), 0)
    if not meant and lows[:2] not in _MEANT and lows[:1] != ("make",):
        return None
    return _redate(lows[head:], spots, None, scene, msg)


_MEANT = (("i", "meant"), ("i", "mean"))


def _redate(lows: Sequence[str], spots: Sequence[Spot], wrong: Spot | None, scene: Scene, msg: int) -> Redate | None:
    match tuple(lows):
        case ("T",):
            return redate_of(msg, scene.cast.speaker, spots[0], wrong)
        case ("T", "not", "T"):
            return redate_of(msg, scene.cast.speaker, spots[0], spots[1])
        case ("not", "T", "T") | ("not", "T", "it", "is", "T"):
            return redate_of(msg, scene.cast.speaker, spots[1], spots[0])
        case _:
            return None


def _said_but_meant(tokens: Sequence[Token], scene: Scene, msg: int) -> Takeback | None:
    """`I said peanuts but I meant hazelnuts`."""
    lows = [token.low for token in tokens]
    if lows[:1] != ["i"] or lows[1:2] not in (["said"], ["wrote"], ["typed"]):
        return None
    for index in range(3, len(lows) - 2):
        if lows[index : index + 2] in (["i", "meant"], ["i", "mean"]):
            old = tokens[2 : index - 1] if lows[index - 1] in ("but", "and", ",") else tokens[2:index]
            return _takeback(_value(tokens[index + 2 :]), _value(old), scene, msg)
    return None


def _without_head(tokens: Sequence[Token]) -> list[Token] | None:
    lows = tuple(token.low for token in tokens)
    for head in _HEADS:
        if lows[: len(head)] == head:
            return list(tokens[len(head) :])
    return None


def _has_not(tokens: Sequence[Token]) -> bool:
    return any(token.low == "not" for token in tokens)


def _pair(tokens: Sequence[Token], scene: Scene, msg: int, *, meant: bool) -> Takeback | None:
    """`Porto, not Lisbon`, `not Lisbon but Porto`, or `Porto` alone after "I meant"."""
    lows = [token.low for token in tokens]
    if "not" in lows:
        at = lows.index("not")
        if at == 0:
            joint = next((index for index, low in enumerate(lows) if low in ("but", ",")), None)
            if joint is None:
                return None
            old, new = tokens[1:joint], tokens[joint + 1 :]
            while new and new[0].low in ("but", ",", "it", "is", "rather"):
                new = new[1:]
        else:
            new, old = tokens[:at], tokens[at + 1 :]
        return _takeback(_value(new), _value(old), scene, msg)
    if not meant and len(tokens) == 1 and tokens[0].is_capital:
        meant = True  # `Actually no, Lisbon.`
    return _takeback(_value(tokens), None, scene, msg) if meant else None


def _takeback(new: str | None, old: str | None, scene: Scene, msg: int) -> Takeback | None:
    if new is None or (old is not None and old.casefold() == new.casefold()):
        return None
    return Takeback(msg, scene.cast.speaker, old, new)


def _value(tokens: Sequence[Token]) -> str | None:
    """One to four words that can be a value."""
    words = [token for token in tokens if token.kind != "mark" or token.text == "-"]
    while words and words[0].low in ("in", "at", "for", "to", "the", "a", "an", "on", "from"):
        words = words[1:]
    if (
        not 1 <= len(words) <= 4
        or words[0].low in _NOT_VALUES
        or any(token.low in ("is", "was", "not") for token in words)
    ):
        return None
    return " ".join(token.said or token.text for token in words)
