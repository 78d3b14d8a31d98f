"""JSON as KIP takes it (KIP 2.0 §9.3, §70.2): UTF-8, no name twice, whole characters, numbers judged by digits."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from brain import errors
from brain.ids import MAX_SAFE_INTEGER
from brain.kip.lexer import SURROGATE, number_value
from brain.kip.tokens import Fault

_NESTING = 128


def read(text: bytes | str) -> Any:
    """The value a JSON text states.

    raises  InvalidRequestEnvelope when it is not strict JSON; numbers are checked before they are rounded
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            decoded,
            object_pairs_hook=_object,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_constant,
        )
    except UnicodeDecodeError as error:
        raise errors.InvalidRequestEnvelope(
            "The request is not UTF-8.", hint="Send the text encoded as UTF-8."
        ) from error
    except json.JSONDecodeError as error:
        raise errors.InvalidRequestEnvelope(
            f"The request is not JSON: {error.msg}.", details={"line": error.lineno, "column": error.colno}
        ) from error
    except RecursionError as error:
        raise errors.InvalidRequestEnvelope("The request is nested too deeply.") from error
    check(value)
    return value


def check(value: Any) -> bool:
    """Refuse a value that strict JSON could not carry: a caller in the same process hands in Python objects.

    returns  whether a tuple stands for an array anywhere in it, see `with_lists`
    """
    return _check_all((value,), 0)


def _check_all(values: Collection[Any], depth: int) -> bool:
    if values and depth > _NESTING:
        raise errors.InvalidRequestEnvelope("The request is nested too deeply.")
    has_tuple = False
    for value in values:
        if isinstance(value, str):
            _check_text(value)
        elif isinstance(value, (dict, Mapping)):
            for name in value:
                if not isinstance(name, str):
                    raise errors.InvalidRequestEnvelope("The names in a JSON object are strings.")
                _check_text(name)
            has_tuple |= _check_all(value.values(), depth + 1)
        elif isinstance(value, (list, tuple)):
            has_tuple |= isinstance(value, tuple) | _check_all(value, depth + 1)
        elif value is not None and not isinstance(value, bool):
            _check_number(value)
    return has_tuple


def _check_text(value: str) -> None:
    if not value.isascii() and SURROGATE.search(value):
        raise errors.InvalidRequestEnvelope(
            "A string of the request holds half of a surrogate pair.", hint="Send whole Unicode characters."
        )


def _check_number(value: Any) -> None:
    if isinstance(value, int):
        if abs(value) > MAX_SAFE_INTEGER:
            raise _unsafe(value)
    elif isinstance(value, float):
        if not math.isfinite(value) or (value.is_integer() and abs(value) > MAX_SAFE_INTEGER):
            raise _unsafe(value)
    else:
        raise errors.InvalidRequestEnvelope(f"{type(value).__name__} is no JSON value.")


def with_lists(value: Any) -> Any:
    """A checked value with its arrays as lists, which is what the engine takes them for."""
    if isinstance(value, Mapping):
        return {name: with_lists(item) for name, item in value.items()}
    return [with_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise errors.InvalidRequestEnvelope(f"The name {twice!r} stands twice in one object.")
    return result


def _number(token: str) -> int | float:
    value = number_value(token)
    if isinstance(value, Fault):
        raise errors.InvalidRequestEnvelope(f"{token[:40]}: {value.message}.", hint=value.hint)
    return value


def _constant(token: str) -> Any:
    raise errors.InvalidRequestEnvelope(f"{token} is no JSON number.")


def _unsafe(value: float) -> errors.InvalidRequestEnvelope:
    return errors.InvalidRequestEnvelope(
        f"The number {value} lies outside what JSON carries exactly.",
        hint=f"Whole numbers go from -{MAX_SAFE_INTEGER} to {MAX_SAFE_INTEGER}; write larger ones as strings.",
    )
