"""Derivations, attention, exposure; nothing is dispatched and no trial is enrolled (KIP 2.0 §57.6, §63.5, §66.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from brain import errors
from brain.kip.exposure import ExposureLog
from brain.kip.watches import condition_of, first_match
from tests.kip.conftest import OWNER, Space
from tests.kip.meta.capabilities.shown import CREATE, SLOT, ZONE, lacking, shows


@shows("list_dependents")
@shows("dependency_validity")
def test_what_was_derived_is_found_and_only_as_good_as_its_premises(space: Space) -> None:
    space.write(CREATE)
    claim = space.handles(ZONE, zone="+01:00")["claim"]
    (basis,) = space.write(SLOT.replace("?s.status, ?s.accepted_values", "?s.basis"))
    made = space.handles(
        """MUTATE { CREATE CONCEPT ?i {TYPE "Insight" SET ATTRIBUTES {summary: "in Oslo"}}
        CREATE ACTIVITY ?x {SET FIELDS {activity_class: "inference", status: "completed"}
        SET FACET "DependencyBasis" {basis_seq: 2, policy_basis: :basis, groups: [{role: "all_of", pins: :pins}]}
        SET STRUCTURAL {("inputs", :c) ("outputs", ?i)}} }""",
        c=claim,
        basis=basis,
        pins=[{"id": claim, "version": 1}],
    )
    assert [row["id"] for row in space.write("LIST DEPENDENTS :c", c=claim)] == [made["i"]]
    validity = "FIND(?i._system.dependency_validity.status) WHERE { ?i {id: :i} }"
    assert space.write(validity, i=made["i"]) == ["current"]
    space.write('TRANSITION :c TO "retracted"', c=claim)
    assert space.write(validity, i=made["i"]) == ["needs_review"]


@shows("watch_evaluation", "KI-CAP-017")
def test_a_structured_condition_is_compared_with_every_commit(space: Space) -> None:
    with space.store.snapshot() as snapshot:
        wanted = condition_of({"type": "Person", "ops": ["create"]}, space.engine.environment(snapshot))
    assert wanted is not None
    for command, matches in ((CREATE, True), ('UPDATE "C-1" SET FIELDS {name: "Anna"}', False)):
        before = space.seq
        space.write(command)
        with space.store.snapshot() as now:
            assert (first_match(wanted, now.commits(after=before), now) is not None) is matches


@shows("exposure_log", "KI-CAP-018")
def test_what_was_shown_is_logged_beside_memory_and_read_by_auditors(space: Space) -> None:
    space.write(CREATE)
    log = ExposureLog(space.engine)
    log.record(OWNER, ["C-1"], exposure="retrieved", snapshot_seq=1)
    assert space.seq == 1
    assert [row["element_id"] for _, row in log.read(OWNER)] == ["C-1"]
    with pytest.raises(errors.NotAuthorized):
        log.read(lacking("read_audit"))


PIN: Mapping[str, str] = {"artifact_ref": "artifact-1", "content_digest": "sha256:" + "0" * 64}
ATTEMPT: Mapping[str, Any] = {
    "applied_revisions": [],
    "attempt_id": "attempt-1",
    "context": {},
    "decision_ref": "decision-1",
    "environment_digest": PIN["content_digest"],
    "preconditions_satisfied": "yes",
    "selection_policy": PIN,
    "started_at": "2026-09-20T00:00:00.000Z",
    "tool_versions": {},
    "trial_ref": None,
}


def attempt(space: Space, **more: Any) -> dict[str, Any]:
    """The answer to an Activity that records an attempt."""
    record = {**ATTEMPT, **more}
    members = ", ".join(f"{name}: :{name}" for name in record)
    command = f"""CREATE ACTIVITY ?x {{SET FIELDS {{activity_class: "action_attempt", status: "completed"}}
      SET FACET "AttemptRecord" {{{members}}}}}"""
    found: dict[str, Any] = space.answer(command, **record)
    return found


@shows("durable_brain_runtime", "KI-CAP-029", "KI-PROFILE-059", "KI-PROFILE-060", held=False)
@shows("receiver_fencing", "KI-CAP-030", "KI-PROFILE-061", held=False)
def test_an_attempt_is_a_record_and_sends_nothing_anywhere(space: Space) -> None:
    changes = attempt(space)["result"]["changes"]
    assert [change["id"] for change in changes] == ["X-1"]
    assert space.write("CHANGES AFTER SEQ 1") == []
    contract = {"guarantee": "receiver_fenced", "mechanism": "receiver_acceptance"}
    assert attempt(space, dispatch=contract)["error"]["code"] == "ConstraintViolation"
    assert space.seq == 1


@shows("prospective_trials", "KI-CAP-031", "KI-PROFILE-062", held=False)
def test_no_attempt_is_enrolled_in_a_cohort_ahead(space: Space) -> None:
    assignment = {
        "assigned_at": "2026-09-20T00:00:00.000Z",
        "arm": "control",
        "enrollment": PIN,
        "unit_id": "unit-1",
    }
    error = attempt(space, assignment=assignment)["error"]
    assert (error["code"], error["details"]["capability"]) == ("UnsupportedCapability", "prospective_trials")
    assert space.seq == 0


LEASE = (
    'UPDATE :task SET FACET "LeaseState" {owner: :owner, fencing_token: :token, expires_at: :until, attempt_count: 1}'
)
DONE = 'UPDATE :task SET ATTRIBUTES {status: "completed"}'


@pytest.mark.requirement("KI-PROFILE-058")
def test_a_lease_is_taken_by_one_worker_and_who_was_replaced_does_not_finish(space: Space) -> None:
    """The engine runs no worker; whose turn it is, the guards decide for those who run elsewhere."""
    task = space.handles(
        """CREATE CONCEPT ?t {TYPE "SleepTask"
        SET ATTRIBUTES {task_class: "review_conflict", summary: "look again", status: "pending"}}"""
    )["t"]
    until = "2026-09-20T01:00:00.000Z"
    unheld = ' EXPECT VERSION 0 OF FACET "LeaseState"'
    space.write(LEASE + unheld, task=task, owner="one", token=1, until=until)
    assert space.refused(LEASE + unheld, task=task, owner="two", token=1, until=until) == "VersionConflict"
    held = ' EXPECT VERSION 1 OF FACET "LeaseState"'
    space.write(LEASE + held, task=task, owner="two", token=2, until=until)
    assert space.refused(DONE + held, task=task) == "VersionConflict"
    space.write(f'{DONE} EXPECT VERSION 2 OF FACET "LeaseState"', task=task)
