"""A Space brought back from a copy: what was given out before is recognised as of another history."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from tests.kip.conftest import Space

requirement = pytest.mark.requirement
CREATE = 'CREATE CONCEPT ?c {TYPE "Person" NAME :name}'


class Restored:
    """One Space that can be set back to a copy of its file."""

    def __init__(self, folder: Path, clock: FixedClock) -> None:
        self.folder, self.clock = folder, clock
        self.store = SqliteStore(folder, clock=clock, durability="normal")
        controls = Engine.birth_controls(PackageLibrary.bundled(), ["general"])
        self.space = Space(self.store.create("default", now_ms=clock.now_ms(), controls=controls), clock)

    def copy(self, target: Path) -> None:
        self.store.close()
        shutil.copytree(self.folder, target)
        self._open()

    def bring_back(self, source: Path) -> None:
        self.store.close()
        shutil.rmtree(self.folder)
        shutil.copytree(source, self.folder)
        self._open()

    def _open(self) -> None:
        self.store = SqliteStore(self.folder, clock=self.clock, durability="normal")
        self.space = Space(self.store.open("default"), self.clock)


@pytest.fixture
def restored(tmp_path: Path, clock: FixedClock) -> Iterator[Restored]:
    made = Restored(tmp_path / "spaces", clock)
    made.space.write(CREATE, name="Ann")
    yield made
    made.store.close()


def follow(space: Space, command: str, **values: Any) -> Any:
    answer = space.answer(command, **values)
    assert "error" not in answer, answer["error"]
    return answer["context"]["cursor"]


@requirement("KI-META-032")
def test_a_change_cursor_from_after_the_copy_is_expired_and_not_silently_caught_up(
    restored: Restored, tmp_path: Path
) -> None:
    early = follow(restored.space, "CHANGES AFTER SEQ 0")
    restored.copy(tmp_path / "copy")
    restored.space.write(CREATE, name="Ben")
    late = follow(restored.space, "CHANGES SINCE :c", c=early)
    restored.bring_back(tmp_path / "copy")
    error = restored.space.error("CHANGES SINCE :c", c=late)
    assert (error["code"], error["retry"]["class"]) == ("CursorExpired", "requires_new_snapshot")
    assert error["details"] == {"family": "changes", "reason": "expired", "current_space_seq": 1}
    assert follow(restored.space, "CHANGES SINCE :c", c=early)


@requirement("KI-META-032")
def test_a_change_cursor_of_commits_that_were_replaced_is_expired(restored: Restored, tmp_path: Path) -> None:
    restored.copy(tmp_path / "copy")
    restored.space.write(CREATE, name="Ben")
    late = follow(restored.space, "CHANGES AFTER SEQ 0")
    restored.bring_back(tmp_path / "copy")
    for name in ("Cho", "Dia"):
        restored.clock.advance(1_000)
        restored.space.write(CREATE, name=name)
    error = restored.space.error("CHANGES SINCE :c", c=late)
    assert (error["code"], error["details"]["family"]) == ("CursorExpired", "changes")
    recorded = restored.space.write("CHANGES AFTER SEQ 1")
    assert [envelope["space_seq"] for envelope in recorded] == [2, 3]


@requirement("KI-META-032")
def test_other_traversals_of_a_state_that_is_gone_are_expired_too(restored: Restored, tmp_path: Path) -> None:
    restored.copy(tmp_path / "copy")
    restored.space.write(CREATE, name="Ben")
    walks = {"list": "LIST TYPES LIMIT 1", "history": "HISTORY SPACE LIMIT 1"}
    cursors = {family: restored.space.answer(command)["next_cursor"] for family, command in walks.items()}
    restored.bring_back(tmp_path / "copy")
    for family, command in walks.items():
        error = restored.space.error(f"{command} CURSOR :c", c=cursors[family])
        assert (error["code"], error["details"]) == ("CursorExpired", {"family": family, "reason": "expired"})
