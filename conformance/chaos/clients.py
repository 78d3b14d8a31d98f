"""Clients that have inputs accepted over HTTP, while whom they ask is killed under them."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

_CLIENTS = 4
_TIMEOUT_S = 10.0
_PAUSE_S = 0.3
_LONG_EVERY = 12
_LONG = 20


@dataclass(frozen=True, slots=True)
class Sent:
    """One request.

    things        what its messages say is owned, one each; no two requests name the same
    conversation  where it was accepted; None when no answer came, and then it may or may not have been
    """

    space: str
    things: tuple[str, ...]
    conversation: int | None


class Clients:
    """Threads that send until so many inputs are accepted; a context manager.

    inputs   how many
    seconds  over which they are spread
    """

    def __init__(self, urls: Sequence[str], spaces: Sequence[str], *, inputs: int, seconds: float) -> None:
        self.sent: list[Sent] = []
        self._urls = urls
        self._spaces = spaces
        self._wanted = inputs
        self._pace_s = seconds * 0.9 / inputs
        self._number = 0
        self._accepted = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._send_on, args=(random.Random(number),), daemon=True)
            for number in range(_CLIENTS)
        ]

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def wait(self, seconds: float) -> int:
        """Until all inputs are accepted, or the time is over; how many are missing."""
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        with self._lock:
            return max(0, self._wanted - self._accepted)

    def _send_on(self, chance: random.Random) -> None:
        with httpx.Client(timeout=_TIMEOUT_S) as client:
            while not self._stopped.is_set():
                with self._lock:
                    if self._accepted >= self._wanted:
                        return
                    self._number += 1
                    number = self._number
                    due = self._begun + self._accepted * self._pace_s
                self._stopped.wait(max(0.0, due - time.monotonic()))
                if not self._send(client, number, chance):
                    time.sleep(_PAUSE_S)

    def _send(self, client: httpx.Client, number: int, chance: random.Random) -> bool:
        space, url = chance.choice(self._spaces), chance.choice(self._urls)
        count = _LONG if number % _LONG_EVERY == 0 else 1
        things = tuple(f"{space}thing{number * 100 + part}" for part in range(count))
        messages = [{"role": "user", "name": "Ana", "content": f"I own a {thing}."} for thing in things]
        conversation: int | None = None
        try:
            answer = client.post(f"{url}/v1/{space}/formation", json={"messages": messages})
            if answer.status_code == 200:
                conversation = answer.json()["result"]["conversation"]
        except (httpx.HTTPError, ValueError, KeyError):
            pass  # killed under the request: whether it was accepted is not known
        with self._lock:
            self.sent.append(Sent(space, things, conversation))
            self._accepted += conversation is not None
        return conversation is not None
