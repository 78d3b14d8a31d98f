"""What a transaction is about to look up one by one, fetched in one question.

It answers from here as long as the transaction has written nothing: whatever it writes may be what is looked up next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from brain.ids import object_key
from brain.store import rows
from brain.store.base import Element, Kind, Lookups, Scan, TupleScan, element_number
from brain.store.neo4j.keys import indexed, indexed_all
from brain.store.neo4j.scans import HOLDS
from brain.store.neo4j.snapshot import LAST_VERSION
from brain.store.neo4j.versions import element_of
from brain.store.rows import indexed_object
from brain.times import Seq

LOOKUPS = (
    "CALL () { UNWIND $ids AS id CALL (id) { MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    f" WHERE v.space = $space AND v.id = id AND v.from_seq <= $at RETURN v{LAST_VERSION} }}"
    " RETURN collect([v.from_seq, v.body]) AS named }"
    " CALL () { UNWIND $keys AS key MATCH (v:Version) USING INDEX SEEK v:Version(space, key, type)"
    f" WHERE v.space = $space AND v.key = key AND v.type IS NOT NULL AND v.kind = 'concept' AND {HOLDS}"
    " RETURN collect([v.from_seq, v.body]) AS holders }"
    " CALL () { UNWIND $tuples AS row MATCH (v:Version) USING INDEX SEEK v:Version(space, subject, type, object_key)"
    " WHERE v.space = $space AND v.subject = row.subject AND v.type IN row.types AND v.object_key = row.object"
    f" AND v.state = 'active' AND {HOLDS} RETURN collect([v.from_seq, v.body]) AS propositions }}"
    " RETURN named, holders, propositions"
)

Found = list[tuple[Seq, Element]]


class Gathered:
    """Concepts by keys and Propositions by tuples, each with all there is of it."""

    def __init__(self) -> None:
        self._concepts: dict[str, list[Element]] = {}
        self._propositions: dict[tuple[str, str], list[Element]] = {}
        self._along: dict[tuple[str, str], frozenset[str]] = {}

    def keep(self, lookups: Lookups, holders: list[list[Any]], propositions: list[list[Any]]) -> Found:
        """Remember what was found; all of it, with the sequences that wrote it."""
        found = [(since, element_of(body)) for since, body in (*holders, *propositions)]
        self._concepts.update({key: [] for key in lookups.keys})
        for _, concept in found[: len(holders)]:
            self._concepts[str(rows.columns(concept).key)].append(concept)
        for subject, lineages, obj in lookups.tuples:
            ends = subject, indexed_object(obj)
            self._along[ends] = self._along.get(ends, frozenset()) | lineages
            self._propositions.setdefault(ends, [])
        for proposition in {element.id: element for _, element in found[len(holders) :]}.values():
            body = proposition.body
            ends = body["subject"]["id"], indexed_object(object_key(body["object"]))
            self._propositions[ends].append(proposition)
        return found

    def concepts(self, query: Scan) -> list[Element] | None:
        """What a scan for a key gives, None when that is not known."""
        if query.key is None or query.key not in self._concepts:
            return None
        if query != Scan(Kind.CONCEPT, lineages=query.lineages, states=query.states, key=query.key):
            return None
        return _in_order(
            concept
            for concept in self._concepts[query.key]
            if (query.lineages is None or rows.columns(concept).type in query.lineages)
            and (query.states is None or concept.state in query.states)
        )

    def propositions(self, query: TupleScan) -> list[Element] | None:
        """What a scan for whole tuples gives, None when that is not known."""
        pairs = query.pairs
        if pairs is None and query.subjects is not None and query.objects is not None:
            pairs = frozenset((subject, obj) for subject in query.subjects for obj in query.objects)
        if pairs is None or query.predicates is None or query != _of_tuples(query):
            return None
        ends = [(subject, indexed_object(obj)) for subject, obj in pairs]
        if not all(query.predicates <= self._along.get(each, frozenset()) for each in ends):
            return None
        found = (proposition for each in ends for proposition in self._propositions[each])
        return _in_order(one for one in found if rows.columns(one).type in query.predicates)


def parameters_of(lookups: Lookups, ids: list[str]) -> dict[str, Any]:
    """What `LOOKUPS` is asked with.

    ids  those that are not known yet
    """
    return {
        "ids": ids,
        "keys": sorted(str(indexed(key)) for key in lookups.keys),
        "tuples": [
            {"subject": subject, "types": indexed_all(lineages), "object": indexed_object(obj)}
            for subject, lineages, obj in lookups.tuples
        ],
    }


def _of_tuples(query: TupleScan) -> TupleScan:
    """A scan of the same tuples that asks for nothing else."""
    if query.pairs is not None:
        return TupleScan(predicates=query.predicates, pairs=query.pairs)
    return TupleScan(query.subjects, query.predicates, query.objects)


def _in_order(elements: Iterable[Element]) -> list[Element]:
    return sorted(elements, key=lambda element: element_number(element.id))
