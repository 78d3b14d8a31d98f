"""The report at the end of a Recall answer, `<memory_meta>{"found": …, "uncertainty": …}</memory_meta>`, taken off."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

_BLOCK = re.compile(r"<memory_meta\b[^>]*>(.*?)(?:</memory_meta\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_STRAY = re.compile(r"</?memory_meta\b[^>]*>?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SelfReport:
    """What a model says of its own answer; None where it said nothing readable.

    rests_on  which of the elements it was shown carry the answer, by id; empty when it named none
    """

    found: bool | None
    uncertainty: float | None
    rests_on: tuple[str, ...] = ()


def take_report(text: str) -> tuple[str, SelfReport]:
    """The answer without any report, and the last readable one; a broken report never reaches the caller."""
    report = SelfReport(None, None)
    for match in _BLOCK.finditer(text):
        read = _read(match.group(1))
        report = read or report
    return _STRAY.sub("", _BLOCK.sub("", text)).strip(), report


def _read(body: str) -> SelfReport | None:
    try:
        value = json.loads(body.strip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    found, uncertainty = value.get("found"), value.get("uncertainty")
    named = value.get("rests_on")
    ids = tuple(i for i in named if isinstance(i, str)) if isinstance(named, list) else ()
    return SelfReport(found if isinstance(found, bool) else None, _share(uncertainty), ids)


def _share(value: object) -> float | None:
    """A number from 0 to 1, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        return None
    return float(value)
