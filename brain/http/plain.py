"""Plain requests: what nearly every client sends, read by one expression and answered without a parser's state.

Only a whole head that no two readers could take differently is plain: HTTP/1.1, a common method, a path, printable
ASCII, one `Host`, at most one length of the body and nothing that changes how the connection is used. All else, what is
wrong included, is left to h11 (`http/connections.py`); what is plain means to h11 what it means here, which a law of
the tests holds. Of the time of a short request the parser took a fifth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, NamedTuple

from uvicorn.protocols.http.h11_impl import RequestResponseCycle

Header = tuple[bytes, bytes]

HEADER_LIMIT_BYTES = 32 * 1024
"""Longest request line and headers together, every byte of theirs counted."""

HAS_ARRIVED = "brain.has_arrived"
"""Where the state in the scope of a plain request has a function that tells whether the whole body is there."""

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_LINE = rb"(%b):[ \t]*([\t -~]*)\r\n" % _TOKEN
_HEAD = re.compile(rb"(DELETE|GET|PATCH|POST|PUT) (/[!-~]*) HTTP/1\.1\r\n((?:%b:[\t -~]*\r\n)+)\r\n" % _TOKEN)
_LINES = re.compile(_LINE)
_LENGTH = re.compile(rb"[0-9]{1,15}")

_NOT_PLAIN = frozenset({b"transfer-encoding", b"trailer", b"te", b"expect", b"upgrade", b"http2-settings"})
"""Headers after which a body, an answer or the connection is another matter."""

_NO_BODY = (204, 304)
_PHRASES = {status.value: status.phrase.encode() for status in HTTPStatus}
_STATUS_LINES = {status: b"HTTP/1.1 %d %b\r\n" % (status, _PHRASES.get(status, b"")) for status in range(100, 600)}


class PlainRequest(NamedTuple):
    """The head of a plain request.

    headers  names in lower case
    length   bytes of its body
    size     bytes of the head itself
    """

    method: str
    target: bytes
    headers: list[Header]
    length: int
    size: int


def plain_request(data: bytes) -> PlainRequest | None:
    """The head at the beginning of what came; None where that is no plain one, or not whole."""
    head = _HEAD.match(data, 0, HEADER_LIMIT_BYTES)
    if head is None:
        return None
    method, target, lines = head.groups()
    headers = [(name.lower(), value.rstrip(b" \t")) for name, value in _LINES.findall(lines)]
    hosts, length = 0, None
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            if length is not None or not _LENGTH.fullmatch(value):
                return None
            length = int(value)
        elif name in _NOT_PLAIN or (name == b"connection" and value.lower() != b"keep-alive"):
            return None
    if hosts != 1:
        return None
    return PlainRequest(method.decode(), target, headers, length or 0, head.end())


class PlainCycle(RequestResponseCycle):
    """The answer to a plain request."""

    def has_arrived(self) -> bool:
        """Whether the whole body is there, so that nobody has to wait for it."""
        return not (self.more_body or self.disconnected)

    _left: int | None = None
    """Bytes of the body still to come, where its length was stated; None for a body in chunks."""

    async def send(self, message: Any) -> None:
        """See ASGI. RuntimeError for messages out of order, headers that would break the head, and for a body of
        another length than was stated."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        expected = "http.response.body" if self.response_started else "http.response.start"
        if self.response_complete or message["type"] != expected:
            raise RuntimeError(f"the answer is not where {message['type']} is due")
        if not self.response_started:
            self.response_started = True
            self._begin(message["status"], [*self.default_headers, *message.get("headers", ())])
            return
        is_last = not message.get("more_body", False)
        self._go_on(message.get("body", b""), is_last=is_last)
        if is_last:
            self.response_complete = True
            self.message_event.set()
            if not self.keep_alive:
                self.transport.close()
            self.on_response()

    def _begin(self, status: int, headers: Iterable[Header]) -> None:
        lines, stated = [_STATUS_LINES[status]], None
        for name, value in headers:
            lines.append(b"%b: %b\r\n" % (name, value))
            if name == b"content-length":
                stated = int(value)
            elif name == b"connection" and value.lower() == b"close":
                self.keep_alive = False
        if status in _NO_BODY:
            self._left = 0
        elif stated is None:
            lines.append(b"transfer-encoding: chunked\r\n")
        else:
            self._left = stated
        lines.append(b"\r\n")
        head = b"".join(lines)
        if not (head.count(b"\r") == head.count(b"\n") == len(lines)) or b"\0" in head:
            raise RuntimeError("a header of the answer has a line break in it")
        self.transport.write(head)

    def _go_on(self, body: bytes, *, is_last: bool) -> None:
        if self._left is not None:
            self._left -= len(body)
            if self._left < 0 or (is_last and self._left):
                raise RuntimeError("the body has another length than was stated")
            self.transport.write(body)
        elif body:
            self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        if is_last and self._left is None:
            self.transport.write(b"0\r\n\r\n")
