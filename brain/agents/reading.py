"""Reads of the host on an agent's behalf: KQL through a reader's session, rows back, several reads in one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from brain.errors import ExecutionTimeout, KipError
from brain.kip.context import Outcome, Session
from brain.kip.describe.chronology import snapshot_token
from brain.kip.pipeline import Engine
from brain.store.base import ElementId
from brain.times import Seq

Query = tuple[str, Mapping[str, Any]]

MAX_OPERATIONS = 200
"""Operations per request; the engine takes 256."""


class ReadFailed(Exception):
    """A read the host needs was not answered; the code is the engine's."""

    def __init__(self, code: str) -> None:
        super().__init__(f"a read of memory failed ({code})")
        self.code = code


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads one Space through one session.

    seq          the sequence all reads are pinned to; None for the Space as each of them finds it
    deadline_ms  for one request; None for none
    ends         for all requests together, a moment of the monotonic clock in seconds; None for no such moment
    """

    engine: Engine
    session: Session
    seq: Seq | None = None
    deadline_ms: int | None = None
    ends: float | None = None

    def ask(self, command: str, **parameters: Any) -> Any:
        """One read; its result. ReadFailed when it fails."""
        return self.ask_all([(command, parameters)])[0]

    def ask_all(self, queries: Sequence[Query]) -> list[Any]:
        """Several reads, their results in order. ReadFailed when one fails."""
        answers = self.try_all(queries)
        for answer in answers:
            if "error" in answer:
                raise ReadFailed(answer["error"]["code"])
        return [answer.get("result") for answer in answers]

    def try_all(self, queries: Sequence[Query]) -> list[dict[str, Any]]:
        """Several reads, each with its result or its error as the engine words it."""
        answers: list[dict[str, Any]] = []
        for start in range(0, len(queries), MAX_OPERATIONS):
            part = queries[start : start + MAX_OPERATIONS]
            response = self.run(part).response
            results = response.get("results") or []
            if len(results) < len(part):  # refused as a whole
                raise ReadFailed(response.get("error", {}).get("code", "InternalError"))
            answers += results
        return answers

    def run(self, queries: Sequence[Query]) -> Outcome:
        """One request of these reads, with the engine's trace of what bound each row; ReadFailed when it is too late
        for any."""
        request: dict[str, Any] = {
            "kip": "2.0",
            "operations": [{"command": command, "parameters": dict(values)} for command, values in queries],
        }
        if len(queries) > 1:
            request["execution"] = {"mode": "independent"}
        if self.seq is not None:
            request["read"] = {"snapshot_token": snapshot_token(self.engine.space_uri, self.seq)}
        deadline_ms = self._left_ms()
        if deadline_ms is not None:
            request["options"] = {"deadline_ms": deadline_ms}
        return self.engine.execute(request, self.session)

    def vocabulary_version(self) -> int:
        """Of the words that hold where this reads: what depends on nothing else is as it was at the same version.
        ReadFailed when that cannot be read."""
        try:
            with self.engine.space.snapshot(self.seq) as snapshot:
                return self.engine.environment(snapshot).version
        except KipError as error:
            raise ReadFailed(error.code) from error

    def _left_ms(self) -> int | None:
        """For the next request; ReadFailed when there is nothing left."""
        if self.ends is None:
            return self.deadline_ms
        left_ms = int((self.ends - monotonic()) * 1000)
        if left_ms <= 0:
            raise ReadFailed(ExecutionTimeout.__name__)
        return left_ms if self.deadline_ms is None else min(left_ms, self.deadline_ms)


def ref_id(value: object) -> ElementId | None:
    """The id of a reference object or of an element view."""
    return value.get("id") if isinstance(value, Mapping) else None
