"""The protected operations of a Space: who may do what, decided by those who may decide it (KIP 2.0 §28, §29).

No statement does any of this; hosts do, for a session whose principal a door authenticated. Each operation asks for its
own permission, is a commit of its own, and is audited, allowed or refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brain import errors
from brain.kip import govern
from brain.kip.context import Session
from brain.kip.governance import approvals, audit
from brain.kip.governance.access import access_of
from brain.kip.governance.audit import AuditRow
from brain.kip.governance.authentication import check_authentications
from brain.kip.governance.authority import authority_of
from brain.kip.governance.elements import Elements
from brain.kip.governance.names import check_permissions
from brain.kip.governance.plane import (
    EVERYBODY,
    EVERYTHING,
    GROUP,
    Binding,
    Delegation,
    Grant,
    Plane,
    Policy,
    Scope,
    to_document,
)
from brain.kip.governance.transitions import Move, transition
from brain.kip.validate import check_timestamp
from brain.store.base import ElementId, Kind
from brain.times import Seq, Timestamp, timestamp

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine


class Governor(Elements):
    """Governs the Space of an engine. Nobody gives what it does not hold itself, over the whole Space.

    Every method raises NotAuthorized without its permission, and changes nothing when it raises.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- grants, groups, roles: `manage_grants` -----------------------------------------------------------------------

    def grant(
        self,
        session: Session,
        subject: str,
        permissions: Iterable[str] = (),
        *,
        role: str | None = None,
        scope: Scope = EVERYTHING,
        expires_at: Timestamp | None = None,
    ) -> str:
        """Give permissions to a principal or a group, by name or as a role; the id of the grant.

        raises  ConstraintViolation and UnsupportedCapability for what is no permission here, NotFoundOrNotVisible for
                a role nobody made
        """
        named: list[str] = []

        def body(move: Move) -> None:
            given = frozenset(permissions)
            if role is not None:
                if role not in move.plane.roles:
                    raise errors.NotFoundOrNotVisible(f"There is no role {role!r}.")
                _require_held(move, move.plane.roles[role])
            if given or role is None:
                _require_held(move, check_permissions(given))
            _check_expiry(expires_at)
            made = Grant(_subject(subject), given, role, scope, expires_at, move.session.principal_id)
            named.append(f"grant-{move.plane.next_id}")
            grants = {**move.plane.grants, named[0]: made}
            move.changed = replace(move.plane, grants=grants, next_id=move.plane.next_id + 1)
            move.details = {"grant": named[0], **_told(Plane(grants={"_": made}), "grants")}

        transition(self._engine, session, "grant", "manage_grants", body)
        return named[0]

    def revoke(self, session: Session, grant_id: str) -> Seq:
        """Withdraw a grant; NotFoundOrNotVisible for one that is not there."""

        def body(move: Move) -> None:
            move.changed = replace(move.plane, grants=_less(move.plane.grants, grant_id, "grant"))
            move.details = {"grant": grant_id}

        return transition(self._engine, session, "revoke", "manage_grants", body)

    def set_group(self, session: Session, name: str, members: Iterable[str]) -> Seq:
        """Say who is in a group; an empty one is dissolved. Whoever adds to it must hold what the group was given."""

        def body(move: Move) -> None:
            listed = frozenset(members)
            before = move.plane.groups.get(name, frozenset())
            if listed - before:
                for grant in move.plane.grants.values():
                    if grant.subject == f"{GROUP}{name}":
                        given = grant.permissions | move.plane.roles.get(grant.role or "", frozenset())
                        _require_held(move, given)
            groups = {**move.plane.groups, name: listed}
            move.changed = replace(move.plane, groups={name: who for name, who in groups.items() if who})
            move.details = {"group": name, "members": sorted(listed)}

        return transition(self._engine, session, "set_group", "manage_grants", body)

    def set_role(self, session: Session, name: str, permissions: Iterable[str]) -> Seq:
        """Say what a role stands for, for every grant that names it."""

        def body(move: Move) -> None:
            given = check_permissions(permissions)
            _require_held(move, given)
            move.changed = replace(move.plane, roles={**move.plane.roles, name: given})
            move.details = {"role": name, "permissions": sorted(given)}

        return transition(self._engine, session, "set_role", "manage_grants", body)

    # --- delegations: `manage_delegation` -----------------------------------------------------------------------------

    def delegate(
        self,
        session: Session,
        receiver: str,
        permissions: Iterable[str],
        *,
        scope: Scope = EVERYTHING,
        expires_at: Timestamp | None = None,
        may_chain: bool = False,
    ) -> str:
        """Let another principal act in one's own stead, with these permissions at most; the delegation's id.

        A session that acts under a delegation itself makes a further link of the chain, which that has to allow.
        """
        named: list[str] = []

        def body(move: Move) -> None:
            given = check_permissions(permissions)
            lacking = sorted(given - move.session.permissions)
            if lacking:
                raise _lacks(move, lacking[0])
            parent = session.delegation
            if parent is not None and not move.plane.delegations[parent].may_chain:
                raise errors.NotAuthorized(
                    "The delegation you act under may not be passed on.", details={"permission": "manage_delegation"}
                )
            _check_expiry(expires_at)
            held = session.permissions if parent is None else frozenset[str]()
            made = Delegation(
                session.principal_id, _principal(receiver), given, held, scope, expires_at, may_chain, parent
            )
            named.append(f"delegation-{move.plane.next_id}")
            delegations = {**move.plane.delegations, named[0]: made}
            move.changed = replace(move.plane, delegations=delegations, next_id=move.plane.next_id + 1)
            move.details = {"delegation": named[0], "receiver": receiver, "permissions": sorted(given)}

        transition(self._engine, session, "delegate", "manage_delegation", body)
        return named[0]

    def withdraw(self, session: Session, delegation_id: str) -> Seq:
        """End a delegation, and with it every one made under it."""

        def body(move: Move) -> None:
            kept = _less(move.plane.delegations, delegation_id, "delegation")
            while hanging := [
                name for name, link in kept.items() if link.parent is not None and link.parent not in kept
            ]:
                kept = {name: link for name, link in kept.items() if name not in hanging}
            move.changed = replace(move.plane, delegations=kept)
            move.details = {"delegation": delegation_id}

        return transition(self._engine, session, "withdraw", "manage_delegation", body)

    # --- actors: `manage_actor_binding` -------------------------------------------------------------------------------

    def bind(self, session: Session, principal: str, actors: Collection[ElementId]) -> str:
        """Let a principal speak as these Concepts; the id of the binding.

        raises  NotFoundOrNotVisible for anything but a Concept in use
        """
        named: list[str] = []

        def body(move: Move) -> None:
            for actor in sorted(actors):
                found = move.element(actor)
                if found.kind is not Kind.CONCEPT or found.state != "active":
                    raise errors.NotFoundOrNotVisible(f"{actor} is no Concept anybody could speak as.")
            named.append(f"binding-{move.plane.next_id}")
            bindings = {**move.plane.bindings, named[0]: Binding(_principal(principal), frozenset(actors))}
            move.changed = replace(move.plane, bindings=bindings, next_id=move.plane.next_id + 1)
            move.details = {"binding": named[0], "principal": principal, "actors": sorted(actors)}

        transition(self._engine, session, "bind", "manage_actor_binding", body)
        return named[0]

    def unbind(self, session: Session, binding_id: str) -> Seq:
        """Take a binding away."""

        def body(move: Move) -> None:
            move.changed = replace(move.plane, bindings=_less(move.plane.bindings, binding_id, "binding"))
            move.details = {"binding": binding_id}

        return transition(self._engine, session, "unbind", "manage_actor_binding", body)

    # --- the policy: `manage_policy` ----------------------------------------------------------------------------------

    def set_policy(self, session: Session, policy: Policy) -> Seq:
        """A new version of the policy; `policy.version` is set here.

        raises  ConstraintViolation for labels named twice or not at all, unknown permissions, or a policy that takes
                `manage_policy` from whoever sets it
        """

        def body(move: Move) -> None:
            _check_policy(move, policy)
            version = move.plane.policy.version + 1
            move.changed = replace(move.plane, policy=replace(policy, version=version))
            now = timestamp(self._engine.clock.now_ms())
            after = authority_of(move.changed, session.principal_id, session.permissions, now)
            if not after.is_whole("manage_policy"):
                raise errors.ConstraintViolation("This policy would take manage_policy from you, who set it.")
            if "manage_policy" in policy.out_of_reach(session.authentication):
                raise errors.ConstraintViolation("This policy asks for more than the authentication you set it with.")
            move.details = {"policy_version": version}

        return transition(self._engine, session, "set_policy", "manage_policy", body)

    # --- approvals and audit ------------------------------------------------------------------------------------------

    def waiting(self, session: Session) -> list[approvals.Filed]:
        """What waits for approval; needs `approve`."""
        self._permit(session, "approve")
        with self._engine.space.snapshot() as snapshot:
            return approvals.waiting(snapshot)

    def approve(self, session: Session, approval_id: str) -> Seq:
        """Record the second decision on a request of somebody else, which may then be sent again.

        raises  NotFoundOrNotVisible for nothing that waits, NotAuthorized for one's own
        """

        def body(move: Move) -> None:
            filed = approvals.approve(move.tx, move.session, approval_id)
            # A commit of its own: what depends on authority is to be asked for anew (§36.1).
            move.changed = replace(move.plane, next_id=move.plane.next_id + 1)
            move.details = {"approval_id": approval_id, "requested_by": filed.principal_id}

        return transition(self._engine, session, "approve", "approve", body)

    def decisions(self, session: Session, *, after: int = 0, limit: int = 100) -> list[tuple[int, AuditRow]]:
        """Audited decisions about protected state, with their numbers; needs `read_audit`."""
        self._permit(session, "read_audit")
        with self._engine.space.snapshot() as snapshot:
            return audit.decisions(snapshot, after=after, limit=limit)

    def writes(self, session: Session, *, after: Seq = 0, limit: int = 100) -> list[AuditRow]:
        """The decisions behind commits; needs `read_audit`."""
        self._permit(session, "read_audit")
        with self._engine.space.snapshot() as snapshot:
            return audit.writes(snapshot, after=after, limit=limit)

    def _permit(self, session: Session, permission: str) -> None:
        with self._engine.space.snapshot() as head:
            access = access_of(self._engine.planes, session, head, head, self._engine.clock)
        govern.permit(access.session, permission)


def _require_held(move: Move, permissions: Iterable[str]) -> None:
    """Nobody gives what it does not hold itself, over the whole Space."""
    authority = move.session.authority
    for permission in sorted(permissions):
        whole = permission in move.session.permissions if authority is None else authority.is_whole(permission)
        if not whole:
            raise _lacks(move, permission)


def _lacks(move: Move, permission: str) -> errors.NotAuthorized:
    return errors.NotAuthorized(
        f"{move.session.principal_id} does not hold {permission} and cannot give it.",
        details={"permission": permission},
    )


def _check_policy(move: Move, policy: Policy) -> None:
    labels = policy.labels
    if len(set(labels)) != len(labels) or not all(labels):
        raise errors.ConstraintViolation("Each classification label is named once, and has a name.")
    named = {label for rule in policy.rules for label in rule.scope.labels if label is not None}
    named |= {policy.default_label} if policy.default_label is not None else set()
    unknown = sorted(named - set(labels))
    if unknown:
        raise errors.ConstraintViolation(
            f"The policy uses the label {unknown[0]!r} and does not define it.", hint=f"Labels: {', '.join(labels)}."
        )
    for rule in policy.rules:
        given = check_permissions(rule.permissions)
        if rule.effect == "allow":
            _require_held(move, given)
        if rule.fields and (rule.effect, given) != ("deny", frozenset({"read"})):
            raise errors.ConstraintViolation("Single fields are only ever denied, and only to read.")
        for subject in rule.to | rule.excepted:
            _subject(subject, everybody=True)
    check_authentications(policy)
    if policy.approvals:
        check_permissions(policy.approvals)
        if "approve" in policy.approvals:
            raise errors.ConstraintViolation("Approving does not itself wait for approval.")


def _subject(text: str, *, everybody: bool = False) -> str:
    if text.removeprefix(GROUP) == "" or (text == EVERYBODY and not everybody):
        raise errors.ConstraintViolation(f"{text!r} names neither a principal nor a group.")
    return text


def _principal(text: str) -> str:
    if text.startswith(GROUP) or text in ("", EVERYBODY):
        raise errors.ConstraintViolation(f"{text!r} names no single principal.")
    return text


def _check_expiry(expires_at: Timestamp | None) -> None:
    if expires_at is not None:
        check_timestamp(expires_at, "expires_at")


def _less(entries: Any, name: str, what: str) -> dict[str, Any]:
    if name not in entries:
        raise errors.NotFoundOrNotVisible(f"There is no {what} {name!r}.")
    return {other: entry for other, entry in entries.items() if other != name}


def _told(plane: Plane, member: str) -> dict[str, Any]:
    told: dict[str, Any] = to_document(plane)[member]["_"]
    return told
