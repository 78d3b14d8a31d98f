"""Passes with a scope, and passes that revise: what the host's facts add to the gate (BR-GATE-017, 018)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brain.gate.facts import Captured, FormationFacts, Speaker
from brain.gate.gate import formation_session
from tests.agents.space import DONE, MONDAY, TestSpace, kip, said

LATER = "2026-05-25T10:00:00.000Z"


@pytest.fixture
def known(space: TestSpace) -> TestSpace:
    """Alice C-2 with a claim A-1 from E-1."""
    claim = 'ASSERT (:speaker1, "speaks", "en") {by: :speaker1, mode: "stated", at: :at1, evidence: :msg1}'
    space.form([kip(claim), DONE], said("I speak English", "Alice"))
    return space


def run(space: TestSpace, command: str, facts: FormationFacts, **parameters: Any) -> dict[str, Any]:
    """One write of a pass in which Alice says something later."""
    message = facts.captured[0]
    request = {
        "kip": "2.0",
        "ingest": {
            "evidence": [
                {
                    "key": message.binding,
                    "evidence_class": "user_statement",
                    "payload": message.text,
                    "observed_at": message.observed_at,
                    "source_actor": {"id": "C-2"},
                    "client_key": message.client_key,
                }
            ]
        },
        "operations": [{"command": command, "parameters": parameters}],
    }
    session = formation_session(facts, lambda _w, _t: None)
    return dict(space.engine.execute(request, session).response["results"][0])


def facts_of(space: TestSpace, **more: Any) -> FormationFacts:
    message = Captured("msg1", "conversation:9:message:1", Speaker("C-2", "alice", "Alice"), LATER, "hu, not en")
    return replace(FormationFacts(space.self_id, "speaker", (message,)), **more)


CLAIM = f'ASSERT ("C-2", "speaks", "hu") {{by: "C-2", mode: "stated", at: "{LATER}", evidence: :msg1%s}}'

REPAIR = (CLAIM % "").replace(":msg1", '"E-1"').replace(LATER, MONDAY)


@pytest.mark.requirement("BR-GATE-017")
@pytest.mark.parametrize(("context", "is_written"), [("", False), (", context: :contexts", True)])
def test_a_source_with_a_scope_forces_it_on_every_claim(known: TestSpace, context: str, is_written: bool) -> None:
    made = known.write('CREATE CONCEPT ?k { TYPE "Topic" NAME "task-1" }')["handles"]["k"]
    parameters = {"contexts": [{"id": made}]} if context else {}
    result = run(known, CLAIM % context, facts_of(known, contexts=frozenset({made})), **parameters)
    assert (result["status"] == "succeeded") is is_written, result


@pytest.mark.requirement("BR-GATE-018")
@pytest.mark.parametrize(
    ("kind", "command", "is_written"),
    [
        ("world_change", CLAIM % "", True),
        ("world_change", (CLAIM % "") + ' SUPERSEDING "A-1"', False),
        ("world_change", 'TRANSITION "A-1" TO "retracted"', False),
        ("unspecified", (CLAIM % "") + ' SUPERSEDING "A-1"', False),
        ("unspecified", 'TRANSITION "A-1" TO "retracted"', True),
        ("misrecorded", CLAIM % "", False),
        ("misrecorded", REPAIR, True),
        ("misrecorded", (CLAIM % "").replace(":msg1", '"E-1"'), False),
        ("misrecorded", REPAIR.replace('by: "C-2"', 'by: "C-1"'), False),
        (None, (CLAIM % "") + ' SUPERSEDING "A-1"', True),
    ],
)
def test_a_revision_does_only_what_its_kind_allows(
    known: TestSpace, kind: str | None, command: str, is_written: bool
) -> None:
    facts = facts_of(known, change_kind=kind, original=("E-1", MONDAY) if kind == "misrecorded" else None)
    result = run(known, command, facts)
    assert (result["status"] == "succeeded") is is_written, result
