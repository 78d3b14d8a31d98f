"""Fixtures: packages, setup, and cases that share one fresh Space and run in order, as data.

The form is the published engine suite's. Our own fixtures (`conformance/cases`) may also say:

file     an array of fixtures instead of one
fixture  `now` the instant at which its clock stands; without it the machine's clock runs
case     `requirements` the rows it proves, `capture` as in setup, `advance_ms` to move the clock before it,
         `session` who sends it (`{"preset": …}` or `{"without": [permissions]}`, and `principal`), `readonly`,
         `raw` the request as JSON text
expect   `response_contains`, compared like `result_contains` with the whole response envelope
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from brain.kip.context import OWNER_PERMISSIONS, Session
from brain.kip.govern import preset_session
from brain.times import FixedClock, SystemClock, milliseconds
from conformance.answers import contains, flattened, normalized, pointer, same
from conformance.engine import OWNER, EngineAdapter
from conformance.report import CaseResult

Fixture = Mapping[str, Any]
Case = Mapping[str, Any]


def fixtures_of(path: Path) -> Sequence[Fixture]:
    """The fixtures of a file."""
    found = json.loads(path.read_text("utf-8"))
    return found if isinstance(found, list) else [found]


def run_fixture(engine: EngineAdapter, fixture: Fixture, group: str) -> Iterator[CaseResult]:
    """Every case of one fixture, in order, in one fresh Space."""
    clock = FixedClock(milliseconds(fixture["now"])) if "now" in fixture else SystemClock()
    engine.reset(["cognitive-memory", *fixture.get("packages", [])], clock=clock)
    captured: dict[str, Any] = {}
    for entry in fixture.get("setup", []):
        step: Case = {"command": entry} if isinstance(entry, str) else entry
        response = engine.send(_request(step, captured), session=_session(step))
        code = flattened(response).get("error")
        if code:
            yield CaseResult(group, f"{fixture['name']}: setup", "failed", f"refused: {code}: {_message(response)}")
            return
        _capture(step, response, captured)
    for case in fixture["cases"]:
        if isinstance(clock, FixedClock):
            clock.advance(case.get("advance_ms", 0))
        response = engine.send(
            _request(case, captured),
            readonly=bool(case.get("readonly")),
            session=_session(case) if "session" in case else None,
        )
        result = _judged(group, case, response)
        try:
            _capture(case, response, captured)
        except (KeyError, IndexError, TypeError):
            result = CaseResult(group, case["name"], "failed", result.detail or "nothing to capture")
        yield result


def _request(step: Case, captured: Mapping[str, Any]) -> dict[str, Any] | str:
    if "raw" in step:
        return str(step["raw"])
    parameters = {**captured, **step.get("params", {})}
    if step.get("operations") is not None:
        operations = [
            {"command": entry["command"], "parameters": {**parameters, **entry.get("params", {})}}
            for entry in step["operations"]
        ]
    else:
        operations = [{"command": step["command"], "parameters": parameters}]
    return {"kip": "2.0", "operations": operations, **step.get("envelope", {})}


def _session(step: Case) -> Session:
    wanted = step.get("session")
    if wanted is None:
        return OWNER
    principal = wanted.get("principal", "somebody")
    if "preset" in wanted:
        return preset_session(wanted["preset"], principal_id=principal, channel="conformance")
    permissions = OWNER_PERMISSIONS - set(wanted.get("without", ()))
    return Session(principal_id=principal, channel="conformance", permissions=permissions)


def _capture(step: Case, response: dict[str, Any], captured: dict[str, Any]) -> None:
    first = (response.get("results") or [{}])[0]
    for name, place in step.get("capture", {}).items():
        captured[name] = first["next_cursor"] if place == "cursor" else pointer(first["result"], place)


def _judged(group: str, case: Case, response: dict[str, Any]) -> CaseResult:
    name, expect, answer = case["name"], case["expect"], flattened(response)
    wanted, got = expect.get("error"), answer.get("error")
    if got == "UnsupportedCapability" and wanted != got:
        return CaseResult(group, name, "unsupported", _message(response))
    problem = ""
    if wanted != got:
        problem = f"want {wanted or 'a result'}, got {got or 'a result'}: {_message(response)}"
    elif got is None:
        problem = _unlike(expect, answer["result"], ordered=bool(case.get("ordered")))
    if not problem and not contains(expect.get("response_contains", {}), response):
        problem = f"want a response with {json.dumps(expect['response_contains'])}, got {json.dumps(response)}"
    return CaseResult(group, name, "failed" if problem else "passed", problem)


def _unlike(expect: Mapping[str, Any], result: Any, *, ordered: bool) -> str:
    """What is wrong with a result; empty when it is as expected. An expected null stands for any result."""
    if expect.get("result") is not None:
        wanted, got = expect["result"], normalized(result)
        return "" if same(wanted, got, ordered=ordered) else f"want {json.dumps(wanted)}, got {json.dumps(got)}"
    if "result_contains" in expect and not contains(expect["result_contains"], result):
        return f"want a result with {json.dumps(expect['result_contains'])}, got {json.dumps(result)}"
    return ""


def _message(response: dict[str, Any]) -> str:
    errors = [response.get("error"), *(entry.get("error") for entry in response.get("results", []))]
    return next((f"{error['message']} ({error['hint']})" for error in errors if error), "")
