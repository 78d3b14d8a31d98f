"""Where an element's body refers to other elements, and the same body under other ids (KIP 2.0 §37.7, §41.7).

Only declared references count. A text that looks like an id, in an attribute or a payload, is a text. What a Facet
refers to along its `reference_paths` keeps the source's ids, as that declaration says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brain.kip.schema.environment import Environment
from brain.kip.validate import references_in
from brain.store.base import Document, ElementId, Json

MEANING = frozenset({"subject", "object", "proposition", "asserted_by", "context_refs", "merged_into"})
"""References without which nobody can say what an element says."""

ORIGIN = frozenset({"evidence", "source", "generated_by", "inputs", "outputs", "associated_actors"})
"""References that tell where an element comes from."""

_PLAIN = MEANING | ORIGIN
_NESTED = ("lifecycle", "structural")
_LINEAGE = frozenset({"supersedes", "superseded_by", "corrects", "corrected_by"})
_PINS = ("input_versions", "output_versions", "output_plane_versions")


def references(body: Document) -> Iterator[tuple[str, ElementId]]:
    """Each reference of an element as (member, id), Facets left out; `lifecycle` and `structural` name all below."""
    for name, value in body.items():
        if name in _PLAIN:
            yield from ((name, found) for found in _ids(value))
        elif name in _NESTED and isinstance(value, Mapping):
            for below, held in value.items():
                if name == "structural" or below in _LINEAGE:
                    yield from ((name, found) for found in _ids(held))


def facet_references(environment: Environment, body: Document) -> Iterator[tuple[str, ElementId]]:
    """What attributes and Facets refer to along the paths their definitions declare, as (path, source id)."""
    schema_ref = body.get("schema_ref")
    if isinstance(schema_ref, str) and isinstance(body.get("attributes"), Mapping):
        definition = environment.exact_concept_type(schema_ref)
        for path, found in references_in(definition, body["attributes"]):
            yield f"attributes{path}", found
    for ref, value in body.get("facets", {}).items():
        for path, found in references_in(environment.exact_facet(ref), value):
            yield f"facets[{ref}]{path}", found


def renamed(body: Document, name_of: Callable[[ElementId], ElementId]) -> dict[str, Any]:
    """The body with every reference under its other name, the versions its references were pinned at included."""
    shown: dict[str, Any] = {}
    for name, value in body.items():
        if name in _PLAIN:
            shown[name] = _mapped(value, name_of)
        elif name in _NESTED and isinstance(value, Mapping):
            shown[name] = {
                below: _mapped(held, name_of) if name == "structural" or below in _LINEAGE else held
                for below, held in value.items()
            }
        else:
            shown[name] = value
    return shown


def pins(system: Document, name_of: Mapping[ElementId, ElementId]) -> dict[str, Any]:
    """The versions an Activity worked with, by the other names of what it refers to."""
    return {
        name: {name_of[key]: value for key, value in system[name].items() if key in name_of}
        for name in _PINS
        if name in system
    }


def _ids(value: Json) -> Iterator[ElementId]:
    for entry in value if isinstance(value, list | tuple) else (value,):
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
            yield entry["id"]


def _mapped(value: Json, name_of: Callable[[ElementId], ElementId]) -> Json:
    if isinstance(value, list | tuple):
        return [_mapped(entry, name_of) for entry in value]
    if isinstance(value, Mapping) and isinstance(value.get("id"), str):
        return {**value, "id": name_of(value["id"])}
    return value
