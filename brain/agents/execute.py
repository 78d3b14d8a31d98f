"""The KIP tools: `execute_kip` for agents that write, `execute_kip_readonly` for those that only read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anyio.to_thread import run_sync

from brain.agents.door import Door, is_success
from brain.agents.model import ToolSpec
from brain.agents.rendering import rendered
from brain.agents.tools import ToolAnswer, refusal
from brain.errors import InvalidRequestEnvelope, KipError
from brain.kip.context import Outcome

_ADVICE = "Project fewer members, add LIMIT and CURSOR, or ask for one thing at a time."

_PROPERTIES: dict[str, Any] = {
    "command": {"type": "string", "description": "one KIP 2.0 command"},
    "commands": {
        "type": "array",
        "maxItems": 32,
        "items": {"type": "string"},
        "description": "several commands, run in order until one fails; each commits by itself",
    },
    "parameters": {"type": "object", "description": "values for :name places; a value is never part of the text"},
}


def _spec(name: str, description: str, properties: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(
        name, description, {"type": "object", "properties": dict(properties), "additionalProperties": False}
    )


EXECUTE_KIP = _spec(
    "execute_kip",
    "Run KIP commands on memory: reads, and the few writes no other tool has a place for.",
    {**_PROPERTIES, "dry_run": {"type": "boolean", "description": "check a write and keep nothing"}},
)

EXECUTE_KIP_READONLY = _spec(
    "execute_kip_readonly", "Read memory with KQL and META. Nothing can be written here.", _PROPERTIES
)


class ExecuteKip:
    """Runs what the model sends through the pass's door."""

    spec = EXECUTE_KIP

    def __init__(self, door: Door) -> None:
        self._door = door

    async def run(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        try:
            commands, parameters = read_arguments(arguments)
            is_trial = arguments.get("dry_run") is True
            outcome = await run_sync(lambda: self._door.run(commands, parameters, is_trial=is_trial))
        except KipError as error:
            return refusal(error)
        return ToolAnswer(rendered(outcome), failed=not is_success(outcome), advice=_ADVICE)


class ExecuteKipReadonly:
    """Runs reads; `seen` is told of every outcome, for citations."""

    spec = EXECUTE_KIP_READONLY

    def __init__(
        self, ask: Callable[[Sequence[str], Mapping[str, Any]], Outcome], seen: Callable[[Outcome], None]
    ) -> None:
        self._ask = ask
        self._seen = seen

    async def run(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        try:
            commands, parameters = read_arguments(arguments)
            outcome = await run_sync(self._ask, commands, parameters)
        except KipError as error:
            return refusal(error)
        self._seen(outcome)
        return ToolAnswer(rendered(outcome), failed=not is_success(outcome), advice=_ADVICE)


def read_arguments(arguments: Mapping[str, Any]) -> tuple[list[str], Mapping[str, Any]]:
    """Commands and parameters of a call; InvalidRequestEnvelope for another shape."""
    unknown = sorted(set(arguments) - {"command", "commands", "dry_run", "parameters"})
    if unknown:
        raise InvalidRequestEnvelope(
            f"There is no member {unknown[0][:40]!r} here.", hint="Send command or commands, and parameters."
        )
    command, commands = arguments.get("command"), arguments.get("commands")
    listed = [command] if commands is None else commands
    if (command is not None and commands is not None) or not isinstance(listed, list) or not listed:
        raise InvalidRequestEnvelope("Send either command or commands.", hint='For one: {"command": "FIND …"}.')
    if not all(isinstance(text, str) and text.strip() for text in listed):
        raise InvalidRequestEnvelope("Each command is text.", hint="Send each command as one string.")
    parameters = arguments.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise InvalidRequestEnvelope("parameters is not an object.", hint='Send {"name": value, …}.')
    return listed, parameters or {}
