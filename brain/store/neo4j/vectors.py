"""Semantic search: exact cosines over the vectors that hold at a snapshot, and how far those follow the texts.

A vector stands in its passage, as 32-bit numbers. Passages without one have the label Waiting, those with one Embedded,
so that both are ranges of an index; a text without direction is embedded and has no vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from brain import errors
from brain.store import rows
from brain.store.base import Freshness, Hit, Kind, Passage, SearchQuery
from brain.store.neo4j.candidates import Run, best, claims_about
from brain.store.neo4j.keys import FOREVER, indexed_all
from brain.store.neo4j.passages import place
from brain.store.neo4j.versions import element_of
from brain.store.search import texts_of
from brain.store.sight import Load, Sight, visible_hits
from brain.times import Seq

_HOLDS = "p.from_seq <= $at AND $at < p.to_seq"
_EMBEDDERS = (
    "MATCH (e:Embedder) USING INDEX e:Embedder(space, id) WHERE e.space = $space AND e.id IS NOT NULL"
    " RETURN e.id, e.name, e.dimensions, e.revision ORDER BY e.id"
)
_ALIKE = (
    "MATCH (p:Embedded) USING INDEX p:Embedded(space, embedder, kind, number)"
    f" WHERE p.space = $space AND p.embedder = $embedder AND p.kind = $kind AND p.number IS NOT NULL AND {_HOLDS}"
    " AND p.revision <= $revision AND ($types IS NULL OR p.type IN $types) AND p.vector IS NOT NULL"
    " WITH p.number AS number, 2 * vector.similarity.cosine(p.vector, $wanted) - 1 AS cosine WHERE cosine > 0"
    " WITH number, CASE WHEN cosine > 1 THEN 1.0 ELSE cosine END AS worth"
)
_EVERY_ALIKE = f"{_ALIKE} WHERE worth >= $least RETURN number, worth ORDER BY worth DESC, number"
_WAITING = "MATCH (p:Waiting) USING INDEX p:Waiting(space, from_seq) WHERE p.space = $space"
_OF_OTHERS = (
    "MATCH (p:Embedded) USING INDEX p:Embedded(space, embedder, kind, number)"
    " WHERE p.space = $space AND p.embedder IN $others AND p.kind IS NOT NULL AND p.number IS NOT NULL"
)
_OF_KIND = "($kind IS NULL OR p.kind = $kind)"
_FRESHNESS = (
    f"CALL () {{ {_WAITING} AND {_HOLDS} AND {_OF_KIND} RETURN count(p) AS never, min(p.from_seq) AS first_never }}"
    f" CALL () {{ {_OF_OTHERS} AND {_HOLDS} AND {_OF_KIND} RETURN count(p) AS others, min(p.from_seq) AS first_other }}"
    " CALL () { MATCH (p:Embedded) USING INDEX p:Embedded(space, embedder, kind, number)"
    " WHERE p.space = $space AND p.embedder = $embedder AND p.kind IS NOT NULL AND p.number IS NOT NULL"
    f" AND {_HOLDS} AND {_OF_KIND}"
    " WITH p LIMIT 1 RETURN count(p) AS done }"
    " RETURN never + others, first_never, first_other, done"
)


def _unindexed(holds: str) -> str:
    """A statement of texts without a vector of the embedder, among those that hold or that held."""
    return (
        f"CALL () {{ {_WAITING} AND p.from_seq IS NOT NULL AND p.to_seq {holds} {FOREVER}"
        " RETURN p, 0 AS by ORDER BY p.space, p.from_seq LIMIT $limit"
        " UNION ALL UNWIND $others AS by CALL (by) {"
        " MATCH (p:Embedded) USING INDEX p:Embedded(space, embedder, kind, number)"
        " WHERE p.space = $space AND p.embedder = by AND p.kind IS NOT NULL AND p.number IS NOT NULL"
        f" AND p.to_seq {holds} {FOREVER}"
        " RETURN p LIMIT $limit } RETURN p, by }"
        " WITH p, by ORDER BY by, p.from_seq, p.kind, p.number LIMIT $limit"
        " MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
        " WHERE v.space = $space AND v.id = p.kind + '-' + toString(p.number) AND v.from_seq = p.from_seq"
        " RETURN v.from_seq, v.body, by ORDER BY by, v.from_seq, p.kind, p.number"
    )


_UNINDEXED = _unindexed("="), _unindexed("<")
_EMBEDDER = (
    "MERGE (e:Embedder {space: $space, id: $embedder})"
    " SET e.name = $name, e.dimensions = $dimensions, e.revision = $revision FINISH"
)
_PLACED = (
    "MATCH (p:Passage) USING INDEX p:Passage(space, kind, number, from_seq)"
    " WHERE p.space = $space AND p.kind = row.kind AND p.number = row.number AND p.from_seq = row.since"
    " SET p:Embedded, p.embedder = $embedder, p.revision = $revision REMOVE p:Waiting"
)
_KEEP = (
    f"UNWIND $vectors AS row {_PLACED} WITH p, row"
    " CALL db.create.setNodeVectorProperty(p, 'vector', row.vector) RETURN count(*)"
)
_KEEP_NONE = f"UNWIND $places AS row {_PLACED}, p.vector FINISH"

_ANY = 1 << 62


@dataclass(frozen=True, slots=True)
class Embedder:
    """An embedder as a Space knows it: one per name and size of vector, the newest one in force."""

    id: int
    name: str
    dimensions: int
    revision: int


class Embedders:
    """Every embedder that has put vectors into a Space."""

    def __init__(self, run: Run) -> None:
        self.all = [Embedder(*row) for row in run(_EMBEDDERS)]

    def named(self, name: str) -> Embedder | None:
        """The one in force under a name."""
        return next((one for one in reversed(self.all) if one.name == name), None)

    def others(self, than: Embedder | None) -> list[int]:
        return [one.id for one in self.all if one != than]

    @property
    def revision(self) -> int:
        return max((one.revision for one in self.all), default=0)


def search(run: Run, load: Load, query: SearchQuery, at: Seq) -> list[Hit]:
    """Best hits first, ties by ascending number; the score is the cosine, and none below or at 0 is a hit."""
    likeness = query.likeness
    if likeness is None:
        raise ValueError("a semantic search needs a vector to compare with")
    embedder = Embedders(run).named(likeness.embedder)
    wanted = _direction(likeness.vector)
    if embedder is None or wanted is None or query.limit <= 0:
        return []
    if embedder.dimensions not in (0, len(wanted)):
        raise errors.SearchIndexUnavailable(
            "The embedder changed and the vectors in store are being made anew.", after_ms=1_000
        )
    parameters: dict[str, Any] = {
        "at": at,
        "embedder": embedder.id,
        "kind": texts_of(query.kind).letter,
        "revision": _ANY if likeness.revision is None else likeness.revision,
        "types": None if query.lineages is None else indexed_all(query.lineages),
        "wanted": wanted,
        "least": query.threshold,
        "limit": query.limit,
    }
    if query.visible is None:
        hits = run(f"{_ALIKE}{best(query)} RETURN id, worth", **parameters)
        return [Hit(element_id, worth) for element_id, worth in hits]
    letter = texts_of(query.kind).letter
    found = [(f"{letter}-{number}", worth) for number, worth in run(_EVERY_ALIKE, **parameters)]
    return visible_hits(Sight(load, query.visible), query, found, claims_about(run, at))


def freshness(run: Run, name: str, kind: Kind | None, seq: Seq, at: Seq) -> Freshness:
    """How far the vectors of an embedder follow the texts of a kind, or of all, as of `seq`."""
    embedders = Embedders(run)
    embedder = embedders.named(name)
    [(pending, first_never, first_other, done)] = run(
        _FRESHNESS,
        at=at,
        embedder=-1 if embedder is None else embedder.id,
        others=embedders.others(embedder),
        kind=None if kind is None else texts_of(kind).letter,
    )
    first = min((one for one in (first_never, first_other) if one is not None), default=seq + 1)
    return Freshness(first - 1, pending, not done, embedders.revision)


def unindexed(run: Run, name: str, limit: int) -> list[Passage]:
    """Texts without a vector of this embedder: what holds and then the past, in each first what never had one."""
    embedders = Embedders(run)
    others = embedders.others(embedders.named(name))
    found: list[Passage] = []
    for statement in _UNINDEXED:
        if len(found) < limit:
            for since, body, _ in run(statement, others=others, limit=limit - len(found)):
                element = element_of(body)
                found.append(Passage(element.id, since, rows.text(element)))
    return found


def index(run: Run, name: str, vectors: Sequence[tuple[Passage, Sequence[float] | None]]) -> None:
    """Keep vectors where their texts still are, in the present or the past."""
    directions = [(passage, None if vector is None else _direction(vector)) for passage, vector in vectors]
    sizes = {len(vector) for _, vector in vectors if vector is not None}
    if len(sizes) > 1:
        raise ValueError("vectors of one embedder have one size")
    embedder = _grown(run, name, sizes.pop() if sizes else 0)
    common = {"embedder": embedder.id, "revision": embedder.revision}
    kept: list[dict[str, Any]] = []
    none: list[dict[str, Any]] = []
    for passage, vector in directions:
        row = {**place(passage.id), "since": passage.since}
        if vector is None:
            none.append(row)
        else:
            kept.append(row | {"vector": vector})
    if kept:
        run(_KEEP, vectors=kept, **common)
    if none:
        run(_KEEP_NONE, places=none, **common)


def _grown(run: Run, name: str, dimensions: int) -> Embedder:
    """An embedder with vectors of this size, under the next revision; a new one for a new size."""
    embedders = Embedders(run)
    known = embedders.named(name)
    if known is None or (dimensions and known.dimensions not in (0, dimensions)):
        known = Embedder(max((one.id for one in embedders.all), default=0) + 1, name, 0, 0)
    grown = Embedder(known.id, name, max(known.dimensions, dimensions), embedders.revision + 1)
    run(_EMBEDDER, embedder=grown.id, name=name, dimensions=grown.dimensions, revision=grown.revision)
    return grown


def _direction(vector: Sequence[float]) -> list[float] | None:
    """A vector as it is kept, None for one without direction; ValueError for a component that is no finite number.

    Its largest component becomes 1, so that none is lost in 32 bits.
    """
    if not isfinite(sum(vector)):
        raise ValueError("a vector has finite components")
    largest = max(map(abs, vector), default=0.0)
    return None if largest == 0 else [component / largest for component in vector]
