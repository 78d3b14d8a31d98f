"""Computed lineage: `derived_from`, `compiled_from`, `compiled_by`, `consolidated_to` (Profile §7)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.ids import digest
from tests.kip.conftest import Space

requirement = pytest.mark.requirement

GRAPH = """MUTATE {
  CREATE EVIDENCE ?message {SET FIELDS {evidence_class: "message", payload: "p"}}
  CREATE CONCEPT ?event {TYPE "Event" NAME "walk" SET ATTRIBUTES {summary: "s"}}
  CREATE CONCEPT ?tour {TYPE "Experience" NAME "tour" SET ATTRIBUTES {goal: "g", outcome_status: "success"}}
  CREATE CONCEPT ?insight {TYPE "Insight" NAME "insight" SET ATTRIBUTES {summary: "s"}}
  CREATE CONCEPT ?person {TYPE "Person" NAME "Ann"}
  CREATE CONCEPT ?skill {TYPE "Skill" NAME "skill"
    SET ATTRIBUTES {status: "proposed", summary: "s", skill_class: "heuristic"}
    SET STRUCTURAL {("current_revision", ?revision)}}
  CREATE CONCEPT ?revision {TYPE "SkillRevision" NAME "revision"
    SET ATTRIBUTES {task_family: "f", procedure: "p", behavior_digest: :digest}
    SET STRUCTURAL {("revision_of", ?skill)}}
  CREATE ACTIVITY ?thought {SET FIELDS {activity_class: "semantic_consolidation", status: "completed"}
    SET STRUCTURAL {
      ("inputs", ?message) ("inputs", ?event) ("inputs", ?tour) ("outputs", ?insight) ("outputs", ?person)}}
  CREATE ACTIVITY ?compiled {SET FIELDS {activity_class: "skill_compilation", status: "completed"}
    SET STRUCTURAL {("inputs", ?tour) ("inputs", ?insight) ("outputs", ?skill) ("outputs", ?revision)}}
  CREATE ACTIVITY ?planned {SET FIELDS {activity_class: "reflection", status: "pending"}
    SET STRUCTURAL {("inputs", ?person) ("outputs", ?insight)}}
}"""


@pytest.fixture
def made(space: Space) -> dict[str, str]:
    return space.handles(GRAPH, digest=digest({"task_family": "f", "procedure": "p"}))


def targets(space: Space, field: str, source: str) -> set[str]:
    return set(space.write(f'FIND(?t.id) WHERE {{ STRUCTURAL (:s, "{field}", ?t) }}', s=source))


def sources(space: Space, field: str, target: str) -> set[str]:
    return set(space.write(f'FIND(?s.id) WHERE {{ STRUCTURAL (?s, "{field}", :t) }}', t=target))


@requirement("KI-PROFILE-023", "KI-FACET-006")
def test_an_artifact_is_derived_from_what_went_into_its_finished_activities(space: Space, made: dict[str, str]) -> None:
    assert targets(space, "derived_from", made["insight"]) == {made["message"], made["event"], made["tour"]}
    assert sources(space, "derived_from", made["tour"]) == {made["insight"], made["skill"], made["revision"]}
    assert targets(space, "derived_from", made["person"]) == set()
    assert targets(space, "derived_from", made["event"]) == set()


@requirement("KI-PROFILE-023")
def test_a_skill_is_compiled_from_experiences_by_an_activity(space: Space, made: dict[str, str]) -> None:
    assert targets(space, "compiled_from", made["skill"]) == {made["tour"]}
    assert targets(space, "compiled_by", made["revision"]) == {made["compiled"]}
    assert sources(space, "compiled_by", made["compiled"]) == {made["skill"], made["revision"]}
    assert targets(space, "compiled_by", made["insight"]) == set()


@requirement("KI-PROFILE-023")
def test_an_event_is_consolidated_to_what_was_made_of_it(space: Space, made: dict[str, str]) -> None:
    assert targets(space, "consolidated_to", made["event"]) == {made["insight"], made["person"]}
    assert targets(space, "consolidated_to", made["tour"]) == {made["insight"], made["person"]}
    assert sources(space, "consolidated_to", made["insight"]) == {made["event"], made["tour"]}


@requirement("KI-PROFILE-023", "KI-KQL-022")
def test_both_ends_may_be_free_or_given_and_the_field_is_named_exactly(space: Space, made: dict[str, str]) -> None:
    rows = space.write('FIND(?s.name, ?g.field, ?g.index, ?t.name) WHERE { ?g STRUCTURAL (?s, "compiled_from", ?t) }')
    exact = "kip://profiles/cognitive-memory@2.0.0/compiled_from"
    assert sorted(rows) == [["revision", exact, None, "tour"], ["skill", exact, None, "tour"]]
    text = 'FIND(COUNT(?g)) WHERE { ?g STRUCTURAL (:s, "derived_from", :t) }'
    assert space.write(text, s=made["insight"], t=made["event"]) == [1]
    assert space.write(text, s=made["event"], t=made["insight"]) == [0]


@requirement("KI-PROFILE-023")
def test_lineage_is_of_its_time_and_follows_the_activity(space: Space, made: dict[str, str]) -> None:
    before = space.seq
    space.write('TRANSITION :x TO "completed"', x=made["planned"])
    assert made["person"] in targets(space, "derived_from", made["insight"])
    then: Any = f'FIND(?t.id) WHERE {{ STRUCTURAL (:s, "derived_from", ?t) }} AS OF SEQ {before}'
    assert made["person"] not in space.write(then, s=made["insight"])
    refused = 'UPDATE :i SET STRUCTURAL {("derived_from", :p)}'
    assert space.refused(refused, i=made["insight"], p=made["person"]) == "ConstraintViolation"
