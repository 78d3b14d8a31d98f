"""A capability that is said to be there is there, and one that is not is refused where it would be used."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip import capabilities
from brain.kip.context import OWNER_PERMISSIONS, Session
from tests.kip.conftest import Space

CREATE = 'CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}'
OUTCOME = 'CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "outcome", payload: "it worked"}}'
ACTING = Session(principal_id="agent", channel="test", permissions=OWNER_PERMISSIONS - {"record_outcome"})


@pytest.mark.requirement("KI-CAP-003")
def test_serializable_isolation_is_accepted_and_no_other(space: Space) -> None:
    assert capabilities.is_held("serializable_isolation")
    asked: dict[str, Any] = {"execution": {"mode": "independent", "isolation": "serializable"}}
    space.write(CREATE, envelope=asked)
    refused = space.outcome(CREATE, envelope={"execution": {"mode": "independent", "isolation": "snapshot"}}).response
    assert refused["error"]["code"] == "UnsupportedIsolation"


@pytest.mark.requirement("KI-CAP-004")
def test_an_atomic_request_is_one_commit_or_none(space: Space) -> None:
    assert capabilities.is_held("atomic_batch")
    request = {"kip": "2.0", "operations": [{"command": CREATE}, {"command": CREATE}], "execution": {"mode": "atomic"}}
    assert space.execute(request)["status"] == "succeeded"
    assert space.seq == 1
    request["operations"] = [{"command": CREATE}, {"command": 'CREATE CONCEPT ?x {TYPE "Nope"}'}]
    assert space.execute(request)["status"] == "failed"
    assert space.seq == 1


@pytest.mark.requirement("KI-CAP-023")
def test_outcomes_need_a_permission_of_their_own(space: Space) -> None:
    assert capabilities.is_held("record_outcome_permission")
    assert space.refused(OUTCOME, session=ACTING) == "NotAuthorized"
    space.write(OUTCOME)


@pytest.mark.requirement("KI-CAP-006", "KI-CAP-019")
def test_the_past_is_read_with_the_state_of_its_time(space: Space) -> None:
    assert capabilities.is_held("historical_reads")
    space.write(CREATE)
    space.write('UPDATE "C-1" SET FIELDS {name: "Anna"}')
    assert space.answer('FIND(?a.name) WHERE { ?a {id: "C-1"} } AS OF SEQ 1')["result"] == ["Ann"]


@pytest.mark.requirement("KI-CAP-014")
def test_artifacts_are_not_taken_by_handle(space: Space) -> None:
    assert capabilities.is_held("artifacts") is False
    ingest = {"ingest": {"evidence": {"msg": {"evidence_class": "message", "payload_artifact": "a-1"}}}}
    response = space.outcome(CREATE, envelope=ingest).response
    assert "error" in response or response["results"][0]["status"] == "failed"
    assert space.seq == 0
