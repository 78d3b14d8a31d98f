"""Who gets in where: one function for every door (BR-AUTH-015 to 027).

Every route states an `Access`. A caller without a credential that is good for it learns nothing more than that: a Space
that is not there, one that is private and one that is another's are the same answer.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import TYPE_CHECKING

from brain.auth.credentials import (
    EVERY_SPACE,
    AccessClosed,
    AuthenticationFailed,
    Cwt,
    NotAdmitted,
    Scope,
    SpaceToken,
)
from brain.service.callers import Caller
from brain.service.failures import SpaceNotFound, SpaceUnreadable, Unavailable
from brain.service.records import record_of
from brain.service.space_tokens import PREFIX, SpaceTokens
from brain.service.spaces import OpenSpace, Spaces

if TYPE_CHECKING:
    from brain.auth.cwt import CwtVerifier

ANONYMOUS = "anonymous"

_SHORTEST_CWT = 60
"""Characters from which on a text on a lenient route is taken for a CWT, and verified."""

_LABELLED = "a token restricted to labels may not read what spans all of them"


class Access(Enum):
    """What a route asks of its caller.

    OPEN            nothing
    PUBLIC_READ     on a public Space nothing, but a Space token given must be good; else scope read
    UNLABELLED_READ the same, and closed to tokens that are restricted to labels
    LENIENT_READ    on a public Space nothing, and a Space token given is not looked at; else scope read
    READ            a credential of scope read, on a public Space too
    WRITE           a credential of scope write
    FULL            a credential of scope `*`
    MANAGEMENT      a CWT of scope write; no Space token
    ADMIN           a CWT for every Space, of scope write, made out to a manager
    """

    OPEN = "open"
    PUBLIC_READ = "public read"
    UNLABELLED_READ = "unlabelled read"
    LENIENT_READ = "lenient read"
    READ = "read"
    WRITE = "write"
    FULL = "full"
    MANAGEMENT = "management"
    ADMIN = "admin"

    @property
    def scope(self) -> Scope:
        """What a credential has to allow."""
        if self in _WRITING:
            return Scope.WRITE
        return Scope.FULL if self is Access.FULL else Scope.READ

    @property
    def is_public(self) -> bool:
        """Whether anybody may on a public Space."""
        return self in (Access.PUBLIC_READ, Access.UNLABELLED_READ, Access.LENIENT_READ)


_WRITING = (Access.WRITE, Access.MANAGEMENT, Access.ADMIN)
_BEYOND_TOKENS = (Access.MANAGEMENT, Access.ADMIN)
"""What no Space token opens."""


class Doorkeeper:
    """Admits callers. Blocking: it reads the Space's store.

    verifier  None where authentication is off: everybody is the one local caller
    managers  subjects of CWTs that may administer the deployment
    """

    def __init__(
        self, verifier: CwtVerifier | None, managers: Collection[str], tokens: SpaceTokens, spaces: Spaces
    ) -> None:
        self._verifier = verifier
        self._managers = frozenset(managers)
        self._tokens = tokens
        self._spaces = spaces

    @property
    def is_on(self) -> bool:
        """Whether credentials are asked for."""
        return self._verifier is not None

    def reads_a_space(self, access: Access, space_id: str | None, credential: str | None) -> bool:
        """Whether `admit` looks into a Space's store; without one it is arithmetic on the credential."""
        return space_id is not None and not self._is_cwt(access, credential)

    def admit(
        self, access: Access, space_id: str | None, credential: str | None, *, channel: str, request_id: str | None
    ) -> Caller:
        """The caller.

        raises  AuthenticationFailed, AccessClosed; SpaceNotFound only to who could enter the Space if it was there
        """
        if self._verifier is None or access is Access.OPEN:
            return Caller(ANONYMOUS, channel, request_id)
        known = self._known(self._verifier, access, space_id, credential)
        if known is None:
            return Caller(ANONYMOUS, channel, request_id, "anonymous", scope=Scope.READ)
        if isinstance(known, Cwt):
            return Caller(known.subject, channel, request_id, "cwt", scope=known.scope)
        if known.labels is not None and access is Access.UNLABELLED_READ:
            raise AccessClosed(_LABELLED)
        return Caller(known.name, channel, request_id, "space_token", known.labels, known.scope, known.mark)

    # --- how ----------------------------------------------------------------------------------------------------------

    def _known(
        self, verifier: CwtVerifier, access: Access, space_id: str | None, credential: str | None
    ) -> Cwt | SpaceToken | None:
        """The credential, verified and sufficient; None for anybody on a public Space."""
        if space_id is None:
            return self._administrator(verifier, access, credential)
        if credential and self._is_cwt(access, credential):
            return self._cwt(verifier, access, space_id, credential)
        may_be_token = access not in _BEYOND_TOKENS and (credential or "").startswith(PREFIX)
        if not (access.is_public or may_be_token):
            raise AuthenticationFailed
        try:
            with self._spaces.use(space_id) as space:
                if access.is_public and _is_public(space):
                    is_looked_at = credential and access is not Access.LENIENT_READ
                    return self._token(access, space, credential or "") if is_looked_at else None
                return self._token(access, space, credential or "")
        except (AuthenticationFailed, SpaceNotFound, SpaceUnreadable):
            raise NotAdmitted from None
        except Unavailable:
            # A Space that closes is told of only to who may hold one of its tokens, which cannot be looked up just now.
            if may_be_token:
                raise
            raise NotAdmitted from None

    def _is_cwt(self, access: Access, credential: str | None) -> bool:
        """Whether a credential is taken for a CWT, and verified."""
        if not credential or credential.startswith(PREFIX):
            return False
        return access is not Access.LENIENT_READ or len(credential) >= _SHORTEST_CWT

    def _cwt(self, verifier: CwtVerifier, access: Access, space_id: str, credential: str) -> Cwt:
        cwt = verifier.verify(credential)
        if not (cwt.is_for(space_id) and cwt.scope.satisfies(access.scope)):
            raise AuthenticationFailed
        if access is Access.ADMIN and not self._administers(cwt):
            raise AuthenticationFailed
        return cwt

    def _administrator(self, verifier: CwtVerifier, access: Access, credential: str | None) -> Cwt:
        cwt = verifier.verify(credential or "")
        if access is not Access.ADMIN or not (self._administers(cwt) and cwt.scope.satisfies(access.scope)):
            raise AuthenticationFailed
        return cwt

    def _administers(self, cwt: Cwt) -> bool:
        return cwt.audience == EVERY_SPACE and cwt.subject in self._managers

    def _token(self, access: Access, space: OpenSpace, credential: str) -> SpaceToken:
        if not credential.startswith(PREFIX):
            raise AuthenticationFailed
        token = self._tokens.verify(space, credential)
        if not token.scope.satisfies(access.scope):
            raise AuthenticationFailed
        return token


def _is_public(space: OpenSpace) -> bool:
    with space.state() as now:
        return bool(record_of(now)["public"])
