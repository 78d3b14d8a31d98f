"""The smallest input that still goes wrong the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from conformance.fuzz.corpus import TOKEN
from conformance.fuzz.mutations import Attempt

T = TypeVar("T")
TRIES = 600
LONGEST_S = 60.0


class Shrinker:
    """Tries smaller attempts, at most `TRIES` of them and for `LONGEST_S`.

    fails  whether an attempt goes wrong as the one that was found
    """

    def __init__(self, fails: Callable[[Attempt], bool]) -> None:
        self._fails = fails
        self._left = TRIES
        self._end = time.monotonic() + LONGEST_S

    def shrunk(self, attempt: Attempt) -> Attempt:
        """An attempt that fails, as small as the tries allow; the given one when it does not fail by itself."""
        if not self._still(attempt):
            return attempt
        if isinstance(attempt.request, str):
            text = self._less(attempt.request, lambda part: replace(attempt, request="".join(part)))
            return replace(attempt, request="".join(text))
        for name in [name for name in attempt.request if name not in ("kip", "operations")]:
            less = {key: value for key, value in attempt.request.items() if key != name}
            attempt = self._better(attempt, replace(attempt, request=less))
        whole = attempt
        kept = self._less(_operations(whole), lambda part: _with(whole, "operations", list(part)))
        if kept:
            attempt = _with(whole, "operations", list(kept))
        for place in range(len(kept)):
            attempt = self._operation(attempt, place)
        return attempt

    def _operation(self, attempt: Attempt, place: int) -> Attempt:
        def with_text(parts: Sequence[str]) -> Attempt:
            return _member(attempt, place, "command", "".join(parts))

        operation = _operations(attempt)[place]
        text = operation.get("command") if isinstance(operation, dict) else None
        if not isinstance(text, str):
            return attempt
        tokens = self._less(TOKEN.findall(text), with_text)
        attempt = with_text(self._less("".join(tokens), with_text))
        values = operation.get("parameters")
        for name in list(values) if isinstance(values, dict) else ():
            less = {key: value for key, value in values.items() if key != name}
            better = self._better(attempt, _member(attempt, place, "parameters", less))
            values = less if better is not attempt else values
            attempt = better
        return attempt

    def _less(self, parts: Sequence[T], attempt: Callable[[Sequence[T]], Attempt]) -> Sequence[T]:
        """Fewer of these parts: halves are left out first, single ones last."""
        size = max(1, len(parts) // 2)
        while True:
            at = 0
            while at < len(parts):
                fewer = [*parts[:at], *parts[at + size :]]
                if self._still(attempt(fewer)):
                    parts = fewer
                else:
                    at += size
            if size == 1:
                return parts
            size //= 2

    def _better(self, old: Attempt, new: Attempt) -> Attempt:
        return new if self._still(new) else old

    def _still(self, attempt: Attempt) -> bool:
        if self._left <= 0 or time.monotonic() > self._end:
            return False
        self._left -= 1
        return self._fails(attempt)


def _with(attempt: Attempt, name: str, value: Any) -> Attempt:
    assert isinstance(attempt.request, dict)
    return replace(attempt, request={**attempt.request, name: value})


def _operations(attempt: Attempt) -> list[Any]:
    found = attempt.request.get("operations") if isinstance(attempt.request, dict) else None
    return found if isinstance(found, list) else []


def _member(attempt: Attempt, place: int, name: str, value: Any) -> Attempt:
    operations = list(_operations(attempt))
    operations[place] = {**operations[place], name: value}
    return _with(attempt, "operations", operations)
