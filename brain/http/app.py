"""The HTTP door: routes, middleware, and the start and stop of the work behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib.resources import files

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response

from brain.http import archives as carrying
from brain.http import byok as own_models
from brain.http import changes as following
from brain.http import lifecycle as lives
from brain.http import management as managing
from brain.http import manual, operating, packet, spaces, writing
from brain.http import memory as remembering
from brain.http.admission import Admission
from brain.http.auth import Failures, route
from brain.http.budgets import Arrivals, Budget
from brain.http.declaring import json_only, raw
from brain.http.failures import HANDLERS, CatchAll
from brain.http.origins import OriginCheck
from brain.http.packing import Packing
from brain.http.payload import json_response
from brain.observe.observed import Observed
from brain.service.access import Access, Doorkeeper
from brain.service.archives import Archives
from brain.service.brain import Brain
from brain.service.byok import Byok
from brain.service.changes import Changes
from brain.service.lifecycle import Lifecycle
from brain.service.management import Management
from brain.service.memory import Memory
from brain.service.outputs.spaces import ServiceInfo
from brain.service.writes import Writes
from brain.settings import Settings


async def get_info(request: Request) -> Response:
    """What this service is, always JSON and without an envelope."""
    brain: Brain = request.app.state.brain
    return json_response(brain.info())


async def get_skill(_: Request) -> Response:
    """How an agent uses this service, in Markdown."""
    return Response(_static("skill.md"), media_type="text/markdown; charset=utf-8")


async def get_favicon(_: Request) -> Response:
    """The icon of a browser's tab."""
    return Response(_static("favicon.ico"), media_type="image/x-icon")


async def get_touch_icon(_: Request) -> Response:
    """The icon of a phone's home screen."""
    return Response(_static("apple-touch-icon.webp"), media_type="image/webp")


@cache
def _static(name: str) -> bytes:
    return files("brain.http").joinpath("static", name).read_bytes()


_GROUP = "Public"

PUBLIC_ROUTES = [
    route(
        "/info",
        get_info,
        "GET",
        Access.OPEN,
        gives=json_only(ServiceInfo),
        summary="What this service is",
        group=_GROUP,
    ),
    route(
        "/SKILL.md",
        get_skill,
        "GET",
        Access.OPEN,
        gives=raw("text/markdown"),
        summary="How an agent uses this service",
        group=_GROUP,
    ),
    route(
        "/favicon.ico",
        get_favicon,
        "GET",
        Access.OPEN,
        gives=raw("image/x-icon"),
        summary="The icon of the service",
        group=_GROUP,
    ),
    route(
        "/apple-touch-icon.webp",
        get_touch_icon,
        "GET",
        Access.OPEN,
        gives=raw("image/webp"),
        summary="The same, larger",
        group=_GROUP,
    ),
    *manual.ROUTES,
]


ROUTES = [
    *PUBLIC_ROUTES,
    *spaces.ROUTES,
    *packet.ROUTES,
    *remembering.ROUTES,
    *writing.ROUTES,
    *following.ROUTES,
    *managing.ROUTES,
    *own_models.ROUTES,
    *lives.ROUTES,
    *carrying.ROUTES,
]


def _own_hosts(settings: Settings) -> tuple[str, ...]:
    """The names this service answers to: those that are listed, and the one it was told to listen on."""
    return (*settings.http_allowed_hosts, settings.host)


def http_app(
    brain: Brain,
    settings: Settings,
    *,
    doorkeeper: Doorkeeper,
    management: Management,
    byok: Byok,
    lifecycle: Lifecycle,
    archives: Archives,
    observed: Observed,
    memory: Memory,
    writes: Writes,
    changes: Changes,
    background: Callable[[], AbstractAsyncContextManager[None]],
) -> Starlette:
    """The ASGI application.

    doorkeeper  admits callers
    observed    what operators see of the process
    background  entered when the server starts and left when it stops: the runner that does queued work
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with background():
            yield
            observed.drain()

    requests = Budget(settings.http_max_concurrency, 503)
    middleware = [
        Middleware(Admission, budget=requests, shard=settings.sharding_idx, free=operating.PATHS),
        Middleware(OriginCheck, hosts=_own_hosts(settings), origins=settings.cors_origins),
        Middleware(Packing),
        Middleware(CatchAll),
    ]
    if settings.cors_origins:
        # Outermost: a browser that may not read a 503 cannot act on it.
        middleware.insert(
            0,
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.cors_origins),
                allow_methods=["*"],
                allow_headers=["*"],
                expose_headers=["x-request-id", "retry-after"],
            ),
        )
    middleware.insert(0, Middleware(operating.Measured, observed=observed))
    app = Starlette(
        routes=[
            *ROUTES,
            *operating.HEALTH_ROUTES,
            *(operating.METRICS_ROUTES if settings.metrics_addr == "same" else ()),
        ],
        middleware=middleware,
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.brain = brain
    app.state.operating_paths = operating.PATHS
    app.state.settings = settings
    app.state.doorkeeper = doorkeeper
    app.state.management = management
    app.state.byok = byok
    app.state.lifecycle = lifecycle
    app.state.archives = archives
    app.state.measures = observed.measures
    app.state.observed = observed
    app.state.memory = memory
    app.state.writes = writes
    app.state.changes = changes
    app.state.followers = Budget(settings.http_max_concurrency, 503)
    app.state.auth_failures = Failures(settings.auth_failures_per_minute)
    app.state.request_budget = requests
    app.state.model_budget = Budget(settings.llm_max_concurrency, 429)
    app.state.arrivals = Arrivals(settings.http_max_concurrency)
    return app
