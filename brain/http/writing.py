"""Routes that write what a caller knows, without a model: KIP through the gate, and documents."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from brain.http.auth import caller_of, route
from brain.http.declaring import Takes, bare
from brain.http.payload import read_input, write_result, write_value
from brain.http.spaces import as_command, existing_space
from brain.service.access import Access
from brain.service.outputs.memory import KipResponse, Remembered
from brain.service.write_inputs import RememberInput, WriteInput
from brain.service.writes import Writes

_GROUP = "Memory"


def _writes(request: Request) -> Writes:
    writes: Writes = request.app.state.writes
    return writes


async def post_execute_kip(request: Request) -> Response:
    space_id = await existing_space(request)
    asked = await read_input(request, WriteInput, of_text=as_command)
    # A client that leaves takes nothing back: what was accepted is finished, and its key tells what came of it.
    answer = await _writes(request).execute_kip(space_id, asked, caller_of(request))
    request.app.state.measures.answered(answer)
    return write_value(request, answer)


async def post_remember(request: Request) -> Response:
    space_id = await existing_space(request)
    asked = await read_input(request, RememberInput)
    return write_result(request, await _writes(request).remember(space_id, asked, caller_of(request)))


ROUTES = [
    route(
        "/v1/{space_id}/execute_kip",
        post_execute_kip,
        "POST",
        Access.WRITE,
        takes=Takes(WriteInput, text="one command"),
        gives=bare(KipResponse),
        summary="Run KIP that may write, as the caller, through the gate",
        group=_GROUP,
    ),
    route(
        "/v1/{space_id}/remember",
        post_remember,
        "POST",
        Access.WRITE,
        takes=RememberInput,
        gives=Remembered,
        refuses={409: "the key stands for another request"},
        summary="Keep what a document says of some messages, all of it or nothing",
        group=_GROUP,
    ),
]
