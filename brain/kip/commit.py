"""From a write set to a commit: the receipt, the Commit Record and the change envelope (KIP 2.0 §33, §36)."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from brain.ids import digest
from brain.kip import govern
from brain.kip.context import Answer, Run, WriteSet
from brain.kip.write import Ledger
from brain.kip.write.planes import change_entry
from brain.kip.write.work import by_number
from brain.store.base import Commit, SpaceStore, Transaction

_CONTROL_KINDS: Mapping[str, str] = {
    "governance": "authorization",
    "identity": "identity",
    "policies": "policy",
    "recording": "recording",
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


def finish(
    tx: Transaction,
    run: Run,
    ledger: Ledger,
    answers: Sequence[Answer],
    write_set: WriteSet,
    *,
    request_digest: str,
    dry_run: bool,
) -> dict[str, Any]:
    """The receipt of a transaction whose writes are applied, recorded when it changed something and is no dry run."""
    sweep = _sweep(answers)
    version = environment_after(write_set, run)
    outline = _outline(run, ledger, tx.seq, request_digest, write_set, version)
    if dry_run or not (write_set.changes or write_set.controls):
        return _sealed(
            {
                **outline,
                "schema_environment_version": run.environment.version,
                "status": "no_effect",
                "tx_id": f"{run.space_uri}#none-{uuid.uuid4().hex}",
                **({"change_summary": sweep} if sweep else {}),
            }
        )
    receipt = _sealed(
        {
            **outline,
            "status": "committed",
            "tx_id": ledger.tx_id,
            "space_seq": ledger.seq,
            "committed_at": run.now,
            "change_summary": {**Counter(str(entry["op"]) for entry in write_set.changes), **sweep},
            "result_digest": digest([answer.result for answer in answers]),
        }
    )
    protected = {
        "authorization_view": govern.authorization_view(run.session),
        "permissions": sorted(ledger.asked),
    }
    envelope = _envelope(tx, run, ledger, write_set, version)
    tx.record(Commit(ledger.seq, ledger.tx_id, run.now, {**receipt, "governance": protected}, envelope))
    return receipt


def took_place(space: SpaceStore, receipt: Mapping[str, Any]) -> bool:
    """Whether the commit a receipt tells of is in the Space: for one whose end was an error."""
    if receipt["status"] != "committed":
        return False
    with space.snapshot() as snapshot:
        found = snapshot.commit_by_tx(receipt["tx_id"])
    return found is not None and found.record.get("receipt_digest") == receipt["receipt_digest"]


def environment_after(write_set: WriteSet, run: Run) -> int:
    """The environment version once a write set is committed."""
    schema = write_set.controls.get("schema")
    return run.environment.version if schema is None else int(schema["version"])


def overall_changes(tx: Transaction, run: Run, ledger: Ledger) -> list[dict[str, Any]]:
    """The envelope's entries of a transaction of several statements: each element once, from first to last."""
    now = tx.elements(ledger.originals.keys())
    return [
        change_entry(ledger.originals[element_id], now[element_id], run.environment)
        for element_id in by_number(ledger.originals)
    ]


def _envelope(tx: Transaction, run: Run, ledger: Ledger, write_set: WriteSet, version: int) -> dict[str, Any]:
    envelope: dict[str, Any] = {
        "kip": "2.0",
        "space_id": run.space_uri,
        "space_seq": ledger.seq,
        "tx_id": ledger.tx_id,
        "committed_at": run.now,
        "transaction_class": "cognitive",
        "schema_environment_version": version,
        "changes": write_set.changes,
        "extensions": {"anda/transition": {"snapshot_seq": tx.seq, "status": "committed"}},
    }
    if write_set.controls:
        envelope["control_changes"] = [
            {"kind": _CONTROL_KINDS[name], "version": str(ledger.seq)} for name in sorted(write_set.controls)
        ]
    return envelope


def _outline(
    run: Run, ledger: Ledger, seq: int, request_digest: str, write_set: WriteSet, version: int
) -> dict[str, Any]:
    plan = {"changes": write_set.changes, "controls": sorted(write_set.controls)}
    return {
        "space_id": run.space_uri,
        "snapshot_seq": seq,
        "transaction_class": "cognitive",
        "request_digest": request_digest,
        "semantic_plan_digest": digest(plan),
        "schema_environment_version": version,
        "origin": {
            "principal_id": run.session.principal_id,
            "actor_binding_id": ledger.binding,
            "delegation_digest": run.session.delegation_digest,
        },
    }


def _sealed(receipt: dict[str, Any]) -> dict[str, Any]:
    """A receipt with the digest over all of it (§33.2)."""
    return {**receipt, "receipt_digest": digest(receipt)}


def _sweep(answers: Sequence[Answer]) -> dict[str, int]:
    """`matched` and `updated` of the sweeps among some answers, summed."""
    counted: Counter[str] = Counter()
    for answer in answers:
        counted.update(answer.counted)
    return dict(counted)
