"""What goes out through a door, as types: the shapes of API §7, from which the service's own description is made.

Members that may be missing are `NotRequired`: what has no value is left out, and never null unless it says so.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field
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


# --- the service and its Spaces ---------------------------------------------------------------------------------------


class Budget(TypedDict):
    deadline_ms: Count
    max_output_tokens: Count


class SpaceRef(TypedDict):
    id: str


class InterfaceDescriptor(TypedDict):
    """What this service offers of the Memory Interface."""

    kip_memory: str
    bundles: list[str]
    tokenizer: str
    minimum_response_tokens: Count
    default_budget: Budget
    default_space: NotRequired[SpaceRef]


class ServiceInfo(TypedDict):
    name: str
    version: str
    sharding: Count
    description: str
    memory_interface: InterfaceDescriptor


class Tier(TypedDict):
    """How large a Space may become: `10 ** (tier + 2)` Concepts or conversations."""

    tier: Annotated[int, Field(ge=0, le=12)]
    updated_at: Milliseconds


class StoreCounts(TypedDict):
    """How many elements of each kind a Space holds, and the sequence of its last commit."""

    space_seq: Count
    concepts: Count
    propositions: Count
    assertions: Count
    evidence: Count
    activities: Count


class MaintenanceTimes(TypedDict):
    """When the last cycle of each scope started; 0 for never."""

    daydream: Milliseconds
    full: Milliseconds
    quick: Milliseconds
    start_at: Milliseconds


class SpaceInfo(TypedDict):
    id: str
    name: str | None
    description: str | None
    owner: str
    db_stats: StoreCounts
    concepts: Count
    propositions: Count
    conversations: Count
    public: bool
    tier: Tier
    formation_usage: Usage
    recall_usage: Usage
    maintenance_usage: Usage
    formation_processed_id: Count
    maintenance_processed_id: Count
    maintenance_at: MaintenanceTimes
    memory_policy: NotRequired[Wire]
    memory_interface: InterfaceDescriptor
    wiki_docs: Count
    wiki_chunks: Count
    wiki_versions: Count
    wiki_queries: Count
    wiki_digested: Count
    wiki_stale_docs: Count


class FormationStatus(TypedDict):
    id: str
    concepts: Count
    propositions: Count
    conversations: Count
    formation_processing: bool
    maintenance_processing: bool
    formation_processed_id: Count
    maintenance_processed_id: Count
    maintenance_at: MaintenanceTimes


class MemoryMetrics(TypedDict):
    """Counted as things happen."""

    recalls_completed: Count
    entities_recalled: Count
    probe_hits: Count
    probe_misses: Count
    negative_cache_hits: Count
    self_test_tested: Count
    self_test_grounded: Count
    reencode_tasks: Count
    corrections: Count
    uncertainty_reports: Count
    uncertainty_sum: Annotated[float, Field(ge=0)]
    forgotten_entities: Count
    updated_at: Milliseconds


class GraphCounters(TypedDict):
    concepts: Count
    propositions: Count


class MemoryStatus(TypedDict):
    """Metrics, rates where there is something to divide by, the newest reports."""

    metrics: MemoryMetrics
    graph: GraphCounters
    groundability: NotRequired[Share]
    probe_hit_rate: NotRequired[Share]
    correction_rate: NotRequired[Share]
    avg_uncertainty: NotRequired[Share]
    maintenance_tokens_per_recall: NotRequired[Annotated[float, Field(ge=0)]]
    last_settlement: NotRequired[Wire]
    last_self_test: NotRequired[Wire]
    last_shadow: NotRequired[Wire]
    last_schema_audit: NotRequired[Wire]


class Token(TypedDict):
    """A Space token's record; the whole `token` is shown once, when it is made, and later only its beginning."""

    token: str
    name: str
    scope: Literal["read", "write", "*"]
    usage: Count
    created_at: Milliseconds
    updated_at: Milliseconds
    expires_at: NotRequired[Milliseconds]
    labels: NotRequired[list[str]]


class ModelConfig(TypedDict):
    """A Space's own model; of its key only the beginning is told."""

    family: str
    model: str
    api_base: Annotated[str, Field(description="empty for the family's own address")]
    api_key: str
    disabled: bool
    label: NotRequired[str]
    effort: NotRequired[Literal["minimal", "low", "medium", "high", "max"]]
    bearer_auth: NotRequired[bool]
    stream: NotRequired[bool]
    context_window: NotRequired[Count]
    max_output: NotRequired[Count]


class FlushedSpace(TypedDict):
    space_seq: Annotated[int, Field(ge=0, description="the sequence up to which it is on the disk")]


class ClosedSpace(TypedDict):
    closed: Annotated[bool, Field(description="whether it was open in this process")]


class KeptOpen(TypedDict):
    kept_open: bool


class DeletedSpace(TypedDict):
    """What the store held of a Space before it was deleted, by kind, and what it holds now."""

    space_id: str
    instance: Annotated[str | None, Field(description="null when a deletion that was cut off was ended")]
    deleted_at: Milliseconds
    before: dict[str, Count]
    after: dict[str, Annotated[int, Field(ge=0, le=0)]]


class ArchivedSpace(TypedDict):
    """The Space an archive was made of."""

    space_id: str
    instance: str
    made_at: str


ImportedSpace = TypedDict(
    "ImportedSpace",
    {
        "space_id": str,
        "instance": str,
        "from": ArchivedSpace,
        "digest": Annotated[str, Field(description="of the rows, as the export told it")],
        "rows": Annotated[dict[str, Count], Field(description="how many of each sort")],
    },
)


# --- memory -----------------------------------------------------------------------------------------------------------


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


# --- conversations ----------------------------------------------------------------------------------------------------

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


# --- operators --------------------------------------------------------------------------------------------------------


class Alive(TypedDict):
    alive: Literal[True]


class Ready(TypedDict):
    """Whether requests should be sent, with every check."""

    ready: bool
    checks: Wire


# --- refusals ---------------------------------------------------------------------------------------------------------


class Fault(TypedDict):
    message: Annotated[str, Field(description="what is wrong, and what to do where the caller can")]
    data: NotRequired[Any]


class Refusal(TypedDict):
    """What every error is, whatever was accepted."""

    error: Fault
