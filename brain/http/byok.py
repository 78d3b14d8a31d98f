"""Routes of a Space's own model (API §4.4, BR-EP-042)."""

from __future__ import annotations

from typing import Literal

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from brain.http.auth import route
from brain.http.payload import read_input, write_result
from brain.service.access import Access
from brain.service.byok import Byok, ModelConfigInput
from brain.service.outputs.spaces import ModelConfig


def _asked(request: Request) -> tuple[Byok, str]:
    return request.app.state.byok, request.path_params["space_id"]


async def get_space_byok(request: Request) -> Response:
    byok, space_id = _asked(request)
    return write_result(request, await run_sync(byok.shown, space_id))


async def patch_space_byok(request: Request) -> Response:
    asked = await read_input(request, ModelConfigInput)
    byok, space_id = _asked(request)
    await run_sync(byok.set, space_id, asked)
    return write_result(request, True)


async def delete_space_byok(request: Request) -> Response:
    byok, space_id = _asked(request)
    return write_result(request, await run_sync(byok.remove, space_id))


_PATH, _GROUP = "/v1/{space_id}/management/space_byok", "Management"

ROUTES = [
    route(
        _PATH,
        get_space_byok,
        "GET",
        Access.MANAGEMENT,
        gives=ModelConfig | None,
        summary="The Space's own model, of its key only the beginning; null where it has none",
        group=_GROUP,
    ),
    route(
        _PATH,
        patch_space_byok,
        "PATCH",
        Access.MANAGEMENT,
        takes=ModelConfigInput,
        gives=Literal[True],
        summary="Replace the Space's own model; it holds from the next run on",
        group=_GROUP,
    ),
    route(
        _PATH,
        delete_space_byok,
        "DELETE",
        Access.MANAGEMENT,
        gives=bool,
        summary="Go back to the service's model; whether the Space had its own",
        group=_GROUP,
    ),
]
