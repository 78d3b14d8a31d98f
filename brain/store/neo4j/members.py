"""Members of an element as texts of its version, where statements can read them: no function of Cypher looks into JSON.

Each member is an entry between two marks: its name, what it is, its value. They are texts and not properties of their
own, since a property's name stays in the database for good, counts against what all Spaces have of them, and would be
the caller's to choose. What stands here is what the body says at a path of one or two names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from brain.ids import MAX_SAFE_INTEGER
from brain.store.base import Document, Json

ENTRY, NAME, INSIDE = "\x1e", "\x1f", "\x1d"
"""What stands between entries, behind the name of one, and between two names that are a path."""

TEXT, LATE_TEXT, NUMBER, BOOLEAN, OTHER = "s", "t", "n", "b", "x"
"""What a value is, its first letter: a text; one whose order among others Neo4j sees differently; a number or a boolean
as JSON has it; or what is compared in no statement: a list, an object, a long text."""

LONGEST = 500
"""Characters of a text that stands here."""

_MARKS = re.compile(f"[{INSIDE}{ENTRY}{NAME}]")
# Neo4j orders texts by their 16-bit units, so that these come behind what is larger; all others fall as they should.
_LATE = re.compile("[\ue000-\uffff]")


def stored(body: Document) -> dict[str, str]:
    """The properties of a version that hold its members: `attributes` those of the body's `attributes`, `members` all
    others but the id."""
    return {"attributes": _listed(_entries(body.get("attributes"))), "members": _listed(_all_entries(body))}


def place(path: tuple[str, ...]) -> tuple[str, str] | None:
    """The property that holds the member at a path, and what stands before its value; None for a path not kept."""
    if not 0 < len(path) <= 2 or any(map(_MARKS.search, path)):
        return None
    if len(path) == 2 and path[0] == "attributes":
        return "attributes", f"{ENTRY}{path[1]}{NAME}"
    return "members", f"{ENTRY}{INSIDE.join(path)}{NAME}"


def like(before: str, wanted: str | float) -> list[str]:
    """What a version's text has inside, one of these, that has a member equal to a scalar, or one that no statement can
    compare; `before` as `place` gives it."""
    written = {OTHER, _written(wanted)}
    if not isinstance(wanted, str | bool):
        # JSON spells a number in as many ways.
        whole = [int(wanted)] if wanted == int(wanted) and is_exact(int(wanted)) else []
        written |= {_written(number) for number in (float(wanted), *whole, *([-0.0] if wanted == 0 else []))}
    return sorted(f"{before}{one}{ENTRY}" for one in written)


def value(text: str) -> Json:
    """The value of an entry that is a scalar."""
    return text[1:] if text[0] in (TEXT, LATE_TEXT) else orjson.loads(text[1:])


def is_in_order(text: str) -> bool:
    """Whether Neo4j puts a text where the language does."""
    return not _LATE.search(text)


def is_exact(number: int | float) -> bool:
    """Whether Neo4j compares a number as what it is."""
    return abs(number) <= MAX_SAFE_INTEGER or type(number) is float


def _all_entries(body: Document) -> Iterator[str]:
    for name, found in body.items():
        if found is None or name == "id" or _MARKS.search(name):
            continue
        yield f"{name}{NAME}{_written(found)}"
        if isinstance(found, Mapping) and name != "attributes":
            yield from _entries(found, f"{name}{INSIDE}")


def _entries(holder: Json, before: str = "") -> Iterator[str]:
    if isinstance(holder, Mapping):
        for name, found in holder.items():
            if found is not None and not _MARKS.search(name):
                yield f"{before}{name}{NAME}{_written(found)}"


def _written(found: Any) -> str:
    if isinstance(found, str):
        if len(found) > LONGEST or _MARKS.search(found):
            return OTHER
        return (TEXT if is_in_order(found) else LATE_TEXT) + found
    if isinstance(found, bool):
        return BOOLEAN + ("true" if found else "false")
    if isinstance(found, int | float) and is_exact(found):
        return NUMBER + orjson.dumps(found).decode()
    return OTHER


def _listed(entries: Iterator[str]) -> str:
    return f"{ENTRY}{ENTRY.join(entries)}{ENTRY}"
