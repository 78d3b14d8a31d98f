"""Names in text: folded spelling, words worth looking up, who is called alike.

Names are kept in the script they were written in; folding only serves comparison.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from brain.unicode import normalize

_WORD = re.compile(r"[^\W_]+(?:['’.\-_@+&][^\W_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Runs of a script that writes words without spaces between them."""

_COMMON_WORDS = """
    a about after again all also am an and any are as at be because been before but by can could did do does doing done
    for from get go going got had has have he her here hers him his how i if in into is it its just know last let like
    may me might more most my need new next no not now of off ok on one or our out over own please really said say says
    she should so some still such tell than thank thanks that the their them then there these they this those to today
    tomorrow too us use used very want was way we well were what when where which who whom whose why will with would
    yes yesterday yet you your yours
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def fold(text: str) -> str:
    """A spelling for comparison: compatible forms, no case, no accents, single spaces."""
    return _fold_name(text) if len(text) <= _NAME else _fold(text)


_NAME = 200
"""Characters up to which a text is likely to be a name that comes again: longer ones are not kept in memory."""


def _fold(text: str) -> str:
    if text.isascii():
        return " ".join(text.lower().split())
    plain = normalize("NFD", normalize("NFKC", text).casefold())
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split())


_fold_name = lru_cache(maxsize=4096)(_fold)


def words(text: str) -> list[str]:
    """The folded words of a text; a run of unspaced script is one word."""
    return list(_words_of_name(text)) if len(text) <= _NAME else [fold(word) for word in _words(text)]


@lru_cache(maxsize=4096)
def _words_of_name(text: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in _words(text))


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match.group()
        start = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > start:
                yield word[start : run.start()]
            yield run.group()
            start = run.end()
        if start < len(word):
            yield word[start:]


def worth_searching(text: str, most: int = 48) -> list[str]:
    """Words of a text that may belong to a name, likely ones first: capitalised, with digits, or of unspaced script."""
    likely: dict[str, None] = {}
    others: dict[str, None] = {}
    for word in _words(text):
        folded = fold(word)
        if folded in _COMMON or (len(folded) < 2 and not _UNSPACED.match(word)):
            continue
        looks_named = word[:1].isupper() or any(c.isdigit() for c in word) or bool(_UNSPACED.match(word))
        (likely if looks_named else others)[folded] = None
    return [*likely, *(other for other in others if other not in likely)][:most]


def occurs(name: str, folded_text: str) -> bool:
    """Whether a name stands in an already folded text, as whole words where the script has words."""
    return place_of(name, folded_text) >= 0


def place_of(name: str, folded_text: str) -> int:
    """Where a name first stands in an already folded text, -1 when it does not."""
    return next(places_of(name, folded_text), -1)


def places_of(name: str, folded_text: str) -> Iterator[int]:
    """Where a name stands in an already folded text, from left to right.

    A word ends where a script without spaces begins: `Vim` stands in 谁用Vim, not in Vimeo.
    """
    folded = fold(name)
    if not folded:
        return
    is_unspaced = _UNSPACED.search(folded) is not None
    start = folded_text.find(folded)
    while start >= 0:
        end = start + len(folded)
        if is_unspaced or not (_is_in_word(folded_text[start - 1 : start]) or _is_in_word(folded_text[end : end + 1])):
            yield start
        start = folded_text.find(folded, start + 1)


def _is_in_word(character: str) -> bool:
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)


_SOUNDS = (
    ("ph", "f"),
    ("ck", "k"),
    ("c", "k"),
    ("q", "k"),
    ("z", "s"),
    ("y", "i"),
    ("w", "v"),
    ("th", "t"),
    ("ee", "i"),
)


@lru_cache(maxsize=4096)
def sound(word: str) -> str:
    """A rough spelling by ear of one folded word: Marc and Mark, Sofia and Sophia, Jon and John come out the same."""
    for spelled, heard in _SOUNDS:
        word = word.replace(spelled, heard)
    word = word[:1] + word[1:].replace("h", "")
    word = re.sub(r"(.)\1+", r"\1", word)
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def spelled_alike(word: str) -> list[str]:
    """Other spellings to search for one folded word; few, since each costs a search term, and none of a number."""
    other: dict[str, None] = {}
    if any(character.isdigit() for character in word):
        return []
    for spelled, heard in (*_SOUNDS, *((heard, spelled) for spelled, heard in _SOUNDS)):
        if spelled in word:
            other[word.replace(spelled, heard)] = None
    other[re.sub(r"(.)\1", r"\1", word)] = None
    if word.endswith("e"):
        other[word[:-1]] = None
    other.pop(word, None)
    return list(other)[:6]


def are_alike(one: str, other: str) -> bool:
    """Whether two names could be taken for each other: first words shared or of like sound, or a slip of one letter."""
    mine, theirs = _spelling(one), _spelling(other)
    if not mine.words or not theirs.words:
        return False
    if mine.folded == theirs.folded or mine.first_sound == theirs.first_sound:
        return True
    if mine.words != theirs.words or min(mine.first_length, theirs.first_length) <= 3:
        return False
    return _one_slip(mine.folded, theirs.folded)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """What names are compared by; `words` is their number."""

    folded: str
    words: int
    first_sound: str
    first_length: int


@lru_cache(maxsize=4096)
def _spelling(name: str) -> _Spelling:
    parts = words(name)
    first = parts[0] if parts else ""
    return _Spelling(fold(name), len(parts), sound(first), len(first))


def _one_slip(one: str, other: str) -> bool:
    """Whether one letter added, dropped, changed or swapped with its neighbour makes one of the other."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    return (
        left[1:] == right[1:]
        or left[1:] == right
        or left == right[1:]
        or (len(left) > 1 and len(right) > 1 and left[0] == right[1] and left[1] == right[0] and left[2:] == right[2:])
    )


def called_first(name: str, names: Iterable[str]) -> bool:
    """Whether a name is no more than the first word of one of these."""
    folded = fold(name)
    return any(len(parts) > 1 and parts[0] == folded for parts in map(words, names))


def is_reserved(key: str) -> bool:
    """Whether a key is one of the Brain's own, as `$self`: such keys name nobody who could speak or ask."""
    plain = normalize("NFKC", key)
    return "".join(c for c in plain if unicodedata.category(c) not in ("Cc", "Cf")).lstrip().startswith("$")


def key_for(name: str, taken: Iterable[str] = ()) -> str:
    """A key made of a name: its folded words joined by hyphens, numbered when that key is taken."""
    folded = "-".join(re.findall(r"[^\W_]+", fold(name)))[:80] or "unnamed"
    used = set(taken)
    if folded not in used:
        return folded
    number = 2
    while f"{folded}-{number}" in used:
        number += 1
    return f"{folded}-{number}"
