"""A Space's own model: a provider that the managers of one Space chose, with their key (BYOK, BR-CONF-030).

What they may choose is narrower than what the operator may. Families that would take their credentials from the
process's environment are not among them, and calls go where `brain.agents.outbound` lets them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from brain.agents.litellm_model import LitellmModel, Provider
from brain.agents.model import ModelAnswer, ModelFailure, ModelRequest

Effort = Literal["minimal", "low", "medium", "high", "max"]

_OPENAI, _ANTHROPIC, _GEMINI = "custom_openai", "anthropic", "gemini"

FAMILIES: Mapping[str, tuple[str, str | None]] = {
    "anthropic": (_ANTHROPIC, "https://api.anthropic.com"),
    "claude": (_ANTHROPIC, "https://api.anthropic.com"),
    "deepseek": (_OPENAI, "https://api.deepseek.com/v1"),
    "gemini": (_GEMINI, None),
    "google": (_GEMINI, None),
    "grok": (_OPENAI, "https://api.x.ai/v1"),
    "groq": (_OPENAI, "https://api.groq.com/openai/v1"),
    "kimi": (_OPENAI, "https://api.moonshot.ai/v1"),
    "mimo": (_OPENAI, "https://api.xiaomimimo.com/v1"),
    "mistral": (_OPENAI, "https://api.mistral.ai/v1"),
    "moonshot": (_OPENAI, "https://api.moonshot.ai/v1"),
    "openai": (_OPENAI, "https://api.openai.com/v1"),
    "openai-compatible": (_OPENAI, None),
    "openrouter": (_OPENAI, "https://openrouter.ai/api/v1"),
    "qwen": (_OPENAI, "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
    "xai": (_OPENAI, "https://api.x.ai/v1"),
}
"""Families a Space may choose: the protocol each speaks, and its own address, None where it has no one of its own."""


@dataclass(frozen=True, slots=True)
class OwnProvider:
    """What was chosen, with the key in the clear; shown nowhere.

    family          of FAMILIES
    api_base        None for the family's own
    max_output      tokens of one answer, None for the service's bound
    context_window  tokens of one request, above which it is not sent; None for no check
    """

    family: str
    model: str
    api_key: str
    api_base: str | None = None
    effort: Effort | None = None
    bearer_auth: bool = False
    stream: bool = False
    context_window: int | None = None
    max_output: int | None = None

    def __repr__(self) -> str:
        return f"OwnProvider({self.family}/{self.model})"


def takes_address(family: str) -> bool:
    """Whether a family may be served from another address than its own."""
    return FAMILIES[family][0] != _GEMINI


def needs_address(family: str) -> bool:
    """Whether a family has no address of its own."""
    return FAMILIES[family] == (_OPENAI, None)


class OwnModel(LitellmModel):
    """The provider of one Space. Clients are made for each call: calls may come from several event loops.

    allowed  hosts beside public ones, as in `brain.agents.outbound.check_url`
    """

    def __init__(self, chosen: OwnProvider, allowed: Collection[str], **more: Any) -> None:
        protocol, own_base = FAMILIES[chosen.family]
        super().__init__(
            Provider(chosen.family, chosen.model, chosen.api_key, chosen.api_base or own_base),
            context_window=chosen.context_window,
            **more,
        )
        self._chosen = chosen
        self._protocol = protocol
        self._allowed = allowed

    def _arguments(self, request: ModelRequest, left: float) -> dict[str, Any]:
        chosen = self._chosen
        arguments = super()._arguments(request, left)
        arguments["model"] = f"{self._protocol}/{chosen.model}"
        if chosen.max_output is not None:
            arguments["max_tokens"] = min(arguments["max_tokens"], chosen.max_output)
        if chosen.effort is not None:
            effort = "high" if chosen.effort == "max" else chosen.effort
            # Whoever chose the model knows whether it takes one; litellm knows of few names.
            own = {"extra_body": {"reasoning_effort": effort}}
            arguments |= own if self._protocol == _OPENAI else {"reasoning_effort": effort}
        return arguments

    async def _completed(self, litellm: ModuleType, arguments: dict[str, Any]) -> Any:
        async with self._client() as client:
            if not self._chosen.stream:
                return await super()._completed(litellm, {**arguments, "client": client})
            streamed = {**arguments, "client": client, "stream": True, "stream_options": {"include_usage": True}}
            chunks = [chunk async for chunk in await super()._completed(litellm, streamed)]
        return litellm.stream_chunk_builder(chunks, messages=arguments["messages"])

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Any]:
        """A client of the kind the protocol's code takes, which goes to no other place."""
        import httpx

        from brain.agents.outbound import PublicOnly

        transport = PublicOnly(self._allowed)
        if self._protocol == _OPENAI:
            from openai import AsyncOpenAI

            http: Any = httpx.AsyncClient(transport=transport, follow_redirects=False, trust_env=False)
            base, key = self._provider.api_base, self._provider.api_key
            async with AsyncOpenAI(api_key=key, base_url=base, http_client=http, max_retries=0) as client:
                yield client
            return
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

        hooks: Any = {"request": [self._sign_as_bearer]} if self._chosen.bearer_auth else None
        handler: Any = AsyncHTTPHandler(transport=transport, follow_redirects=False, event_hooks=hooks)
        try:
            yield handler
        finally:
            await handler.close()

    async def _sign_as_bearer(self, request: Any) -> None:
        request.headers.pop("x-api-key", None)
        request.headers["authorization"] = f"Bearer {self._provider.api_key}"


class UnusableModel:
    """A Space's own model that cannot be asked: every call fails, and nobody else is asked in its place."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self._why = why

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        del request
        raise ModelFailure("not_configured", self._why, transient=False)
