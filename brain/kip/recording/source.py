"""The source a repair goes back to: its bytes, a place in them, and the instants it tells of (KIP 2.0 §13.2, §57.8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from brain import errors
from brain.ids import canonical_json
from brain.store.base import EdgeScan, Element, ElementId, Json, Kind, Snapshot
from brain.times import Timestamp, timestamp

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BYTES = re.compile(r"bytes:(\d{1,15})-(\d{1,15})")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)")


def check_source(source: Element, digest: str, locator: str) -> None:
    """Whether this is the very content the repair was judged on, and the place is in it.

    raises  TypeMismatch for what is no Evidence, DigestMismatch, ConstraintViolation for bytes that are not at hand and
            for a place that is not there
    """
    if source.kind is not Kind.EVIDENCE:
        raise errors.TypeMismatch(f"{source.id} is no Evidence, so nothing was recorded from it.")
    payload = source.body.get("payload") or {}
    if source.state == "purged" or payload.get("mode") != "inline":
        raise errors.ConstraintViolation(
            f"The content of {source.id} is not here to compare with.",
            hint="Quarantine the claim instead, or let its actor be asked.",
            details={"element": source.id},
        )
    if source.body["content_digest"] != digest:
        raise errors.DigestMismatch(
            f"{source.id} does not have the content the repair was judged on.",
            details={"declared": digest, "found": source.body["content_digest"]},
        )
    if not _is_place(payload["inline"], locator):
        raise errors.ConstraintViolation(
            f"The source has no place {locator!r}.",
            hint="Write bytes:START-END, an end past the last byte, or a JSON Pointer such as /messages/0/text.",
            details={"member": "source_locator"},
        )


def claim_times(source: Element) -> frozenset[Timestamp]:
    """When a claim found in the source may have been made: when it was observed, and every instant it states."""
    inline = (source.body.get("payload") or {}).get("inline")
    stated = {timestamp(_ms(found)) for text in _strings(inline) for found in _INSTANT.findall(text) if _is_real(found)}
    return frozenset({source.body["observed_at"], *stated})


def cited(element: Element) -> set[ElementId]:
    """The Evidence a claim cites in its own support."""
    return {item["id"] for item in element.body.get("evidence", ()) if item.get("role", "support") == "support"}


def goes_back_to(snapshot: Snapshot, element: Element, source: ElementId) -> bool:
    """Whether an element cites a source, names it as its own, or came out of an Activity the source went into."""
    if source in cited(element) or source in {item["id"] for item in element.body.get("source", ())}:
        return True
    makers = snapshot.edges(EdgeScan(fields=frozenset({"outputs"}), targets=frozenset({element.id})))
    activities = frozenset(edge.source for edge in makers)
    if not activities:
        return False
    inputs = EdgeScan(sources=activities, fields=frozenset({"inputs"}), targets=frozenset({source}))
    return bool(snapshot.edges(inputs))


def _is_place(payload: Json, locator: str) -> bool:
    found = _BYTES.fullmatch(locator)
    if found is not None:
        size = len(payload.encode() if isinstance(payload, str) else canonical_json(payload))
        return int(found[1]) < int(found[2]) <= size
    return locator.startswith("/") and not isinstance(payload, str) and _points(payload, locator[1:].split("/"))


def _points(value: Json, steps: list[str]) -> bool:
    """RFC 6901, without the place behind the end of an array."""
    for step in steps:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and re.fullmatch(r"0|[1-9]\d{0,8}", name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return False
    return True


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _is_real(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _ms(text: str) -> int:
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)
