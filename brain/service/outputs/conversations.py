"""Runs of agents."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from brain.service.outputs.common import Count, Milliseconds, Usage, Wire

RunStatus = Literal["submitted", "working", "completed", "failed", "cancelled"]

_Id = Annotated[int, Field(ge=1, description="number of the conversation within its collection")]


class Conversation(TypedDict):
    _id: _Id
    user: str
    label: Literal["formation", "recall", "maintenance"]
    messages: list[Wire]
    resources: list[Wire]
    artifacts: list[Wire]
    status: RunStatus
    period: Count
    created_at: Milliseconds
    updated_at: Milliseconds
    usage: Usage
    model: NotRequired[str]
    failed_reason: NotRequired[str]
    extra: NotRequired[Wire]


"""A run of an agent: what was said, and how it ended."""


class ConversationDelta(TypedDict):
    _id: _Id
    messages: list[Wire]
    artifacts: list[Wire]
    status: RunStatus
    usage: Usage
    failed_reason: str | None
    updated_at: Milliseconds
    child: None


"""What a run has added since a caller's offsets."""
