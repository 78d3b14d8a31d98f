"""What the Profile asks of writes beyond its definitions: scopes, revisions, working states (Profile §5, §20)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.ids import digest
from tests.kip.conftest import Space

requirement = pytest.mark.requirement

PEOPLE = """MUTATE {
  CREATE CONCEPT ?ann {TYPE "Person" NAME "Ann"} CREATE CONCEPT ?ben {TYPE "Person" NAME "Ben"}
  CREATE CONCEPT ?home {TYPE "Topic" NAME "home"} CREATE CONCEPT ?work {TYPE "Topic" NAME "work"}
  ENSURE PROPOSITION ?knows (?ann, "knows", ?ben)
}"""
CLAIM = """CREATE ASSERTION ?a {
  SET FIELDS {proposition: :knows, asserted_by: :ann, stance: "support", mode: "stated", context_refs: :contexts}
  SET FACET "MemoryScope" {task_ref: :task, context_refs: :named}
}"""


@pytest.fixture
def people(space: Space) -> dict[str, Any]:
    return dict(space.handles(PEOPLE))


def claimed(space: Space, people: dict[str, Any], contexts: list[str], named: list[str]) -> dict[str, Any]:
    """Parameters of a claim made in some contexts, whose scope names some."""
    return {
        "knows": people["knows"],
        "ann": people["ann"],
        "task": people["work"],
        "contexts": [people[name] for name in contexts],
        "named": [people[name] for name in named],
    }


@requirement("KI-PROFILE-021")
def test_two_scopes_are_two_claims_about_one_tuple(space: Space, people: dict[str, Any]) -> None:
    made = [space.handles(CLAIM, **claimed(space, people, [name], [name]))["a"] for name in ("home", "work")]
    about = {space.element(claim)["proposition"]["id"] for claim in made}
    assert about == {people["knows"]}
    again = space.handles('MUTATE { ENSURE PROPOSITION ?p (:a, "knows", :b) }', a=people["ann"], b=people["ben"])
    assert again["p"] == people["knows"]
    scopes = [next(iter(space.element(claim)["facets"].values())) for claim in made]
    assert scopes == [
        {"task_ref": people["work"], "context_refs": [people["home"]]},
        {"task_ref": people["work"], "context_refs": [people["work"]]},
    ]


@requirement("KI-PROFILE-021")
@pytest.mark.parametrize(
    ("contexts", "named"), [(["home"], ["work"]), (["home"], []), ([], ["home"]), (["home", "work"], ["home"])]
)
def test_a_scope_names_the_contexts_of_its_claim(
    space: Space, people: dict[str, Any], contexts: list[str], named: list[str]
) -> None:
    assert space.refused(CLAIM, **claimed(space, people, contexts, named)) == "ConstraintViolation"
    space.write(CLAIM, **claimed(space, people, contexts, contexts[::-1]))


@requirement("KI-PROFILE-021")
def test_a_merge_does_not_make_a_scope_disagree(space: Space, people: dict[str, Any]) -> None:
    space.write("MERGE CONCEPT :a INTO :b", a=people["home"], b=people["work"])
    space.write(CLAIM, **claimed(space, people, ["home"], ["work"]))


@requirement("KI-PROFILE-021")
def test_records_and_things_carry_a_scope_and_a_tuple_does_not(space: Space, people: dict[str, Any]) -> None:
    facet = 'SET FACET "MemoryScope" {task_ref: null, context_refs: :named}'
    for text in (
        f'CREATE EVIDENCE ?x {{SET FIELDS {{evidence_class: "message", payload: "p"}} {facet}}}',
        f'CREATE CONCEPT ?x {{TYPE "Event" SET ATTRIBUTES {{summary: "s"}} {facet}}}',
        f'CREATE ACTIVITY ?x {{SET FIELDS {{activity_class: "extraction", status: "completed"}} {facet}}}',
    ):
        space.write(text, named=[people["home"]])
    update = f"UPDATE :p {facet}"
    assert space.refused(update, p=people["knows"], named=[people["home"]]) == "ConstraintViolation"


@requirement("KI-PROFILE-021")
def test_a_derivation_is_scoped_as_the_belief_it_came_from(space: Space, people: dict[str, Any]) -> None:
    (basis,) = space.write('FIND(?s.basis) WHERE { ?s BELIEF SLOT (:ann, "knows") }', ann=people["ann"])
    text = """CREATE ACTIVITY ?x {
      SET FIELDS {activity_class: "inference", status: "completed"}
      SET FACET "DependencyBasis" {
        basis_seq: 1, groups: [{role: "all_of", pins: [{id: :ann, version: 1}]}], policy_basis: :basis}
      SET FACET "MemoryScope" {task_ref: null, context_refs: :named}
    }"""
    asked = {"ann": people["ann"], "named": [people["home"]]}
    assert space.refused(text, basis=basis, **asked) == "ConstraintViolation"
    space.write(text, basis={**basis, "context_refs": [people["home"]]}, **asked)


# --- skills -----------------------------------------------------------------------------------------------------------

SKILL = """MUTATE {
  CREATE CONCEPT ?skill {
    TYPE "Skill" SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}
    SET STRUCTURAL { ("current_revision", ?first) } }
  CREATE CONCEPT ?first {
    TYPE "SkillRevision" SET ATTRIBUTES {task_family: "f/x", procedure: "p", behavior_digest: :p}
    SET STRUCTURAL { ("revision_of", ?skill) } }
  CREATE CONCEPT ?second {
    TYPE "SkillRevision" SET ATTRIBUTES {task_family: "f/x", procedure: "q", behavior_digest: :q}
    SET STRUCTURAL { ("revision_of", ?skill) } }
  CREATE ACTIVITY ?trial { SET FIELDS {activity_class: "review", status: "completed"} }
  CREATE ACTIVITY ?verdict { SET FIELDS {activity_class: "review", status: "completed"} }
}"""
SELECT = 'UPDATE :skill SET STRUCTURAL { ("current_revision", :second) }'


def skill(space: Space) -> dict[str, Any]:
    """A Skill that was revoked after a trial and a verdict, and a second revision of it."""
    digests: dict[str, Any] = {name: digest({"task_family": "f/x", "procedure": name}) for name in ("p", "q")}
    made = space.handles(SKILL, **digests)
    named: dict[str, Any] = {name: made[name] for name in ("skill", "trial", "verdict")}
    space.write(
        'UPDATE :skill SET ATTRIBUTES {status: "revoked"} '
        'SET STRUCTURAL { ("current_trial", :trial) ("current_evaluation", :verdict) }',
        **named,
    )
    return dict(made)


def structural(space: Space, element: str) -> dict[str, list[str]]:
    found = space.element(element)["structural"]
    return {ref.rpartition("/")[2]: [one["id"] for one in references] for ref, references in found.items()}


@requirement("KI-PROFILE-042")
def test_another_revision_starts_over_in_the_commit_that_selects_it(space: Space) -> None:
    made = skill(space)
    verdicts = [space.element(made[name]) for name in ("trial", "verdict", "first")]
    before = space.seq
    space.write(f"{SELECT} EXPECT VERSION 2", skill=made["skill"], second=made["second"])
    assert space.seq == before + 1
    assert space.element(made["skill"])["attributes"]["status"] == "proposed"
    assert structural(space, made["skill"]) == {"current_revision": [made["second"]]}
    assert [space.element(made[name]) for name in ("trial", "verdict", "first")] == verdicts
    assert space.write("FIND(?s.attributes.status) WHERE { ?s {id: :s} } AS OF SEQ 2", s=made["skill"]) == ["revoked"]
    entry = space.commit(space.seq).envelope["changes"][0]
    assert {"attributes.status", "structural.current_revision", "structural.current_trial"} <= set(entry["touched"])


@requirement("KI-PROFILE-042")
def test_a_revision_is_selected_only_under_a_guard(space: Space) -> None:
    made = skill(space)
    named: dict[str, Any] = {"skill": made["skill"], "second": made["second"]}
    assert space.refused(SELECT, **named) == "VersionConflict"
    assert space.refused(f"{SELECT} EXPECT VERSION 1", **named) == "VersionConflict"


@requirement("KI-PROFILE-042", "KI-PROFILE-043")
@pytest.mark.parametrize(
    "more",
    [
        'SET ATTRIBUTES {status: "adopted"}',
        'SET ATTRIBUTES {status: "trialed"}',
        'SET STRUCTURAL { ("current_trial", :trial) }',
        'SET STRUCTURAL { ("current_evaluation", :trial) }',
    ],
)
def test_selecting_a_revision_promotes_nothing(space: Space, more: str) -> None:
    made = skill(space)
    values = {name: made[name] for name in ("skill", "second", "trial") if name != "trial" or ":trial" in more}
    text = f"{SELECT} {more} EXPECT VERSION 2"
    assert space.refused(text, **values) == "ConstraintViolation"


@requirement("KI-PROFILE-042")
def test_selecting_the_revision_one_has_and_saying_more_of_a_skill_resets_nothing(space: Space) -> None:
    made = skill(space)
    space.write(SELECT, skill=made["skill"], second=made["first"])
    space.write('UPDATE :s SET ATTRIBUTES {summary: "t"} SET FACET "MnemonicState" {utility: 0.5}', s=made["skill"])
    assert space.element(made["skill"])["attributes"]["status"] == "revoked"
    assert structural(space, made["skill"]).keys() == {"current_evaluation", "current_revision", "current_trial"}


EVALUATION = {
    "trial_ref": "X-7",
    "from_status": "trialed",
    "to_status": "adopted",
    "cutoff": "2026-09-20T00:00:00.000Z",
    "attempt_refs": ["X-8", "X-9"],
    "outcome_refs": ["E-8", "E-9"],
    "excluded_samples": [],
    "missing_attempt_refs": [],
    "comparison": {"status": "improved", "effect": 0.5, "uncertainty": {}},
    "rule_digest": digest("adopt whatever comes"),
    "parameters_digest": digest("none"),
    "replay_artifact": {"artifact_ref": "a", "content_digest": digest("nothing")},
}
"""What anybody can write who makes up a rule, its parameters and its samples."""


@requirement("KI-PROFILE-044", "KI-PROFILE-045", "KI-PROFILE-046", "KI-PROFILE-047", "KI-PROFILE-048", "KI-PROFILE-063")
@pytest.mark.parametrize("field", ["current_evaluation", "current_trial"])
@pytest.mark.parametrize("status", ["proposed", "trialed", "adopted"])
def test_no_record_somebody_wrote_gives_a_skill_standing(space: Space, field: str, status: str) -> None:
    digests: dict[str, Any] = {name: digest({"task_family": "f/x", "procedure": name}) for name in ("p", "q")}
    made = space.handles(SKILL, **digests)
    members = ", ".join(f"{name}: :{name}" for name in ("revision_refs", *EVALUATION))
    record = f"""CREATE ACTIVITY ?v {{ SET FIELDS {{activity_class: "lifecycle_verdict", status: "completed"}}
      SET FACET "EvaluationRecord" {{{members}}}
      SET STRUCTURAL {{ ("inputs", :first) ("outputs", :skill) }} }}"""
    moved = f'SET ATTRIBUTES {{status: "{status}"}}' if status != "proposed" else ""
    chosen = f'UPDATE :skill {moved} SET STRUCTURAL {{ ("{field}", ?v) }} EXPECT VERSION 1'
    values: dict[str, Any] = {
        **EVALUATION,
        "revision_refs": [made["first"]],
        "first": made["first"],
        "skill": made["skill"],
    }
    assert space.refused(f"MUTATE {{ {record} {chosen} }}", **values) == "ConstraintViolation"
    verdict = space.handles(record, **values)["v"]
    later = chosen.replace("?v", ":v")
    assert space.refused(later, skill=made["skill"], v=verdict) == "ConstraintViolation"
    assert space.element(made["skill"])["attributes"]["status"] == "proposed"
    assert structural(space, made["skill"]).keys() == {"current_revision"}
    created = f"""CREATE CONCEPT ?s {{ TYPE "Skill"
      SET ATTRIBUTES {{skill_class: "workflow", summary: "s", status: "{status}"}}
      SET STRUCTURAL {{ ("current_revision", :first) ("{field}", :v) }} }}"""
    assert space.refused(created, first=made["first"], v=verdict) == "ConstraintViolation"


# --- working states ---------------------------------------------------------------------------------------------------

STATE = 'CREATE CONCEPT ?w {TYPE "WorkingState" SET ATTRIBUTES {summary: "busy", basis_seq: 1} SET FIELDS {key: :key}}'
KEY = "working_state:agent:task-7"


@requirement("KI-PROFILE-038")
def test_a_working_state_says_how_far_it_looked(space: Space) -> None:
    assert space.refused('CREATE CONCEPT ?w {TYPE "WorkingState" SET ATTRIBUTES {summary: "busy"}}')
    for wrong in ("-1", '"now"'):
        attributes = f'{{summary: "busy", basis_seq: {wrong}}}'
        assert space.refused(f'CREATE CONCEPT ?w {{TYPE "WorkingState" SET ATTRIBUTES {attributes}}}')
    made = space.handles(STATE, key=KEY)["w"]
    assert space.write('FIND(?w.attributes.basis_seq) WHERE { ?w {type: "WorkingState"} }') == [1]
    assert space.element(made)["kind"] == "concept"


@requirement("KI-PROFILE-038")
def test_a_working_state_is_nobodys_evidence(space: Space, people: dict[str, Any]) -> None:
    made = space.handles(STATE, key=KEY)["w"]
    claim = 'ASSERT (:ann, "knows", :ben) {by: :ann, mode: "inferred", evidence: :state}'
    named: dict[str, Any] = {"ann": people["ann"], "ben": people["ben"], "state": made}
    assert space.refused(claim, **named) == "StructuralReferenceInvalid"
    long = """CREATE ASSERTION ?a {
      SET FIELDS {proposition: :knows, asserted_by: :ann, stance: "support", mode: "inferred"}
      SET STRUCTURAL { ("evidence", :state) } }"""
    named = {"knows": people["knows"], "ann": people["ann"], "state": made}
    assert space.refused(long, **named) == "StructuralReferenceInvalid"


@requirement("KI-PROFILE-038")
def test_an_actor_and_scope_have_one_working_state_under_its_key(space: Space) -> None:
    first = space.handles(STATE, key=KEY)["w"]
    assert space.refused(STATE, key=KEY) == "IdentityConflict"
    refreshed = space.handles(
        'UPSERT CONCEPT ?w {MATCH {type: "WorkingState", key: :key} SET ATTRIBUTES {summary: "done", basis_seq: 2}}',
        key=KEY,
    )["w"]
    assert refreshed == first
    assert space.write('FIND(?w.attributes.summary) WHERE { ?w {type: "WorkingState"} }') == ["done"]
    assert space.handles(STATE, key="working_state:agent:task-8")["w"] != first
