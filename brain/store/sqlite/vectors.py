"""Semantic search: exact cosines over the vectors that hold at a snapshot, and how far those follow the texts.

Vectors are rows of a plain table, eight bits a component. A vector's own scale does not change a cosine, so each fills
the eight bits by itself; `norm` is the square of its length in them. The distance is the one function of sqlite-vec
that its build makes fast for bytes, and the cosine follows from it: 2 a·b = |a|² + |b|² - |a - b|².
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from operator import mul
from typing import Any

from brain import errors
from brain.store.base import Freshness, Hit, Kind, Passage, SearchQuery
from brain.store.search import texts_of
from brain.store.sight import Load, Sight, visible_hits
from brain.store.sqlite.candidates import Run, claims_about, of_assertions
from brain.store.sqlite.conditions import among_symbols
from brain.store.sqlite.keys import end_of, first_of, id_of, known_eid
from brain.store.sqlite.passages import Write
from brain.times import Seq

_LEVELS = 127
_EVERY_EID = {"first": 0, "end": 1 << 62}
_LIKENESS = "(norm + :norm - distance * distance) / (2 * sqrt(norm * :norm))"


@dataclass(frozen=True, slots=True)
class Embedder:
    """An embedder as a file knows it: one row per name and size of vector, the newest one in force."""

    id: int
    dimensions: int


NOBODY = Embedder(-1, 0)
"""An embedder that this file has no vectors of."""


def packed(vector: Sequence[float]) -> tuple[int, bytes]:
    """A vector as its norm and bytes; a vector without direction is (0, b"").

    raises  ValueError for a component that is no finite number
    """
    if not isfinite(sum(vector)):
        raise ValueError("a vector has finite components")
    largest = max(map(abs, vector), default=0.0)
    if largest == 0:
        return 0, b""
    scale = _LEVELS / largest
    levels = array("b", [round(component * scale) for component in vector])
    return sum(map(mul, levels, levels)), levels.tobytes()


def search(run: Run, load: Load, query: SearchQuery, at: Seq | None) -> list[Hit]:
    """Best hits first, ties by ascending number; the score is the cosine, and none below or at 0 is a hit.

    at  the sequence to search as of, None for the head
    """
    likeness = query.likeness
    if likeness is None:
        raise ValueError("a semantic search needs a vector to compare with")
    embedder = embedder_named(run, likeness.embedder)
    norm, body = packed(likeness.vector)
    if embedder is NOBODY or norm == 0 or query.limit <= 0:
        return []
    if embedder.dimensions not in (0, len(likeness.vector)):
        raise errors.SearchIndexUnavailable(
            "The embedder changed and the vectors in store are being made anew.", after_ms=1_000
        )
    bindings: dict[str, Any] = {
        **_range(query.kind),
        "at": at,
        "embedder": embedder.id,
        "revision": _ANY if likeness.revision is None else likeness.revision,
        "norm": norm,
        "wanted": body,
        "least": query.threshold,
        "limit": query.limit if query.visible is None else -1,
    }
    statement = _statement(query, at, bindings)
    if query.kind is Kind.ASSERTION and query.visible is None:
        statement = of_assertions(statement, at)
    found = run(f"{statement} ORDER BY worth DESC, eid LIMIT :limit", bindings)
    if query.visible is not None:
        seen = [(id_of(eid), worth) for eid, worth in found]
        return visible_hits(Sight(load, query.visible), query, seen, claims_about(run, at))
    return [Hit(id_of(eid), worth) for eid, worth in found]


def embedder_named(run: Run, name: str) -> Embedder:
    """The embedder of this name, or NOBODY."""
    found = run("SELECT id, dimensions FROM embedder WHERE name = :name ORDER BY id DESC LIMIT 1", {"name": name})
    return Embedder(*found[0]) if found else NOBODY


def freshness(run: Run, name: str, kind: Kind | None, seq: Seq, at: Seq | None) -> Freshness:
    """How far the vectors of an embedder follow the texts of a kind, or of all, as of `seq`."""
    bindings = {**(_EVERY_EID if kind is None else _range(kind)), "embedder": embedder_named(run, name).id, "at": at}
    tables = [("passage", "" if at is None else " AND from_seq <= :at")]
    if at is not None:
        tables.append(("passage_past", " AND from_seq <= :at AND to_seq > :at"))
    waiting = " UNION ALL ".join(
        f"SELECT from_seq FROM {table} INDEXED BY {table}_embedder WHERE embedder {than} :embedder{_IN_RANGE}{when}"
        for table, when in tables
        for than in ("<", ">")
    )
    done = " UNION ALL ".join(
        f"SELECT 1 FROM {table} INDEXED BY {table}_embedder WHERE embedder = :embedder{_IN_RANGE}{when}"
        for table, when in tables
    )
    [(first, pending)] = run(f"SELECT min(from_seq), count(*) FROM ({waiting})", bindings)
    [(has_any,)] = run(f"SELECT EXISTS ({done})", bindings)
    [(revision,)] = run("SELECT coalesce(max(revision), 0) FROM embedder", {})
    return Freshness(seq if first is None else first - 1, pending, not has_any, revision)


def unindexed(run: Run, name: str, limit: int) -> list[tuple[int, Seq]]:
    """Texts without a vector of this embedder, by their element and first sequence: never embedded ones first, then
    those of other embedders, then the past."""
    bindings = {"embedder": embedder_named(run, name).id, "limit": limit}
    found: list[tuple[int, Seq]] = []
    for table in ("passage", "passage_past"):
        for than in ("<", ">"):
            bindings["limit"] = limit - len(found)
            if bindings["limit"] > 0:
                rows = run(
                    f"SELECT eid, from_seq FROM {table} INDEXED BY {table}_embedder WHERE embedder {than} :embedder"
                    " ORDER BY embedder, from_seq LIMIT :limit",
                    bindings,
                )
                found += [(eid, since) for eid, since in rows]
    return found


def index(run: Run, write: Write, name: str, vectors: Sequence[tuple[Passage, Sequence[float] | None]]) -> None:
    """Keep vectors where their texts still are, in the present or the past."""
    sizes = {len(vector) for _, vector in vectors if vector is not None}
    if len(sizes) > 1:
        raise ValueError("vectors of one embedder have one size")
    embedder = _grown(run, write, name, sizes.pop() if sizes else 0)
    [(revision,)] = run("SELECT max(revision) FROM embedder", {})
    rows = [
        (embedder, revision, *packed(vector or ()), known_eid(passage.id), passage.since) for passage, vector in vectors
    ]
    marks = [(embedder, eid, since) for *_, eid, since in rows]
    for table, until, place in (("passage", "", ""), ("passage_past", "_past", "to_seq, ")):
        write(
            f"INSERT OR REPLACE INTO vector{until} ({place}eid, from_seq, type, embedder, revision, norm, body)"
            f" SELECT {place}eid, from_seq, type, ?, ?, ?, ? FROM {table} WHERE eid = ? AND from_seq = ?",
            rows,
        )
        write(f"UPDATE {table} SET embedder = ? WHERE eid = ? AND from_seq = ?", marks)


def _grown(run: Run, write: Write, name: str, dimensions: int) -> int:
    """The row of an embedder with vectors of this size, under the next revision; a new row for a new size."""
    embedder = embedder_named(run, name)
    if embedder is NOBODY or (dimensions and embedder.dimensions not in (0, dimensions)):
        write("INSERT INTO embedder (name, dimensions, revision) VALUES (?, 0, 0)", [(name,)])
        embedder = embedder_named(run, name)
    write(
        "UPDATE embedder SET dimensions = max(dimensions, ?), revision = 1 + (SELECT max(revision) FROM embedder)"
        " WHERE id = ?",
        [(dimensions, embedder.id)],
    )
    return embedder.id


def _statement(query: SearchQuery, at: Seq | None, bindings: dict[str, Any]) -> str:
    """`(eid, worth)` of every vector that is like the wanted one."""
    where = f"embedder = :embedder AND revision <= :revision AND norm > 0{_IN_RANGE}"
    index = ""
    if query.lineages is not None:
        where += " AND " + among_symbols("type", query.lineages, "types", bindings)
        index = "_type"
    tables = [f"vector {f'INDEXED BY vector{index}' if index else 'NOT INDEXED'} WHERE {where}"]
    if at is not None:
        tables[0] += " AND from_seq <= :at"
        tables.append(
            f"vector_past INDEXED BY vector_past{index or '_eid'} WHERE {where} AND from_seq <= :at AND to_seq > :at"
        )
    compared = "SELECT eid, norm, vec_distance_l2(vec_int8(body), vec_int8(:wanted)) AS distance FROM"
    distances = " UNION ALL ".join(f"{compared} {table}" for table in tables)
    # LIMIT keeps the inner statement whole; merged with the outer one it would work out each distance several times.
    return (
        f"SELECT eid, worth FROM (SELECT eid, min({_LIKENESS}, 1.0) AS worth FROM ({distances} LIMIT -1))"
        " WHERE worth > 0 AND worth >= :least"
    )


_ANY = 1 << 62
_IN_RANGE = " AND eid >= :first AND eid < :end"


def _range(kind: Kind) -> dict[str, Any]:
    looked_at = texts_of(kind)
    return {"first": first_of(looked_at), "end": end_of(looked_at)}
