"""The SEARCH statement."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.context import Session
from tests.kip.conftest import Space
from tests.kip.meta.test_vocabulary import rows

BLIND = Session(principal_id="guest", channel="test", permissions=frozenset({"read"}))


@pytest.fixture
def known(space: Space) -> Space:
    """A few people, a place, a claim and a message."""
    space.write(
        """MUTATE {
        CREATE CONCEPT ?ann {TYPE "Person" NAME "Ann Larsen" SET ATTRIBUTES {aliases: ["Annie"], city: "Oslo"}}
        CREATE CONCEPT ?ben {TYPE "Person" NAME "Ben Okafor" SET ATTRIBUTES {city: "Oslo"}}
        CREATE CONCEPT ?zoe {TYPE "Person" NAME "Zoë Café"}
        CREATE CONCEPT ?yu {TYPE "Person" NAME "记忆大师"}
        CREATE CONCEPT ?oslo {TYPE "Place" NAME "Oslo"}
        CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "the harbour at dawn"}}
        ENSURE PROPOSITION (?ann, "speaks", "norwegian")
        ENSURE PROPOSITION (?ann, "lives_in", ?oslo)
        CREATE ACTIVITY ?x {SET FIELDS {activity_class: "reflection"}}
        }"""
    )
    return space


def hits(space: Space, command: str, **values: Any) -> list[str]:
    return [hit["id"] for hit in rows(space, command, **values)["hits"]]


@pytest.mark.requirement("KI-META-018", "KI-META-020")
@pytest.mark.parametrize(
    ("command", "found"),
    [
        ('SEARCH CONCEPT "larsen"', ["C-1"]),
        ('SEARCH CONCEPT "annie"', ["C-1"]),
        ('SEARCH PROPOSITION "norwegian"', ["P-1"]),
        ('SEARCH PROPOSITION "lives"', ["P-2"]),
        ('SEARCH EVIDENCE "harbour"', ["E-1"]),
        ('SEARCH ACTIVITY "reflection"', ["X-1"]),
        ('SEARCH ASSERTION "anything"', []),
    ],
)
def test_each_kind_is_found_by_its_words(known: Space, command: str, found: list[str]) -> None:
    assert hits(known, command) == found


@pytest.mark.requirement("KI-META-024")
@pytest.mark.parametrize(
    ("text", "found"), [("zoe cafe", ["C-3"]), ("CAFÉ", ["C-3"]), ("记忆", ["C-4"]), ("大师", ["C-4"])]
)
def test_case_accents_and_scripts_are_no_obstacle(known: Space, text: str, found: list[str]) -> None:
    assert hits(known, "SEARCH CONCEPT :t", t=text) == found


@pytest.mark.requirement("KI-META-019", "KI-META-022", "KI-META-025", "KI-META-029", "KI-CAP-010")
def test_a_hit_says_what_it_is_and_how_it_was_found(known: Space) -> None:
    answer = known.answer('SEARCH CONCEPT "larsen"')
    (hit,) = answer["result"]["hits"]
    assert (hit["id"], hit["kind"], hit["retrieval"]["mode"]) == ("C-1", "concept", "keyword")
    assert 0 < hit["retrieval"]["score"] <= 1
    assert "Ann Larsen" in hit["snippet"]
    assert hit["element"]["schema_ref"] == "kip://profiles/cognitive-memory@2.0.0/Person"
    assert "score" not in str(hit["element"])
    context = answer["context"]["search"]
    assert (context["index_seq"], context["current_space_seq"], context["mode"]) == (1, 1, "keyword")
    assert context["consistency"] == "synchronous"
    assert context["score_semantics"]


@pytest.mark.requirement("KI-META-025")
def test_what_was_written_is_found_at_once(known: Space) -> None:
    known.write('CREATE CONCEPT ?n {TYPE "Person" NAME "Quixote"}')
    assert hits(known, 'SEARCH CONCEPT "quixote"') == ["C-6"]


@pytest.mark.requirement("KI-META-019")
def test_hits_fall_in_score_and_page_without_gaps(known: Space) -> None:
    whole = rows(known, 'SEARCH CONCEPT "oslo ann"')
    scores = [hit["retrieval"]["score"] for hit in whole["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert whole["exhaustive"] is True
    walked: list[str] = []
    answer = known.answer('SEARCH CONCEPT "oslo ann" LIMIT 1')
    while True:
        walked += [hit["id"] for hit in answer["result"]["hits"]]
        if "next_cursor" not in answer:
            break
        assert answer["result"]["exhaustive"] is False
        answer = known.answer('SEARCH CONCEPT "oslo ann" LIMIT 1 CURSOR :c', c=answer["next_cursor"])
    assert walked == [hit["id"] for hit in whole["hits"]]
    cut = (scores[0] + scores[-1]) / 2
    above = [hit["id"] for hit in whole["hits"] if hit["retrieval"]["score"] >= cut]
    assert hits(known, 'SEARCH CONCEPT "oslo ann" THRESHOLD :t', t=cut) == above


@pytest.mark.requirement("KI-META-019")
def test_a_search_that_goes_on_after_a_write_shows_the_state_it_began_with(known: Space) -> None:
    whole = hits(known, 'SEARCH CONCEPT "oslo"')
    answer = known.answer('SEARCH CONCEPT "oslo" LIMIT 1')
    known.write('CREATE CONCEPT ?n {TYPE "Person" NAME "Oslo"}')
    walked = [hit["id"] for hit in answer["result"]["hits"]]
    while "next_cursor" in answer:
        answer = known.answer('SEARCH CONCEPT "oslo" LIMIT 1 CURSOR :c', c=answer["next_cursor"])
        walked += [hit["id"] for hit in answer["result"]["hits"]]
    context = answer["context"]["search"]
    assert walked == whole
    assert (context["index_seq"], context["current_space_seq"]) == (1, 2)


@pytest.mark.requirement("KI-META-021", "KI-SCHEMA-010")
def test_types_and_predicates_narrow(known: Space) -> None:
    assert hits(known, 'SEARCH CONCEPT "oslo" WITH TYPE "Place"') == ["C-5"]
    assert hits(known, 'SEARCH PROPOSITION "norwegian" WITH PREDICATE "speaks"') == ["P-1"]
    assert hits(known, 'SEARCH PROPOSITION "norwegian" WITH PREDICATE "lives_in"') == []


@pytest.mark.requirement("KI-META-026")
@pytest.mark.parametrize("text", ["nobody", "", "   ", '"quoted" AND (x OR y)*', "\\", "'"])
def test_a_miss_is_an_empty_list(known: Space, text: str) -> None:
    assert hits(known, "SEARCH CONCEPT :t", t=text) == []


@pytest.mark.requirement("KI-META-028")
def test_what_has_left_recall_is_no_hit(known: Space) -> None:
    known.write('TRANSITION "C-1" TO "archived"')
    known.write('TRANSITION "C-2" TO "tombstoned"')
    known.write('PURGE "C-3" CONFIRM "PURGE"')
    for text in ("larsen", "okafor", "zoe"):
        assert hits(known, "SEARCH CONCEPT :t", t=text) == []


@pytest.mark.requirement("KI-META-021", "KI-META-022", "KI-META-023", "KI-META-027", "KI-CAP-008", "KI-CAP-009")
@pytest.mark.parametrize(
    ("clauses", "code"),
    [
        ('MODE "semantic"', "SearchModeUnsupported"),
        ('MODE "hybrid"', "SearchModeUnsupported"),
        ('MODE "telepathic"', "ConstraintViolation"),
        ("AS OF SEQ 9", "HistoricalSnapshotUnavailable"),
        ('WITH TYPE "Nope"', "SchemaSymbolNotFound"),
        ('WITH PREDICATE "speaks"', "InvalidSyntax"),
        ('THRESHOLD "much"', "TypeMismatch"),
        ("LIMIT -1", "TypeMismatch"),
        ('CURSOR "x"', "CursorInvalid"),
    ],
)
def test_what_is_not_offered_is_refused(known: Space, clauses: str, code: str) -> None:
    assert known.refused(f'SEARCH CONCEPT "ann" {clauses}') == code


@pytest.mark.requirement("KI-META-023")
@pytest.mark.parametrize("threshold", [1.5, -0.1])
def test_a_threshold_lies_between_zero_and_one(known: Space, threshold: float) -> None:
    code = known.refused('SEARCH CONCEPT "ann" THRESHOLD :t', t=threshold)
    assert code in {"ConstraintViolation", "TypeMismatch"}


def test_searching_needs_its_permission(known: Space) -> None:
    assert known.refused('SEARCH CONCEPT "ann"', session=BLIND) == "NotAuthorized"
