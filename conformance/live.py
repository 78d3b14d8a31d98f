"""The reference engine as a child process that takes and gives JSON lines; its binary is not part of this project."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from conformance.engine import Package
from conformance.played import Answer, Step, command_of


class PeerError(Exception):
    """The peer process ended, or answered something that is no answer."""


class Peer:
    """One running process with one Space in memory; a context manager that ends it.

    command  the binary and its arguments
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def reset(self, packages: Sequence[Package] | None) -> None:
        answer = self._send({"reset": True} if packages is None else {"reset": True, "packages": list(packages)})
        if answer.get("error"):
            raise PeerError(f"no fresh Space: {answer.get('message', answer['error'])}")

    def parse(self, text: str) -> Answer:
        return Answer(self._send({"parse": text}).get("error"))

    def step(self, step: Step, captured: Mapping[str, Any]) -> Answer:
        answer = self._send(_line(step, captured))
        if "import_capsule" in step:
            return Answer(answer.get("error"), answer.get("report"))
        first = (answer.get("response", {}).get("results") or [{}])[0]
        return Answer(answer.get("error"), answer.get("result"), first.get("next_cursor"))

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def timed(self, command: str, parameters: Mapping[str, Any]) -> tuple[Any, float]:
        """A command's result and the milliseconds it took inside the engine; PeerError when it failed."""
        answer = self._send({"kip": command, "params": dict(parameters), "time": True, "full": False})
        if answer.get("error"):
            raise PeerError(f"the peer refused a command: {answer['error']}")
        return answer["result"], answer["elapsed_us"] / 1000

    def close(self) -> None:
        """Let the process end by closing its input; a process that stays is killed after ten seconds."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _send(self, line: Mapping[str, Any]) -> dict[str, Any]:
        source, target = self._process.stdout, self._process.stdin
        if source is None or target is None:
            raise PeerError("the peer process has no pipes")
        try:
            target.write(json.dumps(line, ensure_ascii=False) + "\n")
            target.flush()
            text = source.readline()
            answer = json.loads(text)
        except (OSError, ValueError) as error:
            raise PeerError("the peer process gave no answer") from error
        if not isinstance(answer, dict):
            raise PeerError("the peer process answered something else than an object")
        return answer


def _line(step: Step, captured: Mapping[str, Any]) -> dict[str, Any]:
    if "import_capsule" in step:
        return {"import_capsule": captured[step["import_capsule"]]}
    readonly = {"readonly": True} if step.get("readonly") else {}
    if "request" in step:
        return {"request": step["request"], **readonly}
    text, parameters = command_of(step, captured)
    line: dict[str, Any] = {"kip": text, **readonly}
    line.update({name: step[name] for name in ("dry_run", "envelope") if name in step})
    if parameters is not None:
        line["params"] = parameters
    return line
