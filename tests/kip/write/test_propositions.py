"""ENSURE PROPOSITION: tuple identity, endpoints, Literals (KIP 2.0 §9, §12, §55)."""

from __future__ import annotations

import pytest

from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement


@requirement("KI-PROP-001", "KI-PROP-002", "KI-KML-013")
def test_a_tuple_is_stored_once_and_without_a_claim(space: Space, people: People) -> None:
    text = 'ENSURE PROPOSITION ?p (:alice, "knows", :bob)'
    first = space.answer(text, alice=people.alice, bob=people.bob)
    again = space.answer(text, alice=people.alice, bob=people.bob)
    assert again["status"] == "no_effect"
    assert again["result"]["handles"] == first["result"]["handles"] == {"p": "P-1"}
    body = space.element("P-1")
    assert body["subject"] == {"id": people.alice}
    assert body["predicate_ref"] == "kip://domains/general@1.0.0/knows"
    assert set(body) == {"_system", "governance", "id", "kind", "object", "predicate_ref", "space_id", "subject"}
    with space.store.snapshot() as snapshot:
        assert snapshot.assertions(["P-1"]) == []


@requirement("KI-KML-013", "KI-TX-027")
def test_create_only_refuses_a_tuple_that_exists(space: Space, people: People) -> None:
    text = 'ENSURE PROPOSITION (:alice, "knows", :bob) EXPECT VERSION 0'
    space.write(text, alice=people.alice, bob=people.bob)
    assert space.refused(text, alice=people.alice, bob=people.bob) == "VersionConflict"


@requirement("KI-ID-019", "KI-PROP-010")
@pytest.mark.parametrize(
    "value", ["C-2", {"id": "C-2"}, {"type": "Person", "key": "bob"}], ids=["id string", "id", "type and key"]
)
def test_an_endpoint_may_be_named_in_every_stable_way(space: Space, people: People, value: object) -> None:
    space.write('ENSURE PROPOSITION (:a, "knows", :b)', a=people.alice, b=value)
    assert space.element("P-1")["object"] == {"id": people.bob}


@requirement("KI-PROP-010", "KI-ERR-027")
@pytest.mark.parametrize("end", ['{name: "Bob"}', '{type: "Person"}', '{type: "Person", name: "Bob"}'])
def test_a_described_endpoint_is_refused_and_candidates_are_named(space: Space, people: People, end: str) -> None:
    error = space.error(f'ENSURE PROPOSITION ("{people.alice}", "knows", {end})')
    assert error["code"] == "IdentitySelectorRequired"


@requirement("KI-ERR-024", "KI-ID-003")
def test_a_key_nobody_has_is_answered_with_those_closest(space: Space, people: People) -> None:
    error = space.error('ENSURE PROPOSITION (:a, "knows", {type: "Person", key: "alice smith"})', a=people.bob)
    assert error["code"] == "NotFoundOrNotVisible"
    assert error["details"]["candidates"][0]["id"] == people.alice
    assert people.alice in error["hint"]


@requirement("KI-PROP-006", "KI-PROP-011")
def test_a_literal_subject_and_an_id_for_a_tuple_are_refused(space: Space, people: People) -> None:
    assert space.refused('ENSURE PROPOSITION ("x", "knows", :b)', b=people.bob) == "InvalidSyntax"
    assert space.refused('ENSURE PROPOSITION (:a, "knows", :b)', a=7, b=people.bob) == "TypeMismatch"
    assert space.refused('ENSURE PROPOSITION (id: "P-1")') == "InvalidSyntax"


@requirement("KI-PROP-007")
def test_endpoint_types_follow_the_predicate(space: Space, people: People) -> None:
    assert space.refused('ENSURE PROPOSITION (:o, "knows", :b)', o=people.oslo, b=people.bob) == "ConstraintViolation"
    assert space.refused('ENSURE PROPOSITION (:a, "lives_in", "Oslo")', a=people.alice) == "ConstraintViolation"


@requirement("KI-PROP-008", "KI-LEX-015", "KI-LEX-018")
@pytest.mark.parametrize("value", [7, True, None])
def test_literals_follow_the_predicate(space: Space, people: People, value: object) -> None:
    assert space.refused('ENSURE PROPOSITION (:a, "speaks", :v)', a=people.alice, v=value) == "ConstraintViolation"


@requirement("KI-LEX-015")
@pytest.mark.parametrize("value", [["fr"], {"value": "fr", "datatype": "string"}])
def test_arrays_and_objects_are_no_literals(space: Space, people: People, value: object) -> None:
    code = space.refused('ENSURE PROPOSITION (:a, "speaks", :v)', a=people.alice, v=value)
    assert code in ("TypeMismatch", "IdentitySelectorRequired")


@requirement("KI-LEX-016", "KI-LEX-014", "KI-LEX-019")
def test_literal_identity_is_canonical_and_typed(space: Space, people: People) -> None:
    space.write('DEFINE PREDICATE "favours" {description: "The subject favours the value."}')
    text = 'ENSURE PROPOSITION ?p (:a, "favours", :v)'

    def proposition(value: object) -> str:
        return space.handles(text, a=people.alice, v=value)["p"]

    assert proposition("\u00e9") == proposition("e\u0301")
    assert proposition(1) == proposition(1.0)
    assert len({proposition(value) for value in ("1", 1, True, "A", "a")}) == 5


@requirement("KI-PROP-009")
def test_a_proposition_endpoint_needs_a_predicate_that_lists_the_kind(space: Space, people: People) -> None:
    nested = 'ENSURE PROPOSITION ?m (:a, "{}", (:b, "knows", :a))'
    code = space.refused(nested.format("knows"), a=people.alice, b=people.bob)
    assert code == "UnsupportedCapability"
    space.write(
        'DEFINE PREDICATE "doubts" {description: "The subject doubts the statement.", object: {kinds: ["Proposition"]}}'
    )
    made = space.handles(nested.format("doubts"), a=people.alice, b=people.bob)
    meta = space.element(made["m"])
    assert meta["object"]["id"].startswith("P-")
    by_id = space.handles('ENSURE PROPOSITION ?m (:a, "doubts", (id: :p))', a=people.alice, p=meta["object"]["id"])
    assert by_id == made


@requirement("KI-ID-021")
def test_a_canonical_reference_names_its_concept_or_stays_what_it_is(space: Space, people: People) -> None:
    space.write('ENSURE PROPOSITION (:a, "same_as", {canonical_id: "urn:x:out"})', a=people.alice)
    assert space.element("P-1")["object"] == {"canonical_id": "urn:x:out"}
    made = space.handles('CREATE CONCEPT ?c { TYPE "Person" SET FIELDS {canonical_id: "urn:x:in"} }')["c"]
    space.write('ENSURE PROPOSITION (:a, "same_as", {canonical_id: "urn:x:in"})', a=people.alice)
    assert space.element("P-2")["object"] == {"id": made}


@requirement("KI-ID-020")
def test_a_reference_to_another_space_is_not_offered(space: Space, people: People) -> None:
    far = {"space_id": "kip:space:other", "element_id": "C-1"}
    assert space.refused('ENSURE PROPOSITION (:a, "knows", :b)', a=people.alice, b=far) == "UnsupportedCapability"


@requirement("KI-KML-002", "KI-PROP-002")
def test_one_tuple_ensured_twice_in_a_block_is_one(space: Space, people: People) -> None:
    handles = space.handles(
        'MUTATE { ENSURE PROPOSITION ?p (:a, "knows", :b) ENSURE PROPOSITION ?q (:a, "knows", :b) }',
        a=people.alice,
        b=people.bob,
    )
    assert handles == {"p": "P-1", "q": "P-1"}


@requirement("KI-PROP-005", "KI-PROP-001", "KI-ERR-032")
@pytest.mark.parametrize("action", ['SET ATTRIBUTES {note: "n"}', 'SET FIELDS {name: "n"}', "UNSET ATTRIBUTES {a}"])
def test_a_tuple_is_not_edited(space: Space, people: People, action: str) -> None:
    space.write('ENSURE PROPOSITION (:a, "knows", :b)', a=people.alice, b=people.bob)
    assert space.refused(f'UPDATE "P-1" {action}') == "ImmutableField"
