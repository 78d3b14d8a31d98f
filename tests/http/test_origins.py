"""Whose pages may reach a service without credentials: names in `Host`, origins of what browsers send."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brain.http.origins import host_name
from tests.http.conftest import opened, said

pytestmark = pytest.mark.anyio

OWN = [
    "localhost",
    "localhost:8042",
    "localhost:",
    "[::1]:",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1:1",
    "127.8.9.1",
    "[::1]",
    "[::1]:8042",
    "x.localhost",
]
FOREIGN = ["evil.example", "evil.example:8042", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "1", "",
           "evil.example@localhost", "[evil]", "::1:8042:", "localhost:8042:9", "[::1%evil.com]",
           "[::1%25evil.com]:8042", "::1%lo", ":", "localhost::"]  # fmt: skip


async def test_only_own_names_are_answered_to(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        before = await door.result("info")
        for name in OWN:
            assert (await door.get("info", headers={"host": name})).status_code == 200, name
        for name in FOREIGN:
            for method, path, more in (
                ("GET", "/v1/home/info", {}),
                ("GET", "/info", {}),
                ("POST", "/v1/home/formation", {"json": {"messages": [said("x")]}}),
            ):
                refused = await door.client.request(method, path, headers={"host": name}, **more)
                assert refused.status_code == 403, name
                assert refused.headers["content-type"] == "application/json"
                assert "HTTP_ALLOWED_HOSTS" in refused.json()["error"]["message"]
                assert "x-request-id" in refused.headers
        assert await door.result("info") == before


@pytest.mark.parametrize(
    ("settings", "name", "status"),
    [
        ({"http_allowed_hosts": ("Brain.Example",)}, "brain.example:443", 200),
        ({"http_allowed_hosts": ("brain.example",)}, "other.example", 403),
        ({"http_allowed_hosts": ("*",)}, "other.example", 200),
        ({"listen_addr": "memory.lan:8042"}, "memory.lan:8042", 200),
    ],
)
async def test_further_names_are_answered_to_when_they_are_listed(
    tmp_path: Path, settings: dict[str, Any], name: str, status: int
) -> None:
    async with opened(tmp_path, **settings) as door:
        assert (await door.get("info", headers={"host": name})).status_code == status


async def test_an_address_is_own_when_the_connection_came_in_by_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        for came_by, status in {"10.0.0.7": 200, "10.0.0.8": 403}.items():
            sent: list[Any] = []

            async def receive() -> dict[str, Any]:
                return {"type": "http.request"}

            async def send(message: Any, sent: list[Any] = sent) -> None:
                sent.append(message)

            scope = {
                "type": "http", "method": "GET", "path": "/info", "raw_path": b"/info", "query_string": b"",
                "headers": [(b"host", b"10.0.0.7:8042")], "server": (came_by, 8042), "state": {},
            }  # fmt: skip
            await door.client._transport.app(scope, receive, send)  # type: ignore[attr-defined]
            assert sent[0]["status"] == status


# What a browser says of a page's request, and whether it is let in at http://localhost.
BROWSERS: list[tuple[dict[str, str], bool]] = [
    ({}, True),
    ({"sec-fetch-site": "same-origin", "origin": "http://localhost"}, True),
    ({"sec-fetch-site": "none"}, True),
    ({"origin": "http://localhost:3000"}, False),
    ({"origin": "https://evil.example", "sec-fetch-site": "cross-site"}, False),
    ({"origin": "https://evil.example"}, False),
    ({"origin": "null"}, False),
    ({"origin": ""}, False),
    ({"origin": "file://localhost"}, False),
    ({"sec-fetch-site": "cross-site"}, False),
    ({"sec-fetch-site": "same-site"}, False),
    ({"sec-fetch-site": "anything"}, False),
    ({"origin": "https://friend.example", "sec-fetch-site": "cross-site"}, False),
]


TWO_WAYS: list[list[tuple[str, str]]] = [
    [("origin", "http://localhost"), ("origin", "https://evil.example")],
    [("origin", "https://evil.example"), ("origin", "http://localhost")],
    [("origin", "http://localhost"), ("origin", "http://localhost")],
    [("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
]


@pytest.mark.parametrize("headers", TWO_WAYS)
async def test_who_names_two_origins_is_from_neither(tmp_path: Path, headers: list[tuple[str, str]]) -> None:
    async with opened(tmp_path) as door:
        given = [("content-type", "text/plain"), *headers]
        refused = await door.client.post("/v1/home/probe", content=b'{"query": "x"}', headers=given)
        assert refused.status_code == 403


async def test_an_origin_is_own_also_where_the_port_is_left_blank(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        headers = {"host": "localhost:", "origin": "http://localhost"}
        assert (await door.post("probe", {"query": "x"}, headers=headers)).status_code == 200


async def test_pages_of_other_sites_can_change_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        before = (await door.result("info"))["conversations"]
        for headers, may in BROWSERS:
            for path, body in (
                ("formation", b"Ana lives in Porto."),
                ("recall", b"Where?"),
                ("probe", b'{"query": "x"}'),
            ):
                answer = await door.post(path, content=body, headers={"content-type": "text/plain", **headers})
                assert answer.status_code == (200 if may else 403), (headers, path)
                if not may:
                    assert "CORS_ORIGINS" in answer.json()["error"]["message"]
            # Reading is the browser's own business: it shows a page no answer of another origin without CORS headers.
            assert (await door.get("info", headers=headers)).status_code == 200
        assert (await door.result("info"))["conversations"] == before + sum(may for _, may in BROWSERS)


@pytest.mark.requirement("BR-HTTP-024")
@pytest.mark.parametrize(("listed", "may"), [(("https://friend.example",), [True, False]), (("*",), [True, True])])
async def test_pages_of_listed_origins_may(tmp_path: Path, listed: tuple[str, ...], may: list[bool]) -> None:
    async with opened(tmp_path, cors_origins=listed) as door:
        for origin, let_in in zip(("https://friend.example", "https://evil.example"), may, strict=True):
            headers = {"origin": origin, "sec-fetch-site": "cross-site"}
            answer = await door.post("probe", {"query": "x"}, headers=headers)
            assert answer.status_code == (200 if let_in else 403)
            assert ("access-control-allow-origin" in answer.headers) is let_in


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("a:1", "a"),
        ("A.", "a"),
        ("[::1]:8042", "::1"),
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("a:b", "a:b"),
        ("", ""),
        (":1", ""),
        ("a:", "a"),
        ("[::1]:", "::1"),
    ],
)
def test_a_host_is_a_name_and_maybe_a_port(host: str, name: str) -> None:
    assert host_name(host) == name
