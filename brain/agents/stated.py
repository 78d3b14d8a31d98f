"""What was stated of people and things: Propositions they are an end of, with what was said of each and its belief.

However many they are, they are read together; and however much there is of one, it does not push out another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.reading import Reading
from brain.kip.belief.dependency import is_recording_invalidated
from brain.store.base import ElementId
from brain.times import Timestamp

MOST_ABOUT, MOST_TO = 120, 40
_SAID_OF_EACH = 3
"""Assertions that are read per Proposition, all in all."""

_ABOUT, _TO = (
    f"FIND(?who.id, ?p, ?other, ?a) WHERE {{ ?who {{state: ?s}} FILTER(IN(?who.id, :ids)) ?p {ends} "
    "?a ASSERTION {proposition: ?p} } ORDER BY ?a.asserted_at DESC LIMIT :most"
    for ends in ("(?who, ?r, ?other)", "(?other, ?r, ?who)")
)
_BELIEFS = (
    "FIND(?p.id, ?b) WHERE { ?p (?who, ?r, ?other) FILTER(IN(?p.id, :ids)) ?b BELIEF (?p) } "
    'FOR TIME :at WITH EPISTEMIC {explanation: "ledger"}'
)


@dataclass(slots=True)
class Stated:
    """A Proposition as one of its ends sees it.

    other       the far end: an element view or a Literal
    assertions  about it, newest said first
    belief      its projection under the memory policy, explained by its ledger
    """

    proposition: Mapping[str, Any]
    other: Any
    assertions: list[Mapping[str, Any]]
    belief: Mapping[str, Any]


def read_stated(ids: Sequence[ElementId], at: Timestamp, reading: Reading) -> dict[ElementId, list[Stated]]:
    """What was stated of each element, as subject and as object, believed at `at`; of much, what was said last."""
    about = _read(_ABOUT, ids, MOST_ABOUT, reading)
    to = _read(_TO, ids, MOST_TO, reading)
    stated = {i: [*about[i], *to[i]] for i in ids}
    propositions = list(dict.fromkeys(one.proposition["id"] for found in stated.values() for one in found))
    beliefs = dict(reading.ask(_BELIEFS, ids=propositions, at=at)) if propositions else {}
    for found in stated.values():
        for one in found:
            one.belief = beliefs.get(one.proposition["id"], one.belief)
    # One without a belief was taken away between the two reads.
    return {i: [one for one in found if one.belief] for i, found in stated.items()}


def _read(query: str, ids: Sequence[ElementId], most: int, reading: Reading) -> dict[ElementId, list[Stated]]:
    """At most so many Propositions of each element. All elements are asked for at once; where there is so much of some
    that the rest of others may be cut off, they are asked for by halves."""
    if not ids:
        return {}
    limit = most * _SAID_OF_EACH * len(ids)
    rows = reading.ask(query, ids=list(ids), most=limit)
    if len(rows) == limit and len(ids) > 1:
        half = len(ids) // 2
        return _read(query, ids[:half], most, reading) | _read(query, ids[half:], most, reading)
    found: dict[ElementId, dict[ElementId, Stated]] = {i: {} for i in ids}
    for entity_id, proposition, other, assertion in rows:
        if is_recording_invalidated(assertion):
            continue
        known = found[entity_id]
        if proposition["id"] in known or len(known) < most:
            known.setdefault(proposition["id"], Stated(proposition, other, [], {})).assertions.append(assertion)
    return {i: list(known.values()) for i, known in found.items()}
