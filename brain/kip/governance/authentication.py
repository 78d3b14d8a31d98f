"""What a policy may say of classes of authentication (KIP 2.0 §28.2)."""

from __future__ import annotations

from brain import errors
from brain.kip.governance.authority import SEEING
from brain.kip.governance.names import check_permissions
from brain.kip.governance.plane import Policy


def check_authentications(policy: Policy) -> None:
    """ConstraintViolation for classes named twice, unknown ones, or a permission that shows what is in the Space."""
    classes = policy.authentications
    if len(set(classes)) != len(classes) or not all(classes):
        raise errors.ConstraintViolation("Each class of authentication is named once, and has a name.")
    if not policy.stronger:
        return
    asked = check_permissions(policy.stronger)
    shown = sorted(asked & set(SEEING))
    if shown:
        raise errors.ConstraintViolation(
            f"What of the Space shows is a matter of rules, and {shown[0]} takes no class of authentication.",
            hint="Deny it to those who come through the weaker door.",
        )
    unknown = sorted(set(policy.stronger.values()) - set(classes))
    if unknown:
        raise errors.ConstraintViolation(
            f"The policy asks for the authentication {unknown[0]!r} and does not define it.",
            hint=f"Classes: {', '.join(classes)}.",
        )
