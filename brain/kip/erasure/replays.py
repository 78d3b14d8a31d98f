"""Whether what an Activity did can be worked through again: never with inputs that are gone (KIP 2.0 §60.7)."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from brain.ids import is_element_id
from brain.kip.erasure.closure import artifacts, premises
from brain.store.base import Document, Element, Kind, Scan, Snapshot


def broken_replays(snapshot: Snapshot, erased: Collection[str]) -> Iterator[Document]:
    """What `replay_of` says of each Activity that one of these went into, as far as it is unavailable.

    erased  ids of elements, and names of artifacts that were kept elsewhere
    """
    for activity in snapshot.scan(Scan(Kind.ACTIVITY, states=frozenset({"active", "archived", "tombstoned"}))):
        told = replay_of(snapshot, activity, erased)
        if told["status"] == "unavailable":
            yield told


def replay_of(snapshot: Snapshot, activity: Element, erased: Collection[str]) -> Document:
    """`available`, or `unavailable` with the inputs that were erased; nothing is worked out in place of them."""
    used = {end["id"] for end in activity.body.get("inputs", ())} | premises(activity) | set(artifacts(activity))
    among = used & set(erased)
    held = snapshot.elements({one for one in among if is_element_id(one)})
    gone = sorted(one for one in among if one not in held or _is_erased(held[one]))
    return {"activity": activity.id, "status": "unavailable" if gone else "available", "inputs_unavailable": gone}


def _is_erased(element: Element) -> bool:
    return element.state == "purged" or (element.body.get("payload") or {}).get("status") == "purged"
