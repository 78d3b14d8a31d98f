"""Plans as text: `plans/*.case` hold a command, a line of dashes, the plan it gets, another such line, and
what the SQLite store runs of it.

`REWRITE_PLANS=1 pytest tests/kip/read/test_plans.py` writes the files anew; read what changed before keeping it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brain.kip.context import Run
from brain.kip.parser import parse
from brain.kip.plan import plan_of
from brain.kip.planned import shown
from brain.store.sqlite import SqliteStore
from tests.kip.graph import Graph, reading

CASES = sorted((Path(__file__).parent / "plans").glob("*.case"))
LINE = "\n----\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    space = Graph().store(SqliteStore(tmp_path_factory.mktemp("plans"), durability="normal"))
    with reading(space, {"who": {"type": "Person", "key": "alice"}, "n": 10}) as opened:
        yield opened


@pytest.mark.requirement("KI-BELIEF-012", "KI-KQL-006")
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_plan(run: Run, path: Path) -> None:
    command, _, expected = path.read_text(encoding="utf-8").partition(LINE)
    statement: Any = parse(command)
    plan = shown(plan_of(statement, run), run.snapshot) + "\n"
    if os.environ.get("REWRITE_PLANS"):
        path.write_text(command + LINE + plan, encoding="utf-8")
        return
    assert plan == expected
