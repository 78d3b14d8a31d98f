"""Every real provider, behind the Model promise, by way of litellm.

litellm takes seconds and a lot of memory to import, so it is imported at the first call, in a thread, and never when no
provider is configured. It would fetch its price map from the network; it is told not to.

What a provider says when it fails stays here: callers learn a stable code and a sentence of ours.
"""

from __future__ import annotations

import os
import random
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import anyio
from anyio.to_thread import run_sync

from brain.agents.model import ModelAnswer, ModelFailure, ModelMessage, ModelRequest, ToolCall, ToolSpec, Usage

PROVIDERS: Mapping[str, str] = {
    "azure": "azure",
    "bedrock": "bedrock",
    "claude": "anthropic",
    "gemini": "gemini",
    "google": "gemini",
    "grok": "xai",
    "kimi": "moonshot",
    "openai-compatible": "openai",
    "qwen": "dashscope",
    "vertex": "vertex_ai",
}
"""Families whose name differs from litellm's; every other family is passed on as it is."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One configured model.

    family    who serves it: openai, anthropic, google, deepseek, …
    api_base  its address, None for the family's own
    api_key   never shown, also not by repr
    """

    family: str
    name: str
    api_key: str
    api_base: str | None = None

    @property
    def route(self) -> str:
        """The model as litellm names it."""
        prefix = PROVIDERS.get(self.family.lower(), self.family.lower())
        return self.name if self.name.startswith(f"{prefix}/") else f"{prefix}/{self.name}"

    def __repr__(self) -> str:
        return f"Provider({self.family}/{self.name})"


@dataclass(frozen=True, slots=True)
class FailureKind:
    """How one kind of litellm exception reads to callers: a stable code, a sentence of ours, whether it may pass."""

    reason: str
    text: str
    transient: bool


_UNKNOWN = FailureKind("provider_error", "the model provider could not answer", True)
_FAILURES: Mapping[str, FailureKind] = {
    "APIConnectionError": FailureKind("provider_error", "the model provider could not be reached", True),
    "AuthenticationError": FailureKind("not_configured", "the model provider refused the credentials", False),
    "BadGatewayError": _UNKNOWN,
    "BadRequestError": FailureKind("provider_error", "the model provider refused the request", False),
    "ContentPolicyViolationError": FailureKind("refused", "the model provider refused the content", False),
    "ContextWindowExceededError": FailureKind("too_long", "the input is too long for the model", False),
    "InternalServerError": _UNKNOWN,
    "NotFoundError": FailureKind("not_configured", "the model provider does not know the model", False),
    "PaymentRequiredError": FailureKind("not_configured", "the model provider wants payment", False),
    "PermissionDeniedError": FailureKind("not_configured", "the model provider refused the credentials", False),
    "RateLimitError": FailureKind("rate_limited", "the model provider is limiting the rate of calls", True),
    "ServiceUnavailableError": _UNKNOWN,
    "Timeout": FailureKind("timeout", "the model provider did not answer in time", True),
    "UnprocessableEntityError": FailureKind("provider_error", "the model provider refused the request", False),
}


class LitellmModel:
    """A provider's model.

    attempts        calls made for one request at most; only transient failures are tried again
    back_off_ms     the first wait between attempts; it doubles, with up to half of it added by chance
    context_window  tokens of one request and its answer together, above which it is not sent; None for no check
    """

    def __init__(
        self,
        provider: Provider,
        *,
        attempts: int = 3,
        back_off_ms: int = 500,
        context_window: int | None = None,
        load: Callable[[], ModuleType] | None = None,
    ) -> None:
        self.name = f"{provider.family}/{provider.name}"
        self._context_window = context_window
        self._provider = provider
        self._attempts = attempts
        self._back_off_ms = back_off_ms
        self._load = load or load_litellm

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """One answer within `request.timeout_ms`, further attempts and waits between them included.

        Cancelling it drops the call in flight.
        raises  ModelFailure
        """
        deadline = time.monotonic() + request.timeout_ms / 1000
        litellm = await run_sync(self._load)
        wait_ms = self._back_off_ms
        for attempt in range(1, self._attempts + 1):
            try:
                return await self._once(litellm, request, deadline)
            except ModelFailure as failed:
                pause = (wait_ms + random.uniform(0, wait_ms / 2)) / 1000  # noqa: S311 - spreading load, not secrecy
                if not failed.transient or attempt == self._attempts or time.monotonic() + pause >= deadline:
                    raise
            await anyio.sleep(pause)
            wait_ms *= 2
        raise AssertionError("the last attempt answers or raises")

    async def _once(self, litellm: ModuleType, request: ModelRequest, deadline: float) -> ModelAnswer:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ModelFailure("timeout", _FAILURES["Timeout"].text, transient=True)
        quieten()
        try:
            with anyio.fail_after(left):
                response = await self._completed(litellm, self._arguments(request, left))
        except TimeoutError:
            raise ModelFailure("timeout", _FAILURES["Timeout"].text, transient=True) from None
        except ModelFailure:
            raise
        except Exception as failed:  # noqa: BLE001 - litellm raises many kinds; each becomes one of ours
            raise _failure(failed) from None
        return self._read(response)

    async def _completed(self, litellm: ModuleType, arguments: dict[str, Any]) -> Any:
        await self._check_length(litellm, arguments)
        return await litellm.acompletion(**arguments)

    async def _check_length(self, litellm: ModuleType, arguments: dict[str, Any]) -> None:
        """`too_long` for what the window cannot hold; counted only where it might, since no token is under one byte."""
        if self._context_window is None:
            return
        room = self._context_window - arguments["max_tokens"]
        if len(str(arguments["messages"]).encode()) > room:
            model, messages = arguments["model"], arguments["messages"]
            if await run_sync(lambda: litellm.token_counter(model=model, messages=messages)) > room:
                raise ModelFailure("too_long", "the input is too long for the model", transient=False)

    def _arguments(self, request: ModelRequest, left: float) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._provider.route,
            "messages": [self._message(message) for message in request.messages],
            "api_key": self._provider.api_key,
            "max_tokens": request.max_output_tokens,
            "timeout": left,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
        }
        if self._provider.api_base:
            arguments["api_base"] = self._provider.api_base
        if request.tools:
            arguments["tools"] = _tools(request.tools)
            arguments["tool_choice"] = "auto"
        return arguments

    def _message(self, message: ModelMessage) -> dict[str, Any]:
        if message.role == "system" and PROVIDERS.get(self._provider.family, self._provider.family) == "anthropic":
            text = {"type": "text", "text": message.content, "cache_control": {"type": "ephemeral"}}
            return {"role": "system", "content": [text]}
        if message.role == "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
        if not message.tool_calls:
            return {"role": message.role, "content": message.content}
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
        return {"role": "assistant", "content": message.content or None, "tool_calls": calls}

    def _read(self, response: Any) -> ModelAnswer:
        """A litellm response as an answer; one without a choice, or filtered away, is a failure."""
        choices = getattr(response, "choices", None) or []
        if not choices:
            raise ModelFailure("provider_error", "the model provider sent an empty answer", transient=True)
        if choices[0].finish_reason == "content_filter":
            raise ModelFailure("refused", _FAILURES["ContentPolicyViolationError"].text, transient=False)
        message = choices[0].message
        calls = tuple(
            ToolCall(call.id or f"call_{number}", call.function.name or "", call.function.arguments or "")
            for number, call in enumerate(message.tool_calls or (), start=1)
        )
        return ModelAnswer(message.content or "", calls, _usage(getattr(response, "usage", None)), self.name)


def load_litellm() -> ModuleType:
    """litellm, imported quietly and without its look-up over the network."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # What an embedding takes when it is given no number of retries, and it takes 0 for none given.
    litellm.DEFAULT_MAX_RETRIES = 0  # type: ignore[attr-defined]
    return litellm


def quieten() -> None:
    """Keep warnings about litellm's own models to itself; it imports parts of itself as late as in a call."""
    for category in (UserWarning, DeprecationWarning):
        warnings.filterwarnings("ignore", category=category, module=r"litellm|pydantic")


def _tools(specs: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)},
        }
        for spec in specs
    ]


def failure_kind(failed: Exception) -> FailureKind:
    """What is told of an exception of litellm; nothing of its own text is."""
    names = (kind.__name__ for kind in type(failed).__mro__)
    return next((_FAILURES[name] for name in names if name in _FAILURES), _UNKNOWN)


def _failure(failed: Exception) -> ModelFailure:
    kind = failure_kind(failed)
    return ModelFailure(kind.reason, kind.text, transient=kind.transient)


def _usage(usage: Any) -> Usage:
    """Token counts as reported; what was not reported stays None."""
    if usage is None:
        return Usage(requests=1)
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        getattr(usage, "prompt_tokens", None),
        getattr(usage, "completion_tokens", None),
        getattr(details, "cached_tokens", None),
        1,
    )
