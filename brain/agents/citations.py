"""MemoryCitation: an element as the doors show it beside an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain.agents.jobs import Citation
from brain.store.base import Element, ElementId, Kind, Snapshot


def citation(element: Element, snapshot: Snapshot) -> Citation:
    """One element in the wire shape of MemoryCitation; members without a value are left out.

    `name` of a claim is spelled out (`Alice works_for Acme`), `source` is who claims or said it.
    """
    return _cite(element, snapshot.elements(_named_by(element, snapshot)))


def citations(elements: Sequence[Element], snapshot: Snapshot) -> tuple[Citation, ...]:
    """Several, in the order given, reading what they name once."""
    wanted: set[ElementId] = set()
    for element in elements:
        wanted |= _named_by(element, snapshot)
    named = snapshot.elements(wanted)
    return tuple(_cite(element, named) for element in elements)


def _named_by(element: Element, snapshot: Snapshot) -> set[ElementId]:
    """The ids of elements that have to be read to name this one."""
    proposition = element
    ids = {i for i in (_id(_origin(element)),) if i}
    if element.kind is Kind.ASSERTION:
        about = _id(element.body.get("proposition"))
        found = snapshot.elements([about]) if about else {}
        ids |= set(found)
        if about not in found:
            return ids
        proposition = found[about]
    if proposition.kind is Kind.PROPOSITION:
        ids |= {i for i in (_id(proposition.body.get("subject")), _id(proposition.body.get("object"))) if i}
    return ids


def _cite(element: Element, named: Mapping[ElementId, Element]) -> Citation:
    body = element.body
    members: dict[str, Any] = {
        "entity": element.id,
        "type": _type(element),
        "name": _name(element, named),
        "confidence": body.get("confidence"),
        "source": _label(_origin(element), named),
        "created_at": body["_system"].get("created_at"),
    }
    wire = {member: value for member, value in members.items() if value is not None}
    return Citation(element.id, wire)


def _type(element: Element) -> str:
    """The local name of its symbol, its class, or its kind."""
    body = element.body
    if element.kind is Kind.CONCEPT and body.get("schema_ref"):
        return str(body["schema_ref"]).rpartition("/")[2]
    return str(body.get("evidence_class") or body.get("activity_class") or element.kind.value.capitalize())


def _name(element: Element, named: Mapping[ElementId, Element]) -> str | None:
    body = element.body
    if element.kind is Kind.CONCEPT:
        return body.get("name") or (body.get("attributes") or {}).get("summary") or body.get("key")
    if element.kind is Kind.ASSERTION:
        about = named.get(_id(body.get("proposition")) or "")
        spelled = _spelled(about, named) if about else None
        return f"not: {spelled}" if spelled and body.get("stance") == "reject" else spelled
    if element.kind is Kind.PROPOSITION:
        return _spelled(element, named)
    return None


def _spelled(proposition: Element, named: Mapping[ElementId, Element]) -> str:
    body = proposition.body
    predicate = str(body.get("predicate_ref", "")).rpartition("/")[2]
    return f"{_label(body.get('subject'), named)} {predicate} {_label(body.get('object'), named)}"


def _label(reference: object, named: Mapping[ElementId, Element]) -> str | None:
    """How a person calls what a reference means; a Literal is its own text."""
    element_id = _id(reference)
    if element_id is None:
        return None if reference is None or isinstance(reference, (dict, list)) else str(reference)
    element = named.get(element_id)
    if element is None:
        return element_id
    return str(element.body.get("name") or element.body.get("key") or element_id)


def _origin(element: Element) -> object:
    """Whose claim it is, or who the first source of Evidence is."""
    sources = element.body.get("source") or [None]
    return element.body.get("asserted_by") or sources[0]


def _id(reference: object) -> ElementId | None:
    if isinstance(reference, Mapping):
        return reference.get("id")
    return None
