"""What every store derives from an element: its hot columns, its references and the text a search finds it by.

Pure functions of the element's body. A store keeps what they give beside the body and never anything else of its own,
so that rebuilding a store from its elements gives the same store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from brain.ids import is_element_id, lineage_of, object_key, parse_symbol
from brain.store.base import Document, Edge, Element, ElementId, Json, Kind
from brain.times import Seq

LONGEST_OBJECT = 200
"""Object keys of more characters are kept by digest, so that no index entry grows with a Literal."""

SEARCHED: Mapping[Kind, str] = {
    Kind.CONCEPT: "name, aliases, key and every string inside attributes, at any depth",
    Kind.PROPOSITION: "the Predicate's local name, and the object when it is a string or a number",
    Kind.ASSERTION: "nothing of its own: it is found by the text of its Proposition",
    Kind.EVIDENCE: "every string inside an inline payload",
    Kind.ACTIVITY: "activity_class",
}
"""What a search of each kind looks at, in words for people (§66.4)."""

_REFERENCES: Mapping[str, str | None] = {
    "asserted_by": None,
    "generated_by": None,
    "merged_into": None,
    "object": None,
    "proposition": None,
    "subject": None,
    "associated_actors": "associated_actors",
    "context_refs": "context",
    "evidence": "evidence",
    "inputs": "inputs",
    "outputs": "outputs",
    "source": "source",
}
"""Members that hold one reference, and those that hold many, with the field these stand under."""

_LINEAGE_OF_RECORD = frozenset({"supersedes", "superseded_by", "corrects", "corrected_by"})

_TYPE_MEMBER: Mapping[Kind, str] = {Kind.EVIDENCE: "evidence_class", Kind.ACTIVITY: "activity_class"}
_TYPE_SYMBOL: Mapping[Kind, str] = {Kind.CONCEPT: "schema_ref", Kind.PROPOSITION: "predicate_ref"}


@dataclass(frozen=True, slots=True)
class Columns:
    """The members of an element that stores index, each None where the kind has none.

    type        lineage of `schema_ref` or `predicate_ref`; `evidence_class`; `activity_class`
    status      Assertion and Evidence `lifecycle.status`, Activity `status`
    object_key  as `indexed_object` spells it
    """

    state: str
    type: str | None
    key: str | None
    name: str | None
    canonical_id: str | None
    status: str | None
    subject: ElementId | None
    object_key: str | None
    proposition: ElementId | None
    actor: ElementId | None
    merged_into: ElementId | None


def columns(element: Element) -> Columns:
    """The hot columns of one version."""
    body = element.body
    get = body.get
    lifecycle = get("lifecycle")
    return Columns(
        state=element.state,
        type=_type(element.kind, body),
        key=get("key"),
        name=get("name"),
        canonical_id=get("canonical_id"),
        status=get("status") or (lifecycle.get("status") if lifecycle else None),
        subject=_target(body["subject"]) if "subject" in body else None,
        object_key=indexed_object(object_key(body["object"])) if "object" in body else None,
        proposition=_target(body["proposition"]) if "proposition" in body else None,
        actor=_target(body["asserted_by"]) if "asserted_by" in body else None,
        merged_into=_target(body["merged_into"]) if "merged_into" in body else None,
    )


def indexed_object(key: str) -> str:
    """An object key as it stands in an index: itself, or `sha256:` and its digest when it is long."""
    if len(key) <= LONGEST_OBJECT:
        return key
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def edges(element: Element) -> list[Edge]:
    """Every reference the body holds, by field and position; a text that is no element id is no reference."""
    body = element.body
    found: dict[str, list[tuple[Json, str | None]]] = {}
    for member in body.keys() & _REFERENCES.keys():
        field = _REFERENCES[member]
        if field is None:
            found[member] = [(body[member], None)]
        else:
            found[field] = [(item, item.get("role") if field == "evidence" else None) for item in body[member]]
    lifecycle = body.get("lifecycle")
    if lifecycle:
        for field in lifecycle.keys() & _LINEAGE_OF_RECORD:
            found[field] = [(item, None) for item in lifecycle[field]]
    if "structural" in body:
        for symbol, items in body["structural"].items():
            # Two versions of one symbol are one field: their references stand in one row of places.
            found.setdefault(lineage_of(symbol), []).extend((item, None) for item in items)
    return [
        Edge(element.id, field, target, position, role)
        for field, items in found.items()
        for position, (item, role) in enumerate(items)
        if (target := _target(item)) is not None
    ]


def spells(history: Iterable[tuple[Seq, Element]]) -> list[tuple[Edge, Seq, Seq | None]]:
    """Every reference of an element over its versions, by age: from which commit on it was there, and until which; None
    for what is there now. One that is gone and comes again is there twice."""
    held: dict[Edge, Seq] = {}
    gone: list[tuple[Edge, Seq, Seq | None]] = []
    for since, element in history:
        now = edges(element)
        gone += [(edge, held.pop(edge), since) for edge in held.keys() - set(now)]
        for edge in now:
            held.setdefault(edge, since)
    return [*gone, *((edge, since, None) for edge, since in held.items())]


def text(element: Element) -> str:
    """The text of `SEARCHED`, its parts on lines of their own; empty when there is none."""
    return "\n".join(_texts(element.kind, element.body))


def _texts(kind: Kind, body: Document) -> Iterator[str]:
    if kind is Kind.CONCEPT:
        yield from _strings([body.get("name"), body.get("aliases"), body.get("key"), body.get("attributes")])
    elif kind is Kind.PROPOSITION:
        symbol = parse_symbol(body.get("predicate_ref") or "")
        if symbol is not None:
            yield symbol.name
        literal = body.get("object")
        if isinstance(literal, str | int | float) and not isinstance(literal, bool):
            yield literal if isinstance(literal, str) else object_key(literal)
    elif kind is Kind.EVIDENCE:
        yield from _strings((body.get("payload") or {}).get("inline"))
    elif kind is Kind.ACTIVITY:
        yield from _strings(body.get("activity_class"))


def _strings(value: Json) -> Iterator[str]:
    """Every string inside a JSON value, in document order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _type(kind: Kind, body: Document) -> str | None:
    symbol = _TYPE_SYMBOL.get(kind)
    if symbol is not None:
        ref = body.get(symbol)
        return lineage_of(ref) if ref else None
    member = _TYPE_MEMBER.get(kind)
    return None if member is None else body.get(member)


def _target(value: Json) -> ElementId | None:
    """The id a reference names, or None when the value is no reference."""
    if type(value) is dict:
        value = value.get("id")
        if type(value) is str and is_element_id(value):
            return value
    return None
