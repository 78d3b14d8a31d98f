"""The first half of the gate: which statements a role may say at all."""

from __future__ import annotations

from typing import Any

import pytest

from brain import errors
from brain.gate.gate import check_request
from brain.gate.roles import Role
from brain.gate.statements import admission
from brain.kip.parser import parse

READS = [
    'FIND(?p) WHERE { ?p {type: "Person"} }',
    "DESCRIBE PRIMER",
    "LIST TYPES",
    'SEARCH CONCEPT "x" LIMIT 3',
    "HISTORY SPACE",
    'PREVIEW KML "MUTATE {}"',
]
RECORDS = [
    'CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {summary: "s"} }',
    'UPSERT CONCEPT ?p { MATCH {type: "Person", key: "k"} SET FIELDS {name: "N"} }',
    'ENSURE PROPOSITION ?p ("C-1", "knows", "C-2")',
    'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "derived_result", payload: "x"} }',
    'CREATE ASSERTION ?a { SET FIELDS {proposition: "P-1", asserted_by: "C-1", mode: "inferred", stance: "support"} }',
    'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "extraction", status: "completed"} }',
    'ASSERT ("C-1", "knows", "C-2") {by: "C-1", mode: "stated", at: "2026-01-01T00:00:00.000Z", evidence: :msg1}',
    'TRANSITION "A-1" TO "retracted"',
    'MUTATE { ENSURE PROPOSITION ("C-1", "knows", "C-2") }',
]
ADMINISTRATION = [
    'UPDATE "C-1" SET FIELDS {name: "x"}',
    'SET RETENTION "C-1" {retention_class: "pinned"}',
    'PURGE "C-1" CONFIRM "PURGE"',
    'PURGE PAYLOAD "E-1" CONFIRM "PURGE"',
    'MERGE CONCEPT "C-1" INTO "C-2"',
    'TRANSITION "C-1" TO "archived"',
    'TRANSITION "C-1" TO "tombstoned"',
]
DEFINE = 'DEFINE CONCEPT TYPE "Gizmo" {description: "A gadget."}'


def judge(role: Role, text: str, **parameters: Any) -> None:
    admission(role, frozenset({"msg1"}), checks_claim_time=role is Role.FORMATION)(
        parse(text), {"msg1": {"id": "E-1"}} | parameters
    )


@pytest.mark.requirement("BR-GATE-005")
@pytest.mark.parametrize("text", READS)
@pytest.mark.parametrize("role", list(Role))
def test_everybody_may_read(role: Role, text: str) -> None:
    judge(role, text)


@pytest.mark.requirement("BR-GATE-001", "BR-GATE-005", "BR-GATE-006", "BR-RECALL-009")
@pytest.mark.parametrize("text", [*RECORDS, *ADMINISTRATION, DEFINE])
def test_a_reader_writes_nothing(text: str) -> None:
    with pytest.raises(errors.ReadonlyViolation):
        judge(Role.READER, text)


@pytest.mark.requirement("BR-GATE-007")
@pytest.mark.parametrize("text", [*RECORDS, DEFINE])
def test_formation_may_record(text: str) -> None:
    judge(Role.FORMATION, text)


@pytest.mark.requirement("BR-GATE-008", "BR-GATE-009")
@pytest.mark.parametrize("text", ADMINISTRATION)
@pytest.mark.parametrize("wrap", ["{}", "MUTATE {{ {} }}"])
def test_formation_administers_nothing_in_any_wrapping(text: str, wrap: str) -> None:
    with pytest.raises(errors.NotAuthorized) as refused:
        judge(Role.FORMATION, wrap.format(text))
    assert refused.value.hint


@pytest.mark.requirement("BR-GATE-002", "BR-GATE-009")
@pytest.mark.parametrize("parameters", [{}, {"state": "retracted"}, {"state": "archived"}])
def test_formation_writes_states_as_literals(parameters: dict[str, str]) -> None:
    with pytest.raises(errors.NotAuthorized):
        judge(Role.FORMATION, 'TRANSITION "A-1" TO :state', **parameters)


@pytest.mark.requirement("BR-GATE-010", "BR-GATE-025")
@pytest.mark.parametrize(
    ("limit", "is_admitted"), [("", False), ("LIMIT 21", False), ("LIMIT 20", True), ("LIMIT :n", False)]
)
@pytest.mark.parametrize("role", [Role.FORMATION, Role.MAINTENANCE])
def test_a_selection_needs_a_bound(role: Role, limit: str, is_admitted: bool) -> None:
    text = f'TRANSITION ?a TO "retracted" WHERE {{ ?a ASSERTION {{mode: "stated"}} }} {limit}'
    if is_admitted:
        judge(role, text)
    else:
        with pytest.raises(errors.NotAuthorized):
            judge(role, text)


@pytest.mark.requirement("BR-GATE-011")
@pytest.mark.parametrize(
    ("members", "is_admitted"),
    [
        ('mode: "stated", evidence: :msg1', False),
        ('mode: "stated", evidence: [:other, :msg1]', False),
        ('mode: "stated", evidence: :msg1, valid: {until: "2026-01-01T00:00:00.000Z"}', False),
        ('mode: "stated", evidence: :msg1, at: "2026-01-01T00:00:00.000Z"', True),
        ('mode: "stated", evidence: :msg1, valid: {from: "2026-01-01T00:00:00.000Z"}', True),
        ('mode: "stated", evidence: :msg1, valid: :valid', True),
        ('mode: "inferred", evidence: :msg1', True),
        ('mode: "stated", evidence: :other', True),
    ],
)
def test_a_claim_from_a_message_is_dated(members: str, is_admitted: bool) -> None:
    text = f'ASSERT ("C-1", "knows", "C-2") {{by: "C-1", {members}}}'
    bound = {"other": {"id": "E-9"}, "valid": {"from": "2026-01-01T00:00:00.000Z"}}
    if is_admitted:
        judge(Role.FORMATION, text, **bound)
    else:
        with pytest.raises(errors.ConstraintViolation):
            judge(Role.FORMATION, text, **bound)


def test_the_long_form_of_a_claim_is_dated_too() -> None:
    text = (
        'CREATE ASSERTION ?a { SET FIELDS {proposition: "P-1", asserted_by: "C-1", stance: "support", mode: "stated"} '
        'SET STRUCTURAL { ("evidence", :msg1) {role: "support"} } }'
    )
    with pytest.raises(errors.ConstraintViolation):
        judge(Role.FORMATION, text)


@pytest.mark.requirement("BR-GATE-012")
@pytest.mark.parametrize(
    "members",
    [
        "memory_strength: 0.5",
        'memory_strength: 0.5, last_metabolized_at: "2026-01-01T00:00:00.000Z"',
        "memory_strength: 0.5, strength_policy: :p",
    ],
)
@pytest.mark.parametrize("role", [Role.FORMATION, Role.MAINTENANCE])
def test_a_strength_needs_its_anchor_and_policy(role: Role, members: str) -> None:
    with pytest.raises(errors.ConstraintViolation):
        judge(role, f'CREATE CONCEPT ?e {{ TYPE "Event" SET FACET "MnemonicState" {{{members}}} }}')


@pytest.mark.requirement("BR-GATE-014", "BR-GATE-024")
@pytest.mark.parametrize(
    "facet",
    ["TrialRecord", "EvaluationRecord", "AttemptRecord", "OutcomeRecord", "WatchState", "LeaseState", "GradingState"],
)
@pytest.mark.parametrize("role", [Role.FORMATION, Role.MAINTENANCE])
@pytest.mark.parametrize("prefix", ["", "kip://profiles/cognitive-memory@2.0.0/"])
def test_host_facets_are_not_for_models(role: Role, facet: str, prefix: str) -> None:
    with pytest.raises(errors.UnsupportedCapability):
        judge(role, f'CREATE CONCEPT ?e {{ TYPE "Skill" SET FACET "{prefix}{facet}" {{a: 1}} }}')


@pytest.mark.requirement("BR-GATE-014")
@pytest.mark.parametrize(
    "field", ["current_trial", "current_evaluation", "derived_from", "compiled_from", "consolidated_to"]
)
def test_lineage_fields_are_not_for_models(field: str) -> None:
    with pytest.raises(errors.UnsupportedCapability):
        judge(Role.FORMATION, f'CREATE CONCEPT ?e {{ TYPE "Insight" SET STRUCTURAL {{ ("{field}", "C-1") }} }}')


@pytest.mark.requirement("BR-GATE-002")
def test_a_facet_named_by_an_unbound_parameter_is_refused() -> None:
    with pytest.raises(errors.NotAuthorized):
        judge(Role.FORMATION, 'CREATE CONCEPT ?e { TYPE "Event" SET FACET :facet {a: 1} }')


@pytest.mark.requirement("BR-GATE-023")
@pytest.mark.parametrize("text", ['PURGE "C-1" CONFIRM "PURGE"', 'PURGE PAYLOAD "E-1" CONFIRM "PURGE"', DEFINE])
def test_maintenance_neither_erases_nor_defines(text: str) -> None:
    with pytest.raises(errors.NotAuthorized):
        judge(Role.MAINTENANCE, text)


@pytest.mark.parametrize("text", [*RECORDS, *ADMINISTRATION[:2], *ADMINISTRATION[4:]])
def test_maintenance_may_tidy(text: str) -> None:
    judge(Role.MAINTENANCE, text)


@pytest.mark.requirement("BR-GATE-026")
def test_maintenance_sets_no_hold() -> None:
    judge(Role.MAINTENANCE, 'SET RETENTION "C-1" {retention_class: "short", expires_at: "2026-01-01T00:00:00.000Z"}')
    with pytest.raises(errors.NotAuthorized):
        judge(Role.MAINTENANCE, 'SET RETENTION "C-1" {retention_class: "short", legal_hold: true}')


@pytest.mark.requirement("BR-GATE-019")
def test_definitions_come_alone_and_few_at_a_time() -> None:
    def define(n: int) -> str:
        return f'DEFINE CONCEPT TYPE "Gizmo{n}" {{description: "A gadget."}}'

    assert len(check_request([define(n) for n in range(8)])) == 8
    with pytest.raises(errors.NotAuthorized):
        check_request([define(n) for n in range(9)])
    with pytest.raises(errors.NotAuthorized):
        check_request([define(1), RECORDS[0]])


@pytest.mark.requirement("BR-GATE-019", "BR-GATE-020", "BR-GATE-021", "BR-GATE-038")
@pytest.mark.parametrize(
    "text",
    [
        'DEFINE CONCEPT TYPE :name {description: "x"}',
        'DEFINE PREDICATE "likes_it" {description: :d}',
        'DEFINE PREDICATE "likes_it" {description: "x", subject: {concept_types: [:t]}}',
        'DEFINE CONCEPT TYPE "gizmo" {description: "x"}',
        'DEFINE PREDICATE "LikesIt" {description: "x"}',
        f'DEFINE PREDICATE "a{"b" * 64}" {{description: "x"}}',
        'DEFINE PREDICATE "likes_it" {}',
        'DEFINE PREDICATE "likes_it" {description: "  "}',
        f'DEFINE PREDICATE "likes_it" {{description: "{"x" * 201}"}}',
        'DEFINE PREDICATE "likes_it" {description: "one\\ntwo"}',
        'DEFINE PREDICATE "likes_it" {description: "x", open_world: false}',
        'DEFINE PREDICATE "likes_it" {description: "x", complete: true}',
        'DEFINE PREDICATE "likes_it" {description: "x", mutable: true}',
        'DEFINE CONCEPT TYPE "MemorySpace" {description: "x"}',
        'DEFINE CONCEPT TYPE "Principal" {description: "x"}',
        'DEFINE CONCEPT TYPE "Grant" {description: "x"}',
        'DEFINE PREDICATE "legal_hold" {description: "x"}',
    ],
)
def test_definitions_that_are_refused(text: str) -> None:
    with pytest.raises((errors.NotAuthorized, errors.ConstraintViolation)):
        judge(Role.FORMATION, text)


@pytest.mark.requirement("BR-GATE-021")
def test_a_full_definition_of_a_predicate_is_admitted() -> None:
    judge(
        Role.FORMATION,
        'DEFINE PREDICATE "main_instrument" {description: "What the subject mainly plays.", '
        'subject: {concept_types: ["Person"]}, object: {concept_types: ["Topic"]}, functional: true, '
        'temporal_conflict: "overlapping_valid_time"}',
    )
