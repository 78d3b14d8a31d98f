"""Routes of managers and administrators: a Space's record, tier and tokens; Spaces made (API §4.4, §4.5)."""

from __future__ import annotations

from typing import Literal

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from brain.auth.credentials import AuthenticationFailed, Scope
from brain.http.auth import caller_of, route
from brain.http.payload import format_of, read_input, write_result
from brain.http.principals import parse_principal
from brain.service.access import Access
from brain.service.brain import Brain
from brain.service.failures import InvalidInput
from brain.service.inputs import (
    AddSpaceTokenInput,
    CreateSpaceInput,
    RevokeSpaceTokenInput,
    UpdateSpaceInput,
)
from brain.service.management import Management
from brain.service.outputs.spaces import SpaceInfo, Tier, Token


def _management(request: Request) -> Management:
    management: Management = request.app.state.management
    return management


def _space_id(request: Request) -> str:
    space_id: str = request.path_params["space_id"]
    return space_id


async def post_create_space(request: Request) -> Response:
    asked = await read_input(request, CreateSpaceInput, takes_bytes=True)
    owner = parse_principal(asked.user, format_of(request))
    brain: Brain = request.app.state.brain
    return write_result(request, await brain.create_space(asked, owner))


async def post_update_space_tier(request: Request) -> Response:
    asked = await read_input(request, CreateSpaceInput, takes_bytes=True)
    parse_principal(asked.user, format_of(request))
    management, space_id = _management(request), _space_id(request)
    if asked.space_id != space_id:
        raise InvalidInput("the space_id of the body does not match that of the path; nothing was changed")
    return write_result(request, await run_sync(lambda: management.update_tier(space_id, asked.tier)))


async def get_space_tokens(request: Request) -> Response:
    management, space_id = _management(request), _space_id(request)
    return write_result(request, await run_sync(lambda: management.tokens(space_id)))


async def post_add_space_token(request: Request) -> Response:
    asked = await read_input(request, AddSpaceTokenInput)
    if not caller_of(request).scope.satisfies(Scope(asked.scope)):
        raise AuthenticationFailed  # nobody makes a token that may do what they may not
    management, space_id = _management(request), _space_id(request)
    return write_result(request, await run_sync(lambda: management.add_token(space_id, asked)))


async def post_revoke_space_token(request: Request) -> Response:
    asked = await read_input(request, RevokeSpaceTokenInput)
    management, space_id = _management(request), _space_id(request)
    return write_result(request, await run_sync(lambda: management.revoke_token(space_id, asked)))


async def patch_update_space(request: Request) -> Response:
    asked = await read_input(request, UpdateSpaceInput)
    management, space_id = _management(request), _space_id(request)
    await run_sync(lambda: management.update_space(space_id, asked))
    return write_result(request, True)


_OF_A_SPACE = "/v1/{space_id}/management"

_ADMIN, _MANAGING = "Administration", "Management"

ROUTES = [
    route(
        "/admin/create_space",
        post_create_space,
        "POST",
        Access.ADMIN,
        takes=CreateSpaceInput,
        gives=SpaceInfo,
        summary="Make a Space",
        group=_ADMIN,
    ),
    route(
        "/admin/{space_id}/update_space_tier",
        post_update_space_tier,
        "POST",
        Access.ADMIN,
        takes=CreateSpaceInput,
        gives=Tier,
        summary="Set the size a Space may come to; it holds for the next input",
        group=_ADMIN,
    ),
    route(
        f"{_OF_A_SPACE}/space_tokens",
        get_space_tokens,
        "GET",
        Access.MANAGEMENT,
        gives=list[Token],
        summary="The Space's tokens by age, none of them in full",
        group=_MANAGING,
    ),
    route(
        f"{_OF_A_SPACE}/add_space_token",
        post_add_space_token,
        "POST",
        Access.MANAGEMENT,
        takes=AddSpaceTokenInput,
        gives=Token,
        summary="Make a token; the only answer that carries it whole",
        group=_MANAGING,
    ),
    route(
        f"{_OF_A_SPACE}/revoke_space_token",
        post_revoke_space_token,
        "POST",
        Access.MANAGEMENT,
        takes=RevokeSpaceTokenInput,
        gives=bool,
        summary="Revoke a token by its value or its name; whether there was one",
        group=_MANAGING,
    ),
    route(
        f"{_OF_A_SPACE}/update_space",
        patch_update_space,
        "PATCH",
        Access.MANAGEMENT,
        takes=UpdateSpaceInput,
        gives=Literal[True],
        summary="Change name, description, visibility, policy or wiki settings; what is left out stays",
        group=_MANAGING,
    ),
]
