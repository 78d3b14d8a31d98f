"""MUTATE blocks, handles, faults, envelopes of commits, DEFINE (KIP 2.0 §20.16, §33, §36, §53)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brain.kip.context import Limits
from brain.kip.govern import preset_session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement


@requirement("KI-KML-001", "KI-TX-008")
def test_an_empty_block_has_no_effect(space: Space) -> None:
    assert space.answer("MUTATE {}")["status"] == "no_effect"


@requirement("KI-KML-001", "KI-SCHEMA-026", "KI-LEX-006")
@pytest.mark.parametrize(
    "text",
    [
        "MUTATE { MUTATE {} }",
        'MUTATE { DEFINE PREDICATE "x" {description: "d"} }',
        "MUTATE { FIND(?x) WHERE { ?x {} } }",
        'CREATE CONCEPT ?a { TYPE "Person" }; CREATE CONCEPT ?b { TYPE "Person" }',
    ],
)
def test_what_does_not_belong_in_a_block_is_refused(space: Space, text: str) -> None:
    assert space.refused(text) == "InvalidSyntax"


@requirement("KI-KML-002", "KI-KML-003", "KI-ERR-013", "KI-ERR-025")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('MUTATE { CREATE CONCEPT ?a { TYPE "Person" } CREATE CONCEPT ?a { TYPE "Person" } }', "DuplicateLocalHandle"),
        ('MUTATE { CREATE CONCEPT ?a { TYPE "Person" } ENSURE PROPOSITION (?a, "knows", ?zz) }', "ReferenceError"),
        (
            'MUTATE { UPDATE ?p SET ATTRIBUTES {x: 1} WHERE { ?p {key: "alice"} } UPDATE ?p SET ATTRIBUTES {y: 1} }',
            "ReferenceError",
        ),
    ],
)
def test_handles_are_declared_once_and_stay_in_their_clause(space: Space, people: People, text: str, code: str) -> None:
    assert space.refused(text) == code


DOUBTS = (
    'DEFINE PREDICATE "doubts" {description: "The subject doubts the statement.", object: {kinds: ["Proposition"]}}'
)


@requirement("KI-KML-002", "KI-ID-001", "KI-KML-005")
def test_handles_may_be_used_before_they_are_declared(space: Space) -> None:
    space.write(DOUBTS)
    handles = space.handles(
        """MUTATE {
          ENSURE PROPOSITION ?m (?a, "doubts", ?p)
          ENSURE PROPOSITION ?p (?a, "knows", ?b)
          CREATE CONCEPT ?e {
            TYPE "Commitment" SET ATTRIBUTES {summary: "s", status: "pending"}
            SET STRUCTURAL { ("committed_to", ?u) }
          }
          CREATE CONCEPT ?a { TYPE "Person" }
          CREATE CONCEPT ?b { TYPE "Person" }
          UPSERT CONCEPT ?u { MATCH {type: "Person", key: "u"} }
        }"""
    )
    assert space.element(handles["m"])["object"] == {"id": handles["p"]}
    assert next(iter(space.element(handles["e"])["structural"].values())) == [{"id": handles["u"]}]


@requirement("KI-KML-002")
def test_propositions_about_each_other_are_refused(space: Space) -> None:
    space.write(
        'DEFINE PREDICATE "doubts" {description: "d", subject: {kinds: :k}, object: {kinds: :k}}', k=["Proposition"]
    )
    text = 'MUTATE { ENSURE PROPOSITION ?p (?q, "doubts", ?q) ENSURE PROPOSITION ?q (?p, "doubts", ?p) }'
    assert space.refused(text) == "ReferenceError"


@requirement("KI-TX-001", "KI-TX-004")
def test_one_failing_clause_leaves_nothing_of_the_block(space: Space, people: People) -> None:
    before = space.element(people.alice)
    text = 'MUTATE { UPDATE :a SET ATTRIBUTES {age: 1} CREATE CONCEPT ?e { TYPE "Event" NAME "no summary" } }'
    assert space.refused(text, a=people.alice) == "ConstraintViolation"
    assert space.element(people.alice) == before


@requirement("KI-TX-004")
def test_the_final_state_counts_not_the_way_there(space: Space) -> None:
    space.write('MUTATE { CREATE CONCEPT ?e { TYPE "Event" } UPDATE ?e SET ATTRIBUTES {summary: "later"} }')


@requirement("KI-ERR-001")
def test_every_fault_of_a_block_is_told_at_once(space: Space, people: People) -> None:
    error = space.error(
        """MUTATE {
          ASSERT (:a, "lives_in", "C-99") { by: :a, mode: "stated" }
          CREATE CONCEPT ?s { TYPE "Spaceship" }
          ASSERT (?s, "knows", :a) { by: :a, mode: "stated" }
          ASSERT (:a, "knows", :a) { by: "E-1", mode: "stated", confidence: 7 }
        }""",
        a=people.alice,
    )
    assert error["code"] == "SchemaSymbolNotFound"
    faults = error["details"]["faults"]
    assert {(fault["clause"], fault["code"]) for fault in faults} == {
        (0, "NotFoundOrNotVisible"),
        (1, "SchemaSymbolNotFound"),
        (3, "StructuralReferenceInvalid"),
    }
    assert all(fault["hint"] for fault in faults)


@requirement("KI-TX-011", "KI-ERR-060")
def test_a_plan_over_the_stated_size_is_refused_whole(space: Space) -> None:
    small = Engine(space.store, PackageLibrary.bundled(), clock=space.clock, limits=replace(Limits(), plan_elements=3))
    clauses = " ".join(f'CREATE CONCEPT ?c{n} {{ TYPE "Person" }}' for n in range(4))
    outcome = small.run(f"MUTATE {{ {clauses} }}")
    assert outcome.response["results"][0]["error"]["code"] == "TransactionTooLarge"
    assert space.seq == 0


# --- commits ----------------------------------------------------------------------------------------------------------


@requirement("KI-TX-031", "KI-TX-033", "KI-ID-005", "KI-TX-013", "KI-LEX-024")
def test_a_commit_has_one_envelope_of_names_and_one_record(space: Space, people: People) -> None:
    space.write('UPDATE :a SET ATTRIBUTES {secret: "classified-value"}', a=people.alice)
    commit = space.commit(2)
    assert "classified-value" not in str(commit.envelope)
    assert {name: commit.envelope[name] for name in ("kip", "space_id", "space_seq", "tx_id", "committed_at")} == {
        "kip": "2.0",
        "space_id": "kip:space:default",
        "space_seq": 2,
        "tx_id": "kip:space:default#2",
        "committed_at": "2026-09-20T00:00:00.000Z",
    }
    assert commit.envelope["schema_environment_version"] == 1
    assert commit.record["governance"]["permissions"] == ["update"]
    assert commit.record["change_summary"] == {"update": 1}
    assert commit.record["origin"]["principal_id"] == "owner"
    assert space.seq == 2


@requirement("KI-TX-032")
def test_entries_come_in_order_of_number(space: Space) -> None:
    clauses = " ".join(f'CREATE CONCEPT ?c{n} {{ TYPE "Person" }}' for n in range(12))
    changes = space.write(f"MUTATE {{ {clauses} }}")["changes"]
    assert [entry["id"] for entry in changes] == [f"C-{n}" for n in range(1, 13)]


# --- DEFINE -----------------------------------------------------------------------------------------------------------


@requirement("KI-SCHEMA-024", "KI-SCHEMA-031", "KI-TX-036")
def test_define_commits_alone_and_serves_the_next_operation(space: Space) -> None:
    answer = space.answer('DEFINE PREDICATE "mentors" {description: "The subject mentors the object."}')
    assert answer["result"] == {
        "ref": "kip://local/draft@0.0.0/mentors",
        "schema_environment_version": 2,
        "control_changes": [{"kind": "schema", "version": "1"}],
    }
    assert answer["receipt"]["schema_environment_version"] == 2
    envelope = space.commit(1).envelope
    assert (envelope["changes"], envelope["control_changes"]) == ([], [{"kind": "schema", "version": "1"}])
    space.write('MUTATE { CREATE CONCEPT ?a { TYPE "Person" } ENSURE PROPOSITION (?a, "mentors", ?a) }')


@requirement("KI-SCHEMA-025", "KI-SCHEMA-027", "KI-SCHEMA-028")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('DEFINE PREDICATE "knows" {description: "d"}', "SchemaSymbolConflict"),
        ('DEFINE CONCEPT TYPE "Person" {description: "d"}', "SchemaSymbolConflict"),
        ('DEFINE PREDICATE "x" {}', "ConstraintViolation"),
        ('DEFINE PREDICATE "x" {description: "d", open_world: :closed}', "ConstraintViolation"),
        ('DEFINE PREDICATE "x" {description: "d", subject: {concept_types: ["Nope"]}}', "SchemaSymbolNotFound"),
        ('DEFINE PREDICATE "" {description: "d"}', "InvalidIdentifier"),
    ],
)
def test_a_draft_is_new_and_modest(space: Space, text: str, code: str) -> None:
    assert space.refused(text, closed=False) == code


@requirement("KI-SCHEMA-025", "KI-GOV-034")
def test_define_needs_its_permission(space: Space) -> None:
    text = 'DEFINE PREDICATE "x" {description: "d"}'
    instrument = preset_session("instrument", principal_id="i", channel="telemetry")
    assert space.refused(text, session=instrument) == "NotAuthorized"
    space.write(text, session=preset_session("agent", principal_id="a", channel="agent"))
