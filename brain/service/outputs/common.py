"""What several shapes are made of, and refusals."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Milliseconds = Annotated[int, Field(ge=0, description="milliseconds since 1970, UTC")]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, description="a share; 1 is all")]

Wire = dict[str, Any]
"""An object whose members another document describes: the KIP specification, or a report's own section."""


class Usage(TypedDict):
    """Tokens and requests of a run; null where the provider did not report them, which is not none."""

    input_tokens: Count | None
    output_tokens: Count | None
    cached_tokens: Count | None
    requests: Count | None


class Fault(TypedDict):
    message: Annotated[str, Field(description="what is wrong, and what to do where the caller can")]
    data: NotRequired[Any]


class Refusal(TypedDict):
    """What every error is, whatever was accepted."""

    error: Fault
