"""Which Capsules left the Space with which elements; an erasure lists them and calls none back (KIP 2.0 §60.7)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from brain.kip.context import Answer, Run
from brain.store.base import Document, ElementId, Reader, Transaction

_ROWS = "kip.exports"
_NEXT = ("kip.exports.state", "next")


def note(tx: Transaction, answer: Answer, run: Run) -> None:
    """Remember what the Capsule of an answer carried, by ids; its content is not kept, and it makes no commit."""
    capsule: Any = answer.result
    number = int((tx.get(*_NEXT) or {"next": 1})["next"])
    carried: dict[str, Any] = dict(capsule["payload"]["handling"]["source_elements"])
    row: Document = {
        "capsule": str(capsule["integrity"]["content_digest"]),
        "elements": sorted(set(carried.values())),
        "principal_id": run.session.principal_id,
        "exported_at": run.now,
    }
    tx.set(*_NEXT, {"next": number + 1})
    tx.set(_ROWS, f"{number:012d}", row)


def that_carried(reader: Reader, elements: Collection[ElementId]) -> list[str]:
    """The Capsules that left with one of these elements, oldest first, each once."""
    wanted = set(elements)
    found = (row["capsule"] for _, row in reader.scan_state(_ROWS) if not wanted.isdisjoint(row["elements"]))
    return list(dict.fromkeys(found))
