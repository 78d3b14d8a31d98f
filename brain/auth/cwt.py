"""CBOR Web Tokens (RFC 8392) signed as COSE_Sign1 (RFC 9052) with EdDSA over Ed25519.

Only the few forms that are accepted are read, by hand: what a stranger sends goes through no general CBOR reader before
its signature is verified, since such a reader runs code for the tags it meets. What a trusted key signed is then read
as any CBOR. Signatures are verified, and made, by `cryptography`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import cbor2
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from brain.auth.credentials import AuthenticationFailed, Cwt, Scope
from brain.times import Clock

SKEW_MS = 300_000
"""How far the clock of whoever signed may be away from ours."""

LONGEST = 8_192
"""Characters of a token that are looked at."""

_SUBJECT, _AUDIENCE, _EXPIRES, _NOT_BEFORE, _ISSUED, _SCOPE = 2, 3, 4, 5, 6, 9
_TAGGED = 0xD2
_ARRAY_OF_FOUR = 0x84
_BYTES, _MAP = 2, 5
_ALGORITHM = bytes([0xA1, 0x01, 0x27])
"""The protected header, as everybody encodes it: {1: -8}."""

_ALPHABET = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_KEY_BYTES = 32
_OKP_KEY_X = -2


class KeyUnreadable(ValueError):
    """The text of a public key is none; it is not shown."""


class CwtVerifier:
    """Verifies tokens against any of several keys, so that keys can be changed without a pause."""

    def __init__(self, keys: Sequence[Ed25519PublicKey], clock: Clock) -> None:
        self._keys = tuple(keys)
        self._clock = clock

    def verify(self, token: str) -> Cwt:
        """The token's claims; AuthenticationFailed for whatever is wrong with it."""
        protected, payload, signature = _parts(_decoded(token))
        signed = cbor2.dumps(["Signature1", protected, b"", payload])
        if not any(_is_signed(key, signature, signed) for key in self._keys):
            raise AuthenticationFailed
        try:
            claims = cbor2.loads(payload)
        except Exception as unreadable:  # a reader of any CBOR fails in any way
            raise AuthenticationFailed from unreadable
        if not isinstance(claims, Mapping):
            raise AuthenticationFailed
        self._check_times(claims)
        return _claimed(claims)

    def _check_times(self, claims: Mapping[Any, Any]) -> None:
        """Good from `nbf` and `iat` until `exp`, each within the skew."""
        now_ms = self._clock.now_ms()
        for claim, is_end in ((_EXPIRES, True), (_NOT_BEFORE, False), (_ISSUED, False)):
            seconds = claims.get(claim)
            if seconds is None:
                continue
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
                raise AuthenticationFailed
            ahead_ms = seconds * 1000 - now_ms
            # Written so that a NaN fails.
            if not (ahead_ms > -SKEW_MS if is_end else ahead_ms < SKEW_MS):
                raise AuthenticationFailed


def sign(
    key: Ed25519PrivateKey,
    *,
    subject: str,
    audience: str,
    scope: Scope,
    issued_s: int,
    expires_s: int | None = None,
) -> str:
    """A token, URL-safe and without padding."""
    claims: dict[int, Any] = {_SUBJECT: subject, _AUDIENCE: audience, _ISSUED: issued_s, _SCOPE: scope.value}
    if expires_s is not None:
        claims[_EXPIRES] = expires_s
    payload = cbor2.dumps(claims)
    signature = key.sign(cbor2.dumps(["Signature1", _ALGORITHM, b"", payload]))
    return _encoded(cbor2.dumps([_ALGORITHM, {}, payload, signature]))


def new_key_pair() -> tuple[str, str]:
    """A fresh private and public key, as `read_private_key` and `read_public_key` take them."""
    key = Ed25519PrivateKey.generate()
    return _encoded(key.private_bytes_raw()), _encoded(key.public_key().public_bytes_raw())


def read_private_key(text: str) -> Ed25519PrivateKey:
    """From the base64 of its 32 bytes, or PEM; KeyUnreadable."""
    try:
        if text.lstrip().startswith("-----"):
            key = serialization.load_pem_private_key(text.encode(), password=None)
            if isinstance(key, Ed25519PrivateKey):
                return key
        else:
            return Ed25519PrivateKey.from_private_bytes(_decoded(text.strip()))
    except (AuthenticationFailed, ValueError, TypeError):
        pass
    raise KeyUnreadable("no Ed25519 private key: give the base64 of its 32 bytes, or PEM")


def read_public_keys(texts: Iterable[str]) -> tuple[Ed25519PublicKey, ...]:
    """Each from the base64 of its 32 bytes or of a COSE_Key of type OKP; KeyUnreadable."""
    return tuple(read_public_key(text) for text in texts)


def read_public_key(text: str) -> Ed25519PublicKey:
    """One of `read_public_keys`."""
    try:
        raw = _decoded(text.strip())
        if len(raw) != _KEY_BYTES:
            described = cbor2.loads(raw)
            raw = described[_OKP_KEY_X] if isinstance(described, dict) else b""
        return Ed25519PublicKey.from_public_bytes(raw)
    except Exception:  # noqa: BLE001 - from the operator, not from a caller; whatever is wrong with it
        raise KeyUnreadable("no Ed25519 public key: give the base64 of its 32 bytes or of a COSE_Key") from None


def _claimed(claims: Mapping[Any, Any]) -> Cwt:
    subject, audience, scope = (claims.get(claim) for claim in (_SUBJECT, _AUDIENCE, _SCOPE))
    if not (isinstance(subject, str) and subject.strip() and isinstance(audience, str) and audience):
        raise AuthenticationFailed
    try:
        return Cwt(subject, audience, Scope(str(scope)))
    except ValueError:
        raise AuthenticationFailed from None


def _is_signed(key: Ed25519PublicKey, signature: bytes, signed: bytes) -> bool:
    try:
        key.verify(signature, signed)
    except InvalidSignature:
        return False
    return True


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    """Either alphabet of base64, padded or not."""
    letters = text[: LONGEST + 1].replace("+", "-").replace("/", "_").rstrip("=")
    if len(letters) > LONGEST or _ALPHABET.fullmatch(letters) is None:
        raise AuthenticationFailed
    try:
        return base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
    except (binascii.Error, ValueError):
        raise AuthenticationFailed from None


def _parts(token: bytes) -> tuple[bytes, bytes, bytes]:
    """Protected header, payload and signature of a COSE_Sign1, with or without its tag."""
    at = 1 if token[:1] == bytes([_TAGGED]) else 0
    if token[at : at + 1] != bytes([_ARRAY_OF_FOUR]):
        raise AuthenticationFailed
    protected, at = _string(token, at + 1)
    if protected != _ALGORITHM:
        raise AuthenticationFailed
    # Nothing is read of the unprotected header; what it may hold is limited to what can be stepped over.
    at = _after_map(token, at)
    payload, at = _string(token, at)
    signature, at = _string(token, at)
    if at != len(token):
        raise AuthenticationFailed
    return protected, payload, signature


def _head(token: bytes, at: int) -> tuple[int, int, int]:
    """Major type, argument, and the place after them."""
    if at >= len(token):
        raise AuthenticationFailed
    kind, low = token[at] >> 5, token[at] & 31
    if low < 24:
        return kind, low, at + 1
    if low > 27:
        raise AuthenticationFailed
    size = 1 << low - 24
    argument = token[at + 1 : at + 1 + size]
    if len(argument) != size:
        raise AuthenticationFailed
    return kind, int.from_bytes(argument), at + 1 + size


def _string(token: bytes, at: int) -> tuple[bytes, int]:
    kind, length, at = _head(token, at)
    if kind != _BYTES or at + length > len(token):
        raise AuthenticationFailed
    return token[at : at + length], at + length


def _after_map(token: bytes, at: int) -> int:
    """The place after a map whose names and values are numbers and strings, such as a key's id."""
    kind, members, at = _head(token, at)
    if kind != _MAP or members > len(token):
        raise AuthenticationFailed
    for _ in range(2 * members):
        kind, argument, at = _head(token, at)
        if kind > 3 or (kind > 1 and at + argument > len(token)):
            raise AuthenticationFailed
        at += argument if kind > 1 else 0
    return at
