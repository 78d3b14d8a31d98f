"""The bundled packages say what the profile and the general domain have to say, and every word of ours is decided."""

from __future__ import annotations

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.schema import ConceptType, Environment, FacetType, PredicateType, StructuralField
from brain.store.base import Kind

PROFILE = "kip://profiles/cognitive-memory@2.0.0"
GENERAL = "kip://domains/general@1.0.0"
EVERYDAY = "kip://brain/everyday@1.0.0"

TWELVE = (
    "WorkingState Watch SleepTask SkillRevision Skill SelfModel Person Insight ExperienceStep Experience Event "
    "Commitment"
)
TASKS = (
    "review_skill review_schema review_retention review_derived review_conflict resolve_identity refresh_self_model "
    "inspect_quarantine consolidate"
)
SKILLS = (
    "workflow tool_policy subagent_pattern recovery prompt_pattern heuristic diagnostic communication_strategy "
    "code_pattern checklist"
)


def names(environment: Environment, kind: str, package_ref: str) -> set[str]:
    definitions = environment.definitions(kind)  # type: ignore[arg-type]
    return {d.symbol.name for d in definitions if d.symbol.package_ref == package_ref}


def type_names(lineages: frozenset[str] | None) -> set[str]:
    return {lineage.rsplit("/", 1)[1] for lineage in lineages or ()}


@pytest.mark.requirement("KI-PROFILE-001", "KI-SCHEMA-005")
def test_the_profile_depends_on_core_and_pins_its_schemas(shipped: PackageLibrary) -> None:
    profile = shipped.resolve(PROFILE)
    assert [(d.package_ref, d.required) for d in profile.dependencies] == [("kip://core@2.0.0", True)]
    assert len(profile.resources) == len(profile.artifact["manifest"]["validation_schemas"]) > 0


@pytest.mark.requirement("KI-PROFILE-002")
def test_twelve_types_of_which_two_are_closed(everyday: Environment) -> None:
    types = [d for d in everyday.definitions("concept_type") if d.symbol.package_ref == PROFILE]
    assert {d.symbol.name for d in types} == set(TWELVE.split())
    assert {d.symbol.name for d in types if isinstance(d, ConceptType) and not d.is_open} == {"Skill", "SkillRevision"}


@pytest.mark.requirement("KI-PROFILE-003")
@pytest.mark.parametrize(
    ("type_name", "required"),
    [
        ("Person", ""),
        ("Event", "summary"),
        ("Insight", "summary"),
        ("SelfModel", "summary"),
        ("Experience", "outcome_status goal"),
        ("ExperienceStep", "summary step_kind"),
        ("Commitment", "summary status"),
        ("SleepTask", "task_class summary status"),
        ("Watch", "watch_class summary status condition"),
        ("WorkingState", "summary basis_seq"),
        ("Skill", "summary status skill_class"),
        ("SkillRevision", "task_family procedure behavior_digest"),
    ],
)
def test_what_each_type_requires(everyday: Environment, type_name: str, required: str) -> None:
    fields = everyday.concept_type(type_name).fields
    assert {name for name, field in fields.items() if field.get("required")} == set(required.split())


@pytest.mark.requirement("KI-PROFILE-004", "KI-PROFILE-005", "KI-PROFILE-006", "KI-PROFILE-007")
@pytest.mark.parametrize(
    ("type_name", "field", "values"),
    [
        ("Event", "outcome_status", "unknown success partial failure aborted"),
        ("Experience", "outcome_status", "unknown success partial failure aborted"),
        ("Experience", "consolidation_status", "semantic procedural pending completed archived"),
        ("ExperienceStep", "step_kind", "observation feedback decision context belief_update action"),
        ("Commitment", "status", "pending fulfilled expired cancelled blocked"),
        ("Watch", "watch_class", "silence delta"),
        ("Watch", "status", "fired expired disarmed armed"),
        ("SleepTask", "status", "running pending failed completed cancelled blocked"),
        ("SleepTask", "task_class", TASKS),
        ("Skill", "status", "trialed revoked proposed adopted"),
        ("Skill", "skill_class", SKILLS),
    ],
)
def test_what_each_enumeration_allows(everyday: Environment, type_name: str, field: str, values: str) -> None:
    assert set(everyday.concept_type(type_name).fields[field]["enum"]) == set(values.split())


@pytest.mark.requirement("KI-PROFILE-007")
def test_a_skill_has_no_place_for_behavior(everyday: Environment) -> None:
    behavior = set(everyday.concept_type("SkillRevision").fields)
    assert behavior.isdisjoint(everyday.concept_type("Skill").fields)
    assert all(field["mutable"] is False for field in everyday.concept_type("SkillRevision").fields.values())


@pytest.mark.requirement("KI-PROFILE-008", "KI-SCHEMA-013")
def test_the_three_predicates_of_the_profile(everyday: Environment) -> None:
    assert names(everyday, "predicate", PROFILE) == {"same_as", "prefers", "caused_by"}
    prefers, caused_by, same_as = (everyday.predicate(name) for name in ("prefers", "caused_by", "same_as"))
    assert (prefers.functional, prefers.functional_by) == (False, "object_type")
    assert (type_names(prefers.subject.type_lineages), prefers.object.kinds) == ({"Person"}, {Kind.CONCEPT})
    assert (
        type_names(caused_by.subject.type_lineages) == type_names(caused_by.object.type_lineages) == {"ExperienceStep"}
    )
    assert same_as.subject.kinds == same_as.object.kinds == {Kind.CONCEPT}
    for predicate in (prefers, caused_by, same_as):
        assert predicate.open_world
        assert not predicate.functional
        assert not predicate.complete


@pytest.mark.requirement("KI-PROFILE-009")
def test_the_general_domain(everyday: Environment) -> None:
    assert names(everyday, "concept_type", GENERAL) == {"Topic", "Place", "Organization"}
    predicates = [everyday.predicate(name) for name in names(everyday, "predicate", GENERAL)]
    one = {p.symbol.name for p in predicates if p.functional}
    assert one == {"timezone", "located_in", "lives_in"}
    assert {p.symbol.name for p in predicates} - one == {"works_for", "speaks", "member_of", "knows", "interested_in"}
    literal = {p.symbol.name for p in predicates if p.object.literal_types}
    assert literal == {"timezone", "speaks"}


@pytest.mark.requirement("KI-PROFILE-010")
@pytest.mark.parametrize(
    ("field", "least", "most", "source", "target", "ordered"),
    [
        ("assigned_to", 0, 1, "SleepTask Watch", "", False),
        ("committed_to", 0, 1, "Commitment", "Person", False),
        ("current_evaluation", 0, 1, "Skill", "", False),
        ("current_revision", 1, 1, "Skill", "SkillRevision", False),
        ("current_trial", 0, 1, "Skill", "", False),
        ("experienced_by", 0, 1, "Experience", "Person", False),
        ("has_step", 0, None, "Experience", "ExperienceStep", True),
        ("involves", 0, None, "Event Experience", "", False),
        ("mentions", 0, None, "Event Experience Insight", "", False),
        ("owed_to", 0, None, "Commitment", "Person", False),
        ("revision_of", 1, 1, "SkillRevision", "Skill", False),
        ("watches", 0, None, "Watch", "", False),
    ],
)
def test_structural_fields(
    everyday: Environment, field: str, least: int, most: int | None, source: str, target: str, ordered: bool
) -> None:
    found = everyday.structural_field(field)
    assert (found.least, found.most, found.ordered) == (least, most, ordered)
    assert type_names(found.source.type_lineages) == set(source.split())
    assert type_names(found.target.type_lineages) == set(target.split())


@pytest.mark.requirement("KI-PROFILE-010", "KI-PROFILE-023", "KI-FACET-006")
def test_what_the_engine_works_out_itself(everyday: Environment) -> None:
    computed = {
        d.symbol.name
        for kind in ("structural_field", "facet")
        for d in everyday.definitions(kind)  # type: ignore[arg-type]
        if isinstance(d, StructuralField | FacetType) and d.is_computed
    }
    assert computed == {"GradingState", "compiled_by", "compiled_from", "consolidated_to", "derived_from"}
    assert len(everyday.definitions("structural_field")) == 17


@pytest.mark.requirement("KI-PROFILE-011")
def test_the_profile_registers_its_activity_classes(everyday: Environment) -> None:
    assert len(everyday.activity_classes) == 23
    assert {"action_gate", "lifecycle_verdict", "recall_coverage", "watch_fire"} <= everyday.activity_classes


@pytest.mark.requirement("KI-PROFILE-012", "KI-PROFILE-018", "KI-PROFILE-019", "KI-PROFILE-020", "KI-PROFILE-022")
def test_sixteen_facets_each_closed_and_placed(everyday: Environment) -> None:
    facets = [d for d in everyday.definitions("facet") if isinstance(d, FacetType)]
    assert len(facets) == 16
    assert all(facet.is_closed and facet.applicable_to.is_declared for facet in facets)
    placed = {f.symbol.name: set(f.attachment["activity_classes"]) for f in facets if f.attachment}
    assert placed == {
        "RestoreReport": {"import"},
        "RecordingRepair": {"recording_repair"},
        "ProcedureAssessment": {"skill_validation"},
        "RecallCoverage": {"recall_coverage"},
        "CompressionRecord": {"experience_formation", "encoding_review", "extraction"},
        "EvaluationRecord": {"lifecycle_verdict"},
        "TrialRecord": {"trial_open"},
        "AttemptRecord": {"action_attempt"},
        "DecisionRecord": {"action_gate"},
    }
    assert all(f.attachment["terminal_only"] for f in facets if f.attachment)


def test_everyday_life_is_decided_word_by_word(everyday: Environment) -> None:
    predicates = [
        d
        for d in everyday.definitions("predicate")
        if isinstance(d, PredicateType) and d.symbol.package_ref == EVERYDAY
    ]
    assert 25 <= len(predicates) <= 40
    for predicate in predicates:
        assert predicate.subject.is_declared
        assert predicate.object.is_declared
        assert predicate.open_world
        assert "functional" in predicate.wire
        said = predicate.description
        assert ("Many at once" in said) != predicate.functional, said
        assert predicate.wire["model_hints"]["also_called"]


def test_no_two_bundled_packages_share_a_name(everyday: Environment) -> None:
    for kind in ("concept_type", "predicate", "facet", "structural_field"):
        symbols = [d.symbol.name for d in everyday.definitions(kind)]  # type: ignore[arg-type]
        assert len(symbols) == len(set(symbols))


def test_every_symbol_says_what_it_means(everyday: Environment) -> None:
    for kind in ("concept_type", "predicate", "facet", "structural_field"):
        for definition in everyday.definitions(kind):  # type: ignore[arg-type]
            assert len(definition.description) > 15, definition.symbol.ref
