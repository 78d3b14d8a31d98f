"""Conversations: one record per agent run, in three collections, with what went in, what was said and how it ended.

A record is a document beside the graph, under `conversations.<collection>` and its number in twelve digits, so that
key order is arrival order. The wire shape is the record without `input`, which only the queue reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from brain.agents.model import Usage
from brain.service.failures import InvalidInput
from brain.store.base import Document, Reader, Transaction

Collection = Literal["formation", "recall", "maintenance"]
COLLECTIONS: tuple[str, ...] = get_args(Collection)
Status = Literal["submitted", "working", "completed", "failed", "cancelled"]

_NUMBERS = "conversation_numbers"
_HOUR_MS = 3_600_000


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
    stored_input: Document,
    now_ms: int,
    status: Status = "submitted",
) -> int:
    """Add a record and give its number: 1, 2, 3 … within its collection and Space."""
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
        "input": stored_input,
    }
    tx.set(_namespace(collection), _key(number), record)
    return number


def read(reader: Reader, collection: str, number: int) -> Document | None:
    """The stored record, `input` included, or None."""
    return reader.get(_namespace(collection), _key(number))


def change(tx: Transaction, collection: Collection, number: int, now_ms: int, **members: Any) -> Document:
    """Replace members of a record; a member given as None is removed."""
    record = read(tx, collection, number)
    if record is None:
        raise LookupError(f"conversation {collection}/{number}")
    changed = {**record, **members, "updated_at": now_ms}
    changed = {name: value for name, value in changed.items() if value is not None}
    tx.set(_namespace(collection), _key(number), changed)
    return changed


def to_wire(record: Document) -> dict[str, Any]:
    """The record as a client sees it."""
    return {name: value for name, value in record.items() if name not in {"input", "committed"}}


def delta(record: Document, messages_offset: int, artifacts_offset: int) -> dict[str, Any]:
    """What came since the caller's offsets."""
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


def page(reader: Reader, collection: str, *, cursor: str | None, limit: int) -> tuple[list[dict[str, Any]], str | None]:
    """One page, newest page first and oldest first within it, and the cursor of the next.

    A cursor is the smallest number already shown, so it stays true while new records arrive.
    """
    before = None
    if cursor is not None:
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 12):
            raise InvalidInput("invalid cursor")
        before = _key(int(cursor))
    rows = reader.scan_state(_namespace(collection), after=before, limit=limit + 1, reverse=True)
    shown = [to_wire(record) for _, record in rows[:limit]]
    following = str(shown[-1]["_id"]) if len(rows) > limit else None
    return shown[::-1], following


def count(reader: Reader, collection: str) -> int:
    """How many records were ever opened."""
    counter = reader.get(_NUMBERS, collection)
    return counter["last"] if counter else 0
