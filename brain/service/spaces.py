"""Spaces: created once, opened when first asked for, shared, and closed again when nobody has used them for a while."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from brain.ids import SPACE_ID
from brain.kip.context import Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.service.failures import InvalidInput, SpaceNotFound, SpaceTaken
from brain.store.base import Document, ElementId, Snapshot, SpaceExists, SpaceMissing, SpaceStore, Store, Transaction
from brain.times import Clock

SELF_KEY = "$self"
"""Key of the Person that stands for the Brain itself (§5.6)."""

HOST = Session(principal_id="brain:host", channel="host", default_policy="kip:memory-default")
"""The host's own session: what the service writes on nobody's behalf."""

_RECORD = ("space", "record")
_MAX_TIER = 12


@dataclass(slots=True)
class OpenSpace:
    """A Space in use.

    self_id   the Concept that stands for this Brain
    used_ms   when it was last asked for
    pins      runs and requests that hold it open just now
    """

    id: str
    store: SpaceStore
    engine: Engine
    self_id: ElementId
    used_ms: int
    pins: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """The head, for reads beside the engine."""
        return self.store.snapshot()

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A write of state beside the graph."""
        return self.store.transaction()

    def record(self) -> Document:
        """Owner, name, description, visibility, tier."""
        with self.snapshot() as now:
            found = now.get(*_RECORD)
        if found is None:
            raise SpaceNotFound("space not found")
        return found


class Spaces:
    """The Spaces of one process. Thread-safe."""

    def __init__(
        self,
        store: Store,
        library: PackageLibrary,
        *,
        clock: Clock,
        packages: tuple[str, ...],
    ) -> None:
        self._store = store
        self._library = library
        self._clock = clock
        self._packages = packages
        self._open: dict[str, OpenSpace] = {}
        self._gates: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def create(self, space_id: str, *, owner: str, tier: int) -> OpenSpace:
        """A new, empty Space with its vocabulary and its self.

        raises  InvalidInput for a bad id or tier, SpaceTaken when there is one already, which stays untouched
        """
        check_space_id(space_id)
        if not 0 <= tier <= _MAX_TIER:
            raise InvalidInput(f"tier must be 0 to {_MAX_TIER}")
        now = self._clock.now_ms()
        with self._gate(space_id):
            try:
                store = self._store.create(
                    space_id, now_ms=now, controls=Engine.birth_controls(self._library, self._packages)
                )
            except SpaceExists as exists:
                raise SpaceTaken(f"space {space_id} already exists") from exists
            with store.transaction() as tx:
                tx.set(
                    *_RECORD,
                    {
                        "owner": owner,
                        "name": None,
                        "description": None,
                        "public": False,
                        "tier": {"tier": tier, "updated_at": now},
                        "created_at": now,
                    },
                )
            return self._keep(space_id, store)

    def get(self, space_id: str) -> OpenSpace:
        """The Space, opened if it was not; once even when many ask at the same time."""
        check_space_id(space_id)
        space = self._open.get(space_id)
        if space is None:
            with self._gate(space_id):
                space = self._open.get(space_id)
                if space is None:
                    try:
                        store = self._store.open(space_id)
                    except SpaceMissing as missing:
                        raise SpaceNotFound("space not found") from missing
                    space = self._keep(space_id, store)
        space.used_ms = self._clock.now_ms()
        return space

    def all_ids(self) -> list[str]:
        """Every Space of the deployment, open or not."""
        return sorted(self._store.spaces())

    def resident(self) -> list[OpenSpace]:
        """The Spaces that are open here."""
        with self._lock:
            return list(self._open.values())

    def change_record(self, space_id: str, change: Callable[[dict[str, Any]], None]) -> Document:
        """Change members of a Space's record in one transaction."""
        with self.get(space_id).transaction() as tx:
            record = dict(tx.get(*_RECORD) or {})
            change(record)
            tx.set(*_RECORD, record)
            return record

    def evict_idle(self, idle_ms: int) -> list[str]:
        """Close Spaces nobody has used for `idle_ms`; those held open by a run stay. Their ids."""
        closed = []
        for space in self.resident():
            with self._gate(space.id):
                if space.pins == 0 and self._clock.now_ms() - space.used_ms >= idle_ms:
                    with self._lock:
                        self._open.pop(space.id, None)
                    space.store.close()
                    closed.append(space.id)
        return closed

    def close(self) -> None:
        """Close every open Space."""
        with self._lock:
            spaces, self._open = list(self._open.values()), {}
        for space in spaces:
            space.store.close()

    def _keep(self, space_id: str, store: SpaceStore) -> OpenSpace:
        engine = Engine(store, self._library, clock=self._clock)
        space = OpenSpace(space_id, store, engine, _ensure_self(engine), self._clock.now_ms())
        with self._lock:
            self._open[space_id] = space
        return space

    def _gate(self, space_id: str) -> threading.Lock:
        with self._lock:
            return self._gates.setdefault(space_id, threading.Lock())


def check_space_id(space_id: str) -> None:
    """InvalidInput unless the id is 1 to 64 lower-case letters, digits and underscores."""
    if not re.fullmatch(SPACE_ID, space_id):
        raise InvalidInput("space_id must be 1 to 64 lower-case letters, digits or underscores")


def host_write(engine: Engine, command: str, parameters: Mapping[str, Any]) -> Any:
    """Run one command as the host and give its result; RuntimeError when it fails, which only a defect can cause."""
    outcome = engine.run(command, parameters, session=HOST)
    answer = outcome.response["results"][0] if outcome.response["results"] else outcome.response
    if "error" in answer:
        raise RuntimeError(f"host command refused: {answer['error']['code']}: {answer['error']['message']}")
    return answer["result"]


def _ensure_self(engine: Engine) -> ElementId:
    """The self Concept, created in a Space's first commit and found by its key ever after."""
    found = host_write(engine, 'FIND(?s.id) WHERE { ?s {type: "Person", key: :key} }', {"key": SELF_KEY})
    if not found:
        created = host_write(
            engine,
            'UPSERT CONCEPT ?self { MATCH {type: "Person", key: :key} SET FIELDS {name: :name} }',
            {"key": SELF_KEY, "name": "Brain"},
        )
        return ElementId(created["handles"]["self"])
    return ElementId(found[0])
