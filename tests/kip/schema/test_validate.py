"""What a write may leave behind, against its exact definitions."""

from __future__ import annotations

from typing import Any

import pytest

from brain import errors
from brain.kip.library import PackageLibrary
from brain.kip.schema import Environment
from brain.kip.validate import (
    Carrier,
    check_attributes,
    check_cardinality,
    check_facet,
    check_literal,
    check_object,
    check_structural,
    check_subject,
    check_timestamp,
    references_in,
    required_fields,
)
from brain.store.base import Kind
from tests.kip.schema.conftest import environment_of, package

DIGEST = "sha256:" + "0" * 64
OUTCOME = {
    "task_family": "deploy",
    "attempt_ref": None,
    "metric": "passed",
    "window": "1d",
    "terminal": True,
    "observation_key": "k",
    "observer_config_digest": DIGEST,
    "outcome_status": "success",
}
PERSON = "kip://profiles/cognitive-memory@2.0.0/Person"
PLACE = "kip://domains/general@1.0.0/Place"


def ref(environment: Environment, name: str) -> str:
    return environment.concept_type(name).symbol.ref


class TestAttributes:
    """Members of a Concept's attributes."""

    @pytest.mark.requirement("KI-CONCEPT-004", "KI-PROFILE-003")
    @pytest.mark.parametrize(
        ("type_name", "attributes", "error"),
        [
            ("Event", {}, errors.ConstraintViolation),
            ("Event", {"summary": 7}, errors.ConstraintViolation),
            ("Event", {"summary": "s", "started_at": 5}, errors.TypeMismatch),
            ("Event", {"summary": "s", "started_at": "2026-02-30T00:00:00.000Z"}, errors.ConstraintViolation),
            ("Commitment", {"summary": "s", "status": "maybe"}, errors.ConstraintViolation),
            ("Commitment", {"summary": "s", "status": None}, errors.ConstraintViolation),
            ("Commitment", {"summary": "s", "status": "pending", "priority": "high"}, errors.ConstraintViolation),
            ("Commitment", {"summary": "s", "status": "pending", "priority": True}, errors.ConstraintViolation),
            ("Experience", {"goal": "g", "outcome_status": "failure", "surprise": 1.5}, errors.ConstraintViolation),
            ("Experience", {"goal": "g", "outcome_status": "failure", "step_count": 1.5}, errors.ConstraintViolation),
            ("Experience", {"goal": "g", "outcome_status": "failure", "step_count": -1}, errors.ConstraintViolation),
            (
                "Skill",
                {"skill_class": "workflow", "summary": "s", "status": "proposed", "wings": 2},
                errors.ConstraintViolation,
            ),
            (
                "SkillRevision",
                {"task_family": "", "procedure": "p", "behavior_digest": DIGEST},
                errors.ConstraintViolation,
            ),
            (
                "SkillRevision",
                {"task_family": "f", "procedure": "p", "behavior_digest": "abc"},
                errors.ConstraintViolation,
            ),
        ],
    )
    def test_a_wrong_value_is_refused(
        self, everyday: Environment, type_name: str, attributes: dict[str, Any], error: type[errors.KipError]
    ) -> None:
        with pytest.raises(error):
            check_attributes(everyday, everyday.concept_type(type_name), attributes)

    @pytest.mark.parametrize(
        ("type_name", "attributes"),
        [
            ("Person", {}),
            ("Person", {"aliases": ["x"], "anything": {"at": "all"}}),
            ("Event", {"summary": "s", "started_at": None, "ended_at": "2026-02-28T00:00:00.000Z"}),
            ("Experience", {"goal": "g", "outcome_status": "failure", "step_count": 2.0, "surprise": 1}),
            ("ExperienceStep", {"step_kind": "action", "summary": "s", "result_status": None}),
            ("SkillRevision", {"task_family": "f", "procedure": ["a", {"b": 1}], "behavior_digest": DIGEST}),
        ],
    )
    def test_a_fitting_value_passes(self, everyday: Environment, type_name: str, attributes: dict[str, Any]) -> None:
        check_attributes(everyday, everyday.concept_type(type_name), attributes)

    @pytest.mark.requirement("KI-CONCEPT-005")
    def test_a_required_attribute_cannot_go(self, everyday: Environment) -> None:
        with pytest.raises(errors.ConstraintViolation, match=r"attributes\.goal is required"):
            check_attributes(
                everyday,
                everyday.concept_type("Experience"),
                {"outcome_status": "failure"},
                {"goal": "g", "outcome_status": "failure"},
            )

    @pytest.mark.requirement("KI-CONCEPT-006")
    def test_an_immutable_attribute_keeps_its_first_value(self, everyday: Environment) -> None:
        revision = everyday.concept_type("SkillRevision")
        before = {"task_family": "f", "procedure": [1, {"a": True}], "behavior_digest": DIGEST}
        check_attributes(everyday, revision, {**before, "procedure": [1.0, {"a": True}]}, before)
        with pytest.raises(errors.ConstraintViolation):
            check_attributes(everyday, revision, {**before, "procedure": [1, {"a": 1}]}, before)
        with pytest.raises(errors.ImmutableField):
            check_attributes(everyday, revision, {**before, "recovery": "retry"}, before)

    def test_all_faults_are_told_at_once(self, everyday: Environment) -> None:
        with pytest.raises(errors.ConstraintViolation) as caught:
            check_attributes(everyday, everyday.concept_type("Commitment"), {"status": "maybe", "due_at": 5})
        told = [(fault["code"], fault["path"]) for fault in caught.value.details["faults"]]
        assert told == [
            ("ConstraintViolation", "attributes.status"),
            ("TypeMismatch", "attributes.due_at"),
            ("ConstraintViolation", "attributes.summary"),
        ]

    def test_a_field_may_have_a_format_and_a_schema(self, library: PackageLibrary) -> None:
        fields = {
            "at": {"type": "string", "format": "timestamp"},
            "link": {"type": "string", "format": "uri"},
            "shape": {"type": "object", "value_schema": {"required": ["sides"]}},
        }
        environment = environment_of(library, package("t/one", concept_types={"T": {"attributes": {"fields": fields}}}))
        probe = environment.concept_type("T")
        check_attributes(
            environment, probe, {"at": "2026-01-01T00:00:00.000Z", "link": "https://x", "shape": {"sides": 3}}
        )
        for attributes, error in (
            ({"at": 0}, errors.TypeMismatch),
            ({"at": "2026-01-01"}, errors.ConstraintViolation),
            ({"link": "nowhere"}, errors.ConstraintViolation),
            ({"shape": {}}, errors.ConstraintViolation),
        ):
            with pytest.raises(error):
                check_attributes(environment, probe, attributes)


class TestFacets:
    """Facets and where they may hang."""

    EVIDENCE = Carrier(Kind.EVIDENCE)

    @pytest.mark.requirement("KI-FACET-001", "KI-SCHEMA-006", "KI-PROFILE-018")
    @pytest.mark.parametrize(
        "change",
        [
            {"verdict": "promote"},
            {"outcome_status": "splendid"},
            {"metric": ""},
            {"observer_config_digest": "sha256:zz"},
            {"magnitude": 1.5},
            {"terminal": "yes"},
        ],
    )
    def test_a_record_fits_its_value_schema(self, everyday: Environment, change: dict[str, Any]) -> None:
        facet = everyday.facet("OutcomeRecord")
        check_facet(everyday, facet, self.EVIDENCE, OUTCOME)
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, facet, self.EVIDENCE, OUTCOME | change)

    @pytest.mark.requirement("KI-FACET-001")
    def test_a_record_is_complete(self, everyday: Environment) -> None:
        for name in OUTCOME:
            partial = {member: value for member, value in OUTCOME.items() if member != name}
            with pytest.raises(errors.ConstraintViolation):
                check_facet(everyday, everyday.facet("OutcomeRecord"), self.EVIDENCE, partial)

    @pytest.mark.requirement("KI-SCHEMA-006")
    def test_a_timestamp_in_a_record_is_a_day_of_the_calendar(self, everyday: Environment) -> None:
        lease = {"owner": "w", "fencing_token": 1, "attempt_count": 1, "expires_at": "2026-02-28T00:00:00.000Z"}
        carrier = Carrier(Kind.CONCEPT, ref(everyday, "SleepTask"))
        check_facet(everyday, everyday.facet("LeaseState"), carrier, lease)
        with pytest.raises(errors.ConstraintViolation):
            check_facet(
                everyday, everyday.facet("LeaseState"), carrier, lease | {"expires_at": "2026-02-30T00:00:00.000Z"}
            )

    @pytest.mark.requirement("KI-FACET-002")
    @pytest.mark.parametrize(
        ("facet", "carrier"),
        [
            ("OutcomeRecord", Carrier(Kind.CONCEPT, PERSON)),
            ("MnemonicState", Carrier(Kind.PROPOSITION)),
            ("LeaseState", Carrier(Kind.CONCEPT, PERSON)),
            ("DecisionRecord", Carrier(Kind.EVIDENCE)),
        ],
    )
    def test_a_facet_hangs_only_where_it_belongs(self, everyday: Environment, facet: str, carrier: Carrier) -> None:
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, everyday.facet(facet), carrier, {})

    @pytest.mark.requirement("KI-FACET-003", "KI-PROFILE-019", "KI-PROFILE-020")
    def test_a_record_of_an_activity_needs_its_class_and_its_end(self, everyday: Environment) -> None:
        basis = {
            "space_id": "kip:space:x",
            "snapshot_seq": 1,
            "schema_environment_version": 1,
            "identity_version": 0,
            "policy": {"id": "p", "version": 1},
            "trust_version": "t",
            "authorization_view": "v",
            "context_refs": [],
            "purpose": "p",
            "risk": "r",
            "valid_at": "2026-01-01T00:00:00.000Z",
            "next_invalid_at": None,
        }
        record = {"decision": "act", "retrieved_refs": [], "used_refs": [], "applied_revisions": [], "basis": basis}
        facet = everyday.facet("DecisionRecord")
        check_facet(everyday, facet, Carrier(Kind.ACTIVITY, None, "action_gate", "completed"), record)
        for carrier in (
            Carrier(Kind.ACTIVITY, None, "action_gate", "pending"),
            Carrier(Kind.ACTIVITY, None, "reflection", "completed"),
        ):
            with pytest.raises(errors.ConstraintViolation):
                check_facet(everyday, facet, carrier, record)

    @pytest.mark.requirement("KI-FACET-005")
    def test_a_fixed_member_never_moves(self, everyday: Environment) -> None:
        facet = everyday.facet("OutcomeRecord")
        check_facet(everyday, facet, self.EVIDENCE, OUTCOME, OUTCOME)
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, facet, self.EVIDENCE, OUTCOME | {"outcome_status": "failure"}, OUTCOME)
        with pytest.raises(errors.ImmutableField):
            check_facet(everyday, facet, self.EVIDENCE, OUTCOME | {"magnitude": 0.25}, OUTCOME)
        measured = OUTCOME | {"magnitude": 0.25}
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, facet, self.EVIDENCE, OUTCOME, measured)

    @pytest.mark.requirement("KI-FACET-006", "KI-PROFILE-012", "KI-PROFILE-016")
    def test_what_is_computed_cannot_be_written(self, everyday: Environment) -> None:
        person = Carrier(Kind.CONCEPT, PERSON)
        check_facet(everyday, everyday.facet("MnemonicState"), person, {"salience": 0, "memory_strength": 1})
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, everyday.facet("MnemonicState"), person, {"effective_strength": 0.5})
        skill = Carrier(Kind.CONCEPT, ref(everyday, "Skill"))
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, everyday.facet("GradingState"), skill, {"graded_count": 1})
        insight = (Kind.CONCEPT, ref(everyday, "Insight"))
        with pytest.raises(errors.ConstraintViolation):
            check_structural(everyday, everyday.structural_field("derived_from"), insight, (Kind.EVIDENCE, None))

    @pytest.mark.requirement("KI-PROFILE-012")
    @pytest.mark.parametrize("member", ["memory_strength", "salience", "utility"])
    @pytest.mark.parametrize("value", [-0.1, 1.01, "0.5", None])
    def test_mnemonic_members_lie_between_zero_and_one(self, everyday: Environment, member: str, value: Any) -> None:
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, everyday.facet("MnemonicState"), Carrier(Kind.CONCEPT, PERSON), {member: value})

    def test_references_inside_a_record_are_found_by_its_paths(self, everyday: Environment) -> None:
        pins = {"groups": [{"pins": [{"id": "C-1"}, {"id": "A-2"}]}, {"pins": []}]}
        found = list(references_in(everyday.facet("DependencyBasis"), pins))
        assert found == [("/groups/0/pins/0/id", "C-1"), ("/groups/0/pins/1/id", "A-2")]
        assert list(references_in(everyday.facet("MemoryScope"), {"task_ref": None, "context_refs": ["C-3"]})) == [
            ("/context_refs/0", "C-3")
        ]


@pytest.mark.requirement("KI-PROFILE-017")
@pytest.mark.parametrize(
    ("change", "passes"),
    [
        ({}, True),
        ({"groups": []}, False),
        ({"groups": [{"role": "all_of", "pins": []}]}, False),
        ({"groups": [{"role": "some_of", "pins": [{"id": "C-1", "version": 1}]}]}, False),
        ({"groups": [{"role": "any_of", "pins": [{"id": "C-1", "version": 0}]}]}, False),
        ({"groups": [{"role": "context", "pins": [{"id": "C-1", "version": 1, "planes": {"attributes": 2}}]}]}, True),
    ],
)
def test_a_dependency_basis_pins_at_least_something(
    everyday: Environment, change: dict[str, Any], passes: bool
) -> None:
    basis = {
        "space_id": "kip:space:x",
        "snapshot_seq": 1,
        "schema_environment_version": 1,
        "identity_version": 0,
        "policy": {"id": "p", "version": "1"},
        "trust_version": "t",
        "authorization_view": "v",
        "context_refs": [],
        "purpose": "p",
        "risk": "r",
        "valid_at": "2026-01-01T00:00:00.000Z",
        "next_invalid_at": None,
    }
    record = {
        "basis_seq": 1,
        "policy_basis": basis,
        "groups": [{"role": "all_of", "pins": [{"id": "C-1", "version": 1}]}],
    }
    carrier = Carrier(Kind.ACTIVITY, None, "reflection", "completed")
    facet = everyday.facet("DependencyBasis")
    if passes:
        check_facet(everyday, facet, carrier, record | change)
    else:
        with pytest.raises(errors.ConstraintViolation):
            check_facet(everyday, facet, carrier, record | change)


class TestEndpoints:
    """Subjects and objects of Predicates."""

    @pytest.mark.parametrize(
        ("predicate", "value", "error"),
        [
            ("speaks", "no", None),
            ("speaks", 7, errors.ConstraintViolation),
            ("speaks", True, errors.ConstraintViolation),
            ("speaks", None, errors.ConstraintViolation),
            ("age", 7, None),
            ("age", "seven", errors.ConstraintViolation),
            ("age", True, errors.ConstraintViolation),
            ("lives_in", "Oslo", errors.ConstraintViolation),
            ("birthday", "1990-05-17", None),
            ("birthday", "--02-29", None),
            ("birthday", "1990", None),
            ("birthday", "1990-05", None),
            ("birthday", "2000-02-29", None),
            ("birthday", "1900-02-29", errors.ConstraintViolation),
            ("birthday", "1990-13-01", errors.ConstraintViolation),
            ("birthday", "17 May", errors.ConstraintViolation),
            ("birthday", "-", errors.ConstraintViolation),
            ("birthday", 1990, errors.TypeMismatch),
        ],
    )
    def test_a_literal_fits_or_is_refused(
        self, everyday: Environment, predicate: str, value: Any, error: type[errors.KipError] | None
    ) -> None:
        if error is None:
            check_literal(everyday.predicate(predicate), value)
        else:
            with pytest.raises(error):
                check_literal(everyday.predicate(predicate), value)

    def test_a_nullable_object_may_be_null(self, library: PackageLibrary) -> None:
        ends = {"object": {"literal_types": ["string"], "nullable": True}}
        environment = environment_of(library, package("t/one", predicates={"p": ends, "q": {}}))
        check_literal(environment.predicate("p"), None)
        with pytest.raises(errors.ConstraintViolation):
            check_literal(environment.predicate("q"), None)

    def test_an_undeclared_end_takes_anything(self, library: PackageLibrary) -> None:
        environment = environment_of(library, package("t/one", predicates={"p": {}}))
        predicate = environment.predicate("p")
        for value in ("x", 1, False):
            check_literal(predicate, value)
        for kind in Kind:
            check_subject(environment, predicate, kind, None)
            check_object(environment, predicate, kind, None)
        assert not predicate.object.takes_propositions_by_name

    def test_an_element_of_another_type_or_kind_is_refused(self, everyday: Environment) -> None:
        lives_in = everyday.predicate("lives_in")
        check_subject(everyday, lives_in, Kind.CONCEPT, PERSON)
        check_object(everyday, lives_in, Kind.CONCEPT, PLACE)
        for refused in (
            lambda: check_subject(everyday, lives_in, Kind.CONCEPT, PLACE),
            lambda: check_object(everyday, lives_in, Kind.CONCEPT, PERSON),
            lambda: check_subject(everyday, lives_in, Kind.EVIDENCE, None),
            lambda: check_object(everyday, everyday.predicate("speaks"), Kind.CONCEPT, PLACE),
        ):
            with pytest.raises(errors.ConstraintViolation):
                refused()

    @pytest.mark.requirement("KI-SCHEMA-010", "KI-SCHEMA-035")
    def test_a_promoted_type_fits_where_its_target_does(self, everyday: Environment) -> None:
        drafted, draft_ref = everyday.with_draft("concept_type", "Town", {"description": "d"})
        lives_in = drafted.predicate("lives_in")
        with pytest.raises(errors.ConstraintViolation):
            check_object(drafted, lives_in, Kind.CONCEPT, draft_ref)
        promoted = drafted.with_promotion("concept_type", "Town", PLACE)
        check_object(promoted, lives_in, Kind.CONCEPT, draft_ref)


class TestStructural:
    """References of declared fields."""

    @pytest.mark.requirement("KI-STRUCT-004")
    def test_each_end_and_the_count_are_checked(self, everyday: Environment) -> None:
        has_step = everyday.structural_field("has_step")
        experience = (Kind.CONCEPT, ref(everyday, "Experience"))
        step = (Kind.CONCEPT, ref(everyday, "ExperienceStep"))
        person = (Kind.CONCEPT, PERSON)
        check_structural(everyday, has_step, experience, step)
        with pytest.raises(errors.ConstraintViolation):
            check_structural(everyday, has_step, person, step)
        with pytest.raises(errors.ConstraintViolation):
            check_structural(everyday, has_step, experience, person)
        with pytest.raises(errors.StructuralReferenceInvalid):
            check_structural(everyday, has_step, experience, (Kind.PROPOSITION, None))

    @pytest.mark.requirement("KI-STRUCT-004", "KI-STRUCT-007", "KI-PROFILE-040")
    def test_a_required_single_field_has_exactly_one(self, everyday: Environment) -> None:
        field = everyday.structural_field("current_revision")
        check_cardinality(field, 1)
        for count in (0, 2):
            with pytest.raises(errors.ConstraintViolation):
                check_cardinality(field, count)
        check_cardinality(everyday.structural_field("involves"), 1000)
        assert [f.symbol.name for f in required_fields(everyday, everyday.concept_type("Skill"))] == [
            "current_revision"
        ]
        assert required_fields(everyday, everyday.concept_type("Person")) == ()


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (0, errors.TypeMismatch),
        (None, errors.TypeMismatch),
        (["2026-01-01T00:00:00.000Z"], errors.TypeMismatch),
        ("2026-01-01T00:00:00Z", errors.ConstraintViolation),
        ("2026-01-01T00:00:00.000Z\n", errors.ConstraintViolation),
    ],
)
def test_a_timestamp_is_text_in_its_one_spelling(value: Any, error: type[errors.KipError]) -> None:
    assert check_timestamp("2026-01-01T00:00:00.000Z", "at") == "2026-01-01T00:00:00.000Z"
    with pytest.raises(error):
        check_timestamp(value, "at")
