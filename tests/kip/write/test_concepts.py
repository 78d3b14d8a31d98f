"""CREATE CONCEPT: types, fields, keys, attributes, client keys (KIP 2.0 §7, §10, §54.1)."""

from __future__ import annotations

import pytest

from brain.kip.govern import preset_session
from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement


@requirement("KI-CONCEPT-001", "KI-CONCEPT-010", "KI-ID-001", "KI-KML-004")
def test_a_concept_keeps_the_exact_type_it_was_made_with(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?x { SET ATTRIBUTES {summary: "s"} NAME "N" TYPE "Insight" }')
    body = space.element(made["x"])
    assert body["schema_ref"] == "kip://profiles/cognitive-memory@2.0.0/Insight"
    assert (body["name"], body["attributes"], body["kind"]) == ("N", {"summary": "s"}, "concept")


@requirement("KI-CONCEPT-001")
@pytest.mark.parametrize(
    "text", ['CREATE CONCEPT ?x { NAME "No type" }', 'CREATE CONCEPT ?x { TYPE "Spaceship" NAME "Enterprise" }']
)
def test_no_concept_without_a_known_type(space: Space, text: str) -> None:
    assert space.refused(text) == "SchemaSymbolNotFound"


@requirement("KI-CONCEPT-004", "KI-CONCEPT-005", "KI-ERR-023")
@pytest.mark.parametrize(
    "body",
    [
        'TYPE "Event" NAME "no summary"',
        'TYPE "Event" SET ATTRIBUTES {summary: 7}',
        'TYPE "Commitment" SET ATTRIBUTES {summary: "call", status: "maybe"}',
        'TYPE "Skill" SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed", wings: 2}',
    ],
)
def test_attributes_are_checked_against_the_type(space: Space, body: str) -> None:
    assert space.refused(f"CREATE CONCEPT ?x {{ {body} }}") == "ConstraintViolation"


@requirement("KI-CONCEPT-004")
def test_an_open_type_takes_further_attributes(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?x { TYPE "Person" SET ATTRIBUTES {shoe: 44} }')
    assert space.element(made["x"])["attributes"] == {"shoe": 44}


@requirement("KI-ID-009", "KI-CONCEPT-002", "KI-CONCEPT-003", "KI-ID-001", "KI-ID-006", "KI-ERR-018")
@pytest.mark.parametrize("field", ["colour", "id", "metadata", "schema_ref", "payload", "self"])
def test_fields_that_are_not_an_authors_are_refused(space: Space, field: str) -> None:
    assert space.refused(f'CREATE CONCEPT ?x {{ TYPE "Person" SET FIELDS {{{field}: "x"}} }}') == "SchemaFieldNotFound"


@requirement("KI-ID-007", "KI-GOV-024")
@pytest.mark.parametrize("field", ["_system", "governance", "merged_into"])
def test_protected_members_are_refused_by_their_name(space: Space, field: str) -> None:
    assert space.refused(f'CREATE CONCEPT ?x {{ TYPE "Person" SET FIELDS {{{field}: {{}}}} }}') == "InvalidSyntax"


@requirement("KI-CONCEPT-003", "KI-ERR-022")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ("aliases: [1]", "TypeMismatch"),
        ('aliases: [""]', "ConstraintViolation"),
        ("name: 5", "TypeMismatch"),
        ('key: ""', "ConstraintViolation"),
        ("key: null", "TypeMismatch"),
    ],
)
def test_core_fields_have_their_types(space: Space, fields: str, code: str) -> None:
    assert space.refused(f'CREATE CONCEPT ?x {{ TYPE "Person" SET FIELDS {{{fields}}} }}') == code


@requirement("KI-CONCEPT-012", "KI-ID-008")
def test_a_fresh_element_is_descriptive_unclassified_and_tells_who_recorded_it(space: Space) -> None:
    made = space.handles('CREATE CONCEPT ?x { TYPE "Person" }')
    body = space.element(made["x"])
    assert body["governance"] == {"authority_class": "descriptive"}
    assert body["_system"]["origin"] == {"principal_id": "owner", "channel": "test", "import_id": None}


@requirement("KI-ID-008")
def test_two_principals_leave_two_origins(space: Space) -> None:
    agent = preset_session("agent", principal_id="agent-1", channel="agent:formation")
    made = space.write('CREATE CONCEPT ?x { TYPE "Person" }', session=agent)["handles"]
    assert space.element(made["x"])["_system"]["origin"]["principal_id"] == "agent-1"


@requirement("KI-ID-010", "KI-KML-006")
def test_names_may_repeat_and_every_create_makes_a_new_element(space: Space) -> None:
    text = 'CREATE CONCEPT ?x { TYPE "Person" NAME "Alice" }'
    assert space.handles(text)["x"] != space.handles(text)["x"]


@requirement("KI-ID-011", "KI-ERR-029")
def test_a_key_has_one_holder_of_a_type(space: Space, people: People) -> None:
    error = space.error('CREATE CONCEPT ?x { TYPE "Person" SET FIELDS {key: "alice"} }')
    assert error["code"] == "IdentityConflict"
    assert error["details"]["candidates"] == [people.alice]


@requirement("KI-ID-011", "KI-TX-001", "KI-TX-004")
def test_two_creations_of_one_key_in_a_block_leave_nothing(space: Space) -> None:
    one = 'CREATE CONCEPT ?{} {{ TYPE "Person" SET FIELDS {{key: "same"}} }}'
    assert space.refused(f"MUTATE {{ {one.format('a')} {one.format('b')} }}") == "IdentityConflict"
    with space.store.snapshot() as snapshot:
        assert not any(snapshot.counts().values())


@requirement("KI-ID-012")
def test_the_same_key_under_another_type_is_another_identity(space: Space, people: People) -> None:
    topic = space.handles('CREATE CONCEPT ?x { TYPE "Topic" SET FIELDS {key: "alice"} }')["x"]
    assert topic != people.alice


@requirement("KI-ID-014", "KI-ID-015")
def test_a_canonical_id_needs_identity_authority_and_has_one_holder(space: Space) -> None:
    text = 'CREATE CONCEPT ?x { TYPE "Person" SET FIELDS {canonical_id: "urn:x:1"} }'
    agent = preset_session("agent", principal_id="a", channel="agent")
    assert space.refused(text, session=agent) == "NotAuthorized"
    space.write(text)
    assert space.refused(text) == "IdentityConflict"


@requirement("KI-ID-016", "KI-ERR-030", "KI-TX-022")
def test_a_client_key_finds_the_first_creation_and_refuses_another(space: Space) -> None:
    text = 'CREATE CONCEPT ?c { TYPE "Person" NAME :name CLIENT KEY "person:casey" }'
    first = space.answer(text, name="Casey")
    again = space.answer(text, name="Casey")
    assert (first["status"], again["status"]) == ("succeeded", "no_effect")
    assert again["result"]["handles"] == first["result"]["handles"]
    assert space.refused(text, name="Other") == "ClientKeyConflict"
    assert space.seq == 1


@requirement("KI-ID-016")
def test_a_client_key_remembers_the_creation_and_not_what_became_of_it(space: Space) -> None:
    text = 'CREATE CONCEPT ?c { TYPE "Person" NAME "Casey" CLIENT KEY "k" }'
    made = space.handles(text)["c"]
    space.write('UPDATE :c SET FIELDS {name: "Casey B"}', c=made)
    assert space.answer(text)["status"] == "no_effect"


@requirement("KI-ID-017")
def test_a_client_key_is_found_inside_one_block(space: Space) -> None:
    one = 'CREATE CONCEPT ?{} {{ TYPE "Person" NAME "{}" CLIENT KEY "k" }}'
    handles = space.handles(f"MUTATE {{ {one.format('a', 'N')} {one.format('b', 'N')} }}")
    assert handles["a"] == handles["b"]
    assert space.refused(f"MUTATE {{ {one.format('a', 'X')} {one.format('b', 'Y')} }}") == "ClientKeyConflict"


@requirement("KI-ID-018")
def test_a_client_key_is_scoped_to_the_kind(space: Space) -> None:
    handles = space.handles(
        """MUTATE {
          CREATE EVIDENCE ?e { CLIENT KEY "k" SET FIELDS {evidence_class: "document", payload: "p"} }
          CREATE ACTIVITY ?x { CLIENT KEY "k" SET FIELDS {activity_class: "test"} }
          CREATE CONCEPT ?c { TYPE "Person" CLIENT KEY "k" }
        }"""
    )
    assert sorted(handles.values()) == ["C-1", "E-1", "X-1"]


@requirement("KI-ID-018", "KI-ID-001")
def test_a_client_key_outlives_its_elements_content(space: Space) -> None:
    text = 'CREATE CONCEPT ?c { TYPE "Person" NAME "Gone" CLIENT KEY "k" }'
    made = space.handles(text)["c"]
    space.write('PURGE :c CONFIRM "PURGE"', c=made)
    assert space.answer(text)["status"] == "no_effect"
    assert space.handles('CREATE CONCEPT ?d { TYPE "Person" }')["d"] != made


@requirement("KI-ID-001", "KI-ENV-030")
def test_a_refused_write_uses_up_no_ids(space: Space) -> None:
    space.refused('CREATE CONCEPT ?x { TYPE "Event" }')
    assert space.handles('CREATE CONCEPT ?x { TYPE "Person" }')["x"] == "C-1"


@requirement("KI-LEX-017")
def test_text_that_is_no_literal_keeps_its_characters(space: Space) -> None:
    decomposed = "e\u0301"
    made = space.handles('CREATE CONCEPT ?x { TYPE "Person" NAME :n SET ATTRIBUTES {n: :n} }', n=decomposed)
    body = space.element(made["x"])
    assert (body["name"], body["attributes"]["n"]) == (decomposed, decomposed)
