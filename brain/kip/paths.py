"""Members of elements as a reader sees them: the stored body and what a read computes (KIP 2.0 §18.2, §44.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brain.ids import lineage_of
from brain.kip.algebra import Lineages, PathStep
from brain.kip.strength import effective_strength
from brain.store.base import Document, Element, ElementId, Json
from brain.times import Timestamp

MNEMONIC_STATE = "kip://profiles/cognitive-memory/MnemonicState"
"""The lineage of the Facet that has a computed member, `effective_strength`."""

VALID_RECORDING: Document = {"status": "valid", "repair_ref": None}
"""What holds of everything no repair invalidated."""

Canonical = Callable[[ElementId], ElementId]
"""Where an id leads after following merges."""


def view(element: Element, now: Timestamp) -> Document:
    """The whole element as FIND(?x) shows it: the stored body, with computed Facet members filled in.

    The computed `canonical_subject` and `canonical_object` of a Proposition are read by path; a closed element schema
    has no place for them here.
    """
    facets = element.body.get("facets")
    if not facets:
        return element.body
    for symbol, state in facets.items():
        if lineage_of(symbol) == MNEMONIC_STATE:
            computed = {**state, "effective_strength": effective_strength(state, now)}
            return {**element.body, "facets": {**facets, symbol: computed}}
    return element.body


def member(element: Element, steps: tuple[PathStep, ...], now: Timestamp, canonical: Canonical) -> Json:
    """What a path leads to, null when there is nothing."""
    first = steps[0]
    if first == "canonical_subject" or first == "canonical_object":
        return follow(_resolved(element.body.get(first.removeprefix("canonical_")), canonical), steps[1:])
    if is_recording(steps):
        return follow(element.body["_system"].get("recording_validity", VALID_RECORDING), steps[2:])
    return follow(view(element, now) if first == "facets" else element.body, steps)


def follow(value: Json, steps: tuple[PathStep, ...]) -> Json:
    """The value further down a path; null as soon as a member is missing."""
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step) if isinstance(step, str) else named(value, step)
    return value


def is_stored(steps: tuple[PathStep, ...]) -> bool:
    """Whether a path leads into the stored body alone, so that `follow` is all there is to it."""
    return steps[0] not in ("canonical_object", "canonical_subject", "facets") and not is_recording(steps)


def is_recording(steps: tuple[PathStep, ...]) -> bool:
    """Whether a path leads to whether an element was recorded as it was said, which only a repair stores (§57.8)."""
    return steps[:2] == ("_system", "recording_validity")


def named(members: Mapping[str, Any], symbol: Lineages) -> Json:
    """The member kept under a symbol, whichever version of its lineage it was written with."""
    for key, value in members.items():
        if lineage_of(key) in symbol.lineages:
            return value
    return None


def _resolved(end: Json, canonical: Canonical) -> Json:
    if isinstance(end, Mapping) and isinstance(end.get("id"), str):
        return {**end, "id": canonical(end["id"])}
    return end
