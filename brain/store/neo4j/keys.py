"""How texts and ids stand in an index."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from brain.store.base import Element, ElementId, Kind
from brain.store.rows import LONGEST_OBJECT

FOREVER = 1 << 34
"""`to_seq` of what holds now. No longer than a sequence is on the disk, so that the end of a version is written in the
place of this number and no reader finds neither."""

_DIGEST = "sha256:"
ORDER = {kind.letter: place for place, kind in enumerate(Kind)}
KINDS = {kind.letter: kind for kind in Kind}
ID_LETTERS = str(sorted(KINDS))
"""How an object key begins that is an element's id, as a list of Cypher; no JSON text begins so."""


def indexed(text: str | None) -> str | None:
    """A text as it stands in an index: itself or, when an index entry could not hold it, its digest.

    No two texts stand there alike: one that looks like a digest is stored by its own.
    """
    if text is None or (len(text) <= LONGEST_OBJECT and not text.startswith(_DIGEST)):
        return text
    return _DIGEST + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_digest(text: str) -> bool:
    """Whether a text of an index is the digest of what it stands for."""
    return text.startswith(_DIGEST)


def indexed_all(texts: Iterable[str]) -> list[str]:
    """The same for several, in an order of their own."""
    return sorted({found for text in texts if (found := indexed(text)) is not None})


def place_of(element_id: ElementId) -> tuple[int, int]:
    """Sorts ids by number, those of one number by kind."""
    return int(element_id[2:]), ORDER[element_id[0]]


def kind_of(element_id: ElementId) -> Kind:
    return KINDS[element_id[0]]


def number_of(element: Element) -> int:
    return int(element.id[2:])
