"""What each active element is found by, over time: the ground both kinds of search stand on.

A passage is one text of one element under one type, from the commit that wrote it to the one that changed it, however
many versions came and went in between. Its words are postings, nodes of their own; its vector stands in itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from brain.store import rows
from brain.store.base import Element, ElementId, Kind
from brain.store.neo4j.keys import FOREVER, indexed
from brain.store.search import terms
from brain.times import Seq

_SHORT = 2_000
"""Characters up to which a text's terms are remembered for a moment."""


@dataclass(frozen=True, slots=True)
class FoundBy:
    """What an active element is found by: its type and its text."""

    type: str
    text: str


def found_by(element: Element | None) -> FoundBy | None:
    """None for an element that no search finds."""
    if element is None or element.state != "active":
        return None
    type_, text = rows.columns(element).type, rows.text(element)
    return FoundBy(type_, text) if type_ and text else None


def word(letter: str, term: str) -> str:
    """A term of one kind, as it stands in the index."""
    return f"{letter}/{term}"


def place(element_id: ElementId) -> dict[str, Any]:
    return {"kind": element_id[0], "number": int(element_id[2:])}


def added(space: str, element_id: ElementId, by: FoundBy, since: Seq) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The properties of a passage and of its postings."""
    counted = _counted(by.text)
    common = {
        "space": space,
        "number": int(element_id[2:]),
        "from_seq": since,
        "to_seq": FOREVER,
        "size": counted.total(),
        "type": indexed(by.type),
    }
    letter = element_id[0]
    postings = [common | {"word": word(letter, term), "times": times} for term, times in counted.items()]
    return common | {"kind": letter}, postings


def gone(element_id: ElementId, by: FoundBy) -> list[dict[str, Any]]:
    """Where the postings of a text are found that holds no longer."""
    number = int(element_id[2:])
    return [{"word": word(element_id[0], term), "number": number} for term in _counted(by.text)]


def client_key(space: str, element_id: ElementId, key: str, kind: Kind) -> dict[str, Any]:
    """What an element was created under, as a node: by `key` it is found, `client_key` is the whole of it."""
    properties = {"space": space, "kind": kind.value, "key": indexed(key), "client_key": key, "id": element_id}
    return {"labels": ["ClientKey"], "properties": properties}


def size(by: FoundBy) -> int:
    return _counted(by.text).total()


def _counted(text: str) -> Counter[str]:
    """The terms of a text; a write needs those of the usual short one several times over."""
    return _counted_before(text) if len(text) <= _SHORT else Counter(terms(text))


@lru_cache(maxsize=64)
def _counted_before(text: str) -> Counter[str]:
    return Counter(terms(text))
