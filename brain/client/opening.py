"""What both clients send with every request, and how patiently they look for the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from brain import __version__

Token: TypeAlias = str | Callable[[], str] | None


def headers_for(shard: int | None) -> dict[str, str]:
    """Of every request."""
    named = {} if shard is None else {"shard-id": str(shard)}
    return {"user-agent": f"brain-client/{__version__}", **named}


def authorization(token: Token) -> dict[str, str]:
    """The credential of one request; asked for anew each time where it is made."""
    if token is None:
        return {}
    return {"authorization": f"Bearer {token if isinstance(token, str) else token()}"}


def poll_pause(waited_s: float) -> float:
    """Seconds until the next look at a run: short for short runs, a second for long ones."""
    return min(1.0, 0.05 + waited_s / 10)
