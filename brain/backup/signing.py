"""Who made an archive: an Ed25519 signature over its end, which holds the digest of every byte before.

The head is among those bytes, so the id, the instance and the time are signed with the rows.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from brain.auth.cwt import read_private_key, read_public_keys
from brain.store.dump import DamagedDump

_CONTEXT = b"brain-archive signature 1\n"
"""Said first, so that nothing signed for another purpose is taken for this."""

_SIGNED = ("end", "rows", "digest", "sha256")


class NotTrusted(DamagedDump):
    """The archive is not signed, or by nobody who is trusted here."""


class Signer:
    """Signs archives with one key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def of_text(cls, text: str) -> Signer:
        """Of a private key as `brain cwt keys` prints it, or PEM; KeyUnreadable."""
        return cls(read_private_key(text))

    @property
    def public_key(self) -> Ed25519PublicKey:
        """By which others know it."""
        return self._key.public_key()

    def sign(self, end: Mapping[str, Any]) -> dict[str, str]:
        """The signature of an archive's end, as its last line has it."""
        public = self.public_key.public_bytes_raw()
        return {"alg": "Ed25519", "key": _text(public), "sig": _text(self._key.sign(_message(end)))}


class Trusted:
    """Whose archives are taken."""

    def __init__(self, keys: Iterable[Ed25519PublicKey]) -> None:
        self._keys = {key.public_bytes_raw(): key for key in keys}

    @classmethod
    def of_texts(cls, texts: Iterable[str], signer: Signer | None = None) -> Trusted:
        """Of public keys as `ED25519_PUBKEYS` takes them, and of whoever signs here; KeyUnreadable."""
        return cls([*read_public_keys(texts), *([] if signer is None else [signer.public_key])])

    def check(self, end: Mapping[str, Any]) -> None:
        """NotTrusted unless one of them signed an archive's end."""
        signature = end.get("signature")
        if not isinstance(signature, dict):
            raise NotTrusted("the archive is not signed")
        key = self._keys.get(_bytes(signature.get("key")))
        if key is None or signature.get("alg") != "Ed25519":
            raise NotTrusted("the archive is signed by nobody who is trusted here")
        try:
            key.verify(_bytes(signature.get("sig")), _message(end))
        except InvalidSignature:
            raise NotTrusted("the archive's signature is not good") from None


def _message(end: Mapping[str, Any]) -> bytes:
    return _CONTEXT + orjson.dumps({name: end.get(name) for name in _SIGNED}, option=orjson.OPT_SORT_KEYS)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: object) -> bytes:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        return b""


def keys_of(signing_key: str, public_keys: Iterable[str]) -> tuple[Signer | None, Trusted | None]:
    """Who signs and who is trusted, by the settings; None for nobody."""
    signer = Signer.of_text(signing_key) if signing_key else None
    texts = tuple(public_keys)
    return signer, Trusted.of_texts(texts, signer) if texts or signer is not None else None
