"""Bodies in and out: JSON, CBOR and Markdown, chosen by `Content-Type` and `Accept` (BR-HTTP-009 to 015).

In: `application/cbor` is CBOR; JSON, and no type at all, is JSON; any other type is JSON where it parses, else the raw
text, which some routes take. Out: CBOR before JSON before Markdown among the types a client lists; JSON by default.
"""

from __future__ import annotations

from typing import Any, TypeVar

import cbor2
import orjson
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from brain.service.failures import InvalidInput

_JSON, _CBOR, _MARKDOWN = "application/json", "application/cbor", "text/markdown"
_MOST_NESTING = 64

Input = TypeVar("Input", bound=BaseModel)


class BodyTooLarge(Exception):
    """The body is larger than the service takes; it was not read to its end."""


async def read_body(request: Request) -> bytes:
    """The body's bytes, read no further than the limit."""
    limit: int = request.app.state.settings.body_limit_bytes
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise BodyTooLarge
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            raise BodyTooLarge
        pieces.append(piece)
    return b"".join(pieces)


async def read_payload(request: Request) -> Any:
    """The body as a JSON value; a `str` may be raw text.

    raises  InvalidInput when it is not what its type says, BodyTooLarge
    """
    body = await read_body(request)
    kind = request.headers.get("content-type", _JSON).lower()
    if _CBOR in kind:
        try:
            return checked(cbor2.loads(body))
        except (cbor2.CBORDecodeError, ValueError, RecursionError) as failure:
            raise InvalidInput("parse CBOR error: the body is not CBOR") from failure
    try:
        return checked(orjson.loads(body))
    except orjson.JSONDecodeError as failure:
        if _JSON in kind or not kind.strip():
            raise InvalidInput(f"parse JSON error: {failure.msg} at line {failure.lineno}") from None
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise InvalidInput("parse body error: the text is not UTF-8") from None


def checked(value: Any, depth: int = 0) -> Any:
    """The value, when it is made of JSON's types and not nested beyond reason (CBOR can carry more)."""
    if depth > _MOST_NESTING:
        raise InvalidInput(f"the body is nested more than {_MOST_NESTING} deep")
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise InvalidInput("member names must be text")
        return {name: checked(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [checked(item, depth + 1) for item in value]
    if value is None or isinstance(value, (str, int, float, bool, bytes)):
        return value
    raise InvalidInput(f"a value of type {type(value).__name__} has no place here")


def parse(model: type[Input], payload: Any) -> Input:
    """A payload as a typed input.

    raises  InvalidInput naming each member at fault
    """
    if not isinstance(payload, dict):
        raise InvalidInput("parse JSON error: the body must be an object")
    try:
        return model.model_validate(payload)
    except ValidationError as failure:
        raise InvalidInput("parse JSON error: " + "; ".join(_fault(error) for error in failure.errors()[:8])) from None


def _fault(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"]) or "body"
    if error["type"] == "missing":
        return f"missing field `{place}`"
    if error["type"] == "extra_forbidden":
        return f"unknown field `{place}`"
    return f"{place}: {error['msg'].removeprefix('Value error, ')}"


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
