"""Routes of a Space: formation, recall, maintenance, probe, read-only KIP, status, conversations.

A handler decodes, asks the service, encodes. Refusals travel as exceptions to `http/failures.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import anyio
import orjson
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from brain.auth.credentials import AccessClosed
from brain.http.auth import caller_of, route
from brain.http.budgets import Budget
from brain.http.declaring import Parameter, Takes, bare, paged
from brain.http.failures import ClientLeft
from brain.http.payload import Input, accepted_type, number_of, read_input, write_result, write_value
from brain.service.access import Access
from brain.service.brain import Brain
from brain.service.conversations import Collection
from brain.service.failures import InvalidInput
from brain.service.inputs import FormationInput, KipInput, MaintenanceInput, ProbeInput, RecallInput
from brain.service.outputs.conversations import Conversation, ConversationDelta
from brain.service.outputs.memory import AgentOutput, KipResponse, ProbeOutput, RecallOutput, SchemaDrafts
from brain.service.outputs.spaces import FormationStatus, MemoryStatus, SpaceInfo

T = TypeVar("T")
OfText = Callable[[str], Any]

_WATCHED_AFTER_S = 0.02
"""How long a client waits before it is looked whether it still does."""


def _brain(request: Request) -> Brain:
    brain: Brain = request.app.state.brain
    return brain


def _models(request: Request) -> Budget:
    """The places of requests that lead to a model."""
    budget: Budget = request.app.state.model_budget
    return budget


async def existing_space(request: Request) -> str:
    """The Space a route names, known to exist before a body is read."""
    space_id: str = request.path_params["space_id"]
    await _brain(request).check_space(space_id)
    return space_id


async def _asked_of_a_model(request: Request, model: type[Input], of_text: OfText | None = None) -> tuple[str, Input]:
    """The Space and the input of a request that will need a place for a model, which it does not hold yet."""
    _models(request).expect_a_place()
    space_id = await existing_space(request)
    return space_id, await read_input(request, model, of_text=of_text)


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """What the work comes to; it is cancelled when the client leaves, and its places are free again.

    raises  ClientLeft then, which needs no handler of its own
    """
    loop, watching = asyncio.get_running_loop(), list[asyncio.Task[None]]()
    with anyio.CancelScope() as scope:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            scope.cancel()

        # Most work is done before watching for its client would be worth a task of its own.
        begins = loop.call_later(_WATCHED_AFTER_S, lambda: watching.append(loop.create_task(watch())))
        try:
            return await work
        finally:
            begins.cancel()
            for task in watching:
                task.cancel()
    raise ClientLeft


async def post_formation(request: Request) -> Response:
    space_id, asked = await _asked_of_a_model(request, FormationInput, _as_message)
    with _models(request).place():
        output = await _brain(request).submit_formation(space_id, asked, caller_of(request))
    if accepted_type(request) == "text/markdown":
        return write_value(request, output, markdown=output["content"] or None)
    return write_result(request, output)


def _as_message(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def post_recall(request: Request) -> Response:
    space_id, asked = await _asked_of_a_model(request, RecallInput, as_question)
    with _models(request).place():
        output = await while_connected(request, _brain(request).recall(space_id, asked, caller_of(request)))
    return write_result(request, output, markdown=output["content"])


async def post_recall_structured(request: Request) -> Response:
    space_id, asked = await _asked_of_a_model(request, RecallInput, as_question)
    with _models(request).place():
        output = await while_connected(request, _brain(request).recall_structured(space_id, asked, caller_of(request)))
    return write_result(request, output, markdown=output["answer"])


def as_question(text: str) -> dict[str, Any]:
    return {"query": text}


async def post_maintenance(request: Request) -> Response:
    space_id, asked = await _asked_of_a_model(request, MaintenanceInput)
    with _models(request).place():
        output = await _brain(request).start_maintenance(space_id, asked, caller_of(request))
    return write_result(request, output)


async def post_probe(request: Request) -> Response:
    space_id = await existing_space(request)
    asked = await read_input(request, ProbeInput)
    return write_result(request, await _brain(request).probe(space_id, asked, caller_of(request)))


async def post_execute_kip_readonly(request: Request) -> Response:
    space_id = await existing_space(request)
    asked = await read_input(request, KipInput, of_text=as_command)
    answer = await while_connected(request, _brain(request).execute_kip_readonly(space_id, asked, caller_of(request)))
    request.app.state.measures.answered(answer)
    return write_value(request, answer)


def as_command(text: str) -> dict[str, Any]:
    """A bare command; also as a JSON string that was sent without a type, for no command begins with a quote."""
    if text.startswith('"'):
        try:
            text = orjson.loads(text)
        except orjson.JSONDecodeError:
            raise InvalidInput("parse JSON error: the command is neither a text nor a JSON string") from None
    return {"command": text}


async def get_space_info(request: Request) -> Response:
    return write_result(request, await _brain(request).space_info(await existing_space(request)))


async def get_formation_status(request: Request) -> Response:
    return write_result(request, await _brain(request).formation_status(await existing_space(request)))


async def get_memory_status(request: Request) -> Response:
    return write_result(request, await _brain(request).memory_status(await existing_space(request)))


async def get_schema_drafts(request: Request) -> Response:
    return write_result(request, await _brain(request).schema_drafts(await existing_space(request)))


async def get_conversations(request: Request) -> Response:
    space_id = await existing_space(request)
    rows, following = await _brain(request).conversation_page(
        space_id, _collection(request), cursor=request.query_params.get("cursor"), limit=number_of(request, "limit", 10)
    )
    return write_result(request, rows, next_cursor=following)


async def get_conversation(request: Request) -> Response:
    space_id = await existing_space(request)
    return write_result(
        request, await _brain(request).conversation(space_id, _collection(request), _conversation_id(request))
    )


async def get_conversation_delta(request: Request) -> Response:
    space_id = await existing_space(request)
    delta = await _brain(request).conversation_delta(
        space_id,
        _collection(request),
        _conversation_id(request),
        number_of(request, "messages_offset", 0),
        number_of(request, "artifacts_offset", 0),
    )
    return write_result(request, delta)


def _collection(request: Request) -> str:
    """The collection asked for; what others asked a public Space is nobody's to read (BR-EP-030)."""
    collection = request.query_params.get("collection", "formation")
    if collection == "recall" and caller_of(request).kind == "anonymous":
        raise AccessClosed("recall conversations are closed to anonymous public access")
    return collection


def _conversation_id(request: Request) -> int:
    text: str = request.path_params["conversation_id"]
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise InvalidInput("invalid conversation_id: it must be a whole number")
    return int(text)


_SPACE, _MEMORY, _CONVERSATIONS = "Spaces", "Memory", "Conversations"

_OFFSET = Annotated[int, Field(ge=0, lt=10**12)]
_COLLECTION = Parameter("collection", Collection, "`formation` when left out")

_ABOUT_SPACES = [
    route(
        "/v1/{space_id}/info",
        get_space_info,
        "GET",
        Access.LENIENT_READ,
        gives=SpaceInfo,
        summary="A Space's owner, visibility, tier and figures",
        group=_SPACE,
    ),
    route(
        "/v1/{space_id}/status",
        get_space_info,
        "GET",
        Access.LENIENT_READ,
        gives=SpaceInfo,
        summary="The same as info",
        group=_SPACE,
    ),
    route(
        "/v1/{space_id}/formation_status",
        get_formation_status,
        "GET",
        Access.LENIENT_READ,
        gives=FormationStatus,
        summary="Whether passes are at work or due, and how far they have come",
        group=_SPACE,
    ),
    route(
        "/v1/{space_id}/memory_status",
        get_memory_status,
        "GET",
        Access.LENIENT_READ,
        gives=MemoryStatus,
        summary="Metrics, rates and the last reports",
        group=_SPACE,
    ),
    route(
        "/v1/{space_id}/schema/drafts",
        get_schema_drafts,
        "GET",
        Access.LENIENT_READ,
        gives=SchemaDrafts,
        summary="The words a Space made for itself",
        group=_SPACE,
    ),
]

_REMEMBERING = [
    route(
        "/v1/{space_id}/formation",
        post_formation,
        "POST",
        Access.WRITE,
        takes=Takes(FormationInput, text="one message of a user"),
        gives=AgentOutput,
        summary="Give messages to be remembered; they are durable before the answer",
        group=_MEMORY,
        asks_model=True,
    ),
    route(
        "/v1/{space_id}/recall",
        post_recall,
        "POST",
        Access.UNLABELLED_READ,
        takes=Takes(RecallInput, text="the question"),
        gives=AgentOutput,
        summary="Answer a question in words",
        group=_MEMORY,
        asks_model=True,
    ),
    route(
        "/v1/{space_id}/recall_structured",
        post_recall_structured,
        "POST",
        Access.UNLABELLED_READ,
        takes=Takes(RecallInput, text="the question"),
        gives=RecallOutput,
        summary="Answer a question, with what the answer rests on",
        group=_MEMORY,
        asks_model=True,
    ),
    route(
        "/v1/{space_id}/maintenance",
        post_maintenance,
        "POST",
        Access.WRITE,
        takes=MaintenanceInput,
        gives=AgentOutput,
        summary="Start a maintenance cycle",
        group=_MEMORY,
        asks_model=True,
    ),
    route(
        "/v1/{space_id}/probe",
        post_probe,
        "POST",
        Access.LENIENT_READ,
        takes=ProbeInput,
        gives=ProbeOutput,
        summary="Search without a model: is there anything to be found?",
        group=_MEMORY,
    ),
    route(
        "/v1/{space_id}/execute_kip_readonly",
        post_execute_kip_readonly,
        "POST",
        Access.LENIENT_READ,
        takes=Takes(KipInput, text="one command"),
        gives=bare(KipResponse),
        summary="Run KQL and META; a write is refused inside the answer",
        group=_MEMORY,
    ),
]

_RUNS = [
    route(
        "/v1/{space_id}/conversations",
        get_conversations,
        "GET",
        Access.UNLABELLED_READ,
        gives=paged(Conversation),
        parameters=(
            _COLLECTION,
            Parameter(
                "limit", Annotated[int, Field(ge=0, lt=10**12)], "1 to 100, 10 when left out; the nearer end counts"
            ),
            Parameter("cursor", Annotated[str, Field(pattern="^[0-9]{1,12}$")], "`next_cursor` of the page before"),
        ),
        summary="Runs of agents, the newest page first and oldest first within a page",
        group=_CONVERSATIONS,
    ),
    route(
        "/v1/{space_id}/conversations/{conversation_id}",
        get_conversation,
        "GET",
        Access.UNLABELLED_READ,
        gives=Conversation,
        parameters=(_COLLECTION,),
        summary="One run, also while it goes on",
        group=_CONVERSATIONS,
    ),
    route(
        "/v1/{space_id}/conversations/{conversation_id}/delta",
        get_conversation_delta,
        "GET",
        Access.UNLABELLED_READ,
        gives=ConversationDelta,
        parameters=(
            _COLLECTION,
            Parameter("messages_offset", _OFFSET, "messages the caller has"),
            Parameter("artifacts_offset", _OFFSET, "artifacts the caller has"),
        ),
        summary="What a run has added since the caller's offsets",
        group=_CONVERSATIONS,
    ),
]

ROUTES = [*_ABOUT_SPACES, *_REMEMBERING, *_RUNS]
