"""What may follow a frame without changing what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.lexicon import words


@dataclass(frozen=True, slots=True)
class Tail:
    """The words after a frame's slots.

    no_longer  `any more`: a denied statement was true before
    corrects   `…, not Lisbon`: the statement replaces another
    """

    no_longer: bool = False
    corrects: bool = False


_HARMLESS = words(
    """
    too also now again already actually really though btw currently though please ok okay right yay lol thanks
    permanently together alone full-time part-time fulltime officially here best most forever everyday daily
    fluently well personally honestly nowadays
    """
)
_PHRASES = (
    "as well", "a lot", "very much", "so much", "at the moment", "these days", "right now", "by the way", "for now",
    "the most", "the best", "the least", "at all", "of course", "more than anything", "a bit", "a little", "every day",
    "all my life", "my whole life", "since then", "in fact", "for a living", "full time", "part time", "at home",
    "for a while", "once more", "for good", "at last", "in the end", "as my main one", "most of all", "as of now",
)  # fmt: skip
_OPENS = frozenset(
    ("with", "because", "near", "since", "so", "but", "which", "where", "and", "while", "who", "though", "although")
)
"""Words that open an addition; what they add is not read."""


def tail_of(tokens: Sequence[Token]) -> Tail | None:
    """What the words after a frame mean for it; None when they may turn it into something else."""
    lows = [token.low for token in tokens if token.kind != "mark" or token.text in (",", "-", "—", "–", "(", ":")]
    no_longer, index = False, 0
    while index < len(lows):
        low = lows[index]
        if low in ("anymore", "any") and (low == "anymore" or lows[index + 1 : index + 2] in (["more"], ["longer"])):
            no_longer, index = True, index + (1 if low == "anymore" else 2)
        elif (low == "," and lows[index + 1 : index + 2] == ["not"] and len(lows) <= index + 6) or (
            low == "," and lows[index + 1 : index + 3] == ["and", "not"] and len(lows) <= index + 7
        ):
            return Tail(no_longer, corrects=True)
        elif low in ("instead",):
            return Tail(no_longer, corrects=False) if index + 1 == len(lows) else None
        elif low in _HARMLESS or low in (",", "(", ")", "-", "—", "–", ":"):
            index += 1
        elif (length := _phrase(lows, index)) > 0:
            index += length
        elif low in _OPENS:
            return Tail(no_longer)
        else:
            return None
    return Tail(no_longer)


def _phrase(lows: Sequence[str], at: int) -> int:
    for phrase in _PHRASES:
        words = phrase.split(" ")
        if list(lows[at : at + len(words)]) == words:
            return len(words)
    return 0
