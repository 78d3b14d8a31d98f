"""The Model promise: messages and tools in, text or tool calls and usage out.

Three things stand behind it: litellm's providers (`agents/litellm_model.py`), the key-free `builtin/offline`
(`agents/builtin/`), and `ScriptedModel` for tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool.

    arguments  as the model wrote them: JSON text, not yet parsed, possibly malformed
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One message of a run.

    role "tool" answers the call `tool_call_id`; role "assistant" may carry `tool_calls`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or their sum; None is "the provider did not say", never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    requests: int = 0

    def __add__(self, other: Usage) -> Usage:
        def plus(a: int | None, b: int | None) -> int | None:
            return b if a is None else a if b is None else a + b

        return Usage(
            plus(self.input_tokens, other.input_tokens),
            plus(self.output_tokens, other.output_tokens),
            plus(self.cached_tokens, other.cached_tokens),
            self.requests + other.requests,
        )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call.

    task     the role's typed turn, the same facts the messages tell in words. Providers never see it; `builtin/offline`
             reads it instead of parsing prose, so that the key-free model needs no prompt archaeology
    """

    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...]
    max_output_tokens: int
    timeout_ms: int
    task: object | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered: text, or tool calls, or both. `model` names who answered, e.g. `builtin/offline`."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    model: str


class ModelFailure(Exception):
    """A call that gave no answer.

    reason     a stable code: timeout, rate_limited, provider_error, refused, too_long, broken_stream, not_configured
    transient  whether trying again may help
    The text carries no key and no provider body.
    """

    def __init__(self, reason: str, text: str, *, transient: bool) -> None:
        super().__init__(text)
        self.reason = reason
        self.transient = transient


class Model(Protocol):
    """A source of answers. `name` is what answers report, `family/model`."""

    name: str

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer one call; ModelFailure when there is none."""
        ...


ScriptedStep: TypeAlias = ModelAnswer | ModelFailure | Callable[[ModelRequest], ModelAnswer]


@dataclass(slots=True)
class ScriptedModel:
    """A model for tests: it answers with its steps, in order, through the real loop, tools and gate."""

    steps: Iterable[ScriptedStep]
    name: str = "scripted/test"
    requests: list[ModelRequest] = field(default_factory=list)
    _left: list[ScriptedStep] | None = None

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        if self._left is None:
            self._left = list(self.steps)
        self.requests.append(request)
        if not self._left:
            raise AssertionError("the script has no further step")
        step = self._left.pop(0)
        if isinstance(step, ModelFailure):
            raise step
        return step(request) if callable(step) else step


def say(text: str, *, model: str = "scripted/test") -> ModelAnswer:
    """An answer in words."""
    return ModelAnswer(text, (), Usage(10, 5, 0, 1), model)


def call(name: str, arguments: str, *, call_id: str = "call_1", model: str = "scripted/test") -> ModelAnswer:
    """An answer that calls one tool."""
    return ModelAnswer("", (ToolCall(call_id, name, arguments),), Usage(10, 5, 0, 1), model)
