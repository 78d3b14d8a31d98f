"""Where calls may go whose address somebody other than the operator chose."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpx
import pytest

from brain.agents.outbound import MOST_BYTES, AddressRefused, AnswerRefused, PublicOnly, check_url

GOOD = ["https://api.openai.com/v1", "https://example.com:8443/x", "https://93.184.216.34/", "https://[2606:2800::1]/"]

BAD = [
    "",
    "api.openai.com",
    "http://api.openai.com/v1",
    "ftp://example.com",
    "file:///etc/passwd",
    "https:///v1",
    "https://user:pass@example.com/",
    "https://example.com/?x=1",
    "https://example.com/#x",
    "https://localhost/",
    "https://LOCALHOST/",
    "https://redis/",
    "https://db.internal/",
    "https://printer.local./",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://0.0.0.0/",
    "https://10.1.2.3/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://224.0.0.1/",
    "https://[::1]/",
    "https://[fe80::1]/",
    "https://[fd00::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[2002:7f00:1::]/",
    "https://[64:ff9b::7f00:1]/",
]


@pytest.mark.requirement("BR-CONF-030")
@pytest.mark.parametrize("url", GOOD)
def test_public_hosts_over_tls_may_be_called(url: str) -> None:
    check_url(url, ())


@pytest.mark.requirement("BR-CONF-030")
@pytest.mark.parametrize("url", BAD)
def test_nothing_inside_a_network_and_nothing_without_tls_may_be(url: str) -> None:
    with pytest.raises(AddressRefused):
        check_url(url, ())


@pytest.mark.parametrize("allowed", [("127.0.0.1",), ("127.0.0.1:9000",), ("*",)])
def test_a_host_the_operator_lists_may_be_called_as_it_is(allowed: tuple[str, ...]) -> None:
    check_url("http://127.0.0.1:9000/v1", allowed)
    with pytest.raises(AddressRefused):
        check_url("http://127.0.0.1:9001/v1", ("127.0.0.1:9000",))


class Recorder(httpx.AsyncBaseTransport):
    """Takes requests in the network's place."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, Any]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        sni = request.extensions.get("sni_hostname")
        self.seen.append((request.url.host, request.headers["host"], sni))
        return httpx.Response(200, text="there")


@contextmanager
def names(monkeypatch: pytest.MonkeyPatch, **known: list[str]) -> Iterator[list[str]]:
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        addresses = known[host.replace(".", "_")]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(anyio, "getaddrinfo", getaddrinfo)
    yield asked


def get(url: str, recorder: Recorder, allowed: tuple[str, ...] = ()) -> httpx.Response:
    async def call() -> httpx.Response:
        async with httpx.AsyncClient(transport=PublicOnly(allowed, recorder)) as client:
            return await client.get(url)

    return anyio.run(call)


@pytest.mark.requirement("BR-CONF-030")
def test_the_connection_goes_to_the_very_address_that_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    with names(monkeypatch, api_example_com=["93.184.216.34", "2606:2800::1"]) as asked:
        assert get("https://api.example.com/v1", recorder).text == "there"
    assert asked == ["api.example.com"]
    assert recorder.seen == [("93.184.216.34", "api.example.com", "api.example.com")]


@pytest.mark.requirement("BR-CONF-030")
@pytest.mark.parametrize("addresses", [["10.0.0.5"], ["93.184.216.34", "127.0.0.1"], ["::1"], ["fe80::1%eth0"], []])
def test_a_name_that_leads_inside_is_not_followed(monkeypatch: pytest.MonkeyPatch, addresses: list[str]) -> None:
    recorder = Recorder()
    with names(monkeypatch, evil_example_com=addresses), pytest.raises(AddressRefused):
        get("https://evil.example.com/v1", recorder)
    assert recorder.seen == []


def test_a_listed_host_is_called_by_its_name_and_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    with names(monkeypatch) as asked:
        get("http://models:8000/v1", recorder, ("models:8000",))
    assert (asked, recorder.seen) == ([], [("models", "models:8000", None)])


class Endless(httpx.AsyncByteStream):
    """An answer that does not end; how much of it was taken."""

    def __init__(self) -> None:
        self.taken = 0
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.taken += 2**20
            yield b" " * 2**20

    async def aclose(self) -> None:
        self.is_closed = True


class Answering(httpx.AsyncBaseTransport):
    """Gives one answer, and keeps what was asked."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self.asked: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return self.answer


def answered(answer: httpx.Response) -> tuple[httpx.Response, httpx.Request]:
    transport = Answering(answer)

    async def call() -> httpx.Response:
        async with httpx.AsyncClient(transport=PublicOnly(("models",), transport)) as client:
            return await client.get("http://models/v1")

    return anyio.run(call), transport.asked[0]


@pytest.mark.requirement("BR-CONF-030")
def test_an_answer_without_an_end_is_not_read_to_its_end() -> None:
    endless = Endless()
    with pytest.raises(AnswerRefused):
        answered(httpx.Response(200, stream=endless))
    assert MOST_BYTES <= endless.taken <= MOST_BYTES + 2**20
    assert endless.is_closed


@pytest.mark.requirement("BR-CONF-030")
def test_a_packed_answer_is_neither_asked_for_nor_taken() -> None:
    _, asked = answered(httpx.Response(200, text="there"))
    assert asked.headers["accept-encoding"] == "identity"
    bomb = Endless()
    with pytest.raises(AnswerRefused):
        answered(httpx.Response(200, stream=bomb, headers={"content-encoding": "gzip"}))
    assert (bomb.taken, bomb.is_closed) == (0, True)
    assert answered(httpx.Response(200, text="plain", headers={"content-encoding": "identity"}))[0].text == "plain"
