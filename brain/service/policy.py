"""The memory policy of a Space: what its managers set about how it keeps and answers (API §7, BR-CONF-026 to 029).

A policy is replaced whole. It is kept in the Space's record as it was given, so that a default that changes later holds
for everybody who never chose; `policy_of` completes it with the defaults when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictFloat, StrictInt

from brain.agents.jobs import Attribution
from brain.service.records import record_of
from brain.service.spaces import OpenSpace
from brain.store.base import Document

_MEMBER = "memory_policy"
"""Of the Space's record."""

_Days = Annotated[StrictInt, Field(ge=1, le=365)]
_Target = Annotated[StrictInt, Field(ge=1, le=10_000)]
_Share = Annotated[StrictInt | StrictFloat, Field(ge=0, le=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class RecallCeilings(_Part):
    """What an enforced recall budget may come to at most; members left out are the defaults of a budget."""

    tokenizer: Literal["o200k_base@tiktoken-rs-0.12", "o200k_base@tiktoken-rs-0.12.0"] | None = None
    max_tokens: Annotated[StrictInt, Field(ge=1, le=65_536)] | None = None
    context_tokens: Annotated[StrictInt, Field(ge=1, le=131_072)] | None = None


class MemoryPolicy(_Part):
    """A policy as it comes in; what is left out, or null, is the default.

    memory_attribution  whom a claim may name as its speaker here, in place of the service's setting

    The last five are checked and kept, since policies that hold them are around, and nothing reads them.
    """

    version: Annotated[StrictInt, Field(ge=0, le=1_000_000)] | None = None
    stale_event_threshold_days: _Days | None = None
    unconsolidated_max_backlog: _Target | None = Field(
        default=None, validation_alias=AliasChoices("unconsolidated_max_backlog", "unsorted_max_backlog")
    )
    orphan_max_count: _Target | None = None
    self_test_queries_per_cycle: Annotated[StrictInt, Field(ge=0, le=100)] | None = None
    self_test_token_budget: Annotated[StrictInt, Field(ge=0, le=10_000_000)] | None = None
    recall_max_rounds: Annotated[StrictInt, Field(ge=1, le=50)] | None = None
    recall_budget: RecallCeilings | None = None
    shadow_replay_sample: Annotated[StrictInt, Field(ge=0, le=16)] | None = None
    memory_attribution: Attribution | None = None
    memory_strength_decay_factor: Annotated[StrictInt | StrictFloat, Field(gt=0, le=1)] | None = None
    decay_floor: _Share | None = None
    recall_reinforcement: _Share | None = None
    correction_penalty: _Share | None = None
    recall_search_threshold: _Share | None = None

    def to_record(self) -> Document:
        """What is kept: the members that were given."""
        return self.model_dump(exclude_none=True)


@dataclass(frozen=True, slots=True)
class Effective:
    """A policy completed with the defaults.

    recall_budget       ceilings every recall keeps, as they were given; None for none
    memory_attribution  None where the service's setting holds
    """

    stale_event_threshold_days: int = 7
    unconsolidated_max_backlog: int = 20
    orphan_max_count: int = 20
    self_test_queries_per_cycle: int = 4
    self_test_token_budget: int = 20_000
    recall_max_rounds: int = 7
    recall_budget: Mapping[str, Any] | None = None
    shadow_replay_sample: int = 4
    memory_attribution: Attribution | None = None

    def cycle(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Targets of one maintenance cycle: those asked for, the policy's for the rest."""
        return {
            "stale_event_threshold_days": self.stale_event_threshold_days,
            "unconsolidated_max_backlog": self.unconsolidated_max_backlog,
            "orphan_max_count": self.orphan_max_count,
            **asked,
        }


def stored_policy(record: Mapping[str, Any]) -> Document | None:
    """The policy of a Space's record as it was given; None for one that keeps to the defaults."""
    return cast("Document | None", record.get(_MEMBER))


def policy_of(record: Mapping[str, Any]) -> Effective:
    """What holds in a Space of this record."""
    stored = stored_policy(record) or {}
    known = Effective.__dataclass_fields__
    return Effective(**{name: value for name, value in stored.items() if name in known})


def policy_in(space: OpenSpace) -> Effective:
    """What holds in a Space just now."""
    with space.state() as now:
        return policy_of(record_of(now))
