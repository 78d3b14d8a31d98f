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
from urllib.parse import unquote

import h11
import orjson
import structlog
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.h11_impl import H11Protocol

from brain.http.joined import LEAST_SENT, Joined
from brain.http.plain import HAS_ARRIVED, HEADER_LIMIT_BYTES, PlainCycle, PlainRequest, plain_request

log = structlog.get_logger(__name__)

_TOO_LONG = f"the request line and headers are longer than {HEADER_LIMIT_BYTES} bytes"

_PIECE = 8 * 1024
"""What the parser gets at a time of headers, and of a body that comes in chunks: of these each costs it as much as many
bytes would, and one read can hold tens of thousands."""

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
        self._left = 0
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
        """Take what came, nothing of a next request while this one is at work."""
        is_next_turn, self._next_turn = self._next_turn is not None, None
        while self._held and not self.transport.is_closing():
            if self._left:
                self._take_body()
            elif self._is_at_work:
                self.flow.pause_reading()
                return
            elif self._is_at_rest and (plain := plain_request(self._held)):
                self._begin(plain)
            elif self._parse():
                return
        if is_next_turn and not self.flow.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    @property
    def _is_at_work(self) -> bool:
        """Whether there is a request that came whole and is not answered."""
        if isinstance(self.cycle, PlainCycle) and not self.cycle.response_complete:
            return True
        return self.conn.their_state is h11.DONE

    @property
    def _is_at_rest(self) -> bool:
        """Whether whatever comes next is the beginning of a request, and the parser has seen nothing of it."""
        return self.conn.our_state is self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def _begin(self, request: PlainRequest) -> None:
        """Answer a plain request, whose body may be on its way."""
        self._unset_keepalive_if_required()
        self._held = self._held[request.size :]
        self._left = request.length
        raw_path, _, query = request.target.partition(b"?")
        self.headers = request.headers
        self.scope = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme or "http",
            "method": request.method,
            "root_path": self.root_path,
            "path": self.root_path + unquote(raw_path.decode("ascii")),
            "raw_path": self.root_path.encode("ascii") + raw_path,
            "query_string": query,
            "headers": self.headers,
            "state": self.app_state.copy(),
        }
        self.cycle = PlainCycle(
            scope=self.scope,
            conn=self.conn,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            on_response=self.on_response_complete,
        )
        self.scope["state"][HAS_ARRIVED] = self.cycle.has_arrived
        if not self._left:
            self.cycle.more_body = False
            self.cycle.message_event.set()
        task = self.loop.create_task(self.cycle.run_asgi(self.app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _take_body(self) -> None:
        """More of the body of a plain request, for its handler; nobody's when the answer is out already."""
        piece, self._held = self._held[: self._left], self._held[self._left :]
        self._left -= len(piece)
        if self.cycle.response_complete:
            return
        self.cycle.body += piece
        if len(self.cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        self.cycle.more_body = self._left > 0
        self.cycle.message_event.set()

    def _parse(self) -> bool:
        """Give the parser what came: headers piece by piece, so that it can refuse long ones before it takes them
        apart, chunks too, and others take their turn in between; whether the next turn is later."""
        is_idle = self.conn.their_state is h11.IDLE
        size = _PIECE if is_idle or self.conn.is_chunked else len(self._held)
        piece, self._held = self._held[:size], self._held[size:]
        super().data_received(piece)
        if not (self._held and self.conn.is_chunked and self.conn.their_state is h11.SEND_BODY):
            return False
        self.transport.pause_reading()  # no more comes in than is taken apart
        self._next_turn = self.loop.call_soon(self._feed)
        return True

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
        if unsent == 0 or unsent > self._unsent or self._unsent - unsent >= LEAST_SENT:
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
