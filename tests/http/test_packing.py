"""Answers packed for who asks for it: the same bytes, whichever way they travel."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import cbor2
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from brain.http.packing import Packing
from tests.http.conftest import Door, opened

pytestmark = pytest.mark.anyio

PRIMER = {"command": "DESCRIBE PRIMER"}


async def primer(door: Door, **headers: str) -> tuple[httpx.Response, bytes]:
    """A long answer, and its bytes as they travelled."""
    path = f"/v1/{door.space}/execute_kip_readonly"
    async with door.client.stream("POST", path, json=PRIMER, headers=headers) as answer:
        return answer, b"".join([piece async for piece in answer.aiter_raw()])


@pytest.mark.parametrize("accept", ["application/json", "application/cbor", "text/markdown"])
async def test_a_long_answer_is_packed_for_who_accepts_it(tmp_path: Path, accept: str) -> None:
    async with opened(tmp_path) as door:
        whole, body = await primer(door, **{"accept": accept, "accept-encoding": "identity"})
        packed, packed_body = await primer(door, **{"accept": accept, "accept-encoding": "br, gzip;q=0.5"})
        assert "content-encoding" not in whole.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["content-type"] == whole.headers["content-type"]
        assert int(packed.headers["content-length"]) == len(packed_body) < len(body) / 2
        assert _without_times(gzip.decompress(packed_body), accept) == _without_times(body, accept)
        for answer in (whole, packed):
            assert answer.headers["vary"] == "Accept-Encoding"  # or a cache would give one to who wanted the other


def _without_times(body: bytes, accept: str) -> Any:
    return cbor2.loads(body)["results"][0]["status"] if accept == "application/cbor" else len(body)


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip", True),
        ("GZip", True),
        ("x-gzip", True),
        ("*", True),
        ("gzip;q=0.001", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("*;q=0", False),
        ("gzip;q=0, *", False),
        ("br, zstd", False),
        ("", False),
        ("notgzip", False),
    ],
)
async def test_what_a_client_accepts_is_read_as_it_is_meant(tmp_path: Path, accepted: str, is_packed: bool) -> None:
    async with opened(tmp_path) as door:
        answer, _ = await primer(door, **{"accept-encoding": accepted})
        assert ("content-encoding" in answer.headers) is is_packed


async def test_a_head_tells_the_length_its_get_would_have(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        for accepted in ("gzip", "identity"):
            told = await door.client.head("/openapi.json", headers={"accept-encoding": accepted})
            got = await door.client.get("/openapi.json", headers={"accept-encoding": accepted})
            assert told.headers["content-length"] == got.headers["content-length"]
            assert told.headers.get("content-encoding") == got.headers.get("content-encoding")


async def test_short_answers_pictures_and_what_comes_piece_by_piece_stay_as_they_are() -> None:
    async def short(_: Request) -> Response:
        return Response(b"x" * 2_047, media_type="application/json")

    async def picture(_: Request) -> Response:
        return Response(b"x" * 5_000, media_type="image/webp")

    async def packed_already(_: Request) -> Response:
        return Response(b"x" * 5_000, media_type="application/json", headers={"content-encoding": "zstd"})

    async def pieces(_: Request) -> Response:
        async def each() -> AsyncIterator[bytes]:
            for _ in range(5):
                yield b"x" * 1_000

        return StreamingResponse(each(), media_type="text/event-stream")

    handlers = {"/short": short, "/picture": picture, "/packed": packed_already, "/pieces": pieces}
    app = Packing(Starlette(routes=[Route(path, handler) for path, handler in handlers.items()]))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        for path in handlers:
            async with client.stream("GET", path, headers={"accept-encoding": "gzip"}) as answer:
                body = b"".join([piece async for piece in answer.aiter_raw()])
            assert answer.headers.get("content-encoding") != "gzip", path
            assert set(body) == {ord("x")}, path
