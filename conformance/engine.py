"""The engine adapter: fresh Spaces on demand, driven in process through the public engine and store interfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from brain.kip.context import Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.base import SpaceStore
from brain.store.sqlite.connection import Durability
from brain.times import Clock, SystemClock
from conformance.places import place

OWNER = Session(principal_id="owner", channel="conformance")
READER = Session(principal_id="owner", channel="conformance", readonly=True)
SPACE = "default"

Package = str | Mapping[str, Any]


class _Dial:
    """A clock that can be exchanged: store and engine have to agree on the time."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def now_ms(self) -> int:
        return self.clock.now_ms()


class EngineAdapter:
    """One engine over one fresh Space at a time, in a place of its own (`conformance/places.py`).

    A context manager; `reset` comes before the first request.
    """

    def __init__(self, *, clock: Clock | None = None, durability: Durability = "normal", store: str = "sqlite") -> None:
        self._place = place(store, durability)
        self._clock = _Dial(clock or SystemClock())
        self._store = self._place.opened(self._clock)
        self._space: SpaceStore | None = None
        self._library: PackageLibrary
        self.engine: Engine

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def seq(self) -> int:
        """The last commit of the Space."""
        return self.engine.space.head()

    def reset(self, packages: Sequence[Package], *, clock: Clock | None = None) -> None:
        """A fresh Space with exactly these packages: short names of bundled ones, or whole artifacts."""
        if self._space is not None:
            self._space.close()
            self._store.delete(SPACE)
        self._clock.clock = clock or self._clock.clock
        self._library = PackageLibrary()
        refs = [package if isinstance(package, str) else self._library.install(package).ref for package in packages]
        controls = Engine.birth_controls(self._library, refs)
        self._space = self._store.create(SPACE, now_ms=self._clock.now_ms(), controls=controls)
        self.engine = Engine(self._space, self._library, clock=self._clock)

    def reopen(self) -> None:
        """The same Space after a restart: nothing but what was stored is left of what was before."""
        if self._space is not None:
            self._space.close()
        self._store.close()
        self._store = self._place.opened(self._clock)
        self._space = self._store.open(SPACE)
        self.engine = Engine(self._space, self._library, clock=self._clock)

    def send(
        self, request: Mapping[str, Any] | str, *, readonly: bool = False, session: Session | None = None
    ) -> dict[str, Any]:
        """Run a request envelope, an object or JSON text, and give the response envelope."""
        return self.engine.execute(request, session or (READER if readonly else OWNER)).response

    def close(self) -> None:
        """Give the temporary store back."""
        if self._space is not None:
            self._space.close()
        self._store.close()
        self._place.close()
