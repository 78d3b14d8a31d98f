"""What every store promises of keyword search."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from brain.store.base import Element, Hit, Kind, SearchMode, SearchQuery, SpaceStore, Store
from tests.store.building import (
    KNOWS,
    LIVES_IN,
    MEMORY,
    PERSON,
    PLACE,
    activity,
    assertion,
    concept,
    erase,
    evidence,
    proposition,
    ref,
    stub,
    write,
)
from tests.store.contracts.vectors import EMBEDDER, index_all, like


def found(space: SpaceStore, text: str, kind: Kind = Kind.CONCEPT, **how: object) -> list[str]:
    query: dict[str, object] = {"lineages": None, "limit": 10} | how
    with space.snapshot() as snapshot:
        return [hit.id for hit in snapshot.search(SearchQuery(kind, text, **query))]  # type: ignore[arg-type]


class SearchContract:
    @pytest.mark.requirement("KI-META-020")
    def test_a_concept_is_found_by_its_names_key_and_attribute_texts(self, space: SpaceStore) -> None:
        attributes = {
            "description": "climbs mountains",
            "contact": {"mail": ["x@pine.example"]},
            "age": 41,
            "city": None,
        }
        write(space, concept("C-1", key="alice_l", name="Alice Larsen", aliases=["Lissy"], attributes=attributes))
        for word in ("Larsen", "lissy", "alice_l", "mountain", "pine", "x@pine.example"):
            assert found(space, word) == ["C-1"], word
        for word in ("description", "Person", "41", "C-1", "active", "memory"):
            assert found(space, word) == [], word

    @pytest.mark.requirement("KI-META-018", "KI-META-020")
    def test_every_kind_is_found_by_its_own_text(self, space: SpaceStore) -> None:
        write(
            space,
            proposition("P-1", "C-1", LIVES_IN, ref("C-3")),
            proposition("P-2", "C-1", f"{MEMORY}/locker_code", "AB-1234"),
            proposition("P-3", "C-1", f"{MEMORY}/age", 41),
            proposition("P-4", "C-1", f"{MEMORY}/retired", True),
            assertion("A-1", "P-2", "C-1"),
            assertion("A-2", "P-1", "C-1"),
            assertion("A-3", "P-1", "C-2", state="archived"),
            evidence("E-1", "We met in Oslo"),
            evidence("E-2", {"lines": ["nothing", {"said": "in Bergen"}], "n": 7}),
            evidence("E-3", None, payload={"status": "purged"}),
            activity("X-1", "tool_run"),
        )
        assert found(space, "live", Kind.PROPOSITION) == ["P-1"]
        assert found(space, "locker code", Kind.PROPOSITION) == ["P-2"]
        assert found(space, "41", Kind.PROPOSITION) == ["P-3"]
        assert found(space, "true", Kind.PROPOSITION) == []
        assert found(space, "AB-1234", Kind.ASSERTION) == ["A-1"]
        assert found(space, "lives", Kind.ASSERTION) == ["A-2"]
        assert found(space, "oslo", Kind.EVIDENCE) == ["E-1"]
        assert found(space, "bergen", Kind.EVIDENCE) == ["E-2"]
        assert found(space, "run", Kind.ACTIVITY) == ["X-1"]
        assert found(space, "oslo", Kind.CONCEPT) == found(space, "purged", Kind.EVIDENCE) == []

    @pytest.mark.requirement("KI-META-024")
    @pytest.mark.parametrize(
        ("name", "queries"),
        [
            ("Café Müller", ["cafe", "CAFÉ", "muller", "Cafe\u0301"]),
            ("Łódź Ærø", ["lodz", "aero"]),
            ("STRASSE", ["straße"]),
            ("ＦＵＬＬ width", ["full"]),
            ("記憶の管理", ["記憶", "管理", "記", "の"]),
            ("東京タワー", ["タワー", "ﾀﾜｰ", "東京"]),
            ("한국어 문서", ["한국", "문서"]),
            ("ภาษาไทย", ["ไทย"]),
            ("Παράδειγμα Ёлка", ["παραδειγμα", "елка"]),
            ("हिन्दी", ["हिन्दी"]),
            ("running mice", ["run", "runs", "Running"]),
            ("Alice's notes", ["alice", "note", "Alice’s"]),
            ("AB-1234", ["ab-1234", "AB1234", "1234", "ab"]),
            ("v2.10.3 10:30 2026-09-20", ["2.10.3", "10:30", "2026-09-20", "20"]),
        ],
    )
    def test_case_marks_endings_and_scripts_do_not_hide_a_name(
        self, space: SpaceStore, name: str, queries: list[str]
    ) -> None:
        write(space, concept("C-1", name=name), concept("C-2", name="nothing of it"))
        for query in queries:
            assert found(space, query) == ["C-1"], query

    @pytest.mark.requirement("KI-META-024")
    def test_two_characters_of_a_script_without_spaces_are_one_word(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="東京"), concept("C-2", name="北京"), concept("C-3", name="京東"))
        assert found(space, "東京") == ["C-1"]
        assert sorted(found(space, "京")) == ["C-1", "C-2", "C-3"]

    @pytest.mark.parametrize(
        "text",
        ['"alice" AND NOT (x OR', "alice*", "name:alice", "^alice -alice", "NEAR(alice)", "alice'; DROP TABLE t; --"],
    )
    def test_operators_and_quotes_are_plain_words(self, space: SpaceStore, text: str) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Bob"))
        assert found(space, text) == ["C-1"]

    @pytest.mark.requirement("KI-META-026")
    @pytest.mark.parametrize("text", ["", "   ", "*", '"', "🎉", "zebra", "\0", "()", "a" * 10_000])
    def test_a_miss_is_an_empty_list(self, space: SpaceStore, text: str) -> None:
        assert found(space, text) == []
        write(space, concept("C-1", name="Alice"))
        assert found(space, text) == []

    @pytest.mark.requirement("KI-META-019")
    def test_hits_come_by_falling_score_and_then_by_number(self, space: SpaceStore) -> None:
        write(
            space,
            concept("C-1", name="tea and a very long list of other things to drink"),
            concept("C-2", name="green tea"),
            concept("C-3", name="coffee"),
            concept("C-4", name="black tea"),
            concept("C-5", name="tea tea"),
            concept("C-6", name="green"),
        )
        with space.snapshot() as snapshot:
            hits = snapshot.search(SearchQuery(Kind.CONCEPT, "green tea", None, 10))
            best = [hit.id for hit in hits]
            assert best[0] == "C-2"
            assert best[-1] == "C-1"
            assert best.index("C-5") < best.index("C-4")
            assert set(best) == {"C-1", "C-2", "C-4", "C-5", "C-6"}
            assert all(0 < hit.score <= 1 for hit in hits)
            assert hits == sorted(hits, key=lambda hit: (-hit.score, int(hit.id[2:])))
            assert snapshot.search(SearchQuery(Kind.CONCEPT, "green tea", None, 3)) == hits[:3]
            ties = snapshot.search(SearchQuery(Kind.CONCEPT, "green black", None, 10))
            assert [hit.id for hit in ties] == ["C-4", "C-6", "C-2"]

    @pytest.mark.requirement("KI-META-019")
    def test_the_threshold_is_kept_before_the_limit(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="tea"), concept("C-2", name="tea with much else in it"))
        with space.snapshot() as snapshot:
            first, second = snapshot.search(SearchQuery(Kind.CONCEPT, "tea", None, 10))
            for threshold, expected in (
                (0.0, [first, second]),
                (second.score - 1e-9, [first, second]),
                ((first.score + second.score) / 2, [first]),
                (1.0, []),
            ):
                assert snapshot.search(SearchQuery(Kind.CONCEPT, "tea", None, 10, threshold)) == expected
        assert found(space, "tea", limit=0) == []

    @pytest.mark.requirement("KI-META-021")
    def test_hits_are_of_the_lineages_asked_for(self, space: SpaceStore) -> None:
        write(
            space,
            concept("C-1", PERSON, name="Paris"),
            concept("C-2", PLACE, name="Paris"),
            proposition("P-1", "C-1", LIVES_IN, "Paris"),
            proposition("P-2", "C-1", KNOWS, "Paris"),
            assertion("A-1", "P-1", "C-1"),
            assertion("A-2", "P-2", "C-1"),
        )
        assert found(space, "paris") == ["C-1", "C-2"]
        assert found(space, "paris", lineages=frozenset({PLACE})) == ["C-2"]
        assert found(space, "paris france", lineages=frozenset({PLACE})) == ["C-2"]
        assert found(space, "paris", lineages=frozenset({KNOWS, PLACE})) == ["C-2"]
        assert found(space, "paris", lineages=frozenset()) == []
        assert found(space, "paris", Kind.PROPOSITION, lineages=frozenset({KNOWS})) == ["P-2"]
        assert found(space, "paris", Kind.ASSERTION, lineages=frozenset({KNOWS})) == ["A-2"]

    @pytest.mark.requirement("KI-META-028")
    @pytest.mark.parametrize("state", ["archived", "merged", "tombstoned", "purged"])
    def test_only_active_elements_are_hits(self, space: SpaceStore, state: str) -> None:
        write(space, concept("C-1", name="Alice"), concept("C-2", name="Alice", state=state))
        assert found(space, "alice") == ["C-1"]
        write(space, concept("C-1", name="Alice", version=2, state=state), concept("C-2", name="Alice", version=2))
        assert found(space, "alice") == ["C-2"]

    @pytest.mark.requirement("BR-STORE-003", "KI-META-025")
    def test_a_hit_follows_the_newest_version_at_once(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))
        write(space, concept("C-1", PLACE, name="Alexandra Alice", version=2))
        write(space, concept("C-1", PLACE, name="Alexandra", version=3))
        assert found(space, "alice") == []
        assert found(space, "alexandra", lineages=frozenset({PLACE})) == ["C-1"]
        assert found(space, "alexandra", lineages=frozenset({PERSON})) == []

    @pytest.mark.requirement("KI-META-027", "KI-CAP-007")
    def test_the_past_is_searched_as_it_was(self, space: SpaceStore) -> None:
        write(
            space, concept("C-1", name="Alice"), proposition("P-1", "C-1", KNOWS, "tea"), assertion("A-1", "P-1", "C-1")
        )
        write(space, concept("C-2", name="Alice Bell"))
        write(space, concept("C-1", PLACE, name="Alexandra", version=2), proposition("P-1", "C-1", KNOWS, 5, version=2))
        write(space, concept("C-2", name="Alice Bell", version=2, state="archived"), assertion("A-2", "P-1", "C-2"))
        write(space, concept("C-2", name="Alice Bell", version=3))

        def then(seq: int, text: str, kind: Kind = Kind.CONCEPT, **how: object) -> list[str]:
            query: dict[str, object] = {"lineages": None, "limit": 10} | how
            with space.snapshot(seq) as snapshot:
                return [hit.id for hit in snapshot.search(SearchQuery(kind, text, **query))]  # type: ignore[arg-type]

        assert [then(seq, "alice") for seq in range(6)] == [[], ["C-1"], ["C-1", "C-2"], ["C-2"], [], ["C-2"]]
        assert [then(seq, "alexandra") for seq in range(6)] == [[], [], [], ["C-1"], ["C-1"], ["C-1"]]
        assert then(2, "alice", limit=1) == ["C-1"]
        assert then(2, "alice bell") == ["C-2", "C-1"]
        assert then(2, "alexandra alice", lineages=frozenset({PERSON})) == ["C-1", "C-2"]
        assert then(3, "alexandra alice", lineages=frozenset({PERSON})) == ["C-2"]
        assert then(3, "alexandra", lineages=frozenset({PLACE, KNOWS})) == ["C-1"]
        assert [then(seq, "tea", Kind.ASSERTION) for seq in (1, 2, 3)] == [["A-1"], ["A-1"], []]
        assert [then(seq, "knows", Kind.ASSERTION) for seq in (3, 4)] == [["A-1"], ["A-1", "A-2"]]

    @pytest.mark.requirement("KI-META-027")
    def test_a_search_of_the_past_has_the_scores_of_that_day(self, space: SpaceStore) -> None:
        seen = []
        for number, name in enumerate(("green tea", "tea", "black tea with milk", "coffee", "milk"), start=1):
            changed = [concept(f"C-{number}", name=name)]
            if number > 2:
                changed.append(concept(f"C-{number - 2}", name=f"cold {name}", version=2))
            write(space, *changed)
            with space.snapshot() as snapshot:
                seen.append(snapshot.search(SearchQuery(Kind.CONCEPT, "cold milk tea", None, 10)))
        for seq, expected in enumerate(seen, start=1):
            with space.snapshot(seq) as snapshot:
                found = snapshot.search(SearchQuery(Kind.CONCEPT, "cold milk tea", None, 10))
            assert [hit.id for hit in found] == [hit.id for hit in expected]
            assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected])

    @pytest.mark.requirement("KI-META-027", "BR-STORE-015")
    def test_what_was_erased_is_in_no_search_of_the_past(self, store: Store, space: SpaceStore) -> None:
        kept = concept("C-2", name="Alice Bell")
        write(space, concept("C-1", name="Alice"), kept)
        write(space, concept("C-1", name="Alexandra", version=2))
        erase(space, stub(concept("C-1", version=2)))
        write(without := store.create("without", now_ms=0), kept)
        with without.snapshot() as snapshot:
            expected = snapshot.search(SearchQuery(Kind.CONCEPT, "alice", None, 5))
        assert len(expected) == 1
        for seq in (1, 2, 3):
            with space.snapshot(seq) as snapshot:
                assert snapshot.search(SearchQuery(Kind.CONCEPT, "alexandra", None, 5)) == []
                assert snapshot.search(SearchQuery(Kind.CONCEPT, "alice", None, 5)) == expected

    @pytest.mark.requirement("KI-SEC-005", "KI-GOV-017")
    @pytest.mark.parametrize("seq", [None, 1], ids=["head", "past"])
    def test_what_a_caller_may_not_see_moves_nothing_it_does_see(
        self, store: Store, space: SpaceStore, seq: int | None
    ) -> None:
        shown = [
            *(concept("C-1", name="tea"), concept("C-3", name="green tea"), concept("C-5", name="tea and more of it")),
            *(proposition("P-1", "C-1", KNOWS, "tea"), assertion("A-1", "P-1", "C-1"), assertion("A-3", "P-1", "C-1")),
        ]
        hidden = [
            *(concept("C-2", name="green"), concept("C-4", name="tea tea green"), concept("C-6", name="green tea")),
            *(proposition("P-2", "C-1", KNOWS, "green tea"), assertion("A-2", "P-2", "C-1")),
            assertion("A-4", "P-1", "C-1"),
        ]
        names = {one.id for one in shown}
        write(space, *shown, *hidden)
        write(without := store.create("without", now_ms=0), *shown)
        for each in (space, without):
            write(each, concept("C-1", name="coffee", version=2))
            with each.transaction() as transaction:
                index_all(transaction, EMBEDDER)

        def asked(each: SpaceStore, visible: Callable[[Element], bool]) -> list[list[Hit]]:
            with each.snapshot(seq) as snapshot:
                return [
                    snapshot.search(SearchQuery(kind, text, None, limit, threshold, mode, like(text), visible))
                    for kind in (Kind.CONCEPT, Kind.PROPOSITION, Kind.ASSERTION)
                    for text in ("tea", "green tea")
                    for limit, threshold in ((1, 0.0), (10, 0.0), (10, 0.4))
                    for mode in SearchMode
                ]

        seen = asked(space, lambda one: one.id in names)
        assert seen == asked(without, lambda one: True)
        assert {hit.id for hits in seen for hit in hits} == {"C-1", "C-3", "C-5", "P-1", "A-1", "A-3"} - (
            {"C-1"} if seq is None else set()
        )

    @pytest.mark.requirement("KI-META-018")
    @pytest.mark.parametrize("seed", range(3))
    def test_a_short_answer_about_a_common_word_is_the_beginning_of_a_long_one(
        self, space: SpaceStore, seed: int
    ) -> None:
        rolled = Random(seed)
        texts = [" ".join(["oak"] * rolled.choice((1, 1, 1, 2, 5)) + ["x"] * rolled.randint(0, 9)) for _ in range(1500)]
        # The last are the shortest, and the kinds of an index's order are not those of the ids.
        texts[-20:] = ["oak"] * 20
        types = [rolled.choice((PERSON, PLACE)) for _ in texts]
        numbered = enumerate(zip(texts, types, strict=True), 1)
        write(space, *(concept(f"C-{n}", type_, attributes={"text": text}) for n, (text, type_) in numbered))
        long = found(space, "oak", limit=1000)
        for lineages in (None, frozenset({PERSON})):
            kept = [one for one in long if lineages is None or types[int(one[2:]) - 1] == PERSON]
            for limit in (1, 7, 40, 200):
                assert found(space, "oak", limit=limit, lineages=lineages) == kept[:limit]

    @pytest.mark.requirement("KI-META-018")
    @pytest.mark.parametrize("asked", ["oak elm", "elm oak ash", "ash oak", "yew oak"])
    def test_a_short_answer_about_common_and_rare_words_is_the_beginning_of_a_long_one(
        self, space: SpaceStore, asked: str
    ) -> None:
        rolled = Random(asked)
        texts = []
        for _ in range(1500):
            rare = [word for word, often in (("elm", 0.01), ("ash", 0.2)) if rolled.random() < often]
            common = ["oak"] * rolled.choice((0, 1, 1, 1, 2, 5))
            texts.append(" ".join([*common, *rare, *["x"] * rolled.randint(0, 9)]))
        types = [rolled.choice((PERSON, PLACE)) for _ in texts]
        numbered = enumerate(zip(texts, types, strict=True), 1)
        write(space, *(concept(f"C-{n}", type_, attributes={"text": text}) for n, (text, type_) in numbered))

        def hits(limit: int, threshold: float = 0.0, lineages: frozenset[str] | None = None) -> list[Hit]:
            with space.snapshot() as snapshot:
                return snapshot.search(SearchQuery(Kind.CONCEPT, asked, lineages, limit, threshold))

        long = hits(2000)
        assert len(long) > 1000
        for lineages in (None, frozenset({PERSON})):
            kept = [one for one in long if lineages is None or types[int(one.id[2:]) - 1] == PERSON]
            for limit in (1, 7, 40, 200):
                assert hits(limit, lineages=lineages) == kept[:limit]
                least = kept[limit // 2].score - 1e-9
                assert hits(limit, least, lineages) == [one for one in kept[:limit] if one.score >= least]
