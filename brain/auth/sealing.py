"""Secrets that have to be kept and used: sealed with AES-256-GCM under a key the environment holds.

A stored text says which key sealed it, so that keys can be changed without a pause: the first of several seals, every
one of them opens. What a secret belongs to is sealed in with it and not stored: moved beside anything else, it does
not open.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_KEY_BYTES, _NONCE_BYTES = 32, 12


class SecretUnreadable(Exception):
    """What was sealed does not open: its key is not among ours, or it is not what was sealed."""


class SealingKeyUnreadable(ValueError):
    """The text of a key is none; it is not shown."""


class Sealer:
    """Seals and opens with one set of keys. Holds them; shows them nowhere."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._first = _name_of(keys[0])
        self._keys = {_name_of(key): AESGCM(key) for key in keys}

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> Sealer:
        """Of keys of 32 bytes, each as base64.

        raises  SealingKeyUnreadable
        """
        return cls([_key_of(text) for text in texts])

    def seal(self, secret: str, owner: str) -> dict[str, str]:
        """The secret as it may be stored, for `open` with the same owner."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._keys[self._first].encrypt(nonce, secret.encode(), owner.encode())
        return {"key": self._first, "text": base64.b64encode(nonce + sealed).decode()}

    def open(self, sealed: Mapping[str, str], owner: str) -> str:
        """The secret; SecretUnreadable."""
        try:
            raw = base64.b64decode(sealed["text"], validate=True)
            key = self._keys[sealed["key"]]
            return key.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], owner.encode()).decode()
        except (KeyError, ValueError, InvalidTag) as unreadable:
            raise SecretUnreadable from unreadable

    def is_current(self, sealed: Mapping[str, str]) -> bool:
        """Whether it was sealed with the first key."""
        return sealed.get("key") == self._first


def _name_of(key: bytes) -> str:
    return hashlib.sha256(b"brain sealing key" + key).hexdigest()[:16]


def _key_of(text: str) -> bytes:
    try:
        key = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY_BYTES:
        raise SealingKeyUnreadable("each key must be 32 bytes as base64, as `openssl rand -base64 32` makes them")
    return key
