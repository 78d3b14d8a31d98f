"""The second half of the gate: what a statement would write, inside its transaction, before it commits.

What holds for every model stands here; `claims.py` judges a Formation pass, `tidying.py` a maintenance cycle. All of it
looks at resolved elements, so that no spelling of a statement gets around it.
"""

from __future__ import annotations

from brain import errors
from brain.gate import vocabulary
from brain.gate.roles import (
    FIRST_STATUS,
    HOST_ACTIVITIES,
    HOST_EVIDENCE,
    HOST_FACETS,
    HOST_FIELDS,
    MODEL_CONTROLS,
    Role,
)
from brain.gate.written import Written, planes, type_of
from brain.kip.context import Changed
from brain.names import is_reserved
from brain.store.base import Element, Kind


def check_common(role: Role, written: Written) -> None:
    write_set = written.write_set
    if write_set.erased:
        raise errors.NotAuthorized("Nothing may be erased here.", hint="Keep the wish as a request for the owner.")
    beyond = sorted(set(write_set.controls) - MODEL_CONTROLS[role])
    if beyond:
        raise errors.NotAuthorized(f"The {beyond[0]} of the Space may not be changed here.")
    if "schema" in write_set.controls:
        vocabulary.check_size(write_set.controls["schema"])
    for element in write_set.created:
        if element.id not in write_set.ingested:
            _check_new(element)
    for changed in write_set.changed:
        _check_host_planes(changed.after, before=changed.before)
        _check_key(changed.after, before=changed.before)


def _check_new(element: Element) -> None:
    body = element.body
    if element.kind is Kind.EVIDENCE and body.get("evidence_class") in HOST_EVIDENCE:
        raise errors.NotAuthorized(
            f"Evidence of the class {body['evidence_class']} is captured by the host alone.",
            hint="Cite the captured messages as :msg1, :msg2 …; your own conclusions are derived_result.",
        )
    if element.kind is Kind.ACTIVITY and body.get("activity_class") in HOST_ACTIVITIES:
        raise errors.NotAuthorized(
            f"An Activity of the class {body['activity_class']} states what the host decided or saw.",
            hint="Use extraction, inference, semantic_consolidation or belief_revision for your own work.",
        )
    _check_key(element, before=None)
    if element.kind is Kind.CONCEPT:
        first = FIRST_STATUS.get(type_of(element))
        if first is not None and (body.get("attributes") or {}).get("status") != first:
            raise errors.NotAuthorized(
                f"A new {type_of(element)} starts as {first}.", hint=f'Create it with status: "{first}".'
            )
    _check_host_planes(element, before=None)


def _check_key(element: Element, *, before: Element | None) -> None:
    """The host's own keys stand for the Brain and for callers: whoever made one could prepare whom they are."""
    key = element.body.get("key")
    if isinstance(key, str) and is_reserved(key) and (before is None or before.body.get("key") != key):
        raise errors.NotAuthorized("Keys that begin with $ are the host's own.", hint="Choose another key.")


def _check_host_planes(element: Element, *, before: Element | None) -> None:
    for plane, reserved in (("facets", HOST_FACETS), ("structural", HOST_FIELDS)):
        now, then = planes(element, plane), planes(before, plane) if before else {}
        for name in reserved & (set(now) | set(then)):
            if now.get(name) != then.get(name):
                raise errors.UnsupportedCapability(
                    f"{name} records what the host did or computed; it cannot be written here.", hint="Leave it out."
                )
    strength = planes(element, "facets").get("MnemonicState") or {}
    was = (planes(before, "facets").get("MnemonicState") or {}) if before else {}
    if strength.get("memory_strength") != was.get("memory_strength") and not (
        strength.get("last_metabolized_at") and strength.get("strength_policy")
    ):
        raise errors.ConstraintViolation(
            "memory_strength needs last_metabolized_at and strength_policy beside it.",
            hint="Set all three in one SET FACET, or leave memory_strength out.",
        )


def check_status(changed: Changed, allowed: frozenset[str]) -> None:
    """A SleepTask or Watch changes its status only as its role may."""
    if type_of(changed.before) not in FIRST_STATUS:
        return
    then = (changed.before.body.get("attributes") or {}).get("status")
    now = (changed.after.body.get("attributes") or {}).get("status")
    if then != now and now not in allowed:
        raise errors.NotAuthorized(
            f"{changed.before.id} is not set to {now} here.", hint="Work on tasks and watches is the runtime's."
        )


def status_of(element: Element) -> str:
    return str((element.body.get("lifecycle") or {}).get("status", "active"))
