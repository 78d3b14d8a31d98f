"""Identities and digests: element ids, symbol references and lineages, canonical JSON, content digests."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
import rfc8785

from brain.unicode import normalize

SPACE_ID = re.compile(r"[a-z0-9_]{1,64}", re.ASCII)
ELEMENT_ID = re.compile(r"[CPAEX]-[1-9][0-9]*", re.ASCII)
_SYMBOL = re.compile(
    r"(?P<path>kip://[a-z0-9-]+(?:/[a-z0-9-]+)*)@(?P<version>[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)/(?P<name>.+)",
    re.ASCII,
)

_BEYOND = re.compile(b"[\xee-\xf4]")
"""A character past the block of surrogates, by the first of its bytes."""

MAX_SAFE_INTEGER = 9007199254740991
"""Integral numbers lie within plus and minus this (§9.3)."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """An exact symbol reference, `kip://path@version/Name` (§20.2)."""

    path: str
    version: str
    name: str

    @property
    def ref(self) -> str:
        return f"{self.path}@{self.version}/{self.name}"

    @property
    def package_ref(self) -> str:
        return f"{self.path}@{self.version}"

    @property
    def lineage(self) -> str:
        """The identity across versions, `kip://path/Name` (§20.14)."""
        return f"{self.path}/{self.name}"


def parse_symbol(text: str) -> Symbol | None:
    """The parts of an exact reference, or None when the text is not one."""
    match = _SYMBOL.fullmatch(text)
    return Symbol(match["path"], match["version"], match["name"]) if match else None


def lineage_of(ref: str) -> str:
    """The lineage of an exact reference; a text that is none (a Core name) is its own lineage."""
    return _known_lineage(ref) if len(ref) <= _USUAL_LENGTH else _lineage(ref)


def _lineage(ref: str) -> str:
    symbol = parse_symbol(ref)
    return symbol.lineage if symbol else ref


_USUAL_LENGTH = 200
_known_lineage = lru_cache(maxsize=4096)(_lineage)


def is_element_id(text: str) -> bool:
    """Whether the text has the form of an element id; says nothing of existence."""
    return text[1:2] == "-" and ELEMENT_ID.fullmatch(text) is not None


def canonical_json(value: Any) -> bytes:
    """The bytes of `kip-jcs-safe-v1`: RFC 8785 within the safe number domain (§37.7)."""
    if _is_plain(value):
        try:
            data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except TypeError:  # half of a surrogate pair, or nested too deep for it
            return rfc8785.dumps(_whole(value))
        # The encoder sorts names by code point and RFC 8785 by UTF-16 unit: one order, up to the surrogates' block.
        if data.isascii() or _BEYOND.search(data) is None:
            return data
    return rfc8785.dumps(_whole(value))


def digest(value: Any) -> str:
    """`sha256:` and lower-case hex over canonical JSON, or over the bytes themselves when given bytes."""
    data = value if isinstance(value, bytes) else canonical_json(value)
    return "sha256:" + hashlib.sha256(data).hexdigest()


def object_key(value: Any) -> str:
    """How a Proposition's object is stored and compared (§9.6): an element's id, or a Literal's canonical JSON text.

    value  `{"id": …}`, `{"canonical_id": …}` (spelled as its canonical JSON) or a JSON scalar. Strings are NFC; numbers
           compare by value, so 1, 1.0 and 1e0 are one.
    """
    if isinstance(value, dict) and "id" in value:
        return str(value["id"])
    if isinstance(value, str) and not value.isascii():
        value = normalize("NFC", value)
    return canonical_json(value).decode()


def _is_plain(value: Any) -> bool:
    """Whether the encoder spells a value as RFC 8785 does: no number that either writes with an exponent."""
    waiting = [value]
    for item in waiting:  # which grows while it is read
        kind = type(item)
        if kind is str or kind is bool or item is None:
            continue
        if kind is dict:
            waiting += item.values()
        elif kind is list or kind is tuple:
            waiting += item
        elif kind is int:
            if not -MAX_SAFE_INTEGER <= item <= MAX_SAFE_INTEGER:
                return False
        elif kind is not float or not 1e-4 <= abs(item) < 1e15 or item.is_integer():
            return False
    return True


def _whole(value: Any) -> Any:
    """Integral floats as ints and -0 as 0, all the way down."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return value
