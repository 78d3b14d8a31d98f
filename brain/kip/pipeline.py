"""From a request to its answer: start reading the engine here."""

from __future__ import annotations

from typing import Any

from brain.kip.context import Limits, Outcome, Session
from brain.store.base import SpaceStore
from brain.times import Clock


class Engine:
    """The KIP engine of one Space. Thread-safe and synchronous."""

    def __init__(self, space: SpaceStore, library: Any, *, clock: Clock, limits: Limits | None = None) -> None:
        raise NotImplementedError

    def execute(self, request: object, session: Session) -> Outcome:
        """Run a request envelope (§70 to §84) and answer with a response envelope; never raises a KipError."""
        raise NotImplementedError
