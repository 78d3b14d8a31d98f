"""The permissions of §29: Core ones, and those that come with a capability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from brain import errors
from brain.kip import capabilities
from brain.kip.context import CORE_PERMISSIONS

EXTENDED: Mapping[str, str] = {
    "derive": "derive_permission",
    "manage_trust": "weighted_projection",
    "propose_schema": "draft_vocabulary",
    "record_outcome": "record_outcome_permission",
    "repair_recording": "recording_repair",
}
"""Each with the capability it belongs to: where that is off nothing asks for it, so nobody may be given it."""

AUTHORITY_CLASSES = ("descriptive", "advisory", "behavioral", "executable")
"""How far an element may influence behavior, least first (§31.3)."""


def offered() -> frozenset[str]:
    """Every permission something here asks for."""
    return CORE_PERMISSIONS | {name for name, capability in EXTENDED.items() if capabilities.is_held(capability)}


def check_permissions(names: Iterable[str]) -> frozenset[str]:
    """The names as a set.

    raises  ConstraintViolation for none at all or one nobody knows, UnsupportedCapability for one whose capability is
            off
    """
    wanted = frozenset(names)
    if not wanted:
        raise errors.ConstraintViolation("A grant names at least one permission.")
    known = offered()
    for name in sorted(wanted - known):
        if name in EXTENDED:
            raise errors.UnsupportedCapability(
                f"Nothing here asks for {name}, since {EXTENDED[name]} is not offered.",
                details={"permission": name, "capability": EXTENDED[name]},
            )
        raise errors.ConstraintViolation(
            f"No permission is called {name!r}.", hint=f"Permissions: {', '.join(sorted(known))}."
        )
    return wanted
