"""Conversations: one record per agent run, in three collections, with what was said and how it ended.

Documents beside the graph, each under its number in twelve digits, so that key order is arrival order:
`conversations.<collection>` holds the record as clients see it, `inputs.<collection>` what a queued run is to work on,
`commits.<collection>` the sequences a pass has committed. The last two are apart because a record grows with every turn
and they must not be rewritten with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from brain.agents.model import Usage
from brain.service.failures import InvalidInput
from brain.store.base import Document, Reader, Transaction
from brain.times import Seq

Collection = Literal["formation", "recall", "maintenance"]
COLLECTIONS: tuple[str, ...] = get_args(Collection)
Status = Literal["submitted", "working", "completed", "failed", "cancelled"]

_NUMBERS = "conversation_numbers"
_HOUR_MS = 3_600_000
_RECALL_LOST_MS = 10 * 60_000
"""More than twice the longest time a recall may take."""


def _namespace(collection: str) -> str:
    return f"conversations.{collection}"


def _key(number: int) -> str:
    return f"{number:012d}"


def usage_to_wire(usage: Usage) -> dict[str, Any]:
    """Token counts with null for what the provider did not report, never 0 in its place."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "requests": usage.requests,
    }


def usage_from_wire(wire: Mapping[str, Any]) -> Usage:
    """The inverse of `usage_to_wire`."""
    return Usage(wire["input_tokens"], wire["output_tokens"], wire["cached_tokens"], wire["requests"])


def open_conversation(
    tx: Transaction,
    collection: Collection,
    *,
    user: str,
    messages: Sequence[Mapping[str, Any]],
    now_ms: int,
    status: Status = "submitted",
    queued_input: Document | None = None,
) -> int:
    """Add a record and give its number: 1, 2, 3 … within its collection and Space.

    queued_input  what a later run works on; None for a run that is going on already
    """
    counter = tx.get(_NUMBERS, collection)
    number = (counter["last"] if counter else 0) + 1
    tx.set(_NUMBERS, collection, {"last": number})
    record = {
        "_id": number,
        "user": user,
        "label": collection,
        "messages": list(messages),
        "resources": [],
        "artifacts": [],
        "status": status,
        "period": now_ms // _HOUR_MS,
        "created_at": now_ms,
        "updated_at": now_ms,
        "usage": usage_to_wire(Usage(0, 0, 0, 0)),
    }
    tx.set(_namespace(collection), _key(number), record)
    if queued_input is not None:
        tx.set(f"inputs.{collection}", _key(number), queued_input)
    return number


def read(reader: Reader, collection: str, number: int) -> Document | None:
    """The stored record, or None."""
    return reader.get(_namespace(collection), _key(number))


def input_of(reader: Reader, collection: str, number: int) -> Document | None:
    """What a queued run works on, or None."""
    return reader.get(f"inputs.{collection}", _key(number))


def commits_of(reader: Reader, collection: str, number: int) -> list[Seq]:
    """The sequences a pass has committed; empty when there are none."""
    found = reader.get(f"commits.{collection}", _key(number))
    return list(found["seqs"]) if found else []


def add_commit(tx: Transaction, collection: Collection, number: int, seq: Seq) -> None:
    """Note, inside the transaction that makes it, a commit of a pass."""
    seqs = commits_of(tx, collection, number)
    if seq not in seqs:
        tx.set(f"commits.{collection}", _key(number), {"seqs": [*seqs, seq]})


def change(tx: Transaction, collection: Collection, number: int, now_ms: int, **members: Any) -> Document:
    """Replace members of a record; a member given as None is removed."""
    record = read(tx, collection, number)
    if record is None:
        raise LookupError(f"conversation {collection}/{number}")
    changed = {**record, **members, "updated_at": now_ms}
    changed = {name: value for name, value in changed.items() if value is not None}
    tx.set(_namespace(collection), _key(number), changed)
    return changed


def to_wire(record: Document, now_ms: int) -> dict[str, Any]:
    """The record as a client sees it.

    A recall runs in the process that was asked, for a bounded time. One that is still at work long after that lost its
    process, and no other can tell earlier; so it is told at the read.
    """
    wire = dict(record)
    is_recall = wire["label"] == "recall" and wire["status"] == "working"
    if is_recall and now_ms - wire["updated_at"] > _RECALL_LOST_MS:
        wire |= {"status": "failed", "failed_reason": "interrupted: the process that was answering ended"}
    return wire


def delta(record: Document, messages_offset: int, artifacts_offset: int, now_ms: int) -> dict[str, Any]:
    """What came since the caller's offsets."""
    record = to_wire(record, now_ms)
    return {
        "_id": record["_id"],
        "messages": record["messages"][messages_offset:],
        "artifacts": record["artifacts"][artifacts_offset:],
        "status": record["status"],
        "usage": record["usage"],
        "failed_reason": record.get("failed_reason"),
        "updated_at": record["updated_at"],
        "child": None,
    }


def page(
    reader: Reader, collection: str, *, cursor: str | None, limit: int, now_ms: int
) -> tuple[list[dict[str, Any]], str | None]:
    """One page, newest page first and oldest first within it, and the cursor of the next.

    A cursor is the smallest number already shown, so it stays true while new records arrive.
    """
    before = None
    if cursor is not None:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 12):
            raise InvalidInput("invalid cursor")
        before = _key(int(cursor))
    rows = reader.scan_state(_namespace(collection), after=before, limit=limit + 1, reverse=True)
    shown = [to_wire(record, now_ms) for _, record in rows[:limit]]
    following = str(shown[-1]["_id"]) if len(rows) > limit else None
    return shown[::-1], following


def count(reader: Reader, collection: str) -> int:
    """How many records were ever opened."""
    counter = reader.get(_NUMBERS, collection)
    return counter["last"] if counter else 0
