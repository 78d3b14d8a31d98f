"""So many at a time: requests at work, requests that lead to a model, bodies on their way."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import anyio


class Full(Exception):
    """Every place is taken; `status` is what that means to the caller: 429 or 503."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Budget:
    """So many places; whoever finds none is refused, never queued."""

    def __init__(self, most: int, status: int) -> None:
        self._most = max(most, 1)
        self._status = status
        self._taken = 0

    def expect_a_place(self) -> None:
        """Full when there is no place just now."""
        if self._taken >= self._most:
            raise Full(self._status)

    @contextlib.contextmanager
    def place(self) -> Iterator[None]:
        """A place until the end of the block; Full when all are taken."""
        self.expect_a_place()
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Whoever has a place lends it to others for the block; Full when there is none to come back to."""
        self._taken -= 1
        try:
            yield
        finally:
            self._taken += 1
        if self._taken > self._most:
            raise Full(self._status)


class Arrivals:
    """Bodies on their way. When there are too many, the one that has been on its way longest is given up: senders who
    never finish make room for those who do."""

    def __init__(self, most: int) -> None:
        self._most = max(most, 1)
        self._scopes: dict[anyio.CancelScope, None] = {}

    @contextlib.contextmanager
    def turn(self, seconds: float) -> Iterator[anyio.CancelScope]:
        """A scope for receiving one body, cancelled when its time is over or it has to make room."""
        if len(self._scopes) >= self._most:
            longest = next(iter(self._scopes))
            del self._scopes[longest]
            longest.cancel()
        with anyio.move_on_after(seconds) as scope:
            self._scopes[scope] = None
            try:
                yield scope
            finally:
                self._scopes.pop(scope, None)
