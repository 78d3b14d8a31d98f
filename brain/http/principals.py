"""Principal names as owners of Spaces carry them: at most 29 bytes, written as CRC-32 and bytes in base32, in groups of
five letters (`uuc56-gyb` is the one byte 01).
"""

from __future__ import annotations

import base64
import binascii
import zlib

from brain.service.failures import InvalidInput

_LONGEST = 29
_WRITTEN = (
    "user must be a principal as it is written, such as uuc56-gyb: at most 29 bytes after their CRC-32, in lower-case "
    "base32, in groups of five letters"
)


def principal_text(raw: bytes) -> str:
    """The written form of a principal's bytes."""
    letters = base64.b32encode(zlib.crc32(raw).to_bytes(4, "big") + raw).decode().rstrip("=").lower()
    return "-".join(letters[start : start + 5] for start in range(0, len(letters), 5))


def parse_principal(value: str | bytes, form: str = "JSON") -> str:
    """The written form, checked; raw bytes (as CBOR carries them) are taken too.

    form    of the body it came in, for the words of a refusal
    raises  InvalidInput when the text is not the written form of any principal
    """
    if isinstance(value, bytes):
        if len(value) > _LONGEST:
            raise InvalidInput(f"parse {form} error: user must be a principal, which has at most {_LONGEST} bytes")
        return principal_text(value)
    letters = value.replace("-", "").upper()
    try:
        decoded = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except (binascii.Error, ValueError):
        decoded = b""
    if not 4 <= len(decoded) <= 4 + _LONGEST or principal_text(decoded[4:]) != value:
        raise InvalidInput(f"parse {form} error: {_WRITTEN}")
    return value
