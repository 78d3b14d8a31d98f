"""Deterministic settlement: what is counted, raised, put away and reported, once each, whatever breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brain.store.base import LeaseLost
from brain.upkeep import due, findings
from brain.upkeep.parts import Refused
from brain.upkeep.settle import settle
from tests.agents.space import TestSpace, open_space, remember, said

LATER = "2026-05-25T10:00:00.000Z"


def corrected(space: TestSpace, by: str = "Alice") -> None:
    """A birthday said and put right."""
    said_first = {"msg": 1, "subject": "I", "predicate": "birthday", "text": "1990-03-04"}
    space.form([remember(claims=[said_first])], said("the 4th", by))
    put_right = {**said_first, "text": "1990-03-05", "change": "correction"}
    space.form([remember(claims=[put_right])], said("the 5th", by, at=LATER))


@pytest.mark.requirement("BR-SETTLE-003", "BR-SETTLE-005", "BR-SETTLE-006")
def test_corrections_are_counted_once_per_correction_and_tallied_by_actor(space: TestSpace) -> None:
    corrected(space)
    first = space.settle()
    [alice] = space.rows('FIND(?p.id) WHERE { ?p {type: "Person", key: "alice"} }')
    assert (first["new_corrections"], first["source_reliability"]) == (1, {alice: 1})
    assert not first["correction_scan_incomplete"]
    again = space.settle()
    assert (again["new_corrections"], again["source_reliability"]) == (0, {alice: 1})
    corrected(space, "Bob")
    assert space.settle()["new_corrections"] == 1


@pytest.mark.requirement("BR-SETTLE-004", "BR-SETTLE-001")
def test_settling_twice_changes_no_belief_and_commits_nothing_more(space: TestSpace) -> None:
    corrected(space)
    space.settle()
    before = space.head()
    assert space.settle()["space_seq"] == before
    assert space.head() == before


@pytest.mark.requirement("BR-SETTLE-001")
def test_equal_spaces_settle_to_equal_reports(tmp_path: Path) -> None:
    reports = []
    for name in ("one", "two"):
        with open_space(tmp_path / name) as space:
            corrected(space)
            reports.append(space.settle())
    assert reports[0] == reports[1]


@pytest.mark.requirement("BR-SETTLE-007", "BR-MAINT-029")
def test_what_was_derived_from_a_root_that_fell_is_told_and_queued_not_edited(space: TestSpace) -> None:
    corrected(space)
    space.write(
        'MUTATE { CREATE CONCEPT ?i { TYPE "Insight" SET ATTRIBUTES {summary: "party on the 5th"} } '
        'CREATE ACTIVITY ?x { SET FIELDS {activity_class: "semantic_consolidation", status: "completed"} '
        'SET STRUCTURAL { ("inputs", "A-2") ("outputs", ?i) } } }'
    )
    [insight] = space.rows('FIND(?i.id) WHERE { ?i {type: "Insight"} }')
    taken_back = {"msg": 1, "subject": "I", "predicate": "birthday", "change": "withdrawn"}
    space.form([remember(claims=[taken_back])], said("forget it", "Alice", at=LATER))
    roots = space.settle()["revised_roots"]
    assert {"root": "A-2", "dependents": [insight], "is_truncated": False} in roots
    assert space.rows('FIND(?t.attributes.task_class) WHERE { ?t {type: "SleepTask"} }') == ["review_derived"]
    assert space.rows("FIND(?i.attributes.summary) WHERE { ?i {id: :id} }", id=insight) == ["party on the 5th"]


@pytest.mark.requirement("BR-SETTLE-012", "BR-SETTLE-013", "BR-MAINT-032")
def test_a_due_commitment_is_raised_once_per_due_time_and_left_as_it_is(space: TestSpace) -> None:
    owed = [
        {"msg": 1, "what": "send the slides", "who": "I", "due": "2026-05-08"},
        {"msg": 1, "what": "later", "who": "I", "due": "2027-05-08"},
    ]
    space.form([remember(commitments=owed)], said("I will", "Alice"))
    first = space.settle("daydream")
    assert first["commitments"] == {"due": 1, "raised": 1}
    assert [found["what"] for found in first["due_commitments"]] == ["send the slides"]
    assert space.settle("daydream")["commitments"] == {"due": 1, "raised": 0}
    assert space.rows("FIND(COUNT(?x)) WHERE { ?x ACTIVITY {activity_class: :c} }", c="commitment_review") == [1]
    statuses = space.rows('FIND(?c.attributes.status) WHERE { ?c {type: "Commitment"} }')
    assert statuses == ["pending", "pending"]


@pytest.mark.requirement("BR-SETTLE-015", "BR-MODEL-024", "BR-MODEL-025")
def test_a_full_cycle_archives_what_is_past_its_retention_unless_held(space: TestSpace) -> None:
    for key, retention in (
        ("old", '{expires_at: "2026-01-01T00:00:00.000Z"}'),
        ("pinned", '{expires_at: "2026-01-01T00:00:00.000Z", retention_class: "pinned"}'),
        ("young", '{expires_at: "2027-01-01T00:00:00.000Z"}'),
    ):
        made = space.write('CREATE CONCEPT ?c { TYPE "Topic" NAME :key SET FIELDS {key: :key} }', key=key)
        space.write(f'SET RETENTION "{made["handles"]["c"]}" {retention}')
    assert space.settle("daydream")["retention"]["archived"] == 0
    report = space.settle("full")["retention"]
    assert report == {"archived": 1, "held": 1, "refused": 0, "remaining": 0}
    assert sorted(space.rows('FIND(?c.name) WHERE { ?c {type: "Topic"} }')) == ["pinned", "young"]
    assert space.rows('FIND(?c.name) WHERE { ?c {type: "Topic", state: "archived"} }') == ["old"]


def test_people_of_one_name_are_reported_and_never_merged(space: TestSpace) -> None:
    for key in ("a-1", "a-2"):
        space.write('CREATE CONCEPT ?p { TYPE "Person" NAME "Álice" SET FIELDS {key: :key} }', key=key)
    [double] = space.settle("quick")["identity_candidates"]
    assert len(double["ids"]) == 2
    assert "identity_candidates" not in space.settle("daydream")


def test_who_shares_a_name_is_told_as_people_stand_now(space: TestSpace) -> None:
    def person(key: str, name: str) -> str:
        text = 'UPSERT CONCEPT ?p { MATCH {type: "Person", key: :key} SET FIELDS {name: :name} }'
        made: str = space.write(text, key=key, name=name)["handles"]["p"]
        return made

    def shared() -> list[tuple[str, list[str]]]:
        return [(found["name"], found["ids"]) for found in space.settle("quick")["identity_candidates"]]

    ana, other = person("ana", "Ana Ruiz"), person("other", "Anna")
    assert shared() == []
    namesake = person("namesake", "ANA  RUIZ")
    assert shared() == [("ana ruiz", [ana, namesake])]
    assert person("other", "ana ruiz") == other
    assert shared() == [("ana ruiz", [ana, other, namesake])]
    person("other", "Tom Baker")
    assert shared() == [("ana ruiz", [ana, namesake])]
    space.write("MERGE CONCEPT :source INTO :target", source=namesake, target=ana)
    assert shared() == []
    tom = person("tom", "Tom Baker")
    assert shared() == [("tom baker", [other, tom])]
    space.write('TRANSITION :t TO "archived"', t=other)
    assert shared() == []


def test_what_people_contradict_each_other_about_is_reported(space: TestSpace) -> None:
    pet = {"msg": 1, "subject": "Zoe", "predicate": "has_pet", "object": "Rex"}
    space.form([remember(claims=[pet])], said("Zoe has Rex", "Alice"))
    space.form([remember(claims=[{**pet, "change": "denied"}])], said("no", "Bob"))
    [conflict] = space.settle("daydream")["conflicts"]
    assert (conflict["predicate"], conflict["for"], conflict["against"]) == ("has_pet", ["A-1"], ["A-2"])


@pytest.mark.requirement("BR-SETTLE-016", "BR-SETTLE-017", "BR-SETTLE-021", "BR-MAINT-018", "BR-MAINT-036")
def test_a_full_cycle_counts_words_and_backlog(space: TestSpace) -> None:
    corrected(space)
    space.form([remember(events=[{"msg": 1, "what": "a party"}])], said("party", "Alice"))
    found = space.settle("full", unconsolidated_max_backlog=5)
    assert found["predicate_census"] == {"birthday": 2}
    assert found["backlog"]["unconsolidated_events"] == 1
    assert found["backlog"]["targets"]["unconsolidated_max_backlog"] == 5
    with space.snapshot() as snapshot:
        audit = snapshot.get("ledger", "report.last_schema_audit")
        kept = snapshot.get("ledger", "report.last_settlement")
    assert audit is not None
    assert audit["predicates"] == {"birthday": 2}
    assert kept is not None
    assert {"settled_at", "new_corrections", "retention", "skills", "watches"} <= set(kept)
    assert kept["skills"]["unsupported_reason"]
    assert not any("decay" in name for name in kept)


def test_a_draft_without_its_review_task_gets_it(space: TestSpace) -> None:
    space.write('DEFINE PREDICATE "plays" {description: "What the subject plays."}')
    assert space.settle()["drafts_without_review"] == 1
    assert space.settle()["drafts_without_review"] == 0


@pytest.mark.requirement("BR-SETTLE-018", "BR-MAINT-016")
@pytest.mark.parametrize(
    ("module", "name", "part"),
    [(due, "raise_commitments", "commitments"), (findings, "backlog", "backlog"), (findings, "census", "census")],
)
def test_a_part_that_breaks_is_named_and_the_others_count(
    space: TestSpace, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, part: str
) -> None:
    def broken(*_: Any) -> None:
        raise Refused("ExecutionTimeout")

    monkeypatch.setattr(module, name, broken)
    corrected(space)
    found = space.settle()
    assert found["settlement_errors"] == {part: "ExecutionTimeout"}
    assert found["new_corrections"] == 1


@pytest.mark.requirement("BR-SETTLE-019")
def test_a_lost_lease_stops_settlement(space: TestSpace) -> None:
    corrected(space)
    stale = space.lease("one")
    space.clock.advance(120_000)
    space.lease("two")
    before = space.head()
    with pytest.raises(LeaseLost):
        settle(space, "full", {}, stale)
    assert space.head() == before


@pytest.mark.requirement("KI-EVID-015", "KI-EVID-016")
def test_a_full_cycle_says_which_recorded_outcomes_count(space: TestSpace) -> None:
    made = space.write(
        'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "outcome", payload: "green"} SET FACET "OutcomeRecord" '
        '{task_family: "deploy/x", attempt_ref: null, metric: "passed", window: "1h", terminal: true, '
        'observation_key: "k", observer_config_digest: :d, outcome_status: "success"} }',
        d="sha256:" + "0" * 64,
    )
    assert made["handles"]
    assert space.settle("full")["outcomes"] == {"samples": {}, "left_out": {"unattributed": 1}}
    assert "outcomes" not in space.settle("quick")
