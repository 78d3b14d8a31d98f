"""After an erasure: what does not come back, what left before, what cannot be worked through again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brain import errors
from brain.kip.erasure import Eraser
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from brain.times import timestamp
from tests.kip.conftest import OWNER, Space
from tests.kip.erasure.learning import TOLD, learn

requirement = pytest.mark.requirement
AGAIN = 'CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "user_statement", payload: :told, observed_at: :at} }'
KEYED = 'CREATE EVIDENCE ?e { CLIENT KEY "told" SET FIELDS {evidence_class: "user_statement", payload: :told} }'
AGENT = preset_session("agent", principal_id="agent", channel="test")


@pytest.fixture
def eraser(space: Space) -> Eraser:
    return Eraser(space.engine)


@pytest.fixture
def made(space: Space) -> dict[str, str]:
    return learn(space)


@requirement("KI-RETAIN-027")
def test_an_erased_event_is_not_recorded_again_within_its_retention(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    observed = space.element(made["e"])["observed_at"]
    eraser.run(OWNER, eraser.plan(OWNER, [made["e"]], retention_ms=1000).plan_ref)
    assert space.refused(AGAIN, told=TOLD, at=observed) == "ConstraintViolation"
    assert space.refused(KEYED, told=TOLD) == "ConstraintViolation"
    with space.store.snapshot() as snapshot:
        assert "Turandot" not in repr(snapshot.scan_state("kip.erasure.tombstone"))
    space.clock.advance(2000)
    space.write(AGAIN, told=TOLD, at=observed)


@requirement("KI-RETAIN-027")
@pytest.mark.parametrize("refuses_new", [False, True])
def test_the_same_words_on_another_day_are_for_the_policy_of_the_plan(
    space: Space, eraser: Eraser, made: dict[str, str], refuses_new: bool
) -> None:
    plan = eraser.plan(OWNER, [made["e"]], refuses_new=refuses_new).plan_ref
    eraser.run(OWNER, plan)
    later = timestamp(space.clock.now_ms() + 86_400_000)
    if refuses_new:
        assert space.refused(AGAIN, told=TOLD, at=later) == "ConstraintViolation"
        with pytest.raises(errors.NotAuthorized):
            eraser.admit_again(AGENT, plan)
        eraser.admit_again(OWNER, plan)
    space.write(AGAIN, told=TOLD, at=later)


@requirement("KI-RETAIN-028")
def test_exports_are_listed_and_never_recalled(space: Space, eraser: Eraser, made: dict[str, str]) -> None:
    capsule = space.write("EXPORT CAPSULE ?e WHERE { ?e EVIDENCE {id: :e} }", e=made["e"])
    other = space.write("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {id: :c} }", c=made["x"])
    name = capsule["integrity"]["content_digest"]
    report = eraser.run(OWNER, eraser.plan(OWNER, [made["e"]], external_exports=["mail to Ben"]).plan_ref)
    assert report.status == "completed"
    assert report.record["external_exports"] == ["mail to Ben", name]
    assert report.exports == ({"export": "mail to Ben", "recalled": False}, {"export": name, "recalled": False})
    assert other["integrity"]["content_digest"] not in report.record["external_exports"]


def test_an_export_that_may_only_read_leaves_no_note(space: Space, made: dict[str, str]) -> None:
    request = {"command": "EXPORT CAPSULE ?e WHERE { ?e EVIDENCE {id: :e} }", "parameters": {"e": made["e"]}}
    reader = replace(OWNER, readonly=True)
    for envelope, session in (
        ({"operations": [request]}, reader),
        ({"operations": [request], "execution": {"mode": "atomic"}}, reader),
        ({"operations": [request], "options": {"dry_run": True}}, OWNER),
    ):
        answer = space.engine.execute({"kip": "2.0", **envelope}, session).response
        assert answer["status"] == "succeeded", answer
    with space.store.snapshot() as snapshot:
        assert not list(snapshot.scan_state("kip.exports"))


@requirement("KI-RETAIN-028")
def test_what_cannot_be_worked_through_again_says_so(space: Space, eraser: Eraser, made: dict[str, str]) -> None:
    report = eraser.run(OWNER, eraser.plan(OWNER, [made["e"]]).plan_ref)
    assert report.replays == ({"activity": made["act"], "status": "unavailable", "inputs_unavailable": [made["e"]]},)
    assert space.element(made["act"])["_system"]["state"] == "active"


DIGEST = "sha256:" + "a" * 64


def verdict(space: Space, made: dict[str, str], artifact: str) -> str:
    """An evaluation that counted an outcome drawn from the message, with the artifact it could be replayed from."""
    return space.handles(
        """MUTATE {
          CREATE ACTIVITY ?v { SET FIELDS {activity_class: "lifecycle_verdict", status: "completed"}
            SET FACET "EvaluationRecord" {trial_ref: null, revision_refs: [:ann], from_status: "trialed",
              to_status: "trialed", rule_digest: :d, parameters_digest: :d, cutoff: "2026-01-01T00:00:00.000Z",
              attempt_refs: [], outcome_refs: [:s], excluded_samples: [], missing_attempt_refs: [],
              comparison: {status: "insufficient", effect: null, uncertainty: {}},
              replay_artifact: {artifact_ref: :artifact, content_digest: :d}} }
        }""",
        d=DIGEST,
        artifact=artifact,
        **{name: made[name] for name in ("ann", "s")},
    )["v"]


@requirement("KI-RETAIN-028", "KI-RETAIN-024")
def test_the_artifact_a_verdict_is_replayed_from_goes_and_the_verdict_stays(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    copy = 'CREATE EVIDENCE ?r { SET FIELDS {evidence_class: "document", payload: "Turandot, replayed"} }'
    replayed = space.handles(copy)["r"]
    act = verdict(space, made, replayed)
    before = space.element(act)
    report = eraser.run(OWNER, eraser.plan(OWNER, [made["e"]]).plan_ref)
    assert report.status == "completed"
    assert {"ref": replayed, "surface": "replay", "state": "erased"} in report.record["targets"]
    assert space.element(replayed)["_system"]["state"] == "purged"
    assert space.element(act) == before
    told = {one["activity"]: one for one in report.replays}[act]
    assert told == {
        "activity": act,
        "status": "unavailable",
        "inputs_unavailable": sorted([made["s"], replayed]),
    }


@requirement("KI-RETAIN-026", "KI-RETAIN-028")
def test_an_artifact_that_is_kept_elsewhere_keeps_the_plan_open(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    act = verdict(space, made, "artifact:42")
    plan = eraser.plan(OWNER, [made["e"]]).plan_ref
    report = eraser.run(OWNER, plan)
    assert report.status == "partial"
    assert [(one.surface, one.ref) for one in report.remaining] == [("replay", "artifact:42")]
    report = eraser.confirm(OWNER, plan, "replay", "artifact:42", "erased")
    assert report.status == "completed"
    told = {one["activity"]: one for one in report.replays}[act]
    assert told["inputs_unavailable"] == sorted([made["s"], "artifact:42"])


@requirement("KI-SEC-011", "KI-RETAIN-024")
def test_an_erasure_is_audited_without_content(space: Space, eraser: Eraser, made: dict[str, str]) -> None:
    plan = eraser.plan(OWNER, [made["e"]]).plan_ref
    eraser.run(OWNER, plan)
    rows = [row for _, row in Governor(space.engine).decisions(OWNER)]
    assert [(row.action, row.decision, (row.details or {})["erasure_plan"]) for row in rows] == [
        ("plan_erasure", "allow", plan),
        ("erase", "allow", plan),
    ]
    assert "Turandot" not in repr(rows)
