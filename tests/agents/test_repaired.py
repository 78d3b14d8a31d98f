"""What was recorded and never said is told to no agent and taken up by none (KIP 2.0 §57.8)."""

from __future__ import annotations

from typing import Any

import pytest

from brain.kip.govern import preset_session
from brain.kip.recording import repair_recording
from tests.agents.space import DONE, TestSpace, remember, said

LATER = "2026-05-05T09:00:00.000Z"


def misheard(space: TestSpace) -> str:
    """A claim that Formation drew from a message by mistake, repaired; its id."""
    claim = {"msg": 1, "subject": "I", "predicate": "birthday", "text": "1990-03-04"}
    space.form([remember(claims=[claim])], said("It was the 4th when we met.", "Alice"))
    ((wrong, evidence),) = space.rows("FIND(?a, ?a.evidence) WHERE { ?a ASSERTION {} }")
    (source,) = space.rows("FIND(?e) WHERE { ?e EVIDENCE {id: :e} }", e=evidence[0]["id"])
    pointer = "/" + next(iter(source["payload"]["inline"])) if isinstance(source["payload"]["inline"], dict) else None
    record: dict[str, Any] = {
        "source_ref": source["id"],
        "source_digest": source["content_digest"],
        "source_locator": pointer or "bytes:0-9",
        "invalidated_refs": [wrong["id"]],
        "replacement_refs": [],
        "reason": "extraction_error",
        "expected_versions": {wrong["id"]: wrong["_system"]["version"]},
    }
    recorder = preset_session("agent", principal_id=wrong["_system"]["origin"]["principal_id"], channel="test")
    repair_recording(space.engine, recorder, record)
    return str(wrong["id"])


@pytest.mark.requirement("KI-PROFILE-052", "KI-CAP-021")
def test_no_recall_is_told_what_was_never_said(space: TestSpace) -> None:
    misheard(space)
    space.recall([DONE], "When is Alice's birthday?")
    assert "1990-03-04" not in space.last_model.requests[0].messages[1].content


@pytest.mark.requirement("KI-PROFILE-052", "KI-PROFILE-053")
def test_a_later_correction_does_not_supersede_what_was_never_said(space: TestSpace) -> None:
    wrong = misheard(space)
    put_right = {"msg": 1, "subject": "I", "predicate": "birthday", "text": "1990-03-05", "change": "correction"}
    space.form([remember(claims=[put_right])], said("I was born on the 5th.", "Alice", at=LATER))
    assert space.rows("FIND(?a.lifecycle.status) WHERE { ?a ASSERTION {id: :a} }", a=wrong) == ["active"]
    claims = space.rows("FIND(?a.lifecycle.supersedes) WHERE { ?a ASSERTION {} FILTER(?a.id != :a) }", a=wrong)
    assert claims in ([[]], [None])
