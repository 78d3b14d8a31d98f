"""Bodies in and out: JSON, CBOR and Markdown, chosen by `Content-Type` and `Accept` (BR-HTTP-009 to 015).

In: `application/cbor` is CBOR; JSON, and no type at all, is JSON; any other type is a JSON object where it parses as
one, else the raw text, which some routes take. Out: CBOR before JSON before Markdown among the types a client lists;
JSON by default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import cbor2
import orjson
from anyio.to_thread import run_sync
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from brain.http.budgets import Arrivals, Budget
from brain.http.declaring import Declaration
from brain.http.decoding import decoded
from brain.http.wording import in_words
from brain.service.failures import InvalidInput

_JSON, _CBOR, _MARKDOWN = "application/json", "application/cbor", "text/markdown"
_LONG_BODY = 16_384
"""Bytes from which a body is read in a thread, so that other requests need not wait for it."""

Input = TypeVar("Input", bound=BaseModel)


class BodyTooLarge(Exception):
    """The body is larger than the service takes, or the route, which then says how many bytes it takes; it was not read
    to its end."""


class BodyTooSlow(Exception):
    """The body did not come within the time for it, or while there was room to wait for it; the text says which."""


class UnknownCoding(Exception):
    """The body is compressed; nothing is unpacked here, so that few bytes can never become many."""


async def read_body(request: Request) -> bytes:
    """The body's bytes, read no further than the limit and no longer than the time for it.

    raises  BodyTooLarge, BodyTooSlow; UnknownCoding when the bytes are not the body itself
    """
    settings = request.app.state.settings
    limit: int = settings.body_limit_bytes
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise UnknownCoding
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > limit):
        raise BodyTooLarge
    pieces: list[bytes] = []
    size = 0
    arrivals: Arrivals = request.app.state.arrivals
    budget: Budget = request.app.state.request_budget
    # Whoever still sends is not at work yet: its place among the requests is others' meanwhile.
    with budget.lent(), arrivals.turn(settings.body_timeout_ms / 1000) as scope:
        async for piece in request.stream():
            size += len(piece)
            if size > limit:
                raise BodyTooLarge
            pieces.append(piece)
    if scope.cancelled_caught:
        is_late = anyio.current_time() >= scope.deadline
        limits = f"within {settings.body_timeout_ms} milliseconds" if is_late else "before too many others began to"
        raise BodyTooSlow(f"the body did not come {limits}")
    return b"".join(pieces)


def format_of(request: Request) -> str:
    """What a body that does not fit is told to be: `CBOR` or `JSON`."""
    return "CBOR" if _CBOR in _kind(request) else "JSON"


def _kind(request: Request) -> str:
    return request.headers.get("content-type", _JSON).lower()


async def read_input(
    request: Request,
    model: type[Input],
    *,
    of_text: Callable[[str], Any] | None = None,
    takes_bytes: bool = False,
) -> Input:
    """The body as a typed input.

    of_text      what a body that is bare text stands for, on routes that take one
    takes_bytes  whether CBOR may carry byte strings here
    raises       InvalidInput when it is not what its type says, or naming each member at fault; and as `read_body`
    """
    _check_declared(request, model)
    body, kind = await read_body(request), _kind(request)

    def read() -> Input:
        payload = decoded(body, kind, takes_bytes=takes_bytes)
        payload = of_text(payload) if isinstance(payload, str) and of_text is not None else payload
        return parse(model, payload, format_of(request))

    return await run_sync(read) if len(body) > _LONG_BODY else read()


def _check_declared(request: Request, model: type[BaseModel]) -> None:
    """What a handler reads is what its route says it takes, or the service's description of itself would be wrong."""
    declared: Declaration = request.state.declared
    if declared.gives is not None and (declared.takes is None or declared.takes.model is not model):
        raise TypeError(f"the route does not say that it takes {model.__name__}")


def parse(model: type[Input], payload: Any, form: str = "JSON") -> Input:
    """A payload as a typed input.

    raises  InvalidInput naming each member at fault
    """
    if not isinstance(payload, dict):
        raise InvalidInput(f"parse {form} error: the body must be an object")
    try:
        return model.model_validate(payload)
    except ValidationError as failure:
        faults = failure.errors(include_url=False, include_input=False)
        raise InvalidInput(f"parse {form} error: " + "; ".join(in_words(faults, payload)[:8])) from None


def accepted_type(request: Request) -> str:
    """Which of the three types the answer will have."""
    wanted = request.headers.get("accept", "").lower()
    for kind in (_CBOR, _JSON, _MARKDOWN):
        if kind in wanted:
            return kind
    return _JSON


def write_value(request: Request, value: Any, *, markdown: str | None = None) -> Response:
    """A success body in the type the client asked for; `markdown` is what a Markdown reader gets instead of JSON."""
    kind = accepted_type(request)
    if kind == _CBOR:
        return Response(cbor2.dumps(value), media_type=_CBOR)
    if kind == _MARKDOWN:
        text = markdown if markdown is not None else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        return Response(text, media_type="text/markdown; charset=utf-8")
    return json_response(value)


def write_result(
    request: Request, result: Any, *, next_cursor: str | None = None, markdown: str | None = None
) -> Response:
    """The ordinary envelope: `result`, and `next_cursor` when there is another page."""
    envelope = {"result": result} if next_cursor is None else {"result": result, "next_cursor": next_cursor}
    return write_value(request, envelope, markdown=markdown)


def json_response(value: Any, status: int = 200) -> Response:
    """A JSON body."""
    return Response(orjson.dumps(value), status, media_type=_JSON)


def number_of(request: Request, name: str, default: int) -> int:
    """A whole number of the query, at most twelve digits; InvalidInput for anything else."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise InvalidInput(f"invalid {name}: it must be a whole number")
    return int(text)
