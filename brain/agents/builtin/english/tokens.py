"""English tokens: contractions taken apart, every time expression one token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brain.agents.builtin.text import QUOTE, pattern
from brain.agents.builtin.when import Spot

Kind = Literal["word", "number", "mark", "address", "quote", "time"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, mark, address (e-mail, URL), quotation or time expression.

    low   lower case, contractions spelled out: `n't` is `not`, `'m` is `am`; a possessive or short "is" stays `'s`
    text  as written
    said  the quotation's words, for a quote
    """

    text: str
    low: str
    kind: Kind
    start: int
    end: int
    spot: Spot | None = None
    said: str = ""

    @property
    def is_capital(self) -> bool:
        return self.text[:1].isupper()


_LETTER = r"[\pL\pM]"
_TOKEN = pattern(
    r"(?P<address>[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s]+)"
    r"|(?P<number>\+?\d(?:[\w.,:/()+-]*\w)?)"
    rf"|(?P<word>{_LETTER}[\pL\pM\w&+#]*(?:[.'-][\pL\pM\w&+#]+)*)"
    rf"|(?P<quote>{QUOTE})"
    r"|(?P<mark>[^\s])",
    ignore_case=False,
)
_ENDINGS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "'d", "'s": "'s", "n't": "not"}
_SPLITS: dict[str, tuple[str, ...]] = {
    "im": ("i", "am"), "ive": ("i", "have"), "dont": ("do", "not"), "doesnt": ("does", "not"), "didnt": ("did", "not"),
    "isnt": ("is", "not"), "arent": ("are", "not"), "wasnt": ("was", "not"), "havent": ("have", "not"),
    "hasnt": ("has", "not"), "cant": ("can", "not"), "can't": ("can", "not"), "cannot": ("can", "not"),
    "won't": ("will", "not"), "wont": ("will", "not"), "shan't": ("shall", "not"), "gonna": ("going", "to"),
    "wanna": ("want", "to"), "gotta": ("have", "to"), "let's": ("let", "us"), "lets": ("let", "us"),
    "ain't": ("is", "not"),
}  # fmt: skip


def tokens_of(text: str, spots: Sequence[Spot] = (), quotes: Sequence[str] = ()) -> list[Token]:
    """The tokens of an English sentence; `spots` are its times, `quotes` what its quotation marks held."""
    found: list[Token] = []
    waiting, used = list(spots), 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if found and found[-1].kind == "time" and start < found[-1].end:
            continue
        while waiting and waiting[0].end <= start:
            waiting.pop(0)
        if waiting and waiting[0].start <= start:
            spot = waiting.pop(0)
            words = text[start : spot.end]
            found.append(Token(words, words.lower(), "time", start, spot.end, spot))
            continue
        kind = next(name for name, group in match.groupdict().items() if group is not None)
        word = match.group()
        if kind == "quote":
            found.append(Token(word, word, "quote", start, end, said=quotes[used] if used < len(quotes) else ""))
            used += 1
        elif kind == "word":
            found += _words(word, start)
        else:
            found.append(Token(word, word.lower(), kind, start, end))
    return found


def _words(word: str, start: int) -> list[Token]:
    low = word.lower()
    end = start + len(word)
    if low in _SPLITS:
        first, second = _SPLITS[low]
        return [Token(word[: len(first)], first, "word", start, end), Token("", second, "word", end, end)]
    for ending, spelled in _ENDINGS.items():
        if low.endswith(ending) and len(low) > len(ending):
            cut = end - len(ending)
            stem = Token(word[: -len(ending)], low[: -len(ending)], "word", start, cut)
            return [stem, Token(word[-len(ending) :], spelled, "word", cut, end)]
    if low.endswith("s'") and len(low) > 2:
        return [Token(word[:-1], low[:-1], "word", start, end - 1), Token("'", "'s", "word", end - 1, end)]
    return [Token(word, low, "word", start, end)]
