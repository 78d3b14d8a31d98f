"""Whether what an Activity did can be worked through again: never with inputs that are gone (KIP 2.0 §60.7)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from brain.store.base import Document, EdgeScan, Element, ElementId, Kind, Snapshot, element_number


def broken_replays(snapshot: Snapshot, erased: Collection[ElementId]) -> Iterator[Document]:
    """Activities with one of these inputs, each with what `replay_of` says of it."""
    using = snapshot.edges(EdgeScan(fields=frozenset({"inputs"}), targets=frozenset(erased)))
    found = snapshot.elements({edge.source for edge in using} | {one for one in erased if one[0] == "X"})
    for activity in sorted(found.values(), key=lambda one: element_number(one.id)):
        if activity.kind is Kind.ACTIVITY:
            told = replay_of(snapshot, activity)
            if told["status"] == "unavailable":
                yield told


def replay_of(snapshot: Snapshot, activity: Element) -> Document:
    """`available`, or `unavailable` with the inputs that were erased; nothing is worked out in place of them."""
    inputs = [end["id"] for end in activity.body.get("inputs", ())]
    held = snapshot.elements(inputs)
    gone = [one for one in inputs if one not in held or _is_erased(held[one])]
    facets = activity.body.get("facets", {}).values()
    taken = any(members.get("replay_artifact") == {"status": "unavailable"} for members in facets)
    status = "unavailable" if gone or taken else "available"
    return {"activity": activity.id, "status": status, "inputs_unavailable": gone}


def _is_erased(element: Element) -> bool:
    return element.state == "purged" or (element.body.get("payload") or {}).get("status") == "purged"
