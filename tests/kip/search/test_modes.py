"""Search by likeness and by both, from the language's side: the statement, the pattern, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from brain.kip import capabilities
from brain.kip.context import OWNER_PERMISSIONS, Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.embedding import Embedder, EmbeddingFailure, Indexed, index_pending
from brain.store.hashing import HashEmbedder
from tests.kip.conftest import Space

EMBEDDER = HashEmbedder(128)
MISSPELT = "Larzen"
"""No word of anything, and spelled nearly like one."""

SETUP = """MUTATE {
CREATE CONCEPT ?ann {TYPE "Person" NAME "Ann Larsen"}
CREATE CONCEPT ?ben {TYPE "Person" NAME "Ben Okafor"}
CREATE CONCEPT ?farm {TYPE "Place" NAME "Larsen Farm"}
CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "the harbour at dawn"}}
ENSURE PROPOSITION (?ann, "lives_in", ?farm)
}"""


class Broken(HashEmbedder):
    """An embedder whose provider does not answer."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise EmbeddingFailure("timeout", "no answer in time")


class Renamed(HashEmbedder):
    """Another model."""

    name = "another"


def use(space: Space, embedder: Embedder | None) -> None:
    """From now on the Space's engine has this embedder."""
    space.engine = Engine(space.store, PackageLibrary.bundled(), clock=space.clock, embedder=embedder)


@pytest.fixture
def written(space: Space) -> Space:
    """Texts that still wait for their vectors."""
    use(space, EMBEDDER)
    space.write(SETUP)
    return space


@pytest.fixture
def known(written: Space) -> Space:
    """The same, indexed."""
    index(written)
    return written


def index(space: Space, embedder: Embedder = EMBEDDER) -> Indexed:
    return index_pending(space.store, embedder)


def result(space: Space, command: str, **values: Any) -> Any:
    answer = space.answer(command, **values)
    assert "error" not in answer, answer["error"]
    return answer["result"]


def hits(space: Space, command: str, **values: Any) -> list[str]:
    return [hit["id"] for hit in result(space, command, **values)["hits"]]


@pytest.mark.requirement("KI-CAP-008", "KI-META-022")
def test_likeness_finds_what_words_miss(known: Space) -> None:
    assert hits(known, "SEARCH CONCEPT :t", t=MISSPELT) == []
    found = result(known, 'SEARCH CONCEPT :t MODE "semantic" LIMIT 2', t=MISSPELT)["hits"]
    assert {hit["id"] for hit in found} == {"C-1", "C-3"}
    assert {hit["retrieval"]["mode"] for hit in found} == {"semantic"}
    scores = [hit["retrieval"]["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


@pytest.mark.requirement("KI-CAP-009", "KI-META-019")
def test_hybrid_has_what_either_finds_and_what_both_find_first(known: Space) -> None:
    words, text = 'SEARCH CONCEPT :t MODE "keyword"', f"{MISSPELT} Okafor"
    by_words, by_likeness = hits(known, words, t=text), hits(known, 'SEARCH CONCEPT :t MODE "semantic"', t=text)
    found = result(known, 'SEARCH CONCEPT :t MODE "hybrid"', t=text)["hits"]
    assert by_words == ["C-2"]
    assert {hit["id"] for hit in found} == {*by_words, *by_likeness} > set(by_words)
    assert (found[0]["id"], found[0]["retrieval"]["mode"]) == ("C-2", "hybrid")
    assert all(hit["retrieval"]["score"] <= 0.5 for hit in found[1:])
    assert hits(known, 'SEARCH CONCEPT :t MODE "hybrid" THRESHOLD 0.5001', t=text) == ["C-2"]


@pytest.mark.requirement("KI-META-021")
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_types_and_predicates_narrow_before_ranking(known: Space, mode: str) -> None:
    command = 'SEARCH CONCEPT :t WITH TYPE "Place" MODE :m LIMIT 1'
    assert hits(known, command, t="Ann Larsen", m=mode) == ["C-3"]
    assert hits(known, 'SEARCH PROPOSITION "livesin" WITH PREDICATE "lives_in" MODE :m', m=mode) == ["P-1"]
    assert hits(known, 'SEARCH PROPOSITION "livesin" WITH PREDICATE "speaks" MODE :m', m=mode) == []


@pytest.mark.requirement("KI-CAP-008", "KI-CAP-009", "KI-META-022")
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_without_an_embedder_neither_is_offered(known: Space, mode: str) -> None:
    use(known, None)
    assert known.refused('SEARCH CONCEPT "ann" MODE :m', m=mode) == "SearchModeUnsupported"
    pattern = 'FIND(?x.id) WHERE { ?x SEARCH CONCEPT "ann" MODE :m LIMIT 3 }'
    assert known.refused(pattern, m=mode) == "SearchModeUnsupported"
    assert known.refused("DESCRIBE SNAPSHOT", envelope={"requires": {f"{mode}_search": True}}) == (
        "UnsupportedCapability"
    )


@pytest.mark.requirement("KI-CAP-001", "KI-CAP-008", "KI-CAP-009", "KI-CAP-010")
def test_what_is_offered_depends_on_the_engines_embedder(known: Space) -> None:
    shown = result(known, "DESCRIBE CAPABILITIES")
    assert {"semantic_search", "hybrid_search"} <= shown["supported"].keys()
    assert shown["supported"]["search_index_freshness"]["mode"] == "synchronous"
    assert shown["search"] == {
        "modes": ["keyword", "semantic", "hybrid"],
        "default_mode": "keyword",
        "embedder": {"name": "builtin/hash-1", "likeness": "spelling, not meaning"},
    }
    for name, entry in shown["capabilities"].items():
        assert capabilities.is_held(name, EMBEDDER) == entry["supported"]
        result(known, "DESCRIBE SNAPSHOT", envelope={"requires": {name: entry["supported"]}})
    use(known, None)
    shown = result(known, "DESCRIBE CAPABILITIES")
    assert {"semantic_search", "hybrid_search"} <= shown["unsupported"].keys()
    assert shown["search"] == {"modes": ["keyword"], "default_mode": "keyword"}


class TestFreshness:
    """Vectors follow the texts, and an answer says how far."""

    @pytest.mark.requirement("KI-META-025")
    def test_a_write_is_found_by_likeness_once_it_is_indexed(self, known: Space) -> None:
        known.write('CREATE CONCEPT ?n {TYPE "Person" NAME "Quixote"}')
        command = 'SEARCH CONCEPT "Quijote" MODE "semantic" THRESHOLD 0.3'
        answer = known.answer(command)
        context = answer["context"]["search"]
        assert answer["result"]["hits"] == []
        assert (context["index_seq"], context["current_space_seq"], context["pending"]) == (1, 2, 1)
        assert (context["mode"], context["consistency"]) == ("semantic", "eventual")
        assert hits(known, 'SEARCH CONCEPT "Quixote"') == ["C-4"]
        assert index(known).done == 1
        answer = known.answer(command)
        context = answer["context"]["search"]
        assert [hit["id"] for hit in answer["result"]["hits"]] == ["C-4"]
        assert (context["index_seq"], context["current_space_seq"], context["pending"]) == (2, 2, 0)

    @pytest.mark.requirement("KI-META-022")
    @pytest.mark.parametrize("mode", ["semantic", "hybrid"])
    def test_before_any_vector_there_is_no_index_and_no_silent_keyword_search(self, written: Space, mode: str) -> None:
        assert written.refused('SEARCH CONCEPT "ann" MODE :m', m=mode) == "SearchIndexUnavailable"
        pattern = 'FIND(?x.id) WHERE { ?x SEARCH CONCEPT "ann" MODE :m LIMIT 3 }'
        assert written.refused(pattern, m=mode) == "SearchIndexUnavailable"
        assert hits(written, 'SEARCH CONCEPT "ann"') == ["C-1"]

    @pytest.mark.requirement("KI-META-026")
    @pytest.mark.parametrize("mode", ["semantic", "hybrid"])
    def test_where_nothing_is_written_nothing_is_missing(self, space: Space, mode: str) -> None:
        use(space, EMBEDDER)
        assert hits(space, 'SEARCH CONCEPT "ann" MODE :m', m=mode) == []

    @pytest.mark.requirement("KI-META-022")
    def test_an_embedder_that_fails_is_told_and_words_still_find(self, known: Space) -> None:
        use(known, Broken(128))
        error = known.error('SEARCH CONCEPT "ann" MODE "hybrid"')
        assert (error["code"], error["details"]["reason"]) == ("SearchIndexUnavailable", "timeout")
        assert hits(known, 'SEARCH CONCEPT "ann"') == ["C-1"]

    @pytest.mark.requirement("KI-META-026")
    @pytest.mark.parametrize("text", ["", "   ", "?!"])
    def test_a_text_without_words_is_like_nothing(self, known: Space, text: str) -> None:
        assert hits(known, 'SEARCH CONCEPT :t MODE "semantic"', t=text) == []
        assert hits(known, 'SEARCH CONCEPT :t MODE "hybrid"', t=text) == []


class TestPages:
    """One traversal shows one ranking."""

    @pytest.mark.requirement("KI-META-019")
    @pytest.mark.parametrize("mode", ["semantic", "hybrid"])
    def test_pages_neither_skip_nor_repeat_while_vectors_arrive(self, known: Space, mode: str) -> None:
        known.write(
            'MUTATE { CREATE CONCEPT ?a {TYPE "Person" NAME "Larsen"} CREATE CONCEPT ?b {TYPE "Person" NAME "Larsen"} }'
        )
        command = "SEARCH CONCEPT :t MODE :m LIMIT 1"
        values = {"t": f"{MISSPELT} Okafor", "m": mode}
        whole = hits(known, "SEARCH CONCEPT :t MODE :m", **values)
        answer = known.answer(command, **values)
        index(known)
        walked = [hit["id"] for hit in answer["result"]["hits"]]
        while "next_cursor" in answer:
            answer = known.answer(f"{command} CURSOR :c", c=answer["next_cursor"], **values)
            walked += [hit["id"] for hit in answer["result"]["hits"]]
        assert walked == whole
        assert len(hits(known, "SEARCH CONCEPT :t MODE :m", **values)) > len(whole)

    @pytest.mark.requirement("KI-META-019")
    def test_equal_scores_come_by_id(self, known: Space) -> None:
        known.write(
            "MUTATE { " + " ".join(f'CREATE CONCEPT ?t{n} {{TYPE "Place" NAME "Twin"}}' for n in range(4)) + "}"
        )
        index(known)
        found = result(known, 'SEARCH CONCEPT "Twins" MODE "semantic" THRESHOLD 0.3')["hits"]
        assert [hit["id"] for hit in found] == ["C-4", "C-5", "C-6", "C-7"]
        assert len({hit["retrieval"]["score"] for hit in found}) == 1

    @pytest.mark.requirement("KI-META-019", "KI-KQL-024")
    def test_the_pattern_pages_over_one_ranking_too(self, known: Space) -> None:
        command = 'FIND(?x.id) WHERE { ?x SEARCH CONCEPT "Larzen" MODE "semantic" LIMIT 9 } ORDER BY ?x.id'
        known.write('CREATE CONCEPT ?a {TYPE "Person" NAME "Larsen"}')
        whole = result(known, command)
        answer = known.answer(f"{command} LIMIT 1")
        index(known)
        walked = answer["result"]
        while "next_cursor" in answer:
            answer = known.answer(f"{command} LIMIT 1 CURSOR :c", c=answer["next_cursor"])
            walked += answer["result"]
        assert walked == whole
        assert result(known, command) == [*whole, "C-4"]

    @pytest.mark.parametrize(
        "command",
        [
            'SEARCH CONCEPT "Larsen" MODE "semantic" LIMIT 1',
            'FIND(?x.id) WHERE { ?x SEARCH CONCEPT "Larsen" MODE "semantic" LIMIT 9 } LIMIT 1',
        ],
    )
    def test_another_embedder_ends_a_traversal(self, known: Space, command: str) -> None:
        cursor = known.answer(command)["next_cursor"]
        other = Renamed(128)
        index(known, other)
        use(known, other)
        assert known.refused(f"{command} CURSOR :c", c=cursor) == "CursorExpired"


class TestPattern:
    """`?x SEARCH …` inside FIND."""

    @pytest.mark.requirement("KI-KQL-023", "KI-KQL-024", "KI-KQL-026", "KI-CAP-008", "KI-CAP-009")
    @pytest.mark.parametrize("mode", ["semantic", "hybrid"])
    def test_it_joins_filters_and_orders_by_its_score(self, known: Space, mode: str) -> None:
        joined = 'FIND(?x.name, ?p.name) WHERE { ?x SEARCH CONCEPT :t MODE :m LIMIT 5 (?x, "lives_in", ?p) }'
        answer = known.answer(joined, t=MISSPELT, m=mode)
        assert answer["result"] == [["Ann Larsen", "Larsen Farm"]]
        context = answer["context"]["search"]
        assert (context["mode"], context["index_seq"], context["pending"]) == (mode, 1, 0)
        ordered = (
            "FIND(?x.id) WHERE { ?x SEARCH CONCEPT :t MODE :m LIMIT 5 FILTER(?x.retrieval.mode == :m) }"
            " ORDER BY ?x.retrieval.score DESC, ?x.id"
        )
        statement = hits(known, "SEARCH CONCEPT :t MODE :m LIMIT 5", t=MISSPELT, m=mode)
        assert result(known, ordered, t=MISSPELT, m=mode) == statement

    @pytest.mark.requirement("KI-META-025")
    def test_of_several_searches_the_one_furthest_behind_is_told(self, known: Space) -> None:
        known.write('CREATE CONCEPT ?n {TYPE "Person" NAME "Quixote"}')
        pattern = '?x SEARCH CONCEPT "larsen" LIMIT 5 ?y SEARCH CONCEPT "larsen" MODE "semantic" LIMIT 5'
        context = known.answer(f"FIND(?x.id, ?y.id) WHERE {{ {pattern} }}")["context"]["search"]
        assert (context["mode"], context["index_seq"], context["current_space_seq"]) == ("semantic", 1, 2)


class TestPast:
    """AS OF SEQ sees what was there then."""

    @pytest.fixture
    def changed(self, known: Space) -> Space:
        known.write('UPDATE "C-1" SET FIELDS {name: "Ann Moreau"}')
        known.write('CREATE CONCEPT ?n {TYPE "Person" NAME "Moreau"}')
        index(known)
        return known

    @pytest.mark.requirement("KI-META-027", "KI-CAP-007")
    @pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
    def test_the_statement(self, changed: Space, mode: str) -> None:
        command = 'SEARCH CONCEPT :t WITH TYPE "Person" MODE :m THRESHOLD :least'
        values: dict[str, Any] = {"m": mode, "least": 0.1 if mode == "hybrid" else 0.3}
        now = result(changed, f"{command} LIMIT 2", t="Moreau", **values)["hits"]
        assert {hit["id"] for hit in now} == {"C-1", "C-4"}
        then = changed.answer(f"{command} AS OF SEQ 1 LIMIT 1", t="Larsen", **values)
        (hit,) = then["result"]["hits"]
        assert (hit["id"], hit["element"]["name"], hit["snippet"]) == ("C-1", "Ann Larsen", "Ann Larsen")
        context = then["context"]["search"]
        assert (context["index_seq"], context["current_space_seq"]) == (1, 3)
        assert "C-4" not in hits(changed, f"{command} AS OF SEQ 2", t="Moreau", **values)
        assert changed.refused(f"{command} AS OF SEQ 9", t="x", **values) == "HistoricalSnapshotUnavailable"

    @pytest.mark.requirement("KI-META-027", "KI-CAP-007", "KI-KQL-026")
    @pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
    def test_the_pattern(self, changed: Space, mode: str) -> None:
        command = 'FIND(?x.name) WHERE { ?x SEARCH CONCEPT :t WITH TYPE "Person" MODE :m LIMIT 1 }'
        assert result(changed, f"{command} AS OF SEQ 1", t="Larsen", m=mode) == ["Ann Larsen"]
        assert result(changed, command, t="Ann Moreau", m=mode) == ["Ann Moreau"]

    @pytest.mark.requirement("KI-META-027")
    def test_scores_of_the_past_stay_what_they_were(self, known: Space) -> None:
        before = result(known, 'SEARCH CONCEPT "larsen"')["hits"]
        known.write('CREATE CONCEPT ?n {TYPE "Person" NAME "Larsen Larsen"}')
        assert result(known, 'SEARCH CONCEPT "larsen" AS OF SEQ 1')["hits"] == before
        assert len(hits(known, 'SEARCH CONCEPT "larsen"')) == len(before) + 1

    @pytest.mark.requirement("KI-META-027")
    def test_it_pages(self, changed: Space) -> None:
        whole = hits(changed, 'SEARCH CONCEPT "larsen" AS OF SEQ 1')
        answer = changed.answer('SEARCH CONCEPT "larsen" AS OF SEQ 1 LIMIT 1')
        walked = [hit["id"] for hit in answer["result"]["hits"]]
        while "next_cursor" in answer:
            answer = changed.answer('SEARCH CONCEPT "larsen" AS OF SEQ 1 LIMIT 1 CURSOR :c', c=answer["next_cursor"])
            walked += [hit["id"] for hit in answer["result"]["hits"]]
        assert walked == whole == ["C-1", "C-3"]

    def test_looking_back_needs_its_permission(self, changed: Space) -> None:
        caller = Session(principal_id="p", channel="test", permissions=OWNER_PERMISSIONS - {"read_history"})
        assert changed.refused('SEARCH CONCEPT "larsen" AS OF SEQ 1', session=caller) == "NotAuthorized"
        assert "error" not in changed.answer('SEARCH CONCEPT "larsen"', session=caller)


class Busy(HashEmbedder):
    """While it embeds what is searched for, somebody else commits."""

    def __init__(self, space: Space) -> None:
        super().__init__(128)
        self.space = space

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        Engine(self.space.store, PackageLibrary.bundled(), clock=self.space.clock).run(
            'MUTATE { CREATE CONCEPT ?c {TYPE "Person" NAME "Late"} }'
        )
        return super().embed(texts)


@pytest.mark.parametrize(
    "command",
    ['SEARCH CONCEPT :t MODE "semantic"', 'FIND(COUNT(?c)) WHERE { ?c SEARCH CONCEPT :t MODE "hybrid" LIMIT 5 }'],
)
def test_no_snapshot_is_open_while_the_words_are_embedded(known: Space, command: str) -> None:
    before = known.store.head()
    use(known, Busy(known))
    answer = known.answer(command, t="Larsen")
    assert known.store.head() == before + 1
    assert answer["context"]["snapshot_seq"] == before + 1
