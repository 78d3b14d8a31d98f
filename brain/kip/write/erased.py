"""What keeps an erased source event from coming back: its digests, without any content, for a stated time (§60.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from brain import errors
from brain.store.base import Document, Element, ElementId, Reader, Transaction

_ROWS = "kip.erasure.tombstone"
_ANY = ("kip.erasure.state", "tombstones")


def bury(tx: Transaction, plan_ref: str, events: Iterable[Element], *, until_ms: int, refuses_new: bool) -> None:
    """Write the tombstones of some events; they go by themselves at `until_ms`."""
    for event in events:
        key = str(event.body["content_digest"])
        held = tx.get(_ROWS, key) or {"elements": [], "observed_at": [], "refuses_new": False}
        row: Document = {
            "plan": plan_ref,
            "elements": sorted({*held["elements"], event.id}),
            "observed_at": sorted({*held["observed_at"], event.body["observed_at"]}),
            "refuses_new": bool(held["refuses_new"]) or refuses_new,
        }
        tx.set(_ROWS, key, row, expires_ms=until_ms)
        tx.set(_ROWS, event.id, {"plan": plan_ref}, expires_ms=until_ms)
    tx.set(*_ANY, {"until_ms": max(until_ms, int((tx.get(*_ANY) or {"until_ms": 0})["until_ms"]))})


def refuse_erased(reader: Reader, bodies: Iterable[Mapping[str, Any]], stands_for: Iterable[ElementId]) -> None:
    """ConstraintViolation for Evidence that is an erased event again.

    bodies      Evidence about to be created
    stands_for  elements that a client key already stands for: an erased event under its own key
    """
    if reader.get(*_ANY) is None:
        return
    for element_id in stands_for:
        found = reader.get(_ROWS, element_id)
        if found is not None:
            raise _refused(found, "The client key is that of an event that was erased.")
    for body in bodies:
        found = reader.get(_ROWS, str(body.get("content_digest")))
        if found is not None and (found["refuses_new"] or body.get("observed_at") in found["observed_at"]):
            raise _refused(found, "This event was erased and is not recorded again.")


def lift(tx: Transaction, plan_ref: str) -> int:
    """Take the tombstones of a plan away; how many there were."""
    gone = [key for key, row in tx.scan_state(_ROWS) if row["plan"] == plan_ref]
    for key in gone:
        tx.delete(_ROWS, key)
    return len(gone)


def _refused(row: Document, message: str) -> errors.ConstraintViolation:
    return errors.ConstraintViolation(
        message,
        hint="A new observation of it is for whoever manages the policy of the Space to admit.",
        details={"erasure_plan": row["plan"]},
    )
