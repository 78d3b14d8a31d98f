"""Tokens of one Space: minted once, shown once, kept only as digests (BR-AUTH-007 to 014, 031, 032).

A token is looked up by its digest in the Space's own store at every request, so that a revocation holds from the next
one on in every process. How often each was used is counted in memory and written now and then: it is told to people,
and a request that reads should not have to write.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

from brain.auth.credentials import AuthenticationFailed, Scope, SpaceToken
from brain.service.failures import InvalidInput
from brain.service.spaces import OpenSpace
from brain.store.base import Document, Reader
from brain.times import Clock
from brain.unicode import normalize

PREFIX = "ST"
MOST_TOKENS = 100

_RANDOM_BYTES = 24
_SHOWN = 8
_MARK = 32
"""Letters of a digest by which tokens are told apart."""

_LONGEST_NAME = 256
_LONGEST = 256
_OWN = ("brain:", "kip:")
"""How names of the service's own principals begin. A token's name is the principal it writes as: in the records of who
wrote what it must not be taken for the Brain."""

_BY_DIGEST = "space_token"
_USES = "space_token_uses"
_WRITE_USES_AFTER_MS = 5_000


class SpaceTokens:
    """Verifies the tokens of every Space of this process, and counts their uses."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._uses: dict[str, Counter[str]] = {}
        """Uses per Space and digest that are not written yet."""

        self._written_ms: dict[str, int] = {}

    def verify(self, space: OpenSpace, token: str) -> SpaceToken:
        """Who a token stands for; AuthenticationFailed when it is none of this Space, or no longer."""
        if len(token) > _LONGEST:
            raise AuthenticationFailed
        digest = _digest(token)
        with space.snapshot() as now:
            record = now.get(_BY_DIGEST, digest)
        now_ms = self._clock.now_ms()
        if record is None or not hmac.compare_digest(record["digest"], digest) or _is_over(record, now_ms):
            raise AuthenticationFailed
        self._count(space, digest, now_ms)
        labels = record["labels"]
        return SpaceToken(
            record["name"], Scope(record["scope"]), None if labels is None else frozenset(labels), digest[:_MARK]
        )

    def mint(
        self,
        space: OpenSpace,
        *,
        scope: Scope,
        name: str,
        expires_at: int | None,
        labels: Sequence[str] | None,
    ) -> dict[str, Any]:
        """Make a token: its record with the full value, which stands nowhere else.

        expires_at  ms since the epoch
        labels      only with scope read; an empty list is for documents without a label
        raises      InvalidInput for a name that is blank, taken or the service's own, labels that do not fit, and the
                    101st token
        """
        name = name.strip()
        if not name:
            raise InvalidInput("name is required: it is what the token is known and revoked by")
        if len(name) > _LONGEST_NAME:
            raise InvalidInput(f"name is longer than {_LONGEST_NAME} characters")
        if normalize("NFKC", name).casefold().startswith(_OWN):
            raise InvalidInput(f"names that begin with {' or '.join(_OWN)} are the service's own")
        kept_labels = _labels(scope, labels)
        token = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        now_ms = self._clock.now_ms()
        record: dict[str, Any] = {
            "digest": _digest(token),
            "shown": token[:_SHOWN],
            "name": name,
            "scope": scope.value,
            "created_at": now_ms,
            "updated_at": now_ms,
            "expires_at": expires_at,
            "labels": kept_labels,
        }
        with space.transaction() as tx:
            known = _all(tx)
            if any(other["name"] == name for other in known):
                raise InvalidInput(
                    f"a token named {name!r} already exists in this space; revoke it or take another name"
                )
            if len(known) >= MOST_TOKENS:
                raise InvalidInput(f"a space has at most {MOST_TOKENS} tokens; revoke one that is no longer needed")
            tx.set(_BY_DIGEST, record["digest"], record)
        return _to_wire(record, 0, token)

    def listed(self, space: OpenSpace) -> list[dict[str, Any]]:
        """Every token's record by age, each with the beginning of its value only."""
        self._write_uses(space)
        with space.snapshot() as now:
            records = sorted(_all(now), key=lambda record: (record["created_at"], record["name"]))
            return [_to_wire(record, _uses(now, record["digest"]), f"{record['shown']}…") for record in records]

    def revoke(self, space: OpenSpace, *, token: str | None, name: str | None) -> bool:
        """Whether there was such a token; it is good for nothing from now on.

        raises  InvalidInput when neither is given, or the token's text is none
        """
        if token is None and not (name or "").strip():
            raise InvalidInput("give the token or its name")
        if token is not None and not token.startswith(PREFIX):
            raise InvalidInput("invalid space token: it begins with ST")
        with space.transaction() as tx:
            for record in _all(tx):
                is_meant = record["digest"] == _digest(token) if token is not None else record["name"] == name
                if is_meant:
                    tx.delete(_BY_DIGEST, record["digest"])
                    tx.delete(_USES, record["digest"])
                    return True
        return False

    # --- how ----------------------------------------------------------------------------------------------------------

    def _count(self, space: OpenSpace, digest: str, now_ms: int) -> None:
        with self._lock:
            self._uses.setdefault(space.id, Counter())[digest] += 1
            is_due = now_ms - self._written_ms.setdefault(space.id, now_ms) >= _WRITE_USES_AFTER_MS
        if is_due:
            self._write_uses(space)

    def _write_uses(self, space: OpenSpace) -> None:
        with self._lock:
            counted = self._uses.pop(space.id, None)
            self._written_ms[space.id] = self._clock.now_ms()
        if not counted:
            return
        with space.transaction(durable=False) as tx:
            for digest, times in counted.items():
                if tx.get(_BY_DIGEST, digest) is not None:
                    tx.set(_USES, digest, {"times": _uses(tx, digest) + times})


def _labels(scope: Scope, labels: Sequence[str] | None) -> list[str] | None:
    if labels is None:
        return None
    if scope is not Scope.READ:
        raise InvalidInput("labels are for tokens of read scope only")
    trimmed = {label.strip() for label in labels}
    if "" in trimmed:
        raise InvalidInput("a label is blank")
    return sorted(trimmed)


def _all(reader: Reader) -> list[Document]:
    return [record for _, record in reader.scan_state(_BY_DIGEST)]


def _uses(reader: Reader, digest: str) -> int:
    found = reader.get(_USES, digest)
    return 0 if found is None else int(found["times"])


def _is_over(record: Document, now_ms: int) -> bool:
    return record["expires_at"] is not None and record["expires_at"] <= now_ms


def _digest(token: str) -> str:
    """What is kept of a token: it has the randomness a password lacks, so one round of a plain digest is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def _to_wire(record: Document, usage: int, token: str) -> dict[str, Any]:
    """SpaceToken."""
    wire = {
        "token": token,
        "name": record["name"],
        "scope": record["scope"],
        "usage": usage,
        "created_at": record["created_at"],
        "updated_at": record["updated_at"],
    }
    return wire | {name: record[name] for name in ("expires_at", "labels") if record[name] is not None}
