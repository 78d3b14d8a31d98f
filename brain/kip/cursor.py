"""Cursors: opaque, authenticated, and good for one traversal only (KIP 2.0 §44.8, §87.7).

A token says which family and Space it belongs to, the sequence its pages show, the query it continues, and the position
of the last row given. The position holds values of that row, so the token is both signed and unreadable: its content is
masked with a stream that only its signature and the key give (a synthetic nonce; equal cursors are equal tokens).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import orjson

from brain import errors
from brain.ids import canonical_json
from brain.kip import ast
from brain.kip.printer import show
from brain.kip.walk import parameters_of
from brain.store.base import Json
from brain.times import Seq

Family: TypeAlias = Literal["changes", "history", "kql", "list", "search"]

_FORMAT = b"kip-cursor-1"
_SIGNATURE = 16


@dataclass(frozen=True, slots=True)
class Cursor:
    """A continuation.

    identity  of the query, from `identity_of`
    position  where to go on, in the family's own terms; JSON
    ranking   what a search by likeness ranks with: the embedder's name and the revision of its vectors; None without
    """

    family: Family
    space_uri: str
    seq: Seq
    identity: str
    position: Json
    ranking: Json = None


def issue(cursor: Cursor, key: bytes) -> str:
    """The token of a continuation."""
    content = [cursor.family, cursor.space_uri, cursor.seq, cursor.identity, cursor.position, cursor.ranking]
    payload = orjson.dumps(content)
    signature = _signature(payload, key)
    return base64.urlsafe_b64encode(signature + _masked(payload, signature, key)).decode().rstrip("=")


def read(token: Json, key: bytes, *, family: Family, space_uri: str | None = None) -> Cursor:
    """The continuation of a token.

    space_uri  the Space it has to belong to; None to leave that unasked
    raises  CursorInvalid for what this service never gave out, CursorTypeMismatch for another family's token,
            CursorMismatch for one of another Space
    """
    if not isinstance(token, str) or not token:
        raise errors.CursorInvalid("A cursor is the text that a page came with.")
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        signature = raw[:_SIGNATURE]
        payload = _masked(raw[_SIGNATURE:], signature, key)
    except (binascii.Error, ValueError) as error:
        raise errors.CursorInvalid from error
    if not hmac.compare_digest(signature, _signature(payload, key)):
        raise errors.CursorInvalid
    cursor = Cursor(*orjson.loads(payload))
    if cursor.family != family:
        raise errors.CursorTypeMismatch(f"This cursor continues a {cursor.family} traversal, not a {family} one.")
    if space_uri not in (None, cursor.space_uri):
        raise errors.CursorMismatch("The cursor belongs to another Space.")
    return cursor


def identity_of(statement: ast.Find | ast.MetaStatement, parameters: Mapping[str, Json]) -> str:
    """What makes two pages pages of one traversal: the statement without its LIMIT and CURSOR, and the values of the
    parameters it uses. How it is spelled and which other parameters come along does not matter."""
    if isinstance(statement, (ast.Find, ast.List, ast.Search, ast.History)):
        statement = replace(statement, limit=None, cursor=None)
    used = {name: parameters[name] for name in parameters_of(statement) if name in parameters}
    return hashlib.sha256(show(statement).encode() + b"\0" + canonical_json(used)).hexdigest()[:32]


def require(cursor: Cursor, identity: str) -> None:
    """CursorMismatch unless the cursor continues this very query."""
    if cursor.identity != identity:
        raise errors.CursorMismatch


def _signature(payload: bytes, key: bytes) -> bytes:
    return hmac.new(key, _FORMAT + payload, hashlib.sha256).digest()[:_SIGNATURE]


def _masked(content: bytes, signature: bytes, key: bytes) -> bytes:
    """The content under the stream of its signature; the same again takes the mask off."""
    seed = hmac.new(key, _FORMAT + b"-mask" + signature, hashlib.sha256).digest()
    stream = hashlib.shake_256(seed).digest(len(content))
    return bytes(byte ^ mask for byte, mask in zip(content, stream, strict=True))
