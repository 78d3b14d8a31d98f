"""UPSERT CONCEPT: one stable identity, found or made (KIP 2.0 §54.2 to §54.4)."""

from __future__ import annotations

import pytest

from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement


@requirement("KI-KML-009", "KI-KML-010", "KI-SCHEMA-009")
def test_by_key_it_creates_under_the_type_of_its_match_and_seeds_nothing_else(space: Space) -> None:
    made = space.handles('UPSERT CONCEPT ?x { MATCH {type: "Person", key: "carol", name: "Ignored"} }')["x"]
    body = space.element(made)
    assert body["key"] == "carol"
    assert "name" not in body


@requirement("KI-KML-012", "KI-TX-008")
def test_a_repeated_upsert_has_no_effect(space: Space) -> None:
    text = 'UPSERT CONCEPT ?x { MATCH {type: "Person", key: "carol"} SET FIELDS {name: "Carol"} }'
    first, again = space.answer(text), space.answer(text)
    assert again["status"] == "no_effect"
    assert again["result"]["handles"] == first["result"]["handles"]
    assert "space_seq" not in again["receipt"]
    assert space.seq == 1


@requirement("KI-KML-008", "KI-ERR-024")
@pytest.mark.parametrize("match", ['id: "C-99"', 'id: "C-1", type: "Place"', 'id: "E-1"'])
def test_by_id_it_never_creates_and_never_tells_what_it_found(space: Space, people: People, match: str) -> None:
    error = space.error(f"UPSERT CONCEPT ?x {{ MATCH {{{match}}} }}")
    assert error["code"] == "NotFoundOrNotVisible"
    assert "Person" not in str(error)
    assert "evidence" not in str(error).lower()


@requirement("KI-KML-009")
def test_a_new_key_without_a_type_is_not_created(space: Space) -> None:
    assert space.refused('UPSERT CONCEPT ?x { MATCH {key: "nobody"} }') == "SchemaSymbolNotFound"


@requirement("KI-ID-013")
def test_a_bare_key_of_two_concepts_is_not_chosen_between(space: Space, people: People) -> None:
    space.write('CREATE CONCEPT ?x { TYPE "Topic" SET FIELDS {key: "alice"} }')
    assert space.refused('UPSERT CONCEPT ?x { MATCH {key: "alice"} }') == "IdentityConflict"


@requirement("KI-KML-007", "KI-ERR-027", "KI-ERR-028")
@pytest.mark.parametrize(
    "match", ['MATCH {type: "Person", name: "Alice"}', "MATCH {}", 'MATCH {type: "Person"}', "SET FIELDS {}"]
)
def test_a_match_without_a_stable_identity_is_refused(space: Space, people: People, match: str) -> None:
    assert space.refused(f"UPSERT CONCEPT ?x {{ {match} }}") == "InvalidSyntax"


@requirement("KI-KML-011")
def test_match_members_have_their_json_types(space: Space) -> None:
    assert space.refused('UPSERT CONCEPT ?x { MATCH {type: 42, key: "k"} }') == "TypeMismatch"


@requirement("KI-TX-027")
def test_version_zero_demands_that_the_identity_is_free(space: Space) -> None:
    text = 'UPSERT CONCEPT ?x { MATCH {type: "Topic", key: "t"} SET FIELDS {name: "T"} } EXPECT VERSION 0'
    space.write(text)
    assert space.refused(text) == "VersionConflict"


@requirement("KI-KML-021", "KI-KML-022")
def test_it_sets_and_unsets_like_update(space: Space, people: People) -> None:
    result = space.write(
        """UPSERT CONCEPT ?x {
          MATCH {type: "Person", key: "alice"} UNSET ATTRIBUTES {age} SET ATTRIBUTES {city: "Bergen"}
        }"""
    )
    assert result["changes"][0]["touched"] == ["attributes.age", "attributes.city"]
    assert space.element(people.alice)["attributes"] == {"city": "Bergen"}


@requirement("KI-ID-013", "KI-KML-008")
def test_a_key_whose_holder_differs_from_the_rest_of_match_is_a_conflict(space: Space, people: People) -> None:
    assert (
        space.refused('UPSERT CONCEPT ?x { MATCH {type: "Person", key: "alice", name: "Zed"} }') == "IdentityConflict"
    )
