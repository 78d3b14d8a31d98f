"""A small OpenAI-compatible server that answers from a script and keeps what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Step = dict[str, Any]


def text(words: str) -> Step:
    return {"message": {"role": "assistant", "content": words}, "finish_reason": "stop"}


def tool_call(name: str, arguments: str) -> Step:
    call = {"id": "call_a", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}


def status(code: int, body: str = "secret provider words sk-leak") -> Step:
    return {"status": code, "body": body}


def hang(seconds: float) -> Step:
    return {"hang": seconds, **text("late")}


class ScriptedServer:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.asked: list[dict[str, Any]] = []
        self.url = ""
        self.at_work = self.most_at_work = 0

    async def completions(self, request: Request) -> Response:
        self.asked.append(json.loads(await request.body()))
        step = self.steps.pop(0)
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            if "hang" in step:
                await asyncio.sleep(step["hang"])
        finally:
            self.at_work -= 1
        if "status" in step:
            refusal = {"error": {"message": step["body"], "type": "x", "code": "x"}}
            return JSONResponse(refusal, step["status"], headers=step.get("headers"))
        return JSONResponse(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": "fake",
                "choices": [{"index": 0, **{k: step[k] for k in ("message", "finish_reason")}}],
                "usage": {
                    "prompt_tokens": 21,
                    "completion_tokens": 4,
                    "total_tokens": 25,
                    "prompt_tokens_details": {"cached_tokens": 8},
                },
            }
        )

    async def embeddings(self, request: Request) -> Response:
        """Each text's vector is its length and its first character; a text with "forbidden" is refused."""
        asked = json.loads(await request.body())
        self.asked.append(asked)
        step = self.steps.pop(0) if self.steps else {}
        if "hang" in step:
            await asyncio.sleep(step["hang"])
        if "status" in step or any("forbidden" in text for text in asked["input"]):
            return JSONResponse({"error": {"message": step.get("body", "bad text")}}, step.get("status", 400))
        vectors = [[float(len(text)), float(ord(text[0]))] for text in asked["input"]]
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 3, "total_tokens": 3}
        return JSONResponse({"object": "list", "data": data[::-1], "model": "fake", "usage": usage})


@contextlib.contextmanager
def serving() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", scripted.completions, methods=["POST"]),
            Route("/v1/embeddings", scripted.embeddings, methods=["POST"]),
        ]
    )
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    scripted.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    try:
        yield scripted
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
