"""Structural references and Facets (KIP 2.0 §17, §18)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.ids import digest
from tests.kip.conftest import Space
from tests.kip.write.people import People

requirement = pytest.mark.requirement

HAS_STEP = "kip://profiles/cognitive-memory@2.0.0/has_step"
MNEMONIC = "kip://profiles/cognitive-memory@2.0.0/MnemonicState"
OUTCOME = "kip://profiles/cognitive-memory@2.0.0/OutcomeRecord"


@pytest.fixture
def steps(space: Space) -> tuple[str, list[str]]:
    """An Experience with two of three steps, in order."""
    step = 'CREATE CONCEPT ?s{} {{ TYPE "ExperienceStep" SET ATTRIBUTES {{step_kind: "action", summary: "s"}} }} '
    made = space.handles(
        "MUTATE {"
        + "".join(step.format(n) for n in range(3))
        + """CREATE CONCEPT ?e {
               TYPE "Experience" SET ATTRIBUTES {goal: "g", outcome_status: "failure"}
               SET STRUCTURAL { ("has_step", ?s0) ("has_step", ?s1) }
             }
           }"""
    )
    return made["e"], [made[f"s{n}"] for n in range(3)]


def order(space: Space, experience: str) -> list[str]:
    return [reference["id"] for reference in space.element(experience).get("structural", {}).get(HAS_STEP, [])]


@requirement("KI-STRUCT-005", "KI-STRUCT-007", "KI-STRUCT-008", "KI-STRUCT-013", "KI-PROFILE-029")
def test_an_ordered_field_stays_dense(space: Space, steps: tuple[str, list[str]]) -> None:
    experience, (one, two, three) = steps
    assert order(space, experience) == [one, two]
    result = space.write('UPDATE :e SET STRUCTURAL { ("has_step", :s) {index: 0} }', e=experience, s=three)
    assert result["changes"][0]["touched"] == ["structural.has_step"]
    assert result["changes"][0]["planes"]["structural"] == 2
    assert order(space, experience) == [three, one, two]
    space.write('UPDATE :e UNSET STRUCTURAL { ("has_step", :s) }', e=experience, s=one)
    assert order(space, experience) == [three, two]
    again = space.answer('UPDATE :e UNSET STRUCTURAL { ("has_step", :s) }', e=experience, s=one)
    assert again["status"] == "no_effect"
    space.write('UPDATE :e SET STRUCTURAL { ("has_step", :s) {index: 2} }', e=experience, s=one)
    assert order(space, experience) == [three, two, one]


@requirement("KI-STRUCT-009")
@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ('("has_step", :s) {index: 9}', "ConstraintViolation"),
        ('("has_step", :s) {index: -1}', "TypeMismatch"),
        ('("has_step", :s) {place: 1}', "ConstraintViolation"),
        ('("has_step", :s) {role: "support"}', "ConstraintViolation"),
    ],
)
def test_places_and_options_are_checked(space: Space, steps: tuple[str, list[str]], entries: str, code: str) -> None:
    experience, (_, _, three) = steps
    assert space.refused(f"UPDATE :e SET STRUCTURAL {{ {entries} }}", e=experience, s=three) == code


@requirement("KI-STRUCT-009")
def test_two_demands_for_one_place_fail(space: Space, steps: tuple[str, list[str]]) -> None:
    experience, (one, two, three) = steps
    text = 'UPDATE :e SET STRUCTURAL { ("has_step", :x) {index: 0} ("has_step", :y) {index: 0} }'
    assert space.refused(text, e=experience, x=three, y=one) == "ConstraintViolation"
    assert order(space, experience) == [one, two]


@requirement("KI-STRUCT-006", "KI-TX-010")
def test_adding_what_is_there_changes_nothing_and_both_wishes_conflict(
    space: Space, steps: tuple[str, list[str]]
) -> None:
    experience, (one, _, _) = steps
    assert space.answer('UPDATE :e SET STRUCTURAL { ("has_step", :s) }', e=experience, s=one)["status"] == "no_effect"
    text = 'UPDATE :e SET STRUCTURAL { ("has_step", :s) } UNSET STRUCTURAL { ("has_step", :s) }'
    assert space.refused(text, e=experience, s=one) == "DuplicateMutationTarget"


@requirement("KI-STRUCT-002", "KI-STRUCT-003", "KI-STRUCT-004", "KI-ERR-026")
@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ('("has_step", :p)', "ConstraintViolation"),
        ('("no_such", :p)', "SchemaSymbolNotFound"),
        ('("evidence", :p)', "StructuralReferenceInvalid"),
        ('("derived_from", :p)', "ConstraintViolation"),
        ('("has_step", "C-404")', "NotFoundOrNotVisible"),
        ('("has_step", 5)', "TypeMismatch"),
    ],
)
def test_fields_and_targets_follow_the_definition(
    space: Space, steps: tuple[str, list[str]], entry: str, code: str
) -> None:
    person = space.handles('CREATE CONCEPT ?p { TYPE "Person" }')["p"]
    assert space.refused(f"UPDATE :e SET STRUCTURAL {{ {entry} }}", e=steps[0], p=person) == code


@requirement("KI-STRUCT-004", "KI-STRUCT-005")
def test_a_field_of_one_takes_the_new_target_instead_of_the_old(space: Space, people: People) -> None:
    text = """CREATE CONCEPT ?c {
      TYPE "Commitment" SET ATTRIBUTES {summary: "call", status: "pending"} SET STRUCTURAL { ("committed_to", :a) }
    }"""
    made = space.handles(text, a=people.alice)["c"]
    space.write('UPDATE :c SET STRUCTURAL { ("committed_to", :b) }', c=made, b=people.bob)
    references = next(iter(space.element(made)["structural"].values()))
    assert references == [{"id": people.bob}]
    both = 'UPDATE :c SET STRUCTURAL { ("committed_to", :a) ("committed_to", :b) }'
    assert space.refused(both, c=made, a=people.alice, b=people.bob) == "DuplicateMutationTarget"


@requirement("KI-STRUCT-005", "KI-KML-003")
def test_a_sweep_may_add_what_its_where_bound_beside_the_target(space: Space, steps: tuple[str, list[str]]) -> None:
    experience, everything = steps
    space.write(
        'UPDATE ?e SET STRUCTURAL { ("has_step", ?s) } WHERE { ?e {type: "Experience"} ?s {type: "ExperienceStep"} }'
    )
    assert order(space, experience) == everything


@requirement("KI-PROFILE-040", "KI-STRUCT-004", "KI-STRUCT-007", "KI-PROFILE-041")
def test_a_skill_and_its_revision_are_made_together(space: Space) -> None:
    skill = (
        'CREATE CONCEPT ?s { TYPE "Skill" SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}'
    )
    behavior = {"task_family": "deploy/x", "procedure": "p"}
    revision = """CREATE CONCEPT ?r { TYPE "SkillRevision"
      SET ATTRIBUTES {task_family: "deploy/x", procedure: "p", behavior_digest: :d}
      SET STRUCTURAL { ("revision_of", ?s) } }"""
    alone = f"{skill} }}"
    both = f'MUTATE {{ {skill} SET STRUCTURAL {{ ("current_revision", ?r) }} }} {revision} }}'
    assert space.refused(alone) == "ConstraintViolation"
    assert space.refused(both, d="sha256:" + "0" * 64) == "ConstraintViolation"
    made = space.handles(both, d=digest(behavior))
    unset = 'UPDATE :s UNSET STRUCTURAL { ("current_revision", :r) }'
    assert space.refused(unset, s=made["s"], r=made["r"]) == "ConstraintViolation"


@requirement("KI-PROFILE-043", "KI-PROFILE-044")
def test_a_skill_is_not_promoted_by_a_word(space: Space) -> None:
    made = space.handles(
        """MUTATE {
          CREATE CONCEPT ?s {
            TYPE "Skill" SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}
            SET STRUCTURAL { ("current_revision", ?r) }
          }
          CREATE CONCEPT ?r {
            TYPE "SkillRevision" SET ATTRIBUTES {task_family: "f/x", procedure: "p", behavior_digest: :d}
            SET STRUCTURAL { ("revision_of", ?s) }
          }
        }""",
        d=digest({"task_family": "f/x", "procedure": "p"}),
    )["s"]
    text = "UPDATE :s SET ATTRIBUTES {status: :to}"
    assert space.refused(text, s=made, to="adopted") == "VersionConflict"
    assert space.refused(f"{text} EXPECT VERSION 1", s=made, to="adopted") == "ConstraintViolation"
    assert space.refused(f"{text} EXPECT VERSION 1", s=made, to="trialed") == "ConstraintViolation"
    space.write(text, s=made, to="revoked")


# --- facets -----------------------------------------------------------------------------------------------------------


@requirement("KI-FACET-001", "KI-FACET-004", "KI-FACET-009", "KI-PROFILE-012")
def test_a_facet_is_kept_under_its_symbol_and_merges_by_member(space: Space, people: People) -> None:
    space.write('UPDATE :a SET FACET "MnemonicState" {salience: 0.3, utility: 0.1}', a=people.alice)
    space.write(f'UPDATE :a SET FACET "{MNEMONIC}" {{salience: 0.4}}', a=people.alice)
    assert space.element(people.alice)["facets"] == {MNEMONIC: {"salience": 0.4, "utility": 0.1}}
    space.write('UPDATE :a UNSET FACET "MnemonicState" {salience, utility}', a=people.alice)
    assert "facets" not in space.element(people.alice)
    assert space.element(people.alice)["_system"]["plane_versions"]["facets"] == {"MnemonicState": 3}


@requirement("KI-FACET-001", "KI-FACET-002", "KI-FACET-006", "KI-PROFILE-016")
@pytest.mark.parametrize(
    ("facet", "code"),
    [
        ('"MnemonicState" {salience: 1.5}', "ConstraintViolation"),
        ('"MnemonicState" {sparkle: 1}', "ConstraintViolation"),
        ('"MnemonicState" {effective_strength: 0.5}', "ConstraintViolation"),
        ('"GradingState" {graded_count: 1}', "ConstraintViolation"),
        ('"NoFacet" {x: 1}', "SchemaSymbolNotFound"),
        ('"LeaseState" {owner: "w", fencing_token: 1, attempt_count: 1}', "ConstraintViolation"),
    ],
)
def test_facets_are_checked_on_every_write(space: Space, people: People, facet: str, code: str) -> None:
    assert space.refused(f"UPDATE :a SET FACET {facet}", a=people.alice) == code
    assert space.refused(f'CREATE CONCEPT ?x {{ TYPE "Person" SET FACET {facet} }}') == code


RECORD: dict[str, Any] = {
    "attempt_ref": None,
    "metric": "success",
    "observation_key": "deploy:41",
    "observer_config_digest": "sha256:" + "0" * 64,
    "outcome_status": "success",
    "task_family": "deploy/x",
    "terminal": True,
    "window": "2026-09",
}


@requirement("KI-FACET-005", "KI-FACET-003")
def test_a_recorded_outcome_is_neither_changed_nor_completed_later(space: Space) -> None:
    members = ", ".join(f"{name}: :{name}" for name in RECORD)
    text = f"""CREATE EVIDENCE ?e {{
      SET FIELDS {{evidence_class: "outcome", payload: "clean"}} SET FACET "OutcomeRecord" {{{members}}}
    }}"""
    made = space.handles(text, **RECORD)["e"]
    facet = 'UPDATE :e SET FACET "OutcomeRecord" '
    assert space.refused(facet + '{outcome_status: "failure"}', e=made) == "ConstraintViolation"
    assert space.refused('UPDATE :e UNSET FACET "OutcomeRecord" {outcome_status}', e=made) == "ConstraintViolation"
    assert space.refused(facet + "{magnitude: 0.9}", e=made) == "ImmutableField"
    assert list(space.element(made)["facets"]) == [OUTCOME]


@requirement("KI-FACET-003", "KI-PROFILE-019")
def test_a_decision_belongs_to_a_finished_gate(space: Space) -> None:
    text = """CREATE ACTIVITY ?x {
      SET FIELDS {activity_class: :class, status: :status} SET FACET "DecisionRecord" {decision: "silence"}
    }"""
    assert space.refused(text, **{"class": "action_gate", "status": "pending"}) == "ConstraintViolation"
    assert space.refused(text, **{"class": "test", "status": "completed"}) == "ConstraintViolation"
