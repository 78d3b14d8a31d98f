"""Normalising and comparing KIP answers, as the published suites define it (README of the suites).

Ids are renamed in the order met, object keys sorted; members that are engine truth and not behaviour are dropped.
"""

from __future__ import annotations

import json
import math
from typing import Any

from brain.ids import is_element_id

VOLATILE = frozenset(
    {
        "authorization_view",
        "committed_at",
        "content_digest",
        "created_at",
        "created_tx",
        "score",
        "tx_id",
        "updated_at",
        "updated_tx",
        "valid_at",
    }
)


def normalized(value: Any, names: dict[str, str] | None = None) -> Any:
    """The answer with folded ids and without volatile members."""
    names = {} if names is None else names
    if isinstance(value, str):
        if is_element_id(value):
            return names.setdefault(value, f"{value[0]}:<{len(names) + 1}>")
        return value
    if isinstance(value, list):
        return [normalized(item, names) for item in value]
    if isinstance(value, dict):
        return {name: normalized(value[name], names) for name in sorted(value) if name not in VOLATILE}
    return value


def canonical(value: Any) -> str:
    """One text per value, numbers by value."""
    return json.dumps(_numbers(value), sort_keys=True, ensure_ascii=False)


def same(expected: Any, actual: Any, *, ordered: bool) -> bool:
    """Equality; an unordered top-level array compares as a multiset, numbers with a binary64 tolerance."""
    if not ordered and isinstance(expected, list) and isinstance(actual, list):
        expected, actual = sorted(expected, key=canonical), sorted(actual, key=canonical)
    return _close(expected, actual)


def contains(expected: Any, actual: Any) -> bool:
    """Objects member by member, every expected row somewhere among the actual ones; extras allowed."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and contains(item, actual[name]) for name, item in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(actual, list) and all(any(contains(item, other) for other in actual) for item in expected)
    return _close(expected, actual)


def pointer(value: Any, path: str) -> Any:
    """The value a JSON Pointer names."""
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def flattened(response: dict[str, Any]) -> dict[str, Any]:
    """The top-level error, else the first operation error, else the first result."""
    if response.get("error"):
        return {"error": response["error"]["code"]}
    for operation in response.get("results", []):
        if operation.get("error"):
            return {"error": operation["error"]["code"]}
    results = response.get("results") or [{}]
    return {"result": results[0].get("result")}


def _numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: _numbers(item) for name, item in value.items()}
    return value


def _close(expected: Any, actual: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(_close, expected, actual))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(_close(expected[name], actual[name]) for name in expected)
    return bool(expected == actual)
