"""Element ids as integers: the kind in the high bits, the number in the low ones, so that a kind is one range."""

from __future__ import annotations

import re
from functools import lru_cache

from brain.store.base import ElementId, Kind

CODES: dict[Kind, int] = {
    Kind.CONCEPT: 1,
    Kind.PROPOSITION: 2,
    Kind.ASSERTION: 3,
    Kind.EVIDENCE: 4,
    Kind.ACTIVITY: 5,
}
"""Stored in every file: never renumber."""

KINDS = {code: kind for kind, code in CODES.items()}

_NUMBER_BITS = 40
NUMBER_MASK = (1 << _NUMBER_BITS) - 1
_BASE_OF_LETTER = {kind.letter: code << _NUMBER_BITS for kind, code in CODES.items()}
LETTERS = {code: kind.letter for kind, code in CODES.items()}
_ID = re.compile(r"[CPAEX]-[1-9][0-9]{0,11}", re.ASCII)
_LONGEST = 14


def eid_of(element_id: ElementId) -> int | None:
    """The integer of an id; None when it is not spelled as an id, or its number is past any that was given out."""
    return _known(element_id) if len(element_id) <= _LONGEST else None


@lru_cache(maxsize=8192)
def _known(element_id: ElementId) -> int | None:
    if _ID.fullmatch(element_id) is None or (number := int(element_id[2:])) > NUMBER_MASK:
        return None
    return _BASE_OF_LETTER[element_id[0]] | number


def known_eid(element_id: ElementId) -> int:
    """The integer of an id the engine itself made; ValueError for any other text."""
    eid = eid_of(element_id)
    if eid is None:
        raise ValueError(f"not an element id: {element_id!r}")
    return eid


def id_of(eid: int) -> ElementId:
    return f"{LETTERS[eid >> _NUMBER_BITS]}-{eid & NUMBER_MASK}"


def kind_of(eid: int) -> Kind:
    return KINDS[eid >> _NUMBER_BITS]


def code_of(eid: int) -> int:
    return eid >> _NUMBER_BITS


def number_of(eid: int) -> int:
    return eid & NUMBER_MASK


def first_of(kind: Kind, after: int = 0) -> int:
    """The first integer of a kind past number `after`."""
    return (CODES[kind] << _NUMBER_BITS) + min(after, NUMBER_MASK) + 1


def end_of(kind: Kind) -> int:
    """The first integer past a kind."""
    return (CODES[kind] + 1) << _NUMBER_BITS
