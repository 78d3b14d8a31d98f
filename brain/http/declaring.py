"""What a route states of itself, beside its handler: what it takes, what it gives, and in which words.

The document at `/openapi.json` is made of these and of nothing else, so they name the very types the handlers read and
the service answers with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

JSON, CBOR, MARKDOWN, TEXT = "application/json", "application/cbor", "text/markdown", "text/plain"

EVERY_FORM = (JSON, CBOR, MARKDOWN)
"""What an answer that follows `Accept` may be."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query, or a header.

    type  what it may be, as an annotation
    """

    name: str
    type: Any
    description: str
    where: Literal["query", "header"] = "query"
    required: bool = False


@dataclass(frozen=True, slots=True)
class Takes:
    """A body.

    model  its type: a pydantic model, or None for bytes
    text   what a body that is bare text stands for, where one is taken
    raw    content types of bodies that are bytes, beside the model's
    """

    model: Any
    text: str | None = None
    raw: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True, slots=True)
class Gives:
    """The body of a success.

    body          its type; None where there is none but bytes
    is_enveloped  whether it comes as `{"result": …}`
    is_paged      whether `next_cursor` may come with it
    forms         content types it comes in, by what the caller accepts
    raw           content types whose body is text or bytes of their own
    statuses      statuses it comes with, and what each means
    """

    body: Any
    is_enveloped: bool = True
    is_paged: bool = False
    forms: tuple[str, ...] = EVERY_FORM
    raw: tuple[str, ...] = ()
    statuses: Mapping[int, str] = field(default_factory=lambda: {200: "what was asked for"})


def paged(row: Any) -> Gives:
    """A list of rows in the ordinary envelope, with the cursor of the next page."""
    return Gives(list[row], is_paged=True)


def bare(body: Any) -> Gives:
    """A body without an envelope."""
    return Gives(body, is_enveloped=False)


def json_only(body: Any, **more: Any) -> Gives:
    """A body without an envelope that is JSON whatever was accepted."""
    return Gives(body, is_enveloped=False, forms=(JSON,), **more)


def raw(*kinds: str) -> Gives:
    """Bytes or text of these content types."""
    return Gives(None, is_enveloped=False, forms=(), raw=kinds)


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything a route states.

    group       the chapter of the manual it belongs to
    summary     one line; empty on a route that says nothing of itself, which the tests refuse
    refuses     statuses beside those every such route has, and what each means
    asks_model  whether it takes one of the places of requests that lead to a model
    """

    takes: Takes | None = None
    gives: Gives | None = None
    group: str = ""
    summary: str = ""
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    refuses: Mapping[int, str] = field(default_factory=dict)
    asks_model: bool = False
