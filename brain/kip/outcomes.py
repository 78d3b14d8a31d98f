"""Outcomes kept under idempotency keys (KIP 2.0 §34): a request sent again gets the first answer and runs nothing.

An outcome is state beside the graph, written in the transaction it tells of. Past its retention the outcome goes, and a
mark stays for a while, so that a forgotten key can be told from one never sent (decision D-32).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import digest
from brain.kip import govern
from brain.kip.context import Limits, Session
from brain.store.base import Document, Reader, Transaction
from brain.times import Seq

_OUTCOMES = "kip.outcome"
_MARKS = "kip.outcome.mark"
_MARK_RETENTION_MS = 30 * 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A finalized write, as its key remembers it.

    results  per operation its status, and of a write its result, which holds ids and names; what a read answered is
             content and is read again
    asked    permissions the write needed
    """

    request_digest: str
    receipt: Mapping[str, Any]
    results: tuple[Mapping[str, Any], ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key in its scope: Space, principal, and writes as the class of operation (§34.2).

    part  of a request whose operations commit one by one, the operation's place; None when one transaction does it all
    """

    text: str
    part: int | None = None

    def stored(self, session: Session) -> str:
        """Where the outcome is kept; the key's text itself is not stored."""
        return digest(["KML", session.holder or session.principal_id, self.text, self.part]).removeprefix("sha256:")


def recall(reader: Reader, session: Session, key: Key, now_ms: int) -> Kept | None:
    """The outcome kept under a key, None for a key never used.

    raises  TransactionUnknown with `details.expired` when it was kept once; NotAuthorized when the caller may no longer
            do what it tells of (§30.4, decision D-09)
    """
    place = key.stored(session)
    found = reader.get(_OUTCOMES, place)
    if found is not None and found["expires_ms"] > now_ms:
        for permission in found["asked"]:
            govern.permit(session, permission)
        return Kept(found["request_digest"], found["receipt"], tuple(found["results"]), tuple(found["asked"]))
    if found is not None or reader.get(_MARKS, place) is not None:
        raise errors.TransactionUnknown(
            "The outcome under this idempotency key is no longer kept.",
            hint="Read the memory to see what was written; send a new request under a new key.",
            details={"expired": True},
        )
    return None


@dataclass(frozen=True, slots=True)
class Keeper:
    """The outcome of one transaction of a request, before it runs and after; without a key it does nothing.

    request_digest  what the request asks for (§34.4)
    """

    session: Session
    key: Key | None
    request_digest: str
    now_ms: int
    limits: Limits

    def recall(self, tx: Transaction, session: Session) -> Kept | None:
        """What was kept for this very request; IdempotencyConflict when the key stands for other work.

        session  the caller with the permissions it has now
        """
        if self.key is None:
            return None
        kept = recall(tx, session, self.key, self.now_ms)
        if kept is not None and kept.request_digest != self.request_digest:
            raise errors.IdempotencyConflict(details={"tx_id": kept.receipt.get("tx_id")})
        return kept

    def keep(
        self, tx: Transaction, receipt: Mapping[str, Any], results: Iterable[Mapping[str, Any]], asked: Iterable[str]
    ) -> None:
        """Remember the outcome in its own transaction."""
        if self.key is None:
            return
        expires_ms = self.now_ms + self.limits.idempotency_retention_ms
        place = self.key.stored(self.session)
        document: Document = {
            "request_digest": self.request_digest,
            "receipt": receipt,
            "results": list(results),
            "asked": sorted(asked),
            "expires_ms": expires_ms,
        }
        tx.set(_OUTCOMES, place, document, expires_ms=expires_ms)
        tx.set(_MARKS, place, {"expired_at": expires_ms}, expires_ms=expires_ms + _MARK_RETENTION_MS)


def transaction_of(reader: Reader, session: Session, key: str, now_ms: int) -> tuple[str, Seq | None]:
    """The tx_id and sequence under a key: what DESCRIBE TRANSACTION BY IDEMPOTENCY KEY describes.

    Of a sequence sent under one key it is the first operation's.

    raises  TransactionUnknown, with `details.expired` when the key was in use once
    """
    for wanted in (Key(key), Key(key, 0)):
        kept = recall(reader, session, wanted, now_ms)
        if kept is not None:
            return str(kept.receipt["tx_id"]), kept.receipt.get("space_seq")
    raise errors.TransactionUnknown("No outcome is kept under this idempotency key.")
