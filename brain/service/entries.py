"""Entries of a Space's queue: which queues there are, and what is in hand of whoever works on one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brain.service import conversations
from brain.service.conversations import Collection
from brain.service.progress import Progress
from brain.store.base import Document, Lease, Transaction, Work

PASS_LEASE = "pass"  # noqa: S105 - a lease's name, no password
FORMATION: Collection = "formation"
MAINTENANCE: Collection = "maintenance"


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry in hand, with the lease it is worked on under.

    number       of its conversation in `collection`
    input        what was accepted, accepted_ms when
    request_id   of the request that brought it, None for what the service began itself
    progress     how far earlier runs of it came
    """

    work: Work
    lease: Lease
    collection: Collection
    number: int
    input: Document
    accepted_ms: int
    request_id: str | None
    progress: Progress


def queue_cycle(tx: Transaction, now_ms: int, stored: Document, user: str, request_id: str | None) -> int:
    """Queue one maintenance cycle; its conversation."""
    number = conversations.open_conversation(
        tx, MAINTENANCE, user=user, messages=[], now_ms=now_ms, queued_input=stored
    )
    tx.enqueue(MAINTENANCE, {"conversation": number, "request_id": request_id})
    return number


def collection_of(work: Work) -> Collection:
    """Whose runs an entry is of."""
    return FORMATION if work.queue == FORMATION else MAINTENANCE


def cycle_input(
    scope: str, trigger: str, formation_id: int, parameters: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a maintenance conversation works on."""
    return {"scope": scope, "trigger": trigger, "formation_id": formation_id, "parameters": dict(parameters or {})}
