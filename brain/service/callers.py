"""Who calls, once a door has established it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from brain.auth.credentials import Scope

if TYPE_CHECKING:
    from brain.kip.context import Session

CallerKind = Literal["local", "anonymous", "cwt", "space_token"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as a door established it.

    principal   name of the principal, shown as a conversation's `user` and in what it writes
    channel     the door: `http`, `mcp`, `cli`
    request_id  stands in the log lines of the work this call brings about
    kind        by what it is known: `local` where authentication is off, `anonymous` on a public Space, or a credential
    labels      of the documents it may read beside those without one; None for all
    scope       of its credential; everything where none is asked for
    mark        of its Space token, which a later token of the same name does not have
    """

    principal: str
    channel: str
    request_id: str | None = None
    kind: CallerKind = "local"
    labels: frozenset[str] | None = None
    scope: Scope = Scope.FULL
    mark: str = ""

    @property
    def identity(self) -> str:
        """Who it is: two credentials of different kinds are never the same, whatever they are called."""
        return f"{self.kind}:{self.principal}"

    @property
    def holder(self) -> str:
        """What handles belong to: whoever is given a token by the name of one that was revoked gets none of its own."""
        return f"{self.identity}:{self.mark}" if self.mark else self.identity

    @property
    def is_restricted(self) -> bool:
        """Whether only some labels are open to it."""
        return self.labels is not None

    def reader(self) -> Session:
        """The session of this caller's own read-only KIP."""
        from brain.kip.context import Session  # the engine, which there is by the time somebody reads

        return Session(principal_id=self.principal, channel=self.channel, readonly=True, holder=self.holder)
