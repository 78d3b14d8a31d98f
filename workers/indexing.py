"""Vectors for texts that have none yet: embedded in the background, by whichever runner there is."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from brain.errors import SerializationConflict
from brain.service.spaces import OpenSpace
from brain.store.base import SpaceStore
from brain.store.embedding import Embedder, EmbeddingFailure, has_pending, index_pending

log = structlog.get_logger(__name__)


class Indexing:
    """Embeds what waits, a batch at a time. Blocks; to be called from threads.

    embedder  None where no vectors are wanted: then nothing ever waits
    pause_s   how long a provider that failed is left alone
    """

    def __init__(
        self, embedder: Embedder | None, *, pause_s: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder = embedder
        self._pause_s = pause_s
        self._monotonic = monotonic
        self._after: float | None = None

    def is_needed(self, space: SpaceStore) -> bool:
        """Whether a text of the Space waits for its vector."""
        return self._embedder is not None and has_pending(space, self._embedder)

    def step(self, space: OpenSpace) -> bool:
        """Whether some texts got their vectors."""
        if self._embedder is None or (self._after is not None and self._monotonic() < self._after):
            return False
        try:
            return bool(index_pending(space.store, self._embedder).done)
        except SerializationConflict:  # others write without a pause; the sweep finds what still waits
            return False
        except EmbeddingFailure as failure:
            self._after = self._monotonic() + self._pause_s
            log.warning("embedding_failed", space=space.id, embedder=self._embedder.name, reason=failure.reason)
            return False
