"""Answers packed with gzip for who asks for it (RFC 9110 §12.5.3), where that saves more than it costs.

Only whole bodies are packed, which state their length: what comes piece by piece should arrive piece by piece. Bodies
that come in are never unpacked (`http/payload.py`), so that few bytes can never become many here.
"""

from __future__ import annotations

import gzip

from anyio.to_thread import run_sync
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SHORTEST = 2_048
"""Bytes from which packing is worth its time: below, an answer is one or two packets either way."""

_LONG = 65_536
"""Bytes from which packing is done in a thread, so that other requests need not wait for it."""

_LEVEL = 4
_PACKED_KINDS = ("application/json", "application/cbor", "text/")


class Packing:
    """ASGI middleware: packs answers that are text or data, long enough and whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_wanted = _takes_gzip(Headers(scope=scope).getlist("accept-encoding"))
        held: Message | None = None

        async def packed(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _is_packable(Headers(raw=message["headers"])):
                held = message
                return
            start, held = held, None
            if start is None:
                await send(message)
                return
            headers = MutableHeaders(raw=start["headers"])
            headers.add_vary_header("Accept-Encoding")
            if is_wanted and not message.get("more_body"):
                message = {**message, "body": await _pack(message["body"])}
                headers["content-encoding"] = "gzip"
                headers["content-length"] = str(len(message["body"]))
            await send(start)
            await send(message)

        await self._app(scope, receive, packed)


def _takes_gzip(stated: list[str]) -> bool:
    """Whether an Accept-Encoding takes gzip: named, or by `*`, and not with the weight 0."""
    weights: dict[str, bool] = {}
    for part in ",".join(stated).lower().split(","):
        coding, _, weight = part.partition(";")
        name, _, value = weight.partition("=")
        is_none = name.strip() == "q" and value.strip().rstrip("0") in ("", ".", "0.")
        weights[coding.strip()] = not is_none
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", False)))


def _is_packable(headers: Headers) -> bool:
    """Whether an answer of these headers is whole, long enough, and not packed or packed in its nature."""
    length, kind = headers.get("content-length", "0"), headers.get("content-type", "")
    return int(length) >= _SHORTEST and "content-encoding" not in headers and kind.startswith(_PACKED_KINDS)


async def _pack(body: bytes) -> bytes:
    def pack() -> bytes:
        return gzip.compress(body, _LEVEL, mtime=0)

    return await run_sync(pack) if len(body) > _LONG else pack()
