"""An English clause told again in the third person, its times left out."""

from __future__ import annotations

from collections.abc import Sequence

from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.lexicon import words

_THIRD = {
    "my": "their", "me": "them", "myself": "themselves", "mine": "theirs", "am": "is", "have": "has", "our": "their",
    "us": "them", "ourselves": "themselves",
}  # fmt: skip
_OWN = {"my": "{}'s", "me": "{}", "mine": "{}'s", "myself": "{}"}
_NOT_ALONE = words("and but so also then just already finally ,")


def phrase_of(tokens: Sequence[Token], *, finite: bool = True, teller: str = "") -> str:
    """The tokens as written, first-person words turned into third, times and outer joints left out.

    teller  whose first person it is, when that is not the subject (`Sam sent me …`)
    finite  whether the head is a finite verb of the first person (`have bought` becomes `has bought`)
    """
    kept = [token for token in tokens if token.kind != "time"]
    while kept and kept[0].low in _NOT_ALONE:
        kept = kept[1:]
    while kept and (kept[-1].kind == "mark" or kept[-1].low in ("on", "at", "by", "in", "too", "and")):
        kept = kept[:-1]
    words: list[str] = []
    for index, token in enumerate(kept):
        word = token.said if token.kind == "quote" else token.text
        if teller and token.low in _OWN:
            word = _OWN[token.low].format(teller)
        elif token.low in _THIRD and (finite or token.low not in ("am", "have")):
            word = _THIRD[token.low] if not (token.low == "have" and index > 1) else word
        elif token.low == "not" or (token.text.startswith("'") and token.low != "'s") or not token.text:
            word = token.low
        if token.kind == "quote":
            word = f"“{word}”"
        touching = index > 0 and kept[index - 1].end == token.start and token.low != "not" and not _spelled(token)
        words.append(word if touching or index == 0 else " " + word)
    return "".join(words).strip().replace("can not", "cannot")


def _spelled(token: Token) -> bool:
    """Whether a contraction was spelled out and needs a space before it."""
    return token.text.startswith("'") and token.low != "'s"


def is_shared(tokens: Sequence[Token]) -> bool:
    """Whether the words speak of "we" or "you", which a third person cannot retell."""
    return any(
        token.low in ("we", "us", "our", "you", "your", "ours", "yours", "here", "there", "this", "it", "that")
        for token in tokens
    )
