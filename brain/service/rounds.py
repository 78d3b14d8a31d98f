"""What a queue entry has been through: rounds that failed and passes that ended with their process.

An input that fails waits longer each time, and is given up after three rounds over half an hour (BR-FORM-035). One
whose passes are cut short (their process died, or they overran their time) is given up by the same measure, since it
may well be the cause; but it is taken up at once the first times, as most processes die of something else and what was
accepted after it should not overtake it. A pass that comes to its end forgets both.
"""

from __future__ import annotations

from collections.abc import Mapping

from brain.store.base import Reader, Transaction

_RETRY_AFTER_MS = (1_000, 60_000, 600_000)
"""How long an input waits after its first, second and every later failed round."""

_CUT_RETRY_AFTER_MS = (0, 0, 60_000, 600_000)
"""How long an entry waits after its first, second, third and every later cut."""

_GIVE_UP_ROUNDS = 3
_GIVE_UP_AFTER_MS = 30 * 60_000

_NAMESPACE = "rounds"


def rounds_of(reader: Reader, work_id: int) -> Mapping[str, int]:
    """How often an entry's pass failed, since when, how often it was cut short, and since when (ms)."""
    return {"failed": 0, "since": 0, "cut": 0, "cut_since": 0, **(reader.get(_NAMESPACE, str(work_id)) or {})}


def note_cut(tx: Transaction, work_id: int, at_ms: int) -> int | None:
    """A pass was cut short; how many milliseconds the entry waits for its next, None when it is to be given up."""
    before = rounds_of(tx, work_id)
    cut, since = before["cut"] + 1, before["cut_since"] or at_ms
    tx.set(_NAMESPACE, str(work_id), {**before, "cut": cut, "cut_since": since})
    if cut >= _GIVE_UP_ROUNDS and at_ms - since >= _GIVE_UP_AFTER_MS:
        return None
    return _CUT_RETRY_AFTER_MS[min(cut, len(_CUT_RETRY_AFTER_MS)) - 1]


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
