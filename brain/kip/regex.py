"""Patterns of REGEX: RE2 syntax, matched anywhere in the text, in time linear in its length."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from brain.errors import InvalidSyntax, ResourceExhausted

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 1 << 20


_SHORT = 4_096
_MOST_STEPS = 200_000_000
"""Characters of a text times instructions of a pattern: what takes some tenths of a second at the worst, in which
nothing can interrupt RE2."""


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """The pattern, ready for `.search(text)`.

    raises  InvalidSyntax when RE2 does not take it, also because it would need too much memory
    """
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        raise InvalidSyntax(
            f"REGEX does not understand its pattern: {error.args[0].decode()}.",
            hint="Write RE2 syntax: no lookaround, no backreferences; double each backslash in a string.",
        ) from error


def found(pattern: str, text: str) -> bool:
    """Whether a pattern matches anywhere in a text.

    raises  InvalidSyntax as `compiled` does; ResourceExhausted for a long text that so large a pattern would hold up
    """
    program = compiled(pattern)
    if len(text) > _SHORT and len(text) * program.programsize > _MOST_STEPS:
        raise ResourceExhausted(
            f"REGEX would take too long over a text of {len(text)} characters.",
            hint="Count fewer repetitions in the pattern, or test with CONTAINS.",
        )
    return program.search(text) is not None
