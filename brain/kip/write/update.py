"""UPDATE: mutable state of elements that exist (KIP 2.0 §58)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from brain import errors
from brain.kip import ast
from brain.kip.validate import TERMINAL_ACTIVITY
from brain.kip.write import apply
from brain.kip.write.concepts import apply_action, set_concept_fields
from brain.kip.write.steps import TargetStep
from brain.kip.write.structural import set_structural, unset_structural
from brain.kip.write.values import Values
from brain.kip.write.work import Draft
from brain.store.base import Kind


class Update(TargetStep[ast.Update]):
    """Every action of the statement on every target, all of them reading the state before it."""

    permission: ClassVar[str | None] = "update"

    def fill(self) -> None:
        target = self.clause.target
        variable = target.name if isinstance(target, ast.Variable) else None
        for draft in self.drafts():
            values = Values(self.work, draft, variable)
            for action in self.clause.actions:
                _require_mutable(draft, action)
                self._apply(draft, action, values)

    def name_target(self, target: ast.Target) -> str:
        """An UPDATE that names a merged Concept changes the one it was merged into (§11.3)."""
        return self.work.canonical(super().name_target(target))

    def _apply(self, draft: Draft, action: ast.UpdateAction, values: Values) -> None:
        match action:
            case ast.SetFields(assignments=assignments):
                set_concept_fields(self.work, draft, apply.assigned(values, assignments))
            case ast.SetStructural(entries=entries):
                set_structural(self.work, draft, entries, values, self.rows)
            case ast.UnsetStructural(entries=entries):
                unset_structural(self.work, draft, entries, values, self.rows)
            case _:
                apply_action(self.work, draft, action, values)


_REFUSALS: Mapping[Kind, tuple[type[errors.KipError], str]] = {
    Kind.ASSERTION: (
        errors.EpistemicRevisionRequired,
        "A changed world is a new claim from the change on; a claim that was wrong is superseded by a new one.",
    ),
    Kind.EVIDENCE: (
        errors.EvidenceCorrectionRequired,
        'Record new Evidence and TRANSITION the old one TO "corrected" BY it.',
    ),
    Kind.PROPOSITION: (
        errors.ImmutableField,
        "Another tuple is another Proposition; what somebody says of it is a claim.",
    ),
}


def _require_mutable(draft: Draft, action: ast.UpdateAction) -> None:
    """Records are not edited; on them UPDATE reaches Facets only, and nothing of a finished Activity (§58.1)."""
    if draft.kind is Kind.CONCEPT:
        return
    is_facet = isinstance(action, (ast.SetFacet, ast.UnsetFacet))
    if draft.kind is Kind.ACTIVITY:
        if draft.body["status"] in TERMINAL_ACTIVITY:
            raise errors.ActivityTerminal(f"{draft.id} is {draft.body['status']}; it does not change any more.")
        if not is_facet:
            raise errors.InvalidLifecycleTransition(
                f"UPDATE does not reach the fields and references of {draft.id}.",
                hint="Finish an Activity with TRANSITION … TO a terminal state and SET FIELDS or SET STRUCTURAL.",
            )
    elif not is_facet:
        error, hint = _REFUSALS[draft.kind]
        raise error(f"{draft.id} is of kind {draft.kind.value}; it is not edited.", hint=hint)
