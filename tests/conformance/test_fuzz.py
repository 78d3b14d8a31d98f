"""Commands nobody wrote: a small seeded run, and that a run would tell what is wrong."""

from __future__ import annotations

import ctypes
import hashlib
import multiprocessing
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from brain.kip import read
from brain.kip.context import Run
from conformance.fuzz import arena, fuzz, shown
from conformance.fuzz.arena import Arena, Played
from conformance.fuzz.corpus import Corpus, corpus_of
from conformance.fuzz.mutations import Attempt, attempt
from conformance.fuzz.run import text_of
from conformance.fuzz.shrink import Shrinker

requirement = pytest.mark.requirement

FIND = 'FIND(?c.name) WHERE { ?c {type: "Person"} }'


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_of()


def request(command: str, **options: Any) -> dict[str, Any]:
    return {"kip": "2.0", "operations": [{"command": command, "parameters": {}}], "options": options}


@pytest.mark.slow
@requirement("KI-ERR-080", "KI-ERR-082", "KI-SEC-002")
def test_two_thousand_commands_nobody_wrote_never_crash_hang_or_write_where_they_may_not() -> None:
    found = fuzz(2_000, 20_260_920)
    assert {kind: (fault.smallest, fault.trace) for kind, fault in found.faults.items()} == {}
    assert found.codes.total() == 2_000
    assert found.codes["ok"] > 100
    assert len(found.codes) > 15


def test_the_same_seed_makes_the_same_commands(corpus: Corpus) -> None:
    first, second = (
        [shown(attempt(Random(f"7:{number}"), corpus)) for number in range(50)] for corpus in (corpus, corpus_of())
    )
    assert first[:50] == second[:50]


def test_the_same_commands_are_played_however_many_processes_play_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(_: Arena, one: Attempt) -> Played:
        return Played(hashlib.sha256(text_of(one).encode("utf-8", "replace")).hexdigest(), 0.0, 0.0)

    monkeypatch.setattr(Arena, "play", told)
    alone, shared = (fuzz(2_500, 11, workers=workers) for workers in (1, 3))
    assert alone.codes == shared.codes
    assert alone.codes.total() == 2_500
    assert len(alone.codes) > 2_000


def test_a_deadline_counts_what_a_command_computes_not_how_long_it_has_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def waiting(statement: Any, run: Run) -> Any:
        if multiprocessing.parent_process() is not None:
            time.sleep(0.01)
            began = time.thread_time()
            while run.deadline_ms is not None and time.thread_time() - began < 0.03:
                run.check_deadline()
        return read.run_find(statement, run)

    monkeypatch.setattr("conformance.fuzz.mutations.DEADLINE_MS", 20)
    monkeypatch.setattr("brain.kip.pipeline.run_find", waiting)
    found = fuzz(150, 5)
    assert found.codes["ExecutionTimeout"] > 10
    assert found.codes["ok"] < 10


def test_a_process_that_dies_of_a_command_costs_that_command_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "died"

    def deadly(statement: Any, run: Run) -> Any:
        if multiprocessing.parent_process() is not None and not mark.exists():
            mark.touch()
            ctypes.string_at(0)
        return read.run_find(statement, run)

    monkeypatch.setattr("brain.kip.pipeline.run_find", deadly)
    found = fuzz(120, 5, every_s=0.0)
    assert found.codes.total() == 120
    assert found.codes["died"] == 1
    (kind,) = found.times
    assert kind.startswith("death of the process (exit code -11) in ")
    told = capsys.readouterr().out
    assert f"FAULT {kind} at 5:{found.faults[kind].number}" in told
    assert "commands, " in told


def test_a_run_goes_on_after_a_fault_and_counts_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(statement: Any, run: Run) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("brain.kip.pipeline.run_find", broken)
    monkeypatch.setattr("conformance.fuzz.shrink.TRIES", 3)
    found = fuzz(200, 5)
    assert found.codes.total() == 200
    (kind,) = found.faults
    assert kind.startswith("defect ZeroDivisionError in ")
    assert found.times[kind] >= found.codes["InternalError"] > 10


def test_a_defect_is_told_with_its_place_and_the_smallest_command_that_shows_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(statement: Any, run: Run) -> Any:
        if statement.limit is not None:
            raise ZeroDivisionError
        return read.run_find(statement, run)

    with Arena(corpus) as space:
        monkeypatch.setattr("brain.kip.pipeline.run_find", broken)
        one = Attempt(request(f"{FIND} ORDER BY ?c.name ASC LIMIT 3", deadline_ms=1_000), "reader")
        fault = space.play(one).fault
        assert fault is not None
        assert fault.startswith("defect ZeroDivisionError in ")
        smallest = Shrinker(lambda smaller: space.play(smaller).fault == fault).shrunk(one)
        assert isinstance(smallest.request, dict)
        assert isinstance(one.request, dict)
        text = smallest.request["operations"][0]["command"]
        assert "LIMIT" in text
        assert len(text) < len(one.request["operations"][0]["command"]) - 20


def test_a_reader_that_writes_anything_at_all_is_told(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def noting(statement: Any, run: Run) -> Any:
        with space._engine.space.transaction() as tx:
            tx.set("notes", "seen", {"n": 1})
        return read.run_find(statement, run)

    with Arena(corpus) as space:
        monkeypatch.setattr("brain.kip.pipeline.run_find", noting)
        assert space.play(Attempt(request(FIND), "reader")).fault == "a reader wrote"


def test_a_command_that_computes_on_and_on_is_broken_off_and_told(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(statement: Any, run: Run) -> Any:
        while True:
            pass

    with Arena(corpus) as space:
        monkeypatch.setattr("brain.kip.pipeline.run_find", endless)
        monkeypatch.setattr(arena, "PATIENCE_S", 0.2)
        assert "hang" in str(space.play(Attempt(request(FIND), "reader")).fault)
        monkeypatch.undo()
        assert space.play(Attempt(request(FIND), "reader")).code == "ok"


def test_further_commands_come_from_folders(tmp_path: Path, corpus: Corpus) -> None:
    Path(tmp_path, "more.jsonl").write_text('{"steps": [{"kip": "LIST TYPES LIMIT 77"}]}\n', "utf-8")
    more = {seed.text for seed in corpus_of([tmp_path]).seeds} - {seed.text for seed in corpus.seeds}
    assert more == {"LIST TYPES LIMIT 77"}
