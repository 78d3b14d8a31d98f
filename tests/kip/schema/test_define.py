"""DEFINE end to end: permission, place in a request, and use of what was defined."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.context import OWNER_PERMISSIONS, Session
from tests.kip.conftest import Space

MENTORS = 'DEFINE PREDICATE "mentors" {description: "teaches", subject: {concept_types: ["Person"]}}'
PEOPLE = 'MUTATE { CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"} CREATE CONCEPT ?b {TYPE "Person" NAME "Ben"} }'
WRITER = Session(
    principal_id="writer", channel="test", permissions=OWNER_PERMISSIONS - {"propose_schema", "manage_schema"}
)
PROPOSER = Session(principal_id="proposer", channel="test", permissions=frozenset({"propose_schema", "read"}))


def sequence(*commands: str, mode: str = "sequence") -> dict[str, Any]:
    return {"kip": "2.0", "operations": [{"command": text} for text in commands], "execution": {"mode": mode}}


@pytest.mark.requirement("KI-SCHEMA-024", "KI-SCHEMA-019", "KI-CAP-019")
def test_it_answers_the_reference_and_the_new_version(space: Space) -> None:
    result = space.write(MENTORS)
    assert (result["ref"], result["schema_environment_version"]) == ("kip://local/draft@0.0.0/mentors", 2)
    assert space.seq == 1
    assert space.commit(1).envelope["changes"] == []
    assert [entry["kind"] for entry in space.commit(1).envelope["control_changes"]] == ["schema"]


@pytest.mark.requirement("KI-SCHEMA-025", "KI-SCHEMA-018")
def test_it_needs_a_permission_that_gives_nothing_else(space: Space) -> None:
    assert space.refused(MENTORS, session=WRITER) == "NotAuthorized"
    space.write(MENTORS, session=PROPOSER)
    assert space.refused(PEOPLE, session=PROPOSER) == "NotAuthorized"
    assert space.refused('DEFINE PREDICATE "prefers" {description: "mine"}', session=PROPOSER) == "SchemaSymbolConflict"


@pytest.mark.requirement("KI-SCHEMA-026")
def test_it_stands_alone(space: Space) -> None:
    assert space.refused(f"MUTATE {{ {MENTORS} }}") == "InvalidSyntax"
    response = space.execute(sequence(MENTORS, PEOPLE, mode="atomic"))
    assert response["status"] == "failed"
    assert space.seq == 0


@pytest.mark.requirement("KI-SCHEMA-031")
def test_a_sequence_may_define_and_then_use(space: Space) -> None:
    use = 'MUTATE { CREATE CONCEPT ?a {TYPE "Boat" NAME "Ibis" SET ATTRIBUTES {masts: 2}} }'
    boat = 'DEFINE CONCEPT TYPE "Boat" {description: "floats", attributes: {fields: {masts: {type: "number"}}}}'
    assert space.execute(sequence(use, boat))["status"] == "failed"
    response = space.execute(sequence(boat, use))
    assert response["status"] == "succeeded"
    assert space.element("C-1")["schema_ref"] == "kip://local/draft@0.0.0/Boat"
    assert space.refused('CREATE CONCEPT ?b {TYPE "Boat" SET ATTRIBUTES {masts: "two"}}') == "ConstraintViolation"


@pytest.mark.requirement("KI-SCHEMA-032")
def test_a_retry_is_told_by_its_key(space: Space) -> None:
    envelope = {"execution": {"mode": "independent", "idempotency_key": "k"}}
    first = space.write(MENTORS, envelope=envelope)
    assert space.write(MENTORS, envelope=envelope) == first
    assert space.refused(MENTORS) == "SchemaSymbolConflict"


@pytest.mark.requirement("KI-SCHEMA-002", "KI-SCHEMA-010")
def test_stored_state_keeps_exact_references(space: Space) -> None:
    space.write(MENTORS)
    space.write(PEOPLE)
    space.write('ENSURE PROPOSITION ("C-1", "mentors", "C-2")')
    space.write('UPDATE "C-1" SET FACET "MnemonicState" {salience: 0.5}')
    assert space.element("P-1")["predicate_ref"] == "kip://local/draft@0.0.0/mentors"
    assert space.element("C-1")["schema_ref"] == "kip://profiles/cognitive-memory@2.0.0/Person"
    assert list(space.element("C-1")["facets"]) == ["kip://profiles/cognitive-memory@2.0.0/MnemonicState"]


@pytest.mark.requirement("KI-SCHEMA-020")
def test_a_stale_vocabulary_is_a_failed_precondition(space: Space) -> None:
    space.write(MENTORS)
    stale = {"preconditions": {"schema_environment_version": 1}}
    assert space.refused(PEOPLE, envelope=stale) == "PreconditionFailed"
    space.write(PEOPLE, envelope={"preconditions": {"schema_environment_version": 2}})


@pytest.mark.requirement("KI-SCHEMA-017", "KI-SCHEMA-031")
def test_the_past_does_not_know_the_word(space: Space) -> None:
    space.write(PEOPLE)
    space.write(MENTORS)
    find = 'FIND(?p) WHERE { ?p (?x, "mentors", ?y) }'
    assert space.answer(find)["result"] == []
    assert space.refused(f"{find} AS OF SEQ 1") == "SchemaSymbolNotFound"


@pytest.mark.requirement("KI-SCHEMA-015")
def test_no_policy_closes_an_open_world(space: Space) -> None:
    space.write(PEOPLE)
    for policy in [row["id"] for row in space.answer("LIST EPISTEMIC POLICIES")["result"]]:
        query = 'FIND(?b.status) WHERE { ?b BELIEF ("C-1", "knows", "C-2") } WITH EPISTEMIC {policy: :p}'
        assert space.answer(query, p=policy)["result"] == ["insufficient"]
