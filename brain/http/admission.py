"""Who gets in: request ids, shards, and the two budgets of requests at a time.

All routes share `HTTP_MAX_CONCURRENCY` and answer 503 past it; routes that ask a model share `LLM_MAX_CONCURRENCY` and
answer 429 past it: at once when it is full, and otherwise they take a place when the body is there, so that sending
slowly holds none. Both answers are plain text and carry `Retry-After`.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterator

import structlog
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brain.http.failures import TooManyModels, error_response, too_many

_MOST_HEADERS = 200
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class Budget:
    """So many at a time; more are refused, never queued."""

    def __init__(self, most: int) -> None:
        self._most = max(most, 1)
        self._taken = 0

    @property
    def is_full(self) -> bool:
        return self._taken >= self._most

    @contextlib.contextmanager
    def place(self) -> Iterator[bool]:
        """Whether there was a place; it is given back at the end of the block."""
        if self.is_full:
            yield False
            return
        self._taken += 1
        try:
            yield True
        finally:
            self._taken -= 1


def expect_a_model_place(request: Request) -> None:
    """TooManyModels when there is no place now: whoever asks need not send the rest."""
    budget: Budget = request.app.state.model_budget
    if budget.is_full:
        raise TooManyModels


@contextlib.contextmanager
def a_model_place(request: Request) -> Iterator[None]:
    """A place among the requests that ask a model; TooManyModels when all are taken."""
    budget: Budget = request.app.state.model_budget
    with budget.place() as has_place:
        if not has_place:
            raise TooManyModels
        yield


class Admission:
    """ASGI middleware: the global budget, the request id, the shard."""

    def __init__(self, app: ASGIApp, *, most: int, shard: int) -> None:
        self._app = app
        self._budget = Budget(most)
        self._shard = shard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        given = request.headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id), self._budget.place() as admitted:
            if not admitted:
                await too_many(503)(scope, receive, send_with_id)
                return
            if len(request.headers) > _MOST_HEADERS:
                refusal = error_response(431, f"the request has more than {_MOST_HEADERS} headers")
                await refusal(scope, receive, send_with_id)
                return
            shard = _shard_of(request)
            if request.url.path.startswith("/v1/") and shard != self._shard:
                refusal = error_response(400, f"space_id sharding {shard} does not match server sharding {self._shard}")
                await refusal(scope, receive, send_with_id)
                return
            await self._app(scope, receive, send_with_id)


def _shard_of(request: Request) -> int:
    """The shard a client names by `Shard-Id`, else `X-Shard`; 0 when it names none that can be read."""
    named = request.headers.get("shard-id", request.headers.get("x-shard", ""))
    return int(named) if named.isascii() and named.isdigit() and len(named) < 10 else 0
