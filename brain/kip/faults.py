"""What an InvalidSyntax says: the place, what stands there, and how to put it right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from brain.errors import InvalidSyntax
from brain.kip.lexer import Tokens

SNIPPET = 60
"""Most characters of source that an error quotes."""


def place(source: str, offset: int) -> dict[str, object]:
    """Where an offset is: line and column from 1, and the piece of that line around it."""
    line = source.count("\n", 0, offset) + 1
    begin = source.rfind("\n", 0, offset) + 1
    end = source.find("\n", offset)
    end = len(source) if end < 0 else end
    left = max(begin, min(offset - SNIPPET // 3, end - SNIPPET))
    right = min(end, left + SNIPPET)
    snippet = ("…" if left > begin else "") + source[left:right].strip("\r") + ("…" if right < end else "")
    return {"line": line, "column": offset - begin + 1, "snippet": snippet}


def invalid(
    source: str, offset: int, message: str, *, hint: str | None = None, expected: str | None = None
) -> InvalidSyntax:
    """The error about one place of a text."""
    details = place(source, offset)
    if expected is not None:
        details["expected"] = expected
    return InvalidSyntax(f"line {details['line']}, column {details['column']}: {message}", hint=hint, details=details)


def unexpected(t: Tokens, message: str, *, hint: str | None, expected: str | None) -> InvalidSyntax:
    """The error about the next token."""
    offset = t.starts[t.at]
    return invalid(t.source, offset, message, hint=hint, expected=expected)


def near(word: str, known: Iterable[str]) -> str | None:
    """A hint naming the known phrase closest to a word, when one is close."""
    close = get_close_matches(word.upper(), list(known), n=1)
    return f"Did you mean {close[0]}?" if close else None
