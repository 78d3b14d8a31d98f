"""Comparing with recorded and live answers of another engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import oracle
from conformance.live import Peer, PeerError
from conformance.oracle import judged, listing, needless
from conformance.played import Answer, OurPlayer, differences, played, recorded

PEER = [sys.executable, str(Path(__file__).with_name("peer.py"))]

CASE: dict[str, Any] = {
    "id": "people-001",
    "steps": [
        {
            "kip": 'CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}',
            "capture": {"ann": "/handles/a"},
            "answer": {"normalized": {"handles": {"a": "C:<1>"}}},
            "compare": "shape",
        },
        {"kip": "FIND(?c.name) WHERE { ?c {id: :ann} }", "answer": {"result": ["Ann"]}},
        {"kip": "FIND(?c.name) WHERE { ?c {id: :ann}", "answer": {"error": "InvalidSyntax"}},
        {"kip": "DESCRIBE PROTOCOL", "readonly": True, "answer": {"result": {}}, "compare": "shape"},
    ],
}


@pytest.fixture
def ours() -> Iterator[OurPlayer]:
    player = OurPlayer()
    yield player
    player.close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer(PEER) as running:
        yield running


def test_a_recording_with_the_same_answers_is_equal(ours: OurPlayer) -> None:
    assert differences(ours, CASE, recorded(CASE)) == {}


def test_other_answers_and_other_codes_are_differences_at_their_steps(ours: OurPlayer) -> None:
    expected = recorded(CASE) | {1: Answer(result=["Ben"]), 2: Answer("LanguageMismatch")}
    found = differences(ours, CASE, expected)
    assert found == {1: 'want ["Ben"], got ["Ann"]', 2: "want LanguageMismatch, got InvalidSyntax"}


def test_playing_stops_where_an_answer_lacks_what_later_steps_need(ours: OurPlayer) -> None:
    steps = [{"kip": 'FIND(?c) WHERE { ?c {key: "nobody"} }', "capture": {"x": "/0/id"}}, CASE["steps"][1]]
    assert list(played(ours, {"id": "x", "steps": steps}))[-1] == (0, None)


def test_a_changed_copy_of_an_answer_is_passed_on_as_text(ours: OurPlayer) -> None:
    steps = [
        {"kip": 'CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}', "capture": {"receipt": ""}},
        {
            "kip": "VERIFY RECEIPT :other",
            "tamper": {"from": "receipt", "name": "other", "path": "/handles/a", "value": "C-9"},
            "stringify": ["other"],
        },
    ]
    last = list(played(ours, {"id": "x", "steps": steps}))[-1]
    assert last[0] == 1
    assert last[1] is not None


def test_legality_alone_can_be_compared(ours: OurPlayer, peer: Peer) -> None:
    case = {"id": "parse-1", "parse": "FIND(?x) WHERE { ?x {} } ;", "answer": {"language": "KQL"}}
    assert differences(ours, case, recorded(case)) == {0: "want a result, got InvalidSyntax"}
    assert [answer for _, answer in played(peer, case)] == [Answer()]


def test_rows_name_the_steps_they_speak_of() -> None:
    text = (
        "| `a-1` | steps 2, 5-7: status | why |\n| `a-1` | step 9: name | why |\n| `b-1` | all of it | why |\n| case |"
    )
    assert listing(text) == {"a-1": frozenset({2, 5, 6, 7, 9}), "b-1": None}


def test_only_a_listed_step_may_differ() -> None:
    listed = listing("| `people-001` | step 1: name | why |")
    assert judged(CASE, "people", {}, listed).outcome == "equal"
    assert judged(CASE, "people", {1: "other"}, listed).outcome == "listed"
    result = judged(CASE, "people", {1: "other", 2: "worse"}, listed)
    assert (result.outcome, result.detail) == ("differs", "step 2: worse")
    assert needless(CASE, {2: "worse"}, listed) == [1]


def test_the_run_tells_of_open_differences_and_idle_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = tmp_path / "people.jsonl"
    recording.write_text(json.dumps(CASE) + "\n", "utf-8")
    rows = tmp_path / "differences.md"
    monkeypatch.setattr(oracle, "LISTING", rows)
    rows.write_text("", "utf-8")
    assert oracle.main([str(tmp_path)]) == 0
    assert "1 cases: 1 equal, 0 differ as listed, 0 differ otherwise" in capsys.readouterr().out
    rows.write_text("| `people-001` | step 1: name | why |\n", "utf-8")
    assert oracle.main([str(recording)]) == 1
    assert "listed without need: people-001, steps 1" in capsys.readouterr().out


def test_the_peer_gets_what_a_step_says_and_nothing_else(peer: Peer) -> None:
    peer.reset(None)
    captured = {"ann": "C-1", "unused": 1}
    step = {"kip": "FIND(?c) WHERE { ?c {id: :ann} }", "params": {"n": 2}, "dry_run": True, "readonly": True}
    assert peer.step(step, captured) == Answer(
        None, {"kip": step["kip"], "params": {"ann": "C-1", "n": 2}, "dry_run": True, "readonly": True}, "page-2"
    )
    assert peer.step({"kip": "FIND(?c) WHERE {}", "bare": True}, captured).result == {"kip": "FIND(?c) WHERE {}"}
    assert peer.step({"request": {"kip": "2.0"}}, captured) == Answer("InvalidRequestEnvelope")
    assert peer.step({"import_capsule": "ann"}, captured) == Answer(None, "C-1")


def test_packages_reach_the_peer(peer: Peer) -> None:
    peer.reset(["cognitive-memory", {"format": "KIP-Schema-Package"}])
    with pytest.raises(PeerError, match="packages are names or artifacts"):
        peer.reset([5])  # type: ignore[list-item]


def test_both_engines_play_the_same_steps_each_with_its_own_captures(ours: OurPlayer, peer: Peer) -> None:
    case = {
        "id": "x",
        "steps": [
            {"kip": "FIND(?c) WHERE { ?c {} }", "params": {}, "capture": {"page": "cursor"}},
            {"kip": "LIST TYPES LIMIT 1 CURSOR :page"},
        ],
    }
    theirs = {index: answer for index, answer in played(peer, case) if answer is not None}
    assert theirs[1].result["params"] == {"page": "page-2"}
    assert set(differences(ours, case, theirs)) == {0, 1}


def test_a_peer_that_ends_or_talks_nonsense_is_an_error_of_its_own(peer: Peer) -> None:
    with pytest.raises(PeerError, match="something else than an object"):
        peer.step({"kip": "rubbish"}, {})
    with pytest.raises(PeerError, match="gave no answer"):
        peer.step({"kip": "die"}, {})


def test_a_live_run_compares_with_the_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "peer"
    binary.write_text(f"#!/bin/sh\nexec {' '.join(PEER)}\n", "utf-8")
    binary.chmod(0o755)
    (tmp_path / "cases.jsonl").write_text(
        json.dumps({"id": "p-1", "parse": "FIND(?x) WHERE {}", "answer": {"error": "InvalidSyntax"}}) + "\n", "utf-8"
    )
    report = tmp_path / "report.json"
    assert oracle.main([str(tmp_path), "--live", str(binary), "--report", str(report)]) in (0, 1)
    assert json.loads(report.read_text("utf-8"))["command"] == "oracle"
    assert "1 cases:" in capsys.readouterr().out
