"""Whose pages may reach this service: without credentials, a browser on the same machine would lend anybody its hands.

Two ways in are closed. A page of a foreign name that was made to resolve to this machine comes with that name in
`Host`: only loopback names, the address the connection came in by and configured names are answered to. A page of
another site may post without asking first, as a form does: what a browser sends from another origin is refused unless
that origin is listed in `CORS_ORIGINS`. Clients that are no browsers send `Host` alone, and notice nothing.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from brain.http.failures import error_response

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITE = frozenset({"same-origin", "none"})

_FOREIGN_HOST = (
    "this service does not answer to the name in the Host header; use localhost, or list the name in HTTP_ALLOWED_HOSTS"
)
_FOREIGN_SITE = (
    "this request comes from a page of another site; list the site's origin in CORS_ORIGINS to let its pages in"
)


class OriginCheck:
    """ASGI middleware: 403 for foreign `Host` names, and for what browsers send from other sites.

    hosts    names that are answered to, beside loopback and the connection's own address; `*` for any
    origins  origins whose pages may send anything; `*` for any
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], origins: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(name.lower().rstrip(".") for name in hosts)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) > 1 or not self._answers_to(hosts[0] if hosts else None, scope):
            await error_response(403, _FOREIGN_HOST)(scope, receive, send)
        elif scope["method"] not in _SAFE_METHODS and not self._lets_in(headers):
            await error_response(403, _FOREIGN_SITE)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _answers_to(self, host: str | None, scope: Scope) -> bool:
        """Whether a `Host` is one of ours; HTTP/1.0 may leave it out, which no browser does."""
        if host is None or "*" in self._hosts:
            return True
        name = host_name(host)
        if name == "localhost" or name.endswith(".localhost") or name in self._hosts:
            return True
        if "%" in name:
            return False  # a zone is a name of our own for a wire; whatever stands there is nobody's address
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or name == (scope.get("server") or ("",))[0]

    def _lets_in(self, headers: Headers) -> bool:
        """Whether whoever sends this is no browser, our own page, or a page of a listed origin."""
        if "*" in self._origins:
            return True
        origins = headers.getlist("origin")
        if not origins:
            return all(site in _OWN_SITE for site in headers.getlist("sec-fetch-site"))
        if len(origins) > 1:
            return False
        scheme, _, place = origins[0].lower().partition("://")
        own = headers.get("host", "").lower().removesuffix(":")
        return origins[0] in self._origins or (scheme in {"http", "https"} and place == own)


def host_name(host: str) -> str:
    """The name or address in a `Host` header, without port, which may be empty, and brackets, in lower case; empty when
    there is none."""
    name, colon, port = host.rpartition(":")
    if not colon or not (port == "" or (port.isascii() and port.isdigit())) or (":" in name and not name.endswith("]")):
        name = host
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return name.lower().rstrip(".")
