"""Taking an element's content out of every commit: its versions become its stub, its words and vectors are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brain.store import rows
from brain.store.base import Element
from brain.store.neo4j import flush, passages, versions
from brain.store.neo4j.changes import relationship
from brain.store.neo4j.connection import Row
from brain.times import Seq

Run = Callable[[str, Mapping[str, Any]], Sequence[Row]]

_HISTORY = (
    "MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id IN $ids AND v.from_seq IS NOT NULL RETURN v.id, v.from_seq, v.body"
)
_REWRITE = (
    "UNWIND $stubs AS row MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = row.id AND v.from_seq IS NOT NULL SET v += row.stored FINISH"
)
_FORGET_EDGES = (
    "UNWIND $ids AS id MATCH (e:Element) USING INDEX e:Element(space, id) WHERE e.space = $space AND e.id = id"
    " MATCH (e)-[r]->() DELETE r FINISH"
)
_FORGET_PASSAGES = (
    "UNWIND $places AS row MATCH (p:Passage) USING INDEX p:Passage(space, kind, number, from_seq)"
    " WHERE p.space = $space AND p.kind = row.kind AND p.number = row.number AND p.from_seq IS NOT NULL"
    " DETACH DELETE p FINISH"
)
_FORGET_POSTINGS = (
    "UNWIND $postings AS row MATCH (p:Posting) USING INDEX p:Posting(space, word, number)"
    " WHERE p.space = $space AND p.word = row.word AND p.number = row.number DELETE p FINISH"
)
_AS_IF_ALWAYS = (
    f"{flush.EDGES} CALL () {{ UNWIND $nodes AS row CREATE (n:$(row.labels)) SET n = row.properties }} FINISH"
)


def erase(run: Run, space: str, stubs: Sequence[Element]) -> None:
    """Erase elements whose stubs have been sent as their newest versions."""
    ids = [stub.id for stub in stubs]
    first: dict[str, Seq] = {}
    postings: dict[tuple[str, int], dict[str, Any]] = {}
    for element_id, since, body in run(_HISTORY, {"space": space, "ids": ids}):
        first[element_id] = min(since, first.get(element_id, since))
        by = passages.found_by(versions.element_of(body))
        if by is not None:
            postings |= {(row["word"], row["number"]): row for row in passages.gone(element_id, by)}
    run(_REWRITE, {"space": space, "stubs": [{"id": stub.id, "stored": versions.stored(stub)} for stub in stubs]})
    # References are content: the past keeps those the stub still has, as if it had always been the stub.
    run(_FORGET_EDGES, {"space": space, "ids": ids})
    run(_FORGET_PASSAGES, {"space": space, "places": [passages.place(element_id) for element_id in ids]})
    run(_FORGET_POSTINGS, {"space": space, "postings": list(postings.values())})
    edges, nodes = [], []
    for stub in stubs:
        edges += [relationship(edge, space, first[stub.id]) for edge in rows.edges(stub)]
        by = passages.found_by(stub)
        if by is not None:
            passage, found = passages.added(space, stub.id, by, first[stub.id])
            nodes.append({"labels": ["Passage", "Waiting"], "properties": passage})
            nodes += [{"labels": ["Posting"], "properties": posting} for posting in found]
    run(_AS_IF_ALWAYS, {"space": space, "edges": edges, "nodes": nodes})
