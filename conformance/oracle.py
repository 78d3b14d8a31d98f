"""Compare with the reference engine's recorded answers: `python -m conformance oracle FOLDER|FILE… [-v]`.

An answer recorded there is what that engine does, not always what the specification says; differences that the
specification decides for us are listed, with the sentence that decides, in conformance/differences.md.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from brain.errors import KipError
from brain.kip.parser import parse_uncached
from conformance.answers import canonical, flattened, normalized, pointer, same
from conformance.engine import EngineAdapter

_NAMES = re.compile(r":([A-Za-z_][A-Za-z0-9_]*)")
_LISTED = re.compile(r"^\| `([a-z0-9-]+)` \|", re.M)
DEFAULT_PACKAGES = ("cognitive-memory", "general")


def problems_of(engine: EngineAdapter, case: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Steps of one recorded case that answer differently here, with what differs."""
    if "parse" in case:
        error = _parse_error(case["parse"])
        if error != case["answer"].get("error"):
            yield 0, f"want {case['answer'].get('error')}, got {error}"
        return
    engine.reset(case.get("packages") or DEFAULT_PACKAGES)
    captured: dict[str, Any] = {}
    ordered = "ordered" in case.get("tags", ())
    for index, step in enumerate(case["steps"]):
        if "reset" in step:
            engine.reset(DEFAULT_PACKAGES)
            continue
        if "import_capsule" in step:
            yield index, "capsule import is not offered"
            return
        if "tamper" in step:
            tamper = step["tamper"]
            captured[tamper["name"]] = _with_value(captured[tamper["from"]], tamper["path"], tamper["value"])
        response = engine.send(_request(step, captured), readonly=bool(step.get("readonly")))
        answer = flattened(response)
        first = (response.get("results") or [{}])[0]
        problem = _difference(step, answer, ordered)
        if problem:
            yield index, problem
            if "error" in answer and step.get("capture"):
                return
        try:
            for name, place in step.get("capture", {}).items():
                captured[name] = first.get("next_cursor") if place == "cursor" else pointer(answer.get("result"), place)
        except (KeyError, IndexError, TypeError):
            yield index, "the answer lacks what later steps need"
            return


def _difference(step: dict[str, Any], answer: dict[str, Any], ordered: bool) -> str | None:
    expected = step["answer"]
    if answer.get("error") != expected.get("error"):
        return f"want {expected.get('error') or 'a result'}, got {answer.get('error') or 'a result'}"
    if "error" in expected or step.get("compare") == "shape":
        return None
    want = expected["normalized"] if "normalized" in expected else expected.get("result")
    got = normalized(answer.get("result"))
    if same(want, got, ordered=ordered):
        return None
    return f"want {canonical(want)[:400]}, got {canonical(got)[:400]}"


def _request(step: dict[str, Any], captured: dict[str, Any]) -> dict[str, Any]:
    if "request" in step:
        request: dict[str, Any] = step["request"]
        return request
    mentioned = set(_NAMES.findall(step["kip"]))
    parameters = {name: value for name, value in captured.items() if name in mentioned}
    parameters.update(step.get("params", {}))
    for name in step.get("stringify", ()):
        parameters[name] = json.dumps(parameters[name], separators=(",", ":"), ensure_ascii=False)
    operation: dict[str, Any] = {"command": step["kip"]}
    if not step.get("bare"):
        operation["parameters"] = parameters
    request = {"kip": "2.0", "operations": [operation], **step.get("envelope", {})}
    if step.get("dry_run"):
        request["options"] = {**request.get("options", {}), "dry_run": True}
    return request


def _parse_error(text: str) -> str | None:
    try:
        parse_uncached(text)
    except KipError as error:
        return error.code
    return None


def _with_value(document: Any, path: str, value: Any) -> Any:
    document = copy.deepcopy(document)
    *parents, last = path.split("/")[1:]
    node = document
    for part in parents:
        node = node[int(part)] if isinstance(node, list) else node[part]
    node[int(last) if isinstance(node, list) else last] = value
    return document


def main(arguments: list[str]) -> int:
    """Print differences that are not listed, and the figures."""
    verbose = "-v" in arguments
    listed_file = Path(__file__).with_name("differences.md")
    listed = set(_LISTED.findall(listed_file.read_text("utf-8"))) if listed_file.exists() else set()
    paths = [Path(argument) for argument in arguments if not argument.startswith("-")]
    files = sorted(file for path in paths for file in (path.glob("*.jsonl") if path.is_dir() else [path]))
    engine = EngineAdapter()
    ran = equal = explained = 0
    unexplained: list[str] = []
    for file in files:
        for line in file.read_text("utf-8").splitlines():
            case = json.loads(line)
            ran += 1
            problems = list(problems_of(engine, case))
            if not problems:
                equal += 1
            elif case["id"] in listed:
                explained += 1
            else:
                unexplained.append(case["id"])
                if verbose:
                    for index, problem in problems:
                        print(f"{case['id']} step {index} ({case.get('title', '')}): {problem}")
    engine.close()
    for case_id in unexplained if not verbose else ():
        print(f"differs: {case_id}")
    print(f"{ran} cases: {equal} equal, {explained} differ as listed, {len(unexplained)} differ otherwise")
    return 1 if unexplained else 0
