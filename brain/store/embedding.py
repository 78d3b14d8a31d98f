"""Vectors of texts: what an embedder promises, and the indexer that lets a Space's vectors follow its texts.

A commit never waits for an embedder: its texts are found by their words at once, and wait in the store for their
vectors (`Snapshot.unindexed`). Whoever runs background work calls `index_pending` until nothing waits. Only texts
without a vector of the embedder at hand wait, so another embedder starts over by itself, oldest neglect first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from brain.store.base import Passage, SpaceStore

MOST_CHARACTERS = 8_000
"""Of a longer text only the beginning is embedded."""


class EmbeddingFailure(Exception):
    """A call that gave no vectors.

    reason         a stable code: timeout, rate_limited, provider_error, refused, too_long, not_configured
    is_about_text  whether other texts would have been embedded
    The text carries no key and no provider body.
    """

    def __init__(self, reason: str, text: str, *, is_about_text: bool = False) -> None:
        super().__init__(text)
        self.reason = reason
        self.is_about_text = is_about_text


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how alike they are.

    name        identifies the vectors: what two embedders of one name give can be compared
    dimensions  size of a vector, None while only the provider knows it
    likeness    what is alike to it, in words for people
    """

    name: str
    dimensions: int | None
    likeness: str

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text, in order; EmbeddingFailure when there are none. May take seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Indexed:
    """What one call of `index_pending` did.

    done     texts that need no further look
    skipped  those of them that the embedder refuses: no semantic search finds them
    """

    done: int
    skipped: int


def index_pending(space: SpaceStore, embedder: Embedder, limit: int = 64) -> Indexed:
    """Embed up to `limit` waiting texts of a Space; done is 0 when none waits.

    No transaction and no snapshot is open while the embedder works. Several processes may do this at once: they may
    embed a text twice, and keep one vector of it.
    raises  EmbeddingFailure, after which every text still waits; SerializationConflict while other writers are busy
    """
    with space.snapshot() as snapshot:
        waiting = snapshot.unindexed(embedder.name, limit)
    if not waiting:
        return Indexed(0, 0)
    vectors = _vectors(embedder, waiting)
    with space.transaction() as transaction:
        transaction.index(embedder.name, list(zip(waiting, vectors, strict=True)))
    return Indexed(len(waiting), sum(vector is None for vector in vectors))


def has_pending(space: SpaceStore, embedder: Embedder) -> bool:
    """Whether a text of the Space waits for its vector."""
    with space.snapshot() as snapshot:
        return bool(snapshot.unindexed(embedder.name, 1))


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """What an embedder says of the beginnings of texts, checked: as many vectors as texts, all of one size, finite.

    raises  EmbeddingFailure
    """
    vectors = embedder.embed([text[:MOST_CHARACTERS] for text in texts])
    sizes = {len(vector) for vector in vectors}
    if len(vectors) != len(texts) or len(sizes) != 1 or not all(isfinite(sum(vector)) for vector in vectors):
        raise EmbeddingFailure("provider_error", "the embedder sent something that is no vectors of the texts")
    return vectors


def _vectors(embedder: Embedder, waiting: Sequence[Passage]) -> list[list[float] | None]:
    """The vector of each text, None for one that the embedder refuses: it is found by halving."""
    try:
        return [*vectors_of(embedder, [passage.text for passage in waiting])]
    except EmbeddingFailure as failure:
        if not failure.is_about_text:
            raise
    if len(waiting) == 1:
        return [None]
    half = len(waiting) // 2
    return _vectors(embedder, waiting[:half]) + _vectors(embedder, waiting[half:])
