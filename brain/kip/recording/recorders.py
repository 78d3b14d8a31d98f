"""Whose recordings one may repair (KIP 2.0 §57.8): one's own, and those a grant names by their recorder."""

from __future__ import annotations

from brain.kip.context import Session
from brain.kip.governance.plane import Grant, Plane
from brain.store.base import Element
from brain.times import Timestamp


def may_repair(plane: Plane | None, session: Session, element: Element, now: Timestamp) -> bool:
    """Whether an element is the caller's own recording, or a grant lets it review those of that recorder.

    A grant of `repair_recording` over everything is the ordinary permission and reaches one's own recordings only; one
    whose scope names origins was meant for others'. Whoever acts in another's stead reviews nothing.
    """
    recorder = element.body["_system"]["origin"]["principal_id"]
    if recorder == session.principal_id:
        return True
    if plane is None or session.delegation is not None:
        return False
    subjects = plane.subjects_of(session.principal_id)
    return any(
        grant.subject in subjects
        and recorder in grant.scope.origins
        and "repair_recording" in _permissions(plane, grant)
        and (grant.expires_at is None or now < grant.expires_at)
        for grant in plane.grants.values()
    )


def _permissions(plane: Plane, grant: Grant) -> frozenset[str]:
    return grant.permissions | plane.roles.get(grant.role or "", frozenset())
