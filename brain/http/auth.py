"""Who calls: the credential of a request becomes a `Caller` here, before a handler runs.

Routes are made by `route`, which states what each asks of its caller, takes and gives; a handler asks `caller_of` and
never looks at headers itself. Whether a credential is good is not decided here but in `brain/service/access.py`, for
every door.
"""

from __future__ import annotations

import functools
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
from anyio.to_thread import run_sync
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from brain.auth.credentials import AuthenticationFailed, NotAdmitted
from brain.http.declaring import Declaration, Gives, Parameter, Takes
from brain.service.access import Access, Doorkeeper
from brain.service.callers import Caller

Handler = Callable[[Request], Awaitable[Response]]

CHANNEL = "http"
_BEARER = "bearer "
_MOST_ADDRESSES = 4_096
_WINDOW_S = 60.0
_SHORT = 2_048
"""Characters of an ordinary credential."""

_REFUSAL_S = 0.1
"""When somebody is refused who had a Space looked for, so that the time does not tell whether there is one, which had
to be opened perhaps, or none."""


class TooManyFailures(Exception):
    """An address has failed to authenticate too often; it may try again after `after_s` seconds."""

    def __init__(self, after_s: int) -> None:
        super().__init__(after_s)
        self.after_s = after_s


class Failures:
    """Failed credentials by address, within a minute. Good credentials are never counted, and never refused."""

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._now = now
        self._failed: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def note(self, address: str) -> None:
        """One more; TooManyFailures from the first past the limit on."""
        now = self._now()
        since, count = self._failed.pop(address, (now, 0))
        if now - since >= _WINDOW_S:
            since, count = now, 0
        self._failed[address] = (since, count + 1)
        if len(self._failed) > _MOST_ADDRESSES:
            self._failed.popitem(last=False)
        if count >= self._most:
            raise TooManyFailures(max(1, round(_WINDOW_S - (now - since))))


def route(
    path: str,
    handler: Handler,
    method: str,
    access: Access,
    *,
    takes: Takes | type[BaseModel] | None = None,
    gives: Any = None,
    summary: str = "",
    description: str = "",
    group: str = "",
    parameters: Sequence[Parameter] = (),
    refuses: Mapping[int, str] | None = None,
    asks_model: bool = False,
) -> Route:
    """A route that admits its caller before its handler runs, and states what it is for `/openapi.json`.

    takes    the model of its body, which is the one its handler has to read; None for no body
    gives    what its success carries: a type, which comes as `{"result": …}`, or a `Gives`
    others   as in `Declaration`
    """
    declared = Declaration(
        takes=takes if takes is None or isinstance(takes, Takes) else Takes(takes),
        gives=gives if gives is None or isinstance(gives, Gives) else Gives(gives),
        group=group,
        summary=summary,
        description=description,
        parameters=tuple(parameters),
        refuses=dict(refuses or {}),
        asks_model=asks_model,
    )

    @functools.wraps(handler)
    async def guarded(request: Request) -> Response:
        request.state.caller = await _admitted(request, access)
        request.state.declared, request.state.access = declared, access
        return await handler(request)

    guarded.access = access  # type: ignore[attr-defined]
    guarded.path = path  # type: ignore[attr-defined]
    guarded.declared = declared  # type: ignore[attr-defined]
    return Route(path, guarded, methods=[method])


def declaration_of(served: Route) -> Declaration:
    """What a route states of itself."""
    found: Declaration = getattr(served.endpoint, "declared", Declaration())
    return found


def access_of(served: Route) -> Access | None:
    """What a route asks of its caller; None for a route that was not made by `route`."""
    found: Access | None = getattr(served.endpoint, "access", None)
    return found


def caller_of(request: Request) -> Caller:
    """The caller of a request."""
    caller: Caller = request.state.caller
    return caller


def _credential_of(request: Request) -> str | None:
    """The text after `Bearer`, or None; AuthenticationFailed for two headers, of which others might read the other."""
    headers = request.headers.getlist("authorization")
    if len(headers) > 1:
        raise AuthenticationFailed
    header = headers[0] if headers else ""
    return header[len(_BEARER) :].strip() if header[: len(_BEARER)].lower() == _BEARER else None


async def admitted_again(request: Request) -> Caller:
    """The caller of a request that lasts, looked at anew: its token may have ended, or the Space be public no more.

    raises  AuthenticationFailed, AccessClosed
    """
    return await _admitted(request, request.state.access)


async def _admitted(request: Request, access: Access) -> Caller:
    doorkeeper: Doorkeeper = request.app.state.doorkeeper
    request_id = request.scope.get("state", {}).get("request_id")
    space_id = request.path_params.get("space_id")

    def admit(credential: str | None) -> Caller:
        return doorkeeper.admit(access, space_id, credential, channel=CHANNEL, request_id=request_id)

    if not doorkeeper.is_on or access is Access.OPEN:
        return admit(None)
    asked_at = anyio.current_time()
    try:
        credential = _credential_of(request)
        if len(credential or "") <= _SHORT and not doorkeeper.reads_a_space(access, space_id, credential):
            return admit(credential)  # a signature is verified sooner than a thread is woken
        return await run_sync(admit, credential)
    except AuthenticationFailed as failed:
        if isinstance(failed, NotAdmitted):
            await anyio.sleep_until(asked_at + _REFUSAL_S)
        failures: Failures = request.app.state.auth_failures
        failures.note(request.client.host if request.client else "")
        raise
