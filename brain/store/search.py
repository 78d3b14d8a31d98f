"""Text analysis and relevance, one for every store, so that all of them find the same elements.

A text becomes terms: Unicode compatibility forms and case are folded and diacritics dropped ("Café" is `cafe`), English
endings are taken off ("running" is `run`), and what is written together is found whole and in parts ("AB-1234" is
`ab1234`, `ab` and `1234`). Scripts without spaces between words (Chinese, Japanese, Korean, Thai and their neighbours)
become overlapping pairs of characters and, for one-character queries, the characters themselves.

A query is any text: operators, quotes and wildcards are punctuation. An element is found when it holds one of the
query's terms; relevance is BM25 within one kind, brought into (0, 1) as s / (1 + s). A hybrid search fuses that ranking
with the one by likeness (`brain/store/embedding.py`) by their ranks alone, since the two scores have no common measure.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from math import log
from typing import Any

from brain.store.base import ElementId, Hit, Kind, SearchMode, SearchQuery, element_number
from brain.unicode import normalize

ANALYSIS = 1
"""Changes with every change of `terms` or of `rows.text`; a store whose index was made by another one makes it anew."""

MOST_TERMS = 256
"""Distinct terms one query looks for."""

LONGEST_TERM = 64
"""A term keeps this many characters."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"  # Korean
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
)
# Indian scripts spell vowels with marks that are no letters to Python. Nothing that follows letters is one, so a match
# never gives any back: long words are read many times as fast.
_LETTERS = rf"(?:[^\W_{_UNSPACED}]++|[\u0900-\u0dff])++"
_TOKEN = re.compile(rf"(?P<run>[{_UNSPACED}]++)|(?P<word>{_LETTERS}(?:[-_./:'&+@\u2019]{_LETTERS})*+)")
_PART = re.compile(_LETTERS)
_POSSESSIVE = re.compile(r"['\u2019]s$")
_WORD_OF_LETTERS = re.compile(r"[a-z]{3,}")

# Letters with a stroke or joined letters have no decomposition, yet people type them plain.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")

_RUN = re.compile(f"[{_UNSPACED}]")

_BETWEEN_LOOKS = 10_000
"""Words, or characters of one, between two looks at the clock while they are only counted."""

_WORDS_BETWEEN_LOOKS = 256
"""The same while they are stemmed."""

_stemmer_lock = threading.Lock()


def terms(text: str) -> list[str]:
    """Every term of a text, in order, repeated as often as it occurs: what an index holds."""
    return [term for forms, _ in word_forms(text) for term in forms]


def counted(text: str, look: Callable[[], None]) -> Counter[str]:
    """The terms of a text with how often each occurs.

    look  called every now and then, a few milliseconds apart; what it raises ends the work
    """
    words: Counter[str] = Counter()
    found = (match[0] for match in _TOKEN.finditer(_fold(text)))
    while some := list(islice(found, _BETWEEN_LOOKS)):
        words.update(some)
        look()
    counts: Counter[str] = Counter()
    for place, (word, times) in enumerate(words.items()):
        if place % _WORDS_BETWEEN_LOOKS == 0:
            look()
        if len(word) > _BETWEEN_LOOKS:
            forms = Counter(_long_forms(word, look))
            for term, more in forms.items():
                counts[term] += more * times
            continue
        for term in [*word, *_pairs(word)] if _RUN.match(word) else _forms(word):
            counts[term] += times
    return counts


def _long_forms(word: str, look: Callable[[], None] = lambda: None) -> Iterator[str]:
    """The terms of a word or run that is as long as a book."""
    if _RUN.match(word):
        for at in range(0, len(word), _BETWEEN_LOOKS):
            look()
            yield from word[at : at + _BETWEEN_LOOKS]
            yield from _pairs(word[at : at + _BETWEEN_LOOKS + 1])
        return
    parts = (part[0] for part in _PART.finditer(_POSSESSIVE.sub("", word)))
    while some := list(islice(parts, _BETWEEN_LOOKS)):
        look()
        yield from (_stem(part[:LONGEST_TERM]) for part in some)


def word_forms(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Every word of a text as its terms and the parts it is written of; a run without spaces has no parts."""
    for run, word in _tokens(text):
        if run:
            yield [*run, *_pairs(run)], []
        else:
            yield _forms(word), [part[:LONGEST_TERM] for part in _PART.findall(word)]


def query_terms(text: str) -> list[str]:
    """The distinct terms to look for, in order; `terms` without the single characters of a longer run.

    Of a very long query the first `MOST_TERMS` count.
    """
    found: dict[str, None] = {}
    seen: set[str] = set()
    for run, word in _tokens(text):
        if run:
            found.update(dict.fromkeys(_pairs(run[: MOST_TERMS + 1]) if len(run) > 1 else [run]))
        elif word not in seen:
            seen.add(word)
            is_long = len(word) > _BETWEEN_LOOKS
            found.update(dict.fromkeys(islice(_long_forms(word), MOST_TERMS) if is_long else _forms(word)))
        if len(found) >= MOST_TERMS:
            break
    return list(found)[:MOST_TERMS]


def rarity(documents: int, holding: int) -> float:
    """BM25's weight of a term that `holding` of `documents` hold; always positive."""
    return log(1 + (documents - holding + 0.5) / (holding + 0.5))


SATURATION = 1.2
"""BM25's k1: how soon further occurrences of a term stop counting."""

LENGTH_WEIGHT = 0.75
"""BM25's b: how much a long text counts against itself."""


SUPPOSED_TEXTS = 1_000_000
"""How many texts a corpus is taken to hold for a caller who may not know how many there are."""


def length_norm(texts: int, size: int) -> tuple[float, float]:
    """BM25's part of a text's length in a corpus of so many texts with so many terms: base and slope of
    times / (times + base + slope * terms of the text)."""
    return SATURATION * (1 - LENGTH_WEIGHT), SATURATION * LENGTH_WEIGHT * texts / size


def texts_of(kind: Kind) -> Kind:
    """The kind whose texts a search looks at: an Assertion is found by its Proposition."""
    return Kind.PROPOSITION if kind is Kind.ASSERTION else kind


def score(relevance: float) -> float:
    """A BM25 sum as a score in (0, 1)."""
    return relevance / (1 + relevance)


def least_relevance(threshold: float) -> float:
    """The BM25 sum whose score is `threshold`, for 0 <= threshold < 1."""
    return threshold / (1 - threshold)


FUSED = 1_000
"""Best hits of each ranking that a hybrid search looks at, whatever its limit: so a longer page begins as a shorter."""

_RANK_OFFSET = 60
"""How little the first places of one ranking weigh against a good place in both; the usual value of the method."""


def fuse(rankings: Sequence[Sequence[Hit]], limit: int, threshold: float = 0.0) -> list[Hit]:
    """Rankings as one, by reciprocal ranks: hits by falling score, then ascending number.

    The score of a hit is its share of what the first place in every ranking is worth: 1 when it is first in all of
    them, at most 1 / n when only one of n has it.
    """
    worth: dict[ElementId, float] = defaultdict(float)
    for ranking in rankings:
        for place, hit in enumerate(ranking):
            worth[hit.id] += (_RANK_OFFSET + 1) / (_RANK_OFFSET + 1 + place) / len(rankings)
    fused = [Hit(element_id, min(share, 1.0)) for element_id, share in worth.items() if share >= threshold]
    fused.sort(key=lambda hit: (-hit.score, element_number(hit.id)))
    return fused[: max(limit, 0)]


def by_mode(
    query: SearchQuery, by_words: Callable[[SearchQuery], list[Hit]], by_likeness: Callable[[SearchQuery], list[Hit]]
) -> list[Hit]:
    """The hits of a search in its mode, by a store's two ways to find."""
    match query.mode:
        case SearchMode.KEYWORD:
            return by_words(query)
        case SearchMode.SEMANTIC:
            return by_likeness(query)
        case SearchMode.HYBRID:
            wider = replace(query, limit=FUSED if query.limit > 0 else 0, threshold=0.0)
            return fuse([by_words(wider), by_likeness(wider)], query.limit, query.threshold)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Runs of an unspaced script, and words with what is written together with them; one of the two is empty."""
    for match in _TOKEN.finditer(_fold(text)):
        yield match["run"] or "", match["word"] or ""


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = normalize("NFKC", text).casefold().translate(_PLAIN)
    return normalize("NFC", _MARKS.sub("", normalize("NFKD", folded)))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _forms(word: str) -> list[str]:
    """A word, or a compound as its parts and, when it is not too long to be one, whole."""
    if word.isalnum():
        return [_stem(word[:LONGEST_TERM])]
    word = _POSSESSIVE.sub("", word)
    parts = _PART.findall(word)
    forms = [_stem(part[:LONGEST_TERM]) for part in parts]
    if len(parts) > 1 and len(whole := "".join(parts)) <= LONGEST_TERM:
        forms.append(_stem(whole))
    return forms


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    if not _WORD_OF_LETTERS.fullmatch(word):
        return word
    with _stemmer_lock:  # the stemmer keeps its state in itself
        stem: str = _stemmer().stemWord(word)
    return stem


@cache
def _stemmer() -> Any:
    import snowballstemmer  # brings its three dozen languages along, which a start need not wait for

    return snowballstemmer.stemmer("english")
