"""Verdicts as the wire shows them (§21.12, §27.2 to §27.4, §47.3; kip-projection.schema.json)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from brain.kip.belief.explain import explanation, group_to_wire
from brain.kip.belief.identity import Identity
from brain.kip.belief.intervals import earliest
from brain.kip.belief.model import Dependency, Precedence, RootGroup, Side, Slot, Status, Verdict
from brain.kip.belief.policies import SCORE_SEMANTICS
from brain.kip.belief.request import BeliefRequest
from brain.kip.belief.weigh import slot_status
from brain.kip.context import Run
from brain.kip.govern import authorization_view
from brain.store.base import Document, ElementId, element_number
from brain.times import Timestamp

TRUST_VERSION = "0"
"""Version of the protected trust state: no trust record exists, so none weighs on anything yet."""

_view = lru_cache(maxsize=256)(authorization_view)


@dataclass(frozen=True, slots=True)
class Projected:
    """One result of a projection.

    wire      the Projection or Slot in wire shape
    rests_on  Propositions, Assertions and Evidence the verdict rests on: what an answer may cite
    """

    wire: dict[str, Any]
    rests_on: frozenset[ElementId]


class Renderer:
    """Renders the verdicts of one request; its basis is computed once and shared by all of them.

    A caller who may project without reading learns statuses and not the claims behind them (§49.2).
    """

    def __init__(self, run: Run, request: BeliefRequest, identity: Identity) -> None:
        self._request = request
        self._basis = projection_basis(run, request, identity)
        self._shows_claims = "read" in run.session.permissions
        self._sight = run.sight

    def missing(self) -> Projected:
        """The projection of a Proposition that is not stored, or not there for this caller: the two look alike."""
        empty = self._side(Side((), (), None if self._request.policy.is_structural else 0.0), shows=True)
        wire: dict[str, Any] = {
            "proposition_id": None,
            "status": Status.INSUFFICIENT.value,
            "candidate_status": Status.INSUFFICIENT.value,
            "slot_status": Status.INSUFFICIENT.value,
            "leading": "none",
            "support": empty,
            "opposition": dict(empty),
            "conflict_refs": [],
            "conflict_reasons": [],
            "basis": self.basis(None),
        }
        return Projected(wire, frozenset())

    def projection(
        self, verdict: Verdict, names: Mapping[str, ElementId], proposition: ElementId | None = None
    ) -> Projected:
        """One candidate's projection.

        names        the stored Propositions of its slot by label
        proposition  the id it was asked by, where that is not simply its first one
        """
        basis = self.basis(verdict.next_invalid_at)
        shows = self._shows(verdict)
        wire: dict[str, Any] = {
            "proposition_id": proposition or names.get(verdict.candidate.label),
            "status": verdict.status.value,
            "candidate_status": verdict.local.value,
            "slot_status": verdict.slot_status.value,
            "leading": verdict.leading,
            "support": self._side(verdict.support, shows=shows),
            "opposition": self._side(verdict.opposition, shows=shows),
            "conflict_refs": [names[label] for label in verdict.conflicts if label in names],
            "conflict_reasons": list(verdict.conflict_reasons),
            "basis": basis,
        }
        if verdict.uncertainty:
            wire["uncertainty"] = {"level": None, "reasons": list(verdict.uncertainty)}
        if verdict.precedence is not None:
            wire["precedence"] = _precedence(verdict.precedence, names)
        if verdict.derivation is not None:
            wire["dependency_validity"] = dependency_to_wire(verdict.derivation, basis)
        if (told := explanation(self._request, verdict, names.get)) is not None:
            wire["explanation"] = told if shows else self._redacted()
        return Projected(wire, rests_on(verdict) if shows else frozenset(verdict.candidate.propositions))

    def slot(self, slot: Slot, verdicts: Sequence[Verdict]) -> Projected:
        """A whole slot: its candidates in the order they were stored, accepted values in the same order."""
        status = slot_status([verdict.status for verdict in verdicts])
        names = proposition_names(verdicts)
        wire: dict[str, Any] = {
            "status": status.value,
            "accepted_values": [v.candidate.object for v in verdicts if v.status is Status.ACCEPTED],
            "candidate_projections": [self.projection(verdict, names).wire for verdict in verdicts],
            "subject": {"id": slot.subject},
            "predicate_ref": slot.predicate.symbol.ref,
            "basis": self.basis(earliest(verdict.next_invalid_at for verdict in verdicts)),
        }
        reasons = {reason for verdict in verdicts for reason in verdict.uncertainty}
        if status is Status.UNCERTAIN and reasons:
            wire["uncertainty"] = {"level": None, "reasons": sorted(reasons)}
        if self._request.explanation != "none":
            wire["explanation"] = {"level": self._request.explanation, "candidates": len(verdicts)}
        settled = [v for v in verdicts if v.status in (Status.ACCEPTED, Status.CONTESTED)]
        citable = settled or [v for v in verdicts if v.status in (Status.UNCERTAIN, Status.REJECTED)]
        shown = (rests_on(v) if self._shows(v) else frozenset(v.candidate.propositions) for v in citable)
        return Projected(wire, frozenset().union(*shown))

    def basis(self, next_invalid_at: Timestamp | None) -> dict[str, Any]:
        """The shared basis with a result's own next invalidation."""
        return {**self._basis, "next_invalid_at": next_invalid_at}

    def _shows(self, verdict: Verdict) -> bool:
        """Whether the caller may read every claim behind a verdict and all they cite; one it may not withholds all."""
        if not self._shows_claims or self._sight is None:
            return self._shows_claims
        claims = verdict.candidate.claims
        behind = {claim.id for claim in claims}.union(*(claim.evidence for claim in claims))
        self._sight.judge(behind)
        return all(self._sight.reads(element_id) for element_id in behind)

    def _side(self, side: Side, *, shows: bool) -> dict[str, Any]:
        """One side. A structural policy names each independent voice; a weighted one tells what each contributes."""
        groups, claims = (side.groups, side.claims) if shows else ((), ())
        is_weighted = side.score is not None
        return {
            "score": side.score,
            "score_semantics": SCORE_SEMANTICS if is_weighted else None,
            "assertion_ids": sorted((claim.id for claim in claims), key=element_number),
            "root_groups": [group_to_wire(group) if is_weighted else group_name(group) for group in groups],
        }

    def _redacted(self) -> dict[str, Any]:
        return {"level": self._request.explanation, "redacted": True}


def proposition_names(verdicts: Iterable[Verdict]) -> dict[str, ElementId]:
    """What each stored value of a slot is referred to by: its first Proposition."""
    return {v.candidate.label: v.candidate.propositions[0] for v in verdicts if v.candidate.propositions}


def projection_basis(run: Run, request: BeliefRequest, identity: Identity) -> dict[str, Any]:
    """Everything a projection was computed under (§21.12), with `next_invalid_at` still open."""
    control = run.snapshot.control("identity") or {}
    return {
        "space_id": run.space_uri,
        "snapshot_seq": run.snapshot.seq,
        "schema_environment_version": run.environment.version,
        "identity_version": control.get("version", len(identity)),
        "policy": {"id": request.policy.id, "version": request.policy.version},
        "trust_version": TRUST_VERSION,
        "authorization_view": _view(run.session),
        "context_refs": list(request.context_refs),
        "purpose": request.purpose,
        "risk": request.risk,
        "valid_at": request.valid_at,
        "next_invalid_at": None,
    }


def dependency_to_wire(dependency: Dependency, basis: Document) -> dict[str, Any]:
    """The `dependency_validity` member (§57.6)."""
    return {
        "status": dependency.currency.value,
        "action_eligible": dependency.is_current,
        "reasons": list(dependency.reasons),
        "basis": basis,
    }


def group_name(group: RootGroup) -> str:
    """How a structural policy names an independent voice: by its first root, what was recorded before who spoke."""
    return min(group.roots, key=lambda root: (root[:2] not in ("E-", "X-"), len(root), root))


def rests_on(verdict: Verdict) -> frozenset[ElementId]:
    """The elements a verdict rests on: its Propositions, the claims that may hold at the instant, their Evidence."""
    claims = [timed.claim for timed in verdict.timed if timed.standing is not timed.standing.OUTSIDE]
    cited = [evidence for claim in claims for evidence in claim.evidence]
    return frozenset([*verdict.candidate.propositions, *(claim.id for claim in claims), *cited])


def _precedence(precedence: Precedence, names: Mapping[str, ElementId]) -> dict[str, Any]:
    if precedence.outranked_by is not None:
        return {"rule": precedence.rule, "outranked_by": names.get(precedence.outranked_by)}
    return {"rule": precedence.rule, "prevailed_over": [names[label] for label in precedence.prevailed_over]}
