"""SET RETENTION, PURGE and PURGE PAYLOAD (KIP 2.0 §19, §60)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from brain import errors
from brain.ids import digest
from brain.kip import ast
from brain.kip.validate import check_timestamp
from brain.kip.write import apply
from brain.kip.write.steps import TargetStep
from brain.kip.write.values import SKIP, Values
from brain.kip.write.work import Draft, Workspace, by_number
from brain.store.base import Edge, EdgeScan, ElementId, Kind

POLICIES = ("authorized_cascade", "deny_if_referenced", "tombstone_reference")


class SetRetention(TargetStep[ast.SetRetention]):
    """Assign the named members of the retention record; the others stay (§19.1)."""

    def fill(self) -> None:
        for draft in self.drafts():
            members = apply.assigned(Values(self.work, draft), self.clause.assignments)
            if "legal_hold" in members:
                self.work.permit("manage_legal_hold", draft.before)
            if set(members) - {"legal_hold"} or not members:
                self.work.permit("manage_retention", draft.before)
            for name, value in members.items():
                if value is not SKIP:
                    draft.put(("retention", name), _retention_member(name, value))


class Purge(TargetStep[ast.Purge]):
    """Erase elements for good, from the past too, leaving a stub (§60.3)."""

    permission: ClassVar[str | None] = "purge"
    reaches_stub: ClassVar[bool] = True

    policy: str

    def select(self) -> None:
        node = self.clause.reference_policy
        self.policy = "deny_if_referenced" if node is None else str(Values(self.work).scalar(node))
        if self.policy not in POLICIES:
            raise errors.ConstraintViolation(
                f"There is no reference policy {self.policy!r}.", hint=f"There are {', '.join(POLICIES)}."
            )
        super().select()

    def move(self) -> None:
        targets = [draft for draft in self.drafts() if draft.state != "purged"]
        for draft in targets:
            _require_no_hold(draft.body)
        ids = {draft.id for draft in targets}
        self.work.erasing |= ids
        if self.policy == "authorized_cascade":
            targets = self._with_dependents(targets)
        elif self.policy == "deny_if_referenced":
            try:
                self._require_unreferenced(ids)
            except errors.PurgeDenied:
                # What stays is in the way of what other clauses of the block would erase.
                self.work.erasing -= ids
                raise
        for draft in targets:
            erase(draft)

    def _require_unreferenced(self, ids: set[ElementId]) -> None:
        holders = by_number(edge.source for edge in _references_to(self.work, ids))
        if any(map(self.work.is_hidden, holders)):
            raise _not_yours()
        if holders:
            raise errors.PurgeDenied(
                f"{len(holders)} elements refer to what would be erased, {holders[0]} among them.",
                hint=f"Add REFERENCE POLICY with one of {', '.join(POLICIES)}, or purge the references first.",
                details={"referenced_by": holders[:20], "count": len(holders)},
            )

    def _with_dependents(self, targets: list[Draft]) -> list[Draft]:
        """The targets and everything that refers to them, as far as it goes; one held element stops it all."""
        doomed = {draft.id: draft for draft in targets}
        fresh = set(doomed)
        while fresh:
            holders = {edge.source for edge in _references_to(self.work, fresh)} - doomed.keys()
            if any(map(self.work.is_hidden, holders)):
                raise _not_yours()
            fresh = set()
            for element_id in by_number(holders):
                draft = self.work.draft(element_id)
                if draft.state == "purged":
                    continue
                self.work.permit("purge", draft.before)
                _require_no_hold(draft.body)
                doomed[element_id] = draft
                fresh.add(element_id)
        self.work.erasing |= doomed.keys()
        return list(doomed.values())


class PurgePayload(TargetStep[ast.PurgePayload]):
    """Erase the bytes of Evidence and keep the record (§60.6)."""

    permission: ClassVar[str | None] = "purge"
    reaches_stub: ClassVar[bool] = True

    def move(self) -> None:
        for draft in self.drafts():
            if draft.kind is not Kind.EVIDENCE:
                raise errors.TypeMismatch(
                    f"{draft.id} is of kind {draft.kind.value} and has no payload.", hint="PURGE erases whole elements."
                )
            if draft.state == "purged" or draft.body["payload"] == {"status": "purged"}:
                continue
            _require_no_hold(draft.body)
            draft.put(("payload",), {"status": "purged"})
            self.work.erasing.add(draft.id)


def erase(draft: Draft) -> None:
    """Turn a working copy into the stub that stays: identity, kind, a digest, and what provenance needs (§60.3)."""
    body = draft.body
    content = {name: value for name, value in body.items() if name not in ("_system", "governance")}
    governance = dict(body["governance"])
    governance["content_digest"] = body.get("content_digest") or digest(content)
    governance["purged"] = True
    kept = {name: body[name] for name in _kept_members(draft.kind) if name in body}
    system = {**body["_system"], "state": "purged"}
    system.pop("input_references", None)
    draft.body = {
        **{name: body[name] for name in ("id", "kind", "space_id")},
        **kept,
        "governance": governance,
        "_system": system,
    }
    draft.claim(("_system", "state"), "purged")


def _kept_members(kind: Kind) -> tuple[str, ...]:
    return {
        Kind.ACTIVITY: ("activity_class",),
        Kind.EVIDENCE: ("content_digest", "evidence_class", "observed_at"),
    }.get(kind, ())


def _references_to(work: Workspace, ids: set[ElementId]) -> Iterator[Edge]:
    """References from elements that stay, of any state, in this statement's view."""
    for edge in work.tx.edges(EdgeScan(targets=frozenset(ids))):
        if edge.source in work.erasing or edge.source in ids:
            continue
        if work.is_hidden(edge.source):
            yield edge
            continue
        body = work.body(edge.source)
        if body is not None and body["_system"]["state"] != "purged":
            yield edge


def _not_yours() -> errors.PurgeDenied:
    return errors.PurgeDenied("This cannot be erased with the authority you have.", hint="Ask the owner of the Space.")


def _require_no_hold(body: Mapping[str, Any]) -> None:
    if body.get("retention", {}).get("legal_hold"):
        raise errors.LegalHoldConflict(f"{body['id']} is under a legal hold.", details={"element": body["id"]})


def _retention_member(name: str, value: Any) -> Any:
    if name == "retention_class":
        return apply.filled_text(value, "retention.retention_class")
    if name == "expires_at":
        return None if value is None else check_timestamp(value, "retention.expires_at")
    if name == "legal_hold":
        if not isinstance(value, bool):
            raise errors.TypeMismatch("retention.legal_hold is true or false.", details={"found": value})
        return value
    raise errors.SchemaFieldNotFound(
        f"The retention record has no member {name}.", hint="It has retention_class, expires_at and legal_hold."
    )
