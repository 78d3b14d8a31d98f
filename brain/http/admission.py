"""Who gets in: request ids, shards, and the two budgets of requests at a time.

All routes share `HTTP_MAX_CONCURRENCY` and answer 503 past it; routes that ask a model share `LLM_MAX_CONCURRENCY` and
answer 429 past it: at once when it is full, and otherwise they take a place when the body is there, so that sending
slowly holds none. Both answers are plain text and carry `Retry-After`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection
from contextlib import nullcontext

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brain.http.budgets import Budget, Full
from brain.http.failures import error_response, too_many

_MOST_HEADERS = 200
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class Admission:
    """ASGI middleware: the global budget, the request id, the shard.

    free  paths that take no place, and are answered when all are taken
    """

    def __init__(self, app: ASGIApp, *, budget: Budget, shard: int, free: Collection[str] = ()) -> None:
        self._app = app
        self._budget = budget
        self._free = free
        self._shard = shard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        # To find a request by, not to guard one: the system's own randomness would take a tenth of a millisecond.
        request_id = given if _REQUEST_ID.fullmatch(given) else f"{random.getrandbits(128):032x}"
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                with nullcontext() if scope["path"] in self._free else self._budget.place():
                    answer = self._refusal(scope, headers) or self._app
                    await answer(scope, receive, send_with_id)
            except Full as full:
                await too_many(full.status)(scope, receive, send_with_id)

    def _refusal(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        if len(scope["headers"]) > _MOST_HEADERS:
            return error_response(431, f"the request has more than {_MOST_HEADERS} headers")
        shard = _shard_of(headers)
        if scope["path"].startswith("/v1/") and shard != self._shard:
            return error_response(400, f"space_id sharding {shard} does not match server sharding {self._shard}")
        return None


def _shard_of(headers: Headers) -> int:
    """The shard a client names by `Shard-Id`, else `X-Shard`; 0 when it names none that can be read."""
    named = headers.get("shard-id", headers.get("x-shard", ""))
    return int(named) if named.isascii() and named.isdigit() and len(named) < 10 else 0
