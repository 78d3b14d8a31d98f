"""Connections: what a client may take its time with, how many there are, and what is said to a request that is no HTTP.

A place of the admission budgets is only ever held by a request; these bounds are for what comes before and after one: a
client that never ends its headers, stays silent, or does not take its answer.
"""

from __future__ import annotations

import asyncio
import re
import resource
import sys
import uuid
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, cast

import h11
import orjson
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

log = structlog.get_logger(__name__)

HEADER_LIMIT_BYTES = 32 * 1024
"""Longest request line and headers together, every byte of theirs counted."""

_TOO_LONG = f"the request line and headers are longer than {HEADER_LIMIT_BYTES} bytes"

_PIECE = 8 * 1024
"""What the parser gets at a time of headers, and of a body that comes in chunks: of these each costs it as much as many
bytes would, and one read can hold tens of thousands."""

_LEAST_SENT = 64 * 1024
"""Bytes of an answer that a client has to take within the time limit, or all that is left of it."""

_MOMENT_S = 0.002
"""How long an answer that does not end may be held, for what is to go with it."""

_FEWEST = 256
_FILES_FOR_THE_REST = 0.75


_ABSOLUTE = re.compile(rb"https?://([^/?#]*)([^#]*)", re.IGNORECASE)


class _Refused(h11.RemoteProtocolError):
    """A request that the parser takes and we do not; the text is for its client."""


class _Requests(h11.Connection):
    """The parser, stricter and more exact where RFC 9112 is."""

    is_chunked = False
    """Whether the body of the request at hand comes in chunks."""

    def next_event(self) -> Any:
        if self.their_state is not h11.IDLE:
            return super().next_event()
        before = len(self.trailing_data[0])
        event = super().next_event()
        if not isinstance(event, h11.Request):
            return event
        if before - len(self.trailing_data[0]) > HEADER_LIMIT_BYTES:
            raise _Refused(_TOO_LONG, error_status_hint=431)
        names = {name for name, _ in event.headers}
        if b"transfer-encoding" in names and (b"content-length" in names or event.http_version < b"1.1"):
            # Where such a body ends is a matter of opinion, and what follows could be taken for another request.
            raise _Refused("the request says in two ways how long its body is; send one, in HTTP/1.1")
        self.is_chunked = b"transfer-encoding" in names
        return _in_origin_form(event)


def _in_origin_form(request: h11.Request) -> h11.Request:
    """A request whose target is a whole URL, as a proxy gets it, as one for the path at the host the URL names, which
    counts instead of `Host` (RFC 9112 §3.2.2)."""
    form = _ABSOLUTE.fullmatch(request.target)
    if form is None:
        return request
    host, target = form.groups()
    others = [(name, value) for name, value in request.headers if name != b"host"]
    return h11.Request(
        method=request.method,
        target=target if target.startswith(b"/") else b"/" + target,
        headers=[(b"host", host), *others],
        http_version=request.http_version,
    )


class Joined:
    """A transport that sends headers and body of an answer together: one call of the system and one packet, where they
    were two. What an answer writes is held until it ends, and no longer than a moment."""

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
        if self._size >= _LEAST_SENT:
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


class Connection(H11Protocol):
    """One HTTP/1.1 connection; `bounded` gives it its limits."""

    timeout_s: float
    most: int
    conn: _Requests

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn = _Requests(h11.SERVER, HEADER_LIMIT_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast("asyncio.Transport", Joined(transport, self.loop)))
        self._waits_since = self._sent_at = self.loop.time()
        self._unsent = 0
        self._held = b""
        self._next_turn: asyncio.Handle | None = None
        if len(self.connections) > self.most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        self._held += data
        if self._next_turn is None:
            self._feed()
        else:
            self.transport.pause_reading()

    def _feed(self) -> None:
        """Give the parser what came: headers piece by piece, so that it can refuse long ones before it takes them
        apart, chunks too, and others take their turn in between; nothing of a next request while this one is at work.
        """
        is_next_turn, self._next_turn = self._next_turn is not None, None
        while self._held and not self.transport.is_closing():
            if self.conn.their_state is h11.DONE:
                self.flow.pause_reading()
                return
            is_idle = self.conn.their_state is h11.IDLE
            size = _PIECE if is_idle or self.conn.is_chunked else len(self._held)
            piece, self._held = self._held[:size], self._held[size:]
            super().data_received(piece)
            if self._held and self.conn.is_chunked and self.conn.their_state is h11.SEND_BODY:
                self.transport.pause_reading()  # no more comes in than is taken apart
                self._next_turn = self.loop.call_soon(self._feed)
                return
        if is_next_turn and not self.flow.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    def on_response_complete(self) -> None:
        cast("Joined", self.transport).flush()
        self._waits_since = self.loop.time()
        super().on_response_complete()
        self._feed()

    @property
    def is_waiting(self) -> bool:
        """Whether there is no request at work: it is the client's turn."""
        return self.cycle is None or self.cycle.response_complete

    def is_overdue(self, now: float) -> bool:
        """Whether the client has taken longer than it may, with its headers or with the answer."""
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent > self._unsent or self._unsent - unsent >= _LEAST_SENT:
            self._unsent, self._sent_at = unsent, now
        if unsent:
            return now - self._sent_at > self.timeout_s
        return self.is_waiting and now - self._waits_since > self.timeout_s

    def cut(self) -> None:
        """End it without another word; whatever was under way for it sees a client that left."""
        self.connections.discard(self)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP/1.1 request: say so as every other error is said, and close."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.cut()  # an answer is on its way or was given; there is no room for another
            return
        # This is called while the parser's error is handled, and only that knows which status fits.
        fault = sys.exc_info()[1]
        status = fault.error_status_hint if isinstance(fault, h11.RemoteProtocolError) else 400
        if isinstance(fault, _Refused):
            msg = str(fault)
        elif status == 431:
            msg = _TOO_LONG
        request_id = uuid.uuid4().hex
        log.info("invalid_request", status=status, request_id=request_id)
        body = orjson.dumps({"error": {"message": msg}})
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"x-request-id", request_id.encode()),
            (b"connection", b"close"),
        ]
        start = h11.Response(status_code=status, headers=headers, reason=HTTPStatus(status).phrase)
        for event in (start, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _make_room(self) -> None:
        """One connection too many: the one that has kept silent longest goes, or this one when all others are busy."""
        others = (other for other in self.connections if isinstance(other, Connection) and other is not self)
        silent = min(
            (other for other in others if other.is_waiting), key=lambda other: other._waits_since, default=self
        )
        silent.cut()


def bounded(*, timeout_ms: int, requests: int) -> type[asyncio.Protocol]:
    """The protocol for connections of a server that takes so many requests at a time.

    Twice as many connections may be open, as far as the process may have files: the other half waits for its next
    request, or for the answer that it is too many.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(2 * requests, _FEWEST)
    limits = {"timeout_s": timeout_ms / 1000, "most": min(most, int(files * _FILES_FOR_THE_REST))}
    return cast("type[asyncio.Protocol]", type("BoundedConnection", (Connection,), limits))


def cut_overdue(connections: Iterable[Any], now: float) -> None:
    """End every connection whose client has taken too long."""
    for connection in list(connections):
        if isinstance(connection, Connection) and connection.is_overdue(now):
            log.info("connection_cut", waiting=connection.is_waiting)
            connection.cut()


def raise_file_limit() -> None:
    """Let the process have as many files as it may: each connection is one, and each open Space some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
