"""A fact that is forgotten, with the artifact an evaluation could be replayed from and a backup (KIP 2.0 §60.7)."""

from __future__ import annotations

from typing import Any

from brain.ids import canonical_json
from brain.kip.context import Session
from brain.kip.erasure import Eraser
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.world import World

_OWNER = Session(principal_id="owner", channel="conformance")
_FACT = "Turandot"
_LEARN = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" }
  CREATE EVIDENCE ?said { SET FIELDS {evidence_class: "user_statement", payload: "I adore Turandot"} }
  CREATE EVIDENCE ?copy { SET FIELDS {evidence_class: "document", payload: "sample: Turandot"} }
  ASSERT ?claim (?ann, "speaks", "Turandot") {by: ?ann, mode: "stated", evidence: ?said}
}"""
_JUDGE = """CREATE ACTIVITY ?verdict {
  SET FIELDS {activity_class: "lifecycle_verdict", status: "completed"}
  SET FACET "EvaluationRecord" {trial_ref: null, revision_refs: [:ann], from_status: "trialed", to_status: "trialed",
    rule_digest: :d, parameters_digest: :d, cutoff: "2026-01-01T00:00:00.000Z", attempt_refs: [],
    outcome_refs: [:said], excluded_samples: [], missing_attempt_refs: [],
    comparison: {status: "insufficient", effect: null, uncertainty: {}},
    replay_artifact: {artifact_ref: :copy, content_digest: :d}}
}"""


@scenario("KIP2-MEM-024")
def a_fact_is_gone_when_its_replay_and_its_backup_are(world: World) -> Observed:
    made: dict[str, Any] = world.handles(_LEARN)
    named = {name: made[name] for name in ("ann", "said", "copy")}
    verdict = world.run(_JUDGE, d="sha256:" + "a" * 64, **named)["handles"]["verdict"]
    then = world.element(verdict)
    eraser = Eraser(world.adapter.engine)
    plan = eraser.plan(_OWNER, [made["said"]], outside=[("backup", "nightly")]).plan_ref
    early = eraser.run(_OWNER, plan)
    done = eraser.confirm(_OWNER, plan, "backup", "nightly", "erased")
    told = {one["activity"]: one["status"] for one in done.replays}
    exported = world.run("EXPORT CAPSULE ?x WHERE { ?x CONCEPT {id: :ann} }", ann=made["ann"])
    read = [world.state(), canonical_json(exported), canonical_json(world.run('SEARCH EVIDENCE "Turandot"')["hits"])]
    is_kept = done.status == "completed" and world.element(verdict) == then
    return Observed(
        {"early_erasure_status": early.status, "erased_replay": told.get(verdict) if is_kept else "verdict lost"},
        {"resurrected_copies": sum(text.count(_FACT.encode()) for text in read)},
    )
