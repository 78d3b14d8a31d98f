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
    now        the sentence says it is so now
    """

    no_longer: bool = False
    corrects: bool = False
    now: bool = False


_HARMLESS = words(
    """
    too also now again already actually really though btw currently though please ok okay right yay lol thanks
    permanently originally together alone full-time part-time fulltime officially here best most forever everyday daily
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
    (
        "with",
        "before",
        "after",
        "because",
        "near",
        "since",
        "so",
        "but",
        "which",
        "where",
        "and",
        "while",
        "who",
        "though",
        "although",
    )
)
"""Words that open an addition; what they add is not read."""


def tail_of(tokens: Sequence[Token]) -> Tail | None:
    """What the words after a frame mean for it; None when they may turn it into something else."""
    lows = [token.low for token in tokens if token.kind != "mark" or token.text in (",", "-", "—", "–", "(", ":")]
    no_longer = now = False
    index = 0
    while index < len(lows):
        low, after = lows[index], lows[index + 1 : index + 3]
        if low == "anymore" or (low == "any" and after[:1] in (["more"], ["longer"])):
            no_longer, index = True, index + (1 if low == "anymore" else 2)
        elif low == "," and (after[:1] == ["not"] or after == ["and", "not"]) and len(lows) <= index + 7:
            return Tail(no_longer, corrects=True, now=now)
        elif low == "," and (after == ["in", "case"] or after[:1] in (["fyi"], ["btw"])):
            return Tail(no_longer, now=now)
        elif low == "instead":
            return Tail(no_longer, now=now) if index + 1 == len(lows) else None
        elif low in _HARMLESS or low in (",", "(", ")", "-", "—", "–", ":"):
            now, index = now or low == "now", index + 1
        elif (length := _phrase(lows, index)) > 0:
            index += length
        elif low in _OPENS:
            return Tail(no_longer, now=now)
        else:
            return None
    return Tail(no_longer, now=now)


def _phrase(lows: Sequence[str], at: int) -> int:
    for phrase in _PHRASES:
        words = phrase.split(" ")
        if list(lows[at : at + len(words)]) == words:
            return len(words)
    return 0
