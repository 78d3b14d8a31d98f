"""Failures to answers, in one place: each class has its status, always JSON, in plain text, with nothing internal."""

from __future__ import annotations

from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response

from brain.http.payload import BodyTooLarge, json_response
from brain.service.failures import (
    Busy,
    InvalidInput,
    NotFound,
    OverTier,
    ServiceFailure,
    SpaceNotFound,
    SpaceTaken,
    Unavailable,
)

log = structlog.get_logger(__name__)

# A missing conversation is 400 in the contract our clients were written for.
_STATUS: dict[type[ServiceFailure], int] = {
    InvalidInput: 400,
    Busy: 400,
    OverTier: 400,
    SpaceTaken: 400,
    NotFound: 400,
    SpaceNotFound: 404,
    Unavailable: 503,
}


def error_response(status: int, message: str, data: Any = None) -> Response:
    """The error envelope: `{"error": {"message", "data"?}}`."""
    error: dict[str, Any] = {"message": message}
    if data is not None:
        error["data"] = data
    return json_response({"error": error}, status)


async def service_failure(_: Request, failure: Exception) -> Response:
    """A refusal of the service."""
    assert isinstance(failure, ServiceFailure)  # noqa: S101 - registered for this class only
    answer = error_response(_STATUS[type(failure)], failure.message, failure.data)
    if isinstance(failure, Unavailable):
        answer.headers["retry-after"] = str(failure.after_s)
    return answer


async def body_too_large(request: Request, _: Exception) -> Response:
    """A body past the limit; the connection is closed because the rest of it was not read."""
    limit = request.app.state.settings.body_limit_bytes
    answer = error_response(413, f"the body is larger than {limit} bytes")
    answer.headers["connection"] = "close"
    return answer


async def unexpected(request: Request, failure: Exception) -> Response:
    """A defect: logged in full, told in general."""
    log.error("unexpected_failure", path=request.url.path, exc_info=failure)
    return error_response(500, "internal error; the request id in this answer's headers leads to the log")


async def unmatched(_: Request, failure: Exception) -> Response:
    """No such route, or not with this method: an empty body, `Allow` where it applies."""
    headers = getattr(failure, "headers", None)
    return Response(status_code=getattr(failure, "status_code", 404), headers=headers)


HANDLERS: dict[Any, Any] = {
    ServiceFailure: service_failure,
    BodyTooLarge: body_too_large,
    404: unmatched,
    405: unmatched,
    Exception: unexpected,
}
