"""Run fixtures of the published engine suite: `python -m conformance suite FOLDER|FILE… [-v]`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from conformance.answers import contains, flattened, normalized, pointer, same
from conformance.engine import EngineAdapter

Outcome = Literal["passed", "failed", "unsupported"]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one case went; `detail` says why it did not pass."""

    file: str
    case: str
    outcome: Outcome
    detail: str = ""


def run_file(engine: EngineAdapter, path: Path) -> Iterator[CaseResult]:
    """Every case of one fixture, in order, in one fresh Space."""
    fixture = json.loads(path.read_text("utf-8"))
    engine.reset(["cognitive-memory", *fixture.get("packages", [])])
    captured: dict[str, Any] = {}
    for step in fixture.get("setup", []):
        step = {"command": step} if isinstance(step, str) else step
        response = engine.send(_request(step, captured))
        answer = flattened(response)
        if "error" in answer:
            yield CaseResult(path.name, "setup", "failed", f"setup refused: {answer['error']}: {_message(response)}")
            return
        for name, place in step.get("capture", {}).items():
            captured[name] = pointer(answer["result"], place)
    for case in fixture["cases"]:
        response = engine.send(_request(case, captured))
        yield _judged(path.name, case, flattened(response), response)


def _request(step: dict[str, Any], captured: dict[str, Any]) -> dict[str, Any]:
    parameters = {**captured, **step.get("params", {})}
    if step.get("operations") is not None:
        operations = [
            {"command": entry["command"], "parameters": {**parameters, **entry.get("params", {})}}
            for entry in step["operations"]
        ]
    else:
        operations = [{"command": step["command"], "parameters": parameters}]
    return {"kip": "2.0", "operations": operations, **step.get("envelope", {})}


def _judged(file: str, case: dict[str, Any], answer: dict[str, Any], response: dict[str, Any]) -> CaseResult:
    expect = case["expect"]
    wanted_error = expect.get("error")
    got_error = answer.get("error")
    if got_error == "UnsupportedCapability" and wanted_error != got_error:
        return CaseResult(file, case["name"], "unsupported", _message(response))
    if wanted_error or got_error:
        passed = wanted_error == got_error
        detail = (
            "" if passed else f"want {wanted_error or 'a result'}, got {got_error or 'a result'}: {_message(response)}"
        )
        return CaseResult(file, case["name"], "passed" if passed else "failed", detail)
    actual = answer["result"]
    wanted = expect.get("result", expect.get("result_contains"))
    if expect.get("result") is not None:
        actual = normalized(actual)
        passed = same(wanted, actual, ordered=bool(case.get("ordered")))
    else:
        passed = "result_contains" not in expect or contains(wanted, actual)
    detail = "" if passed else f"want {json.dumps(wanted)}, got {json.dumps(actual)}"
    return CaseResult(file, case["name"], "passed" if passed else "failed", detail)


def _message(response: dict[str, Any]) -> str:
    errors = [response.get("error"), *(entry.get("error") for entry in response.get("results", []))]
    return next((f"{error['message']} ({error['hint']})" for error in errors if error), "")


def main(arguments: list[str]) -> int:
    """Print passed, failed and unsupported per file and in all."""
    verbose = "-v" in arguments
    paths = [Path(argument) for argument in arguments if not argument.startswith("-")]
    files = sorted(file for path in paths for file in (path.glob("*.json") if path.is_dir() else [path]))
    engine = EngineAdapter()
    totals = {"passed": 0, "failed": 0, "unsupported": 0}
    for file in files:
        results = list(run_file(engine, file))
        counts = {name: sum(result.outcome == name for result in results) for name in totals}
        print(f"{file.name}: passed {counts['passed']}, failed {counts['failed']}, unsupported {counts['unsupported']}")
        for result in results:
            if verbose and result.outcome != "passed":
                print(f"  {result.outcome}: {result.case}: {result.detail}")
        totals = {name: totals[name] + counts[name] for name in totals}
    engine.close()
    print(f"passed {totals['passed']}, failed {totals['failed']}, unsupported {totals['unsupported']}")
    return 1 if totals["failed"] else 0
