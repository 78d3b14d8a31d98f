"""A Space in Neo4j whose texts were analysed by another release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from brain.store.base import Hit, Kind, Likeness, SearchMode, SearchQuery, SpaceStore, StoreFormatError
from brain.store.embedding import index_pending
from brain.store.hashing import HashEmbedder
from brain.store.neo4j import Neo4jStore
from brain.store.search import ANALYSIS
from tests.store.building import KNOWS, assertion, concept, erase, proposition, stub, write
from tests.store.neo4j_service import fresh_store

EMBEDDER = HashEmbedder(64)


@pytest.fixture
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        yield opened


def analysed_as(store: Neo4jStore, analysis: int, *, spoil: bool = False) -> None:
    """Leave the Space as a release of another analysis would have; with `spoil`, one that was killed midway."""
    of_space = "MATCH (s:Space) WHERE s.deployment = $deployment AND s.id = 'demo'"
    named = {"deployment": store._deployment, "analysis": analysis}
    if spoil:
        store._database.run(
            f"{of_space} MATCH (p:Posting) WHERE p.space = s.space AND p.number % 2 = 1 DELETE p", named
        )
    store._database.run(f"{of_space} SET s.analysis = $analysis", named)


def hits(space: SpaceStore, mode: SearchMode = SearchMode.KEYWORD) -> list[list[Hit]]:
    likeness = Likeness(EMBEDDER.name, tuple(EMBEDDER.embed(["alice tea"])[0]))
    found = []
    for seq in range(space.head() + 1):
        with space.snapshot(seq) as snapshot:
            for kind in (Kind.CONCEPT, Kind.PROPOSITION, Kind.ASSERTION):
                query = SearchQuery(kind, "alice tea", None, 10, mode=mode, likeness=likeness)
                found.append(snapshot.search(query))
    return found


@pytest.mark.requirement("BR-STORE-019")
def test_words_and_vectors_are_made_anew_for_every_sequence(store: Neo4jStore) -> None:
    space = store.create("demo", now_ms=0)
    write(space, concept("C-1", name="Alice"), concept("C-2", name="tea"), proposition("P-1", "C-1", KNOWS, "tea"))
    write(space, concept("C-1", name="Alicia", version=2), assertion("A-1", "P-1", "C-1"))
    write(space, concept("C-3", name="Alice and tea"), concept("C-2", name="tea", version=2, attributes={"n": 1}))
    erase(space, stub(concept("C-3")))
    while index_pending(space, EMBEDDER).done:
        pass
    expected = hits(space), hits(space, SearchMode.SEMANTIC)
    assert any(expected[0])
    analysed_as(store, ANALYSIS - 1, spoil=True)
    again = store.open("demo")
    assert hits(again) == expected[0]
    with again.snapshot() as snapshot:
        assert snapshot.freshness(EMBEDDER.name).is_empty
    while index_pending(again, EMBEDDER).done:
        pass
    assert hits(again, SearchMode.SEMANTIC) == expected[1]
    assert write(again, concept("C-1", name="Alice", version=3)) == 5
    assert [hit.id for hit in hits(store.open("demo"))[-3]] == ["C-1", "C-2"]


def test_a_space_of_a_newer_analysis_is_refused(store: Neo4jStore) -> None:
    space = store.create("demo", now_ms=0)
    analysed_as(store, ANALYSIS + 1)
    with pytest.raises(StoreFormatError):
        store.open("demo")
    with pytest.raises(StoreFormatError):
        write(space, concept("C-1", name="Alice"))
