"""Requests that are sent again: what a request key of a caller stands for (KIP 2.0 §34).

The engine remembers what a key led to. Beside that stands here what the request was, and what of it must not change
when it comes again, such as the time it was first made; written in the very transaction it belongs to, so that a key
nothing was written under is still free.
"""

from __future__ import annotations

from dataclasses import dataclass

from brain.errors import IdempotencyConflict
from brain.ids import digest
from brain.kip import strict_json
from brain.kip.context import Limits
from brain.service.callers import Caller
from brain.store.base import Document, Json, Reader, Transaction

_LONGER_MS = 24 * 3_600_000
"""How much longer than the engine's outcome what it was for is kept, so that no outcome is found without it."""

_KEYS = "request_keys"


@dataclass(frozen=True, slots=True)
class Keyed:
    """One request under its key.

    place   where the key stands: a caller's keys at one route are its own, and their text is not stored
    digest  of what is asked for, without the key
    """

    place: str
    digest: str

    @classmethod
    def of(cls, route: str, caller: Caller, key: str, asked: Json) -> Keyed:
        """`asked` as the JSON that came in.

        raises  InvalidRequestEnvelope for a value that JSON does not carry exactly, of which there is no digest
        """
        strict_json.check([key, asked])
        return cls(digest([route, caller.holder, key]).removeprefix("sha256:"), digest(asked))

    def found(self, reader: Reader, now_ms: int) -> Document | None:
        """What was kept when the key was first used, None for a key that is free.

        raises  IdempotencyConflict when it stands for another request
        """
        kept = reader.get(_KEYS, self.place)
        if kept is None or kept["expires_ms"] <= now_ms:
            return None
        if kept["digest"] != self.digest:
            raise IdempotencyConflict(hint="Use a new key for a new request.")
        found: Document = kept["kept"]
        return found

    def keep(self, tx: Transaction, kept: Document, now_ms: int) -> None:
        """Keep what belongs to the request, unless it is kept already."""
        if self.found(tx, now_ms) is None:
            expires_ms = now_ms + Limits().idempotency_retention_ms + _LONGER_MS
            document = {"digest": self.digest, "kept": kept, "expires_ms": expires_ms}
            tx.set(_KEYS, self.place, document, expires_ms=expires_ms)
