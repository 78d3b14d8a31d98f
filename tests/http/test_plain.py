"""Plain requests are what the parser would have read, and are answered as it would have been written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import h11
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.protocols.http.flow_control import FlowControl

from brain.http.connections import _Requests
from brain.http.plain import HEADER_LIMIT_BYTES, PlainCycle, plain_request
from tests.http.listening import Listening, listening

NAMES = (
    "Host", "host", "Content-Length", "content-length", "Content-Type", "Accept", "X-Request-Id", "Authorization",
    "Connection", "Transfer-Encoding", "Expect", "Upgrade", "TE", "X y", "X:", "", "Ünder",
)  # fmt: skip
VALUES = (
    "localhost", "0", "3", "03", "+3", "3, 3", "-1", "9" * 16, "keep-alive", "Keep-Alive", "close", "chunked", "gzip",
    "100-continue", "websocket", "a b\tc", "", "  spaced\t", "a\x00b", "a\rb", "a\n b", "é", "\x7f", "a:b", "\x0b",
)  # fmt: skip
FIRST = (
    "GET /info HTTP/1.1", "POST /v1/home/probe?x=%20&y HTTP/1.1", "PUT / HTTP/1.1", "GET //other/x HTTP/1.1",
    "HEAD /info HTTP/1.1", "get /info HTTP/1.1", "GET /info HTTP/1.0", "GET /info HTTP/1.2", "GET  /info HTTP/1.1",
    "GET http://localhost/info HTTP/1.1", "GET * HTTP/1.1", "GET /a b HTTP/1.1", "GET /é HTTP/1.1", "GET /info",
)  # fmt: skip
COMMON = ("Content-Length: 3", "content-length:2", "Accept: */*", "Connection: Keep-Alive", "x-request-id:\t a b ")
LINE_ENDS = ("\r\n", "\n", "\r", "\r\n ", "\r\n\r\n")


@st.composite
def heads(draw: st.DrawFn) -> bytes:
    """The beginning of a connection: a request as clients send it, with something odd in most."""
    lines = [draw(st.sampled_from(FIRST[:4] * 5 + FIRST)), *draw(st.sampled_from([["Host: localhost"]] * 5 + [[]]))]
    for _ in range(draw(st.integers(0, 4))):
        between = draw(st.sampled_from([": ", ":", ":\t", " : "]))
        odd = draw(st.sampled_from(NAMES)) + between + draw(st.sampled_from(VALUES))
        lines.append(draw(st.sampled_from([*COMMON, *COMMON, odd])))
    ends = [draw(st.sampled_from(LINE_ENDS[:1] * 40 + LINE_ENDS)) for _ in lines]
    text = "".join(line + end for line, end in zip(lines, ends, strict=True)) + draw(
        st.sampled_from(["\r\n"] * 5 + ["\n", ""])
    )
    return text.encode("latin-1") + draw(st.sampled_from([b"", b"{}\n", b"abcGET /info HTTP/1.1\r\n"]))


@pytest.mark.requirement("BR-HTTP-013")
@given(data=heads())
def test_what_is_plain_is_what_the_parser_reads(data: bytes) -> None:
    plain = plain_request(data)
    if plain is None:
        return
    parser = _Requests(h11.SERVER, HEADER_LIMIT_BYTES)
    parser.receive_data(data)
    event = parser.next_event()
    assert isinstance(event, h11.Request)
    assert (event.method.decode(), event.target, event.http_version) == (plain.method, plain.target, b"1.1")
    assert [(name.lower(), value) for name, value in event.headers] == plain.headers
    assert parser.trailing_data[0] == data[plain.size :]
    assert not parser.they_are_waiting_for_100_continue
    body = b""
    while isinstance(event := parser.next_event(), h11.Data):
        body += event.data
    assert body == data[plain.size :][: plain.length]
    assert (event is h11.NEED_DATA) == (len(body) < plain.length)


ORDINARY = b"POST /v1/home/probe HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\n{}\n"


def test_what_clients_send_is_plain() -> None:
    plain = plain_request(ORDINARY)
    assert plain is not None
    assert (plain.method, plain.length, ORDINARY[plain.size :]) == ("POST", 3, b"{}\n")
    assert all(plain_request(ORDINARY[:size]) is None for size in range(plain.size))


def test_a_head_that_is_too_long_is_not_plain() -> None:
    for extra, is_plain in ((0, True), (1, False)):
        filler = b"X: " + b"a" * (HEADER_LIMIT_BYTES - len(ORDINARY) - len(b"X: \r\n") + len(b"{}\n") + extra)
        assert (plain_request(ORDINARY.replace(b"\r\n\r\n", b"\r\n" + filler + b"\r\n\r\n")) is not None) is is_plain


@pytest.mark.parametrize(
    "line",
    [
        b"Content-Length: 3", b"Content-Length: 4", b"Host: localhost", b"Transfer-Encoding: chunked", b"Te: trailers",
        b"Expect: 100-continue", b"Upgrade: h2c", b"Connection: close", b"Connection: keep-alive, upgrade",
        b"X: \xc3\xa9", b"X: a\x00b", b"X: a\rb", b"X : y", b" folded", b"none", b": x",
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_not_plain(line: bytes) -> None:
    assert plain_request(ORDINARY.replace(b"\r\n\r\n", b"\r\n" + line + b"\r\n\r\n")) is None


# --- answers ----------------------------------------------------------------------------------------------------------


class Line(asyncio.Transport):
    """A transport that keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def close(self) -> None:
        self.is_closed = True


async def answered(*messages: dict[str, Any]) -> tuple[Line, bool]:
    """What goes over the line for these messages, and whether the answer is complete."""
    line, done = Line(), list[bool]()
    cycle = PlainCycle(
        scope={"headers": [], "method": "GET"},  # type: ignore[typeddict-item]
        conn=h11.Connection(h11.SERVER),
        transport=line,
        flow=FlowControl(line),
        logger=logging.getLogger(__name__),
        access_logger=logging.getLogger(__name__),
        access_log=False,
        default_headers=[],
        message_event=asyncio.Event(),
        on_response=lambda: done.append(True),
    )
    for message in messages:
        await cycle.send(message)
    return line, bool(done)


def begun(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_answer_states_its_length_or_comes_in_chunks() -> None:
    line, is_done = await answered(begun((b"content-length", b"5")), part(b"he", more=True), part(b"llo"))
    assert (line.sent, is_done) == (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", True)
    line, is_done = await answered(begun(), part(b"hello", more=True), part(b"", more=True), part(b""))
    assert line.sent == b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    assert (is_done, line.is_closed) == (True, False)
    line, is_done = await answered(begun(status=204), part(b""))
    assert (line.sent, is_done) == (b"HTTP/1.1 204 No Content\r\n\r\n", True)
    line, _ = await answered(begun((b"content-length", b"0"), (b"connection", b"close"), status=408), part(b""))
    assert line.is_closed


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(
    "messages",
    [
        [begun((b"x", b"a\r\nset-cookie: b"))],
        [begun((b"x\r\ny", b"a"))],
        [begun((b"x", b"a\nb"))],
        [begun((b"x", b"a\x00b"))],
        [part(b"early")],
        [begun(), begun()],
        [begun((b"content-length", b"2")), part(b"long")],
        [begun((b"content-length", b"9")), part(b"short")],
        [begun(status=204), part(b"body")],
        [begun(), part(b""), part(b"late")],
    ],
)
async def test_an_answer_that_would_be_misread_is_not_sent_to_its_end(messages: list[dict[str, Any]]) -> None:
    with pytest.raises(RuntimeError):
        await answered(*messages)


# --- on a line --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("plain")) as made:
        yield made


INFO = b"GET /info HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
CHUNKED = (
    b"POST /v1/home/probe HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'd\r\n{"query":"a"}\r\n0\r\n\r\n'
)
PROBE = b'POST /v1/home/probe HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"query":"a"}'


@pytest.mark.requirement("BR-HTTP-013")
def test_plain_requests_and_others_follow_each_other_on_one_connection(service: Listening) -> None:
    requests = (
        INFO,
        PROBE,
        CHUNKED,
        PROBE,
        CHUNKED,
        INFO,
        b"HEAD /info HTTP/1.1\r\nHost: localhost\r\n\r\n",
        PROBE,
        LAST,
    )
    answers = service.sent(b"".join(requests))
    assert answers.count(b"HTTP/1.1 200 OK\r\n") == len(requests)
    kinds = [b'"memory_interface"' in answer for answer in answers.split(b"HTTP/1.1 200 OK")[1:]]
    assert kinds == [b"GET" in request for request in requests]


@pytest.mark.requirement("BR-HTTP-013")
def test_the_rest_of_a_body_nobody_read_is_not_taken_for_a_request(service: Listening) -> None:
    inner = b"POST /admin/create_space HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    missing = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(inner)
    answers = service.sent(missing + inner + LAST)
    assert [answer[:3] for answer in answers.split(b"HTTP/1.1 ")[1:]] == [b"404", b"200"]


def test_a_body_that_comes_in_pieces_is_read_whole(service: Listening) -> None:
    def pieces() -> Iterator[bytes]:
        for byte in b'{"query": "' + b"a" * 500 + b'"}':
            yield bytes([byte])

    with httpx.Client(base_url=service.url) as client:
        for _ in range(2):
            answer = client.post("/v1/home/probe", content=pieces(), headers={"content-length": "513"})
            assert (answer.status_code, answer.json()["result"]["found"]) == (200, False)
