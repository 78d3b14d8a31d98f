"""Unicode's normal forms in time linear in the text, whoever wrote it.

`unicodedata.normalize` puts the combining marks behind a letter in order by insertion: a hundred thousand of them take
a minute in which nothing can interrupt it. Runs of many marks are therefore put in order before, which changes nothing
of what comes out.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

_MANY = 50
"""Marks in a row that are put in order here; real text has a handful."""

_SUSPICIOUS = re.compile(f"[^\x00-\u02ff\u0370-\u0482\u3041-\u3096\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7a3]{{{_MANY}}}")
"""Finds texts that could hold such a run: a small set is searched for thirty times as fast as all the marks are."""


def normalize(form: Form, text: str) -> str:
    """What `unicodedata.normalize` answers."""
    if len(text) > _MANY and _SUSPICIOUS.search(text):
        text = _runs().sub(lambda run: _ordered(run[0]), text)
    return unicodedata.normalize(form, text)


def _ordered(marks: str) -> str:
    """A run of marks, decomposed, in canonical order."""
    single = (part for mark in marks for part in unicodedata.normalize("NFD", mark))
    return "".join(sorted(single, key=unicodedata.combining))


@cache
def _runs() -> re.Pattern[str]:
    """Finds runs of many marks."""
    marks = "".join(chr(code) for code in range(0x300, sys.maxunicode) if unicodedata.combining(chr(code)))
    return re.compile(f"[{marks}]{{{_MANY},}}")
