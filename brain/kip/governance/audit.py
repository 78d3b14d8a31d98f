"""What was decided about protected state, for those who may audit (KIP 2.0 §29, §33.1).

A write's decision is part of its Commit Record: who made it, under which view, and every permission it asked for.
Changes of the protected state and refusals of them are kept beside the graph, since a refusal makes no commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brain.kip.context import Session
from brain.store.base import Commit, Document, Reader, Snapshot, Transaction
from brain.times import Seq, Timestamp

_ROWS = "kip.audit"
_STATE = ("kip.audit.state", "next")


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One decision.

    action       what was to be done; `write` for an ordinary write
    decision     allow or deny
    permissions  it needed
    space_seq, tx_id  of the commit it led to, None for a refusal
    """

    at: Timestamp
    principal_id: str
    channel: str | None
    action: str
    decision: str
    permissions: tuple[str, ...]
    space_seq: Seq | None = None
    tx_id: str | None = None
    details: Mapping[str, Any] | None = None


def note(
    tx: Transaction,
    session: Session,
    *,
    at: Timestamp,
    action: str,
    decision: str,
    permission: str,
    details: Document,
    space_seq: Seq | None = None,
    tx_id: str | None = None,
) -> None:
    """Keep a decision, in the transaction it belongs to."""
    number = int((tx.get(*_STATE) or {"next": 1})["next"])
    tx.set(*_STATE, {"next": number + 1})
    row: Document = {
        "at": at,
        "principal_id": session.principal_id,
        "channel": session.channel,
        "action": action,
        "decision": decision,
        "permissions": [permission],
        "space_seq": space_seq,
        "tx_id": tx_id,
        "details": details,
    }
    tx.set(_ROWS, f"{number:012d}", row)


def decisions(reader: Reader, *, after: int = 0, limit: int = 100) -> list[tuple[int, AuditRow]]:
    """Kept decisions by their number, oldest first."""
    found = reader.scan_state(_ROWS, after=f"{after:012d}", limit=limit)
    return [(int(key), AuditRow(**{**row, "permissions": tuple(row["permissions"])})) for key, row in found]


def writes(snapshot: Snapshot, *, after: Seq = 0, limit: int = 100) -> list[AuditRow]:
    """The decisions behind commits, oldest first."""
    return [_of_commit(commit) for commit in snapshot.commits(after=after, limit=limit)]


def _of_commit(commit: Commit) -> AuditRow:
    record = commit.record
    protected = record.get("governance") or {}
    origin = record.get("origin") or {}
    return AuditRow(
        at=commit.committed_at,
        principal_id=origin.get("principal_id", ""),
        channel=None,
        action="write",
        decision="allow",
        permissions=tuple(protected.get("permissions", ())),
        space_seq=commit.seq,
        tx_id=commit.tx_id,
        details={
            "authorization_view": protected.get("authorization_view"),
            "actor_binding_id": origin.get("actor_binding_id"),
            "delegation_digest": origin.get("delegation_digest"),
            "changes": record.get("change_summary", {}),
        },
    )
