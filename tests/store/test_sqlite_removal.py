"""How a Space's files go: at one moment for everybody, to the last of them, whoever is killed over it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from brain.store.base import SpaceExists
from brain.store.sqlite import SqliteStore, removal
from tests.store.building import concept, write
from tests.store.opened import told
from tests.store.processes import answer_of, start


@pytest.mark.requirement("BR-LIFE-011")
def test_whoever_is_killed_over_a_removal_leaves_the_space_whole_or_gone(tmp_path: Path) -> None:
    report = answer_of(start(told(tmp_path), "tests.store.removed"))
    assert report["faults"] == []
    assert report["steps"] >= 8


def test_a_removal_that_was_begun_is_ended_by_the_next_to_look(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, durability="normal")
    space = store.create("demo", now_ms=0)
    write(space, concept("C-1", name="Alice"))
    store.create("other", now_ms=0).close()
    removal.mark_of(tmp_path, "demo").touch()
    assert not store.exists("demo")
    assert list(store.spaces()) == ["other"]
    assert store.finish_removals() == ["demo"]
    assert store.finish_removals() == []
    space.close()
    assert not [file.name for file in tmp_path.iterdir() if "demo" in file.name]
    assert store.holds("demo", space.instance_id) == {"files": 0, "bytes": 0}
    assert store.holds("other", "")["files"] > 0
    store.close()


def test_a_space_that_two_remove_while_a_third_makes_it_anew_is_never_half_there(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, durability="normal")
    faults: list[object] = []

    def remove() -> None:
        other = SqliteStore(tmp_path, durability="normal")
        for _ in range(40):
            other.delete("demo")
        other.close()

    def make() -> None:
        made = 0
        while made < 40:
            try:
                space = store.create("demo", now_ms=0)
            except SpaceExists:
                continue
            except Exception as fault:  # noqa: BLE001 - gone again before it was opened is told as missing
                if type(fault).__name__ != "SpaceMissing":
                    faults.append(fault)
                    return
            else:
                space.close()
            made += 1
            store.delete("demo")

    threads = [threading.Thread(target=work) for work in (remove, remove, make)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert faults == []
    store.delete("demo")
    assert list(tmp_path.iterdir()) == []
    store.close()
