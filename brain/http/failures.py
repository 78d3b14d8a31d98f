"""Failures to answers, in one place: each class has its status, always JSON, in plain text, with nothing internal."""

from __future__ import annotations

from typing import Any

import anyio
import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brain import logs
from brain.auth.credentials import AccessClosed, AuthenticationFailed
from brain.errors import KipError, Retry
from brain.http.auth import TooManyFailures
from brain.http.budgets import Full
from brain.http.payload import BodyTooLarge, BodyTooSlow, UnknownCoding, json_response
from brain.observe.measures import Measures
from brain.service.failures import (
    Busy,
    Conflict,
    InvalidInput,
    NotFound,
    OverTier,
    ServiceFailure,
    SpaceNotFound,
    SpaceTaken,
    SpaceUnreadable,
    Unavailable,
)

log = structlog.get_logger(__name__)

_LINGER_S = 5.0

# A missing conversation is 400 in the contract our clients were written for.
_STATUS: dict[type[ServiceFailure], int] = {
    InvalidInput: 400,
    Busy: 400,
    OverTier: 400,
    SpaceTaken: 400,
    NotFound: 400,
    Conflict: 409,
    SpaceNotFound: 404,
    SpaceUnreadable: 500,
    Unavailable: 503,
}


CLIENT_LEFT = 499
"""The status of requests whose client left before there was an answer."""


class ClientLeft(Exception):
    """The client of a request that was still at work is gone."""


def error_response(status: int, message: str, data: Any = None) -> Response:
    """The error envelope: `{"error": {"message", "data"?}}`."""
    error: dict[str, Any] = {"message": message}
    if data is not None:
        error["data"] = data
    return json_response({"error": error}, status)


def _count(request: Request, code: str) -> None:
    measures: Measures = request.app.state.measures
    measures.errors.add(code)


async def service_failure(request: Request, failure: Exception) -> Response:
    """A refusal of the service."""
    assert isinstance(failure, ServiceFailure)  # noqa: S101 - registered for this class only
    _count(request, type(failure).__name__)
    status = next(_STATUS[kind] for kind in type(failure).__mro__ if kind in _STATUS)
    answer = error_response(status, failure.message, failure.data)
    if isinstance(failure, Unavailable):
        answer.headers["retry-after"] = str(failure.after_s)
    return answer


async def kip_error(request: Request, failure: Exception) -> Response:
    """An error of the store or the engine outside any KIP answer: for a while, or a defect; `data` is its wire form."""
    assert isinstance(failure, KipError)  # noqa: S101 - registered for this class only
    _count(request, failure.code)
    log.error("store_failed", path=request.url.path, code=failure.code, **logs.fault(failure))
    if failure.retry is Retry.SAFE_SAME_REQUEST:
        answer = error_response(503, failure.message, failure.to_wire())
        answer.headers["retry-after"] = str(-(-(failure.after_ms or 1000) // 1000))
        return answer
    return error_response(500, failure.message, failure.to_wire())


async def body_too_large(request: Request, failure: Exception) -> Response:
    """A body past the limit; the connection is closed after the answer."""
    limit = failure.args[0] if failure.args else request.app.state.settings.body_limit_bytes
    answer = error_response(413, f"the body is larger than {limit} bytes")
    return _Lingering(bytes(answer.body), 413, headers={"connection": "close"}, media_type=answer.media_type)


async def body_too_slow(_: Request, failure: Exception) -> Response:
    """A body that did not come in time; the connection is closed, for what is left of it could still come."""
    answer = error_response(408, str(failure))
    answer.headers["connection"] = "close"
    return answer


async def unknown_coding(_: Request, __: Exception) -> Response:
    """A compressed body."""
    answer = error_response(415, "send the body as it is: Content-Encoding is not taken")
    answer.headers["connection"] = "close"
    return answer


async def full(_: Request, failure: Exception) -> Response:
    """Every place is taken."""
    assert isinstance(failure, Full)  # noqa: S101 - registered for this class only
    return too_many(failure.status)


def too_many(status: int) -> Response:
    """The answer of a full budget: plain text, as the contract our clients were written for has it."""
    return PlainTextResponse("too many concurrent requests, retry later", status, headers={"retry-after": "1"})


class _Lingering(Response):
    """An answer to a request whose body was not read to its end.

    Closing right away would reset the connection of a client that is still sending, and the answer with it. So the
    rest is taken for a moment, and dropped.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with anyio.move_on_after(_LINGER_S):
            while (await receive()).get("more_body"):
                pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def unmatched(request: Request, failure: Exception) -> Response:
    """No such route, or not with this method: an empty body, `Allow` where it applies, which is what OPTIONS asks."""
    status = getattr(failure, "status_code", 404)
    if status != 405:
        return Response(status_code=status)
    served = (one for one in request.app.routes if one.matches(request.scope)[0] is not Match.NONE)
    methods = {method for one in served for method in one.methods or ()} | {"OPTIONS"}
    is_asked = request.method == "OPTIONS"
    return Response(status_code=204 if is_asked else 405, headers={"allow": ", ".join(sorted(methods))})


async def authentication_failed(_: Request, __: Exception) -> Response:
    """No credential that is good here; what was wrong with it is not told."""
    return error_response(401, "authentication failed")


async def access_closed(_: Request, closed: Exception) -> Response:
    """A good credential where its kind has no business."""
    assert isinstance(closed, AccessClosed)  # noqa: S101 - registered for this class only
    return error_response(403, closed.reason)


async def too_many_failures(_: Request, failed: Exception) -> Response:
    """An address that keeps guessing."""
    assert isinstance(failed, TooManyFailures)  # noqa: S101 - registered for this class only
    answer = error_response(429, "authentication failed too often from this address; try again later")
    answer.headers["retry-after"] = str(failed.after_s)
    return answer


async def client_left(_: Request, __: Exception) -> Response:
    """Nobody reads this; the status is what the request is counted by."""
    return Response(status_code=CLIENT_LEFT)


HANDLERS: dict[Any, Any] = {
    ClientLeft: client_left,
    AuthenticationFailed: authentication_failed,
    AccessClosed: access_closed,
    TooManyFailures: too_many_failures,
    ServiceFailure: service_failure,
    KipError: kip_error,
    BodyTooLarge: body_too_large,
    BodyTooSlow: body_too_slow,
    UnknownCoding: unknown_coding,
    Full: full,
    404: unmatched,
    405: unmatched,
}


class CatchAll:
    """ASGI middleware: a defect is logged by its kind and place, told in general, and goes no further."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def watched(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            log.info("client_left", path=scope.get("path"))
        except Exception as defect:  # noqa: BLE001 - nobody behind this would answer in our shape
            _count(Request(scope), "UnexpectedFailure")
            log.error("unexpected_failure", path=scope.get("path"), **logs.fault(defect))
            if not has_started and scope["type"] == "http":
                text = "internal error; the request id in this answer's headers leads to the log"
                await error_response(500, text)(scope, receive, send)
