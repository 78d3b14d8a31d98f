"""Which outcomes grade what was done, and which are only read (KIP 2.0 §15.7; Validated Learning §3)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from brain.ids import digest
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from brain.kip.grading import LeftOut, Sampled, sampled
from brain.store.base import Commit, Element
from tests.kip.conftest import OWNER, Space

requirement = pytest.mark.requirement

INSTRUMENT = preset_session("instrument", principal_id="probe", channel="telemetry")
SKILL = """MUTATE {
  CREATE CONCEPT ?skill {
    TYPE "Skill" SET ATTRIBUTES {skill_class: "workflow", summary: "s", status: "proposed"}
    SET STRUCTURAL { ("current_revision", ?revision) } }
  CREATE CONCEPT ?revision {
    TYPE "SkillRevision" SET ATTRIBUTES {task_family: "deploy/x", procedure: "p", behavior_digest: :digest}
    SET STRUCTURAL { ("revision_of", ?skill) } }
}"""
DECISION = """CREATE ACTIVITY ?x {
  SET FIELDS {activity_class: "action_gate", status: "completed"}
  SET FACET "DecisionRecord" {
    decision: "act", retrieved_refs: [], used_refs: [], applied_revisions: [:revision], basis: :basis}
  SET STRUCTURAL { ("inputs", :revision) }
}"""
ATTEMPT = """CREATE ACTIVITY ?x {
  SET FIELDS {activity_class: "action_attempt", status: "completed"}
  SET FACET "AttemptRecord" {
    attempt_id: :name, decision_ref: :decision, applied_revisions: [:revision], trial_ref: null, context: {},
    environment_digest: :digest, tool_versions: {}, selection_policy: :policy, preconditions_satisfied: "yes",
    started_at: "2026-09-01T00:00:00.000Z"}
  SET STRUCTURAL { ("inputs", :decision) }
}"""
OBSERVED = """MUTATE {
  CREATE EVIDENCE ?e {
    SET FIELDS {evidence_class: "outcome", payload: :key}
    SET FACET "OutcomeRecord" {
      task_family: "deploy/x", attempt_ref: :attempt, metric: :metric, window: "1h", terminal: :terminal,
      observation_key: :key, observer_config_digest: :digest, outcome_status: :status}
  }
  CREATE ACTIVITY ?o {
    SET FIELDS {activity_class: "outcome_observation", status: "completed"}
    SET STRUCTURAL { ("inputs", :linked) ("outputs", ?e) }
  }
}"""
ALONE = f"{OBSERVED[: OBSERVED.index('  CREATE ACTIVITY')]}}}"


class Runs:
    """A Skill, attempts at it, and what an instrument observed of them."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.count = itertools.count(1)
        self.digest = digest("config")
        behavior = {"task_family": "deploy/x", "procedure": "p"}
        made = space.handles(SKILL, digest=digest(behavior))
        self.skill, self.revision = made["skill"], made["revision"]
        (basis,) = space.write('FIND(?s.basis) WHERE { ?s BELIEF SLOT (:c, "lives_in") }', c=self._person())
        self.decision = space.handles(DECISION, revision=self.revision, basis=basis)["x"]

    def _person(self) -> str:
        return self.space.handles('CREATE CONCEPT ?p {TYPE "Person" NAME "Ann"}')["p"]

    def attempt(self) -> str:
        policy = {"artifact_ref": "policy:any", "content_digest": self.digest}
        name = f"attempt-{next(self.count)}"
        named: dict[str, Any] = {"decision": self.decision, "revision": self.revision, "digest": self.digest}
        return self.space.handles(ATTEMPT, name=name, policy=policy, **named)["x"]

    def observe(self, attempt: str | None, status: str = "success", **other: Any) -> str:
        """An outcome, linked to its attempt by the instrument's observation."""
        values: dict[str, Any] = {
            "attempt": attempt,
            "linked": attempt,
            "metric": "passed",
            "terminal": True,
            "status": status,
            "key": f"observation-{next(self.count)}",
            "digest": self.digest,
        } | other
        command = OBSERVED
        if values["linked"] is None:
            command = ALONE
            del values["linked"]
        return str(self.space.write(command, session=INSTRUMENT, **values)["handles"]["e"])

    def sampled(self, **only: Any) -> Sampled:
        with self.space.store.snapshot() as now:
            return sampled(now, **only)

    def statuses(self) -> list[tuple[str, str]]:
        return [(sample.attempt, sample.status) for sample in self.sampled().samples]

    def imported(self, outcome: str) -> None:
        """Let an outcome have come with a Capsule, as an import leaves it."""
        with self.space.store.transaction() as tx:
            body = tx.elements([outcome])[outcome].body
            origin = {**body["_system"]["origin"], "import_id": "import-1"}
            system = {**body["_system"], "origin": origin, "version": 2}
            tx.put([Element(outcome, tx.elements([outcome])[outcome].kind, {**body, "_system": system})])
            seq, at = tx.seq + 1, "2026-09-20T00:00:00.000Z"
            tx.record(Commit(seq, f"import#{seq}", at, {"space_seq": seq}, {"space_seq": seq, "changes": []}))


@pytest.fixture
def runs(space: Space) -> Runs:
    return Runs(space)


@requirement("KI-EVID-014")
def test_where_an_outcome_comes_from_can_be_read(space: Space, runs: Runs) -> None:
    outcome = runs.observe(runs.attempt())
    origin = "FIND(?e._system.origin) WHERE { ?e EVIDENCE {id: :e} }"
    assert space.write(origin, e=outcome) == [{"principal_id": "probe", "channel": "telemetry", "import_id": None}]
    runs.imported(outcome)
    assert space.write(origin.replace("origin)", "origin.import_id)"), e=outcome) == ["import-1"]
    assert space.write("FIND(?e.payload.inline) WHERE { ?e EVIDENCE {id: :e} }", e=outcome)[0]


@requirement("KI-EVID-014")
def test_an_imported_outcome_is_read_and_never_counted(runs: Runs) -> None:
    attempt = runs.attempt()
    outcome = runs.observe(attempt)
    assert runs.statuses() == [(attempt, "success")]
    runs.imported(outcome)
    assert runs.sampled() == Sampled((), {outcome: LeftOut.IMPORTED})


@requirement("KI-EVID-015")
def test_a_shared_task_family_attributes_nothing(space: Space, runs: Runs) -> None:
    before = space.element(runs.skill)
    attempt = runs.attempt()
    stream = runs.observe(None, linked=None)
    unlinked = runs.observe(attempt, linked=None)
    elsewhere = runs.observe(attempt, linked=runs.attempt())
    no_attempt = runs.observe(runs.decision)
    assert runs.sampled() == Sampled((), dict.fromkeys((stream, unlinked, elsewhere, no_attempt), LeftOut.UNATTRIBUTED))
    assert space.element(runs.skill) == before
    (shown,) = space.write("FIND(?s) WHERE { ?s {id: :s} }", s=runs.skill)
    assert (shown["attributes"]["status"], shown.get("facets")) == ("proposed", before.get("facets"))


@requirement("KI-EVID-016")
def test_two_observations_of_one_attempt_are_one_sample(runs: Runs) -> None:
    first, second = runs.attempt(), runs.attempt()
    seen = [runs.observe(first), runs.observe(first), runs.observe(second, "failure")]
    assert runs.statuses() == [(first, "success"), (second, "failure")]
    assert runs.sampled().left_out == {seen[1]: LeftOut.REPEATED}
    assert [sample.outcome for sample in runs.sampled(attempts=[second]).samples] == [seen[2]]


@requirement("KI-EVID-016")
def test_each_metric_and_only_the_last_word_counts(runs: Runs) -> None:
    attempt = runs.attempt()
    early = runs.observe(attempt, "failure", terminal=False)
    runs.observe(attempt)
    runs.observe(attempt, "partial", metric="cost")
    found = runs.sampled()
    assert [(sample.metric, sample.status) for sample in found.samples] == [("passed", "success"), ("cost", "partial")]
    assert found.left_out == {early: LeftOut.INTERMEDIATE}


@requirement("KI-EVID-016")
def test_observations_that_contradict_each_other_are_no_sample(space: Space, runs: Runs) -> None:
    attempt = runs.attempt()
    good, bad = runs.observe(attempt), runs.observe(attempt, "failure")
    assert runs.sampled() == Sampled((), dict.fromkeys((good, bad), LeftOut.CONFLICTING))
    Governor(space.engine).quarantine(OWNER, [bad])
    assert runs.statuses() == [(attempt, "success")]
    assert runs.sampled().left_out == {bad: LeftOut.WITHDRAWN}


@requirement("KI-EVID-015", "KI-EVID-012")
def test_only_an_instrument_links_an_outcome(space: Space, runs: Runs) -> None:
    attempt = runs.attempt()
    outcome = runs.observe(attempt, linked=None)
    agent = preset_session("agent", principal_id="agent", channel="test")
    link = """CREATE ACTIVITY ?o {{
      SET FIELDS {{activity_class: "{}", status: "completed"}}
      SET STRUCTURAL {{ ("inputs", :attempt) ("outputs", :outcome) }}
    }}"""
    named: dict[str, Any] = {"attempt": attempt, "outcome": outcome}
    assert space.refused(link.format("outcome_observation"), session=agent, **named) == "NotAuthorized"
    space.write(link.format("review"), session=agent, **named)
    assert runs.statuses() == []
    space.write(link.format("outcome_observation"), session=INSTRUMENT, **named)
    assert runs.statuses() == [(attempt, "success")]
