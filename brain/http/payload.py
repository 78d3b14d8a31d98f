"""Bodies in and out: JSON, CBOR and Markdown, chosen by `Content-Type` and `Accept` (BR-HTTP-009 to 015).

In: `application/cbor` is CBOR; JSON, and no type at all, is JSON; any other type is a JSON object where it parses as
one, else the raw text, which some routes take. Out: CBOR before JSON before Markdown among the types a client lists;
JSON by default.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from io import BytesIO
from typing import Any, TypeVar

import cbor2
import orjson
from anyio.to_thread import run_sync
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from brain.service.failures import InvalidInput

_JSON, _CBOR, _MARKDOWN = "application/json", "application/cbor", "text/markdown"
_MOST_NESTING = 64
_LONG_BODY = 16_384
"""Bytes from which a body is read in a thread, so that other requests need not wait for it."""

Input = TypeVar("Input", bound=BaseModel)


class BodyTooLarge(Exception):
    """The body is larger than the service takes; it was not read to its end."""


async def read_body(request: Request) -> bytes:
    """The body's bytes, read no further than the limit."""
    limit: int = request.app.state.settings.body_limit_bytes
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > limit):
        raise BodyTooLarge
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise BodyTooLarge
        pieces.append(piece)
    return b"".join(pieces)


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
    raises       InvalidInput when it is not what its type says, or naming each member at fault; BodyTooLarge
    """
    body, kind = await read_body(request), request.headers.get("content-type", _JSON).lower()

    def read() -> Input:
        payload = decoded(body, kind, takes_bytes=takes_bytes)
        return parse(model, of_text(payload) if isinstance(payload, str) and of_text is not None else payload)

    return await run_sync(read) if len(body) > _LONG_BODY else read()


def decoded(body: bytes, kind: str, *, takes_bytes: bool = False) -> Any:
    """The value a body of a content type states; a `str` may be raw text.

    raises  InvalidInput
    """
    if _CBOR in kind:
        stream = BytesIO(body)
        try:
            value = cbor2.load(stream)
        except (cbor2.CBORDecodeError, ValueError, RecursionError) as failure:
            raise InvalidInput("parse CBOR error: the body is not CBOR") from failure
        if stream.read(1):
            raise InvalidInput("parse CBOR error: the body holds more than one value")
        return _Checked(len(body), takes_bytes=takes_bytes).value(value)
    is_json = _JSON in kind or not kind.strip()
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as failure:
        if is_json:
            raise InvalidInput(f"parse JSON error: {failure.msg} at line {failure.lineno}") from None
        value = None
    if is_json or isinstance(value, dict):
        return _Checked(len(body)).value(value)
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise InvalidInput("parse body error: the text is not UTF-8") from None


class _Checked:
    """Copies a decoded value that JSON could carry too, and refuses any other.

    CBOR has more types, and can refer to one value many times; so no more parts are taken than the body has bytes.
    """

    def __init__(self, most: int, *, takes_bytes: bool = False) -> None:
        self._left = most
        self._takes_bytes = takes_bytes

    def value(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0:
            raise InvalidInput("the body refers to one value too many times")
        if depth > _MOST_NESTING:
            raise InvalidInput(f"the body is nested more than {_MOST_NESTING} deep")
        if value is None or isinstance(value, (str, bool)) or (isinstance(value, bytes) and self._takes_bytes):
            return value
        if isinstance(value, int) and -(2**63) <= value < 2**64:
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        if isinstance(value, dict):
            if not all(isinstance(name, str) for name in value):
                raise InvalidInput("member names must be text")
            return {name: self.value(item, depth + 1) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item, depth + 1) for item in value]
        raise InvalidInput(f"a value of type {type(value).__name__} like the body's has no place here")


def parse(model: type[Input], payload: Any) -> Input:
    """A payload as a typed input.

    raises  InvalidInput naming each member at fault
    """
    if not isinstance(payload, dict):
        raise InvalidInput("parse JSON error: the body must be an object")
    try:
        return model.model_validate(payload)
    except ValidationError as failure:
        faults = failure.errors(include_url=False, include_context=False, include_input=False)
        raise InvalidInput("parse JSON error: " + "; ".join(_fault(fault) for fault in faults[:8])) from None


def _fault(fault: Any) -> str:
    place = ".".join(str(part)[:40] for part in fault["loc"][:8]) or "body"
    if fault["type"] == "missing":
        return f"missing field `{place}`"
    if fault["type"] == "extra_forbidden":
        return f"unknown field `{place}`"
    return f"{place}: {fault['msg'].removeprefix('Value error, ')}"


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
