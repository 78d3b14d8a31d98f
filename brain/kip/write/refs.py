"""From what a write says to the element it means (KIP 2.0 §8, §11.3, §53.2).

A reference is an id string, `{"id"}`, `{"type", "key"}`, a validated `{"canonical_id"}`, or a handle of the block. A
name is never one: names may repeat. References to a merged Concept land on the one it was merged into, and the write
keeps what was named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from brain import errors
from brain.ids import is_element_id
from brain.kip.search import with_likeness
from brain.kip.write.work import Workspace
from brain.store.base import ElementId, Kind, Scan, SearchQuery

_CANDIDATES = 3


def reference(
    work: Workspace, value: Any, *, holder: ElementId | None, path: str, kinds: Collection[Kind] | None = None
) -> ElementId:
    """The element a value refers to, merges followed.

    holder, path  whose member the reference becomes, for the record of what was supplied
    kinds         admitted element kinds; None admits all
    raises        NotFoundOrNotVisible with the nearest candidates, IdentitySelectorRequired for a description,
                  StructuralReferenceInvalid for an element of another kind, TypeMismatch for what is no reference
    """
    supplied = named(work, value, path)
    resolved = work.canonical(supplied) if supplied.startswith("C-") else supplied
    body = work.body(resolved)
    if body is None or body["_system"]["state"] == "purged":
        raise missing(work, f"{path} names {supplied}, and no such element is here.")
    if kinds is not None and body["kind"] not in kinds:
        wanted = " or ".join(sorted(kind.value.capitalize() for kind in kinds))
        raise errors.StructuralReferenceInvalid(
            f"{path} names {resolved}, which is {_an(body['kind'])}; {_an(wanted)} is needed.",
            details={"path": path, "element": resolved, "found": body["kind"]},
        )
    if holder is not None:
        work.note_reference(holder, path, supplied, resolved)
    return resolved


def named(work: Workspace, value: Any, path: str) -> ElementId:
    """The id a value names, without following merges and, for an id, without asking whether it exists."""
    if isinstance(value, str):
        if is_element_id(value):
            return value
        raise missing(work, f"{path} names {value!r}, which is no element id.", text=value)
    if not isinstance(value, (dict, Mapping)):
        raise errors.TypeMismatch(
            f"{path} takes a reference to an element.",
            hint='Give an id string, {"id": …} or {"type": …, "key": …}.',
            details={"path": path},
        )
    members = set(value)
    if members == {"id"}:
        if isinstance(value["id"], str) and is_element_id(value["id"]):
            return value["id"]
        raise errors.TypeMismatch(f"{path}: the id of a reference is an element id string.", details={"path": path})
    if members == {"type", "key"}:
        return _by_type_and_key(work, value["type"], value["key"], path)
    if members == {"canonical_id"}:
        found = by_canonical_id(work, value["canonical_id"])
        if found is None:
            raise missing(work, f"{path} names the canonical id {value['canonical_id']!r}, which no Concept here has.")
        return found
    if "space_id" in members or "element_id" in members:
        raise errors.UnsupportedCapability(
            "References to other Spaces are not offered.", hint="Name an element of this Space.", details={"path": path}
        )
    raise errors.IdentitySelectorRequired(
        f"{path} describes an element where it has to name one.",
        hint='Use a handle of this block, an id, or {"type": …, "key": …}; SEARCH or FIND shows ids.',
        details={"path": path, "candidates": _candidates(work, value.get("name"), value.get("type"))},
    )


def by_canonical_id(work: Workspace, canonical_id: Any) -> ElementId | None:
    """The active Concept that carries a canonical id, if one does."""
    if not isinstance(canonical_id, str) or not canonical_id:
        raise errors.TypeMismatch("A canonical id is a non-empty string.")
    for draft in work.drafts.values():
        if draft.body.get("canonical_id") == canonical_id and draft.state == "active":
            return draft.id
    found = next(work.seen.scan(Scan(Kind.CONCEPT, canonical_id=canonical_id, limit=1)), None)
    return found.id if found else None


def missing(
    work: Workspace, message: str, *, text: str | None = None, type_name: str | None = None
) -> errors.NotFoundOrNotVisible:
    """The error for a reference that leads nowhere, with the elements most like what was written."""
    candidates = _candidates(work, text, type_name)
    if not candidates:
        return errors.NotFoundOrNotVisible(message)
    listed = ", ".join(f"{c['id']} ({c.get('name') or c.get('key') or c['type']})" for c in candidates)
    return errors.NotFoundOrNotVisible(
        message, hint=f"Close to it: {listed}. Name one by id, or create it first.", details={"candidates": candidates}
    )


def _by_type_and_key(work: Workspace, type_name: Any, key: Any, path: str) -> ElementId:
    if not isinstance(type_name, str) or not isinstance(key, str):
        raise errors.TypeMismatch(f"{path}: type and key of a reference are strings.", details={"path": path})
    found = work.concepts_by_key(key, work.environment.lineages("concept_type", type_name))
    if found:
        return found[0]
    raise missing(work, f"{path} names the {type_name} {key!r}, which is not here.", text=key, type_name=type_name)


def _candidates(work: Workspace, text: Any, type_name: Any) -> list[dict[str, Any]]:
    if not isinstance(text, str) or not text.strip():
        return []
    lineages = None
    if isinstance(type_name, str):
        try:
            lineages = work.environment.lineages("concept_type", type_name)
        except errors.KipError:
            lineages = None
    words = text.replace(":", " ").replace("_", " ").replace("-", " ")
    hits = work.seen.search(with_likeness(SearchQuery(Kind.CONCEPT, words, lineages, _CANDIDATES), work.run))
    bodies = work.seen.elements([hit.id for hit in hits])
    candidates = []
    for hit in hits:
        if hit.id in bodies:
            body = bodies[hit.id].body
            shown = {"id": hit.id, "type": work.environment.local_name(body["schema_ref"])}
            candidates.append(shown | {name: body[name] for name in ("name", "key") if body.get(name)})
    return candidates


def _an(word: str) -> str:
    return f"{'an' if word[0] in 'AEIOUaeiou' else 'a'} {word}"
