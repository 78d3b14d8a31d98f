"""Where calls may go whose address somebody other than the operator chose: to public hosts over TLS, and nowhere else.

A name is looked up once for every request, each of its addresses is judged, and the connection goes to the address that
was judged: a name that means something else a moment later leads nowhere. Answers that send elsewhere are not followed.
What answers there is nobody's friend either: of an answer no more is read than one may be, and nothing is unpacked.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import AsyncIterator, Collection

import anyio
import httpx

_ANY = "*"
_INSIDE = (".localhost", ".local", ".internal")
_DEFAULT_PORTS = {"https": 443, "http": 80}

MOST_BYTES = 16 * 1024 * 1024
"""Of one answer: more than any that is within the bounds of a model call, streamed token by token or not."""


class AddressRefused(Exception):
    """The address is not one calls may go to; the text says why and may be shown to whoever chose it."""


def check_url(text: str, allowed: Collection[str]) -> None:
    """AddressRefused unless calls may go to an address, as far as can be told without looking its name up.

    allowed  hosts, as `name` or `name:port`, that may be private and without TLS; `*` for every host
    """
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        raise AddressRefused("it is no address") from None
    if url.scheme not in _DEFAULT_PORTS or not url.host:
        raise AddressRefused("it must be an https:// address")
    if url.userinfo or url.query or url.fragment:
        raise AddressRefused("it must have no user, query or fragment")
    if _is_allowed(url, allowed):
        return
    if url.scheme != "https":
        raise AddressRefused("it must be an https:// address")
    literal = _literal(url.host)
    if literal is not None and not _is_public(literal):
        raise AddressRefused("it is an address inside a network")
    if literal is None and ("." not in url.host or url.host.rstrip(".").endswith(_INSIDE)):
        raise AddressRefused("it is a name inside a network")


class AnswerRefused(Exception):
    """An answer is longer than any may be, or packed, so that few bytes could become very many."""


class PublicOnly(httpx.AsyncBaseTransport):
    """Sends requests to public hosts over TLS, or to hosts that are allowed.

    Where the environment names a proxy (HTTPS_PROXY) it is the proxy that connects: addresses are judged all the same,
    and it is the proxy's to keep to them.
    """

    def __init__(self, allowed: Collection[str], inner: httpx.AsyncBaseTransport | None = None) -> None:
        self._allowed = frozenset(allowed)
        proxy = os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")
        self._is_pinned = inner is not None or not proxy
        self._inner = inner or httpx.AsyncHTTPTransport(proxy=proxy or None, retries=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        bare = httpx.URL(scheme=url.scheme, host=url.host, port=url.port)
        check_url(str(bare), self._allowed)
        if not _is_allowed(url, self._allowed) and _literal(url.host) is None:
            address = await _public_address(url.host, url.port or _DEFAULT_PORTS[url.scheme])
            if self._is_pinned:
                request.extensions = {**request.extensions, "sni_hostname": url.host}
                request.url = url.copy_with(host=address)
        request.headers["accept-encoding"] = "identity"
        answer = await self._inner.handle_async_request(request)
        if answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await answer.aclose()
            raise AnswerRefused("the answer is packed")
        assert isinstance(answer.stream, httpx.AsyncByteStream)  # noqa: S101 - of an asynchronous transport
        answer.stream = _Bounded(answer.stream)
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx.AsyncByteStream):
    """An answer's bytes, up to the most there may be of them."""

    def __init__(self, inner: httpx.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for piece in self._inner:
            left -= len(piece)
            if left < 0:
                raise AnswerRefused(f"the answer is longer than {MOST_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_allowed(url: httpx.URL, allowed: Collection[str]) -> bool:
    port = url.port or _DEFAULT_PORTS[url.scheme]
    return _ANY in allowed or url.host in allowed or f"{url.host}:{port}" in allowed


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address a host is written as, also in the short and octal ways a resolver takes for one (`127.1`)."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        pass
    try:
        return ipaddress.ip_address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return _is_public(inner)
        if address in _TRANSLATED:
            return _is_public(ipaddress.IPv4Address(address.packed[-4:]))
    return address.is_global and not address.is_multicast


_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv4 behind a translator (RFC 6052)."""


async def _public_address(host: str, port: int) -> str:
    """One address of a name all of whose addresses are public; AddressRefused, or OSError when it has none."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not all(_is_public(ipaddress.ip_address(one.partition("%")[0])) for one in addresses):
        raise AddressRefused("its name leads inside a network")
    return addresses[0]
