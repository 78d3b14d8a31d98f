"""The service's description of itself: `/openapi.json` for programs, `/docs` for people.

The page is made here of the same document, without a script and without anything from elsewhere, so that it works where
there is no network and cannot be made to do anything.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from brain.http.auth import route
from brain.http.declaring import JSON, json_only, raw
from brain.service.access import Access
from brain.service.outputs.common import Wire

_POLICY = (
    "default-src 'none'; style-src 'sha256-{style}'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


def description(app: Starlette) -> dict[str, Any]:
    """The OpenAPI document of what an application serves, made once."""
    state = app.state
    if not hasattr(state, "description"):
        from brain.http.openapi import document  # for who asks for it: schemas are a part of pydantic of their own

        served = [one for one in app.routes if isinstance(one, Route)]
        state.description = document(
            served, shard=state.settings.sharding_idx, is_guarded=state.doorkeeper.is_on, free=state.operating_paths
        )
    made: dict[str, Any] = state.description
    return made


async def get_openapi(request: Request) -> Response:
    """The description for programs."""
    return Response(orjson.dumps(description(request.app)), media_type=JSON)


async def get_docs(request: Request) -> Response:
    """The description for people."""
    from brain.http.manual_page import STYLE, page

    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    headers = {
        "content-security-policy": _POLICY.format(style=digest),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
    return Response(page(description(request.app)), media_type="text/html; charset=utf-8", headers=headers)


ROUTES = [
    route(
        "/openapi.json",
        get_openapi,
        "GET",
        Access.OPEN,
        gives=json_only(Wire),
        summary="This description, as OpenAPI 3.1",
        group="Public",
    ),
    route(
        "/docs",
        get_docs,
        "GET",
        Access.OPEN,
        gives=raw("text/html"),
        summary="This description, for people",
        group="Public",
    ),
]
