"""A Space with its engine, driven the way a host does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from brain.kip.context import Outcome, Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.base import Commit, SpaceStore
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock

Envelope = Mapping[str, Any] | None
OWNER = Session(principal_id="owner", channel="test")


class Space:
    """An engine over a fresh Space with the Profile and the general domain active."""

    def __init__(self, store: SpaceStore, clock: FixedClock) -> None:
        self.store = store
        self.clock = clock
        self.engine = Engine(store, PackageLibrary.bundled(), clock=clock)

    @property
    def seq(self) -> int:
        return self.store.head()

    def execute(self, request: Any, session: Session = OWNER) -> dict[str, Any]:
        """The response envelope to a whole request."""
        return self.engine.execute(request, session).response

    def outcome(self, command: str, *, session: Session = OWNER, envelope: Envelope = None, **values: Any) -> Outcome:
        return self.engine.run(command, values, session=session, **(envelope or {}))

    def answer(self, command: str, *, session: Session = OWNER, envelope: Envelope = None, **values: Any) -> Any:
        """The first operation's result entry, or the response when nothing ran."""
        response = self.outcome(command, session=session, envelope=envelope, **values).response
        return response["results"][0] if response["results"] else response

    def write(self, command: str, *, session: Session = OWNER, envelope: Envelope = None, **values: Any) -> Any:
        """The result of a write that is expected to pass."""
        answer = self.answer(command, session=session, envelope=envelope, **values)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def handles(self, command: str, **values: Any) -> dict[str, str]:
        found: dict[str, str] = self.write(command, **values)["handles"]
        return found

    def refused(self, command: str, *, session: Session = OWNER, envelope: Envelope = None, **values: Any) -> str:
        """The code of the error a command is refused with; the Space stays as it was."""
        before = self.seq
        error = self.error(command, session=session, envelope=envelope, **values)
        assert self.seq == before
        return str(error["code"])

    def error(self, command: str, *, session: Session = OWNER, envelope: Envelope = None, **values: Any) -> Any:
        answer = self.answer(command, session=session, envelope=envelope, **values)
        assert "error" in answer, answer
        return answer["error"]

    def receipt(self, command: str, **values: Any) -> Any:
        answer = self.answer(command, **values)
        assert "error" not in answer, answer["error"]
        return answer["receipt"]

    def element(self, element_id: str, seq: int | None = None) -> Any:
        """An element's stored body."""
        with self.store.snapshot(seq) as snapshot:
            return snapshot.elements([element_id])[element_id].body

    def commit(self, seq: int) -> Commit:
        with self.store.snapshot() as snapshot:
            found = snapshot.commit(seq)
        assert found is not None
        return found


@contextmanager
def fresh(folder: Path, clock: FixedClock) -> Iterator[Space]:
    """A new Space in a folder of its own."""
    store = SqliteStore(folder, clock=clock, durability="normal")
    controls = Engine.birth_controls(PackageLibrary.bundled(), ["general"])
    yield Space(store.create("default", now_ms=clock.now_ms(), controls=controls), clock)
    store.close()


@pytest.fixture
def space(tmp_path: Path, clock: FixedClock) -> Iterator[Space]:
    with fresh(tmp_path / "space", clock) as opened:
        yield opened
