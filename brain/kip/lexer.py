"""Command text to tokens: the lexical rules the three grammars share.

A token is three parallel list entries: its head, which tells the parser everything it decides on, and where it starts
and ends. Text that forms no token ends the list with a FAULT token; the parser reports it when it gets there, so an
earlier mistake is named first.
"""

from __future__ import annotations

import json
import re

from brain.errors import KipError
from brain.ids import MAX_SAFE_INTEGER
from brain.kip.ast import Span
from brain.kip.faults import spoken, unexpected
from brain.kip.tokens import END, FAULT, NESTING, NUMBER, STRING, VARIABLE, Fault, Look, unhurried

_TOKEN = re.compile(
    r"""
    (?: [ \t\r\n]+ | //[^\r\n]* )*+
    (?: (\?[A-Za-z_][A-Za-z0-9_]*)
      | ([A-Za-z_][A-Za-z0-9_]*)
      | ("[^"\\\x00-\x1f]*+(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*+)*+")
      | (-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?)
      | (&&|\|\||[=!<>]=|[{}()\[\],:.<>!|-])
      | (\Z)
      | (.)
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIABLE, _WORD, _STRING, _NUMBER, _MARK, _END = range(1, 7)
_HEADS = {_VARIABLE: VARIABLE, _STRING: STRING, _NUMBER: NUMBER, _END: END}

_NUMBER_PARTS = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}|(.?))', re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")


TOKENS_BETWEEN_LOOKS = 1_000
"""Tokens a parser reads between two looks at the clock: some milliseconds."""


class Tokens:
    """The tokens of one text and the place the parser has reached in them.

    raw_paths  whether tuples take predicate paths, as KQL's do and those of KML and META do not
    look       looks at the clock every `TOKENS_BETWEEN_LOOKS`
    """

    __slots__ = ("_looked", "at", "ends", "heads", "look", "raw_paths", "source", "starts")

    def __init__(self, source: str, heads: list[str], starts: list[int], ends: list[int]) -> None:
        self.source = source
        self.heads = heads
        self.starts = starts
        self.ends = ends
        self.at = 0
        self.raw_paths = False
        self.look: Look = unhurried
        self._looked = 0

    @property
    def head(self) -> str:
        """The head of the token to be read next."""
        return self.heads[self.at]

    def ahead(self, count: int = 1) -> str:
        """The head `count` tokens further on."""
        return self.heads[min(self.at + count, len(self.heads) - 1)]

    def text(self, at: int | None = None) -> str:
        """The characters of a token, the next one unless told."""
        at = self.at if at is None else at
        return self.source[self.starts[at] : self.ends[at]]

    def take(self, head: str) -> bool:
        """Step over the next token if it has this head."""
        if self.heads[self.at] == head:
            self.at += 1
            return True
        return False

    def expect(self, *heads: str) -> None:
        """Step over exactly these tokens, or raise."""
        for head in heads:
            if self.heads[self.at] != head:
                raise self.unexpected(f"{spoken(head)} has to stand here", expected=head)
            self.at += 1

    def since(self, start: int) -> Span:
        """From the token at index `start` to the last one read."""
        if self.at - self._looked > TOKENS_BETWEEN_LOOKS:
            self._looked = self.at
            self.look()
        return Span(self.starts[start], self.ends[self.at - 1])

    def unexpected(self, message: str, *, hint: str | None = None, expected: str | None = None) -> KipError:
        """The error about the next token, to be raised.

        message   what is wrong with what stands there; what was found is added to it
        expected  the one token that could stand there, when there is only one
        """
        return unexpected(self, message, hint=hint, expected=expected)


def tokens_of(source: str) -> Tokens:
    """Cut a text into tokens; never raises for what the text says."""
    heads: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    depth = 0
    for match in _TOKEN.finditer(source):
        group = match.lastindex or _END
        start, end = match.span(group)
        if group == _MARK:
            head = source[start:end]
            if head in "{([":
                depth += 1
                if depth > NESTING:
                    head = FAULT
            elif head in "})]":
                depth -= 1
        elif group == _WORD:
            head = source[start:end].upper()
        else:
            head = _HEADS.get(group, FAULT)
        heads.append(head)
        starts.append(start)
        ends.append(end)
        if head in (FAULT, END):
            break
    return Tokens(source, heads, starts, ends)


def string_value(raw: str) -> str | Fault:
    """What a quoted token says: JSON escapes only, no half of a surrogate pair."""
    if "\\" not in raw:
        return raw[1:-1]
    for escape in _ESCAPE.finditer(raw):
        if escape[1] is not None:
            return Fault(
                f"the escape \\{escape[1]} does not exist in a string",
                "Strings take the escapes of JSON; write \\\\ for a backslash.",
            )
    value: str = json.loads(raw)
    if SURROGATE.search(value):
        return Fault(
            "a \\u escape in this string is half of a surrogate pair",
            "Write both halves of the pair, or the character itself.",
        )
    return value


def number_value(raw: str) -> int | float | Fault:
    """What a number token says, judged by its digits before they are rounded (§9.3). Whole values are ints."""
    parts = _NUMBER_PARTS.fullmatch(raw)
    if parts is None:
        return Fault("this is not a number as JSON writes them", _number_repair(raw))
    _, whole, fraction, exponent = parts.groups()
    if fraction is None and exponent is None and len(whole) < 16:
        return int(raw)
    digits = (whole + (fraction or "")).lstrip("0")
    if not digits:
        return 0
    value = float(raw)
    if value in (float("inf"), float("-inf")):
        return Fault("this number is larger than binary64 holds")
    if value == 0:
        return Fault("this number is too small for binary64 and would become 0")
    if not value.is_integer():
        return value
    # Every whole number past the bound is still past it after rounding, so the rounded value decides for all spellings.
    if abs(value) > MAX_SAFE_INTEGER:
        return Fault(
            f"whole numbers go from -{MAX_SAFE_INTEGER} to {MAX_SAFE_INTEGER}", "Write a larger number as a string."
        )
    return int(value)


def _number_repair(raw: str) -> str | None:
    sign, rest = ("-", raw[1:]) if raw.startswith("-") else ("", raw)
    whole, dot, fraction = rest.partition(".")
    if dot and not fraction:
        return f"Write {sign}{whole} or {sign}{whole}.0."
    trimmed = rest.lstrip("0")
    if whole.isdigit() and len(whole) > 1 and whole.startswith("0") and trimmed and len(raw) < 40:
        return f"Write {sign}{trimmed if trimmed[0].isdigit() else '0' + trimmed}; numbers have no leading zero."
    return None
