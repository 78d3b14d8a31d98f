"""Attention recall: Watches that fired and Commitments that fell due, after the position a caller kept (API §4.2).

Each was raised by a commit, an Activity whose first input is the Watch or the Commitment. Reading changes nothing: the
position belongs to the caller and never expires.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brain.service.failures import InvalidInput, Unavailable
from brain.store.base import Document
from brain.times import Seq

if TYPE_CHECKING:
    from brain.agents.reading import Reading

MOST_ITEMS, DEFAULT_ITEMS = 50, 20

_START = "attention:start"
_STARTS = (None, "", _START, "attention:-1")
_CURSOR = re.compile(r"attention:(\d{1,15})(?::(C-[1-9]\d{0,17}))?", re.ASCII)
_KINDS = {"watch_fire": ("watch_fired", "/Watch"), "commitment_review": ("commitment_due", "/Commitment")}
"""How a raise is told, and of which type is what it raised; a Watch's Activity also names what it saw."""

_RAISED = (
    "FIND(?x._system.space_seq, ?x.activity_class, ?c) WHERE { ?x ACTIVITY {} "
    'STRUCTURAL (?x, "inputs", ?c) ?c CONCEPT {} '
    "FILTER(?x._system.space_seq >= :since && (?x.activity_class == :fired || ?x.activity_class == :due)) } "
    "ORDER BY ?x._system.space_seq, ?x.id LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class Position:
    """Everything up to here was delivered: whole commits up to `seq`, or of `seq` what comes up to `ref`."""

    seq: Seq
    ref: str | None

    @classmethod
    def read(cls, cursor: str | None) -> Position:
        """The position a cursor states; InvalidInput for what is none."""
        if cursor in _STARTS:
            return cls(0, None)
        found = _CURSOR.fullmatch(cursor or "")
        if found is None:
            raise InvalidInput("invalid attention_cursor: use one that an earlier answer gave, or leave it out")
        return cls(int(found[1]), found[2])

    def is_behind(self, item: Document) -> bool:
        """Whether an item comes after it."""
        if item["raised_seq"] != self.seq:
            return bool(item["raised_seq"] > self.seq)
        return self.ref is not None and _place(item)[1] > int(self.ref[2:])


def attention(reading: Reading, cursor: str | None, limit: int) -> dict[str, Any]:
    """One page (AttentionRecall): items by commit and id, the position behind them, whether that is all.

    raises  InvalidInput for a cursor or a limit that is none; Unavailable when memory could not be read
    """
    if not 1 <= limit <= MOST_ITEMS:
        raise InvalidInput(f"limit must be 1 to {MOST_ITEMS}")
    position = Position.read(cursor)
    items, is_whole = _raised(reading, position, limit)
    shown = [_with_targets(reading, item) for item in items[:limit]]
    complete = is_whole and len(items) <= limit
    if not shown:
        return {"items": [], "attention_cursor": cursor or _START, "complete": complete}
    last, following = shown[-1], items[limit : limit + 1]
    ends_inside = following and following[0]["raised_seq"] == last["raised_seq"]
    where = f"attention:{last['raised_seq']}" + (f":{last['ref']}" if ends_inside else "")
    return {"items": shown, "attention_cursor": where, "complete": complete}


def _raised(reading: Reading, position: Position, limit: int) -> tuple[list[Document], bool]:
    """More than `limit` items behind the position when there are so many, and whether they are all there are.

    A commit is read to its end, since within one the order is that of the ids raised and not of the Activities.
    """
    most = limit + 2
    while True:
        rows = _ask(reading, since=position.seq, most=most)
        is_whole = len(rows) < most
        if not is_whole:
            # The last commit of the rows may go on behind them.
            rows = [row for row in rows if row[0] != rows[-1][0]]
        meant = [row for row in rows if row[2]["schema_ref"].endswith(_KINDS[row[1]][1])]
        items = sorted((_item(*row) for row in meant), key=_place)
        items = [item for item in items if position.is_behind(item)]
        if is_whole or len(items) > limit:
            return items, is_whole
        most *= 4


def _ask(reading: Reading, *, since: Seq, most: int) -> list[tuple[Seq, str, Document]]:
    rows = _read(reading, _RAISED, since=since, most=most, fired="watch_fire", due="commitment_review")
    return [(seq, activity_class, concept) for seq, activity_class, concept in rows]


def _read(reading: Reading, command: str, **parameters: Any) -> Any:
    from brain.agents.reading import ReadFailed

    try:
        return reading.ask(command, **parameters)
    except ReadFailed as failed:
        raise Unavailable("memory could not be read just now, or not in time; send the same request again") from failed


def _item(seq: Seq, activity_class: str, concept: Document) -> Document:
    """AttentionItem of one raise; that of a Watch has its targets once it is shown (`_with_targets`)."""
    attributes = concept.get("attributes", {})
    item: dict[str, Any] = {
        "ref": concept["id"],
        "kind": _KINDS[activity_class][0],
        "summary": attributes.get("summary") or concept.get("name") or "",
        "raised_seq": seq,
        "target_refs": [concept["id"]],
    }
    return item | {name: attributes[name] for name in ("due_at", "priority") if attributes.get(name) is not None}


def _with_targets(reading: Reading, item: Document) -> Document:
    if item["kind"] != "watch_fired":
        return item
    command = 'FIND(?t.id) WHERE { STRUCTURAL (:watch, "watches", ?t) }'
    return {**item, "target_refs": list(_read(reading, command, watch={"id": item["ref"]}))}


def _place(item: Document) -> tuple[int, int]:
    return item["raised_seq"], int(item["ref"][2:])
