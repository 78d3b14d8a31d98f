"""What a Space remembers: answers, packets, probes, elements."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from brain.service.outputs.common import Count, Usage, Wire


class AgentOutput(TypedDict):
    """A run that was started, or an answer in words."""

    content: str
    conversation: Count
    usage: Usage
    model: str
    failed_reason: NotRequired[str]


class MemoryCitation(TypedDict):
    """An element an answer rests on, or a hit of a search."""

    entity: Annotated[str, Field(description="id of the element")]
    type: NotRequired[str]
    name: NotRequired[str]
    confidence: NotRequired[Annotated[float, Field(ge=0, le=1)]]
    source: NotRequired[Annotated[str, Field(description="who claims or said it")]]
    created_at: NotRequired[str]


class BudgetReceipt(TypedDict):
    """How a packet was counted."""

    tokenizer: str
    token_limit: Annotated[int, Field(ge=1)]
    tokens: Annotated[int, Field(ge=0)]
    context_token_limit: Annotated[int, Field(ge=1)]


class PacketOutput(TypedDict):
    """A packet as an object; written as compact JSON in this order of members it has exactly the tokens stated.

    packet  null when not even an empty one fits
    found   whether anything was delivered but warnings; no proof that it answers the question
    """

    packet: dict[str, Any] | None
    found: bool
    memory_budget: BudgetReceipt
    failed_reason: NotRequired[str]


class RecallOutput(TypedDict):
    """An answer with what it rests on; `memories` comes from what was read, never from a model's words.

    memory_budget  of an answer that is a packet
    """

    answer: str
    found: bool
    conversation: Count
    usage: Usage
    model: str
    uncertainty: NotRequired[Annotated[float, Field(ge=0, le=1)]]
    memories: NotRequired[list[MemoryCitation]]
    failed_reason: NotRequired[str]
    memory_budget: NotRequired[BudgetReceipt]


class ProbeOutput(TypedDict):
    """What a search found; `found: false` is a search result, never a no."""

    found: bool
    negative_cached: bool
    search_exhaustive: bool
    hits: NotRequired[list[MemoryCitation]]


class PinOutput(TypedDict):
    entity: str
    pinned: bool
    updated: Annotated[int, Field(ge=0, le=1)]


class ForgottenEntity(TypedDict):
    entity: str
    existed: bool
    error: NotRequired[str]


class ForgetReport(TypedDict):
    """What was purged, or would be by the same request without `dry_run`."""

    dry_run: bool
    deleted_concepts: Count
    deleted_propositions: Count
    deleted_assertions: Count
    deleted_evidence: Count
    deleted_activities: Count
    entities: list[ForgottenEntity]


class AttentionItem(TypedDict):
    ref: str
    kind: Literal["watch_fired", "commitment_due"]
    summary: str
    raised_seq: Count
    target_refs: list[str]
    due_at: NotRequired[str]
    priority: NotRequired[Any]


class AttentionRecall(TypedDict):
    items: list[AttentionItem]
    attention_cursor: str
    complete: bool


class DraftSymbol(TypedDict):
    kind: Literal["ConceptType", "PredicateType"]
    name: str
    ref: str
    definition: Wire
    promoted_to: NotRequired[str]


class SchemaDrafts(TypedDict):
    """The words a Space made for itself."""

    package_ref: str
    schema_environment_version: Count
    symbols: list[DraftSymbol]


class Promoted(TypedDict):
    promoted: str
    to: str
    schema_environment_version: Count


class Concept(TypedDict):
    """A Concept as KIP shows it (§12), which names every member it can have."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    id: str
    kind: Literal["concept"]
    schema_ref: str
    key: NotRequired[str | None]
    name: NotRequired[str | None]
    attributes: NotRequired[Wire]


class KipResponse(TypedDict):
    """The KIP 2.0 response envelope (§81 to §83); each of `results` has a `status` of its own."""

    kip: Literal["2.0"]
    request_id: NotRequired[str]
    status: Literal["succeeded", "partial", "failed", "outcome_unknown"]
    execution: NotRequired[Wire]
    results: list[Wire]
    context: NotRequired[Wire]
    snapshot: Wire | None
    receipt: Wire | None
    warnings: list[Any]
    error: NotRequired[Wire]


class Remembered(TypedDict):
    """What a document came to; the same whenever it is asked for under its key.

    wrote    elements that are new or changed, Evidence among them
    ids      of things that are new, by their names
    notes    what it did to what was known
    defined  exact references of words that were drafted for it
    receipt  of the one transaction
    """

    conversation: Annotated[int, Field(ge=1)]
    wrote: Count
    ids: dict[str, str]
    notes: list[str]
    defined: list[str]
    receipt: Wire
