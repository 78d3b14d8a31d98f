"""Unicode's normal forms in time linear in the text, whoever wrote it.

`unicodedata.normalize` puts the combining marks behind a letter in order by insertion: a hundred thousand of them take
a minute in which nothing can interrupt it. Runs of many marks are therefore put in order before, which changes nothing
of what comes out.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

_MANY = 50
"""Marks in a row that are put in order here; real text has a handful."""


def normalize(form: Form, text: str) -> str:
    """What `unicodedata.normalize` answers."""
    if len(text) > _MANY and not text.isascii():
        last = 0x1FFFF if max(text) > "\uffff" else 0xFFFF
        text = _runs(last).sub(lambda run: _ordered(run[0]), text)
    return unicodedata.normalize(form, text)


def _ordered(marks: str) -> str:
    """A run of marks, decomposed, in canonical order."""
    single = (part for mark in marks for part in unicodedata.normalize("NFD", mark))
    return "".join(sorted(single, key=unicodedata.combining))


@cache
def _runs(last: int) -> re.Pattern[str]:
    """Finds runs of many marks up to a code, in the two planes that have any; in the first one a set of them is a table
    and ten times as fast."""
    marks = "".join(chr(code) for code in range(0x300, last + 1) if unicodedata.combining(chr(code)))
    return re.compile(f"[{marks}]{{{_MANY},}}")
