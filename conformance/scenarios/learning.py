"""Skills without trials: what counts as a sample, and what no algorithm and no signal can make of a Skill."""

from __future__ import annotations

from typing import Any

from brain.ids import digest
from brain.kip.context import Session
from brain.kip.grading import sampled
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.records import activity, values_of
from conformance.scenarios.world import World

_SKILL = """MUTATE {
  CREATE CONCEPT ?alice {TYPE "Person" NAME "Alice"}
  CREATE CONCEPT ?skill {TYPE "Skill"
    SET ATTRIBUTES {status: "proposed", summary: "walk", skill_class: "heuristic"}
    SET STRUCTURAL {("current_revision", ?revision)}}
  CREATE CONCEPT ?revision {TYPE "SkillRevision" SET ATTRIBUTES {
    task_family: "walking", procedure: "step", behavior_digest: :digest}
    SET STRUCTURAL {("revision_of", ?skill)}}
}"""
_OBSERVED = """MUTATE {
  CREATE EVIDENCE ?e {CLIENT KEY :key
    SET FIELDS {evidence_class: "outcome", payload: "arrived"}
    SET FACET "OutcomeRecord" {
      task_family: "walking", attempt_ref: :attempt, metric: "arrival", window: "1h", terminal: true,
      observation_key: :key, observer_config_digest: :digest, outcome_status: "success"}
  }
  CREATE ACTIVITY ?o {CLIENT KEY :edge
    SET FIELDS {activity_class: "outcome_observation", status: "completed"}
    SET STRUCTURAL {("inputs", :attempt) ("outputs", ?e)}
  }
}"""
_PIN = {"artifact_ref": "artifact-1", "content_digest": digest("whatever comes is an improvement")}
_ADOPT = 'UPDATE :skill SET ATTRIBUTES {status: "adopted"} %s EXPECT VERSION 1'


@scenario("KIP2-MEM-003")
def two_instruments_that_watch_one_attempt_are_one_sample(world: World) -> Observed:
    made = _skill(world)
    gate = _decided(world, made, policy="kip:memory-default", utility=0.5)
    attempt = _attempted(world, made, gate)
    for key in ("scale", "camera"):
        _observe(world, attempt, key)
    before = world.count("?x EVIDENCE {}")
    _observe(world, attempt, "camera")
    repeated = world.count("?x EVIDENCE {}") - before
    with world.adapter.engine.space.snapshot() as snapshot:
        samples = sampled(snapshot, attempts=[attempt]).samples
    _improved(world, made, [attempt, attempt])
    return Observed(
        {"independent_samples": len(samples), "adopted": _status(world, made) == "adopted"},
        {"duplicate_replay_added_evidence": repeated > 0},
    )


@scenario("KIP2-MEM-019")
def brains_may_rank_as_they_like_and_none_calls_its_guess_an_improvement(world: World) -> Observed:
    allowed, claimed = [], []
    with World() as other:
        for brain, policy, utility in ((world, "kip:memory-default", 1.0), (other, "kip:policy:structural", 0.1)):
            made = _skill(brain)
            gate = _decided(brain, made, policy=policy, utility=utility)
            (record,) = brain.element(gate)["facets"].values()
            allowed.append(record["basis"]["policy"]["id"] == policy)
            attempts = [_attempted(brain, made, gate, name) for name in ("one", "two")]
            _improved(brain, made, attempts)
            claimed.append(_status(brain, made) != "proposed" or _may_act(brain))
    return Observed({"alternative_policies_allowed": all(allowed)}, {"unvalidated_improvement_claimed": any(claimed)})


# --- what both are made of --------------------------------------------------------------------------------------------


def _skill(world: World) -> dict[str, str]:
    return world.handles(_SKILL, digest=digest({"task_family": "walking", "procedure": "step"}))


def _decided(world: World, made: dict[str, str], *, policy: str, utility: float) -> str:
    """A decision to apply the Skill's revision, with what it was ranked by and the policy it was read under."""
    world.run('UPDATE :r SET FACET "MnemonicState" {utility: :u}', r=made["revision"], u=utility)
    (basis,) = world.run(
        'FIND(?s.basis) WHERE { ?s BELIEF SLOT (:a, "lives_in") } WITH EPISTEMIC {policy: :p}',
        a=made["alice"],
        p=policy,
    )
    record: dict[str, Any] = {
        "decision": "act",
        "retrieved_refs": [made["revision"]],
        "used_refs": [made["revision"]],
        "applied_revisions": [made["revision"]],
        "basis": basis,
    }
    inputs = 'SET STRUCTURAL {("inputs", :r)}'
    command = activity("action_gate", "DecisionRecord", record, status="completed", structural=inputs)
    return world.handles(command, r=made["revision"], **values_of(record))["x"]


def _attempted(world: World, made: dict[str, str], gate: str, name: str = "one") -> str:
    record: dict[str, Any] = {
        "attempt_id": name,
        "decision_ref": gate,
        "applied_revisions": [made["revision"]],
        "trial_ref": None,
        "context": {},
        "environment_digest": _PIN["content_digest"],
        "tool_versions": {},
        "selection_policy": _PIN,
        "preconditions_satisfied": "yes",
        "started_at": "2026-09-20T00:00:00.000Z",
    }
    inputs = 'SET STRUCTURAL {("inputs", :gate)}'
    command = activity("action_attempt", "AttemptRecord", record, status="completed", structural=inputs)
    return world.handles(command, gate=gate, **values_of(record))["x"]


def _observe(world: World, attempt: str, key: str) -> None:
    world.run(_OBSERVED, attempt=attempt, key=key, edge=f"edge {key}", digest=_PIN["content_digest"])


def _improved(world: World, made: dict[str, str], attempts: list[str]) -> None:
    """Try to adopt the Skill: by its name alone, and by an evaluation that says of itself that there is improvement."""
    record: dict[str, Any] = {
        "trial_ref": "X-1",
        "revision_refs": [made["revision"]],
        "from_status": "trialed",
        "to_status": "adopted",
        "rule_digest": _PIN["content_digest"],
        "parameters_digest": _PIN["content_digest"],
        "cutoff": "2026-09-20T00:00:00.000Z",
        "attempt_refs": attempts,
        "outcome_refs": ["E-1", "E-2"],
        "excluded_samples": [],
        "missing_attempt_refs": [],
        "comparison": {"status": "improved", "effect": 1.0, "uncertainty": {}},
        "replay_artifact": _PIN,
    }
    verdict = activity("lifecycle_verdict", "EvaluationRecord", record, status="completed")
    chosen = 'SET STRUCTURAL {("current_evaluation", ?x)}'
    world.code(_ADOPT % "", skill=made["skill"])
    world.code(f"MUTATE {{ {verdict} {_ADOPT % chosen} }}", skill=made["skill"], **values_of(record))


def _status(world: World, made: dict[str, str]) -> str:
    return str(world.element(made["skill"])["attributes"]["status"])


def _may_act(world: World) -> bool:
    """Whether the utility somebody wrote lets a caller without permissions do anything."""
    nobody = Session(principal_id="nobody", channel="conformance", permissions=frozenset())
    return world.code('CREATE CONCEPT ?c {TYPE "Person"}', session=nobody) is None
