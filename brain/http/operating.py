"""Operators' routes (`/healthz`, `/readyz`, `/metrics`), and the counting of everybody's requests.

They ask for no credential, tell nothing of what is remembered, and take no place among the requests at work: a process
that is busy is not one that is broken.
"""

from __future__ import annotations

import time

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from brain.http.auth import route
from brain.http.declaring import json_only, raw
from brain.http.failures import CLIENT_LEFT
from brain.http.payload import json_response
from brain.observe.metrics import CONTENT_TYPE
from brain.observe.observed import Observed
from brain.service.access import Access
from brain.service.outputs.operating import Alive, Ready

_THREADS = 4
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_NO_ROUTE = "none"
"""The route of requests that found none: a path is somebody's text, and there is no end of them."""


async def get_healthz(_: Request) -> Response:
    """The process answers."""
    return json_response({"alive": True})


async def get_readyz(request: Request) -> Response:
    """Whether it should be sent requests: 200 or 503, with every check."""
    readiness = _observed(request).readiness
    verdict = readiness.last
    if verdict is None:
        verdict = await run_sync(readiness.look, limiter=_limiter(request))
    return json_response(verdict.to_wire(), 200 if verdict.is_ready else 503)


async def get_metrics(request: Request) -> Response:
    """Numbers for Prometheus."""
    observed = _observed(request)
    text = await run_sync(lambda: observed.measures.text(observed.gauges()), limiter=_limiter(request))
    return Response(text, media_type=CONTENT_TYPE)


def _observed(request: Request) -> Observed:
    observed: Observed = request.app.state.observed
    return observed


def _limiter(request: Request) -> CapacityLimiter:
    """Threads for these routes alone: work that fills all others must not keep an operator from seeing it."""
    state = request.app.state
    if not hasattr(state, "operating_threads"):  # made on the running loop
        state.operating_threads = CapacityLimiter(_THREADS)
    limiter: CapacityLimiter = state.operating_threads
    return limiter


_GROUP = "Operators"

HEALTH_ROUTES = [
    route(
        "/healthz",
        get_healthz,
        "GET",
        Access.OPEN,
        gives=json_only(Alive),
        summary="Whether the process answers",
        group=_GROUP,
    ),
    route(
        "/readyz",
        get_readyz,
        "GET",
        Access.OPEN,
        gives=json_only(Ready, statuses={200: "send it requests", 503: "send it none just now"}),
        summary="Whether it should be sent requests, with every check",
        group=_GROUP,
    ),
]
METRICS_ROUTES = [
    route(
        "/metrics",
        get_metrics,
        "GET",
        Access.OPEN,
        gives=raw("text/plain"),
        summary="Numbers for Prometheus",
        group=_GROUP,
    )
]
PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


class Measured:
    """ASGI middleware, around all others: counts and times every answer."""

    def __init__(self, app: ASGIApp, *, observed: Observed) -> None:
        self._app = app
        self._measures = observed.measures
        self._tracer = observed.tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), CLIENT_LEFT

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        method = scope["method"] if scope["method"] in _METHODS else "other"
        try:
            if self._tracer.is_on:
                with self._tracer.span("http.request", http_request_method=method) as span:
                    await self._app(scope, receive, watched)
                    span.set_attribute("http.route", _route_of(scope))
                    span.set_attribute("http.response.status_code", status)
            else:
                await self._app(scope, receive, watched)
        finally:
            path = _route_of(scope)
            self._measures.requests.add(path, method, str(status))
            self._measures.request_seconds.observe(time.perf_counter() - started, path, method)


def _route_of(scope: Scope) -> str:
    found: str = getattr(scope.get("endpoint"), "path", _NO_ROUTE)
    return found
