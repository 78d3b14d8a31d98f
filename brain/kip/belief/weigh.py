"""From the claims of a slot to its verdicts (§21.10 to §21.13): pure, and the same for every shape of query.

Each partition of a slot is weighed by itself: first every candidate on its own claims, then the candidates against
each other, then what acceptance of one says about the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brain.kip.belief.intervals import earliest
from brain.kip.belief.model import (
    Candidate,
    Claim,
    Currency,
    Dependency,
    Leading,
    Precedence,
    Slot,
    Status,
    Timed,
    Verdict,
    by_partition,
)
from brain.kip.belief.policies import Policy
from brain.kip.belief.precedence import Rival, prevailing
from brain.kip.belief.sides import Weighed, weigh_candidate
from brain.kip.belief.succession import effective_times
from brain.kip.schema import PredicateType
from brain.times import Timestamp

_SLOT_ORDER = (Status.CONTESTED, Status.ACCEPTED, Status.UNCERTAIN)


def weigh_slot(policy: Policy, at: Timestamp, slot: Slot) -> list[Verdict]:
    """A verdict per candidate, in the slot's order."""
    verdicts: dict[str, Verdict] = {}
    for members in by_partition(slot.candidates).values():
        verdicts.update((verdict.candidate.label, verdict) for verdict in _weigh_partition(policy, at, slot, members))
    return [verdicts[candidate.label] for candidate in slot.candidates]


def slot_status(statuses: Sequence[Status]) -> Status:
    """The status of a slot from the final statuses of its candidates (§47.3); a slot is never rejected."""
    return next((status for status in _SLOT_ORDER if status in statuses), Status.INSUFFICIENT)


# --- candidates against each other ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A candidate's final status and what its rivals had to do with it."""

    status: Status
    rivals: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    precedence: Precedence | None = None


def _weigh_partition(policy: Policy, at: Timestamp, slot: Slot, members: Sequence[Candidate]) -> list[Verdict]:
    eligible = [claim for candidate in members for claim in candidate.claims if claim.excluded is None]
    timed_of: dict[str, list[Timed]] = {candidate.label: [] for candidate in members}
    for timed in effective_times(eligible, at):
        timed_of[timed.claim.label].append(timed)
    weighed = {c.label: weigh_candidate(policy, c, timed_of[c.label]) for c in members}
    outcomes = {label: _Outcome(w.alone) for label, w in weighed.items()}
    outcomes |= _conflict(policy, slot, weighed)
    outcomes |= _exclusion(slot.predicate, outcomes)
    status = slot_status([outcome.status for outcome in outcomes.values()])
    shared = _Shared(
        at,
        status,
        earliest(t.interval.next_change(at) for group in timed_of.values() for t in group),
        {label: len(w.support.groups) for label, w in weighed.items()},
        tuple(label for label, w in weighed.items() if w.rests_on_uncertain_time),
    )
    return [_verdict(w, outcomes[label], shared) for label, w in weighed.items()]


def _conflict(policy: Policy, slot: Slot, weighed: Mapping[str, Weighed]) -> dict[str, _Outcome]:
    """Outcomes of the supported candidates that exclude each other; empty when fewer than two do."""
    predicate = slot.predicate
    reason = _conflict_reason(predicate)
    rivals = {label: w for label, w in weighed.items() if w.is_material(policy)}
    if reason is None or len(rivals) < 2:
        return {}
    contenders = [Rival(label, _deciding(w)) for label, w in rivals.items()]
    settled = prevailing(policy.precedence, contenders, slot.subject)
    if settled is None:
        return {
            label: _Outcome(Status.CONTESTED, tuple(other for other in rivals if other != label), (reason,))
            for label in rivals
        }
    rule, winner = settled
    beaten = tuple(label for label in rivals if label != winner)
    outcomes = {label: _Outcome(Status.UNCERTAIN, precedence=Precedence(rule, outranked_by=winner)) for label in beaten}
    outcomes[winner] = _Outcome(weighed[winner].alone, precedence=Precedence(rule, prevailed_over=beaten))
    return outcomes


def _conflict_reason(predicate: PredicateType) -> str | None:
    """The constraint under which two supported values of a partition contradict each other, None when none does."""
    if predicate.functional or predicate.functional_by is not None:
        return None if predicate.temporal_conflict == "none" else "functional_value"
    return "boolean_completeness" if predicate.boolean_completeness else None


def _deciding(weighed: Weighed) -> tuple[Claim, ...]:
    """The claims precedence compares: verified support with a root of its own."""
    return tuple(claim for group in weighed.verified.groups for claim in group.claims)


def _exclusion(predicate: PredicateType, outcomes: Mapping[str, _Outcome]) -> dict[str, _Outcome]:
    """Values ruled out because another one is accepted and the Predicate declares that only one can hold (§20.15)."""
    accepted = [label for label, outcome in outcomes.items() if outcome.status is Status.ACCEPTED]
    ruled_out: dict[str, _Outcome] = {}
    for label, outcome in outcomes.items():
        if outcome.precedence is not None or outcome.status not in (Status.UNCERTAIN, Status.INSUFFICIENT):
            continue
        for reason, others in _excluders(predicate, label, accepted):
            if others:
                ruled_out[label] = _Outcome(Status.REJECTED, tuple(others), (reason,))
                break
    return ruled_out


def _excluders(predicate: PredicateType, label: str, accepted: Sequence[str]) -> list[tuple[str, list[str]]]:
    negation = {"true": "false", "false": "true"}.get(label) if predicate.boolean_completeness else None
    is_closed = predicate.complete and (predicate.functional or predicate.functional_by is not None)
    return [
        ("boolean_completeness", [other for other in accepted if other == negation]),
        ("exclusive_value", [other for other in accepted if is_closed]),
    ]


# --- the verdict ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the verdicts of one partition have in common.

    voices       how many independent voices support each value
    may_hold     the values for which nothing certain speaks and something that may hold does
    """

    at: Timestamp
    status: Status
    next_invalid_at: Timestamp | None
    voices: Mapping[str, int]
    may_hold: tuple[str, ...]


def _verdict(weighed: Weighed, outcome: _Outcome, shared: _Shared) -> Verdict:
    label = weighed.candidate.label
    return Verdict(
        at=shared.at,
        candidate=weighed.candidate,
        local=weighed.local,
        status=outcome.status,
        slot_status=shared.status,
        leading=_leading(weighed, outcome, shared.voices),
        support=weighed.support,
        opposition=weighed.opposition,
        conflicts=outcome.rivals,
        indeterminate_rivals=tuple(other for other in shared.may_hold if other != label),
        conflict_reasons=outcome.reasons,
        uncertainty=_uncertainty(weighed, outcome, shared.may_hold),
        precedence=outcome.precedence,
        derivation=_derivation(weighed),
        timed=weighed.timed,
        next_invalid_at=shared.next_invalid_at,
    )


def _leading(weighed: Weighed, outcome: _Outcome, voices: Mapping[str, int]) -> Leading:
    """The side the policy would take if it had to: that of more independent voices, rivals counted singly (§27.2)."""
    if outcome.status is Status.ACCEPTED:
        return "support"
    if outcome.status is Status.REJECTED:
        return "opposition"
    if outcome.status is not Status.CONTESTED:
        return "none"
    for_it = len(weighed.support.groups)
    against_it = max([len(weighed.opposition.groups), *(voices[label] for label in outcome.rivals)])
    if for_it == against_it:
        return "none"
    return "support" if for_it > against_it else "opposition"


def _uncertainty(weighed: Weighed, outcome: _Outcome, may_hold: Sequence[str]) -> tuple[str, ...]:
    if outcome.precedence is not None and outcome.precedence.outranked_by is not None:
        return ("outranked",)
    if outcome.status is Status.UNCERTAIN and weighed.candidate.label in may_hold:
        return ("temporal_indeterminate",)
    return ()


def _derivation(weighed: Weighed) -> Dependency | None:
    """What to disclose of derivations (§57.6): the worst when they held acceptance back, else the one relied on."""
    inferred = [claim.dependency for claim in weighed.support.claims if claim.dependency is not None]
    if weighed.is_held_back:
        held = [dependency for dependency in inferred if not dependency.is_current]
        order = list(Currency)
        worst = max((dependency.currency for dependency in held), key=order.index)
        return Dependency(worst, tuple(sorted(frozenset().union(*(dependency.reasons for dependency in held)))))
    return next((dependency for dependency in inferred if dependency.is_current), None)
