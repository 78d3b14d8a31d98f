"""How large a Space may become, by its tier, and whether it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.errors import ResourceExhausted
from brain.service import conversations
from brain.service.failures import OverTier
from brain.store.base import Kind, Snapshot


def most_of(record: Mapping[str, Any]) -> int:
    """Concepts, and conversations, a Space of this record may have."""
    most: int = 10 ** (record["tier"]["tier"] + 2)
    return most


def check_room_for_input(now: Snapshot, record: Mapping[str, Any]) -> None:
    """OverTier when a Space holds more than its tier allows."""
    most = most_of(record)
    size = max(now.counts().get(Kind.CONCEPT, 0), conversations.count(now, "formation"))
    if size > most:
        raise OverTier(f"node limit exceeded: {size} of {most}; raise the tier of the space to go on")


def check_room_for_kip(now: Snapshot, record: Mapping[str, Any]) -> None:
    """ResourceExhausted when a Space holds more Concepts than its tier allows: KIP is no conversation."""
    most = most_of(record)
    size = now.counts().get(Kind.CONCEPT, 0)
    if size > most:
        raise ResourceExhausted(
            f"The Space holds {size} Concepts, and its tier allows {most}.",
            hint="Raise the tier of the Space to go on.",
        )
