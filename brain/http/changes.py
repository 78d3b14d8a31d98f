"""The change stream: pages of JSON for those who ask, and events for those who follow (`text/event-stream`)."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any

import anyio
import orjson
import structlog
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from brain.auth.credentials import AccessClosed, AuthenticationFailed
from brain.errors import KipError, Retry
from brain.http.auth import TooManyFailures, admitted_again, caller_of, route
from brain.http.budgets import Budget, Full
from brain.http.declaring import Gives, Parameter
from brain.http.failures import ClientLeft
from brain.http.payload import number_of, write_result
from brain.http.spaces import existing_space, while_connected
from brain.service.access import Access
from brain.service.changes import MOST_CHANGES, Changes, Page, Place
from brain.service.failures import ServiceFailure, Unavailable
from brain.service.outputs.common import Wire

log = structlog.get_logger(__name__)

EVENTS = "text/event-stream"
_LONGEST_WAIT_S = 30
_HEARTBEAT_S = 15.0
_ADMITTED_FOR_S = 5.0
"""How long a follower may read on before its credential is looked at again."""

_COME_AGAIN_MS = 1_000


def _changes(request: Request) -> Changes:
    changes: Changes = request.app.state.changes
    return changes


def _at_work(request: Request) -> Budget:
    budget: Budget = request.app.state.request_budget
    return budget


async def get_changes(request: Request) -> Response:
    space_id = await existing_space(request)
    query, is_followed = request.query_params, EVENTS in request.headers.get("accept", "").lower()
    cursor = (request.headers.get("last-event-id") if is_followed else None) or query.get("cursor")
    place = Place.read(cursor, None if cursor and is_followed else query.get("after"))
    limit, wait = number_of(request, "limit", MOST_CHANGES), number_of(request, "wait", 0)
    page = await _changes(request).page(space_id, place, limit, caller_of(request))
    if request.method == "GET":
        if is_followed:
            return _Stream(request, space_id, page, limit)
        if wait and not page.rows and page.is_whole:
            with _at_work(request).lent():
                waited = _waited_for(request, space_id, page, limit, min(wait, _LONGEST_WAIT_S))
                page = await while_connected(request, waited)
            await admitted_again(request)  # it was let in when it began to wait
    return write_result(request, [envelope for _, envelope in page.rows], next_cursor=page.cursor)


async def _waited_for(request: Request, space_id: str, page: Page, limit: int, seconds: float) -> Page:
    """The first page with something on it, or the last one when the time is up."""
    changes, ends = _changes(request), anyio.current_time() + seconds
    while not page.rows and not changes.is_over():
        left = ends - anyio.current_time()
        if left <= 0 or not await changes.wait(space_id, page.through, left):
            break
        page = await changes.page(space_id, Place(page.cursor), limit, caller_of(request))
    return page


class _Stream(Response):
    """Events until the client leaves, its credential ends, the Space goes, or the process stops.

    One page is held at a time, and the next is read when the client has taken it. The place among the requests at work
    is others' meanwhile; a follower has one of its own kind.
    """

    media_type = EVENTS

    def __init__(self, request: Request, space_id: str, page: Page, limit: int) -> None:
        followers: Budget = request.app.state.followers
        followers.expect_a_place()
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._request, self._space_id, self._page, self._limit = request, space_id, page, limit
        self._followers = followers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        # That it has no place among the requests to come back to is nothing to a stream that is over.
        with contextlib.suppress(Full, ClientLeft), self._followers.place(), _at_work(self._request).lent():
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await while_connected(request, self._events(send))

    async def _events(self, send: Send) -> None:
        async def put(text: str) -> None:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})

        changes, page = _changes(self._request), self._page
        looked_at = anyio.current_time()
        await put(f"retry: {_COME_AGAIN_MS}\n\n")
        try:
            while not changes.is_over():
                for cursor, envelope in page.rows:
                    await put(_event("change", envelope, cursor))
                if not page.rows or page.rows[-1][0] != page.cursor:
                    await put(f"id: {page.cursor}\n\n")  # how far it got, where there was nothing to show
                if page.is_whole:
                    while not await changes.wait(self._space_id, page.through, _HEARTBEAT_S):
                        await put(": still here\n\n")
                        await admitted_again(self._request)
                        looked_at = anyio.current_time()
                if changes.is_over():
                    break
                if anyio.current_time() - looked_at > _ADMITTED_FOR_S:
                    await admitted_again(self._request)
                    looked_at = anyio.current_time()
                page = await changes.page(self._space_id, Place(page.cursor), self._limit, caller_of(self._request))
        except (AuthenticationFailed, TooManyFailures, AccessClosed, ServiceFailure, KipError) as failure:
            await put(_event("error", _told(failure)))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _event(kind: str, data: Any, cursor: str | None = None) -> str:
    place = "" if cursor is None else f"id: {cursor}\n"
    # JSON has no bare line breaks, so that one line of data is all of it.
    return f"{place}event: {kind}\ndata: {orjson.dumps(data).decode()}\n\n"


def _told(failure: Exception) -> dict[str, Any]:
    """The last event of a stream that was ended for a reason, as the answer to a request would have had it."""
    if isinstance(failure, AuthenticationFailed | TooManyFailures):
        return {"error": {"message": "authentication failed"}}
    if isinstance(failure, AccessClosed):
        return {"error": {"message": failure.reason}}
    if isinstance(failure, KipError):
        log.warning("change_stream_ended", code=failure.code)
        return {"error": {"message": failure.message, "data": failure.to_wire()}}
    if isinstance(failure, Unavailable):
        # What a request would be told by 503 and `Retry-After`: that it may come again.
        again = {"class": Retry.SAFE_SAME_REQUEST, "after_ms": failure.after_s * 1000}
        return {"error": {"message": failure.message, "data": {"retry": again}}}
    assert isinstance(failure, ServiceFailure)  # noqa: S101 - there are no others
    return {"error": {"message": failure.message, **({"data": failure.data} if failure.data is not None else {})}}


_WHOLE = Annotated[int, Field(ge=0, lt=10**12)]

ROUTES = [
    route(
        "/v1/{space_id}/changes",
        get_changes,
        "GET",
        Access.LENIENT_READ,
        gives=Gives(list[Wire], is_paged=True, raw=(EVENTS,)),
        parameters=(
            Parameter("cursor", str, "`next_cursor` of the page before, or the `id` of an event"),
            Parameter("after", str, "a sequence to begin behind, or `now`; from the beginning when left out"),
            Parameter("limit", _WHOLE, f"1 to {MOST_CHANGES}, {MOST_CHANGES} when left out; the nearer end counts"),
            Parameter("wait", _WHOLE, f"seconds to wait for a change when there is none, at most {_LONGEST_WAIT_S}"),
            Parameter("Last-Event-ID", str, "the `id` of the last event a follower has", where="header"),
        ),
        refuses={403: "a caller who may not read history, or a foreign Host or site"},
        summary="What was committed, in order: pages to ask for, or events to follow",
        group="Memory",
    ),
]
