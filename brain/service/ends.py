"""How a run of a pass ends, or is gone on with when it was cut short: in the transaction of whoever finds out."""

from __future__ import annotations

from brain.agents.jobs import RunResult
from brain.service import conversations, ledger, rounds
from brain.service.conversations import Collection, usage_to_wire
from brain.service.entries import FORMATION, MAINTENANCE, Taken, cycle_input, queue_cycle
from brain.service.progress import ended_early, forget_progress, progress_of, skip_pass
from brain.service.triggers import due_by_count
from brain.store.base import Document, Transaction, WorkStatus

_UNKNOWN = "interrupted: some of it was stored and what was left to do is unknown"
_CUT = "interrupted: its process ended before it did, or it took too long"


def goes_on(tx: Transaction, now_ms: int, collection: Collection, work_id: int, number: int, stored: Document) -> bool:
    """Whether a run has passes after the one that was cut with something stored; else it ends here."""
    reason = skip_pass(tx, collection, number, stored, _UNKNOWN)
    if reason is not None:
        close(tx, now_ms, collection, work_id, number, reason)
        return False
    rounds.forget(tx, work_id)
    return True


def is_retried_at_once(
    tx: Transaction, now_ms: int, collection: Collection, work_id: int, number: int, stored: Document
) -> bool:
    """Count a pass that was cut short with nothing stored: its entry goes on, waits, or is given up."""
    wait = rounds.note_cut(tx, work_id, now_ms)
    if wait is None:
        reason = f"interrupted: gave up after {rounds.rounds_of(tx, work_id)['cut']} passes that were cut short"
        close(tx, now_ms, collection, work_id, number, ended_early(tx, collection, number, stored, reason))
        return False
    if wait:
        tx.update_work(work_id, status=WorkStatus.QUEUED, not_before=now_ms + wait, note=_CUT)
        conversations.change(tx, collection, number, now_ms, status="submitted", failed_reason=_CUT)
    return not wait


def after_failed_round(tx: Transaction, now_ms: int, taken: Taken, result: RunResult) -> conversations.Status:
    """Let an input wait for its next round, or give it up (BR-FORM-035); later inputs go on meanwhile."""
    work = taken.work
    wait = rounds.note_failed(tx, work.id, now_ms)
    if wait is None:
        return "cancelled"
    tx.update_work(work.id, status=WorkStatus.QUEUED, not_before=now_ms + wait, note=result.failed_reason)
    conversations.change(
        tx, FORMATION, taken.number, now_ms, status="submitted", failed_reason=result.failed_reason, model=result.model
    )
    return "submitted"


def end_run(tx: Transaction, now_ms: int, taken: Taken, status: conversations.Status, result: RunResult) -> None:
    """Write down how a run ended by its result, and take its entry out."""
    reason = result.failed_reason
    if status == "cancelled":
        failed = rounds.rounds_of(tx, taken.work.id)["failed"]
        reason = f"formation_failed: gave up after {failed} rounds: {reason}"
    progress = progress_of(tx, taken.collection, taken.number)
    result = progress.merged(result)
    if reason is not None:
        reason = ended_early(tx, taken.collection, taken.number, taken.input, reason)
    elif progress.faults:
        reason = "; ".join(progress.faults)
    conversations.change(
        tx,
        taken.collection,
        taken.number,
        now_ms,
        status=status,
        failed_reason=reason,
        model=result.model,
        usage=usage_to_wire(result.usage),
        extra={
            "content": result.content,
            "rounds": result.rounds,
            "stopped": result.stopped,
            "memory_refs": list(result.ids),
            "prompt_digest": result.prompt_digest,
        },
    )
    _remove(tx, taken.collection, taken.work.id, taken.number)


def close(tx: Transaction, now_ms: int, collection: Collection, work_id: int, number: int, reason: str) -> None:
    """End a run that was cut short as failed, and take its entry out."""
    extra = progress_of(tx, collection, number).to_extra()
    conversations.change(tx, collection, number, now_ms, status="failed", failed_reason=reason, extra=extra)
    _remove(tx, collection, work_id, number)


def _remove(tx: Transaction, collection: Collection, work_id: int, number: int) -> None:
    tx.delete_work(work_id)
    rounds.forget(tx, work_id)
    forget_progress(tx, collection, number)
    member = f"{collection}_processed_id"
    ledger.set_progress(tx, **{member: max(ledger.progress(tx)[member], number)})


def count_formed(tx: Transaction, now_ms: int) -> None:
    """Count a formed conversation and queue the cycle it makes due; maintenance goes before the next input."""
    progress = ledger.progress(tx)
    formed = progress["formed"] + 1
    ledger.set_progress(tx, formed=formed)
    scope = due_by_count(formed, progress["formed_at"])
    if scope is not None and not tx.work(MAINTENANCE, limit=1):
        stored = cycle_input(scope, "threshold", progress["formation_processed_id"])
        queue_cycle(tx, now_ms, stored, "$system", None)
