"""What was stated of people and things: Propositions they are an end of, with what was said of each and its belief.

However many they are, they are read together; and however much there is of one, it does not push out another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.reading import Query, Reading
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
    if not ids:
        return {}
    sides = [_Side(_ABOUT, MOST_ABOUT), _Side(_TO, MOST_TO)]
    rows = reading.ask_all([side.query(ids) for side in sides])
    about, to = (side.stated(ids, found, reading) for side, found in zip(sides, rows, strict=True))
    stated = {i: [*about[i], *to[i]] for i in ids}
    propositions = list(dict.fromkeys(one.proposition["id"] for found in stated.values() for one in found))
    beliefs = dict(reading.ask(_BELIEFS, ids=propositions, at=at)) if propositions else {}
    for found in stated.values():
        for one in found:
            one.belief = beliefs.get(one.proposition["id"], one.belief)
    # One without a belief was taken away between the two reads.
    return {i: [one for one in found if one.belief] for i, found in stated.items()}


@dataclass(frozen=True, slots=True)
class _Side:
    """Propositions that elements are one end of, at most so many of each."""

    command: str
    most: int

    def query(self, ids: Sequence[ElementId]) -> Query:
        return self.command, {"ids": list(ids), "most": self._limit(ids)}

    def stated(self, ids: Sequence[ElementId], rows: Sequence[Any], reading: Reading) -> dict[ElementId, list[Stated]]:
        """What the rows of `query` say. All elements are asked for at once; where there is so much of some that the
        rest of others may be cut off, they are asked for by halves."""
        if len(rows) == self._limit(ids) and len(ids) > 1:
            halves = ids[: len(ids) // 2], ids[len(ids) // 2 :]
            answers = reading.ask_all([self.query(half) for half in halves])
            one, other = (self.stated(half, found, reading) for half, found in zip(halves, answers, strict=True))
            return one | other
        found: dict[ElementId, dict[ElementId, Stated]] = {i: {} for i in ids}
        for entity_id, proposition, other_end, assertion in rows:
            if is_recording_invalidated(assertion):
                continue
            known = found[entity_id]
            if proposition["id"] in known or len(known) < self.most:
                known.setdefault(proposition["id"], Stated(proposition, other_end, [], {})).assertions.append(assertion)
        return {i: list(known.values()) for i, known in found.items()}

    def _limit(self, ids: Sequence[ElementId]) -> int:
        return self.most * _SAID_OF_EACH * len(ids)
