"""MemoryCitation: an element as the doors show it beside an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain.agents.jobs import Citation
from brain.agents.reading import Query, Reading
from brain.store.base import Document, Element, ElementId, Snapshot

_BY_ID = {
    "A": "FIND(?x) WHERE { ?x ASSERTION {state: ?s} FILTER(IN(?x.id, :ids)) }",
    "C": "FIND(?x) WHERE { ?x {state: ?s} FILTER(IN(?x.id, :ids)) }",
    "E": "FIND(?x) WHERE { ?x EVIDENCE {state: ?s} FILTER(IN(?x.id, :ids)) }",
    "P": "FIND(?x) WHERE { ?x (?subject, ?r, ?object) FILTER(IN(?x.id, :ids)) }",
    "X": "FIND(?x) WHERE { ?x ACTIVITY {state: ?s} FILTER(IN(?x.id, :ids)) }",
}


def citation(element: Element, snapshot: Snapshot) -> Citation:
    """One element in the wire shape of MemoryCitation; members without a value are left out.

    `name` of a claim is spelled out (`Alice works_for Acme`), `source` is who claims or said it.
    """
    named: dict[ElementId, Document] = {}
    for _ in range(2):  # a claim names a proposition, which names its ends
        wanted = _named_by(element.body, named) - set(named)
        named |= {i: found.body for i, found in snapshot.elements(wanted).items()}
    return _cite(element.body, named)


def cite(
    ids: Sequence[ElementId], reading: Reading, known: Mapping[ElementId, Document] | None = None
) -> tuple[Citation, ...]:
    """Several elements by id, in the order given; those a reader may not see are left out.

    known  the views of all of them, where the reader has them already
    """
    views = read_views(ids, reading) if known is None else {i: known[i] for i in ids}
    named = dict(views)
    for _ in range(2):
        wanted = {i for view in views.values() for i in _named_by(view, named)} - set(named)
        named |= read_views(sorted(wanted), reading)
    return tuple(_cite(views[i], named) for i in ids if i in views)


def read_views(ids: Sequence[ElementId], reading: Reading) -> dict[ElementId, Document]:
    """Elements by id, of every kind, in the order asked for."""
    kinds: dict[str, list[ElementId]] = {}
    for element_id in ids:
        kinds.setdefault(element_id[0], []).append(element_id)
    queries: list[Query] = [(_BY_ID[kind], {"ids": members}) for kind, members in kinds.items()]
    answers = reading.try_all(queries) if queries else []
    found = {view["id"]: view for answer in answers for view in answer.get("result") or ()}
    return {i: found[i] for i in ids if i in found}


def _named_by(body: Document, named: Mapping[ElementId, Document]) -> set[ElementId]:
    """The ids of elements that have to be read to name this one."""
    about = _id(body.get("proposition"))
    proposition = named.get(about) if about else body
    ids = {about, _id(_origin(body))}
    if proposition is not None:
        ids |= {_id(proposition.get("subject")), _id(proposition.get("object"))}
    return {i for i in ids if i}


def _cite(body: Document, named: Mapping[ElementId, Document]) -> Citation:
    members: dict[str, Any] = {
        "entity": body["id"],
        "type": _type(body),
        "name": _name(body, named),
        "confidence": body.get("confidence"),
        "source": _label(_origin(body), named),
        "created_at": (body.get("_system") or {}).get("created_at"),
    }
    return Citation(body["id"], {member: value for member, value in members.items() if value is not None})


def _type(body: Document) -> str:
    """The local name of its symbol, its class, or its kind."""
    if body.get("schema_ref"):
        return str(body["schema_ref"]).rpartition("/")[2]
    return str(body.get("evidence_class") or body.get("activity_class") or str(body["kind"]).capitalize())


def _name(body: Document, named: Mapping[ElementId, Document]) -> str | None:
    if body.get("schema_ref"):
        return body.get("name") or (body.get("attributes") or {}).get("summary") or body.get("key")
    about = named.get(_id(body.get("proposition")) or "")
    if about is not None:
        spelled = _spelled(about, named)
        return f"not: {spelled}" if body.get("stance") == "reject" else spelled
    return _spelled(body, named) if body.get("predicate_ref") else None


def _spelled(proposition: Document, named: Mapping[ElementId, Document]) -> str:
    predicate = str(proposition.get("predicate_ref", "")).rpartition("/")[2]
    return f"{_label(proposition.get('subject'), named)} {predicate} {_label(proposition.get('object'), named)}"


def _label(reference: object, named: Mapping[ElementId, Document]) -> str | None:
    """How a person calls what a reference means; a Literal is its own text."""
    element_id = _id(reference)
    if element_id is None:
        return None if reference is None or isinstance(reference, (dict, list)) else str(reference)
    body = named.get(element_id) or {}
    return str(body.get("name") or body.get("key") or element_id)


def _origin(body: Document) -> object:
    """Whose claim it is, or who the first source of Evidence is."""
    sources = body.get("source") or [None]
    return body.get("asserted_by") or sources[0]


def _id(reference: object) -> ElementId | None:
    return reference.get("id") if isinstance(reference, Mapping) else None
