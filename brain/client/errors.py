"""What can go wrong for a client, each its own class; all of them are `BrainError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class BrainError(Exception):
    """Base of all. `message` is text for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConnectionLost(BrainError):
    """No answer came: the service was not reached, or the connection ended. What was asked may have been done."""


class Refused(BrainError):
    """The service answered with an error.

    status      of the answer
    data        what it said beside the message: for errors of memory itself the KIP error object
    request_id  leads to the service's log
    """

    def __init__(self, message: str, *, status: int, data: Any = None, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.data = data
        self.request_id = request_id

    @property
    def code(self) -> str | None:
        """The KIP error code, where there is one."""
        return self.data.get("code") if isinstance(self.data, Mapping) else None


class InvalidRequest(Refused):
    """The request as written cannot be carried out; nothing happened. Of a document, `faults` says what is wrong."""

    @property
    def faults(self) -> list[Mapping[str, Any]]:
        """Each `{at, problem, remedy, choices?}`; empty for other requests."""
        found = self.data.get("faults") if isinstance(self.data, Mapping) else None
        return list(found or ())


class NotAuthenticated(Refused):
    """No credential that is good here; also a Space that is not there or another's."""


class AccessClosed(Refused):
    """A good credential on a route that is closed to its kind, or a foreign Host or site."""


class NotFound(Refused):
    """No such Space, or no such route in the service that answered."""


class Conflict(Refused):
    """The key stands for another request."""


class Busy(Refused):
    """Too much at a time, or the store cannot be used just now: nothing was done; `after_s` says when to come again."""

    def __init__(self, message: str, *, after_s: float | None = None, **more: Any) -> None:
        super().__init__(message, **more)
        self.after_s = after_s


class ServiceFailed(Refused):
    """A defect of the service, or of what stands before it."""


class UnexpectedAnswer(Refused):
    """An answer that is none of this service's, such as a proxy's page."""


class KipFailed(BrainError):
    """A KIP operation, or a whole request, was refused inside an answer that came well.

    code   of the registry, such as `NotAuthorized`
    hint   how to put it right
    retry  the class of retry: `safe_same_request`, `requires_refresh`, …
    error  the whole error object
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.error = error
        self.code: str = error["code"]
        self.hint: str = error.get("hint", "")
        self.retry: str = error.get("retry", {}).get("class", "")


class RunFailed(BrainError):
    """A run of an agent ended as failed or cancelled; `conversation` is its record."""

    def __init__(self, conversation: Mapping[str, Any]) -> None:
        reason = conversation.get("failed_reason") or "no reason was given"
        super().__init__(f"conversation {conversation['_id']} ended as {conversation['status']}: {reason}")
        self.conversation = conversation


class NotInTime(BrainError):
    """A run had not ended when the client stopped waiting; it goes on."""
