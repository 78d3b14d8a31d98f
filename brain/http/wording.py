"""What does not fit in a body, in the words of whoever sent it: places as the body has them, kinds as JSON has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_FAULTS = 1_000
"""Faults of a body that are looked at: nobody reads more, and a body can have a great many."""

_DEEPEST_PLACE = 8
_LONGEST_PLACE = 40

_MUST = {
    "string_type": "be text",
    "bytes_type": "be bytes",
    "int_type": "be a whole number",
    "float_type": "be a number",
    "finite_number": "be a finite number",
    "bool_type": "be true or false",
    "list_type": "be a list",
    "dict_type": "be an object",
    "model_type": "be an object",
    "model_attributes_type": "be an object",
    "literal_error": "be {expected}",
    "string_too_long": "have at most {max_length} characters",
    "too_long": "have at most {max_length} entries",
    "greater_than": "be more than {gt}",
    "greater_than_equal": "be at least {ge}",
    "less_than_equal": "be at most {le}",
}
_FITS_NOTHING = "hold something else"


def in_words(faults: Sequence[Mapping[str, Any]], payload: object) -> list[str]:
    """One sentence for each place of a body at fault; where one of several kinds would do, it names them all.

    faults   as the checker of shapes reports them: `loc`, `type`, `ctx`, `msg`
    """
    faults = faults[:_MOST_FAULTS]
    told: dict[str, list[str]] = {}
    places = [_place(fault, payload) for fault in faults]
    around = {place[: dot.start()] for place in set(places) for dot in re.finditer(r"\.", place)}
    for place, fault in zip(places, faults, strict=True):
        if place in around:
            continue  # of the kinds it could be, it is the one whose parts are told of
        if fault["type"] == "missing":
            told[f"missing field `{place}`"] = []
        elif fault["type"] == "extra_forbidden":
            told[f"unknown field `{place}`"] = []
        else:
            words = told.setdefault(f"{place}: ", [])
            words.extend(word for word in [_word(fault)] if word not in words)
    return [place + _joined(words) for place, words in told.items()]


def _place(fault: Mapping[str, Any], payload: object) -> str:
    """Where a fault lies, by the body's own names; what the checker adds to tell its tries apart is left out."""
    at: Any = payload
    parts = []
    for number, part in enumerate(fault["loc"]):
        if part in at if isinstance(at, dict) else isinstance(at, list) and isinstance(part, int) and part < len(at):
            at = at[part]
        elif fault["type"] != "missing" or number != len(fault["loc"]) - 1:
            continue
        parts.append(str(part)[:_LONGEST_PLACE])
    return ".".join(parts[:_DEEPEST_PLACE]) or "body"


def _word(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "value_error":
        return str(fault["ctx"]["error"])
    return "must " + _MUST.get(fault["type"], _FITS_NOTHING).format_map(fault.get("ctx", {}))


def _joined(words: list[str]) -> str:
    first, *others = words or [""]
    return " or ".join([first, *(word.removeprefix("must ").removeprefix("be ") for word in others)])
