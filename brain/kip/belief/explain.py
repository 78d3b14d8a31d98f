"""Why a verdict is what it is: a few counts, or the whole ledger of claims counted and left out (§27.4, §49.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from brain.kip.belief.intervals import Standing
from brain.kip.belief.model import Claim, RootGroup, Timed, Verdict
from brain.kip.belief.request import BeliefRequest
from brain.store.base import ElementId, element_number

NameOf = Callable[[str], ElementId | None]
"""The stored Proposition of a candidate by its label, None when none is stored."""


def explanation(request: BeliefRequest, verdict: Verdict, name_of: NameOf) -> dict[str, Any] | None:
    """The `explanation` member at the level the request asks for, None for level `none`."""
    if request.explanation == "none":
        return None
    told = _summary(verdict) if request.explanation == "summary" else _ledger(verdict, name_of)
    if request.include_historical:
        told["historical"] = _historical(verdict)
    return told


def group_to_wire(group: RootGroup) -> dict[str, Any]:
    """One independent voice: who speaks, in which claims, on what Evidence, and how much it adds to a score."""
    return {
        "actors": sorted({claim.actor for claim in group.claims}, key=element_number),
        "assertion_ids": [claim.id for claim in group.claims],
        "contribution": group.contribution,
        "evidence": sorted({e for claim in group.claims for e in claim.evidence}, key=element_number),
    }


def _summary(verdict: Verdict) -> dict[str, Any]:
    told: dict[str, Any] = {
        "level": "summary",
        "support_groups": len(verdict.support.groups),
        "opposition_groups": len(verdict.opposition.groups),
        "excluded": dict(sorted(Counter(reason for _, reason in _left_out(verdict)).items())),
    }
    if verdict.precedence is not None:
        told["rule"] = verdict.precedence.rule
    return told


def _ledger(verdict: Verdict, name_of: NameOf) -> dict[str, Any]:
    rivals = [name_of(label) for label in verdict.indeterminate_rivals]
    return {
        "level": "ledger",
        "eligible": [_eligible(timed) for timed in verdict.timed],
        "excluded": [{"id": claim.id, "reason": reason} for claim, reason in _left_out(verdict)],
        "groups": {
            "support": [group_to_wire(group) for group in verdict.support.groups],
            "opposition": [group_to_wire(group) for group in verdict.opposition.groups],
        },
        "without_root": [claim.id for claim in (*verdict.support.weak, *verdict.opposition.weak)],
        "succession": [
            {"id": timed.claim.id, "ended_by": list(timed.ended_by), "until": timed.interval.end.to_wire()}
            for timed in verdict.timed
            if timed.ended_by
        ],
        "derivations": [
            {"id": t.claim.id, "status": t.claim.dependency.currency, "reasons": list(t.claim.dependency.reasons)}
            for t in verdict.timed
            if t.claim.dependency is not None
        ],
        "indeterminate_rivals": [rival for rival in rivals if rival is not None],
        "uncertainty": list(verdict.uncertainty),
        "rule": verdict.precedence.rule if verdict.precedence else None,
    }


def _eligible(timed: Timed) -> dict[str, Any]:
    return {
        "id": timed.claim.id,
        "stance": timed.claim.stance,
        "mode": timed.claim.mode,
        "standing": timed.standing.value,
        "valid_time": timed.interval.to_wire(),
    }


def _left_out(verdict: Verdict) -> list[tuple[Claim, str]]:
    """Claims that do not count and why: not eligible, or eligible at another time."""
    excluded = [(claim, claim.excluded) for claim in verdict.candidate.claims if claim.excluded is not None]
    return excluded + [(timed.claim, _time_reason(timed, verdict)) for timed in _elsewhen(verdict)]


def _elsewhen(verdict: Verdict) -> Sequence[Timed]:
    return [timed for timed in verdict.timed if timed.standing is Standing.OUTSIDE]


def _time_reason(timed: Timed, verdict: Verdict) -> str:
    return "expired" if timed.interval.end.latest <= verdict.at else "not_yet_valid"


def _historical(verdict: Verdict) -> list[dict[str, Any]]:
    """Records that once counted: withdrawn, replaced, or true of another time."""
    withdrawn = [
        {"id": claim.id, "status": claim.excluded, "valid_time": claim.time.interval.to_wire()}
        for claim in verdict.candidate.claims
        if claim.excluded in ("retracted", "superseded")
    ]
    return withdrawn + [
        {"id": t.claim.id, "status": _time_reason(t, verdict), "valid_time": t.interval.to_wire()}
        for t in _elsewhen(verdict)
    ]
