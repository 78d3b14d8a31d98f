"""The second half of the gate: what a Formation pass may write, on the real engine, with a model that just obeys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brain.agents.jobs import RunResult
from tests.agents.space import DONE, MONDAY, TestSpace, kip, said

ALICE_SAYS = 'by: :speaker1, mode: "stated", at: :at1, evidence: :msg1'
CLAIM = f'ASSERT (:speaker1, "likes", :self) {{{ALICE_SAYS}}}'


def attempt(space: TestSpace, *commands: str, **parameters: Any) -> RunResult:
    """Alice says something, and the model runs these commands."""
    steps = [kip(command, **parameters) for command in commands]
    return space.form([*steps, DONE], said("Bob likes Brain. I do too.", "Alice"), said("ok", "Carol", plus_ms=1000))


def assert_refused(space: TestSpace, result: RunResult, code: str) -> None:
    assert code in space.tool_text(), space.tool_text()
    assert "hint" in space.tool_text()
    assert result.committed == ()


def bob(space: TestSpace) -> str:
    """Bob, known from an earlier conversation, with a claim of his own."""
    space.form([kip(f'ASSERT (:speaker1, "speaks", "fi") {{{ALICE_SAYS}}}'), DONE], said("I speak Finnish", "Bob"))
    return str(space.rows('FIND(?p.id) WHERE { ?p {type: "Person", key: "bob"} }')[0])


def assertions(space: TestSpace) -> list[dict[str, Any]]:
    return list(space.rows("FIND(?a) WHERE { ?a ASSERTION {} }"))


def test_a_speakers_own_dated_claim_is_written(space: TestSpace) -> None:
    result = attempt(space, CLAIM)
    assert len(result.committed) == 1
    [claim] = assertions(space)
    assert claim["asserted_at"] == MONDAY
    assert len(claim["evidence"]) == 1


@pytest.mark.requirement("BR-GATE-003", "BR-GATE-032")
@pytest.mark.parametrize("by", ["by: :bob", 'by: "kip:principal:system"', 'by: "C-999"', "by: :self", "by: :speaker2"])
def test_nobody_speaks_for_others(space: TestSpace, by: str) -> None:
    who = bob(space)
    before = space.head()
    attempt(space, CLAIM.replace("by: :speaker1", by), bob={"id": who})
    assert '"status":"failed"' in space.tool_text().replace("\\", "")
    assert len(assertions(space)) == 1
    assert space.head() - before <= 1  # at most the speakers were stored


@pytest.mark.requirement("BR-GATE-032")
@pytest.mark.parametrize(("attribution", "is_written"), [("speaker", False), ("named", True), ("open", True)])
def test_attribution_decides_whether_a_named_actor_may_be_quoted(
    space: TestSpace, attribution: Any, is_written: bool
) -> None:
    who = bob(space)
    space.attribution = attribution
    attempt(space, CLAIM.replace("by: :speaker1", "by: :bob"), bob={"id": who})
    assert (len(assertions(space)) == 2) is is_written


@pytest.mark.requirement("BR-GATE-032")
@pytest.mark.parametrize(("attribution", "is_written"), [("named", False), ("open", True)])
def test_an_actor_who_is_not_named_needs_the_open_level(space: TestSpace, attribution: Any, is_written: bool) -> None:
    space.attribution = attribution
    attempt(space, CLAIM.replace("by: :speaker1", "by: :speaker2"))
    assert bool(assertions(space)) is is_written


@pytest.mark.requirement("BR-GATE-032")
def test_the_brain_may_infer_in_its_own_name(space: TestSpace) -> None:
    result = attempt(space, 'ASSERT (:speaker1, "speaks", "en") {by: :self, mode: "inferred", evidence: :msg1}')
    assert len(result.committed) == 1


@pytest.mark.requirement("BR-GATE-033")
def test_a_claim_needs_a_captured_message(space: TestSpace) -> None:
    result = attempt(space, CLAIM.replace(", evidence: :msg1", ""))
    assert_refused(space, result, "NotAuthorized")


@pytest.mark.requirement("BR-GATE-033")
@pytest.mark.parametrize(
    "evidence_class", ["user_statement", "agent_statement", "tool_result", "external_record", "outcome"]
)
def test_evidence_of_the_hosts_classes_is_not_made_by_models(space: TestSpace, evidence_class: str) -> None:
    result = attempt(
        space,
        f'MUTATE {{ CREATE EVIDENCE ?e {{ SET FIELDS {{evidence_class: "{evidence_class}", payload: "Bob owes me"}} }} '
        'ASSERT (:speaker1, "likes", :self) {by: :speaker1, mode: "stated", at: :at1, evidence: [?e, :msg1]} }',
    )
    assert result.committed == ()
    assert '"status":"failed"' in space.tool_text().replace("\\", "")


@pytest.mark.requirement("BR-GATE-011", "BR-GATE-034")
@pytest.mark.parametrize(
    "at",
    ["1999-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z", "2026-05-04T09:00:00.001Z", "2026-05-04T09:00:01.000Z"],
)
def test_a_claim_is_dated_by_its_message_to_the_millisecond(space: TestSpace, at: str) -> None:
    result = attempt(space, CLAIM.replace("at: :at1", f'at: "{at}"'))
    assert_refused(space, result, "ConstraintViolation")


@pytest.mark.requirement("BR-GATE-011")
def test_a_claim_dated_by_the_world_alone_is_written(space: TestSpace) -> None:
    result = attempt(space, CLAIM.replace("at: :at1", 'valid: {from: "2020-01-01T00:00:00.000Z"}'))
    assert len(result.committed) == 1


@pytest.mark.requirement("BR-GATE-031")
@pytest.mark.parametrize(
    "command",
    [
        'TRANSITION "A-1" TO "retracted"',
        'TRANSITION ?a TO "retracted" WHERE { ?a ASSERTION {mode: "stated"} } LIMIT 20',
        f'ASSERT (:bob, "speaks", "sv") {{{ALICE_SAYS}}} SUPERSEDING "A-1"',
        f'MUTATE {{ ASSERT ?n (:bob, "speaks", "sv") {{{ALICE_SAYS}}} TRANSITION "A-1" TO "superseded" BY ?n }}',
    ],
)
def test_nobody_takes_back_anothers_claim(space: TestSpace, command: str) -> None:
    who = bob(space)
    attempt(space, command, **({"bob": {"id": who}} if ":bob" in command else {}))
    assert '"status":"failed"' in space.tool_text().replace("\\", "")
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["active"]


@pytest.mark.requirement("BR-GATE-031")
def test_a_speaker_takes_back_their_own_claim(space: TestSpace) -> None:
    bob(space)
    space.form([kip('TRANSITION "A-1" TO "retracted"'), DONE], said("forget the Finnish", "Bob"))
    assert [claim["lifecycle"]["status"] for claim in assertions(space)] == ["retracted"]


@pytest.mark.requirement("BR-GATE-031")
def test_nobody_corrects_anothers_evidence(space: TestSpace) -> None:
    bob(space)
    attempt(
        space,
        'MUTATE { CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "derived_result", payload: "no"} } '
        'TRANSITION "E-1" TO "corrected" BY ?e }',
    )
    assert "NotAuthorized" in space.tool_text()


@pytest.mark.requirement("BR-GATE-035")
@pytest.mark.parametrize(
    "activity_class",
    [
        "action_gate",
        "commitment_review",
        "evaluation",
        "outcome_observation",
        "recording_repair",
        "standing_verdict",
        "watch_fire",
    ],
)
def test_activities_of_the_hosts_classes_are_not_made_by_models(space: TestSpace, activity_class: str) -> None:
    result = attempt(
        space, f'CREATE ACTIVITY ?x {{ SET FIELDS {{activity_class: "{activity_class}", status: "completed"}} }}'
    )
    assert result.committed == ()
    assert '"status":"failed"' in space.tool_text().replace("\\", "")


@pytest.mark.requirement("BR-GATE-016")
@pytest.mark.parametrize(
    ("attributes", "is_written"),
    [
        ('task_class: "consolidate", summary: "s", status: "pending"', True),
        ('task_class: "consolidate", summary: "s", status: "completed"', False),
        ('task_class: "consolidate", summary: "s", status: "running"', False),
    ],
)
def test_a_new_task_is_pending(space: TestSpace, attributes: str, is_written: bool) -> None:
    result = attempt(space, f'CREATE CONCEPT ?t {{ TYPE "SleepTask" SET ATTRIBUTES {{{attributes}}} }}')
    assert bool(result.committed) is is_written


@pytest.mark.requirement("BR-GATE-016")
@pytest.mark.parametrize(("status", "is_written"), [("disarmed", True), ("armed", False)])
def test_a_new_watch_is_disarmed(space: TestSpace, status: str, is_written: bool) -> None:
    result = attempt(
        space,
        'CREATE CONCEPT ?w { TYPE "Watch" SET ATTRIBUTES {watch_class: "delta", summary: "s", condition: "c", '
        f'status: "{status}"}} }}',
    )
    assert bool(result.committed) is is_written, space.tool_text()


@pytest.mark.requirement("BR-GATE-013")
@pytest.mark.parametrize("name", ["msg1", "at1", "speaker1", "self", "now"])
def test_the_hosts_bindings_are_not_redefined(space: TestSpace, name: str) -> None:
    result = attempt(space, CLAIM, **{name: {"id": "C-1"}})
    assert_refused(space, result, "NotAuthorized")


@pytest.mark.requirement("BR-GATE-013")
def test_a_model_brings_no_ingest_block(space: TestSpace) -> None:
    from brain.agents.model import call

    arguments = {"command": CLAIM, "ingest": {"evidence": [{"key": "msg1", "payload": "forged"}]}}
    result = space.form([call("execute_kip", json.dumps(arguments)), DONE], said("hi", "Alice"))
    assert_refused(space, result, "InvalidRequestEnvelope")


@pytest.mark.parametrize("number", [2**53, 2**63, -(2**70), 1e300])
def test_a_number_that_json_does_not_carry_exactly_is_refused_and_the_pass_goes_on(
    space: TestSpace, number: float
) -> None:
    result = attempt(space, CLAIM, unused=number)
    assert_refused(space, result, "InvalidRequestEnvelope")


@pytest.mark.requirement("BR-GATE-003", "BR-FORM-020")
def test_one_bad_clause_keeps_nothing_of_the_block(space: TestSpace) -> None:
    forged = f'ASSERT (:speaker1, "speaks", "en") {{{ALICE_SAYS.replace("speaker1", "speaker2")}}}'
    result = attempt(space, f"MUTATE {{ {CLAIM} {forged} }}")
    assert_refused(space, result, "NotAuthorized")
    assert assertions(space) == []
    assert space.rows("FIND(?e) WHERE { ?e EVIDENCE {} }") == []


@pytest.mark.parametrize(
    "command",
    [
        'UPSERT CONCEPT ?b { MATCH {type: "Person", key: "bob"} SET FIELDS {name: "Mallory"} }',
        'UPSERT CONCEPT ?b { MATCH {type: "Person", key: "bob"} SET ATTRIBUTES {description: "a thief"} }',
        'UPSERT CONCEPT ?b { MATCH {type: "Person", key: "bob"} SET ATTRIBUTES {aliases: ["Mallory"]} }',
        'UPSERT CONCEPT ?b { MATCH {type: "Person", key: "alice"} SET FIELDS {name: "Administrator"} }',
    ],
)
def test_known_people_are_not_rewritten(space: TestSpace, command: str) -> None:
    bob(space)
    attempt(space, CLAIM, command)
    assert "is not overwritten here" in space.tool_text()
    names = space.rows('FIND(?p.name) WHERE { ?p {type: "Person"} }')
    assert sorted(names) == ["Alice", "Bob", "Brain", "Carol"]


def test_a_known_thing_gets_what_it_lacked(space: TestSpace) -> None:
    attempt(space, 'UPSERT CONCEPT ?o { MATCH {type: "Organization", key: "acme"} SET FIELDS {name: "Acme"} }')
    result = attempt(
        space, 'UPSERT CONCEPT ?o { MATCH {type: "Organization", key: "acme"} SET ATTRIBUTES {city: "Oslo"} }'
    )
    assert len(result.committed) == 1
    attempt(space, 'UPSERT CONCEPT ?o { MATCH {type: "Organization", key: "acme"} SET ATTRIBUTES {city: "Rome"} }')
    assert space.rows('FIND(?o.attributes.city) WHERE { ?o {type: "Organization"} }') == ["Oslo"]


@pytest.mark.requirement("BR-GATE-014")
def test_a_facet_of_the_hosts_is_refused_before_anything_runs(space: TestSpace) -> None:
    result = attempt(space, 'CREATE CONCEPT ?s { TYPE "SleepTask" SET FACET "LeaseState" {holder: "me"} }')
    assert_refused(space, result, "UnsupportedCapability")


@pytest.mark.requirement("BR-GATE-019", "BR-FORM-021")
def test_a_word_is_defined_and_then_used(space: TestSpace) -> None:
    claim = f'ASSERT (:speaker1, "plays", :self) {{{ALICE_SAYS}}}'
    define = 'DEFINE PREDICATE "plays" {description: "What the subject plays."}'
    result = attempt(space, claim, define, claim)
    assert "SchemaSymbolNotFound" in space.tool_text()
    assert len(result.committed) == 2
    tasks = space.rows('FIND(?t.attributes.symbol_ref) WHERE { ?t {type: "SleepTask"} }')
    assert tasks == ["kip://local/draft@0.0.0/plays"]


def test_open_attribution_lets_times_differ_as_the_rust_service_does(space: TestSpace) -> None:
    space.attribution = "open"
    result = attempt(space, CLAIM.replace("at: :at1", 'at: "2019-01-01T00:00:00.000Z"'))
    assert len(result.committed) == 1


@pytest.mark.requirement("BR-GATE-015")
@pytest.mark.parametrize("operation", ["arm_watch", "lease_task"])
def test_formation_has_no_way_to_the_runtime(space: TestSpace, operation: str) -> None:
    from brain.agents.model import call

    result = space.form([call("memory_runtime", json.dumps({"operation": operation})), DONE], said("hi", "Alice"))
    assert_refused(space, result, "UnsupportedCapability")


@pytest.mark.requirement("BR-GATE-030")
def test_an_owners_raw_command_meets_the_engine_but_no_role_table(space: TestSpace) -> None:
    made = space.write('CREATE CONCEPT ?c { TYPE "Topic" NAME "chess" }')["handles"]["c"]
    space.write(f'UPDATE "{made}" SET ATTRIBUTES {{level: "club"}}')
    refused = space.engine.run(f'UPDATE "{made}" SET FACET "NoSuchFacet" {{a: 1}}').response["results"][0]
    assert refused["error"]["code"] == "SchemaSymbolNotFound"
