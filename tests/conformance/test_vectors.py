"""Playing vectors: what passes, what fails, and what nobody can decide yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import vectors
from conformance.scenarios.contracts import run_contracts
from conformance.scenarios.observed import SCENARIOS
from conformance.scenarios.world import World


def vector(vector_id: str, *checks: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": vector_id,
        "assertions": [check for check in checks if check["source"] == "step"],
        "postconditions": [check for check in checks if check["source"] == "state"],
    }


def check(path: str, expected: Any, source: str = "step") -> dict[str, Any]:
    return {"source": source, "path": path, "operator": "equals", "expected": expected}


def claim(root: str, **members: Any) -> dict[str, Any]:
    return {"root": root, "status": "active", "mode": "stated", "stance": "support", "trusted": True, **members}


def run(folder: Path, *found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    for entry in found:
        (folder / f"{entry['id']}.json").write_text(json.dumps(entry), "utf-8")
    return {result.case: (result.outcome, result.detail) for result in vectors.run_folder(folder)}


def test_every_check_has_to_hold(tmp_path: Path) -> None:
    right = vector(
        "KIP2-MEM-001", check("/slot_status", "contested"), check("/unchanged", expected=True, source="state")
    )
    assert run(tmp_path, right) == {"KIP2-MEM-001": ("passed", "")}
    wrong = vector("KIP2-MEM-001", check("/slot_status", "accepted"), check("/nowhere", 1))
    outcome, detail = run(tmp_path, wrong)["KIP2-MEM-001"]
    assert outcome == "failed"
    assert detail == '/slot_status: want "accepted", got "contested"; /nowhere: not observed'


def test_a_number_is_no_boolean_and_unknown_operators_hold_nothing(tmp_path: Path) -> None:
    odd = vector(
        "KIP2-MEM-001",
        check("/unchanged", 1, source="state"),
        {**check("/slot_status", "contested"), "operator": "is like"},
    )
    outcome, detail = run(tmp_path, odd)["KIP2-MEM-001"]
    assert outcome == "failed"
    assert "/unchanged: want 1, got true" in detail
    assert "unknown operator is like" in detail


def test_what_cannot_be_played_is_not_decided_and_says_what_is_missing(tmp_path: Path) -> None:
    found = run(tmp_path, vector("KIP2-MIF-001", check("/x", 1)), vector("KIP2-NEW-001", check("/x", 1)))
    assert found["KIP2-MIF-001"] == ("not decided", "needs memory_interface, which is not offered")
    assert found["KIP2-NEW-001"][0] == "not decided"


def test_a_scenario_that_meets_another_answer_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors.load_scenarios()
    monkeypatch.setitem(SCENARIOS, "KIP2-MEM-001", lambda world: world.element("C-1")["nothing"])
    monkeypatch.setitem(SCENARIOS, "KIP2-MEM-013", lambda world: world.run("FIND("))
    found = run(tmp_path, vector("KIP2-MEM-001"), vector("KIP2-MEM-013"), vector("KIP2-MEM-025"))
    assert found["KIP2-MEM-001"][0] == found["KIP2-MEM-013"][0] == "failed"
    assert "InvalidSyntax" in found["KIP2-MEM-013"][1]
    assert found["KIP2-MEM-025"][0] == "passed"


@pytest.mark.parametrize("vector_id", ["KIP2-MEM-006", "KIP2-MEM-011", "KIP2-MEM-021", "KIP2-REL-001", "KIP2-REL-014"])
def test_scenarios_observe_the_same_each_time(vector_id: str) -> None:
    vectors.load_scenarios()
    seen = []
    for _ in range(2):
        with World() as world:
            seen.append(SCENARIOS[vector_id](world))
    assert seen[0] == seen[1]


@pytest.mark.requirement("KI-BELIEF-069", "KI-BELIEF-067")
def test_a_belief_is_computed_anew_when_any_part_of_its_basis_changes() -> None:
    vectors.load_scenarios()
    with World() as world:
        observed = SCENARIOS["KIP2-MEM-007"](world)
    assert observed.step["basis_mutations_reused"] == 0
    assert observed.state["read_mutations"] == 0


def test_contract_cases_are_played_on_the_engine() -> None:
    start = {"asserted_at": "2026-02-01T00:00:00.000Z"}
    request = {"functional": True, "context_refs": [], "valid_at": "2026-05-01T00:00:00.000Z"}
    candidates = [
        {"id": "P1", "value": "red", "assertions": [claim("E1", actor="ann", **start)]},
        {"id": "P2", "value": "blue", "assertions": [claim("E2", actor="ben", stance="reject", **start)]},
    ]
    expected = {"slot_status": "accepted", "accepted_values": ["red"], "candidate_statuses": ["accepted", "rejected"]}
    case = {"id": "right", "candidates": candidates, "request": request, "expected": expected}
    other = {**case, "id": "wrong", "expected": {**expected, "slot_status": "contested"}}
    refused = {**case, "id": "refused", "request": {**request, "valid_at": "yesterday"}}
    lease = {"owner": "w", "fencing_token": 1, "expires_at": "2026-09-06T12:00:00.000Z", "attempt_count": 1}
    document = {"projection": [case, other, refused], "comparison": {}, "records": {"LeaseState": lease, "Nothing": {}}}
    found = {result.case: (result.outcome, result.detail) for result in run_contracts(document)}
    assert found["right"] == ("passed", "")
    assert found["wrong"] == ("failed", "want slot_status contested, got accepted")
    assert found["refused"][0] == "failed"
    assert "ConstraintViolation" in found["refused"][1]
    assert found["LeaseState"] == ("passed", "")
    assert found["Nothing"][0] == found["comparison"][0] == "not decided"


def test_a_record_of_the_wrong_shape_fails() -> None:
    (result,) = run_contracts({"records": {"LeaseState": {"owner": 5}}})
    assert result.outcome == "failed"


def test_the_last_line_counts_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = tmp_path / "memory"
    group.mkdir()
    for entry in (vector("KIP2-MEM-025", check("/unrun_benchmark_status", "not_run")), vector("KIP2-MEM-004")):
        (group / f"{entry['id']}.json").write_text(json.dumps(entry), "utf-8")
    report = tmp_path / "report.json"
    assert vectors.main([str(tmp_path), "-v", "--report", str(report)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "passed 1, failed 0, not decided 1"
    assert lines[0] == "memory: passed 1, failed 0, not decided 1"
    assert json.loads(report.read_text("utf-8"))["totals"] == {"passed": 1, "failed": 0, "not decided": 1}
