"""What one operation may do and see, from who is asking and the protected state as it stands now (KIP 2.0 §28, §48.5).

Where nobody governed, and for a principal no rule restricts, this is the session as its door made it and the snapshot
as the store gave it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from brain import errors
from brain.kip import govern
from brain.kip.context import Session
from brain.kip.governance.authority import Allowance, Authority, authority_of, chain_digest, chain_of, delegated
from brain.kip.governance.plane import CONTROL, Plane, from_document
from brain.kip.governance.sight import Sight
from brain.kip.governance.view import View
from brain.store.base import ElementId, Snapshot
from brain.times import Clock, Seq, Timestamp, timestamp

Open = Callable[[Seq], AbstractContextManager[Snapshot]]


_REMEMBERED = 256


class Planes:
    """The protected state of one Space, read once per commit, and what it came to for those who asked lately.

    Thread-safe: what another thread replaced meanwhile is only worked out again.
    """

    def __init__(self) -> None:
        self._known: tuple[Seq, Plane | None] = (-1, None)
        self._authorities: dict[tuple[Any, ...], tuple[Authority, Timestamp | None]] = {}

    def of(self, head: Snapshot) -> Plane | None:
        """The newest plane, None where nobody governed.

        head  the Space as it stands; a transaction stands for its start
        """
        seq, plane = self._known
        if seq != head.seq:
            document = head.control(CONTROL)
            if document is None:
                plane = None
            elif plane is None or plane.version != document["version"]:
                plane = from_document(document)
                self._authorities = {}
            self._known = (head.seq, plane)
        return plane

    def authority(self, plane: Plane, session: Session, now: Timestamp) -> Authority:
        """The authority a session, as its door made it, acts with.

        raises  NotAuthorized for a delegation that gives nothing
        """
        kept = self._authorities
        key = (plane.version, session.principal_id, session.permissions, session.delegation)
        found = kept.get(key)
        if found is None or (found[1] is not None and now >= found[1]):
            found = _authority(plane, session, now), _next_expiry(plane, now)
            if len(kept) >= _REMEMBERED:
                kept.clear()
            kept[key] = found
        return found[0]


@dataclass(frozen=True, slots=True)
class Access:
    """
    session      the caller with the permissions and actors it really has
    snapshot     the Space as it sees it
    weighed      the Space as belief may be worked out for it; None for the same as `snapshot`
    sight        what is hidden from it; None for nothing
    head         the Space as it stands
    plane        its protected state, None where nobody governed
    """

    session: Session
    snapshot: Snapshot
    head: Snapshot
    plane: Plane | None = None
    weighed: Snapshot | None = None
    sight: Sight | None = None

    def opened(self, open_at: Open) -> Open:
        """Looking back, under the authority of now."""
        sight = self.sight
        if sight is None:
            return open_at

        @contextmanager
        def opened(seq: Seq) -> Iterator[Snapshot]:
            with open_at(seq) as snapshot:
                yield View(snapshot, sight, is_head=False)

        return opened


def access_of(planes: Planes, session: Session, snapshot: Snapshot, head: Snapshot, clock: Clock) -> Access:
    """The access of a session to a snapshot.

    raises  Unauthenticated for a session of nobody, NotAuthorized for a delegation that gives nothing
    """
    govern.require_principal(session)
    plane = planes.of(head)
    if plane is None:
        if session.delegation is not None:
            raise _no_delegation()
        if "discover" in session.permissions:
            return Access(session, snapshot, head)
        authority, left_out = Authority([Allowance(session.permissions)]), frozenset[ElementId]()
    else:
        authority = planes.authority(plane, session, timestamp(clock.now_ms()))
        session = _held(plane, session, authority)
        left_out = plane.quarantined if session.recalls else frozenset()
    if authority.sees_everything and not left_out:
        return Access(session, snapshot, head, plane)
    is_head = snapshot is head
    sight = Sight(authority, head, left_out=left_out)
    weighing = Sight(authority, head, projects=True, left_out=left_out)
    return Access(
        session,
        View(snapshot, sight, is_head=is_head),
        head,
        plane,
        weighed=View(snapshot, weighing, is_head=is_head, projects=True),
        sight=sight,
    )


def revalidate(planes: Planes, access: Access, session: Session, asked: Iterable[str], clock: Clock) -> None:
    """Ask again, right before a commit, for what its writes needed (§28.6).

    session  as its door made it
    raises   NotAuthorized when one of the permissions is gone
    """
    if access.plane is None:
        return
    held = planes.authority(access.plane, session, timestamp(clock.now_ms())).permissions
    lost = sorted(set(asked) - held)
    if lost:
        raise errors.NotAuthorized(
            f"The permission {lost[0]} was withdrawn before the write was finished.", details={"permission": lost[0]}
        )


def _authority(plane: Plane, session: Session, now: Timestamp) -> Authority:
    if session.delegation is None:
        return authority_of(plane, session.principal_id, session.permissions, now)
    found = delegated(plane, session.delegation, session.principal_id, now)
    if found is None:
        raise _no_delegation()
    return found


def _next_expiry(plane: Plane, now: Timestamp) -> Timestamp | None:
    """When the passing of time alone changes what somebody may do."""
    ends = [grant.expires_at for grant in plane.grants.values()]
    ends += [delegation.expires_at for delegation in plane.delegations.values()]
    return min((end for end in ends if end is not None and end > now), default=None)


def _held(plane: Plane, session: Session, authority: Authority) -> Session:
    bindings = {name: one for name, one in plane.bindings.items() if one.principal == session.principal_id}
    actors = session.actors.union(*(one.actors for one in bindings.values()))
    digest = None
    if session.delegation is not None:
        digest = chain_digest(chain_of(plane, session.delegation) or [])
    return replace(
        session,
        permissions=authority.permissions,
        actors=actors,
        authority=None if authority.is_plain else authority,
        bindings=tuple(sorted((name, one.actors) for name, one in bindings.items())),
        reserved=plane.policy.reserved,
        delegation_digest=digest,
        out_of_reach=plane.policy.out_of_reach(session.authentication),
    )


def _no_delegation() -> errors.NotAuthorized:
    return errors.NotAuthorized("This delegation gives you nothing here.")
