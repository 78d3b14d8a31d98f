"""From a write set to a commit: the receipt, the Commit Record and the change envelope (KIP 2.0 §33, §36)."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from brain.ids import digest
from brain.kip import govern
from brain.kip.context import Run, WriteSet
from brain.kip.write import Ledger
from brain.kip.write.planes import change_entry
from brain.kip.write.work import by_number
from brain.store.base import Commit, Transaction

_CONTROL_KINDS: Mapping[str, str] = {
    "governance": "authorization",
    "identity": "identity",
    "policies": "policy",
    "schema": "schema",
}
"""What a control document is called in an envelope's `control_changes` (§36.1)."""


def apply(write_set: WriteSet, tx: Transaction, ledger: Ledger) -> None:
    """Put a statement's writes into its transaction; they become a commit by `record`."""
    for element in write_set.created:
        ledger.originals.setdefault(element.id, None)
    for changed in write_set.changed:
        ledger.originals.setdefault(changed.after.id, changed.before)
    for stub in write_set.erased:
        if stub.id not in ledger.originals:
            ledger.originals[stub.id] = tx.elements([stub.id])[stub.id]
    versions = [*write_set.created, *(changed.after for changed in write_set.changed)]
    if versions:
        tx.put(versions, client_keys=write_set.client_keys)
    if write_set.erased:
        tx.erase(write_set.erased)
    for name, document in write_set.controls.items():
        tx.put_control(name, document)


def record(
    tx: Transaction,
    run: Run,
    ledger: Ledger,
    *,
    changes: Sequence[Mapping[str, Any]],
    controls: Sequence[str],
    request_digest: str,
    results: Sequence[Any],
    environment_version: int,
    sweep: Mapping[str, int],
) -> dict[str, Any]:
    """Write the transaction's Commit Record and envelope, and give its receipt."""
    summary = {**Counter(str(entry["op"]) for entry in changes), **sweep}
    receipt = {
        **_outline(run, tx.seq, request_digest, changes, controls, environment_version),
        "status": "committed",
        "tx_id": ledger.tx_id,
        "space_seq": ledger.seq,
        "committed_at": run.now,
        "change_summary": summary,
        "result_digest": digest(list(results)),
    }
    receipt["receipt_digest"] = digest(receipt)
    envelope: dict[str, Any] = {
        "kip": "2.0",
        "space_id": run.space_uri,
        "space_seq": ledger.seq,
        "tx_id": ledger.tx_id,
        "committed_at": run.now,
        "transaction_class": receipt["transaction_class"],
        "schema_environment_version": environment_version,
        "changes": list(changes),
        "extensions": {"anda/transition": {"snapshot_seq": tx.seq, "status": "committed"}},
    }
    if controls:
        envelope["control_changes"] = [
            {"kind": _CONTROL_KINDS[name], "version": str(ledger.seq)} for name in sorted(controls)
        ]
    kept = {
        **receipt,
        "governance": {
            "authorization_view": govern.authorization_view(run.session),
            "permissions": sorted(ledger.asked),
        },
    }
    tx.record(Commit(ledger.seq, ledger.tx_id, run.now, kept, envelope))
    return receipt


def no_effect(
    run: Run, seq: int, request_digest: str, environment_version: int, sweep: Mapping[str, int]
) -> dict[str, Any]:
    """The receipt of a write that changed nothing: no sequence, no record (§32.8)."""
    receipt: dict[str, Any] = {
        **_outline(run, seq, request_digest, (), (), environment_version),
        "status": "no_effect",
        "tx_id": f"{run.space_uri}#none-{uuid.uuid4().hex}",
    }
    if sweep:
        receipt["change_summary"] = dict(sweep)
    receipt["receipt_digest"] = digest(receipt)
    return receipt


def overall_changes(tx: Transaction, run: Run, ledger: Ledger) -> list[dict[str, Any]]:
    """The envelope's entries of a transaction of several statements: each element once, from first to last."""
    now = tx.elements(ledger.originals.keys())
    return [
        change_entry(ledger.originals[element_id], now[element_id], run.environment)
        for element_id in by_number(ledger.originals)
    ]


def _outline(
    run: Run,
    seq: int,
    request_digest: str,
    changes: Sequence[Mapping[str, Any]],
    controls: Sequence[str],
    environment_version: int,
) -> dict[str, Any]:
    return {
        "space_id": run.space_uri,
        "snapshot_seq": seq,
        "transaction_class": "governance" if controls and not changes else "cognitive",
        "request_digest": request_digest,
        "semantic_plan_digest": digest({"changes": list(changes), "controls": sorted(controls)}),
        "schema_environment_version": environment_version,
        "origin": {
            "principal_id": run.session.principal_id,
            "actor_binding_id": None,
            "delegation_digest": None,
        },
    }
