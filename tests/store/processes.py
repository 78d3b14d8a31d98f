"""Starting the programs of this folder, and what several processes that write one Space must leave, in any store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brain.store.base import Kind, Scan, SearchQuery, Store
from tests.store.building import concept, write

ROOT = Path(__file__).resolve().parents[2]


def start(environment: Mapping[str, str], module: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def answer_of(process: subprocess.Popen[str]) -> Any:
    output, complaints = process.communicate(timeout=240)
    assert process.returncode == 0, complaints
    return json.loads(output)


def write_together(store: Store, environment: Mapping[str, str], processes: int, times: int) -> None:
    """Let several processes write one Space, look at it meanwhile, and check that nothing was lost."""
    space = store.create("demo", now_ms=0)
    write(space, concept("C-1", attributes={"n": 0}))
    writers = [start(environment, "tests.store.writer", f"writer-{number}", times) for number in range(processes)]
    while any(writer.poll() is None for writer in writers):
        with space.snapshot() as snapshot:
            seq = snapshot.seq
            assert snapshot.elements(["C-1"])["C-1"].body["attributes"]["n"] == seq - 1
            assert snapshot.count(Scan(Kind.EVIDENCE)) == seq - 1
    given = [answer_of(writer) for writer in writers]
    total = processes * times
    for name in ("seqs", "evidence", "work", "tokens"):
        every = [value for answer in given for value in answer[name]]
        assert len(set(every)) == total, name
    assert sorted(token for answer in given for token in answer["tokens"]) == list(range(1, total + 1))
    with space.snapshot() as snapshot:
        assert snapshot.seq == total + 1
        assert snapshot.elements(["C-1"])["C-1"].body["attributes"] == {"n": total}
        assert snapshot.get("totals", "all") == {"n": total}
        assert [commit.seq for commit in snapshot.commits()] == list(range(1, total + 2))
        assert len(snapshot.versions("C-1")) == total + 1
        taken = [work.payload["number"] for work in snapshot.work("formation") if work.payload["by"] == "writer-0"]
        assert taken == list(range(times))
        assert len(snapshot.search(SearchQuery(Kind.EVIDENCE, "number", None, total * 2))) == total
