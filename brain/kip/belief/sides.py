"""One candidate on its own claims: two sides of independent voices, and what the policy decides from them (§21.10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from brain.kip.belief.intervals import Standing
from brain.kip.belief.model import Candidate, Claim, RootGroup, Side, Status, Timed
from brain.kip.belief.policies import Policy
from brain.kip.belief.roots import corroboration_groups

NOISE = 1e-9
"""Scores closer than this to a threshold have reached it: a boundary never rests on binary rounding."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One candidate before its rivals are considered.

    verified  support of claims that may make a value accepted
    local     the status of its own claims
    alone     `local`, held back to uncertain where only unverified derivations would make it accepted
    """

    candidate: Candidate
    timed: tuple[Timed, ...]
    support: Side
    opposition: Side
    verified: Side
    local: Status
    alone: Status

    @property
    def is_held_back(self) -> bool:
        return self.alone is not self.local

    @property
    def rests_on_uncertain_time(self) -> bool:
        """Whether nothing certain speaks for or against it, and something that may hold at the instant does (§25.5)."""
        if self.support.groups or self.opposition.groups:
            return False
        return any(t.standing is Standing.INDETERMINATE and t.claim.stance != "uncertain" for t in self.timed)

    def is_material(self, policy: Policy) -> bool:
        """Whether verified support is strong enough to stand against a rival (§21.11)."""
        if policy.thresholds is None or self.verified.score is None:
            return bool(self.verified.groups)
        return reaches(self.verified.score, policy.thresholds.material)


def weigh_candidate(policy: Policy, candidate: Candidate, timed: Sequence[Timed]) -> Weighed:
    inside = [t.claim for t in timed if t.standing is Standing.INSIDE]
    support = side(policy, [claim for claim in inside if claim.stance == "support"])
    proven = [claim for claim in support.claims if claim.is_verified]
    verified = support if len(proven) == len(support.claims) else side(policy, proven)
    opposition = side(policy, [claim for claim in inside if claim.stance == "reject"])
    has_material = any(t.standing is not Standing.OUTSIDE for t in timed)
    local = decide(policy, support, opposition, has_material=has_material)
    alone = local
    if local is Status.ACCEPTED and decide(policy, verified, opposition, has_material=True) is not Status.ACCEPTED:
        alone = Status.UNCERTAIN
    return Weighed(candidate, tuple(timed), support, opposition, verified, local, alone)


def side(policy: Policy, claims: Sequence[Claim]) -> Side:
    """The independent voices of one side, and its score under a weighted policy (§23, §27.3)."""
    limits = policy.thresholds
    groups = corroboration_groups(claims, limits.unstated_confidence if limits else 1.0)
    weak = tuple(claim for claim in claims if not claim.roots)
    return Side(groups, weak, score(groups) if limits else None)


def score(groups: Sequence[RootGroup]) -> float:
    """How far a side is carried: 1 less the product of what each voice leaves open."""
    return 1.0 - prod(1.0 - group.contribution for group in groups)


def reaches(value: float, threshold: float) -> bool:
    return value >= threshold - NOISE


def decide(policy: Policy, support: Side, opposition: Side, *, has_material: bool) -> Status:
    """The policy's status for one candidate from the two sides; `has_material` tells of anything eligible at all."""
    limits = policy.thresholds
    if limits is None or support.score is None or opposition.score is None:
        return _decide_by_count(bool(support.groups), bool(opposition.groups), has_material=has_material)
    supported, opposed = reaches(support.score, limits.material), reaches(opposition.score, limits.material)
    if supported and opposed:
        return Status.CONTESTED
    if reaches(support.score, limits.accept):
        return Status.ACCEPTED
    if reaches(opposition.score, limits.accept):
        return Status.REJECTED
    return Status.UNCERTAIN if has_material else Status.INSUFFICIENT


def _decide_by_count(supported: bool, opposed: bool, *, has_material: bool) -> Status:
    if supported and opposed:
        return Status.CONTESTED
    if supported:
        return Status.ACCEPTED
    if opposed:
        return Status.REJECTED
    return Status.UNCERTAIN if has_material else Status.INSUFFICIENT
