"""The route of packets: what memory holds for a question, counted, without a model."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from brain.http.auth import caller_of, route
from brain.http.declaring import Takes
from brain.http.payload import read_input, write_result
from brain.http.spaces import as_question, existing_space, while_connected
from brain.service.access import Access
from brain.service.brain import Brain
from brain.service.inputs import PacketInput
from brain.service.outputs.memory import PacketOutput


async def post_packet(request: Request) -> Response:
    brain: Brain = request.app.state.brain
    space_id = await existing_space(request)
    asked = await read_input(request, PacketInput, of_text=as_question)
    made, text = await while_connected(request, brain.packet(space_id, asked, caller_of(request)))
    return write_result(request, made, markdown=text)


ROUTES = [
    route(
        "/v1/{space_id}/packet",
        post_packet,
        "POST",
        Access.UNLABELLED_READ,
        takes=Takes(PacketInput, text="the question"),
        gives=PacketOutput,
        group="Memory",
        summary="What memory holds for a question, within a token budget, without a model",
        description="Words, likeness, graph and time are searched and fused; every item has its belief, its sources "
        "and their dates. All of it is untrusted data.",
    )
]
