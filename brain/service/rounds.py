"""What a queue entry has been through: rounds that failed and passes that ended with their process.

An input that fails waits longer each time, and is given up after three rounds over half an hour (BR-FORM-035). One that
ends its process again and again is taken for the cause. A pass that comes to its end forgets both.
"""

from __future__ import annotations

from collections.abc import Mapping

from brain.store.base import Reader, Transaction

MAX_CUTS = 5
"""Passes of one entry that may be cut short by the end of their process before it is taken for their cause."""

_RETRY_AFTER_MS = (1_000, 60_000, 600_000)
"""How long an input waits after its first, second and every later failed round."""

_GIVE_UP_ROUNDS = 3
_GIVE_UP_AFTER_MS = 30 * 60_000

_NAMESPACE = "rounds"


def rounds_of(reader: Reader, work_id: int) -> Mapping[str, int]:
    """How often an entry's pass failed, since when, and how often it was cut short."""
    return {"failed": 0, "since": 0, "cut": 0, **(reader.get(_NAMESPACE, str(work_id)) or {})}


def note_cut(tx: Transaction, work_id: int) -> int:
    """A pass ended with its process; how often that has happened to the entry now."""
    before = rounds_of(tx, work_id)
    tx.set(_NAMESPACE, str(work_id), {**before, "cut": before["cut"] + 1})
    return before["cut"] + 1


def note_failed(tx: Transaction, work_id: int, at_ms: int) -> int | None:
    """A round failed; how many milliseconds the entry waits for its next, None when it is to be given up."""
    before = rounds_of(tx, work_id)
    failed, since = before["failed"] + 1, before["since"] or at_ms
    tx.set(_NAMESPACE, str(work_id), {**before, "failed": failed, "since": since})
    if failed >= _GIVE_UP_ROUNDS and at_ms - since >= _GIVE_UP_AFTER_MS:
        return None
    return _RETRY_AFTER_MS[min(failed, len(_RETRY_AFTER_MS)) - 1]


def forget(tx: Transaction, work_id: int) -> None:
    """The entry comes forward, or has ended."""
    tx.delete(_NAMESPACE, str(work_id))
