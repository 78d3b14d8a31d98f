"""What an answer writes travels together: one call of the system and one packet, where they were two."""

from __future__ import annotations

import asyncio
from typing import Any

LEAST_SENT = 64 * 1024
"""Bytes of an answer that a client has to take within the time limit, or all that is left of it."""

_MOMENT_S = 0.002
"""How long an answer that does not end may be held, for what is to go with it."""


class Joined:
    """A transport that sends headers and body of an answer together. What an answer writes is held until it ends, and
    no longer than a moment."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._due: list[bytes] = []
        self._size = 0
        self._moment: asyncio.TimerHandle | None = None

    def write(self, data: bytes) -> None:
        """Send with what follows; at once where that is a lot already, so that the sender learns to wait."""
        if not data:
            return
        if not self._due:
            self._moment = self._loop.call_later(_MOMENT_S, self.flush)
        self._due.append(data)
        self._size += len(data)
        if self._size >= LEAST_SENT:
            self.flush()

    def get_write_buffer_size(self) -> int:
        """Bytes that were written and not sent."""
        return self._size + self._transport.get_write_buffer_size()

    def close(self) -> None:
        """After everything that was written."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Now, and without it."""
        self._drop()
        self._transport.abort()

    def flush(self) -> None:
        """Send what is held."""
        data = self._drop()
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def _drop(self) -> bytes:
        data = self._due[0] if len(self._due) == 1 else b"".join(self._due)
        self._due.clear()
        self._size = 0
        if self._moment is not None:
            self._moment.cancel()
            self._moment = None
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
