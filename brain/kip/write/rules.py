"""Rules of the Cognitive Memory Profile that definitions alone cannot state (KIP 2.0 §57.6; Profile §5, §14, §20)."""

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

_STANDING = frozenset({f"{PROFILE}/current_evaluation", f"{PROFILE}/current_trial"})
"""Fields that say what a Skill's standing rests on."""

_PROSPECTIVE = (
    ("TrialRecord", "baseline_mode"),
    ("TrialRecord", "enrollment"),
    ("AttemptRecord", "assignment"),
    ("EvaluationRecord", "cohort_artifact"),
)
"""Where records speak of a cohort that is enrolled before it acts (Validated Learning §5)."""


def profile_rules(work: Workspace) -> Iterator[errors.KipError]:
    """Every breach of them in the final state of a plan."""
    for draft in work.drafts.values():
        if draft.state == "purged":
            continue
        for rule in _rules_for(work, draft):
            try:
                rule(work, draft)
            except errors.KipError as fault:
                yield fault


def _rules_for(work: Workspace, draft: Draft) -> Iterator[Callable[[Workspace, Draft], None]]:
    if draft.kind is Kind.ACTIVITY:
        yield _activity
    elif draft.kind is Kind.CONCEPT and "schema_ref" in draft.body:
        lineage = work.environment.canonical_lineage("concept_type", lineage_of(draft.body["schema_ref"]))
        if lineage == f"{PROFILE}/Skill":
            yield _skill
        elif lineage == f"{PROFILE}/SkillRevision":
            yield _skill_revision
    if "facets" in draft.body:
        yield _memory_scope


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
    _enrollment(draft)


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


def _enrollment(draft: Draft) -> None:
    """A cohort enrolled ahead is part of a capability; kept without it, it would claim a check nobody made (§67.4)."""
    if draft.before is not None:
        return
    for facet, member in _PROSPECTIVE:
        value = (_facet(draft.body, facet) or {}).get(member)
        if value not in (None, "fixed"):
            raise errors.UnsupportedCapability(
                f"{facet}.{member} belongs to prospective trials, which are not offered here.",
                hint='Leave it out; a baseline that is complete has baseline_mode: "fixed".',
                details={"capability": "prospective_trials", "element": draft.id, "member": member},
            )


# --- scope -----------------------------------------------------------------------------------------------------------


def _memory_scope(work: Workspace, draft: Draft) -> None:
    """The contexts a record was made for are those its claim, or the belief it was derived from, is about (§20.3)."""
    scope = _facet(draft.body, "MemoryScope")
    if scope is None or (draft.before is not None and _facet(draft.before.body, "MemoryScope") == scope):
        return
    named = {work.canonical(ref) for ref in scope["context_refs"]}
    if draft.kind is Kind.ASSERTION:
        meant = {work.canonical(ref["id"]) for ref in draft.body.get("context_refs", ())}
    else:
        basis = dependency_basis(draft.body)
        if basis is None:
            return
        meant = {work.canonical(ref) for ref in basis["policy_basis"]["context_refs"]}
    if named != meant:
        raise errors.ConstraintViolation(
            f"The MemoryScope of {draft.id} names other contexts than it was made in.",
            hint="Write the same context_refs in both places.",
            details={"element": draft.id, "scope": sorted(named), "contexts": sorted(meant)},
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
        _no_standing(draft)
        return
    if _current_revision(draft.before.body) != _current_revision(draft.body):
        _begin_anew(work, draft)
        return
    if after != "revoked":
        _no_standing(draft)
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


def _no_standing(draft: Draft) -> None:
    """A trial or an evaluation is selected with the verdict that checked it; nobody here does (Validated Learning §4).

    A withdrawal may say what it rests on: it asks for no evaluation.
    """
    kept: Mapping[str, Any] = draft.before.body.get("structural", {}) if draft.before is not None else {}
    for ref, references in draft.body.get("structural", {}).items():
        if lineage_of(ref) in _STANDING and references and references != kept.get(ref):
            raise errors.ConstraintViolation(
                f"{draft.id} takes {ref.rpartition('/')[2]} only with a verified evaluation in the same commit.",
                hint="Trials and evaluations are not offered here; outcomes are kept, and their records too.",
                details={"element": draft.id, "field": ref},
            )


def _begin_anew(work: Workspace, draft: Draft) -> None:
    """Another behavior has earned nothing yet: its Skill is proposed again, without trial and evaluation (§5.8).

    The verdicts stay where they are; they were about the behavior before.
    """
    assert draft.before is not None  # noqa: S101 - a Skill that is made selects its first revision
    if work.guards.get(draft.id, set()).isdisjoint({"element", "structural"}):
        raise errors.VersionConflict(
            f"{draft.id} takes another revision only under a version guard.",
            hint="Add EXPECT VERSION with the version the choice was made on.",
            details={"element": draft.id, "plane": "structural", "found": draft.before.version},
        )
    attributes, structural = draft.body["attributes"], draft.body["structural"]
    claimed = draft.claims.get(("attributes", "status"), "proposed")
    written = [ref for ref in structural if lineage_of(ref) in _STANDING and ("structural", ref) in draft.claims]
    if claimed != "proposed" or written:
        raise errors.ConstraintViolation(
            f"{draft.id} starts over at proposed with another revision.",
            hint="Leave status, current_trial and current_evaluation to the choice of the revision.",
        )
    attributes["status"] = "proposed"
    for ref in [ref for ref in structural if lineage_of(ref) in _STANDING]:
        del structural[ref]


def _current_revision(body: Mapping[str, Any]) -> list[ElementId]:
    structural: Mapping[str, Any] = body.get("structural", {})
    return [
        reference["id"]
        for ref, references in structural.items()
        if lineage_of(ref) == f"{PROFILE}/current_revision"
        for reference in references
    ]


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
