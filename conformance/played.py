"""Playing a recorded sequence of commands on an engine, whichever it is.

A case is one line of a recording: steps in one fresh Space, with values captured from answers for later steps.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brain.errors import KipError
from brain.kip.parser import parse_uncached
from conformance.answers import canonical, flattened, normalized, pointer, same
from conformance.engine import EngineAdapter, Package

_NAMES = re.compile(r":([A-Za-z_][A-Za-z0-9_]*)")
DEFAULT_PACKAGES = ("cognitive-memory", "general")

Case = Mapping[str, Any]
Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one step answered.

    error        code of the top-level error, else of the first failed operation
    result       the first operation's result
    next_cursor  the cursor beside it
    """

    error: str | None = None
    result: Any = None
    next_cursor: str | None = None


class Player(Protocol):
    """An engine that steps are played on."""

    def reset(self, packages: Sequence[Package] | None) -> None:
        """A fresh Space with these packages, or with the two default ones."""
        ...

    def parse(self, text: str) -> Answer:
        """Whether a text is legal KIP."""
        ...

    def step(self, step: Step, captured: Mapping[str, Any]) -> Answer:
        """Send a step's command or request."""
        ...


class OurPlayer:
    """This engine, in process."""

    def __init__(self, store: str = "sqlite") -> None:
        self._engine = EngineAdapter(store=store)

    def reset(self, packages: Sequence[Package] | None) -> None:
        self._engine.reset(DEFAULT_PACKAGES if packages is None else packages)

    def parse(self, text: str) -> Answer:
        try:
            parse_uncached(text)
        except KipError as error:
            return Answer(error.code)
        return Answer()

    def step(self, step: Step, captured: Mapping[str, Any]) -> Answer:
        if "import_capsule" in step:
            return Answer("UnsupportedCapability")
        response = self._engine.send(_request(step, captured), readonly=bool(step.get("readonly")))
        answer = flattened(response)
        first = (response.get("results") or [{}])[0]
        return Answer(answer.get("error"), answer.get("result"), first.get("next_cursor"))

    def close(self) -> None:
        """Give the temporary store back."""
        self._engine.close()


def played(player: Player, case: Case) -> Iterator[tuple[int, Answer | None]]:
    """Each step's number and answer; a last None when an answer lacks what later steps need."""
    if "parse" in case:
        yield 0, player.parse(case["parse"])
        return
    player.reset(case.get("packages"))
    captured: dict[str, Any] = {}
    for index, step in enumerate(case["steps"]):
        if "reset" in step:
            player.reset(None)
            continue
        try:
            if "tamper" in step:
                tamper = step["tamper"]
                captured[tamper["name"]] = _with_value(captured[tamper["from"]], tamper["path"], tamper["value"])
            answer = player.step(step, captured)
            yield index, answer
            for name, place in step.get("capture", {}).items():
                captured[name] = answer.next_cursor if place == "cursor" else pointer(answer.result, place)
        except (KeyError, IndexError, TypeError):
            yield index, None
            return


def recorded(case: Case) -> dict[int, Answer]:
    """The answers a recording holds."""
    steps: Sequence[Step] = [case] if "parse" in case else case["steps"]
    answers = {index: step["answer"] for index, step in enumerate(steps) if "answer" in step}
    return {
        index: Answer(answer.get("error"), answer["normalized"] if "normalized" in answer else answer.get("result"))
        for index, answer in answers.items()
    }


def differences(player: Player, case: Case, expected: Mapping[int, Answer]) -> dict[int, str]:
    """What differs, by step."""
    found: dict[int, str] = {}
    for index, answer in played(player, case):
        if answer is None:
            found.setdefault(index, "the answer lacks what later steps need")
        elif index in expected:
            problem = _difference(case, index, expected[index], answer)
            if problem:
                found[index] = problem
    return found


def command_of(step: Step, captured: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """A step's command text and its parameters, None when it is sent without any."""
    text = str(step["kip"])
    mentioned = set(_NAMES.findall(text))
    parameters = {name: value for name, value in captured.items() if name in mentioned}
    parameters.update(step.get("params", {}))
    for name in step.get("stringify", ()):
        parameters[name] = json.dumps(parameters[name], separators=(",", ":"), ensure_ascii=False)
    return text, None if step.get("bare") else parameters


def _request(step: Step, captured: Mapping[str, Any]) -> dict[str, Any]:
    if "request" in step:
        return dict(step["request"])
    text, parameters = command_of(step, captured)
    operation: dict[str, Any] = {"command": text}
    if parameters is not None:
        operation["parameters"] = parameters
    request = {"kip": "2.0", "operations": [operation], **step.get("envelope", {})}
    if step.get("dry_run"):
        request["options"] = {**request.get("options", {}), "dry_run": True}
    return request


def _difference(case: Case, index: int, expected: Answer, answer: Answer) -> str | None:
    if answer.error != expected.error:
        return f"want {expected.error or 'a result'}, got {answer.error or 'a result'}"
    step: Step = {} if "parse" in case else case["steps"][index]
    if answer.error or "parse" in case or "import_capsule" in step or step.get("compare") == "shape":
        return None
    want, got = normalized(expected.result), normalized(answer.result)
    if same(want, got, ordered="ordered" in case.get("tags", ())):
        return None
    return f"want {canonical(want)[:400]}, got {canonical(got)[:400]}"


def _with_value(document: Any, path: str, value: Any) -> Any:
    document = copy.deepcopy(document)
    *parents, last = path.split("/")[1:]
    node = document
    for part in parents:
        node = node[int(part)] if isinstance(node, list) else node[part]
    node[int(last) if isinstance(node, list) else last] = value
    return document
