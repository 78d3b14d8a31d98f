"""Clients that take their time, or take none: what they hold, for how long, and that nobody else notices."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.http.test_queries import cpu_seconds
from tests.service.processes import ServerProcess, started, wait_for
from tests.service.world import OWNER

pytestmark = pytest.mark.slow

SAID = {"role": "user", "name": "Ana", "content": "I live in Porto."}


@contextlib.contextmanager
def serving(tmp_path: Path, **settings: Any) -> Iterator[ServerProcess]:
    """The real service with a Space called `home`."""
    with started(tmp_path / "spaces", "serve", module="brain", **settings) as server:
        server.post("/admin/create_space", {"user": OWNER, "space_id": "home", "tier": 1})
        yield server


@contextlib.contextmanager
def lines(server: ServerProcess, count: int, *, buffer: int | None = None) -> Iterator[list[socket.socket]]:
    """So many connections."""
    with contextlib.ExitStack() as stack:
        made = []
        for _ in range(count):
            line = stack.enter_context(socket.socket())
            if buffer is not None:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            line.settimeout(15)
            line.connect(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))
            made.append(line)
        yield made


def received(line: socket.socket) -> bytes:
    """Everything until the server closes."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := line.recv(65_536):
            pieces.append(piece)
    return b"".join(pieces)


def parted(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a raw answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}, body


def head_of(path: str, length: int) -> bytes:
    return (
        f"POST /v1/home/{path} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


@pytest.mark.requirement("BR-HTTP-018", "BR-HTTP-022")
def test_bodies_that_never_end_hold_no_models_place_and_are_given_up(tmp_path: Path) -> None:
    with (
        serving(tmp_path, llm_max_concurrency=2, body_timeout_ms=3000) as server,
        lines(server, 8) as slow,
    ):
        begun = time.monotonic()
        for number, line in enumerate(slow):
            line.sendall(head_of(("formation", "recall", "recall_structured", "maintenance")[number % 4], 500) + b"{")
        time.sleep(0.3)
        accepted = httpx.post(f"{server.url}/v1/home/formation", json={"messages": [SAID]}, timeout=10)
        assert accepted.status_code == 200, accepted.text
        asked = httpx.post(f"{server.url}/v1/home/recall", json={"query": "Where?"}, timeout=10)
        assert asked.status_code == 200, asked.text
        for line in slow:
            with contextlib.suppress(OSError):
                line.sendall(b" ")  # a byte now and then does not help
            status, headers, body = parted(received(line))
            assert (status, headers["connection"]) == (408, "close")
            assert "did not come within 3000 milliseconds" in json.loads(body)["error"]["message"]
        assert 2.5 < time.monotonic() - begun < 8


@pytest.mark.requirement("BR-HTTP-020", "BR-HTTP-022")
def test_bodies_that_never_end_keep_nobody_out(tmp_path: Path) -> None:
    with (
        serving(tmp_path, http_max_concurrency=4, body_timeout_ms=60_000) as server,
        lines(server, 20) as slow,
    ):
        for line in slow:
            line.sendall(head_of("formation", 500) + b"{")
        for _ in range(5):
            assert httpx.get(f"{server.url}/v1/home/info", timeout=5).status_code == 200
            accepted = httpx.post(f"{server.url}/v1/home/formation", json={"messages": [SAID]}, timeout=5)
            assert accepted.status_code == 200, accepted.text
        status, _, body = parted(received(slow[0]))  # the first to come is the first to make room
        assert status == 408
        assert "before too many others" in json.loads(body)["error"]["message"]
        assert server.get("/v1/home/info")["conversations"] == 5


OPENINGS = [
    b"",
    b"GET /info HTTP/1.1\r\nHost: localhost\r\n",
    b"GET /info HTTP/1.1\r\nHost: localhost\r\n\r\nGET /inf",
    b"GET /info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
]


def test_a_connection_that_waits_for_its_client_too_long_is_cut(tmp_path: Path) -> None:
    with serving(tmp_path, connection_timeout_ms=1000) as server:
        for opening in OPENINGS:
            with lines(server, 1) as (line,):
                begun = time.monotonic()
                line.sendall(opening)
                line.settimeout(0.1)
                while time.monotonic() - begun < 8:
                    try:
                        if not line.recv(65_536):
                            break
                    except TimeoutError:
                        with contextlib.suppress(OSError):
                            line.sendall(b"x")  # dripping on
                    except ConnectionResetError:
                        break
                assert 0.8 < time.monotonic() - begun < 4, opening


def test_silent_connections_make_room_for_whoever_has_something_to_say(tmp_path: Path) -> None:
    with (
        serving(tmp_path, http_max_concurrency=4, connection_timeout_ms=60_000) as server,
        lines(server, 600) as silent,
    ):
        begun = time.monotonic()
        for _ in range(5):
            assert httpx.get(f"{server.url}/v1/home/info", timeout=5).status_code == 200
        assert time.monotonic() - begun < 3
        assert open_files(server) < 400
        assert received(silent[0]) == b""  # the first to come is the first to go


def open_files(server: ServerProcess) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


_PAGE = b"GET /SKILL.md HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_an_answer_nobody_takes_is_given_up_and_its_place_is_free(tmp_path: Path) -> None:
    with (
        serving(tmp_path, http_max_concurrency=1, connection_timeout_ms=2000) as server,
        lines(server, 1, buffer=4096) as (line,),
    ):
        line.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            for _ in range(5000):  # twenty megabytes of answers
                line.sendall(_PAGE)

        def answers() -> bool:
            return httpx.get(f"{server.url}/info", timeout=5).status_code == 200

        wait_for(lambda: not answers(), 30)  # it stands in the way
        wait_for(answers, 20)


def test_an_answer_that_is_taken_slowly_but_steadily_arrives_whole(tmp_path: Path) -> None:
    with (
        serving(tmp_path, connection_timeout_ms=1000) as server,
        lines(server, 1, buffer=16_384) as (line,),
    ):
        page = httpx.get(f"{server.url}/SKILL.md", timeout=5).content
        line.sendall(_PAGE * 200 + b"GET /info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        begun = time.monotonic()
        taken = b""
        while piece := line.recv(8192):
            taken += piece
            time.sleep(0.02)
        assert time.monotonic() - begun > 1.5
        assert taken.count(page) == 200
        assert b'"memory_interface"' in taken[-2000:]


MANY = b"".join(b"a:b\r\n" for _ in range(20_000))

NO_HTTP = [
    (b"nonsense\r\n\r\n", 400, "Invalid HTTP request"),
    (b"GET /info HTTP/1.1\r\n\r\n", 400, "Invalid HTTP request"),
    (b"GET /info HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400, "Invalid HTTP request"),
    (b"GET /info HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400, "Invalid HTTP request"),
    (b"GET /info HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000, 431, "longer than 32768 bytes"),
    (b"GET /info HTTP/1.1\r\nHost: localhost\r\n" + MANY + b"\r\n", 431, "longer than 32768 bytes"),
    (b"GET /info HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40_000 + b"\r\n\r\n", 431, "longer than 32768 bytes"),
    (b"GET /" + b"a" * 70_000, 431, "longer than 32768 bytes"),
    (head_of("formation", 1).replace(b"Content-Length: 1", b"Transfer-Encoding: chunked") + b"zz\r\n", 400, "HTTP"),
]


@pytest.mark.requirement("BR-HTTP-003", "BR-HTTP-013", "BR-HTTP-029")
def test_what_is_no_http_is_refused_as_every_other_error_is(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        for sent, status, part in NO_HTTP:
            with lines(server, 1) as (line,):
                before = cpu_seconds(server)
                line.sendall(sent)
                found, headers, body = parted(received(line))
            assert cpu_seconds(server) - before < 0.5
            assert (found, headers["content-type"], headers["connection"]) == (status, "application/json", "close")
            assert part in json.loads(body)["error"]["message"]
            assert headers["x-request-id"] in server.said.read_text()
        assert server.is_up()


_INFO = b"GET /info HTTP/1.1\r\nHost: localhost\r\n\r\n"
_POST = b"POST /v1/home/probe HTTP/1.%d\r\nHost: localhost\r\n%s\r\n\r\n0\r\n\r\n" + _INFO

TWO_LENGTHS = [
    _POST % (1, b"Content-Length: 5\r\nTransfer-Encoding: chunked"),
    _POST % (1, b"transfer-encoding: Chunked\r\nCONTENT-LENGTH: 0"),
    _POST % (1, b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\nConnection: keep-alive"),
    _POST % (0, b"Transfer-Encoding: chunked\r\nConnection: keep-alive"),
    _POST % (1, b"Content-Length: 5\r\nContent-Length: 6"),
]


@pytest.mark.requirement("BR-HTTP-013")
def test_a_request_with_two_lengths_is_refused_and_nothing_behind_it_is_run(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        for sent in TWO_LENGTHS:
            for before in (b"", _INFO):
                with lines(server, 1) as (line,):
                    line.sendall(before + sent)
                    answers = received(line)
                *earlier, last = answers.split(b"HTTP/1.1 ")[1:]
                assert [answer[:3] for answer in earlier] == [b"200"] * bool(before)
                assert last.startswith(b"400 "), sent
                assert b"connection: close" in last.lower()


@pytest.mark.requirement("BR-HTTP-013")
def test_the_limit_of_the_headers_is_met_to_the_byte(tmp_path: Path) -> None:
    head = b"GET /info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: "
    with serving(tmp_path) as server:
        for size, status in ((32_768, 200), (32_769, 431)):
            with lines(server, 1) as (line,):
                line.sendall(head + b"a" * (size - len(head) - 4) + b"\r\n\r\n")
                assert parted(received(line))[0] == status


ABSOLUTE = [
    (b"http://localhost:%d/info", b"localhost", 200),
    (b"HTTP://127.0.0.1/info?x=1", b"evil.example", 200),
    (b"http://evil.example/info", b"localhost", 403),
    (b"http://localhost@evil.example/info", b"localhost", 403),
    (b"http:///info", b"localhost", 403),
    (b"http://localhost", b"localhost", 404),
    (b"http://localhost?x=1", b"localhost", 404),
    (b"ftp://localhost/info", b"localhost", 404),
]


@pytest.mark.requirement("BR-HTTP-013")
def test_a_target_may_be_a_whole_url_of_one_of_our_hosts(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        for target, host, status in ABSOLUTE:
            target = target.replace(b"%d", server.url.rsplit(":", 1)[1].encode())
            with lines(server, 1) as (line,):
                line.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
                assert parted(received(line))[0] == status, target


@pytest.mark.requirement("BR-HTTP-003")
def test_too_many_headers_are_refused_also_behind_another_request(tmp_path: Path) -> None:
    info = b"GET /info HTTP/1.1\r\nHost: localhost\r\n"
    with serving(tmp_path) as server, lines(server, 2) as (one, two):
        one.sendall(info + b"a:b\r\n" * 201 + b"connection: close\r\n\r\n")
        assert parted(received(one))[0] == 431
        before = cpu_seconds(server)
        two.sendall(info + b"\r\n" + info + MANY + b"\r\n")
        answers = received(two)
        assert answers.count(b"HTTP/1.1 200 OK") == 1
        assert answers.count(b"HTTP/1.1 431 ") == 1
        assert cpu_seconds(server) - before < 0.5


def test_requests_sent_all_at_once_are_answered_in_their_order(tmp_path: Path) -> None:
    with serving(tmp_path) as server, lines(server, 1) as (line,):
        bodies = [json.dumps({"query": f"q{number}", "pad": "x" * 5_000}).encode() for number in range(30)]
        requests = [head_of("probe", len(body)).replace(b"\r\n\r\n", f"\r\nX-Request-Id: n{n}\r\n\r\n".encode()) + body
                    for n, body in enumerate(bodies)]  # fmt: skip
        line.sendall(b"".join(requests) + b"GET /info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answers = received(line)
        assert answers.count(b"HTTP/1.1 200 OK") == 31
        places = [answers.index(f"x-request-id: n{n}\r".encode()) for n in range(30)]
        assert places == sorted(places)
