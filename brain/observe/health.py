"""Whether a process can be sent requests: named checks, each with its reason in words, in bounded time."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import structlog

from brain import logs
from brain.broker import redis_client
from brain.errors import KipError
from brain.service.failures import ServiceFailure
from brain.service.spaces import Spaces
from brain.settings import Settings
from brain.store.base import Store

log = structlog.get_logger(__name__)

LIMIT_S = 2.0
"""How long all checks together may take."""

_FRESH_S = 1.0
"""For how long an answer stands, so that asking often costs little."""

_LOOKED_AT = 3


class NotReady(Exception):
    """What a check found wrong, in words that name no path, address or secret."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a process needs.

    look      what is well, in words; NotReady otherwise
    required  whether without it the process should be sent nothing
    """

    name: str
    look: Callable[[], str]
    required: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks came to."""

    is_ready: bool
    checks: dict[str, dict[str, Any]]

    def to_wire(self) -> dict[str, Any]:
        """As `/readyz` answers."""
        return {"ready": self.is_ready, "checks": self.checks}


class Readiness:
    """The checks of one process. While it drains it is not ready, whatever they say. Thread-safe."""

    def __init__(self, checks: tuple[Check, ...], *, limit_s: float = LIMIT_S) -> None:
        self._checks = checks
        self._limit_s = limit_s
        self._is_draining = False
        self._last: tuple[float, Verdict] | None = None
        self._lock = threading.Lock()
        self._under_way: dict[str, _Look] = {}

    def drain(self) -> None:
        """From now on it is not ready: no new work is wanted."""
        self._is_draining = True

    @property
    def last(self) -> Verdict | None:
        """What is known without looking, if it is of this moment."""
        if self._is_draining:
            return _verdict({"serving": (False, "it is stopping", True)})
        last = self._last
        return last[1] if last is not None and time.monotonic() - last[0] < _FRESH_S else None

    def look(self) -> Verdict:
        """All checks at once; one that takes too long has failed."""
        with self._lock:
            known = self.last
            if known is None:
                known = self._look()
                self._last = (time.monotonic(), known)
            return known

    def _look(self) -> Verdict:
        ends = time.monotonic() + self._limit_s
        for check in self._checks:
            # A driver that hangs is left hanging; nothing more is asked of it until it has given up by itself.
            if check.name not in self._under_way:
                self._under_way[check.name] = _Look(check)
        found = {}
        for check in self._checks:
            look = self._under_way[check.name]
            look.thread.join(max(0.0, ends - time.monotonic()))
            ok, reason = look.result or (False, "it took too long")
            found[check.name] = (ok, reason, check.required)
            if look.result is not None:
                del self._under_way[check.name]
        return _verdict(found)


class _Look:
    """One check at work in a thread of its own."""

    def __init__(self, check: Check) -> None:
        self.result: tuple[bool, str] | None = None
        self.thread = threading.Thread(target=self._run, args=(check,), name=f"check-{check.name}", daemon=True)
        self.thread.start()

    def _run(self, check: Check) -> None:
        self.result = _looked(check)


def _looked(check: Check) -> tuple[bool, str]:
    try:
        return True, check.look()
    except NotReady as fault:
        return False, str(fault)
    except KipError as fault:
        return False, fault.message
    except Exception as fault:  # noqa: BLE001 - a check that breaks is one that failed
        log.error("check_broke", check=check.name, **logs.fault(fault))
        return False, "the check itself failed; the log says how"


def _verdict(found: dict[str, tuple[bool, str, bool]]) -> Verdict:
    checks = {
        name: {"ok": ok, "required": required, "reason": reason} for name, (ok, reason, required) in found.items()
    }
    return Verdict(all(ok or not required for ok, _, required in found.values()), checks)


def checks_for(settings: Settings, store: Store, spaces: Spaces) -> tuple[Check, ...]:
    """What a serving process needs."""
    return (
        store_check(store),
        Check("format", lambda: _format(store, spaces)),
        broker_check(settings, required=False),
        Check("model", lambda: _model(settings)),
    )


class Checked(Protocol):
    """What can be asked whether it works: a store."""

    def check(self) -> None: ...


def store_check(store: Checked) -> Check:
    """Whether Spaces can be read and written."""

    def look() -> str:
        store.check()
        return "Spaces can be read and written"

    return Check("store", look)


def broker_check(settings: Settings, *, required: bool) -> Check:
    """Whether wake-ups can be sent.

    required  false for whoever accepts: without a broker it goes on accepting, and the work waits in the store
    """

    def look() -> str:
        if settings.work_queue == "embedded":
            return "this process does the background work itself"
        from redis.exceptions import RedisError

        try:
            with closing(redis_client(settings, LIMIT_S / 3)) as client:
                client.ping()
        except (RedisError, OSError, ValueError) as fault:
            raise NotReady(
                "Redis cannot be reached: inputs are accepted and stored, and worked on when it is back"
            ) from fault
        return "Redis answers"

    return Check("queue", look, required)


def _format(store: Store, spaces: Spaces) -> str:
    """A release that is too old for the Spaces can open none; one broken Space must not stop the others' service."""
    reasons, opened = [], 0
    for space_id in islice(store.spaces(), _LOOKED_AT):
        try:
            spaces.peek(space_id, lambda space: space.head())
            opened += 1
        except ServiceFailure as failure:
            reasons.append(failure.message)
    if reasons and not opened:
        raise NotReady(f"no Space of {len(reasons)} that were looked at can be opened: see the log")
    return "there is no Space yet" if not opened else "Spaces are of a format this release reads"


def _model(settings: Settings) -> str:
    if not settings.has_provider:
        return "no MODEL_API_KEY: the built-in reader works without a model"
    if importlib.util.find_spec("litellm") is None:
        raise NotReady("MODEL_API_KEY is set, and the extra `llm` that would use it is not installed")
    return f"{settings.model_family}/{settings.model_name}"
