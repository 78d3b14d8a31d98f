"""What a token is: the heads the parser decides on, the bounds on a text, and why a token can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

COMMAND_BYTES = 256 * 1024
"""Longest command text, in UTF-8 bytes."""

NESTING = 64
"""Deepest nesting of brackets."""

VARIABLE = "?"
STRING = '"'
NUMBER = "0"
FAULT = "\0"
END = ""
"""Heads of the tokens that are neither a word, whose head is the word in upper case, nor a mark, which is its own."""


Look: TypeAlias = Callable[[], None]
"""Looks at the clock: raises ExecutionTimeout when the time for the work is up."""


def unhurried() -> None:
    """The Look of a caller that has time."""


class Fault(NamedTuple):
    """Why a token cannot be: a sentence, and how to put it right when there is more to say than the sentence."""

    message: str
    hint: str | None = None
