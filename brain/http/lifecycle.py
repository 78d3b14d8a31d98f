"""Routes of administrators for a Space as a whole: flush, close, keep open, delete (in the style of API §4.5)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from brain.http.auth import route
from brain.http.payload import read_input, write_result
from brain.service.access import Access
from brain.service.lifecycle import CloseSpaceInput, DeleteSpaceInput, KeepOpenInput, Lifecycle
from brain.service.outputs.spaces import ClosedSpace, DeletedSpace, FlushedSpace, KeptOpen


def _asked(request: Request) -> tuple[Lifecycle, str]:
    return request.app.state.lifecycle, request.path_params["space_id"]


async def post_flush_space(request: Request) -> Response:
    lifecycle, space_id = _asked(request)
    return write_result(request, await lifecycle.flush(space_id))


async def post_close_space(request: Request) -> Response:
    lifecycle, space_id = _asked(request)
    return write_result(request, await lifecycle.close(space_id, await read_input(request, CloseSpaceInput)))


async def post_keep_space_open(request: Request) -> Response:
    lifecycle, space_id = _asked(request)
    return write_result(request, await lifecycle.keep_open(space_id, await read_input(request, KeepOpenInput)))


async def post_delete_space(request: Request) -> Response:
    lifecycle, space_id = _asked(request)
    return write_result(request, await lifecycle.delete(space_id, await read_input(request, DeleteSpaceInput)))


_OF_A_SPACE, _GROUP = "/admin/{space_id}", "Administration"

ROUTES = [
    route(
        f"{_OF_A_SPACE}/flush_space",
        post_flush_space,
        "POST",
        Access.ADMIN,
        gives=FlushedSpace,
        summary="Have all that was committed on the disk",
        group=_GROUP,
    ),
    route(
        f"{_OF_A_SPACE}/close_space",
        post_close_space,
        "POST",
        Access.ADMIN,
        takes=CloseSpaceInput,
        gives=ClosedSpace,
        summary="Let what is in hand end and close the Space in this process; the next access opens it",
        group=_GROUP,
    ),
    route(
        f"{_OF_A_SPACE}/keep_space_open",
        post_keep_space_open,
        "POST",
        Access.ADMIN,
        takes=KeepOpenInput,
        gives=KeptOpen,
        summary="Keep the Space open although nobody uses it, or no longer",
        group=_GROUP,
    ),
    route(
        f"{_OF_A_SPACE}/delete_space",
        post_delete_space,
        "POST",
        Access.ADMIN,
        takes=DeleteSpaceInput,
        gives=DeletedSpace,
        summary="Delete the Space with everything in it, and show that nothing is left",
        group=_GROUP,
    ),
]
