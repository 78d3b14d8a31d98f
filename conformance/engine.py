"""The engine adapter: fresh Spaces on demand, driven in process through the public engine and store interfaces."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brain.kip.context import Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.base import SpaceStore, Store
from brain.store.sqlite import SqliteStore
from brain.times import Clock, SystemClock

OWNER = Session(principal_id="owner", channel="conformance")
READER = Session(principal_id="owner", channel="conformance", readonly=True)
SPACE = "default"

Package = str | Mapping[str, Any]


class EngineAdapter:
    """One engine over one fresh Space at a time, on a store of its own in a temporary folder."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="brain-conformance-")
        self._store: Store = SqliteStore(Path(self._folder.name), durability="normal")
        self._clock = clock or SystemClock()
        self._space: SpaceStore | None = None
        self.engine: Engine

    def reset(self, packages: Sequence[Package]) -> None:
        """A fresh Space with exactly these packages: short names of bundled ones, or whole artifacts."""
        if self._space is not None:
            self._space.close()
            self._store.delete(SPACE)
        library = PackageLibrary()
        refs = [package if isinstance(package, str) else library.install(package).ref for package in packages]
        controls = Engine.birth_controls(library, refs)
        self._space = self._store.create(SPACE, now_ms=self._clock.now_ms(), controls=controls)
        self.engine = Engine(self._space, library, clock=self._clock)

    def send(self, request: Mapping[str, Any], *, readonly: bool = False) -> dict[str, Any]:
        """Run a request envelope and give the response envelope."""
        return self.engine.execute(dict(request), READER if readonly else OWNER).response

    def close(self) -> None:
        """Give the temporary store back."""
        if self._space is not None:
            self._space.close()
        self._store.close()
        self._folder.cleanup()
