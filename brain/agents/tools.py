"""The tool promise: what the loop needs to know of a tool, and how a tool answers.

A tool never raises for something a model did; it answers with an error the model can act on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from brain.agents.model import ToolSpec
from brain.errors import KipError


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a call came to.

    text     what the model reads
    failed   whether the call did not do what it was asked
    ends     whether the run is over with this call, without another model call
    advice   how to get the rest when `text` has to be cut
    """

    text: str
    failed: bool = False
    ends: bool = False
    advice: str = "Ask for less: fewer projections or a lower LIMIT, then the next page."


class Tool(Protocol):
    """One tool of a run; it may keep state for as long as the run goes on."""

    spec: ToolSpec

    async def run(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Answer one call. `arguments` is a JSON object, not yet checked against the schema."""
        ...


def refusal(error: KipError) -> ToolAnswer:
    """A KIP error as a tool answer: status, code, message, hint."""
    return failure(error.code, error.message, error.hint, error.details)


def failure(code: str, message: str, hint: str, details: Mapping[str, Any] | None = None) -> ToolAnswer:
    """A failed call as the model reads it."""
    error: dict[str, Any] = {"code": code, "message": message, "hint": hint}
    if details:
        error["details"] = details
    return ToolAnswer(compact({"status": "failed", "error": error}), failed=True)


def compact(value: object) -> str:
    """JSON without white space, letters of every script as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
