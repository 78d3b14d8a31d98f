"""What the gate knows of a pass: who spoke, what was captured, what may be touched. The host says so, never a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from brain.store.base import ElementId
from brain.times import Timestamp

Attribution = Literal["speaker", "named", "open"]
ChangeKind = Literal["world_change", "misrecorded", "unspecified"]

PERSON = "Person"


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who said a message, as resolved before the model ran.

    id    the Concept, None while memory does not hold it
    key   its key among Persons: how a speaker that is stored only with the first claim is known again
    name  what the message or the host calls them
    """

    id: ElementId | None
    key: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Captured:
    """A message the host captures as Evidence in every write transaction of the pass.

    binding      the parameter it is bound to, `msg3`
    client_key   the Evidence's client key
    observed_at  its observation time, which its claims have to carry
    """

    binding: str
    client_key: str
    speaker: Speaker
    observed_at: Timestamp
    text: str


@dataclass(frozen=True, slots=True)
class FormationFacts:
    """A Formation pass.

    contexts     the scope every claim of the pass must carry; None when the source has none
    change_kind  what a `revise` said it is, None in ordinary passes
    original     in a `misrecorded` pass: the Evidence whose recording is being repaired, with its observation time
    """

    self_id: ElementId
    attribution: Attribution
    captured: tuple[Captured, ...]
    contexts: frozenset[ElementId] | None = None
    change_kind: ChangeKind | None = None
    original: tuple[ElementId, Timestamp] | None = None


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A SleepTask in hand: the version it was leased at and until when."""

    version: int
    expires_at: Timestamp


@dataclass(frozen=True, slots=True)
class MaintenanceFacts:
    """A maintenance cycle.

    targets  elements the host's assessment of this cycle names for archiving or tombstoning
    leases   SleepTasks under a live lease of this cycle
    """

    self_id: ElementId
    targets: frozenset[ElementId] = frozenset()
    leases: Mapping[ElementId, HeldLease] = field(default_factory=dict)
