"""Vectors for texts that have none yet: embedded in the background, by whichever runner there is."""

from __future__ import annotations

import math
import time

import structlog

from brain.errors import SerializationConflict
from brain.service.spaces import OpenSpace, Spaces
from brain.store.base import SpaceStore
from brain.store.embedding import EmbeddingFailure, has_pending, index_pending

log = structlog.get_logger(__name__)


class Indexing:
    """Embeds what waits, a batch at a time. Blocks; to be called from threads.

    spaces   whose embedder it uses; without one nothing ever waits
    pause_s  how long a provider that failed is left alone
    """

    def __init__(self, spaces: Spaces, *, pause_s: float) -> None:
        self._spaces = spaces
        self._pause_s = pause_s
        self._after = -math.inf

    def is_needed(self, space: SpaceStore) -> bool:
        """Whether a text of the Space waits for its vector."""
        embedder = self._spaces.embedder
        return embedder is not None and has_pending(space, embedder)

    def step(self, space: OpenSpace) -> bool:
        """Whether some texts got their vectors."""
        embedder = self._spaces.embedder
        if embedder is None or time.monotonic() < self._after:
            return False
        try:
            return bool(index_pending(space.store, embedder).done)
        except SerializationConflict:  # others write without a pause; the sweep finds what still waits
            return False
        except EmbeddingFailure as failure:
            self._after = time.monotonic() + self._pause_s
            log.warning("embedding_failed", space=space.id, embedder=embedder.name, reason=failure.reason)
            return False
