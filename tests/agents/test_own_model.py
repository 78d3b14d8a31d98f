"""A Space's own model in the protocols it may speak: streamed answers, bearer tokens, no redirects."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from brain.agents.model import ModelFailure, ModelMessage, ModelRequest, ToolSpec
from brain.agents.own_model import OwnModel, OwnProvider

TOOL = ToolSpec("look", "Look something up.", {"type": "object", "properties": {"q": {"type": "string"}}})
ASKED = ModelRequest((ModelMessage("system", "be brief"), ModelMessage("user", "hello")), (TOOL,), 256, 120_000)


class Providers:
    """Streams as OpenAI does, answers as Anthropic does, and sends whoever asks for `/away` to both."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []

    async def _note(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(await request.body())
        self.asked.append((request.url.path, dict(request.headers), body))
        return body

    async def completions(self, request: Request) -> Response:
        body = await self._note(request)
        assert body["stream"] is True
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        call = {"index": 0, "id": "call_a", "type": "function", "function": {"name": "look", "arguments": ""}}
        deltas: list[dict[str, Any]] = [
            {"role": "assistant", "content": "one "},
            {"content": "two"},
            {"tool_calls": [call]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"q": '}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '"x"}'}}]},
        ]
        chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        usage = {"prompt_tokens": 21, "completion_tokens": 4, "total_tokens": 25}
        chunks.append({**head, "choices": [], "usage": usage})
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return StreamingResponse(iter([*lines, "data: [DONE]\n\n"]), media_type="text/event-stream")

    async def messages(self, request: Request) -> Response:
        await self._note(request)
        return JSONResponse(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [{"type": "text", "text": "hi"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "output_tokens": 2},
            }
        )

    async def away(self, request: Request) -> Response:
        await self._note(request)
        return RedirectResponse(f"{self.url}/{request.path_params['rest']}", 307)


@pytest.fixture(scope="module")
def shared() -> Iterator[Providers]:
    providers = Providers()
    routes = [
        Route("/v1/chat/completions", providers.completions, methods=["POST"]),
        Route("/v1/messages", providers.messages, methods=["POST"]),
        Route("/away/{rest:path}", providers.away, methods=["POST"]),
    ]
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="critical", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    providers.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    yield providers
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture
def providers(shared: Providers) -> Providers:
    shared.asked.clear()
    return shared


def own(family: str, base: str, **options: Any) -> OwnModel:
    provider = OwnProvider(family, "own-1", "sk-very-secret", base, **options)
    assert "secret" not in repr(provider)
    return OwnModel(provider, ("127.0.0.1",), attempts=1)


@pytest.mark.requirement("BR-CONF-030")
def test_a_streamed_answer_is_put_together_with_its_calls_and_usage(providers: Providers) -> None:
    answer = anyio.run(own("openai-compatible", f"{providers.url}/v1", stream=True).answer, ASKED)
    assert answer.text == "one two"
    assert [(call.name, json.loads(call.arguments)) for call in answer.tool_calls] == [("look", {"q": "x"})]
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (21, 4)
    assert answer.model == "openai-compatible/own-1"


@pytest.mark.requirement("BR-CONF-030")
@pytest.mark.parametrize("is_bearer", [False, True])
def test_anthropic_is_shown_its_key_or_a_bearer_token(providers: Providers, is_bearer: bool) -> None:
    answer = anyio.run(own("anthropic", providers.url, bearer_auth=is_bearer).answer, ASKED)
    assert answer.text == "hi"
    path, headers, body = providers.asked[0]
    assert (path, body["model"]) == ("/v1/messages", "own-1")
    assert headers.get("x-api-key") == (None if is_bearer else "sk-very-secret")
    assert headers.get("authorization") == ("Bearer sk-very-secret" if is_bearer else None)


@pytest.mark.requirement("BR-CONF-030")
@pytest.mark.parametrize(("family", "base"), [("openai-compatible", "/away/v1"), ("anthropic", "/away")])
def test_an_answer_that_sends_elsewhere_is_not_followed(providers: Providers, family: str, base: str) -> None:
    with pytest.raises(ModelFailure):
        anyio.run(own(family, f"{providers.url}{base}").answer, ASKED)
    assert [path.startswith("/away") for path, _, _ in providers.asked] == [True]


@pytest.mark.requirement("BR-CONF-030")
@pytest.mark.parametrize("family", ["openai-compatible", "anthropic"])
def test_a_private_host_is_not_called_in_either_protocol(providers: Providers, family: str) -> None:
    refused = OwnModel(OwnProvider(family, "own-1", "sk-x", providers.url), (), attempts=1)
    with pytest.raises(ModelFailure, match=r"reached|answer"):
        anyio.run(refused.answer, ASKED)
    assert providers.asked == []
