"""Rules of the Cognitive Memory Profile that its definitions alone cannot state (KIP 2.0 §57.6; Profile §5.8, §14)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brain import errors
from brain.ids import digest, lineage_of
from brain.kip.write.work import Draft, Workspace
from brain.store.base import ElementId, Kind

PROFILE = "kip://profiles/cognitive-memory"

_MOVES: Mapping[str, frozenset[str]] = {
    "adopted": frozenset({"revoked", "trialed"}),
    "proposed": frozenset({"revoked", "trialed"}),
    "revoked": frozenset({"trialed"}),
    "trialed": frozenset({"adopted", "revoked"}),
}
"""Where a Skill's standing may go from where it is."""


def profile_rules(work: Workspace) -> Iterator[errors.KipError]:
    """Every breach of them in the final state of a plan."""
    for draft in work.drafts.values():
        rule = _rule_for(work, draft)
        if rule is None or draft.state == "purged":
            continue
        try:
            rule(work, draft)
        except errors.KipError as fault:
            yield fault


def _rule_for(work: Workspace, draft: Draft) -> Callable[[Workspace, Draft], None] | None:
    if draft.kind is Kind.ACTIVITY:
        return _activity
    if draft.kind is Kind.CONCEPT and "schema_ref" in draft.body:
        lineage = work.environment.canonical_lineage("concept_type", lineage_of(draft.body["schema_ref"]))
        return {f"{PROFILE}/Skill": _skill, f"{PROFILE}/SkillRevision": _skill_revision}.get(lineage)
    return None


# --- derivations ------------------------------------------------------------------------------------------------------


def dependency_basis(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The premises an Activity pins, when it pins any."""
    return _facet(body, "DependencyBasis")


def _facet(body: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    facets: Mapping[str, Any] = body.get("facets", {})
    return next((facet for ref, facet in facets.items() if lineage_of(ref) == f"{PROFILE}/{name}"), None)


def _activity(work: Workspace, draft: Draft) -> None:
    _dependency_basis(work, draft)
    _decision(work, draft)


def _dependency_basis(work: Workspace, draft: Draft) -> None:
    """Pins name versions that were really there: retained ones, or those of this transaction (§57.6)."""
    basis = dependency_basis(draft.body)
    if basis is None or (draft.before is not None and dependency_basis(draft.before.body) == basis):
        return
    if basis["basis_seq"] > work.tx.seq:
        raise errors.ConstraintViolation(
            f"basis_seq {basis['basis_seq']} lies ahead of the Space, which is at {work.tx.seq}."
        )
    for group in basis["groups"]:
        for pin in group["pins"]:
            _check_pin(work, pin)


def _check_pin(work: Workspace, pin: Mapping[str, Any]) -> None:
    counters = _counters_at(work, pin["id"], pin["version"])
    if counters is None:
        raise errors.ConstraintViolation(
            f"{pin['id']} has no version {pin['version']}.",
            hint="Pin the version that was read; FIND shows it as _system.version.",
            details={"element": pin["id"], "version": pin["version"]},
        )
    for plane, counter in pin.get("planes", {}).items():
        if _plane_counter(counters, plane) != counter:
            raise errors.ConstraintViolation(
                f"{pin['id']} at version {pin['version']} is not at {counter} of its {plane}.",
                details={"element": pin["id"], "version": pin["version"], "plane": plane},
            )


def _counters_at(work: Workspace, element_id: ElementId, version: int) -> Mapping[str, Any] | None:
    own = work.drafts.get(element_id)
    if own is not None and own.before is None:
        return {} if version == 1 else None
    for _, element in work.seen.versions(element_id):
        if element.version == version and element.state != "purged":
            counters: Mapping[str, Any] = element.body["_system"]["plane_versions"]
            return counters
    return None


def _plane_counter(counters: Mapping[str, Any], plane: str) -> int:
    if plane in ("attributes", "retention", "structural"):
        return int(counters.get(plane, 0))
    return int(counters.get("facets", {}).get(plane.removeprefix("facets."), 0))


def _decision(work: Workspace, draft: Draft) -> None:
    """A revision a decision applied is one of its inputs (Profile §6.4)."""
    record = _facet(draft.body, "DecisionRecord")
    if record is None:
        return
    inputs = {work.canonical(reference["id"]) for reference in draft.body.get("inputs", ())}
    missing = [ref for ref in record["applied_revisions"] if work.canonical(ref) not in inputs]
    if missing:
        raise errors.ConstraintViolation(
            f"The decision applied {', '.join(missing)}, which its inputs do not name.",
            hint='Add ("inputs", …) for every applied revision.',
            details={"element": draft.id, "missing": missing},
        )


# --- skills -----------------------------------------------------------------------------------------------------------


def _skill(work: Workspace, draft: Draft) -> None:
    """Standing is earned: only withdrawal is free (Profile §14)."""
    after = draft.body.get("attributes", {}).get("status")
    if draft.before is None:
        if after not in (None, "proposed"):
            raise errors.ConstraintViolation(
                f"A new Skill is proposed, not {after}.", hint='Create it with status: "proposed".'
            )
        return
    before = draft.before.body.get("attributes", {}).get("status")
    if after == before or after == "revoked":
        return
    guarded = work.guards.get(draft.id, set())
    if "element" not in guarded and "attributes" not in guarded:
        raise errors.VersionConflict(
            f"The standing of {draft.id} moves only under a version guard.",
            hint="Add EXPECT VERSION with the version the verdict was reached on.",
            details={"element": draft.id, "plane": "attributes", "found": draft.before.version},
        )
    if after not in _MOVES.get(str(before), frozenset()):
        raise errors.ConstraintViolation(f"A Skill does not go from {before} to {after}.")
    raise errors.ConstraintViolation(
        f"{draft.id} becomes {after} only with a verified evaluation in the same commit.",
        hint="Trials and evaluations are not offered here; revoking is possible, and outcomes are kept.",
    )


def _skill_revision(_work: Workspace, draft: Draft) -> None:
    """The digest a revision carries is that of its behavior (Profile §5.8)."""
    if draft.before is not None:
        return
    attributes = draft.body.get("attributes", {})
    computed = digest({name: value for name, value in attributes.items() if name != "behavior_digest"})
    if attributes.get("behavior_digest") != computed:
        raise errors.ConstraintViolation(
            "behavior_digest is not the digest of this behavior.",
            hint="It is sha256 over the canonical JSON of the other attributes.",
            details={"computed": computed},
        )
