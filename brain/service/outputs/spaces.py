"""The service and its Spaces: figures, tokens, models, what became of them."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from brain.service.outputs.common import Count, Milliseconds, Share, Usage, Wire


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
