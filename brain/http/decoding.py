"""Bytes of a body to the value they state: JSON, CBOR that carries what JSON could, or text (BR-HTTP-009, 011, 013).

Nothing is guessed: a name that stands twice in one object, a number that would be rounded to another whole number and
anything after the value are refused, in both forms and for every route.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from brain.http.cbor import read_cbor
from brain.service.failures import InvalidInput

_JSON, _CBOR = "application/json", "application/cbor"
_MOST_NESTING = 64
_LONGEST_NAME = 60


def decoded(body: bytes, kind: str, *, takes_bytes: bool = False) -> Any:
    """The value a body of a content type states; a `str` may be raw text.

    kind         the content type in lower case, parameters and all; empty counts as JSON
    takes_bytes  whether CBOR may carry byte strings
    raises       InvalidInput
    """
    if _CBOR in kind:
        return read_cbor(
            body, most_nesting=_MOST_NESTING, takes_bytes=takes_bytes, twice=lambda name: _twice("CBOR", name)
        )
    is_json = _JSON in kind or not kind.strip()
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as failure:
        if is_json:
            raise InvalidInput(f"parse JSON error: {failure.msg} at line {failure.lineno}") from None
        value = None
    if is_json or isinstance(value, dict):
        if body.count(b"[") + body.count(b"{") > _MOST_NESTING:
            _check_nesting(value)
        return _strictly(body.decode())
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise InvalidInput("parse body error: the text is not UTF-8") from None


def _strictly(text: str) -> Any:
    """What a JSON text states whose form was checked before, names and whole numbers judged as they are written."""
    return _STRICT.decode(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _twice("JSON", twice)
    return value


def _whole(digits: str) -> int:
    # The length first: turning very many digits into a number takes very long.
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise InvalidInput("parse JSON error: a whole number has more than 64 bits; send it as a string")
    return int(digits)


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole)


def _check_nesting(value: Any, depth: int = 0) -> None:
    if depth > _MOST_NESTING:
        raise InvalidInput(f"the body is nested more than {_MOST_NESTING} deep")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_nesting(item, depth + 1)


def _twice(form: str, name: str) -> InvalidInput:
    return InvalidInput(f"parse {form} error: the member {name[:_LONGEST_NAME]!r} stands twice in one object")
