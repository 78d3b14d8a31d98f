"""The log of what was shown and used: beside memory, only added to, read by who may audit (KIP 2.0 §66.8)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from brain import errors
from brain.kip import capabilities
from brain.kip.context import OWNER_PERMISSIONS
from brain.kip.exposure import RETENTION_MS, ExposureLog
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Rule, Scope
from brain.times import timestamp
from tests.kip.conftest import OWNER, Space

requirement = pytest.mark.requirement

AGENT = preset_session("agent", principal_id="agent", channel="test")
AUDITOR = preset_session("maintenance", principal_id="sleeper", channel="test")
PEOPLE = 'MUTATE { CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"} CREATE CONCEPT ?b {TYPE "Person" NAME "Ben"} }'


@pytest.fixture
def log(space: Space) -> ExposureLog:
    space.write(PEOPLE)
    return ExposureLog(space.engine)


def rows(log: ExposureLog, session: Any = AUDITOR, **page: int) -> list[tuple[str, str]]:
    return [(row["element_id"], row["exposure"]) for _, row in log.read(session, **page)]


def plan(*elements: str, scope: str = "semantic_forgetting") -> dict[str, Any]:
    return {
        "scope": scope,
        "basis_seq": 1,
        "source_event_refs": [],
        "targets": [{"ref": ref, "surface": "element", "state": "pending"} for ref in elements],
        "external_exports": [],
        "status": "pending",
        "receipts": [],
    }


@requirement("KI-PROFILE-054", "KI-CAP-018")
def test_an_entry_says_who_was_shown_what_when_and_as_of_which_commit(space: Space, log: ExposureLog) -> None:
    log.record(AGENT, ["C-1"], exposure="retrieved", snapshot_seq=1, recall_ref="recall:7")
    ((number, row),) = log.read(AUDITOR)
    assert number == log.last() == 1
    assert row == {
        "space_id": space.engine.space_uri,
        "element_id": "C-1",
        "exposure": "retrieved",
        "snapshot_seq": 1,
        "recorded_at": timestamp(space.clock.now_ms()),
        "principal_id": "agent",
        "decision_ref": None,
        "recall_ref": "recall:7",
    }


@requirement("KI-PROFILE-054", "KI-CAP-018")
def test_the_log_is_no_part_of_memory(space: Space, log: ExposureLog) -> None:
    def memory() -> str:
        asked = ["FIND(?x) WHERE { ?x {} }", "FIND(?x) WHERE { ?x EVIDENCE {} }", "FIND(?x) WHERE { ?x ACTIVITY {} }"]
        told = [space.write(text) for text in [*asked, "HISTORY SPACE", "CHANGES AFTER SEQ 0"]]
        return json.dumps([*told, space.write('SEARCH CONCEPT "Ann"')["hits"], space.seq])

    before = memory()
    log.record(AGENT, ["C-1", "C-2"], exposure="retrieved", snapshot_seq=1)
    log.record(AGENT, ["C-1"], exposure="used", snapshot_seq=1)
    assert memory() == before


@requirement("KI-PROFILE-054")
def test_entries_are_added_and_never_rewritten(log: ExposureLog) -> None:
    log.record(AGENT, ["C-1"], exposure="retrieved", snapshot_seq=1)
    first = log.read(AUDITOR)
    log.record(AGENT, ["C-1"], exposure="retrieved", snapshot_seq=1)
    log.record(AGENT, ["C-2"], exposure="used", snapshot_seq=1)
    assert log.read(AUDITOR)[:1] == first
    assert rows(log) == [("C-1", "retrieved"), ("C-1", "retrieved"), ("C-2", "used")]
    assert rows(log, after=1, limit=1) == [("C-1", "retrieved")]
    public = {name for name in dir(log) if not name.startswith("_")}
    assert public == {"erase", "last", "read", "record", "record_decision"}


@requirement("KI-CAP-018")
def test_only_who_may_audit_reads_it(log: ExposureLog) -> None:
    log.record(AGENT, ["C-1"], exposure="retrieved", snapshot_seq=1)
    for session in (AGENT, replace(OWNER, permissions=OWNER_PERMISSIONS - {"read_audit"})):
        with pytest.raises(errors.NotAuthorized):
            log.read(session)


@requirement("KI-CAP-018")
def test_an_element_one_may_not_know_of_is_not_in_the_log_either(space: Space, log: ExposureLog) -> None:
    log.record(AGENT, ["C-1", "C-2"], exposure="retrieved", snapshot_seq=1)
    hidden = Rule("deny", frozenset({"discover"}), to=frozenset({"sleeper"}), scope=Scope(ids=frozenset({"C-2"})))
    Governor(space.engine).set_policy(OWNER, Policy(rules=(hidden,)))
    assert rows(log) == [("C-1", "retrieved")]
    assert rows(log, OWNER) == [("C-1", "retrieved"), ("C-2", "retrieved")]
    with pytest.raises(errors.NotFoundOrNotVisible):
        log.record(AUDITOR, ["C-2"], exposure="retrieved", snapshot_seq=1)


@requirement("KI-PROFILE-054")
@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"elements": ["C-9"]}, "NotFoundOrNotVisible"),
        ({"exposure": "liked"}, "ConstraintViolation"),
        ({"snapshot_seq": 2}, "ConstraintViolation"),
        ({"snapshot_seq": -1}, "ConstraintViolation"),
        ({"decision_ref": "X-9"}, "NotFoundOrNotVisible"),
    ],
)
def test_what_was_not_shown_is_not_noted(log: ExposureLog, entry: dict[str, Any], code: str) -> None:
    asked: dict[str, Any] = {"elements": ["C-1"], "exposure": "retrieved", "snapshot_seq": 1} | entry
    with pytest.raises(errors.KipError) as refused:
        log.record(AGENT, asked.pop("elements"), **asked)
    assert refused.value.code == code
    assert log.last() == 0


@requirement("KI-PROFILE-054")
def test_a_decision_notes_what_it_used(space: Space, log: ExposureLog) -> None:
    (basis,) = space.write('FIND(?s.basis) WHERE { ?s BELIEF SLOT ("C-1", "lives_in") }')
    decided = space.write(
        """CREATE ACTIVITY ?x {
          SET FIELDS {activity_class: "action_gate", status: "completed"}
          SET FACET "DecisionRecord" {
            decision: "act", retrieved_refs: ["C-1", "C-2"], used_refs: ["C-2"], applied_revisions: [], basis: :basis}
          SET STRUCTURAL {("inputs", "C-2")}
        }""",
        basis=basis,
    )["handles"]["x"]
    log.record_decision(AGENT, decided)
    ((_, row),) = log.read(AUDITOR)
    assert (row["element_id"], row["exposure"], row["decision_ref"]) == ("C-2", "used", decided)
    with pytest.raises(errors.NotFoundOrNotVisible):
        log.record_decision(AGENT, "C-1")


@requirement("KI-PROFILE-054", "KI-CAP-018")
def test_a_plan_of_forgetting_erases_its_elements_and_nothing_else(log: ExposureLog) -> None:
    log.record(AGENT, ["C-1", "C-2", "C-1"], exposure="retrieved", snapshot_seq=1)
    log.record(AGENT, ["C-1"], exposure="used", snapshot_seq=1)
    with pytest.raises(errors.NotAuthorized):
        log.erase(AUDITOR, plan("C-1"))
    with pytest.raises(errors.ConstraintViolation):
        log.erase(OWNER, plan("C-1", scope="payload_only"))
    assert log.erase(OWNER, plan("C-1")) == 2
    assert rows(log) == [("C-2", "retrieved")]
    log.record(AGENT, ["C-1"], exposure="used", snapshot_seq=1)
    assert [number for number, _ in log.read(AUDITOR)] == [2, 4]


@requirement("KI-CAP-018")
def test_entries_are_kept_for_the_time_of_retention(space: Space, log: ExposureLog) -> None:
    assert capabilities.is_held("exposure_log")
    log.record(AGENT, ["C-1"], exposure="retrieved", snapshot_seq=1)
    space.clock.advance(RETENTION_MS - 1)
    assert rows(log) == [("C-1", "retrieved")]
    space.clock.advance(2)
    assert rows(log) == []
