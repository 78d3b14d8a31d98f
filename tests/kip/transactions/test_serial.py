"""Transactions serialise: writers in processes of their own on one file, and a reader beside them (§32, §34).

The machine sends bursts of writes to several processes at once, and kills some of them at any moment. Whatever order
the writes come in, the outcome is that of one after the other: each committed write is there once, sequences have no
gaps, a key names one commit, and whoever reads meanwhile reads one state. Of what a killed process had begun all is
there or nothing, and the others go on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from brain.store.base import Kind
from brain.times import SystemClock
from tests.kip.conftest import Space, fresh
from tests.laws import law

ROOT = Path(__file__).resolve().parents[3]
PROCESSES = 3

COUNTED = """MUTATE {
  CREATE EVIDENCE ?e {CLIENT KEY :key SET FIELDS {evidence_class: "message", payload: :key}}
  UPDATE ?c SET ATTRIBUTES {n: ADD(?c.attributes.n, 1)} WHERE { ?c {key: "counter"} }
}"""
"""A write that leaves one Evidence and one count behind, so that the two agree in every state."""
GUARDED = """MUTATE {
  CREATE EVIDENCE ?e {CLIENT KEY :key SET FIELDS {evidence_class: "message", payload: :key}}
  UPDATE ?c SET ATTRIBUTES {n: ADD(?c.attributes.n, 1)} WHERE { ?c {key: "counter"} } EXPECT VERSION :version
}"""
REFUSED = """MUTATE {
  CREATE EVIDENCE ?e {CLIENT KEY :key SET FIELDS {evidence_class: "message", payload: :key}}
  UPDATE ?c SET ATTRIBUTES {n: ADD(?c.attributes.n, 1)} WHERE { ?c {key: "counter"} }
  TRANSITION "E-999999" TO "archived"
}"""
STATE = 'FIND(?c.attributes.n, ?c._system.version, COUNT(?e)) WHERE { ?c {key: "counter"} OPTIONAL { ?e EVIDENCE {} } }'

kinds = st.sampled_from(["counted", "counted", "guarded", "refused", "keyed"])


class Process:
    """One engine in a process of its own, asked without waiting for the answer."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.kip.transactions.engine"]
        self.unread = 0
        self.running = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, folder: str, request: dict[str, Any], *, hold_ms: int = 0) -> None:
        """hold_ms  how long it keeps the answer to itself"""
        assert self.running.stdin is not None
        self.running.stdin.write(json.dumps({"folder": folder, "request": request, "hold_ms": hold_ms}) + "\n")
        self.running.stdin.flush()
        self.unread += 1

    def answer(self) -> dict[str, Any]:
        assert self.running.stdout is not None
        self.unread -= 1
        found: dict[str, Any] = json.loads(self.running.stdout.readline())
        return found

    def end(self) -> list[dict[str, Any]]:
        """Kill it, and read the answers that it had given by then."""
        assert self.running.stdout is not None
        assert self.running.stdin is not None
        self.running.kill()
        # Not `communicate`, which does not see what was read ahead of the last answer taken.
        lines = self.running.stdout.read().splitlines(keepends=True)
        self.running.wait()
        self.running.stdout.close()
        with suppress(BrokenPipeError):
            self.running.stdin.close()
        return [json.loads(line) for line in lines if line.endswith("\n")]


@pytest.fixture(scope="module")
def processes() -> Iterator[list[Process]]:
    started = [Process() for _ in range(PROCESSES)]
    yield started
    for process in started:
        process.end()


class Serial(RuleBasedStateMachine):
    """What several processes do to one Space, and what has to be true of it."""

    processes: list[Process]

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._opened = fresh(Path(self._folder.name), SystemClock())
        self.space: Space = self._opened.__enter__()
        self._numbers = count()
        self.keyed: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self.receipts: list[dict[str, Any]] = []
        self.refusals = 0

    @initialize()
    def a_counter(self) -> None:
        self.space.write(
            'CREATE CONCEPT ?c {TYPE "Topic" NAME "Counter" SET FIELDS {key: "counter"} SET ATTRIBUTES {n: 0}}'
        )
        self.first = self.space.seq

    @rule(
        victim=st.integers(0, PROCESSES - 1),
        bursts=st.lists(st.lists(kinds, min_size=1, max_size=4), min_size=PROCESSES, max_size=PROCESSES),
        commits=st.integers(0, 6),
        wait_us=st.integers(0, 3_000),
        hold_ms=st.sampled_from([0, 10]),
    )
    def kill_a_writer(self, victim: int, bursts: list[list[str]], commits: int, wait_us: int, hold_ms: int) -> None:
        """One of the processes is killed with SIGKILL, so long after so many commits, while all of them write.

        It had begun at most one write that it did not answer. That one is in the Space as a whole or not at all, what
        it was sent after that is not, and what the others were sent is as if nothing had happened.
        """
        asked = [[self._request(kind) for kind in burst] for burst in bursts]
        awaited, patience = self.space.seq + commits, time.monotonic() + 0.1
        for place, requests in enumerate(asked):
            for request in requests:
                self.processes[place].send(self._folder.name, request, hold_ms=hold_ms if place == victim else 0)
        while self.space.seq < awaited and time.monotonic() < patience:
            pass
        time.sleep(wait_us / 1_000_000)
        answers = self.processes[victim].end()
        self.processes[victim] = Process()
        for request, answer in zip(asked[victim], answers, strict=False):
            self._note(request, answer)
        for place, requests in enumerate(asked):
            for request in requests if place != victim else ():
                self._note(request, self.processes[place].answer())
        self._settle(asked[victim][len(answers) :])

    def teardown(self) -> None:
        for process in self.processes:
            while process.unread:  # when a check failed before everything was answered
                process.answer()
        self._opened.__exit__(None, None, None)
        self._folder.cleanup()

    @rule(bursts=st.lists(st.lists(kinds, max_size=4), min_size=PROCESSES, max_size=PROCESSES))
    def write_at_once(self, bursts: list[list[str]]) -> None:
        """Each process is sent its writes before any answer is read; meanwhile somebody reads."""
        asked = [[self._request(kind) for kind in burst] for burst in bursts]
        for process, requests in zip(self.processes, asked, strict=True):
            for request in requests:
                process.send(self._folder.name, request)
        self._reads_one_state()
        for process, requests in zip(self.processes, asked, strict=True):
            for request in requests:
                self._note(request, process.answer())

    @rule(kind=st.sampled_from(["counted", "guarded"]))
    def one_key_at_once(self, kind: str) -> None:
        """Every process is sent the same request under the same key: one commits, all answer what it did."""
        request = self._request(kind, key=f"shared {next(self._numbers)}")
        answers = self._all(request)
        assert len({json.dumps(answer["results"][0]["receipt"], sort_keys=True) for answer in answers}) == 1
        assert len({json.dumps(answer["results"][0]["result"], sort_keys=True) for answer in answers}) == 1
        self._note(request, answers[0])

    @precondition(lambda self: self.keyed)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        request, first = data.draw(st.sampled_from(self.keyed))
        head = self.space.seq
        for answer in self._all(request):
            assert answer["results"][0]["receipt"] == first["results"][0]["receipt"]
            assert answer["results"][0]["result"] == first["results"][0]["result"]
        assert self.space.seq == head

    @precondition(lambda self: self.keyed)
    @rule(data=st.data())
    def other_work_under_a_key(self, data: st.DataObject) -> None:
        request, _ = data.draw(st.sampled_from(self.keyed))
        other = {**self._request("counted"), "execution": request["execution"]}
        for answer in self._all(other):
            assert answer["results"][0]["error"]["code"] == "IdempotencyConflict"

    @invariant()
    def every_commit_is_there_once(self) -> None:
        """Sequences without a gap, transactions without a twin, and as many traces of each kind as commits."""
        head = self.space.seq
        seqs = sorted(receipt["space_seq"] for receipt in self.receipts)
        assert seqs == list(range(head - len(seqs) + 1, head + 1))
        assert len({receipt["tx_id"] for receipt in self.receipts}) == len(self.receipts)
        assert all(receipt["snapshot_seq"] == receipt["space_seq"] - 1 for receipt in self.receipts)
        with self.space.store.snapshot() as snapshot:
            commits = list(snapshot.commits())
        assert [commit.seq for commit in commits] == list(range(1, head + 1))
        known = {receipt["space_seq"]: receipt for receipt in self.receipts}
        for commit in commits:
            if commit.seq in known:
                assert commit.tx_id == known[commit.seq]["tx_id"]
                assert commit.record["receipt_digest"] == known[commit.seq]["receipt_digest"]
        if head:
            written = len(self.receipts)
            assert self.space.write(STATE) == [[written, written + 1, written]]

    # --- inside -------------------------------------------------------------------------------------------------------

    def _request(self, kind: str, key: str | None = None) -> dict[str, Any]:
        number = next(self._numbers)
        values: dict[str, Any] = {"key": f"write {number}"}
        if kind == "guarded":
            values["version"] = len(self.receipts) + 1
        text = {"guarded": GUARDED, "refused": REFUSED}.get(kind, COUNTED)
        request: dict[str, Any] = {"kip": "2.0", "operations": [{"command": text, "parameters": values}]}
        if kind == "keyed" or key:
            request["execution"] = {"mode": "independent", "idempotency_key": key or f"key {number}"}
        return request

    def _all(self, request: dict[str, Any]) -> Sequence[dict[str, Any]]:
        for process in self.processes:
            process.send(self._folder.name, request)
        return [process.answer() for process in self.processes]

    def _note(self, request: dict[str, Any], answer: dict[str, Any]) -> None:
        [result] = answer["results"]
        if "error" in result:
            text = request["operations"][0]["command"]
            expected = {GUARDED: "VersionConflict", REFUSED: "NotFoundOrNotVisible"}
            assert result["error"]["code"] == expected.get(text), result["error"]
            return
        assert result["receipt"]["status"] == "committed"
        self.receipts.append(result["receipt"])
        if "execution" in request:
            self.keyed.append((request, answer))

    def _settle(self, unanswered: list[dict[str, Any]]) -> None:
        """Note what a killed process committed without saying so; a key of it is then asked for again, elsewhere."""
        told = {receipt["tx_id"] for receipt in self.receipts}
        with self.space.store.snapshot() as snapshot:
            untold = [commit for commit in snapshot.commits(after=self.first) if commit.tx_id not in told]
            keys = [request["operations"][0]["parameters"]["key"] for request in unanswered]
            found = [snapshot.by_client_key(Kind.EVIDENCE, key) for key in keys]
        assert len(untold) == sum(element is not None for element in found) <= 1
        assert not any(found[1:])
        event(f"killed with {'one' if untold else 'no'} commit that was not answered")
        for commit in untold:
            assert found[0] is not None
            assert found[0].id in {change["id"] for change in commit.envelope["changes"]}
            self.receipts.append(dict(commit.record))
        if unanswered and "execution" in unanswered[0]:
            [again, *others] = self._all(unanswered[0])
            assert all(other["results"][0]["receipt"] == again["results"][0]["receipt"] for other in others)
            if untold:
                assert again["results"][0]["receipt"]["tx_id"] == untold[0].tx_id
                self.keyed.append((unanswered[0], again))
            else:
                self._note(unanswered[0], again)

    def _reads_one_state(self) -> None:
        """What a reader sees of a state in the making: all of a commit or nothing, and the same again."""
        for _ in range(4):
            head = self.space.seq
            [[n, version, evidence]] = self.space.write(STATE)
            assert n == evidence == version - 1
            then = self.space.write(f"{STATE} AS OF SEQ {head}")
            assert then == [[head - self.first, head - self.first + 1, head - self.first]]
            with self.space.store.snapshot() as snapshot:
                before = (snapshot.seq, snapshot.elements(["C-1"])["C-1"].body["attributes"]["n"])
                assert self.space.write(STATE)[0][0] >= before[1]
                assert before == (snapshot.seq, snapshot.elements(["C-1"])["C-1"].body["attributes"]["n"])


@pytest.mark.requirement("KI-TX-001", "KI-TX-002", "KI-TX-005", "KI-TX-007", "KI-TX-017", "KI-TX-019", "BR-STORE-017")
def test_whatever_several_processes_do_at_once_they_did_one_after_the_other(processes: list[Process]) -> None:
    class Machine(Serial):
        pass

    Machine.processes = processes
    run_state_machine_as_test(Machine, settings=law(4, by_night=500, steps=6))
