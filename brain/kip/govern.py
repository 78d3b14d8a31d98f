"""The one place where a permission is asked for (KIP 2.0 §28 to §30), and the preset's principals.

A decision reads protected input only: the session a door or host made, what the Space's own protected state makes of
it (`governance/access.py`), and the `identity` control document. Nothing stored as memory content takes part in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from brain import errors
from brain.ids import digest
from brain.kip.context import OWNER_PERMISSIONS, Session
from brain.store.base import Element, ElementId

_READING = frozenset({"discover", "project", "read", "search"})

SINGLE_AGENT_PRESET: Mapping[str, frozenset[str]] = {
    "agent": _READING
    | {
        "archive",
        "assert",
        "create",
        "export",
        "propose_schema",
        "record_attributed_assertion",
        "repair_recording",
        "retract_own",
        "supersede_own",
        "update",
    },
    "instrument": frozenset({"create", "discover", "read", "record_outcome"}),
    "maintenance": _READING
    | {
        "assert",
        "create",
        "derive",
        "maintain",
        "manage_retention",
        "merge_identity",
        "read_audit",
        "read_history",
        "tombstone",
        "update",
    },
    "owner": OWNER_PERMISSIONS,
}
"""The four principals of a Space with one acting Agent, each with exactly what §30.5 gives it."""


def preset_session(
    role: str,
    *,
    principal_id: str,
    channel: str,
    actors: Iterable[ElementId] = (),
    default_policy: str = "kip:policy:baseline",
) -> Session:
    """A session of one of the preset's principals; KeyError for a role it does not have."""
    return Session(
        principal_id=principal_id,
        channel=channel,
        permissions=SINGLE_AGENT_PRESET[role],
        actors=frozenset(actors),
        default_policy=default_policy,
    )


def authorization_view(session: Session) -> str:
    """An opaque name of what a session may see and do: equal for equal authority, else different (§27.1, §36.1)."""
    authority = None if session.authority is None else session.authority.digest
    return _view(session.principal_id, session.permissions, session.actors, authority)


@lru_cache(maxsize=1024)
def _view(principal_id: str, permissions: frozenset[str], actors: frozenset[ElementId], authority: str | None) -> str:
    made_of = [principal_id, sorted(permissions), sorted(actors)]
    held = digest(made_of if authority is None else [*made_of, authority])
    return f"view:{held.removeprefix('sha256:')[:32]}"


def is_permitted(session: Session, permission: str, element: Element | None = None) -> bool:
    """Whether the session holds a permission: for an element, or somewhere."""
    if permission not in session.permissions:
        return False
    return element is None or session.authority is None or session.authority.may(permission, element.body)


def require_principal(session: Session) -> None:
    """Unauthenticated for a session no door put a name to: what nobody asks for is never done (§28.2)."""
    if not session.principal_id.strip():
        raise errors.Unauthenticated()


def permit(session: Session, permission: str, element: Element | None = None) -> None:
    """Let the action through, or raise NotAuthorized. Whatever no permission allows is denied (§30.2).

    element  the element the action falls on, where there is one
    raises   RequiresStrongerAuthentication for what is held and asks for another authentication than the session's
    """
    if not is_permitted(session, permission, element):
        raise errors.NotAuthorized(
            f"This needs the permission {permission}, which {session.principal_id} does not hold.",
            details={"permission": permission} | ({"element": element.id} if element else {}),
        )
    if permission in session.out_of_reach:
        raise errors.RequiresStrongerAuthentication(
            f"{permission} asks for a stronger authentication than the one you came with.",
            details={"permission": permission},
        )


def assertion_permission(session: Session, actor: ElementId, self_identity: ElementId | None) -> str:
    """The permission a claim of `actor` needs from this session (§28.4).

    A bound actor needs `assert`, any other `record_attributed_assertion`; the Space's self, and whom the policy names,
    are reserved for the principals bound to them: speaking as one without the binding needs `assert_as_actor`.
    """
    if actor in session.actors:
        return "assert"
    if actor != self_identity and actor not in session.reserved:
        return "record_attributed_assertion"
    if "assert_as_actor" not in session.permissions:
        raise errors.ActorBindingRequired(
            f"Only a principal bound to {actor} may write claims of it.", details={"actor": actor}
        )
    return "assert_as_actor"


def withdrawal_permission(session: Session, assertion: Element, actor: ElementId, *, superseding: bool) -> str:
    """The permission to retract or supersede this claim (§14.1, §57.3, §57.4).

    One's own claims are those of a bound actor and those this principal recorded itself. Others' may only be withdrawn
    by a principal that may speak as any actor.
    """
    recorded_here = assertion.body["_system"]["origin"]["principal_id"] == session.principal_id
    if actor in session.actors or recorded_here:
        return "supersede_own" if superseding else "retract_own"
    if "assert_as_actor" not in session.permissions and not superseding:
        raise errors.RetractionNotAuthorized(details={"element": assertion.id})
    return "assert_as_actor"
