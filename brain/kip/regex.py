"""Patterns of REGEX: RE2 syntax, matched anywhere in the text, in time linear in its length."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from brain.errors import InvalidSyntax

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 1 << 20


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
