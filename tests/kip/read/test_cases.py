"""Queries and their answers, as data: `cases/*.json` hold worlds, and what each query answers in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from tests.kip.conftest import Space

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def cases() -> list[Any]:
    found = []
    for path in CASES:
        document = json.loads(path.read_text(encoding="utf-8"))
        for case in document["cases"]:
            setup = document["worlds"][case["world"]]
            mark = pytest.mark.requirement(*case["requirements"])
            found.append(pytest.param(f"{path.stem}:{case['world']}", setup, case, id=case["name"], marks=mark))
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, list[Any]], Space]:
    """A Space per world; the cases only read, so they share it."""
    built: dict[str, Space] = {}

    def build(name: str, setup: list[Any]) -> Space:
        if name not in built:
            clock = FixedClock(1_789_862_400_000)
            store = SqliteStore(tmp_path_factory.mktemp("world"), clock=clock, durability="normal")
            controls = Engine.birth_controls(PackageLibrary.bundled(), ["general"])
            space = Space(store.create("default", now_ms=clock.now_ms(), controls=controls), clock)
            for command in setup:
                space.write(command)
            built[name] = space
        return built[name]

    return build


@pytest.mark.parametrize(("name", "setup", "case"), cases())
def test_case(world: Callable[[str, list[Any]], Space], name: str, setup: list[Any], case: dict[str, Any]) -> None:
    answer = world(name, setup).answer(case["find"], **case.get("parameters", {}))
    if "error" in case:
        assert answer.get("error", answer)["code"] == case["error"]
        return
    assert "error" not in answer, answer["error"]
    if case.get("unordered"):
        assert sorted(map(json.dumps, answer["result"])) == sorted(map(json.dumps, case["rows"]))
    else:
        assert answer["result"] == case["rows"]
