"""The report a run leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from conformance import report, suite
from conformance.report import CaseResult

SCHEMA = json.loads(Path(report.__file__).with_name("report.schema.json").read_text("utf-8"))

FIXTURE = {
    "name": "small",
    "now": "2026-09-20T00:00:00.000Z",
    "setup": ['CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}'],
    "cases": [
        {"name": "right", "command": "FIND(COUNT(?c)) WHERE { ?c {} }", "expect": {"result": [1]}},
        {"name": "wrong", "command": "FIND(COUNT(?c)) WHERE { ?c {} }", "expect": {"result": [2]}},
        {"name": "off", "command": "DESCRIBE TRUST", "expect": {"result": None}},
    ],
}


def test_a_report_validates_and_says_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fixture, target = tmp_path / "small.json", tmp_path / "report.json"
    fixture.write_text(json.dumps(FIXTURE), "utf-8")
    assert suite.main([str(fixture), "-v", "--report", str(target)]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "passed 1, failed 1, unsupported 1"
    assert "failed: wrong: want [2], got [1]" in out
    found = json.loads(target.read_text("utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert found["totals"] == found["groups"]["small"] == {"passed": 1, "failed": 1, "unsupported": 1}
    assert [entry["outcome"] for entry in found["results"]] == ["passed", "failed", "unsupported"]
    assert found["behavior"] == {"status": "not_run"}


def test_the_same_run_gives_the_same_report(tmp_path: Path) -> None:
    fixture = tmp_path / "small.json"
    fixture.write_text(json.dumps(FIXTURE), "utf-8")
    results = [CaseResult("small", "right", "passed")]
    one, other = (report.document("suite", [fixture], results, suite.OUTCOMES) for _ in range(2))
    assert one == other


def test_a_refused_setup_is_a_failure_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fixture = tmp_path / "broken.json"
    fixture.write_text(json.dumps({**FIXTURE, "setup": ['CREATE CONCEPT ?a {TYPE "Nope"}']}), "utf-8")
    assert suite.main([str(fixture), "-v"]) == 1
    assert "small: setup: refused: SchemaSymbolNotFound" in capsys.readouterr().out
