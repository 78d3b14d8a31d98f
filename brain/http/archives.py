"""Routes by which administrators take a Space out as one signed archive, and bring one in."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.to_thread import run_sync
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from brain.http.auth import route
from brain.http.budgets import Budget
from brain.http.declaring import Parameter, Takes, raw
from brain.http.payload import BodyTooLarge, BodyTooSlow, UnknownCoding, write_result
from brain.service.access import Access
from brain.service.archives import Archives
from brain.service.outputs.spaces import ImportedSpace
from brain.service.spaces import check_space_id

ARCHIVE_TYPE = "application/gzip"


async def post_export_space(request: Request) -> Response:
    archives: Archives = request.app.state.archives
    space_id: str = request.path_params["space_id"]
    check_space_id(space_id)
    folder = tempfile.TemporaryDirectory(prefix="brain-export-")
    try:
        path = Path(folder.name) / f"{space_id}.brain"
        told = await run_sync(archives.export, space_id, path)
    except BaseException:
        folder.cleanup()
        raise
    headers = {"x-archive-digest": told["digest"], "cache-control": "no-store"}
    # Whether the client takes it to its end or not, the file goes when the answer is over.
    return FileResponse(
        path,
        media_type=ARCHIVE_TYPE,
        filename=path.name,
        headers=headers,
        background=BackgroundTask(run_sync, folder.cleanup),
    )


async def post_import_space(request: Request) -> Response:
    archives: Archives = request.app.state.archives
    archives.check_may_import()
    space_id = request.query_params.get("space_id")
    if space_id is not None:
        check_space_id(space_id)
    async with _received(request) as path:
        return write_result(request, await run_sync(archives.import_, path, space_id))


@asynccontextmanager
async def _received(request: Request) -> AsyncIterator[Path]:
    """The body in a file of its own; BodyTooLarge, BodyTooSlow when nothing comes for as long as a body may take."""
    settings = request.app.state.settings
    limit: int = settings.archive_limit_bytes
    budget: Budget = request.app.state.request_budget
    if request.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise UnknownCoding
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and (len(announced) > 18 or int(announced) > limit):
        raise BodyTooLarge(limit)
    with tempfile.TemporaryDirectory(prefix="brain-import-") as folder:
        path, size = Path(folder) / "archive", 0
        pieces = request.stream().__aiter__()
        with budget.lent():
            async with await anyio.open_file(path, "wb") as file:
                while True:
                    with anyio.move_on_after(settings.body_timeout_ms / 1000) as waited:
                        piece = await anext(pieces, None)
                    if waited.cancelled_caught:
                        raise BodyTooSlow(f"nothing came for {settings.body_timeout_ms} milliseconds")
                    if piece is None:
                        break
                    size += len(piece)
                    if size > limit:
                        raise BodyTooLarge(limit)
                    await file.write(piece)
        yield path


_GROUP = "Administration"

ROUTES = [
    route(
        "/admin/{space_id}/export_space",
        post_export_space,
        "POST",
        Access.ADMIN,
        gives=raw(ARCHIVE_TYPE),
        summary="The whole Space, as of one moment, as a signed archive",
        group=_GROUP,
    ),
    route(
        "/admin/import_space",
        post_import_space,
        "POST",
        Access.ADMIN,
        takes=Takes(None, raw=(ARCHIVE_TYPE,)),
        gives=ImportedSpace,
        parameters=[Parameter("space_id", str, "id the Space gets; the archive's when left out")],
        summary="Make a Space of an archive that somebody trusted signed",
        group=_GROUP,
    ),
]
