"""What a write's elements take over from those they are made of, and whether the caller may make them (KIP 2.0 §31.2).

What is derived is at least as restricted as what it is derived from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from brain.kip import capabilities, govern
from brain.kip.governance.plane import Plane
from brain.kip.write.records import OBSERVATION, OUTCOME
from brain.store.base import Element, ElementId, Kind

if TYPE_CHECKING:
    from brain.kip.write.work import Draft, Workspace


def settle(work: Workspace) -> None:
    """Label what the statement makes, and judge each new element by itself.

    raises  NotAuthorized for an element the caller may not create
    """
    if capabilities.is_held("derive_permission"):
        _permit_derivations(work)
    plane = work.run.plane
    if plane is None:
        return
    if plane.policy.labels:
        _label(work, plane)
    if work.run.session.authority is not None:
        for draft in work.drafts.values():
            if draft.before is None:
                _permit(work, draft)


def _permit(work: Workspace, draft: Draft) -> None:
    session = work.run.session
    permission = "create"
    if draft.kind is Kind.ASSERTION:
        permission = govern.assertion_permission(session, draft.body["asserted_by"]["id"], work.identity()["self"])
    origin = {"principal_id": session.principal_id, "channel": session.channel}
    body = {**draft.body, "_system": {**draft.body["_system"], "origin": origin}}
    govern.permit(session, permission, Element(draft.id, draft.kind, body))


def _permit_derivations(work: Workspace) -> None:
    """`derive`, beside what the creations need, where an element becomes an output of an Activity that has inputs; an
    observed outcome says what was looked at, not what it was made from (§29.6, §29.8)."""
    for draft in work.drafts.values():
        if draft.kind is not Kind.ACTIVITY:
            continue
        inputs, outputs = _ids(draft.body.get("inputs")), _ids(draft.body.get("outputs"))
        before = draft.before.body if draft.before is not None else {}
        held = set(_ids(before.get("outputs"))) if before.get("inputs") else set()
        made = [output for output in outputs if output not in held]
        observes = draft.body.get("activity_class") == OBSERVATION and all(_is_outcome(work, one) for one in made)
        if inputs and made and not observes:
            work.permit("derive", draft.before)


def _is_outcome(work: Workspace, element_id: ElementId) -> bool:
    return (work.body(element_id) or {}).get("evidence_class") == OUTCOME


def _label(work: Workspace, plane: Plane) -> None:
    for draft in list(work.drafts.values()):
        if draft.before is None and plane.policy.default_label is not None:
            _raise(plane, draft.body, [plane.policy.default_label])
    moved = True
    while moved:
        # What is derived may be made of something derived in the same statement; labels only ever rise, so it ends.
        moved = any(_inherit(work, plane, *edge) for edge in list(_derivations(work)))


def _inherit(work: Workspace, plane: Plane, made: ElementId, sources: Iterable[ElementId]) -> bool:
    labels = [_label_of(work, source) for source in sources]
    if plane.label_rank(plane.highest(labels)) <= plane.label_rank(_label_of(work, made)):
        return False
    return _raise(plane, work.draft(made).body, labels)


def _raise(plane: Plane, body: dict[str, Any], labels: Iterable[str | None]) -> bool:
    governance: dict[str, Any] = body["governance"]
    before = governance.get("classification")
    highest = plane.highest([before, *labels])
    if highest != before and highest is not None:
        governance["classification"] = highest
        return True
    return False


def _derivations(work: Workspace) -> Iterator[tuple[ElementId, list[ElementId]]]:
    """Elements with what they are made of, where this statement says so: what was said earlier was labelled then."""
    for draft in work.drafts.values():
        body = draft.body
        before = draft.before.body if draft.before is not None else None
        if before is not None and all(before.get(name) == body.get(name) for name in ("inputs", "outputs")):
            continue
        if draft.kind is Kind.ACTIVITY:
            inputs = _ids(body.get("inputs"))
            yield draft.id, inputs
            for output in _ids(body.get("outputs")):
                yield output, inputs
        elif draft.kind is Kind.ASSERTION:
            yield draft.id, [*_ids(body.get("evidence")), *_ids((body.get("lifecycle") or {}).get("supersedes"))]
        elif draft.kind is Kind.EVIDENCE:
            made_by = [*_ids(body.get("source")), *_ids(body.get("generated_by"))]
            corrects = _ids((body.get("lifecycle") or {}).get("corrects"))
            yield draft.id, [*(source for source in made_by if source[0] in "AEX"), *corrects]


def _ids(value: Any) -> list[ElementId]:
    items = value if isinstance(value, list) else [value]
    return [item["id"] for item in items if isinstance(item, Mapping) and isinstance(item.get("id"), str)]


def _label_of(work: Workspace, element_id: ElementId) -> str | None:
    draft = work.drafts.get(element_id)
    if draft is not None:
        body: Mapping[str, Any] = draft.body
    else:
        found = work.tx.elements([element_id]).get(element_id)
        if found is None:
            return None
        body = found.body
    label: str | None = (body.get("governance") or {}).get("classification")
    return label
