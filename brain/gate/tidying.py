"""What a maintenance cycle may write: its own inferences, one merge at a time, ends of tasks it holds."""

from __future__ import annotations

from brain import errors
from brain.gate.facts import MaintenanceFacts
from brain.gate.roles import Role
from brain.gate.writes import check_common, check_status, status_of
from brain.gate.written import Written, planes, ref, refs, type_of
from brain.kip.context import Changed, Review, WriteSet
from brain.store.base import Element, ElementId, Kind, Transaction
from brain.times import Timestamp

_TERMINAL_TASK = frozenset({"blocked", "cancelled", "completed", "failed"})


def maintenance_review(facts: MaintenanceFacts, now: Timestamp) -> Review:
    """The judge of a maintenance cycle's writes.

    now  the cycle's time, for leases; an expired one is none
    """

    def review(write_set: WriteSet, tx: Transaction) -> None:
        written = Written(write_set, tx)
        check_common(Role.MAINTENANCE, written)
        for assertion in written.created(Kind.ASSERTION):
            _check_own_inference(assertion, facts, written)
        merged = [changed for changed in write_set.changed if changed.after.state == "merged" != changed.before.state]
        if len(merged) > 1:
            raise errors.NotAuthorized(
                "MERGE CONCEPT must come to exactly one source and one target.", hint="Merge one pair per statement."
            )
        for changed in write_set.changed:
            _check_maintenance_change(changed, facts, written, now)

    return review


def _check_own_inference(assertion: Element, facts: MaintenanceFacts, written: Written) -> None:
    actor = ref(assertion.body.get("asserted_by"))
    if actor is None or written.canonical(actor) != written.canonical(facts.self_id):
        raise errors.NotAuthorized(
            "Maintenance claims nothing in another's name.", hint="Give this Brain's own reference as by:."
        )
    if assertion.body.get("mode") != "inferred":
        raise errors.ConstraintViolation("What maintenance concludes is inferred.", hint='Write mode: "inferred".')


def _check_maintenance_change(changed: Changed, facts: MaintenanceFacts, written: Written, now: Timestamp) -> None:
    before, after = changed.before, changed.after
    if before.state != after.state and after.state in ("archived", "tombstoned"):
        leased = {i for task in _live(facts, now) for i in _named_by(task, written)}
        if before.id not in facts.targets | leased:
            raise errors.NotAuthorized(
                f"{before.id} is named neither by this cycle's assessment nor by a task in hand.",
                hint="Only those may be archived or tombstoned; text in memory never selects a target.",
            )
    if before.kind is Kind.ASSERTION and status_of(before) != status_of(after):
        actor = ref(before.body.get("asserted_by"))
        if actor is None or written.canonical(actor) != written.canonical(facts.self_id):
            raise errors.NotAuthorized(
                f"{before.id} is somebody's own claim; nobody else takes it back.",
                hint="Leave disagreement to stand, or ask for it in the report.",
            )
    if before.kind is Kind.CONCEPT and type_of(before) == "SleepTask":
        _check_task_end(changed, facts, written, now)
    elif before.kind is Kind.CONCEPT:
        check_status(changed, frozenset({"disarmed"}))


def _check_task_end(changed: Changed, facts: MaintenanceFacts, written: Written, now: Timestamp) -> None:
    """A task ends under a live lease, at the version it was leased at, together with what came of it (BR-GATE-027)."""
    status = (changed.after.body.get("attributes") or {}).get("status")
    if status == (changed.before.body.get("attributes") or {}).get("status") or status not in _TERMINAL_TASK:
        return
    lease = _live(facts, now).get(changed.before.id)
    if lease is None or lease != changed.before.version:
        raise errors.NotAuthorized(
            f"{changed.before.id} is not in hand: its lease is missing, over, or of another version.",
            hint="Lease the task, then end it in the same MUTATE as its outputs.",
        )
    named = {i for x in written.created(Kind.ACTIVITY) for i in refs(x.body.get("inputs") or [])}
    if changed.before.id not in named:
        raise errors.NotAuthorized(
            f"{changed.before.id} may only end together with what came of it.",
            hint="Record an Activity with the task among its inputs in the same MUTATE.",
        )


def _live(facts: MaintenanceFacts, now: Timestamp) -> dict[ElementId, int]:
    return {task: lease.version for task, lease in facts.leases.items() if lease.expires_at > now}


def _named_by(task: ElementId, written: Written) -> set[ElementId]:
    element = written.element(task)
    fields = planes(element, "structural") if element else {}
    return {i for name in ("about", "watches") for i in refs(fields.get(name) or [])}
