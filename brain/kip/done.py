"""What an operation came to: its result on the wire, and what the host may know besides (KIP 2.0 §34.4, §80)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brain import errors
from brain.kip import ast, respond
from brain.kip.context import Answer, OperationTrace, Run, WriteSet
from brain.kip.governance.view import REDACTED, View
from brain.kip.outcomes import Kept
from brain.kip.prepare import Prepared
from brain.kip.write import Ledger


@dataclass(frozen=True, slots=True)
class Done:
    """What one operation came to."""

    result: dict[str, Any]
    trace: OperationTrace


def answered(prepared: Prepared, run: Run, answer: Answer) -> Done:
    """The result of an operation that read."""
    if isinstance(run.snapshot, View) and run.snapshot.redacted:
        answer = replace(answer, warnings=(*answer.warnings, REDACTED))
    trace = OperationTrace(prepared.statement, bound=answer.bound)
    return named(Done(respond.succeeded(answer, _context(run)), trace), prepared)


def written(
    prepared: Prepared,
    run: Run,
    answer: Answer,
    write_set: WriteSet,
    ledger: Ledger,
    *,
    receipt: Mapping[str, Any] | None,
    dry_run: bool,
) -> Done:
    """The result of an operation that wrote, or would have; `receipt` is None inside an atomic request."""
    committed = not write_set.is_empty and not dry_run
    if committed and isinstance(prepared.statement, ast.Define):
        change = {"kind": "schema", "version": str(ledger.seq)}
        answer = replace(answer, result={**answer.result, "control_changes": [change]})
    result = respond.succeeded(answer, _context(run), status="succeeded" if committed else "no_effect", receipt=receipt)
    ids = tuple(entry["id"] for entry in write_set.changes)
    trace = OperationTrace(prepared.statement, seq=ledger.seq if committed else None, ids=ids)
    return named(Done(result, trace), prepared)


def refused(prepared: Prepared, fault: errors.KipError) -> Done:
    """The result of an operation that was refused or broke off."""
    if isinstance(fault, errors.ExecutionTimeout) and prepared.language != "KML":
        # Wherever the time ran out: a read has changed nothing.
        fault = errors.ExecutionTimeout(fault.message, retry=errors.Retry.SAFE_SAME_REQUEST)
    return named(Done(respond.failed(fault), OperationTrace(prepared.statement)), prepared)


def named(done: Done, prepared: Prepared) -> Done:
    """The result under the name the request gave the operation."""
    op_id = prepared.operation.op_id
    return done if op_id is None else Done({"op_id": op_id, **done.result}, done.trace)


def skipped(prepared: Prepared) -> Done:
    """An operation that was not started."""
    return named(Done({"status": "skipped"}, OperationTrace(prepared.statement)), prepared)


def outcome_of(done: Done) -> dict[str, Any]:
    """What an idempotency key remembers of a write's result."""
    return {"status": done.result["status"], "result": done.result["result"]}


def replayed(prepared: Prepared, kept: Kept, place: int) -> Done:
    """The result of a write as its key remembers it."""
    receipt = kept.receipt
    result = {**kept.results[place], "context": {name: receipt[name] for name in ("space_id", "snapshot_seq")}}
    return named(Done(result, OperationTrace(prepared.statement, seq=receipt.get("space_seq"))), prepared)


def _context(run: Run) -> dict[str, Any]:
    return {
        "space_id": run.space_uri,
        "snapshot_seq": run.snapshot.seq,
        "schema_environment_version": run.environment.version,
    }
