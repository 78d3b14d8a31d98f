"""MERGE CONCEPT: non-destructive identity consolidation (KIP 2.0 §11, §61)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brain import errors
from brain.ids import lineage_of
from brain.kip import ast
from brain.kip.write import refs
from brain.kip.write.select import rows_of
from brain.kip.write.steps import TargetStep, bound_elements, check_guards, named_target
from brain.kip.write.values import Values
from brain.store.base import ElementId, Kind


class MergeConcept(TargetStep[ast.MergeConcept]):
    """One source and one target; nothing else of either changes."""

    ends: tuple[ElementId, ElementId]

    def select(self) -> None:
        self.work.permit("merge_identity")
        where = self.clause.where
        self.rows = rows_of(self.work, where) if where is not None else []
        source, target = self._side(self.clause.source), self._side(self.clause.target)
        if where is not None and not self.rows:
            raise refs.missing(self.work, "The WHERE of this MERGE matches nothing.")
        self.ends = source, target

    def move(self) -> None:
        source, target = self.work.draft(self.ends[0]), self.work.draft(self.ends[1])
        for draft in (source, target):
            if draft.before is not None:
                self.work.permit("merge_identity", draft.before)
            if draft.kind is not Kind.CONCEPT:
                raise errors.StructuralReferenceInvalid(f"{draft.id} is no Concept; only Concepts are merged.")
        check_guards(self.work, source.before, source.id, self.clause.expect)
        if source.id == target.id:
            return
        survivor = self.work.canonical(target.id)
        if source.id in self.work.merges:
            if self.work.canonical(source.id) == survivor:
                return
            raise errors.IdentityMergeConflict(
                f"{source.id} was merged into {self.work.merges[source.id]}; it cannot be merged elsewhere.",
                details={"source": source.id, "merged_into": self.work.merges[source.id]},
            )
        if survivor == source.id:
            raise errors.IdentityMergeConflict(
                f"{target.id} leads to {source.id} already; merging back would close a circle.",
                details={"source": source.id, "target": target.id},
            )
        for draft in (source, target):
            if draft.state not in ("active", "archived", "merged") or draft.body.get("schema_ref") is None:
                raise errors.IdentityMergeConflict(f"{draft.id} is {draft.state} and takes part in no merge.")
        group = self.work.environment.group("concept_type", lineage_of(source.body["schema_ref"]))
        if lineage_of(target.body["schema_ref"]) not in group:
            raise errors.IdentityMergeConflict(
                f"{source.id} and {target.id} are of different types.",
                details={"source": source.id, "target": target.id},
            )
        source.put(("_system", "state"), "merged")
        source.put(("merged_into",), {"id": target.id})
        self.work.merges[source.id] = target.id
        self._decide(source.id, target.id)

    def _decide(self, source: ElementId, target: ElementId) -> None:
        """Record the identity decision and raise the identity version (§11.5)."""
        identity = self.work.identity()
        version = identity["version"] + 1
        session = self.work.run.session
        decision: dict[str, Any] = {
            "id": f"{self.work.ledger.tx_id}/{source}",
            "source": source,
            "target": target,
            "version": version,
            "principal_id": session.principal_id,
            "basis": {"statement": "MERGE CONCEPT", "op_id": self.work.op_id},
        }
        decisions = {**identity["decisions"], source: decision}
        self.work.controls["identity"] = {**identity, "version": version, "decisions": decisions}

    def _side(self, node: ast.Target) -> ElementId:
        if not isinstance(node, ast.Variable):
            return named_target(self.work, Values(self.work).scalar(node))
        if node.name in self.work.handles and not any(node.name in row for row in self.rows):
            return Values(self.work).handle(node.name)
        found = list(dict.fromkeys(bound_elements(self.rows, node.name)))
        return self._only(found, node.name)

    def _only(self, found: Sequence[ElementId], name: str) -> ElementId:
        if not found:
            raise refs.missing(self.work, f"?{name} selects no Concept.")
        if len(found) > 1:
            raise errors.IdentityMergeConflict(
                f"?{name} selects {len(found)} Concepts.",
                hint="Select each side by id, or by type and key.",
                details={"candidates": list(found[:20])},
            )
        return found[0]
