"""A Space's record: its owner, name, description, visibility and tier, kept beside the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brain.service.failures import InvalidInput, SpaceNotFound
from brain.store.base import Document, Snapshot, Transaction

MAX_TIER = 12

KEPT_OPEN = "kept_open"
"""A member of a Space's record."""

BIRTH = "birth"
"""The control document a Space has its first record in: no moment of a crash leaves one without an owner."""

_RECORD = ("space", "record")


def record_of(reader: Snapshot) -> dict[str, Any]:
    """A Space's owner, name, description, visibility and tier: as they are, else as they were at its creation."""
    found = reader.get(*_RECORD) or reader.control(BIRTH)
    if found is None:
        raise SpaceNotFound("space not found")
    return dict(found)


def is_kept_open(reader: Snapshot) -> bool:
    """Whether a Space is to stay open although nobody uses it."""
    return bool(record_of(reader).get(KEPT_OPEN))


def change_record(tx: Transaction, change: Callable[[dict[str, Any]], None]) -> Document:
    """Change members of a Space's record."""
    record = record_of(tx)
    change(record)
    tx.set(*_RECORD, record)
    return record


def check_tier(tier: int) -> None:
    """InvalidInput unless a Space may have it."""
    if not 0 <= tier <= MAX_TIER:
        raise InvalidInput(f"tier must be 0 to {MAX_TIER}")
