"""Elements as a packet shows them: whole, short, with their ids, versions and provenance, and what was left out named.

An item is one JSON object whose first member is its `id`. What makes the meaning of an element is never shortened;
other long members are left out and named in `recall_detail`, to be fetched by the element's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from brain.agents.reading import ref_id
from brain.agents.spoken import spoken
from brain.agents.standing import actor_of
from brain.packet.claims import Claim
from brain.store.base import Document, ElementId

Wire = dict[str, Any]

LONG = 1_000
"""Characters of JSON from which on a member that is not essential is left out."""

_PAYLOAD = 2_000
_VOICES = 4
_TARGETS = 8

ESSENTIAL = frozenset({"summary", "status", "due_at", "due", "insight_class", "scope", "skill_class"})
"""Attributes that are told however long they are, beside those a type requires."""

_SORTS = {"Commitment": "commitment", "Event": "event", "Insight": "insight"}


def compact(value: Any) -> str:
    """JSON without white space, written as the doors write it, to the byte."""
    return orjson.dumps(value).decode()


@dataclass(frozen=True)
class Item:
    """One item of a packet.

    wire      as it stands there
    required  whether the packet is no good without it
    """

    wire: Document
    required: bool = False

    @property
    def id(self) -> str:
        return str(self.wire["id"])

    @cached_property
    def text(self) -> str:
        """Its JSON text."""
        return compact(self.wire)


@dataclass(frozen=True, slots=True)
class Shown:
    """What items are told with.

    labels    Concepts by id, as references show them
    told      the Evidence that things were taken from, by the things' ids: `(Evidence, observed at)`
    essential required attributes by type reference, as far as they were looked up
    """

    labels: Mapping[ElementId, Document]
    told: Mapping[ElementId, Sequence[tuple[ElementId, str]]]
    essential: Mapping[str, frozenset[str]]

    def ref(self, element_id: ElementId) -> Document:
        return self.labels.get(element_id, {"id": element_id})


def warning_item(code: str, text: str) -> Item:
    """Something the reader of a packet has to know about it."""
    return Item({"id": f"warning:{code}", "kind": "warning", "code": code, "text": text}, required=True)


def claim_item(claim: Claim, shown: Shown) -> Item:
    """A Proposition with its belief and whoever spoke to it."""
    testimony = claim.testimony
    assert testimony is not None  # noqa: S101 - only what was weighed becomes an item
    wire: Wire = {
        "id": claim.id,
        "kind": "claim",
        "version": _version(claim.proposition),
        "subject": _end(claim.subject, shown),
        "predicate": claim.predicate,
        "object": _end(claim.object, shown),
        "belief": claim.belief.get("status"),
        "standing": testimony.standing,
    }
    for name, text in (("since", spoken(testimony.since)), ("until", spoken(testimony.until))):
        if text:
            wire[name] = text
    if testimony.ended_by:
        wire["ended_by"] = list(testimony.ended_by)
    if claim.then is not None:
        wire["belief_then"] = claim.then
    wire["said"] = [_said(assertion, shown) for assertion in testimony.voices[:_VOICES]]
    more = len(testimony.voices) - _VOICES
    if more > 0:
        wire["recall_detail"] = {"left_out": ["said"], "more": more}
    return Item(wire)


def _said(assertion: Document, shown: Shown) -> Wire:
    actor = actor_of(assertion)
    said: Wire = {"id": assertion["id"], "version": _version(assertion)}
    if actor:
        said["by"] = shown.ref(actor)
    said |= {name: assertion[name] for name in ("asserted_at", "stance", "mode", "confidence") if name in assertion}
    said["evidence"] = [i for cited in assertion.get("evidence") or () if (i := ref_id(cited))]
    return said


def concept_item(view: Document, shown: Shown, *, required: bool = False) -> Item:
    """A Concept: a person or thing, a happening, a promise, a rule."""
    wire, left_out = _concept(view, shown)
    return Item(_with_detail(wire, left_out), required)


def procedure_item(skill: Document, revision: Document, shown: Shown) -> Item:
    """A Skill with its current revision, whole: what has to hold before it and how to tell that it worked included."""
    wire, left_out = _concept(skill, shown)
    wire["kind"] = "procedure"
    is_revoked = (skill.get("attributes") or {}).get("status") == "revoked"
    wire["standing"] = "revoked" if is_revoked else "unproven"
    wire["revision"] = {
        "id": revision["id"],
        "version": _version(revision),
        "attributes": dict(revision.get("attributes") or {}),
    }
    return Item(_with_detail(wire, left_out))


def evidence_item(view: Document, shown: Shown) -> Item:
    """What was observed, as it came."""
    wire: Wire = {
        "id": view["id"],
        "kind": "evidence",
        "version": _version(view),
        "class": view.get("evidence_class"),
        "observed_at": view.get("observed_at"),
        "source": [shown.ref(i) for source in view.get("source") or () if (i := ref_id(source))],
    }
    payload = view.get("payload")
    content = payload.get("inline") if isinstance(payload, Mapping) else payload
    is_short = content is not None and len(compact(content)) <= _PAYLOAD
    if is_short:
        wire["payload"] = content
    return Item(_with_detail(wire, [] if is_short or payload is None else ["payload"]))


def type_of(view: Document) -> str:
    """The local name of a Concept's type."""
    return str(view.get("schema_ref") or "").rpartition("/")[2]


def links_of(view: Document) -> dict[str, list[ElementId]]:
    """What a Concept's structural members lead to, by local name."""
    found: dict[str, list[ElementId]] = {}
    for name, targets in (view.get("structural") or {}).items():
        listed = targets if isinstance(targets, list) else [targets]
        ids = [i for target in listed if (i := ref_id(target))]
        if ids:
            found[str(name).rpartition("/")[2]] = ids
    return found


def long_attributes(view: Document) -> list[str]:
    """Attributes that are told only where they are essential."""
    attributes = view.get("attributes") or {}
    return [n for n, value in attributes.items() if n not in ESSENTIAL and len(compact(value)) > LONG]


def label(view: Document) -> Wire:
    """A Concept as references show it."""
    attributes = view.get("attributes") or {}
    name = view.get("name") or attributes.get("summary") or view.get("key")
    # A name that is a whole text is read where the Concept itself is shown; half of it would be another name.
    name = str(name) if name and len(str(name)) <= LONG else None
    shown = {"id": view["id"], "name": name, "type": type_of(view) or None}
    return {member: value for member, value in shown.items() if value is not None}


def _concept(view: Document, shown: Shown) -> tuple[Wire, list[str]]:
    kept = shown.essential.get(str(view.get("schema_ref")), frozenset())
    left_out = [f"attributes.{name}" for name in long_attributes(view) if name not in kept]
    wire: Wire = {
        "id": view["id"],
        "kind": _SORTS.get(type_of(view), "concept"),
        "version": _version(view),
        "type": type_of(view),
    }
    wire |= {member: view[member] for member in ("name", "key", "aliases") if view.get(member)}
    attributes = {n: v for n, v in (view.get("attributes") or {}).items() if f"attributes.{n}" not in left_out}
    if attributes:
        wire["attributes"] = attributes
    for name, ids in links_of(view).items():
        wire.setdefault("links", {})[name] = [shown.ref(i) for i in ids[:_TARGETS]]
        if len(ids) > _TARGETS:
            left_out.append(f"structural.{name}")
    if view.get("facets"):
        left_out.append("facets")
    wire["recorded_at"] = (view.get("_system") or {}).get("created_at")
    told = shown.told.get(view["id"])
    if told:
        wire["evidence"] = [evidence for evidence, _ in told]
        wire["said_at"] = min(at for _, at in told)
    return wire, left_out


def _with_detail(wire: Wire, left_out: Sequence[str]) -> Wire:
    return {**wire, "recall_detail": {"left_out": list(left_out)}} if left_out else wire


def _version(view: Document) -> int:
    return int((view.get("_system") or {}).get("version") or 1)


def _end(end: Any, shown: Shown) -> Any:
    element_id = ref_id(end)
    if element_id is None:
        return end
    return shown.labels.get(element_id) or (label(end) if "schema_ref" in end else {"id": element_id})
