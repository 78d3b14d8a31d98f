"""Server-sent events as a client reads them: bytes in, changes out, and the place to go on from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from brain.client import errors
from brain.client.pages import Change

ACCEPT = "text/event-stream"
SILENT_FOR_S = 45.0
"""Three times the longest silence of the service: whoever is silent longer is not there any more."""

_MOST_BUFFERED = 16 * 1024 * 1024
_AUTHENTICATION = "authentication failed"


@dataclass(slots=True)
class Following:
    """A place in the stream that moves as events come in.

    cursor  what to go on behind; None until the first event
    """

    cursor: str | None
    query: dict[str, Any]

    @classmethod
    def of(cls, cursor: str | None, after: int | str | None, limit: int | None) -> Following:
        query = {"after": after if cursor is None else None, "limit": limit}
        return cls(cursor, {name: value for name, value in query.items() if value is not None})

    def headers(self) -> dict[str, str]:
        """Of the next connection."""
        return {"accept": ACCEPT} | ({} if self.cursor is None else {"last-event-id": self.cursor})

    def params(self) -> dict[str, Any]:
        """Of the next connection."""
        return self.query if self.cursor is None else {k: v for k, v in self.query.items() if k != "after"}

    def reader(self) -> Reader:
        """For the bytes of one connection."""
        return Reader(self)


class Reader:
    """Reads one connection's bytes; half an event that was cut off is forgotten with it."""

    def __init__(self, following: Following) -> None:
        self._following = following
        self._held = b""
        self._kind = "message"
        self._id: str | None = None
        self._data: list[bytes] = []
        self.has_lasted = False
        """Whether the service has said that it is still there, which it does when nothing happens for a while."""

    def feed(self, piece: bytes) -> Iterator[Change]:
        """The changes that are complete now, one by one, so that the place moves with them.

        raises  the error the service ended the stream with
        """
        # Lines end at this and at nothing else: JSON may hold what Python, too, takes for the end of one.
        *lines, self._held = (self._held + piece).split(b"\n")
        if len(self._held) > _MOST_BUFFERED:
            raise errors.UnexpectedAnswer("an event without an end", status=200)
        for line in lines:
            change = self._line(line.removesuffix(b"\r"))
            if change is not None:
                yield change

    def _line(self, line: bytes) -> Change | None:
        if line:
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(value)
            elif name == b"event":
                self._kind = value.decode()
            elif name == b"id":
                self._id = value.decode()
            elif not name:
                self.has_lasted = True
            return None
        kind, data, event_id = self._kind, b"\n".join(self._data), self._id
        self._kind, self._data, self._id = "message", [], None
        if data:
            carried = orjson.loads(data)
            if kind == "error":
                raise _ended(carried["error"])
            return Change(event_id or "", carried) if kind == "change" else None
        if event_id is not None:
            self._following.cursor = event_id
        return None


def _ended(error: dict[str, Any]) -> errors.Refused:
    """Why the service ended a stream; Busy for what another connection may put right."""
    message, data = error["message"], error.get("data")
    retry = data.get("retry", {}) if isinstance(data, dict) else {}
    if retry.get("class") == "safe_same_request":
        return errors.Busy(message, status=200, data=data, after_s=retry.get("after_ms", 0) / 1000)
    kind = errors.NotAuthenticated if message == _AUTHENTICATION else errors.Refused
    return kind(message, status=200, data=data)
