"""Who may call and for what: the credentials of a request once they are verified (BR-AUTH)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AuthenticationFailed(Exception):
    """No credential, or none that is good here. Callers are never told which of its parts was wrong."""


class NotAdmitted(AuthenticationFailed):
    """The same, and it took a look at the Space to know, which takes longer where there is one."""


class AccessClosed(Exception):
    """The credential is good, and this surface is closed to its kind; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Scope(StrEnum):
    """What a credential allows. Scopes do not nest: only `*` satisfies another one."""

    READ = "read"
    WRITE = "write"
    FULL = "*"

    def satisfies(self, needed: Scope) -> bool:
        """Whether a credential of this scope may do what needs `needed`."""
        return self is Scope.FULL or self is needed


EVERY_SPACE = "*"
"""The audience of a token that is good for all Spaces."""


@dataclass(frozen=True, slots=True)
class Cwt:
    """A verified CBOR Web Token.

    subject   the principal it was made out to
    audience  a Space id, or `*`
    """

    subject: str
    audience: str
    scope: Scope

    def is_for(self, space_id: str) -> bool:
        """Whether it is good in a Space."""
        return self.audience in (EVERY_SPACE, space_id)


@dataclass(frozen=True, slots=True)
class SpaceToken:
    """A verified token of one Space.

    name    unique in the Space; its identity wherever the caller is named
    labels  of the documents it may read beside those without one; None for all
    mark    tells it from every other token, also from a later one of its name
    """

    name: str
    scope: Scope
    labels: frozenset[str] | None
    mark: str = ""
