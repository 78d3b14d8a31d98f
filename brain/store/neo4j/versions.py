"""A version as a node: what is indexed of it, and what a person sees of its element."""

from __future__ import annotations

from typing import Any

import orjson

from brain.ids import parse_symbol
from brain.store import rows
from brain.store.base import Element, Kind
from brain.store.neo4j import members
from brain.store.neo4j.keys import FOREVER, indexed, kind_of, number_of
from brain.store.neo4j.state import json_text
from brain.times import Seq


def stored(element: Element) -> dict[str, Any]:
    """The properties that follow from an element, without its Space and the sequences it holds for; None where it has
    none."""
    columns = rows.columns(element)
    return {
        "id": element.id,
        "kind": element.kind.value,
        "number": number_of(element),
        "state": columns.state,
        "type": indexed(columns.type),
        "key": indexed(columns.key),
        "name": indexed(columns.name),
        "canonical_id": indexed(columns.canonical_id),
        "status": columns.status,
        "subject": columns.subject,
        "object_key": columns.object_key,
        "proposition": columns.proposition,
        "actor": columns.actor,
        "merged_into": columns.merged_into,
        "cites": _cited(element),
        **members.stored(element.body),
        "body": json_text(element.body),
    }


def _cited(element: Element) -> list[str] | None:
    """The Evidence of an Assertion, in a property that no index has: its relationships are not to be walked."""
    if element.kind is not Kind.ASSERTION:
        return None
    return sorted({edge.target for edge in rows.edges(element) if edge.field == "evidence"}) or None


def version(element: Element, space: str, since: Seq) -> dict[str, Any]:
    """Every property of a version that holds from a sequence on."""
    return stored(element) | {"space": space, "from_seq": since, "to_seq": FOREVER}


def shown(element: Element) -> dict[str, Any]:
    """What the element's own node says to a person: a name, its type and its state; None for what it has not."""
    columns = rows.columns(element)
    body = element.body
    symbol = parse_symbol(body.get("schema_ref") or body.get("predicate_ref") or "")
    local = symbol.name if symbol else None
    match element.kind:
        case Kind.CONCEPT:
            name = columns.name or columns.key
        case Kind.PROPOSITION:
            name = local
        case Kind.ASSERTION:
            name = " ".join(text for text in (body.get("mode"), body.get("stance")) if isinstance(text, str))
        case _:
            name = columns.type
    literal = body.get("object")
    return {
        "name": name,
        "type": local or columns.type,
        "state": columns.state,
        "status": columns.status,
        "key": columns.key,
        "value": literal if isinstance(literal, str | int | float | bool) else None,
    }


def element_of(body: str) -> Element:
    document = orjson.loads(body)
    return Element(document["id"], kind_of(document["id"]), document)
