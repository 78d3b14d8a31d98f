"""What a change amounts to: plane counters, `_system`, and the change envelope's entry (KIP 2.0 §6.3, §35.5, §36.1).

Everything here compares an element before and after a transaction. Nothing has to be noted while clauses are applied,
so three clauses on one element make one version, and a clause that writes what was there already makes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brain.ids import lineage_of
from brain.kip.schema import Environment
from brain.store.base import Element, Kind
from brain.times import Seq, Timestamp

NO_VALUE: Any = object()
"""Stands for a member that is not set; JSON null is a value."""

_ENVELOPE = frozenset({"_system", "governance", "id", "kind", "space_id"})
_STANDING = frozenset({"lifecycle", "merged_into", "status"})
_TUPLE = frozenset({"object", "predicate_ref", "subject"})
_REFERENCES = frozenset({"associated_actors", "evidence", "generated_by", "inputs", "outputs", "source"})
_OTHER_PLANES = frozenset({"facets", "retention", "structural"})
_OUTSIDE = _ENVELOPE | _STANDING | _REFERENCES | _OTHER_PLANES | {"schema_ref"}
_OUTSIDE_OF_TUPLES = _OUTSIDE | _TUPLE

LocalName = Callable[[str], str]
"""How a person writes an exact symbol reference."""


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are one: 1 and 1.0 are, 1 and true are not."""
    if left is True or left is False or right is True or right is False:
        return left is right
    if isinstance(left, dict):
        return isinstance(right, dict) and left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def standing(element: Element) -> str:
    """The stored state a person would name: where the element is, else how far its own lifecycle got."""
    if element.state != "active":
        return element.state
    if element.kind is Kind.ACTIVITY:
        return str(element.body["status"])
    lifecycle = element.body.get("lifecycle")
    return str(lifecycle["status"]) if lifecycle else "active"


def stamp(
    original: Element | None,
    body: Mapping[str, Any],
    *,
    seq: Seq,
    tx_id: str,
    now: Timestamp,
    origin: Mapping[str, Any],
    environment: Environment,
) -> Element:
    """The element's new version with its engine-written `_system`.

    original  the element as the transaction found it, None when the transaction creates it
    body      the new content; its `_system` may carry `state`, `input_references` and the like, the rest is set here
    """
    old = original.body if original else {}
    before = old.get("_system", {})
    system = dict(body["_system"])
    system["version"] = before.get("version", 0) + 1
    system["created_at"] = before.get("created_at", now)
    system["created_tx"] = before.get("created_tx", tx_id)
    system["origin"] = before.get("origin", dict(origin))
    system["updated_at"] = now
    system["updated_tx"] = tx_id
    system["space_seq"] = seq
    counters = before.get("plane_versions", {})
    system["plane_versions"] = _plane_versions(_comparable(old, body), body, counters, environment.local_name)
    return Element(body["id"], Kind(body["kind"]), {**body, "_system": system})


def changed_content(before: Element, body: Mapping[str, Any]) -> bool:
    """Whether a working copy differs from the element in anything a write may change."""
    ours = {name: value for name, value in body.items() if name != "_system"}
    theirs = {name: value for name, value in before.body.items() if name != "_system"}
    return bool(body["_system"]["state"] != before.state) or not same(ours, theirs)


def change_entry(before: Element | None, after: Element, environment: Environment) -> dict[str, Any]:
    """The envelope's entry for one element: names and counters, never values."""
    entry: dict[str, Any] = {"op": _operation(before, after), "kind": after.kind.value, "id": after.id}
    body = after.body if before is None else before.body
    if after.kind is Kind.CONCEPT and "schema_ref" in body:
        entry["schema_ref"] = body["schema_ref"]
    if before is not None:
        entry["old_version"] = before.version
    entry["new_version"] = after.version
    if entry["op"] == "lifecycle" and before is not None:
        entry["state"] = {"from": standing(before), "to": standing(after)}
    if refs := _refs(body, after, entry["op"]):
        entry["refs"] = refs
    if before is not None:
        entry["touched"] = sorted(_touched(before.body, after.body, environment.local_name))
        old, new = before.body["_system"]["plane_versions"], after.body["_system"]["plane_versions"]
        if old != new:
            entry["planes"] = new
    return entry


def _refs(body: Mapping[str, Any], after: Element, operation: str) -> dict[str, Any]:
    if operation == "purge":
        return {}
    if operation == "merge":
        return {"merged_into": after.body["merged_into"]["id"]}
    if after.kind is Kind.ASSERTION and "proposition" in body:
        return {"proposition": body["proposition"]["id"]}
    if after.kind is Kind.PROPOSITION and "subject" in body:
        subject = body["subject"]
        return {"subject": subject["id"], "predicate_ref": body["predicate_ref"]}
    return {}


def _operation(before: Element | None, after: Element) -> str:
    if before is None:
        return "create"
    if after.state == "purged" and before.state != "purged":
        return "purge"
    if after.body.get("payload") == {"status": "purged"} != before.body.get("payload"):
        return "payload_purge"
    if "merged_into" in after.body and "merged_into" not in before.body:
        return "merge"
    if standing(before) != standing(after):
        return "lifecycle"
    changed = set(_touched(before.body, after.body, str))
    return "retention" if changed == {"retention"} else "update"


def _touched(old: Mapping[str, Any], new: Mapping[str, Any], local_name: LocalName) -> Iterator[str]:
    """Names of what differs (decision D-33)."""
    if old["_system"]["state"] != new["_system"]["state"]:
        yield "state"
    if old["_system"].get("recording_validity") != new["_system"].get("recording_validity"):
        yield "recording_validity"
    old = _comparable(old, new)
    if not same(old.get("retention", NO_VALUE), new.get("retention", NO_VALUE)):
        yield "retention"
    for name in _differing(old.get("attributes", {}), new.get("attributes", {})):
        yield f"attributes.{name}"
    for name in _differing(_by_lineage(old.get("facets", {})), _by_lineage(new.get("facets", {}))):
        yield f"facets.{_spoken(name, new.get('facets', {}), old.get('facets', {}), local_name)}"
    for name in _differing(old.get("structural", {}), new.get("structural", {})):
        yield f"structural.{local_name(name)}"
    for name in _differing(old["governance"], new["governance"]):
        yield f"governance.{name}"
    for name in _differing(old.get("lifecycle", {}), new.get("lifecycle", {})):
        yield f"fields.{name}"
    tuple_members = _TUPLE if old["kind"] == Kind.PROPOSITION.value else frozenset[str]()
    for name in _differing(old, new):
        if name in _REFERENCES:
            yield f"structural.{name}"
        elif name not in _ENVELOPE | _OTHER_PLANES | tuple_members | {"attributes", "lifecycle", "schema_ref"}:
            yield f"fields.{name}"


def _comparable(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """The old content to compare with: what a tombstone stopped showing was not written, so it is left out."""
    if not old or new["_system"]["state"] != "tombstoned" or old["_system"]["state"] == "tombstoned":
        return old
    return {name: value for name, value in old.items() if name in new}


def _plane_versions(
    old: Mapping[str, Any], new: Mapping[str, Any], counters: Mapping[str, Any], local_name: LocalName
) -> dict[str, Any]:
    if not old:
        first: dict[str, Any] = {
            "attributes": int(bool(_attributes_plane(new))),
            "retention": int(bool(new.get("retention"))),
            "structural": int(bool(_structural_plane(new))),
        }
        if new.get("facets"):
            first["facets"] = {local_name(ref): 1 for ref in new["facets"]}
        return first

    def advanced(plane: str, before: Any, after: Any) -> int:
        counter: int = counters.get(plane, 0)
        return counter if same(before, after) else counter + 1

    planes: dict[str, Any] = {
        "attributes": advanced("attributes", _attributes_plane(old), _attributes_plane(new)),
        "retention": advanced("retention", old.get("retention", {}), new.get("retention", {})),
        "structural": advanced("structural", _structural_plane(old), _structural_plane(new)),
    }
    if "facets" not in old and "facets" not in new and "facets" not in counters:
        return planes
    facets = dict(counters.get("facets", {}))
    before, after = _by_lineage(old.get("facets", {})), _by_lineage(new.get("facets", {}))
    for lineage in _differing(before, after):
        name = _spoken(lineage, new.get("facets", {}), old.get("facets", {}), local_name)
        facets[name] = facets.get(name, 0) + 1
    if facets:
        planes["facets"] = facets
    return planes


def _attributes_plane(body: Mapping[str, Any]) -> dict[str, Any]:
    """Fields and attributes; a Proposition's tuple is its identity and not a plane."""
    outside = _OUTSIDE_OF_TUPLES if body.get("kind") == Kind.PROPOSITION else _OUTSIDE
    return {name: value for name, value in body.items() if name not in outside}


def _structural_plane(body: Mapping[str, Any]) -> dict[str, Any]:
    plane = {name: body[name] for name in _REFERENCES & body.keys() if body[name]}
    if body.get("structural"):
        plane["structural"] = body["structural"]
    return plane


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in {**old, **new}:
        if not same(old.get(name, NO_VALUE), new.get(name, NO_VALUE)):
            yield name


def _by_lineage(facets: Mapping[str, Any]) -> dict[str, Any]:
    return {lineage_of(ref): members for ref, members in facets.items()}


def _spoken(lineage: str, new: Mapping[str, Any], old: Mapping[str, Any], local_name: LocalName) -> str:
    return next(local_name(ref) for ref in [*new, *old] if lineage_of(ref) == lineage)
