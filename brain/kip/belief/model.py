"""What belief is computed from and what comes out, as values: claims, candidates, slots, and their verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from brain.kip.belief.intervals import Interval, Standing, WrittenTime
from brain.kip.belief.policies import RuleName
from brain.kip.schema import PredicateType
from brain.store.base import ElementId, Json
from brain.times import Timestamp


class Status(StrEnum):
    """The five belief statuses (§21.3)."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CONTESTED = "contested"
    UNCERTAIN = "uncertain"
    INSUFFICIENT = "insufficient"


Leading: TypeAlias = Literal["support", "opposition", "none"]


class Currency(StrEnum):
    """Dependency validity (§57.6), best first."""

    CURRENT = "current"
    NEEDS_REVIEW = "needs_review"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class Dependency:
    """Whether the premises of a derivation still stand; `reasons` is empty when it is current."""

    currency: Currency
    reasons: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        return self.currency is Currency.CURRENT


@dataclass(frozen=True, slots=True)
class Claim:
    """One Assertion as projection reads it, references resolved through merges.

    label       what the claim is about: the label of its Proposition's object
    evidence    ids it cites in support
    roots       provenance roots (§23.3); empty when its provenance leads nowhere
    is_derived  its mass comes from upstream: an inference, or a claim that cites only derived Evidence
    excluded    why it takes no part at all, None when it is eligible
    dependency  set on inferred claims
    """

    id: ElementId
    proposition: ElementId
    label: str
    actor: ElementId
    contexts: frozenset[ElementId]
    stance: str
    mode: str
    confidence: float | None
    time: WrittenTime
    evidence: tuple[ElementId, ...]
    roots: frozenset[str]
    is_derived: bool
    excluded: str | None
    dependency: Dependency | None

    @property
    def is_verified(self) -> bool:
        """Whether it may make a value accepted: anything but a derivation that is not current."""
        return self.dependency is None or self.dependency.is_current

    @property
    def takes_part(self) -> bool:
        """Whether it lies on succession lines: an account of what was witnessed, or one that writes its start."""
        return self.mode in ("stated", "observed") or self.time.is_written


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value of a slot with everything ever claimed of it.

    label         identity of the value; Propositions made equal by a merge are one candidate
    object        `{"id": …}` of the resolved Concept, or the Literal
    propositions  stored Propositions by ascending number; empty when none is stored
    partition     candidates of one partition exclude each other; a value nothing excludes is a partition of its own
    """

    label: str
    object: Json
    propositions: tuple[ElementId, ...]
    partition: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """A subject and a Predicate with the candidates that were asked for, or all of them."""

    subject: ElementId
    predicate: PredicateType
    candidates: tuple[Candidate, ...]


def by_partition(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    """Candidates that can exclude each other, together."""
    partitions: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        partitions[candidate.partition].append(candidate)
    return partitions


@dataclass(frozen=True, slots=True)
class Timed:
    """An eligible claim with its effective interval (§25.4) and where the asked instant lies against it.

    ended_by   the claims whose start ends this one, when succession ended it
    """

    claim: Claim
    interval: Interval
    standing: Standing
    ended_by: tuple[ElementId, ...] = ()


@dataclass(frozen=True, slots=True)
class RootGroup:
    """Claims of one side that are one voice (§23.4)."""

    claims: tuple[Claim, ...]
    roots: frozenset[str]
    contribution: float


@dataclass(frozen=True, slots=True)
class Side:
    """Support or opposition of one candidate at the asked instant.

    groups  independent voices
    weak    claims whose provenance has no root outside of itself
    score   None under a structural policy
    """

    groups: tuple[RootGroup, ...]
    weak: tuple[Claim, ...]
    score: float | None

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for group in self.groups for claim in group.claims) + self.weak


@dataclass(frozen=True, slots=True)
class Precedence:
    """The rule that settled a conflict for one candidate; labels of the others."""

    rule: RuleName
    prevailed_over: tuple[str, ...] = ()
    outranked_by: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a policy makes of one candidate.

    at           the instant asked for
    local        from its own claims alone
    status       final, rivals and derivations considered
    conflicts    labels of the rivals that decided against accepting it
    indeterminate_rivals  labels of the values that may hold instead, which is not enough to contest it
    derivation   the worst dependency the status rests on, None when no inference matters
    timed        all eligible claims with their standing
    """

    at: Timestamp
    candidate: Candidate
    local: Status
    status: Status
    slot_status: Status
    leading: Leading
    support: Side
    opposition: Side
    conflicts: tuple[str, ...]
    indeterminate_rivals: tuple[str, ...]
    conflict_reasons: tuple[str, ...]
    uncertainty: tuple[str, ...]
    precedence: Precedence | None
    derivation: Dependency | None
    timed: tuple[Timed, ...]
    next_invalid_at: Timestamp | None
