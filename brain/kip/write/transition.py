"""TRANSITION: which moves exist, from where they are legal, and what they write (KIP 2.0 §52.5, §57)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from brain import errors
from brain.ids import lineage_of
from brain.kip import ast, govern
from brain.kip.validate import TERMINAL_ACTIVITY
from brain.kip.write import apply, refs
from brain.kip.write.records import ACTIVITY_FIELDS
from brain.kip.write.steps import TargetStep, refuse_stub
from brain.kip.write.structural import set_structural
from brain.kip.write.values import Values
from brain.kip.write.work import Draft, Workspace
from brain.store.base import ElementId, Kind

ACTIVITY_STATES = frozenset({"running", *TERMINAL_ACTIVITY})
STORAGE_STATES = frozenset({"archived", "tombstoned"})
REPLACED_STATES: Mapping[str, Kind] = {"corrected": Kind.EVIDENCE, "superseded": Kind.ASSERTION}
"""Moves that name their successor with BY, and the kind both have."""

_ENVELOPE = frozenset({"_system", "governance", "id", "kind", "retention", "space_id"})
_REMAINS: Mapping[Kind, frozenset[str]] = {
    Kind.ACTIVITY: frozenset({"activity_class", "associated_actors", "inputs", "outputs", "status", "structural"}),
    Kind.ASSERTION: frozenset(
        {"asserted_at", "asserted_by", "context_refs", "evidence", "lifecycle", "mode", "proposition", "stance"}
    ),
    Kind.CONCEPT: frozenset({"canonical_id", "key", "merged_into", "schema_ref", "structural"}),
    Kind.EVIDENCE: frozenset(
        {"content_digest", "evidence_class", "generated_by", "lifecycle", "observed_at", "source"}
    ),
    Kind.PROPOSITION: frozenset({"object", "predicate_ref", "subject"}),
}
"""What stays readable of a tombstoned element: its identity and its references. History keeps the rest (§60.2)."""

STATES = ACTIVITY_STATES | STORAGE_STATES | REPLACED_STATES.keys() | {"retracted"}


class Transition(TargetStep[ast.Transition]):
    """One lifecycle move of each target."""

    permission: ClassVar[str | None] = None

    state: str

    def select(self) -> None:
        values = Values(self.work)
        state = values.scalar(self.clause.state)
        if not isinstance(state, str):
            raise errors.TypeMismatch("The state of a TRANSITION is a string.")
        if state not in STATES:
            raise errors.ConstraintViolation(
                f"There is no move to {state!r}.", hint=f"Moves lead to {', '.join(sorted(STATES))}."
            )
        if (state in REPLACED_STATES) != (self.clause.by is not None):
            word = "needs" if state in REPLACED_STATES else "takes no"
            raise errors.InvalidSyntax(f'TRANSITION TO "{state}" {word} BY.')
        if self.clause.finalize and state not in ACTIVITY_STATES:
            raise errors.InvalidSyntax(f'TRANSITION TO "{state}" takes no SET; only Activity states finish fields.')
        self.state = state
        super().select()

    def move(self) -> None:
        for draft in self.drafts():
            if self.state in STORAGE_STATES:
                self._store(draft)
            elif self.state in ACTIVITY_STATES:
                self._advance(draft)
            elif self.state == "retracted":
                retract(self.work, draft)
            else:
                self._replace(draft)

    def _store(self, draft: Draft) -> None:
        self.work.permit("archive" if self.state == "archived" else "tombstone", draft.before)
        if draft.state == self.state:
            return
        allowed = {"active"} if self.state == "archived" else {"active", "archived"}
        if draft.state not in allowed:
            raise _illegal(draft, draft.state, self.state)
        draft.put(("_system", "state"), self.state)
        if self.state == "tombstoned":
            for name in draft.body.keys() - _REMAINS[draft.kind] - _ENVELOPE:
                del draft.body[name]

    def _advance(self, draft: Draft) -> None:
        if draft.kind is not Kind.ACTIVITY or draft.state != "active":
            raise _illegal(draft, draft.state, self.state)
        self.work.permit("update", draft.before)
        status = draft.body["status"]
        if status == self.state:
            return
        if status in TERMINAL_ACTIVITY:
            raise errors.ActivityTerminal(f"{draft.id} is {status}; it does not change any more.")
        if self.state == "running" and status != "pending":
            raise _illegal(draft, status, self.state)
        values = Values(self.work, draft, self._variable)
        for clause in self.clause.finalize:
            if isinstance(clause, ast.SetFields):
                apply.set_fields(draft, apply.assigned(values, clause.assignments), ACTIVITY_FIELDS)
            else:
                set_structural(self.work, draft, clause.entries, values, self.rows)
        if self.state in TERMINAL_ACTIVITY and "ended_at" not in draft.body:
            draft.body["ended_at"] = self.work.now
        draft.put(("status",), self.state)

    def _replace(self, draft: Draft) -> None:
        kind = REPLACED_STATES[self.state]
        if draft.kind is not kind:
            raise _illegal(draft, draft.state, self.state)
        if self.clause.by is None:
            return
        by = self.name_target(self.clause.by)
        body = self.work.body(by)
        if body is None:
            raise refs.missing(self.work, f"There is no element {by}.")
        (supersede if kind is Kind.ASSERTION else correct)(self.work, draft, by, body)

    @property
    def _variable(self) -> str | None:
        return self.clause.target.name if isinstance(self.clause.target, ast.Variable) else None


def retract(work: Workspace, draft: Draft) -> None:
    """The assertor's withdrawal: legal from active only; the payload stays (§57.3)."""
    if draft.kind is not Kind.ASSERTION:
        raise _illegal(draft, draft.state, "retracted")
    _permit_withdrawal(work, draft, superseding=False)
    status = draft.body["lifecycle"]["status"]
    if status == "retracted":
        draft.claim(("lifecycle", "status"), "retracted")
        return
    if status != "active" or draft.state != "active":
        raise _illegal(draft, status, "retracted")
    draft.put(("lifecycle", "status"), "retracted")
    draft.put(("lifecycle", "retracted_at"), work.now)


def supersede(work: Workspace, old: Draft, new_id: ElementId, new: Mapping[str, Any]) -> None:
    """A claim was wrong, and this one of the same actor, slot and contexts takes its place (§14.2)."""
    if old.kind is not Kind.ASSERTION:
        raise _illegal(old, old.state, "superseded")
    refuse_stub(old)
    lifecycle = old.body["lifecycle"]
    if {"id": new_id} in lifecycle.get("superseded_by", ()):
        return
    if lifecycle["status"] != "active" or old.state != "active":
        raise _illegal(old, lifecycle["status"], "superseded")
    if new_id == old.id:
        raise errors.SupersessionMismatch("A claim does not supersede itself.", details={"element": old.id})
    if new["kind"] != Kind.ASSERTION.value:
        raise _illegal(old, lifecycle["status"], "superseded", f"{new_id} is no Assertion")
    if new["_system"]["state"] != "active" or new["lifecycle"]["status"] != "active":
        raise _illegal(old, lifecycle["status"], "superseded", f"{new_id} is not active")
    _require_match(work, old, new)
    _permit_withdrawal(work, old, superseding=True)
    old.put(("lifecycle", "status"), "superseded")
    old.put(("lifecycle", "superseded_by"), [{"id": new_id}])
    draft = work.drafts.get(new_id) or next((r for r in work.retries if r.body is new), None) or work.draft(new_id)
    _link(draft, "supersedes", old.id)


def correct(work: Workspace, old: Draft, new_id: ElementId, new: Mapping[str, Any]) -> None:
    """A record was wrong, and this one tells it right; the old bytes stay (§57.2)."""
    lifecycle = old.body["lifecycle"]
    if new_id == old.id:
        raise errors.EvidenceCorrectionConflict(f"{old.id} cannot correct itself.")
    if {"id": new_id} in lifecycle.get("corrected_by", ()):
        return
    if new["kind"] != Kind.EVIDENCE.value or new["_system"]["state"] != "active":
        raise errors.EvidenceCorrectionConflict(f"{new_id} is no active Evidence, so it corrects nothing.")
    if new["lifecycle"]["status"] != "active":
        raise errors.EvidenceCorrectionConflict(f"{new_id} is corrected itself; correct by the newest record.")
    if lifecycle["status"] == "corrected":
        raise errors.EvidenceCorrectionConflict(
            f"{old.id} is corrected by {lifecycle['corrected_by'][0]['id']} already.",
            details={"element": old.id, "corrected_by": lifecycle["corrected_by"]},
        )
    if old.state != "active":
        raise _illegal(old, old.state, "corrected")
    work.permit("update", old.before)
    old.put(("lifecycle", "status"), "corrected")
    old.put(("lifecycle", "corrected_by"), [{"id": new_id}])
    _link(work.draft(new_id), "corrects", old.id)


def _link(draft: Draft, name: str, target: ElementId) -> None:
    """Add to a lifecycle list; several old records may have one successor."""
    linked: list[dict[str, str]] = draft.body["lifecycle"].setdefault(name, [])
    if {"id": target} not in linked:
        linked.append({"id": target})


def _require_match(work: Workspace, old: Draft, new: Mapping[str, Any]) -> None:
    def actor(body: Mapping[str, Any]) -> ElementId:
        return work.canonical(body["asserted_by"]["id"])

    def contexts(body: Mapping[str, Any]) -> frozenset[ElementId]:
        return frozenset(work.canonical(context["id"]) for context in body.get("context_refs", ()))

    differing = []
    if actor(old.body) != actor(new):
        differing.append("actor")
    if _slot(work, old.body) != _slot(work, new):
        differing.append("slot")
    if contexts(old.body) != contexts(new):
        differing.append("contexts")
    if differing:
        raise errors.SupersessionMismatch(
            f"The new claim does not take the place of {old.id}: the {' and the '.join(differing)} differ.",
            hint=(
                "Supersede only one's own claim about the same subject and predicate in the same contexts. A claim "
                "wrong in its scope is retracted and asserted anew; a changed world is a new claim from the change on."
            ),
            details={"element": old.id, "differing": differing},
        )


def _slot(work: Workspace, assertion: Mapping[str, Any]) -> tuple[ElementId, str]:
    proposition = work.body(assertion["proposition"]["id"])
    if proposition is None or "subject" not in proposition:
        return assertion["proposition"]["id"], ""
    lineage = work.environment.canonical_lineage("predicate", lineage_of(proposition["predicate_ref"]))
    return work.canonical(proposition["subject"]["id"]), lineage


def _permit_withdrawal(work: Workspace, draft: Draft, *, superseding: bool) -> None:
    if draft.before is not None:
        actor = work.canonical(draft.body["asserted_by"]["id"])
        wanted = govern.withdrawal_permission(work.run.session, draft.before, actor, superseding=superseding)
        work.permit(wanted, draft.before)


def _illegal(draft: Draft, current: str, wanted: str, why: str | None = None) -> errors.InvalidLifecycleTransition:
    reason = f": {why}" if why else ""
    return errors.InvalidLifecycleTransition(
        f"{draft.id}, of kind {draft.kind.value}, is {current} and cannot become {wanted}{reason}.",
        details={"element": draft.id, "kind": draft.kind.value, "from": current, "to": wanted},
    )
