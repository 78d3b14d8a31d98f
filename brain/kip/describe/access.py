"""DESCRIBE ACCESS: what this caller may do, without showing the grants behind it (KIP 2.0 §31.3, §67.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.kip import ast
from brain.kip.context import OWNER_PERMISSIONS, Answer, Run
from brain.kip.govern import authorization_view, is_permitted
from brain.kip.governance.authority import chain_of
from brain.kip.governance.names import AUTHORITY_CLASSES
from brain.kip.governance.plane import Plane
from brain.kip.resolve import Binder
from brain.store.base import Json

_OPTIONS = frozenset({"operation", "purpose", "resource"})


def describe_access(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE ACCESS [WITH {operation, resource, purpose}].

    The caller's own permissions and, when an operation is named, whether it is allowed on the resource. A resource that
    does not exist and one that may not be seen are answered alike.

    raises  SchemaFieldNotFound for another option, ConstraintViolation for an operation no permission is named for
    """
    session = run.session
    answer: dict[str, Any] = {
        "principal": session.principal_id,
        "space_id": run.space_uri,
        "is_owner": session.permissions >= OWNER_PERMISSIONS,
        "permissions": sorted(session.permissions),
        "actor_binding": sorted(session.actors),
        **_protected(run),
        "elevatable_authority_classes": elevatable(session.permissions),
        "authorization_view": authorization_view(session),
        "purpose": run.purpose,
    }
    if statement.options is not None:
        answer["decision"] = _decision(run, _options(run, statement.options))
    return Answer(answer)


def _protected(run: Run) -> dict[str, Any]:
    """What the protected state says of the caller: memberships, the delegations it acts under, when they end."""
    plane, session = run.plane or Plane(), run.session
    chain = chain_of(plane, session.delegation) if session.delegation is not None else None
    links = [
        {"delegator": link.delegator, "receiver": link.receiver, "expires_at": link.expires_at} for link in chain or ()
    ]
    return {
        "groups": sorted(plane.groups_of(session.principal_id)),
        "delegation_chain": links,
        "expires_at": min((link["expires_at"] for link in links if link["expires_at"] is not None), default=None),
        "default_classification": plane.policy.default_label,
        "classifications": list(plane.policy.labels),
        "policy_version": plane.policy.version,
    }


def elevatable(permissions: frozenset[str]) -> list[str]:
    """The authority classes this caller could raise content to."""
    return list(AUTHORITY_CLASSES[1:]) if "elevate_authority" in permissions else []


def _options(run: Run, node: ast.ObjectLiteral) -> Mapping[str, Json]:
    options = {member.name: Binder.of(run).data(member.value) for member in node.members}
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown:
        raise errors.SchemaFieldNotFound(
            f"DESCRIBE ACCESS has no option {unknown[0]}.", hint=f"Options: {', '.join(sorted(_OPTIONS))}."
        )
    for name, value in options.items():
        if not isinstance(value, str):
            raise errors.TypeMismatch(f"{name} is a string.")
    return options


def _decision(run: Run, options: Mapping[str, Json]) -> Mapping[str, Json]:
    decision: dict[str, Any] = dict(options)
    operation = options.get("operation")
    if operation is not None:
        if operation not in OWNER_PERMISSIONS:
            raise errors.ConstraintViolation(
                f"No permission is called {operation}.", hint=f"Permissions: {', '.join(sorted(OWNER_PERMISSIONS))}."
            )
        decision["allowed"] = operation in run.session.permissions
    resource = options.get("resource")
    if resource is not None and resource not in (run.space_uri, run.snapshot.space_id):
        element = run.snapshot.elements([resource]).get(resource)
        if element is None:
            raise errors.NotFoundOrNotVisible(f"There is no {resource} that you may see.")
        governance = element.body.get("governance") or {}
        decision["quarantined"] = bool(governance.get("quarantined"))
        if operation is not None:
            permitted = run.sight.may(str(operation), element.id) if run.sight is not None else None
            decision["allowed"] = is_permitted(run.session, str(operation), element) if permitted is None else permitted
    return decision
