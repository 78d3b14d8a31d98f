"""`builtin/hash`: an embedder without a model, by which texts are alike that are spelled alike.

Every word, by its term, and every two and three neighbouring characters of it point in a direction that their hash
chooses; a text is the sum of these. So slips of the pen, other endings in any language and parts of compounds are
forgiven. It knows nothing of meaning: "doctor" and "physician" have nothing in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log
from zlib import crc32

from brain.store.search import word_forms

_GRAMS = (2, 3)
_SIGN = 1 << 31


class HashEmbedder:
    """See `brain.store.embedding.Embedder`. Deterministic, about 0.1 ms for a short text."""

    name = "builtin/hash-1"
    """The number changes with every change of what a text's vector is."""

    likeness = "spelling, not meaning"

    def __init__(self, dimensions: int = 512) -> None:
        self.dimensions: int | None = dimensions
        self._size = dimensions

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self._size
        features = Counter(code for terms, parts in word_forms(text) for code in _codes(tuple(terms), tuple(parts)))
        for code, times in features.items():
            weight = 1 + log(times)
            vector[code % self._size] += weight if code & _SIGN else -weight
        return vector


@lru_cache(maxsize=32_768)
def _codes(terms: tuple[str, ...], parts: tuple[str, ...]) -> list[int]:
    """The hashes of a word's terms, and of the pairs and triples of characters of its parts with both ends marked."""
    features = list(terms)
    for part in parts:
        marked = f"<{part}>"
        features += [f"~{marked[at : at + size]}" for size in _GRAMS for at in range(len(marked) - size + 1)]
    return [crc32(feature.encode("utf-8", "surrogatepass")) for feature in features]
