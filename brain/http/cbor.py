"""CBOR that carries what JSON could, to the value it states (RFC 8949; BR-HTTP-011, 013).

A reader of our own, because a general one runs code for what it meets: tags stand for fractions, patterns, addresses
and shared values, and making one can take minutes of a few bytes. Here a tag is refused where it stands, and so is
every other type JSON has no word for. Items are read in one pass, without recursion and without room that the bytes at
hand do not bear out, so the cost grows with the length of the body and with nothing else.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Any

from brain.service.failures import InvalidInput

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG = range(7)
_WITHOUT_END = 31
_NO_ITEMS, _NO_MEMBERS, _BREAK = 0x80, 0xA0, 0xFF
_LITERALS = {0xF4: False, 0xF5: True, 0xF6: None}
_FLOATS = {0xF9: struct.Struct(">e"), 0xFA: struct.Struct(">f"), 0xFB: struct.Struct(">d")}

_OF_ONE_BYTE: dict[int, Any] = {
    **{0x00 + n: n for n in range(24)},
    **{0x20 + n: -1 - n for n in range(24)},
    0x60: "",
    **_LITERALS,
}
_MANY = 16
_RUN = re.compile(rb"[\x00-\x17\x20-\x37\x60\xf4-\xf6]+")
"""Items of one byte each; where many are due they are taken at a time."""

_CUT_SHORT = "parse CBOR error: the body ends too early"
_NO_CBOR = "parse CBOR error: the body is not CBOR"


def read_cbor(body: bytes, *, most_nesting: int, takes_bytes: bool, twice: Callable[[str], InvalidInput]) -> Any:
    """The one value a body states.

    takes_bytes  whether byte strings are taken beside what JSON has
    twice        what is raised when a member of this name stands twice in one object
    raises       InvalidInput
    """
    return _Reader(body, most_nesting, takes_bytes, twice).value()


class _Reader:
    """One pass over one body: `at` is the next byte."""

    def __init__(self, body: bytes, most_nesting: int, takes_bytes: bool, twice: Callable[[str], InvalidInput]) -> None:
        self._body = body
        self._end = len(body)
        self._at = 0
        self._most_nesting = most_nesting
        self._takes_bytes = takes_bytes
        self._twice = twice

    def value(self) -> Any:
        """Read it all. A container under way is its items so far, names and values of a map in turn, how many are
        still due (below 0: until a break) and whether it is a map; the body itself is one of a single item."""
        around: list[tuple[list[Any], int, bool]] = []
        items: list[Any] = []
        due, is_map = 1, False
        body, end = self._body, self._end
        while True:
            while due == 0:
                if not around:
                    if self._at != end:
                        raise InvalidInput("parse CBOR error: the body holds more than one value")
                    return items[0]
                closed = self._object(items) if is_map else items
                items, due, is_map = around.pop()
                items.append(closed)
            at = self._at
            if at >= end:
                raise InvalidInput(_CUT_SHORT)
            head = body[at]
            if (due > _MANY or due < 0) and (run := _RUN.match(body, at, end if due < 0 else at + due)) is not None:
                items.extend(map(_OF_ONE_BYTE.__getitem__, run.group()))
                self._at = run.end()
                due -= (run.end() - at) if due > 0 else 0
                continue
            self._at = at + 1
            if head == _BREAK and due < 0:
                due = 0
                continue
            due -= due > 0
            if head in _OF_ONE_BYTE:
                items.append(_OF_ONE_BYTE[head])
            elif head in (_NO_ITEMS, _NO_MEMBERS):
                items.append({} if head == _NO_MEMBERS else [])
            elif head >> 5 in (_ARRAY, _MAP):
                around.append((items, due, is_map))
                items, is_map = [], head >> 5 == _MAP
                due = self._count(head, 2 if is_map else 1)
                if due and len(around) > self._most_nesting:
                    raise InvalidInput(f"the body is nested more than {self._most_nesting} deep")
            else:
                items.append(self._scalar(head))

    def _count(self, head: int, each: int) -> int:
        """How many items a container has; below 0 when a break ends it."""
        if head & 31 == _WITHOUT_END:
            return -1
        count = self._argument(head & 31) * each
        if count > self._end - self._at:
            raise InvalidInput(_CUT_SHORT)
        return count

    def _scalar(self, head: int) -> Any:
        kind, low = head >> 5, head & 31
        if kind == _UNSIGNED:
            return self._argument(low)
        if kind == _NEGATIVE:
            number = -1 - self._argument(low)
            if number < -(2**63):
                raise InvalidInput("parse CBOR error: a whole number has more than 64 bits; send it as a string")
            return number
        if kind == _TEXT:
            return self._text(low)
        if kind == _BYTES:
            if not self._takes_bytes:
                raise InvalidInput("parse CBOR error: byte strings have no place here; send text")
            return b"".join(self._strings(kind, low))
        if kind == _TAG:
            raise InvalidInput("parse CBOR error: tags have no place here; send what JSON could carry")
        if head in _FLOATS:
            form = _FLOATS[head]
            (real,) = form.unpack(self._taken(form.size))
            if math.isfinite(real):
                return real
            raise InvalidInput("parse CBOR error: a number is not finite")
        if low < 24 or low == 24:
            raise InvalidInput("parse CBOR error: of the simple values only true, false and null have a place here")
        raise InvalidInput(_NO_CBOR)

    def _text(self, low: int) -> str:
        try:
            # Each piece by itself: no character may stand across two.
            return "".join([piece.decode() for piece in self._strings(_TEXT, low)])
        except UnicodeDecodeError:
            raise InvalidInput("parse CBOR error: a text is not UTF-8") from None

    def _strings(self, kind: int, low: int) -> list[bytes]:
        """The pieces of a string: one, or as many as come before a break."""
        if low != _WITHOUT_END:
            return [self._taken(self._argument(low))]
        pieces = []
        while (head := self._taken(1)[0]) != _BREAK:
            if head >> 5 != kind or head & 31 == _WITHOUT_END:
                raise InvalidInput(_NO_CBOR)
            pieces.append(self._taken(self._argument(head & 31)))
        return pieces

    def _argument(self, low: int) -> int:
        if low < 24:
            return low
        if low > 27:
            raise InvalidInput(_NO_CBOR)
        return int.from_bytes(self._taken(1 << low - 24))

    def _taken(self, size: int) -> bytes:
        at, self._at = self._at, self._at + size
        if self._at > self._end:
            raise InvalidInput(_CUT_SHORT)
        return self._body[at : self._at]

    def _object(self, items: list[Any]) -> dict[str, Any]:
        names = items[::2]
        # Before they are keys of anything: numbers can be chosen so that a table of them takes for ever.
        if not all(type(name) is str for name in names):
            raise InvalidInput("parse CBOR error: member names must be text")
        if len(items) % 2:
            raise InvalidInput(_NO_CBOR)
        made = dict(zip(names, items[1::2], strict=True))
        if len(made) != len(names):
            seen: set[str] = set()
            raise self._twice(next(name for name in names if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
        return made
