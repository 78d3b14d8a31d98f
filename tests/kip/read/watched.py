"""A snapshot that counts what it is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from brain.kip.algebra import Step
from brain.store.base import Element, Repeated, Scan, Snapshot


class Watched:
    """calls  how often each read was asked for; read  how many elements scans gave out."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.calls: Counter[str] = Counter()
        self.read = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._snapshot, name)
        if not callable(found):
            return found

        def ask(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            return found(*args, **kwargs)

        return ask

    def scan(self, query: Scan) -> Iterator[Element]:
        self.calls["scan"] += 1
        for element in self._snapshot.scan(query):
            self.read += 1
            yield element


class StepByStep(Watched):
    """The same, of a store that runs no plan by itself."""

    def select(self, plan: Step, repeated: Repeated | None = None) -> None:
        return None
