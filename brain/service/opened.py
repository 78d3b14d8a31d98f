"""A Space in use: who holds it, since when nobody has, and how it is closed to newcomers."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from brain.service.failures import Unavailable
from brain.store.base import ElementId, Snapshot, SpaceStore, Transaction
from brain.times import Clock

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

CLOSING = "the space is being closed; send the same request again"


class OpenSpace:
    """A Space in use. Thread-safe.

    self_id   the Concept that stands for this Brain
    """

    def __init__(self, space_id: str, store: SpaceStore, engine: Engine, self_id: ElementId, clock: Clock) -> None:
        self.id = space_id
        self.store = store
        self.engine = engine
        self.self_id = self_id
        self._clock = clock
        self._lock = threading.Lock()
        self._is_free = threading.Condition(self._lock)
        self._used_ms = clock.now_ms()
        self._pins = 0
        self._is_closing = False
        self._is_closed = False

    @property
    def is_closing(self) -> bool:
        """Whether somebody waits for it to be free; whoever has a lot to do in it should leave the rest for later."""
        return self._is_closing

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """The head, for reads beside the engine."""
        return self.store.snapshot()

    def state(self) -> AbstractContextManager[Snapshot]:
        """The head for who first reads state beside the graph: where every question is a journey, the head comes with
        the first answer."""
        return self.store.snapshot(assumed=True)

    def transaction(self, *, durable: bool = True) -> AbstractContextManager[Transaction]:
        """A write of state beside the graph; see `SpaceStore.transaction`."""
        return self.store.transaction(durable=durable)

    def pin(self, *, counts_as_use: bool = True) -> bool:
        """Hold it open until `unpin`; False when it has been closed meanwhile and must be asked for again.

        raises  Unavailable while somebody waits for it to be free
        """
        with self._lock:
            if self._is_closed:
                return False
            if self._is_closing:
                raise Unavailable(CLOSING)
            self._pins += 1
            if counts_as_use:
                self._used_ms = self._clock.now_ms()
            return True

    def unpin(self) -> None:
        """Undo one `pin`."""
        with self._lock:
            self._pins -= 1
            if not self._pins:
                self._is_free.notify_all()

    def end_when_free(self, wait_s: float) -> bool:
        """Let nobody in any more and wait until nobody holds it; False, and open again, when that takes too long."""
        with self._lock:
            self._is_closing = True
            self._is_closed = self._is_free.wait_for(lambda: not self._pins, wait_s)
            self._is_closing = False
            return self._is_closed

    def is_idle(self, idle_ms: int) -> bool:
        """Whether nobody holds or has used it for `idle_ms`."""
        with self._lock:
            return not self._pins and self._clock.now_ms() - self._used_ms >= idle_ms

    def end_if_idle(self, idle_ms: int) -> bool:
        """Whether nobody holds or has used it for `idle_ms`; from then on it cannot be pinned and must be closed."""
        with self._lock:
            if self._pins or self._clock.now_ms() - self._used_ms < idle_ms:
                return False
            self._is_closed = True
            return True

    def end(self) -> None:
        """It cannot be pinned any more."""
        with self._lock:
            self._is_closed = True
