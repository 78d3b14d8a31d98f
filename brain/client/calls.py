"""A request as a value: what is sent, what the answer means, and whether it may be sent again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

import httpx

from brain.client import errors
from brain.client.pages import Page

T = TypeVar("T")

_ARCHIVE = "application/gzip"
_SPACE_ID = re.compile(r"[a-z0-9_]{1,64}")


class Repeat(Enum):
    """When a request that came to nothing may be sent again.

    ALWAYS   it changes nothing, changes nothing twice, or has a key
    REFUSED  only when the service said that it did nothing and when to come again: it costs a model to do twice
    NEVER    it would be done twice
    """

    ALWAYS = "always"
    REFUSED = "refused"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request.

    route    method and path as the service states them, `POST /v1/{space_id}/probe`
    places   what stands in the path
    read     what a success means
    seconds  to wait for the answer; None for the client's own
    also     statuses that are answers, beside those of success
    content  bytes that are sent as they are, in place of a body
    """

    route: str
    read: Callable[[httpx.Response], T]
    places: Mapping[str, str | int] = field(default_factory=dict)
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    repeat: Repeat = Repeat.NEVER
    seconds: float | None = None
    also: frozenset[int] = frozenset()
    content: bytes | None = None

    def sent_as(self) -> dict[str, Any]:
        """What goes with method and path, as httpx takes it."""
        sent: dict[str, Any] = {"params": dict(self.query)}
        if self.content is not None:
            return {**sent, "content": self.content, "headers": {"content-type": _ARCHIVE}}
        return sent if self.body is None else {**sent, "json": self.body}

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """ValueError for what is no Space id: an address is never made of what could lead elsewhere."""
        for name, value in self.places.items():
            if name == "space_id" and not (isinstance(value, str) and _SPACE_ID.fullmatch(value)):
                raise ValueError(f"{value!r} is no Space id: 1 to 64 lower-case letters, digits and underscores")
            if name != "space_id" and not isinstance(value, int):
                raise ValueError(f"{name} must be a whole number")
        return self.route.partition(" ")[2].format_map({name: str(value) for name, value in self.places.items()})


# --- what a success means ---------------------------------------------------------------------------------------------


def result(response: httpx.Response) -> Any:
    """What the ordinary envelope carries."""
    return _member(response, "result")


def page(response: httpx.Response) -> Page[Any]:
    """Rows and the cursor of the next page."""
    return Page(_member(response, "result"), response.json().get("next_cursor"))


def bare(response: httpx.Response) -> Any:
    """A body without an envelope."""
    return response.json()


def kip(response: httpx.Response) -> Any:
    """A KIP response, unless nothing of the request was done and it may be sent again: Busy then.

    What ran out of its own time would do so again, and is left to the caller.
    """
    body = response.json()
    faults = [told.get("error") for told in body["results"] or (body,)]
    if body["status"] == "failed" and all(fault is not None and _passes(fault) for fault in faults):
        raise errors.Busy(
            faults[0]["message"],
            after_s=max(fault["retry"].get("after_ms", 0) for fault in faults) / 1000,
            status=response.status_code,
            data=faults[0],
            request_id=response.headers.get("x-request-id"),
        )
    return body


def _passes(fault: Mapping[str, Any]) -> bool:
    is_safe: bool = fault.get("retry", {}).get("class") == "safe_same_request"
    return is_safe and fault["code"] != "ExecutionTimeout"


def text(response: httpx.Response) -> str:
    """A body that is text."""
    return response.text


def data(response: httpx.Response) -> bytes:
    """A body that is bytes."""
    return response.content


def _member(response: httpx.Response, name: str) -> Any:
    body = response.json()
    if not isinstance(body, dict) or name not in body:
        raise ValueError(name)
    return body[name]


# --- what an answer is ------------------------------------------------------------------------------------------------

_CLASSES: Mapping[int, type[errors.Refused]] = {
    401: errors.NotAuthenticated,
    403: errors.AccessClosed,
    404: errors.NotFound,
    409: errors.Conflict,
    429: errors.Busy,
    503: errors.Busy,
}


def answer_of(call: Call[T], response: httpx.Response) -> T:
    """The value of an answer.

    raises  the Refused it is
    """
    if response.is_success or response.status_code in call.also:
        try:
            return call.read(response)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise errors.UnexpectedAnswer(
                f"{call.route} was answered with something else than this service sends",
                status=response.status_code,
                request_id=response.headers.get("x-request-id"),
            ) from None
    raise failure_of(response)


def failure_of(response: httpx.Response) -> errors.Refused:
    """The error an answer is."""
    status = response.status_code
    message, about = _said(response)
    more: dict[str, Any] = {"status": status, "data": about, "request_id": response.headers.get("x-request-id")}
    kind = _CLASSES.get(status)
    if kind is errors.Busy:
        return errors.Busy(message, after_s=_after(response), **more)
    if kind is None:
        # Whoever redirects is not this service, and would get the token.
        other = errors.InvalidRequest if status >= 400 else errors.UnexpectedAnswer
        kind = errors.ServiceFailed if status >= 500 else other
    return kind(message, **more)


def _said(response: httpx.Response) -> tuple[str, Any]:
    """The message of an error, and what stood beside it; in the service's shape or in any other."""
    try:
        error = response.json()["error"]
        return str(error["message"]), error.get("data")
    except (ValueError, KeyError, TypeError, AttributeError):
        said = response.text.strip()[:200]
        return f"the service answered {response.status_code}" + (f": {said}" if said else ""), None


def _after(response: httpx.Response) -> float | None:
    """Seconds of `Retry-After`; None where it is missing or a date."""
    given = response.headers.get("retry-after", "")
    return float(given) if given.isascii() and given.isdigit() and len(given) < 7 else None


def kip_result(response: Mapping[str, Any]) -> Any:
    """The result of a KIP response's one operation; KipFailed when it, or the request as a whole, was refused.

    A KIP answer has two levels: what became of the request, and what became of each of its operations.
    """
    results = list(response.get("results") or ())
    for told in (response, *results):
        if told.get("error") is not None:
            raise errors.KipFailed(told["error"])
    return results[0]["result"]
