"""What a service method may refuse with, in the caller's terms; doors turn each into their own answer once."""

from __future__ import annotations

from typing import Any


class ServiceFailure(Exception):
    """Base: `message` is plain text for the caller, `data` an optional JSON value beside it."""

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class InvalidInput(ServiceFailure):
    """The request cannot be carried out as written; nothing happened."""


class Busy(ServiceFailure):
    """Another pass of this Space is at work; try again later."""


class OverTier(ServiceFailure):
    """The Space is over the size its tier allows."""


class SpaceNotFound(ServiceFailure):
    """No such Space, or none the caller may know of."""


class SpaceUnreadable(ServiceFailure):
    """What stands in the Space's place is none this release can read; the message says why."""


class NotFound(ServiceFailure):
    """No such thing in this Space."""


class Conflict(ServiceFailure):
    """What is asked for stands against something that is there, such as another request under the same key."""


class SpaceTaken(ServiceFailure):
    """A Space of this id is already there."""


class Unavailable(ServiceFailure):
    """The service cannot answer just now; the same request may be sent again after `after_s` seconds."""

    def __init__(self, message: str, *, after_s: int = 1) -> None:
        super().__init__(message)
        self.after_s = after_s
