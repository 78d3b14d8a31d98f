"""Routes about single things a Space remembers: pin, forget, users, attention, promotion, restarts (API §4)."""

from __future__ import annotations

from typing import Annotated, Literal

from anyio.to_thread import run_sync
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from brain.http.auth import caller_of, route
from brain.http.declaring import Parameter
from brain.http.payload import number_of, read_input, write_result
from brain.service.access import Access
from brain.service.attention import DEFAULT_ITEMS, MOST_ITEMS
from brain.service.brain import Brain
from brain.service.inputs import ForgetInput, PinInput, PromoteInput, RestartInput, UserInput
from brain.service.memory import Memory
from brain.service.outputs.memory import AttentionRecall, Concept, ForgetReport, PinOutput, Promoted


def _memory(request: Request) -> tuple[Memory, str]:
    memory: Memory = request.app.state.memory
    return memory, request.path_params["space_id"]


async def post_pin(request: Request) -> Response:
    asked = await read_input(request, PinInput)
    memory, space_id = _memory(request)
    return write_result(request, await run_sync(lambda: memory.pin(space_id, asked)))


async def post_forget(request: Request) -> Response:
    asked = await read_input(request, ForgetInput)
    memory, space_id = _memory(request)
    return write_result(request, await run_sync(lambda: memory.forget(space_id, asked)))


async def post_get_or_init_user(request: Request) -> Response:
    asked = await read_input(request, UserInput)
    memory, space_id = _memory(request)
    return write_result(request, await run_sync(lambda: memory.user(space_id, asked)))


async def get_attention(request: Request) -> Response:
    cursor, limit = request.query_params.get("attention_cursor"), number_of(request, "limit", DEFAULT_ITEMS)
    memory, space_id = _memory(request)
    caller = caller_of(request)
    return write_result(request, await memory.attention(space_id, cursor, limit, caller))


async def post_promote(request: Request) -> Response:
    asked = await read_input(request, PromoteInput)
    memory, space_id = _memory(request)
    return write_result(request, await run_sync(lambda: memory.promote(space_id, asked)))


async def patch_restart_formation(request: Request) -> Response:
    asked = await read_input(request, RestartInput)
    memory, space_id = _memory(request)
    await run_sync(lambda: memory.restart_formation(space_id, asked.conversation))
    brain: Brain = request.app.state.brain
    brain.wake_formation(space_id)
    return write_result(request, True)


_GROUP = "Memory"

ROUTES = [
    route(
        "/v1/{space_id}/memory/pin",
        post_pin,
        "POST",
        Access.WRITE,
        takes=PinInput,
        gives=PinOutput,
        summary="Keep one element out of retention archival, or no longer",
        group=_GROUP,
    ),
    route(
        "/v1/{space_id}/memory/forget",
        post_forget,
        "POST",
        Access.WRITE,
        takes=ForgetInput,
        gives=ForgetReport,
        summary="Purge elements, or tell what that would come to",
        group=_GROUP,
    ),
    route(
        "/v1/{space_id}/memory/attention",
        get_attention,
        "GET",
        Access.LENIENT_READ,
        gives=AttentionRecall,
        parameters=(
            Parameter("attention_cursor", str, "the one of the answer before; from the start when left out"),
            Parameter("limit", Annotated[int, Field(ge=1, le=MOST_ITEMS)], f"{DEFAULT_ITEMS} when left out"),
        ),
        summary="Watches that fired and Commitments that fell due, in order",
        group=_GROUP,
    ),
    route(
        "/v1/{space_id}/get_or_init_user",
        post_get_or_init_user,
        "POST",
        Access.WRITE,
        takes=UserInput,
        gives=Concept,
        summary="The Person a user is known as, made when there is none",
        group=_GROUP,
    ),
    route(
        "/v1/{space_id}/schema/promote",
        post_promote,
        "POST",
        Access.MANAGEMENT,
        takes=PromoteInput,
        gives=Promoted,
        summary="Let a draft symbol and an installed one match as one",
        group=_GROUP,
    ),
    route(
        "/v1/{space_id}/management/restart_formation",
        patch_restart_formation,
        "PATCH",
        Access.MANAGEMENT,
        takes=RestartInput,
        gives=Literal[True],
        summary="Form once more what failed or was given up",
        group=_GROUP,
    ),
]
