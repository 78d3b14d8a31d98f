"""JSON values as schemas see them: types, equality, and the formats of text (KIP 2.0 §9.2, §20.15)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from brain.store.base import Json
from brain.times import is_timestamp

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", re.ASCII)
_CALENDAR_DATE = re.compile(r"(?P<year>\d{4}|-)(?:-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)?", re.ASCII)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def json_type(value: Json) -> str:
    """The JSON type of a value: array, boolean, null, number, object or string."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def is_type(value: Json, name: str) -> bool:
    """Whether a value has a field type: a JSON type, `integer`, or `timestamp`, which is text of a format."""
    if name == "integer":
        return json_type(value) == "number" and float(value).is_integer()
    if name == "timestamp":
        return isinstance(value, str)
    return name == json_type(value)


def is_same(left: Json, right: Json) -> bool:
    """JSON equality: numbers by value, never a boolean for a number."""
    kind = json_type(left)
    if kind != json_type(right):
        return False
    if kind == "object":
        return left.keys() == right.keys() and all(is_same(item, right[name]) for name, item in left.items())
    if kind == "array":
        return len(left) == len(right) and all(map(is_same, left, right))
    return bool(left == right)


def has_format(value: str, name: str) -> bool:
    """Whether a text has a format; a format that a package made up for itself admits every text."""
    if name == "timestamp":
        return is_timestamp(value)
    if name == "uri":
        return _URI.fullmatch(value) is not None
    if name == "calendar-date":
        return _is_calendar_date(value)
    return True


def _is_calendar_date(value: str) -> bool:
    match = _CALENDAR_DATE.fullmatch(value)
    if match is None or (match["year"] == "-" and match["month"] is None):
        return False
    month, day = int(match["month"] or 1), int(match["day"] or 1)
    if not 1 <= month <= 12 or not 1 <= day <= _DAYS[month - 1]:
        return False
    year = match["year"]
    is_leap_day = (month, day) == (2, 29)
    return not is_leap_day or year == "-" or (int(year) % 4 == 0 and (int(year) % 100 != 0 or int(year) % 400 == 0))


FORMAT_HINTS: Mapping[str, str] = {
    "calendar-date": "Write YYYY-MM-DD, YYYY-MM, YYYY, or --MM-DD when the year is unknown.",
    "timestamp": "Write YYYY-MM-DDTHH:mm:ss.SSSZ, in UTC, with exactly three decimals.",
    "uri": "Write a URI with its scheme.",
}
"""How to write a text that did not fit."""
