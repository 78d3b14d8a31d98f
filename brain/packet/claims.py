"""Claims about what a question is about: the Propositions around some Concepts, with what was said of each, weighed.

Propositions are asked for by the names of all predicates: a store then sorts them by itself, and of somebody with ten
thousand claims only the newest are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any
from weakref import WeakKeyDictionary

from brain.agents.reading import ReadFailed, Reading, ref_id
from brain.agents.standing import Testimony, weigh
from brain.agents.words import terms_of_relation, terms_of_relations
from brain.kip.belief.dependency import is_recording_invalidated
from brain.kip.pipeline import Engine
from brain.store.base import Document, ElementId, element_number
from brain.store.search import query_terms
from brain.times import Timestamp

MOST_WEIGHED = 96
"""Claims of which the belief is worked out."""

CROWDED = 5_000
"""Propositions on one side of a Concept from which on they are not sorted by time any more: of a crowd only those are
read whose relation the question names, or which lead to something else it is about."""

_NEWEST = 240
_MOST_NAMED = 8
_MOST_NAMES = 400
"""Predicates that are named in a query; a Space with more of them is read without their names, which is slower."""

_SIDES = ("subject", "object")
_TUPLE = {"subject": "?p (?near, PREDICATES, ?far)", "object": "?p (?far, PREDICATES, ?near)"}
_NEAR = "?near {state: ?s} FILTER(IN(?near.id, :ids))"
_OTHER = "?far {state: ?z} FILTER(IN(?far.id, :others))"
_ROWS = (
    "FIND(?near, ?p, ?far, ?a) WHERE { %s TUPLE ?a ASSERTION {proposition: ?p} } "
    "ORDER BY ?a.asserted_at DESC LIMIT :most"
)
_AROUND, _BETWEEN = _ROWS % _NEAR, _ROWS % f"{_NEAR} {_OTHER}"
_CROWD = f"FIND(?near.id, COUNT(?p)) WHERE {{ {_NEAR} TUPLE }}"
_BY_ID = (
    "FIND(?near, ?p, ?far, ?a) WHERE { ?p (?near, ?r, ?far) FILTER(IN(?p.id, :ids)) ?a ASSERTION {proposition: ?p} } "
    "LIMIT 512"
)
_CITING = (
    "FIND(?p.id) WHERE { ?e EVIDENCE {state: ?s} FILTER(IN(?e.id, :ids)) "
    "?a ASSERTION {evidence: ?e, proposition: ?p} } LIMIT 96"
)
_BELIEFS = (
    "FIND(?p.id, ?b) WHERE { ?p (?near, ?r, ?far) FILTER(IN(?p.id, :ids)) ?b BELIEF (?p) } "
    'FOR TIME :at WITH EPISTEMIC {explanation: "ledger"}'
)
_THEN = "FIND(?p.id, ?b.status) WHERE { ?p (?near, ?r, ?far) FILTER(IN(?p.id, :ids)) ?b BELIEF (?p) } FOR TIME :at"


@dataclass(slots=True)
class Claim:
    """A Proposition with what was said of it.

    subject, object  element views; the object may be a Literal
    hop              1 about what the question names, 2 about what that is linked to, 0 found by itself
    overlap          the share of the question's words that stand in it, by how telling they are: 0 to 1
    belief           its projection, once weighed
    then             its belief status at the end of the time the question names, where it names one
    """

    proposition: Document
    subject: Any
    object: Any
    hop: int
    assertions: dict[ElementId, Document] = field(default_factory=dict)
    overlap: float = 0.0
    terms: frozenset[str] = frozenset()
    belief: Document = field(default_factory=dict)
    testimony: Testimony | None = None
    then: str | None = None

    @property
    def id(self) -> ElementId:
        return str(self.proposition["id"])

    @property
    def said_last(self) -> Timestamp:
        """When somebody last spoke to it."""
        return max((str(a.get("asserted_at") or "") for a in self.assertions.values()), default="")

    @property
    def predicate(self) -> str:
        """The local name of its relation."""
        return str(self.proposition["predicate_ref"]).rpartition("/")[2]

    @property
    def ends(self) -> tuple[ElementId, ...]:
        """The elements it is between."""
        return tuple(i for i in (ref_id(self.subject), ref_id(self.object)) if i)


class Claims:
    """The claims of one question, each Proposition once."""

    def __init__(self, reading: Reading, terms: frozenset[str]) -> None:
        self._reading = reading
        self._terms = terms
        self._found: dict[ElementId, Claim] = {}
        self.crowded: list[ElementId] = []

    def around(self, ids: Sequence[ElementId], hop: int) -> None:
        """Read what is claimed of some Concepts, the newest of much; ReadFailed."""
        if not ids:
            return
        names = predicate_names(self._reading)
        every = "|".join(f'"{name}"' for name in names) if 0 < len(names) <= _MOST_NAMES else "?r"
        named = [name for name in names if self._terms.intersection(terms_of_relation(name))]
        crowds = self._reading.ask_all([(_query(_CROWD, side, every), {"ids": list(ids)}) for side in _SIDES])
        for side, counted in zip(_SIDES, crowds, strict=True):
            crowded = [near for near, count in counted if count > CROWDED]
            few = [i for i in ids if i not in crowded]
            if hop == 1:
                self.crowded += crowded
            if few:
                self._take(side, self._fairly(_query(_AROUND, side, every), few), hop)
            if crowded and few:
                values = {"ids": crowded, "others": few, "most": _NEWEST}
                self._take(side, self._reading.ask(_query(_BETWEEN, side, every), **values), hop)
            if crowded and named:
                some = "|".join(f'"{name}"' for name in named[:_MOST_NAMED])
                self._take(side, self._fairly(_query(_AROUND, side, some), crowded), hop)

    def of(self, propositions: Sequence[ElementId], hop: int = 0) -> None:
        """Read Propositions by id; ReadFailed."""
        wanted = [i for i in dict.fromkeys(propositions) if i not in self._found]
        if wanted:
            self._take("subject", self._reading.ask(_BY_ID, ids=wanted), hop)

    def citing(self, evidence: Sequence[ElementId]) -> list[ElementId]:
        """The Propositions of claims that cite some Evidence."""
        return list(dict.fromkeys(self._reading.ask(_CITING, ids=list(evidence)))) if evidence else []

    def ranked(self) -> list[Claim]:
        """All of them: those with the question's words first, the nearer before the farther, the newest first."""
        self._compare()
        return sorted(
            self._found.values(),
            key=lambda c: (-c.overlap, c.hop or 1, _descending(c.said_last), element_number(c.id)),
        )

    def _compare(self) -> None:
        """Work out the overlaps: a word that every claim has tells none of them apart."""
        claims = list(self._found.values())
        holding = Counter(term for claim in claims for term in claim.terms)
        worth = {term: log((len(claims) + 1) / count) for term, count in holding.items()}
        total = sum(worth.values()) or 1.0
        for claim in claims:
            claim.overlap = round(sum(worth[term] for term in sorted(claim.terms)) / total, 6)

    def weigh(self, claims: Sequence[Claim], at: Timestamp) -> list[Claim]:
        """Those that still say something at `at`, with their belief under the memory policy; ReadFailed."""
        if not claims:
            return []
        beliefs = dict(self._reading.ask(_BELIEFS, ids=[claim.id for claim in claims], at=at))
        for claim in claims:
            claim.belief = beliefs.get(claim.id, {})
            subject = ref_id(claim.subject)
            claim.testimony = (
                weigh(claim.belief, list(claim.assertions.values()), at, subject) if claim.belief else None
            )
        return [claim for claim in claims if claim.testimony is not None]

    def weigh_then(self, claims: Sequence[Claim], at: Timestamp) -> None:
        """Note the belief status of each at another time; ReadFailed."""
        if claims:
            statuses = dict(self._reading.ask(_THEN, ids=[claim.id for claim in claims], at=at))
            for claim in claims:
                claim.then = statuses.get(claim.id)

    def _fairly(self, text: str, ids: Sequence[ElementId]) -> list[Any]:
        """The rows of a query; where one Concept has so much that others may be cut off, the halves are asked for."""
        most = _NEWEST * len(ids)
        rows: list[Any] = self._reading.ask(text, ids=list(ids), most=most)
        if len(rows) < most or len(ids) == 1:
            return rows
        half = len(ids) // 2
        return self._fairly(text, ids[:half]) + self._fairly(text, ids[half:])

    def _take(self, side: str, rows: Iterable[Sequence[Any]], hop: int) -> None:
        for near, proposition, far, assertion in rows:
            if is_recording_invalidated(assertion):
                continue
            claim = self._found.get(proposition["id"])
            if claim is None:
                ends = (near, far) if side == "subject" else (far, near)
                claim = Claim(proposition, *ends, hop)
                claim.terms = self._terms & _terms_of(claim)
                self._found[claim.id] = claim
            claim.assertions.setdefault(assertion["id"], assertion)


def _query(template: str, side: str, predicates: str) -> str:
    return template.replace("TUPLE", _TUPLE[side]).replace("PREDICATES", predicates)


def _terms_of(claim: Claim) -> set[str]:
    ends = [end.get("name") or "" if isinstance(end, dict) else str(end) for end in (claim.subject, claim.object)]
    return set(query_terms(" ".join([claim.predicate.replace("_", " "), *ends])))


def _descending(text: str) -> str:
    return "".join(chr(0x10FFFF - ord(c)) for c in text)


# --- the names of predicates ------------------------------------------------------------------------------------------

_KNOWN: MutableMapping[Engine, tuple[int, tuple[str, ...]]] = WeakKeyDictionary()
"""The predicates of open Spaces at the version they were read; each goes with its engine."""


def predicate_names(reading: Reading) -> tuple[str, ...]:
    """References of every predicate of the Space, in use or not; ReadFailed."""
    version = reading.vocabulary_version()
    known = _KNOWN.get(reading.engine)
    if known is None or known[0] != version:
        known = (version, tuple(_listed(reading)))
        _KNOWN[reading.engine] = known
    return known[1]


def relation_terms(reading: Reading) -> frozenset[str]:
    """The terms that the names of predicates are found by; ReadFailed."""
    return terms_of_relations(predicate_names(reading))


def _listed(reading: Reading) -> Iterable[str]:
    page, values = "LIST PREDICATES LIMIT 100", dict[str, Any]()
    for _ in range(_MOST_NAMES // 100 + 1):
        [answer] = reading.try_all([(page, values)])
        if "error" in answer:
            raise ReadFailed(answer["error"]["code"])
        yield from (str(row["ref"]) for row in answer["result"])
        if not answer.get("next_cursor"):
            return
        page, values = "LIST PREDICATES LIMIT 100 CURSOR :cursor", {"cursor": answer["next_cursor"]}
