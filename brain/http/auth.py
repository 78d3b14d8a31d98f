"""Who calls. Authentication is not part of this release: everybody is the same anonymous caller, and the service
therefore listens on loopback only unless told otherwise.

This is the one place a credential will become a `Caller`: routes ask `caller_of` and never look at headers themselves.
"""

from __future__ import annotations

from starlette.requests import Request

from brain.service.brain import Caller

ANONYMOUS = "anonymous"


def caller_of(request: Request) -> Caller:
    """The caller of a request."""
    return Caller(principal=ANONYMOUS, channel="http", request_id=request.scope.get("state", {}).get("request_id"))
