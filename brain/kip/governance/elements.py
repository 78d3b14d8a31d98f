"""What Governance says of single elements: classification, quarantine, authority class (KIP 2.0 §31)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.ids import lineage_of
from brain.kip import govern
from brain.kip.context import Session
from brain.kip.governance.names import AUTHORITY_CLASSES
from brain.kip.governance.transitions import Move, transition
from brain.store.base import Element, ElementId, Kind
from brain.times import Seq

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

_PROCEDURE = "kip://profiles/cognitive-memory/Skill"
_REVISION = "kip://profiles/cognitive-memory/SkillRevision"


class Elements:
    """The operations on elements; each is one commit, and every element of a call changes or none does."""

    _engine: Engine

    def classify(self, session: Session, ids: Collection[ElementId], label: str | None) -> Seq:
        """Label elements; None takes a label away. Raising needs `manage_policy`, lowering `declassify`.

        raises  ConstraintViolation for a label the policy does not define, NotFoundOrNotVisible
        """
        lowers = False

        def body(move: Move) -> None:
            if label is not None and label not in move.plane.policy.labels:
                raise errors.ConstraintViolation(
                    f"The policy has no label {label!r}.", hint=f"Labels: {', '.join(move.plane.policy.labels)}."
                )
            rank = move.plane.label_rank
            for element_id in ids:
                element = move.element(element_id)
                governance = dict(element.body.get("governance") or {})
                lowered = rank(label) < rank(governance.get("classification"))
                govern.permit(move.session, "declassify" if lowered else "manage_policy", element)
                if label is None:
                    governance.pop("classification", None)
                else:
                    governance["classification"] = label
                move.governed[element_id] = governance
            move.details = {"elements": sorted(ids), "label": label}

        with self._engine.space.snapshot() as head:
            plane = self._engine.planes.of(head)
            if plane is not None:
                stored = head.elements(ids).values()
                lowers = any(plane.label_rank(label) < plane.label_rank(_label(element)) for element in stored)
        return transition(self._engine, session, "classify", "declassify" if lowers else "manage_policy", body)

    def quarantine(self, session: Session, ids: Collection[ElementId], *, release: bool = False) -> Seq:
        """Keep elements out of search and belief, or let them back; nothing else of them changes (§31.6).

        raises  NotFoundOrNotVisible
        """

        def body(move: Move) -> None:
            for element_id in ids:
                element = move.element(element_id)
                govern.permit(move.session, "quarantine", element)
                governance = dict(element.body.get("governance") or {})
                if release:
                    governance.pop("quarantined", None)
                else:
                    governance["quarantined"] = True
                move.governed[element_id] = governance
            held = move.plane.quarantined
            move.changed = replace(move.plane, quarantined=held - set(ids) if release else held | set(ids))
            move.details = {"elements": sorted(ids)}

        return transition(self._engine, session, "release" if release else "quarantine", "quarantine", body)

    def elevate(
        self, session: Session, element_id: ElementId, authority_class: str, *, behavior_digest: str | None = None
    ) -> Seq:
        """Say how far an element may influence behavior.

        What a Skill does is in its revisions, so one of them is named, with the digest of the very behavior that was
        judged; another revision, or another behavior of this one, has no part in it (§31.3).

        raises  ConstraintViolation for an unknown class, a Skill instead of its revision, or another digest than the
                revision carries; NotFoundOrNotVisible
        """

        def body(move: Move) -> None:
            if authority_class not in AUTHORITY_CLASSES:
                raise errors.ConstraintViolation(
                    f"There is no authority class {authority_class!r}.",
                    hint=f"Classes: {', '.join(AUTHORITY_CLASSES)}.",
                )
            element = move.element(element_id)
            govern.permit(move.session, "elevate_authority", element)
            governance = dict(element.body.get("governance") or {})
            governance["authority_class"] = authority_class
            governance.pop("authority_binding", None)
            bound = _bound(element, behavior_digest)
            if bound is not None and authority_class != AUTHORITY_CLASSES[0]:
                governance["authority_binding"] = bound
            move.governed[element_id] = governance
            move.details = {"element": element_id, "authority_class": authority_class}

        return transition(self._engine, session, "elevate", "elevate_authority", body)


def _label(element: Element) -> str | None:
    label: str | None = (element.body.get("governance") or {}).get("classification")
    return label


def _bound(element: Element, behavior_digest: str | None) -> dict[str, Any] | None:
    ref = element.body.get("schema_ref")
    lineage = lineage_of(ref) if element.kind is Kind.CONCEPT and ref is not None else None
    if lineage == _PROCEDURE:
        raise errors.ConstraintViolation(
            f"{element.id} is a Skill; what is elevated is one of its revisions.", hint="Name the SkillRevision."
        )
    if lineage != _REVISION:
        if behavior_digest is not None:
            raise errors.ConstraintViolation(f"{element.id} is no SkillRevision and has no behavior digest.")
        return None
    carried = (element.body.get("attributes") or {}).get("behavior_digest")
    if behavior_digest is None or behavior_digest != carried:
        raise errors.ConstraintViolation(
            f"The behavior judged is not the behavior of {element.id}.",
            details={"judged": behavior_digest, "found": carried},
        )
    return {"revision": element.id, "behavior_digest": carried}
