"""Whether the final state of a plan is allowed (KIP 2.0 §32.3): Core rules here, Schema's in `kip/validate.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brain import errors
from brain.ids import lineage_of
from brain.kip import validate
from brain.kip.schema import PredicateType, StructuralField
from brain.kip.write.work import Draft, Workspace
from brain.store.base import Kind, Scan


def final_state(work: Workspace) -> Iterator[errors.KipError]:
    """Every fault of the final state, element by element."""
    for draft in work.drafts.values():
        if draft.state == "purged":
            continue
        checks = [_facets]
        if draft.kind is Kind.CONCEPT:
            checks = [_identity, _attributes, _facets]
        for rule in [*checks, _structural]:
            try:
                rule(work, draft)
            except errors.KipError as fault:
                yield fault


def endpoint(work: Workspace, predicate: PredicateType, place: str, end: Any) -> None:
    """One end of a new tuple against the Predicate's definition (§20.15)."""
    if isinstance(end, dict) and "id" in end:
        kind, schema_ref = _kind_of(work, end["id"])
        examine = validate.check_subject if place == "subject" else validate.check_object
        examine(work.environment, predicate, kind, schema_ref)
    elif isinstance(end, dict):
        validate.check_object(work.environment, predicate, Kind.CONCEPT, None)
    else:
        validate.check_literal(predicate, end)


def structural_source(work: Workspace, field: StructuralField, draft: Draft) -> None:
    """Whether an element may carry a field at all, asked before its targets are looked up."""
    source = field.source
    kind, schema_ref = draft.kind, draft.body.get("schema_ref")
    admitted = not source.is_declared or (
        kind in source.kinds
        and (
            source.type_lineages is None
            or schema_ref is None
            or bool(work.environment.group("concept_type", lineage_of(schema_ref)) & source.type_lineages)
        )
    )
    if not admitted:
        raise errors.ConstraintViolation(
            f"{field.symbol.name} is no field of {work.environment.local_name(schema_ref or kind.value)}.",
            hint="DESCRIBE STRUCTURAL FIELD shows which elements carry it.",
        )


def _identity(work: Workspace, draft: Draft) -> None:
    """A key belongs to one Concept of a type lineage, a canonical id to one active Concept (§7.3, §7.4)."""
    body, before = draft.body, draft.before.body if draft.before else {}
    key = body.get("key")
    if key is not None and key != before.get("key"):
        lineages = work.environment.group("concept_type", lineage_of(body["schema_ref"]))
        others = [other for other in work.holders_of_key(key, lineages) if other != draft.id]
        if any(map(work.is_closed, others)):
            raise errors.IdentityConflict(f"The key {key!r} is not free.", hint="Choose another key.")
        if others:
            raise errors.IdentityConflict(
                f"{others[0]} has the key {key!r} already.",
                hint=f"Use {others[0]} (UPSERT finds it by key), or choose another key.",
                details={"key": key, "candidates": others},
            )
    canonical_id = body.get("canonical_id")
    if canonical_id is not None and canonical_id != before.get("canonical_id") and draft.state == "active":
        holders = {element.id for element in work.tx.scan(Scan(Kind.CONCEPT, canonical_id=canonical_id))}
        holders |= {other.id for other in work.drafts.values() if other.body.get("canonical_id") == canonical_id}
        if any(map(work.is_closed, holders - {draft.id})):
            raise errors.IdentityConflict(f"The canonical id {canonical_id!r} is not free.")
        active = {other for other in holders - {draft.id} if _is_active(work, other)}
        if active:
            raise errors.IdentityConflict(
                f"{min(active)} carries the canonical id {canonical_id!r} already.",
                details={"candidates": sorted(active)},
            )


def _is_active(work: Workspace, element_id: str) -> bool:
    body = work.body(element_id)
    return body is not None and body["_system"]["state"] == "active"


def _attributes(work: Workspace, draft: Draft) -> None:
    if draft.before is not None and draft.before.body.get("attributes") == draft.body.get("attributes"):
        return
    concept_type = work.environment.exact_concept_type(draft.body["schema_ref"])
    before = draft.before.body.get("attributes", {}) if draft.before else None
    validate.check_attributes(work.environment, concept_type, draft.body.get("attributes", {}), before)


def _facets(work: Workspace, draft: Draft) -> None:
    body = draft.body
    if "facets" not in body and (draft.before is None or "facets" not in draft.before.body):
        return
    carrier = validate.Carrier(draft.kind, body.get("schema_ref"), body.get("activity_class"), body.get("status"))
    before = _by_lineage(draft.before.body.get("facets", {})) if draft.before else {}
    after: Mapping[str, Any] = body.get("facets", {})
    for ref, members in after.items():
        earlier = before.pop(lineage_of(ref), None)
        if earlier != members:
            validate.check_facet(work.environment, work.environment.exact_facet(ref), carrier, members, earlier)
    for ref, earlier in before.items():
        facet = next(f for f in work.environment.definitions("facet") if f.symbol.lineage == ref)
        validate.check_facet(work.environment, work.environment.facet(facet.symbol.ref), carrier, {}, earlier)


def _structural(work: Workspace, draft: Draft) -> None:
    after: Mapping[str, Any] = draft.body.get("structural", {})
    before: Mapping[str, Any] = draft.before.body.get("structural", {}) if draft.before else {}
    counted = set()
    source = (draft.kind, draft.body.get("schema_ref"))
    for ref, references in after.items():
        field = work.environment.exact_structural_field(ref)
        counted.add(field.symbol.lineage)
        if before.get(ref) != references:
            known = {reference["id"] for reference in before.get(ref, ())}
            for reference in references:
                if reference["id"] not in known:
                    validate.check_structural(work.environment, field, source, _kind_of(work, reference["id"]))
            validate.check_cardinality(field, len(references))
    if draft.kind is Kind.CONCEPT and (draft.before is None or before.keys() - after.keys()):
        concept_type = work.environment.exact_concept_type(draft.body["schema_ref"])
        for field in validate.required_fields(work.environment, concept_type):
            if field.symbol.lineage not in counted:
                validate.check_cardinality(field, 0)


def _kind_of(work: Workspace, element_id: str) -> tuple[Kind, str | None]:
    body = work.body(element_id)
    if body is None:
        raise errors.NotFoundOrNotVisible(f"There is no element {element_id}.")
    return Kind(body["kind"]), body.get("schema_ref")


def _by_lineage(facets: Mapping[str, Any]) -> dict[str, Any]:
    return {lineage_of(ref): members for ref, members in facets.items()}
