"""What every store promises of vectors: semantic and hybrid search, and how far they follow the texts."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain import errors
from brain.store import rows
from brain.store.base import (
    Element,
    Freshness,
    Hit,
    Kind,
    Likeness,
    Passage,
    SearchMode,
    SearchQuery,
    Snapshot,
    SpaceStore,
    Store,
    Transaction,
    element_number,
)
from brain.store.embedding import Embedder, index_pending
from brain.store.hashing import HashEmbedder
from brain.store.search import LENGTH_WEIGHT, SATURATION, query_terms, rarity, score, terms
from tests.store.building import (
    KNOWS,
    PERSON,
    PLACE,
    activity,
    assertion,
    concept,
    erase,
    evidence,
    proposition,
    stub,
    write,
)

EMBEDDER = HashEmbedder(128)
SEMANTIC, HYBRID = SearchMode.SEMANTIC, SearchMode.HYBRID


class Other(HashEmbedder):
    """Another model: its vectors are of no use to the first one."""

    name = "other"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return super().embed([text[::-1] for text in texts])


def like(text: str, embedder: Embedder = EMBEDDER, revision: int | None = None) -> Likeness:
    return Likeness(embedder.name, tuple(embedder.embed([text])[0]), revision)


def index_all(transaction: Transaction, embedder: Embedder) -> None:
    """Index every waiting text within an open transaction."""
    waiting = transaction.unindexed(embedder.name, 1_000)
    vectors = embedder.embed([passage.text for passage in waiting])
    transaction.index(embedder.name, list(zip(waiting, vectors, strict=True)))


def indexed(space: SpaceStore, embedder: Embedder = EMBEDDER) -> None:
    while index_pending(space, embedder, 3).done:
        pass


def found(
    space: SpaceStore, text: str, kind: Kind = Kind.CONCEPT, *, seq: int | None = None, **how: object
) -> list[str]:
    query: dict[str, object] = {"lineages": None, "limit": 10, "mode": SEMANTIC, "likeness": like(text)} | how
    with space.snapshot(seq) as snapshot:
        return [hit.id for hit in snapshot.search(SearchQuery(kind, text, **query))]  # type: ignore[arg-type]


def fresh(space: SpaceStore, kind: Kind | None = None, embedder: Embedder = EMBEDDER) -> Freshness:
    with space.snapshot() as snapshot:
        return snapshot.freshness(embedder.name, kind)


class VectorContract:
    @pytest.mark.requirement("KI-CAP-008", "BR-STORE-019")
    def test_what_is_alike_is_found_the_most_alike_first(self, space: SpaceStore) -> None:
        write(
            space,
            concept("C-1", name="harbour at dawn"),
            concept("C-2", name="repairs bicycles"),
            concept("C-3", name="bicycle repair"),
            concept("C-4", name="bycicle repairs"),
            concept("C-5"),
        )
        indexed(space)
        assert found(space, "bicycle repair")[:3] == ["C-3", "C-2", "C-4"]
        assert found(space, "bicycel repare", limit=1) == ["C-3"]
        with space.snapshot() as snapshot:
            hits = snapshot.search(SearchQuery(Kind.CONCEPT, "", None, 10, 0.0, SEMANTIC, like("bicycle repair")))
        assert hits[0].score == pytest.approx(1.0)
        assert all(0 < hit.score <= 1 for hit in hits)
        assert hits == sorted(hits, key=lambda hit: (-hit.score, element_number(hit.id)))

    @pytest.mark.requirement("KI-META-018", "KI-META-021")
    def test_every_kind_and_type_is_searched_by_likeness(self, space: SpaceStore) -> None:
        write(
            space,
            concept("C-1", PERSON, name="Paris"),
            concept("C-2", PLACE, name="Paris"),
            proposition("P-1", "C-1", KNOWS, "Paris"),
            assertion("A-1", "P-1", "C-1"),
            assertion("A-2", "P-1", "C-1", state="archived"),
            evidence("E-1", "in Paris"),
            activity("X-1", "paris_trip"),
        )
        indexed(space)
        kinds = {kind: found(space, "paris", kind, threshold=0.4) for kind in Kind}
        assert {kind: ids for kind, ids in kinds.items() if kind is not Kind.CONCEPT} == {
            Kind.PROPOSITION: ["P-1"],
            Kind.ASSERTION: ["A-1"],
            Kind.EVIDENCE: ["E-1"],
            Kind.ACTIVITY: ["X-1"],
        }
        assert kinds[Kind.CONCEPT] == ["C-1", "C-2"]
        assert found(space, "paris", lineages=frozenset({PLACE})) == ["C-2"]
        assert found(space, "paris", lineages=frozenset({PLACE, PERSON, KNOWS})) == ["C-1", "C-2"]
        assert found(space, "paris", lineages=frozenset()) == []
        assert found(space, "paris", Kind.ASSERTION, lineages=frozenset({KNOWS})) == ["A-1"]
        assert found(space, "paris", Kind.ASSERTION, lineages=frozenset({PERSON})) == []

    @pytest.mark.requirement("KI-META-019")
    def test_threshold_and_limit_cut_from_below(self, space: SpaceStore) -> None:
        write(space, *(concept(f"C-{n}", name=name) for n, name in enumerate(("tea", "teapot", "team", "tea"), 1)))
        indexed(space)
        with space.snapshot() as snapshot:
            hits = snapshot.search(SearchQuery(Kind.CONCEPT, "tea", None, 10, 0.0, SEMANTIC, like("tea")))
            assert [hit.id for hit in hits][:2] == ["C-1", "C-4"]
            assert hits[0].score == hits[1].score
            for least in (0.0, hits[2].score, 1.0):
                for limit in (0, 1, 3, 10):
                    query = SearchQuery(Kind.CONCEPT, "tea", None, limit, least, SEMANTIC, like("tea"))
                    assert snapshot.search(query) == [hit for hit in hits if hit.score >= least][:limit]

    @pytest.mark.requirement("KI-CAP-009", "BR-STORE-019")
    def test_a_hybrid_search_puts_first_what_both_ways_find(self, space: SpaceStore) -> None:
        write(
            space,
            concept("C-1", name="the stove and the stove and the stove"),
            concept("C-2", name="stovepipes"),
            concept("C-3", name="stove pipe"),
            concept("C-4", name="harbour"),
        )
        indexed(space)
        words = {"mode": SearchMode.KEYWORD}
        assert found(space, "stove pipes", **words) == ["C-3", "C-1"]
        assert found(space, "stovepipe", **words) == ["C-2"]
        assert found(space, "stove pipe", mode=HYBRID)[0] == "C-3"
        assert set(found(space, "stovepipe", mode=HYBRID)) >= {"C-2", "C-3"}
        with space.snapshot() as snapshot:
            hits = snapshot.search(SearchQuery(Kind.CONCEPT, "stove pipe", None, 10, 0.0, HYBRID, like("stove pipe")))
            assert hits[0].score == 1.0
            for limit in range(5):
                query = SearchQuery(Kind.CONCEPT, "stove pipe", None, limit, 0.0, HYBRID, like("stove pipe"))
                assert snapshot.search(query) == hits[:limit]
            above = SearchQuery(Kind.CONCEPT, "stove pipe", None, 10, 0.6, HYBRID, like("stove pipe"))
            assert snapshot.search(above) == [hit for hit in hits if hit.score >= 0.6]

    @pytest.mark.requirement("KI-META-025", "KI-CAP-010")
    def test_freshness_says_up_to_where_texts_have_vectors(self, space: SpaceStore) -> None:
        assert fresh(space) == Freshness(0, 0, is_empty=True, revision=0)
        write(space, concept("C-1", name="Alice"))
        write(space, concept("C-2", name="Bob"), evidence("E-1", "hello"))
        write(space, concept("C-3"))
        assert fresh(space) == Freshness(0, 3, is_empty=True, revision=0)
        assert fresh(space, Kind.EVIDENCE) == Freshness(1, 1, is_empty=True, revision=0)
        assert fresh(space, Kind.ASSERTION) == Freshness(3, 0, is_empty=True, revision=0)
        assert index_pending(space, EMBEDDER, 1).done == 1
        assert fresh(space) == Freshness(1, 2, is_empty=False, revision=1)
        indexed(space)
        assert fresh(space) == Freshness(3, 0, is_empty=False, revision=2)
        write(space, concept("C-1", name="Alice", version=2, attributes={"age": 3}))
        assert fresh(space) == Freshness(4, 0, is_empty=False, revision=2)
        write(space, concept("C-1", name="Alicia", version=3))
        assert fresh(space) == Freshness(4, 1, is_empty=False, revision=2)
        assert "C-1" not in found(space, "alice")
        with space.snapshot(4) as snapshot:
            assert snapshot.freshness(EMBEDDER.name).pending == 0

    @pytest.mark.requirement("KI-META-028")
    @pytest.mark.parametrize("state", ["archived", "merged", "tombstoned", "purged"])
    def test_what_is_no_longer_active_is_gone_at_once(self, space: SpaceStore, state: str) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Alice"))
        indexed(space)
        write(space, concept("C-1", name="Alice", version=2, state=state))
        assert found(space, "alice") == ["C-2"]
        assert found(space, "alice", mode=HYBRID) == ["C-2"]

    @pytest.mark.requirement("KI-CAP-007")
    def test_the_past_keeps_its_vectors_and_gets_those_it_lacks(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))
        indexed(space)
        write(space, concept("C-1", name="Robert", version=2))
        write(space, concept("C-1", name="Yvonne", version=3))
        assert found(space, "alice", seq=1) == ["C-1"]
        assert found(space, "robert", seq=2) == []
        with space.snapshot(2) as snapshot:
            assert snapshot.freshness(EMBEDDER.name).pending == 1
            assert [(one.since, one.text) for one in snapshot.unindexed(EMBEDDER.name, 9)] == [
                (3, "Yvonne"),
                (2, "Robert"),
            ]
        indexed(space)
        assert found(space, "robert", seq=2) == ["C-1"]
        assert [found(space, name, threshold=0.9) for name in ("alice", "robert", "yvonne")] == [[], [], ["C-1"]]

    @pytest.mark.requirement("BR-STORE-015")
    def test_an_erasure_takes_vectors_along_present_past_and_late(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Alice"))
        indexed(space)
        write(space, concept("C-1", name="Alicia", version=2))
        with space.snapshot() as snapshot:
            waiting = snapshot.unindexed(EMBEDDER.name, 9)
        erase(space, stub(concept("C-1", version=2)))
        with space.transaction() as transaction:
            transaction.index(EMBEDDER.name, [(one, EMBEDDER.embed([one.text])[0]) for one in waiting])
        for seq in (1, 2, 3):
            assert found(space, "alice", seq=seq) == ["C-2"]
            assert found(space, "alicia", seq=seq, threshold=0.9) == []
        assert fresh(space) == Freshness(3, 0, is_empty=False, revision=2)

    def test_a_vector_that_comes_late_belongs_to_the_text_it_was_made_of(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))
        with space.snapshot() as snapshot:
            [waiting] = snapshot.unindexed(EMBEDDER.name, 9)
        write(space, concept("C-1", name="Robert", version=2))
        with space.transaction() as transaction:
            transaction.index(EMBEDDER.name, [(waiting, EMBEDDER.embed(["Alice"])[0])])
        assert found(space, "alice") == []
        assert found(space, "alice", seq=1) == ["C-1"]
        assert fresh(space).pending == 1

    @pytest.mark.requirement("KI-CAP-008")
    def test_another_model_starts_over_and_loses_nothing(self, space: SpaceStore) -> None:
        other = Other(128)
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Bob"))
        indexed(space)
        assert fresh(space, embedder=other) == Freshness(0, 2, is_empty=True, revision=1)
        write(space, concept("C-3", name="Alina"))
        assert index_pending(space, other, 1).done == 1  # what no model has seen comes first
        assert found(space, "alina", likeness=like("Alina", other)) == ["C-3"]
        indexed(space, other)
        assert fresh(space, embedder=other).pending == 0
        assert found(space, "bob", likeness=like("bob", other), threshold=0.9) == ["C-2"]
        assert found(space, "bob") == []
        assert fresh(space).pending == 3
        indexed(space)
        assert found(space, "bob", threshold=0.9) == ["C-2"]

    def test_vectors_of_another_size_are_of_another_model(self, space: SpaceStore) -> None:
        wider = HashEmbedder(256)
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Bob"))
        indexed(space)
        with pytest.raises(errors.SearchIndexUnavailable):
            found(space, "alice", likeness=like("alice", wider))
        with space.transaction() as transaction:
            bob = Passage("C-2", 1, "Bob")
            transaction.index(wider.name, [(bob, wider.embed(["Bob"])[0])])
        assert fresh(space).pending == 1
        assert found(space, "bob", likeness=like("bob", wider)) == ["C-2"]
        with pytest.raises(errors.SearchIndexUnavailable):
            found(space, "bob")

    @pytest.mark.parametrize("vector", [None, [0.0] * 128, []])
    def test_a_text_without_a_direction_is_found_by_nothing_and_waits_no_longer(
        self, space: SpaceStore, vector: list[float] | None
    ) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Alice"))
        with space.transaction() as transaction:
            first, second = transaction.unindexed(EMBEDDER.name, 9)
            transaction.index(EMBEDDER.name, [(first, vector)])
            transaction.index(EMBEDDER.name, [(second, EMBEDDER.embed(["Alice"])[0])])
        assert fresh(space).pending == 0
        assert found(space, "alice") == ["C-2"]
        assert found(space, "alice", likeness=Likeness(EMBEDDER.name, (0.0,) * 128)) == []

    def test_nothing_is_like_anything_before_there_are_vectors(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))
        assert found(space, "alice") == []
        assert found(space, "alice", likeness=like("alice", Other(128))) == []
        with pytest.raises(ValueError, match="vector"):
            found(space, "alice", likeness=None)

    def test_a_traversal_sees_the_vectors_it_began_with(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Alice Bell"))
        index_pending(space, EMBEDDER, 1)
        begun = fresh(space).revision
        indexed(space)
        assert found(space, "alice") == ["C-1", "C-2"]
        assert found(space, "alice", likeness=like("alice", revision=begun)) == ["C-1"]

    @pytest.mark.parametrize("vector", [[float("nan")] * 128, [float("inf")] + [0.0] * 127])
    def test_numbers_that_are_none_are_refused(self, space: SpaceStore, vector: list[float]) -> None:
        write(space, concept("C-1", name="Alice"))
        with pytest.raises(ValueError, match="finite"), space.transaction() as transaction:
            transaction.index(EMBEDDER.name, [(Passage("C-1", 1, "Alice"), vector)])
        assert fresh(space).pending == 1

    @pytest.mark.requirement("KI-META-019", "KI-META-027", "KI-CAP-007", "BR-STORE-019")
    # One process may run it for each store; the examples of one are good for the other.
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(history=st.deferred(lambda: HISTORIES))
    def test_every_search_of_every_day_is_a_look_at_all_texts_of_that_day(
        self, store: Store, history: list[object]
    ) -> None:
        space_id = uuid.uuid4().hex
        space = store.create(space_id, now_ms=0)
        states: list[dict[str, Element]] = [{}]
        for step in history:
            if isinstance(step, int):
                index_pending(space, EMBEDDER if step else Other(128), 2)
            elif isinstance(step, list):
                write(space, *step)
                states.append(states[-1] | {one.id: one for one in step})
            elif step in states[-1]:
                left = stub(states[-1][str(step)])
                erase(space, left)
                states.append(dict(states[-1]))
                for state in states:
                    if left.id in state:
                        state[left.id] = left
        indexed(space)
        for seq, state in enumerate(states):
            with space.snapshot(seq) as snapshot:
                assert snapshot.freshness(EMBEDDER.name).pending == 0
                check(snapshot, state)
        with space.snapshot() as snapshot:
            check(snapshot, states[-1])
        store.delete(space_id)


# --- a history of texts, and the obvious search of it ---------------------------------------------------------------

WORDS = ("tea", "teas", "green tea", "Grün", "coffee", "coffee and tea", "", "茶")
QUERIES = ("tea", "green coffee", "茶", "cofee")
names = st.sampled_from(WORDS)
states = st.sampled_from(["active", "active", "active", "archived"])
puts = st.lists(
    st.builds(
        lambda n, lineage, name, state: concept(f"C-{n}", lineage, name=name, state=state),
        st.integers(1, 4),
        st.sampled_from([PERSON, PLACE]),
        names,
        states,
    )
    | st.builds(
        lambda n, name, state: proposition(f"P-{n}", "C-1", KNOWS, name, state=state), st.integers(1, 2), names, states
    )
    | st.builds(
        lambda n, about, state: assertion(f"A-{n}", f"P-{about}", "C-1", state=state),
        st.integers(1, 3),
        st.integers(1, 2),
        states,
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.id,
)
HISTORIES = st.lists(
    puts | puts | puts | st.integers(0, 1) | st.sampled_from(["C-1", "C-2", "P-1"]), min_size=1, max_size=10
)


@dataclass(frozen=True)
class Text:
    owner: Element
    text: str


def check(snapshot: Snapshot, state: dict[str, Element]) -> None:
    for kind in (Kind.CONCEPT, Kind.PROPOSITION, Kind.ASSERTION):
        for lineages in (None, frozenset({PLACE, KNOWS})):
            for text in QUERIES:
                asked = SearchQuery(kind, text, lineages, 10)
                same(snapshot.search(asked), by_words(state, asked), 1e-9)
                asked = SearchQuery(kind, text, lineages, 10, 0.0, SEMANTIC, like(text))
                same(snapshot.search(asked), by_likeness(state, asked), 0.02)


def same(hits: list[Hit], expected: dict[str, float], tolerance: float) -> None:
    """The same hits with the same scores, but for those whose score is next to nothing."""
    assert hits == sorted(hits, key=lambda hit: (-hit.score, element_number(hit.id)))
    scores = {hit.id: hit.score for hit in hits}
    for element_id in scores.keys() | {one for one, worth in expected.items() if worth > tolerance}:
        assert scores.get(element_id, 0.0) == pytest.approx(expected.get(element_id, 0.0), abs=tolerance)


def texts_in(state: dict[str, Element], kind: Kind) -> list[Text]:
    looked_at = Kind.PROPOSITION if kind is Kind.ASSERTION else kind
    return [
        Text(one, text)
        for one in state.values()
        if one.kind is looked_at and one.state == "active" and (text := rows.text(one))
    ]


def spread(state: dict[str, Element], asked: SearchQuery, worth: dict[str, float]) -> dict[str, float]:
    """Scores of owners of texts as scores of what was asked for."""
    if asked.kind is not Kind.ASSERTION:
        return worth
    return {
        one.id: worth[about]
        for one in state.values()
        if one.kind is Kind.ASSERTION and one.state == "active" and (about := one.body["proposition"]["id"]) in worth
    }


def wanted(one: Text, asked: SearchQuery) -> bool:
    return asked.lineages is None or rows.columns(one.owner).type in asked.lineages


def by_words(state: dict[str, Element], asked: SearchQuery) -> dict[str, float]:
    texts = {one.owner.id: (one, terms(one.text)) for one in texts_in(state, asked.kind)}
    mean = sum(len(held) for _, held in texts.values()) / max(len(texts), 1)
    worth: dict[str, float] = {}
    for term in query_terms(asked.text):
        holders = sum(term in held for _, held in texts.values())
        for element_id, (one, held) in texts.items():
            times = held.count(term)
            if times and wanted(one, asked):
                length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(held) / mean
                gain = rarity(len(texts), holders) * (SATURATION + 1) * times / (times + SATURATION * length)
                worth[element_id] = worth.get(element_id, 0.0) + gain
    return spread(state, asked, {element_id: score(sum_) for element_id, sum_ in worth.items()})


def by_likeness(state: dict[str, Element], asked: SearchQuery) -> dict[str, float]:
    [target] = EMBEDDER.embed([asked.text])
    worth = {
        one.owner.id: cosine(target, EMBEDDER.embed([one.text])[0])
        for one in texts_in(state, asked.kind)
        if wanted(one, asked)
    }
    return spread(state, asked, worth)


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    length = sqrt(sum(x * x for x in a)) * sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else 0.0
