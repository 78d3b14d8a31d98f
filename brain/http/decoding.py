"""Bytes of a body to the value they state: JSON, CBOR that carries what JSON could, or text (BR-HTTP-009, 011, 013).

Nothing is guessed: a name that stands twice in one object, a number that would be rounded to another whole number and
anything after the value are refused, in both forms and for every route.
"""

from __future__ import annotations

import json
import math
import re
from io import BytesIO
from typing import Any

import cbor2
import orjson

from brain.service.failures import InvalidInput

_JSON, _CBOR = "application/json", "application/cbor"
_MOST_NESTING = 64
_LONGEST_NAME = 60

_TWICE_IN_CBOR = re.compile(r"Duplicate map key: (.*)", re.DOTALL)


def decoded(body: bytes, kind: str, *, takes_bytes: bool = False) -> Any:
    """The value a body of a content type states; a `str` may be raw text.

    kind         the content type in lower case, parameters and all; empty counts as JSON
    takes_bytes  whether CBOR may carry byte strings
    raises       InvalidInput
    """
    if _CBOR in kind:
        return _Checked(len(body), takes_bytes=takes_bytes).value(_cbor(body))
    is_json = _JSON in kind or not kind.strip()
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as failure:
        if is_json:
            raise InvalidInput(f"parse JSON error: {failure.msg} at line {failure.lineno}") from None
        value = None
    if is_json or isinstance(value, dict):
        if body.count(b"[") + body.count(b"{") > _MOST_NESTING:
            _Checked(len(body)).value(value)
        return _strictly(body.decode())
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise InvalidInput("parse body error: the text is not UTF-8") from None


def _strictly(text: str) -> Any:
    """What a JSON text states whose form was checked before, names and whole numbers judged as they are written."""
    return json.loads(text, object_pairs_hook=_object, parse_int=_whole)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _twice("JSON", repr(twice))
    return value


def _whole(digits: str) -> int:
    # The length first: turning very many digits into a number takes very long.
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise InvalidInput("parse JSON error: a whole number has more than 64 bits; send it as a string")
    return int(digits)


def _cbor(body: bytes) -> Any:
    stream = BytesIO(body)
    try:
        value = cbor2.load(stream, allow_duplicate_keys=False, strict_hashable_types=True)
    except (cbor2.CBORDecodeError, ValueError, RecursionError) as failure:
        twice = _TWICE_IN_CBOR.search(str(failure))
        raise (
            InvalidInput("parse CBOR error: the body is not CBOR") if twice is None else _twice("CBOR", twice.group(1))
        ) from failure
    if stream.read(1):
        raise InvalidInput("parse CBOR error: the body holds more than one value")
    return value


def _twice(form: str, name: str) -> InvalidInput:
    return InvalidInput(f"parse {form} error: the member {name[:_LONGEST_NAME]} stands twice in one object")


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
