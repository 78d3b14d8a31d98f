"""A misheard statement, repaired as the recorder's own mistake (KIP 2.0 §57.8)."""

from __future__ import annotations

from typing import Any

from brain import errors
from brain.ids import digest
from brain.kip.context import Session
from brain.kip.govern import preset_session
from brain.kip.recording import Replacement, repair_recording
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.world import World

_SAID = "I do not like jazz; I like blues."
_AT = "2026-03-01T09:00:00.000Z"


@scenario("KIP2-REL-004")
def a_misheard_statement_is_repaired_without_a_word_from_its_actor(world: World) -> Observed:
    agent = preset_session("agent", principal_id="agent", channel="conformance")
    other = preset_session("agent", principal_id="other", channel="conformance")
    made = world.run(
        """MUTATE {
          CREATE CONCEPT ?alice {TYPE "Person" NAME "Alice"}
          CREATE CONCEPT ?self {TYPE "Person" NAME "Me"}
          CREATE EVIDENCE ?said {SET FIELDS {evidence_class: "user_statement", payload: :text, observed_at: :at}}
          ASSERT ?wrong (?alice, "timezone", "+01:00") {by: ?alice, mode: "stated", at: :at, evidence: ?said}
        }""",
        session=agent,
        text=_SAID,
        at=_AT,
    )["handles"]
    world.adapter.engine.designate_self(made["self"], Session(principal_id="owner", channel="conformance"))
    before = {name: world.element(made[name]) for name in ("said", "wrong")}
    record: dict[str, Any] = {
        "source_ref": made["said"],
        "source_digest": digest(_SAID.encode()),
        "source_locator": "bytes:0-18",
        "invalidated_refs": [made["wrong"]],
        "replacement_refs": ["?right"],
        "reason": "extraction_error",
        "expected_versions": {made["wrong"]: before["wrong"]["_system"]["version"]},
    }

    def right(actor: str) -> Replacement:
        return Replacement(
            'ASSERT ?right (:alice, "timezone", "+02:00") {by: :actor, mode: "stated", at: :at, evidence: :said}',
            {"alice": made["alice"], "said": made["said"], "actor": made[actor], "at": _AT},
        )

    def attempt(session: Any, actor: str) -> str | None:
        try:
            repair_recording(world.adapter.engine, session, record, right(actor))
        except errors.KipError as refused:
            return refused.code
        return None

    unauthorized = attempt(other, "alice")
    impersonated = attempt(agent, "self")
    repaired = attempt(agent, "alice") is None
    after = {name: world.element(made[name]) for name in ("said", "wrong")}
    believed = world.run('FIND(?b.status) WHERE { ?b BELIEF (:a, "timezone", "+01:00") }', a=made["alice"])
    withdrawn = after["wrong"]["lifecycle"] != before["wrong"]["lifecycle"]
    is_done = repaired and impersonated is not None and believed == ["insufficient"]
    return Observed(
        {
            "source_corrected": after["said"] != before["said"],
            "actor_withdrawal_fabricated": withdrawn,
            "unauthorized_repair": unauthorized,
        },
        {"original_payload_preserved": is_done and _told(after["wrong"]) == _told(before["wrong"])},
    )


def _told(claim: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in claim.items() if name != "_system"}
