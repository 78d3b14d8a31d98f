"""The shapes that go in and come out, as types. Answers are plain objects of these shapes, as the service sent them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from brain.client.pages import Change, Page
from brain.service.outputs.conversations import Conversation, ConversationDelta
from brain.service.outputs.memory import (
    AgentOutput,
    AttentionRecall,
    Concept,
    ForgetReport,
    KipResponse,
    PacketOutput,
    PinOutput,
    ProbeOutput,
    Promoted,
    RecallOutput,
    Remembered,
    SchemaDrafts,
)
from brain.service.outputs.operating import Alive, Ready
from brain.service.outputs.spaces import (
    ClosedSpace,
    DeletedSpace,
    FlushedSpace,
    FormationStatus,
    ImportedSpace,
    KeptOpen,
    MemoryStatus,
    ModelConfig,
    ServiceInfo,
    SpaceInfo,
    Tier,
    Token,
)

Collection = Literal["formation", "recall", "maintenance"]
Scope = Literal["read", "write", "*"]


class Message(TypedDict):
    """One message; `timestamp` is milliseconds since 1970, or RFC 3339 with the speaker's own offset."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[Any]
    name: NotRequired[str]
    timestamp: NotRequired[int | str]


class Context(TypedDict, total=False):
    """Who and what a request is about."""

    counterparty: str
    agent: str
    source: str
    topic: str


class Source(TypedDict):
    """What claims of `execute_kip` may cite."""

    content: str
    observed_at: NotRequired[str]


class Budget(TypedDict, total=False):
    """Tokens of an answer, and of what its model is sent."""

    tokenizer: str
    max_tokens: int
    context_tokens: int


class OwnModel(TypedDict):
    """A Space's own model, as it is set."""

    family: str
    model: str
    api_base: NotRequired[str | None]
    api_key: NotRequired[str | None]
    disabled: NotRequired[bool]
    label: NotRequired[str]
    effort: NotRequired[Literal["minimal", "low", "medium", "high", "max"]]
    bearer_auth: NotRequired[bool]
    stream: NotRequired[bool]
    context_window: NotRequired[int]
    max_output: NotRequired[int]


__all__ = [
    "AgentOutput",
    "Alive",
    "AttentionRecall",
    "Budget",
    "Change",
    "ClosedSpace",
    "Collection",
    "Concept",
    "Context",
    "Conversation",
    "ConversationDelta",
    "DeletedSpace",
    "FlushedSpace",
    "ForgetReport",
    "FormationStatus",
    "ImportedSpace",
    "KeptOpen",
    "KipResponse",
    "MemoryStatus",
    "Message",
    "ModelConfig",
    "OwnModel",
    "PacketOutput",
    "Page",
    "PinOutput",
    "ProbeOutput",
    "Promoted",
    "Ready",
    "RecallOutput",
    "Remembered",
    "SchemaDrafts",
    "Scope",
    "ServiceInfo",
    "Source",
    "SpaceInfo",
    "Tier",
    "Token",
]
