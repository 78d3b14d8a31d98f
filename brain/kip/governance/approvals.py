"""Writes that wait for a second principal (KIP 2.0 §29.11).

A policy names permissions whose use has to be approved. The first attempt is refused with `RequiresApproval` and filed;
once somebody else who holds `approve` has recorded the approval, the same request of the same principal goes through,
once. Filed requests and approvals are state beside the graph, kept as long as outcomes are (`idempotency_retention`);
recording an approval is a commit of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import digest
from brain.kip.context import Session
from brain.kip.governance.plane import Plane
from brain.store.base import Document, Reader, Transaction
from brain.times import Timestamp

_FILED = "kip.approval"


@dataclass(frozen=True, slots=True)
class Filed:
    """A request that waits, or waited.

    permissions  what it needs approval for
    changes      what it would change, as the envelope would name it
    approved_by  None while it waits
    expires_ms   when it is forgotten, approved or not
    """

    id: str
    principal_id: str
    request_digest: str
    permissions: tuple[str, ...]
    commands: tuple[str, ...]
    changes: tuple[Document, ...]
    filed_at: Timestamp
    expires_ms: int
    approved_by: str | None = None


def needed(plane: Plane | None, asked: Collection[str]) -> list[str]:
    """Those permissions whose use waits for approval."""
    return sorted(plane.policy.approvals.intersection(asked)) if plane is not None else []


def require(
    tx: Transaction, plane: Plane | None, session: Session, asked: Collection[str], request_digest: str
) -> str | None:
    """Let a write through that needs no approval or has one; the id of the approval it uses up.

    raises  RequiresApproval, naming the id under which it waits
    """
    waiting_for = needed(plane, asked)
    if not waiting_for:
        return None
    name = id_of(session.principal_id, request_digest)
    found = tx.get(_FILED, name)
    if found is not None and found["approved_by"] and set(waiting_for) <= set(found["permissions"]):
        return name
    raise errors.RequiresApproval(
        f"{', '.join(waiting_for)} waits here for the approval of another principal.",
        details={"approval_id": name, "permissions": waiting_for},
    )


def spend(tx: Transaction, name: str | None) -> None:
    """An approval serves once."""
    if name is not None:
        tx.delete(_FILED, name)


def file(tx: Transaction, filed: Filed) -> None:
    """Keep a request that was refused for want of approval; an approval it has already stays."""
    if tx.get(_FILED, filed.id) is None:
        tx.set(_FILED, filed.id, _document(filed), expires_ms=filed.expires_ms)


def approve(tx: Transaction, session: Session, name: str) -> Filed:
    """Record the second decision.

    raises  NotFoundOrNotVisible for nothing that waits under this id, NotAuthorized for one's own request
    """
    found = tx.get(_FILED, name)
    if found is None or found["approved_by"]:
        raise errors.NotFoundOrNotVisible("Nothing waits for approval under this id.")
    if found["principal_id"] == session.principal_id:
        raise errors.NotAuthorized(
            "Nobody approves a request of their own.", details={"permission": "approve", "approval_id": name}
        )
    document: dict[str, Any] = {**found, "approved_by": session.principal_id}
    tx.set(_FILED, name, document, expires_ms=document["expires_ms"])
    return _filed(document)


def waiting(reader: Reader) -> list[Filed]:
    """Everything that waits, by id."""
    return [_filed(found) for _, found in reader.scan_state(_FILED) if not found["approved_by"]]


def id_of(principal: str, request_digest: str) -> str:
    """Where a request waits: the same request of the same principal waits in one place."""
    return "approval:" + digest([principal, request_digest]).removeprefix("sha256:")[:32]


def _document(filed: Filed) -> Document:
    return {
        "id": filed.id,
        "principal_id": filed.principal_id,
        "request_digest": filed.request_digest,
        "permissions": list(filed.permissions),
        "commands": list(filed.commands),
        "changes": list(filed.changes),
        "filed_at": filed.filed_at,
        "expires_ms": filed.expires_ms,
        "approved_by": filed.approved_by,
    }


def _filed(found: Document) -> Filed:
    members: dict[str, Any] = dict(found)
    for name in ("changes", "commands", "permissions"):
        members[name] = tuple(members[name])
    return Filed(**members)
