"""Deterministic settlement: what a maintenance cycle does and finds before any model is asked (BR-SETTLE).

Each part stands alone: one that fails is named in the report and the others still count. The same store state and clock
give the same report. Nothing here weighs, merges or rewrites what people said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from brain.store.base import Document, Lease, LeaseLost
from brain.times import timestamp
from brain.upkeep import corrections, due, findings, watches
from brain.upkeep.doubles import doubles
from brain.upkeep.parts import OpenSpace, Refused, Work

Value = TypeVar("Value")

_REPORTS = "ledger"
"""The namespace in which a Space keeps its newest reports."""

_NO_VERDICTS = "no grading runtime is configured"


def settle(space: OpenSpace, scope: str, parameters: Mapping[str, Any], lease: Lease) -> Document:
    """Settle one Space and say what was found: the report of `memory_status` and, beside it, the model's assessment.

    raises  LeaseLost when another worker has taken the Space over; what was written before stays
    """
    now_ms = space.engine.clock.now_ms()
    work = Work.begin(space, lease, now_ms, timestamp(now_ms))
    errors: dict[str, str] = {}

    def part(name: str, run: Callable[[], Value]) -> Value | None:
        """What a part comes to; None, and its error in the report, when it fails."""
        try:
            return run()
        except LeaseLost:
            raise
        except Refused as refused:
            errors[name] = str(refused)
        except Exception as broken:  # noqa: BLE001 - a part that breaks must not stop the others
            errors[name] = type(broken).__name__
        return None

    scanned = part("corrections", lambda: corrections.scan(work))
    roots = part("revised_roots", lambda: corrections.revised_roots(work, scanned.roots)) if scanned else None
    watched = part("watches", lambda: watches.advance(work))
    raised = part("commitments", lambda: due.raise_commitments(work))
    archived = part("retention", lambda: due.archive_expired(work)) if scope == "full" else None
    report: dict[str, Any] = {
        "settled_at": now_ms,
        "revised_roots": roots or [],
        "new_corrections": scanned.corrections if scanned else 0,
        "watches": (watched or dict.fromkeys(watches.OUTCOMES, 0)) | _error(errors, "watches"),
        "commitments": (raised[0] if raised else {"due": 0, "raised": 0}) | _error(errors, "commitments"),
        "skills": {"graded": 0, "transitions": 0, "conflicted": 0, "unsupported_reason": _NO_VERDICTS},
        "correction_scan_incomplete": scanned.is_incomplete if scanned else True,
        "correction_scan_through_seq": scanned.through_seq if scanned else 0,
        "retention": (archived or dict(due.NOTHING_ARCHIVED)) | _error(errors, "retention"),
    }
    if "corrections" in errors:
        report["correction_scan_error"] = errors["corrections"]
    assessment: dict[str, Any] = {
        **report,
        "source_reliability": scanned.by_actor if scanned else {},
        "due_commitments": raised[1] if raised else [],
        "conflicts": part("conflicts", lambda: findings.conflicts(work, scanned.claimed)) if scanned else [],
        "waiting_tasks": part("waiting_tasks", lambda: findings.waiting_tasks(work)),
        "backlog": part("backlog", lambda: findings.backlog(work, parameters)),
    }
    drafts = part("drafts", lambda: findings.unreviewed_drafts(work))
    if scope != "daydream":
        assessment["identity_candidates"] = part("identity", lambda: doubles(work))
    if scope == "full":
        assessment["drafts_without_review"] = drafts
        assessment["outcomes"] = part("outcomes", lambda: findings.outcomes(work))
        assessment["predicate_census"] = part("census", lambda: findings.census(work))
        assessment["archive_candidates"] = part(
            "archive_candidates", lambda: findings.archive_candidates(work, parameters)
        )
    if errors:
        assessment["settlement_errors"] = errors
    with space.transaction() as tx:
        work.check_lease(tx)
        assessment["space_seq"] = tx.seq
        tx.set(_REPORTS, "report.last_settlement", report)
        if assessment.get("predicate_census") is not None:
            audit = {"audited_at": now_ms, "predicates": assessment["predicate_census"]}
            tx.set(_REPORTS, "report.last_schema_audit", audit)
    return assessment


def _error(errors: Mapping[str, str], name: str) -> dict[str, str]:
    return {"error": errors[name]} if name in errors else {}
