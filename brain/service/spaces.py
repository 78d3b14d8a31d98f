"""Spaces: created once, opened when first asked for, shared, and closed again when nobody has used them for a while.

The engine is imported with the first Space: a process can listen, and say who it is, before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import structlog

from brain import logs
from brain.errors import KipError
from brain.ids import SPACE_ID
from brain.service.failures import InvalidInput, SpaceNotFound, SpaceTaken, SpaceUnreadable, Unavailable
from brain.service.hosting import ensure_self, review_words
from brain.service.opened import CLOSING
from brain.service.opened import OpenSpace as OpenSpace
from brain.service.records import BIRTH, check_tier, is_kept_open
from brain.store.base import (
    SpaceExists,
    SpaceMissing,
    SpaceStore,
    Store,
    StoreFormatError,
)
from brain.times import Clock

if TYPE_CHECKING:
    from brain.kip.library import PackageLibrary
    from brain.store.embedding import Embedder

log = structlog.get_logger(__name__)

T = TypeVar("T")

_GOING = "the space is being deleted or replaced; send the same request again"

_GATES = 64


class Spaces:
    """The Spaces of one process. Thread-safe.

    packages  active in a new Space, beside the Cognitive Memory Profile
    embedder  of every Space's engine: whose vectors searches by likeness compare; None for none
    """

    def __init__(
        self,
        store: Store,
        library: PackageLibrary,
        *,
        clock: Clock,
        packages: tuple[str, ...],
        embedder: Embedder | None = None,
    ) -> None:
        self.embedder = embedder
        self._store = store
        self._library = library
        self._clock = clock
        self._packages = packages
        self._open: dict[str, OpenSpace] = {}
        self._unclosed: dict[str, OpenSpace] = {}
        """Nobody may use them any more, and closing them has failed so far."""

        self._barred: set[str] = set()
        self._lock = threading.Lock()
        self._gates = [threading.Lock() for _ in range(_GATES)]
        """One opens, creates or closes a Space of a gate at a time; ids nobody created must not leave a lock behind."""

    def create(self, space_id: str, *, owner: str, tier: int) -> OpenSpace:
        """A new, empty Space with its vocabulary, its record and its self.

        raises  InvalidInput for a bad id or tier, SpaceTaken when there is one already, which stays untouched; KipError
                or Unavailable when the store fails, and then there is none
        """
        from brain.kip.pipeline import Engine

        check_space_id(space_id)
        check_tier(tier)
        now = self._clock.now_ms()
        record = {
            "owner": owner,
            "name": None,
            "description": None,
            "public": False,
            "tier": {"tier": tier, "updated_at": now},
            "created_at": now,
        }
        # The record is born with the file, so that no moment of a crash leaves a Space without an owner.
        controls = {**Engine.birth_controls(self._library, self._packages), BIRTH: record}
        with self._gate(space_id):
            self._check_free(space_id)
            try:
                store = self._store.create(space_id, now_ms=now, controls=controls)
            except SpaceExists as exists:
                raise SpaceTaken(f"space {space_id} already exists") from exists
            try:
                return self._keep(space_id, store)
            except (KipError, Unavailable):
                # Whoever is told that it failed must be able to send the same again.
                self._store.delete(space_id)
                raise

    def get(self, space_id: str) -> OpenSpace:
        """The Space, opened if it was not; once even when many ask at the same time. `use` also holds it open.

        raises  InvalidInput for what is no id, SpaceNotFound, SpaceUnreadable
        """
        with self.use(space_id) as space:
            return space

    @contextmanager
    def use(self, space_id: str) -> Iterator[OpenSpace]:
        """The Space, held open as long as the block runs."""
        space = self.hold(space_id)
        try:
            yield space
        except SpaceMissing as missing:
            self._drop(space)
            raise SpaceNotFound("space not found") from missing
        finally:
            space.unpin()

    def hold(self, space_id: str) -> OpenSpace:
        """The Space, held open until its `unpin`; Unavailable while it is being closed or deleted."""
        check_space_id(space_id)
        if space_id in self._barred:
            raise Unavailable(_GOING)
        while True:
            space = self._open.get(space_id) or self._load(space_id)
            if space.pin():
                return space

    def peek(self, space_id: str, look: Callable[[SpaceStore], T]) -> T:
        """What `look` finds in a Space, which is neither kept open for it nor counted as used."""
        space = None if space_id in self._barred else self._open.get(space_id)
        if space is not None and space.pin(counts_as_use=False):
            try:
                return look(space.store)
            finally:
                space.unpin()
        store = self._opened(space_id)
        try:
            return look(store)
        finally:
            store.close()

    def instance_of(self, space_id: str) -> str:
        """Which Space of its id it is, also while it is barred; SpaceNotFound, SpaceUnreadable."""
        space = self._open.get(space_id)
        if space is not None:
            return space.store.instance_id
        store = self._from_store(space_id)
        store.close()
        return store.instance_id

    def is_open(self, space_id: str) -> bool:
        """Whether the Space is open here just now; costs nothing."""
        return space_id in self._open

    def all_ids(self) -> list[str]:
        """Every Space of the deployment, open or not."""
        return sorted(self._store.spaces())

    def with_work(self) -> list[str]:
        """Those in which somebody may have something to do just now, as far as the store can tell; else every one."""
        found = self._store.with_work(unindexed=self.embedder is not None)
        return self.all_ids() if found is None else list(found)

    def resident(self) -> list[str]:
        """The Spaces that are open here."""
        with self._lock:
            return sorted(self._open)

    def finish_removals(self) -> list[str]:
        """Take away what is left of Spaces whose removal was cut short; what was."""
        return self._store.finish_removals()

    def flush(self) -> list[str]:
        """Have all that was committed in the Spaces open here on the disk; those of which it is."""
        flushed = []
        for space_id in self.resident():
            space = self._open.get(space_id)
            try:
                if space is not None and space.pin(counts_as_use=False):
                    try:
                        space.store.flush()
                        flushed.append(space_id)
                    finally:
                        space.unpin()
            except Exception as fault:  # noqa: BLE001 - one that is being closed, or broken, must not hide the others
                log.warning("flush_failed", space=space_id, **logs.fault(fault))
        return flushed

    def evict_idle(self, idle_ms: int) -> list[str]:
        """Close Spaces nobody has used for `idle_ms`; those held open by a run or request stay, and those that are to
        be kept open. Their ids. One that cannot be closed is tried again the next time.
        """
        closed = []
        for space_id in [*self._unclosed, *self.resident()]:
            with self._gate(space_id):
                try:
                    if self._evicted(space_id, idle_ms):
                        closed.append(space_id)
                except Exception as fault:  # noqa: BLE001 - one that cannot be closed must not keep the others open
                    log.error("eviction_failed", space=space_id, **logs.fault(fault))
        return closed

    def let_go(self, space_id: str, wait_s: float) -> bool:
        """Close a Space when nobody holds it any more; whether it was open here.

        raises  Unavailable when that takes longer, and then it stays open
        """
        space = self._open.get(space_id)
        if space is None and space_id in self._barred:
            with self._gate(space_id):  # whoever was just opening it when it was barred has done so by then
                space = self._open.get(space_id)
        if space is not None and not space.end_when_free(wait_s):
            raise Unavailable("the space is still at work; send the same request again", after_s=5)
        with self._gate(space_id):
            if space is not None and self._open.get(space_id) is space:
                self._close(space)
            elif space_id in self._unclosed:
                self._close(self._unclosed[space_id])
        return space is not None

    @contextmanager
    def barred(self, space_id: str) -> Iterator[None]:
        """Nobody opens or makes the Space here as long as the block runs: they are told to come back.

        raises  Unavailable when somebody else has barred it
        """
        with self._lock:
            if space_id in self._barred:
                raise Unavailable(_GOING)
            self._barred.add(space_id)
        try:
            yield
        finally:
            with self._lock:
                self._barred.discard(space_id)

    def close(self) -> None:
        """Close every open Space, and the store."""
        with self._lock:
            spaces, self._open = [*self._unclosed.values(), *self._open.values()], {}
        for space in spaces:
            space.end()
            try:
                space.store.close()
            except Exception as fault:  # noqa: BLE001 - the process ends, and the others have to be closed too
                log.error("close_failed", space=space.id, **logs.fault(fault))
        self._store.close()

    # --- how ----------------------------------------------------------------------------------------------------------

    def _load(self, space_id: str) -> OpenSpace:
        with self._gate(space_id):
            found = self._open.get(space_id)
            if found is not None:
                return found
            self._check_free(space_id)
            return self._keep(space_id, self._opened(space_id))

    def _check_free(self, space_id: str) -> None:
        """Unavailable while a Space may not be opened: it is being deleted, or an old handle will not close."""
        if space_id in self._barred:
            raise Unavailable(_GOING)
        unclosed = self._unclosed.get(space_id)
        if unclosed is not None:
            try:
                self._close(unclosed)
            except Exception as fault:
                log.error("close_failed", space=space_id, **logs.fault(fault))
                raise Unavailable(CLOSING) from fault

    def _evicted(self, space_id: str, idle_ms: int) -> bool:
        space = self._unclosed.get(space_id)
        if space is None:
            space = self._open.get(space_id)
            if space is None or not space.is_idle(idle_ms) or _is_kept_open(space) or not space.end_if_idle(idle_ms):
                return False
        self._close(space)
        return True

    def _close(self, space: OpenSpace) -> None:
        """Close a Space nobody can use any more; while that fails it is kept, and nobody opens it anew beside it."""
        with self._lock:
            self._unclosed[space.id] = space
            self._open.pop(space.id, None)
        space.store.close()
        with self._lock:
            del self._unclosed[space.id]

    def _opened(self, space_id: str) -> SpaceStore:
        if space_id in self._barred:
            raise Unavailable(_GOING)
        return self._from_store(space_id)

    def _from_store(self, space_id: str) -> SpaceStore:
        try:
            return self._store.open(space_id)
        except SpaceMissing as missing:
            raise SpaceNotFound("space not found") from missing
        except StoreFormatError as fault:
            log.error("space_unreadable", space=space_id, reason=str(fault))
            raise SpaceUnreadable(f"space {space_id} cannot be opened: {fault}") from fault

    def _keep(self, space_id: str, store: SpaceStore) -> OpenSpace:
        from brain.kip.pipeline import Engine

        try:
            engine = Engine(store, self._library, clock=self._clock, embedder=self.embedder)
            space = OpenSpace(space_id, store, engine, ensure_self(engine), self._clock)
            review_words(engine)
        except BaseException:
            store.close()
            raise
        with self._lock:
            self._open[space_id] = space
        return space

    def _drop(self, space: OpenSpace) -> None:
        """Forget a Space whose store is gone."""
        space.end()
        with self._lock:
            if self._open.get(space.id) is space:
                del self._open[space.id]

    def _gate(self, space_id: str) -> threading.Lock:
        return self._gates[hash(space_id) % _GATES]


def _is_kept_open(space: OpenSpace) -> bool:
    try:
        with space.state() as now:
            return is_kept_open(now)
    except (SpaceMissing, SpaceNotFound):
        return False


def check_space_id(space_id: str) -> None:
    """InvalidInput unless the id is 1 to 64 lower-case letters, digits and underscores."""
    if SPACE_ID.fullmatch(space_id) is None:
        raise InvalidInput("space_id must be 1 to 64 lower-case letters, digits or underscores")
