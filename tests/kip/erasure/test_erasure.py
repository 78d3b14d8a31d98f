"""Forgetting what was learned from a source: what a plan reaches, what it leaves, and when it is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brain import errors
from brain.kip.context import Session
from brain.kip.erasure import Eraser, ErasureReport
from brain.kip.exposure import ExposureLog
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Rule, Scope
from brain.kip.json_schema import schema_faults
from tests.kip.conftest import OWNER, Space
from tests.kip.erasure.learning import learn

requirement = pytest.mark.requirement
SCHEMAS = Path(__file__).parents[4] / "shared/reference/kip/schemas"
AGENT = preset_session("agent", principal_id="agent", channel="test")


@pytest.fixture
def eraser(space: Space) -> Eraser:
    return Eraser(space.engine)


@pytest.fixture
def made(space: Space) -> dict[str, str]:
    return learn(space)


def places(report: ErasureReport) -> dict[tuple[str, str], str]:
    return {(one["surface"], one["ref"]): one["state"] for one in report.record["targets"]}


# --- the plan ---------------------------------------------------------------------------------------------------------


@requirement("KI-RETAIN-024")
def test_a_plan_names_every_place_a_copy_is_in_and_erases_nothing(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    before = space.seq
    outside: Any = [("backup", "nightly"), ("cache", "page 7")]
    report = eraser.plan(OWNER, [made["e"]], outside=outside, external_exports=["mail to Ben"])
    assert space.seq == before == report.record["basis_seq"]
    assert (report.record["scope"], report.status) == ("semantic_forgetting", "pending")
    assert report.record["source_event_refs"] == [made["e"]]
    assert set(places(report)) == {
        *((surface, made["e"]) for surface in ("payload", "element", "index")),
        ("summary", made["s"]),
        ("index", made["s"]),
        ("element", made["a"]),
        ("element", made["b"]),
        *(
            (surface, made[one])
            for one in ("opera", "a#proposition", "b#proposition")
            for surface in ("element", "index")
        ),
        ("cache", "kip:exposure-log"),
        *outside,
    }
    assert set(places(report).values()) == {"pending"}


@requirement("KI-RETAIN-024")
@pytest.mark.parametrize("scope", ["payload_only", "semantic_forgetting"])
def test_a_plan_is_an_erasure_plan_at_every_stage(
    space: Space, eraser: Eraser, made: dict[str, str], scope: Any
) -> None:
    path = SCHEMAS / "kip-cognitive-records.schema.json"
    if not path.exists():
        pytest.skip("the published schemas lie beside the checkout or nowhere")
    document = json.loads(path.read_text("utf-8"))
    schema = {"$ref": f"{document['$id']}#/$defs/ErasurePlan"}
    others = [json.loads(one.read_text("utf-8")) for one in SCHEMAS.glob("*.json")]
    resources = {one["$id"]: one for one in others if "$id" in one}
    report = eraser.plan(OWNER, [made["e"]], scope, outside=[("backup", "nightly")])
    stages = [report, eraser.step(OWNER, report.plan_ref), eraser.run(OWNER, report.plan_ref)]
    stages.append(eraser.confirm(OWNER, report.plan_ref, "backup", "nightly", "erased"))
    for stage in stages:
        assert schema_faults(schema, resources, json.loads(json.dumps(stage.record))) == []
    assert stages[-1].status == "completed"


@requirement("KI-RETAIN-024")
def test_a_plan_of_nothing_real_is_refused(space: Space, eraser: Eraser, made: dict[str, str]) -> None:
    for wanted, error in (
        (["E-99"], errors.NotFoundOrNotVisible),
        ([], errors.InvalidIdentifier),
        (["E 1"], errors.InvalidIdentifier),
        ([made["a"]], errors.TypeMismatch),
    ):
        with pytest.raises(error):
            eraser.plan(OWNER, wanted)
    with pytest.raises(errors.ConstraintViolation):
        eraser.plan(OWNER, [made["e"]], "all")  # type: ignore[arg-type]
    with pytest.raises(errors.ConstraintViolation):
        eraser.plan(OWNER, [made["e"]], outside=[("payload", "mine")])


# --- what it reaches --------------------------------------------------------------------------------------------------


@requirement("KI-RETAIN-024", "KI-RETAIN-026")
def test_what_was_learned_is_gone_from_now_and_from_the_past_and_from_the_file(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    then = space.seq
    ExposureLog(space.engine).record(OWNER, [made["a"]], exposure="retrieved", snapshot_seq=then)
    report = eraser.run(OWNER, eraser.plan(OWNER, [made["e"]]).plan_ref)
    assert (report.status, report.remaining) == ("completed", ())
    for one in ("e", "s", "a", "b", "opera", "a#proposition", "b#proposition"):
        assert {version["_system"]["state"] for version in _versions(space, made[one])} == {"purged"}
    assert ExposureLog(space.engine).read(OWNER) == []
    assert space.write('SEARCH CONCEPT "Turandot"')["hits"] == []
    assert space.write('SEARCH EVIDENCE "Turandot"')["hits"] == []
    held = [space.element(made[one]) for one in made] + [space.element(made[one], then) for one in made]
    assert "Turandot" not in repr(held)
    assert report.record["receipts"] == [space.commit(space.seq).tx_id]


@requirement("KI-RETAIN-024")
def test_what_stands_on_other_grounds_too_is_kept(space: Space, eraser: Eraser, made: dict[str, str]) -> None:
    other = space.handles(
        """MUTATE {
          CREATE EVIDENCE ?f { SET FIELDS {evidence_class: "user_statement", payload: "Ann speaks Turandot too"} }
          ASSERT ?c (:ann, "interested_in", :opera) {by: :ann, mode: "stated", evidence: ?f}
        }""",
        ann=made["ann"],
        opera=made["opera"],
    )
    report = eraser.run(OWNER, eraser.plan(OWNER, [made["e"]]).plan_ref)
    assert report.status == "completed"
    for kept in (made["ann"], made["opera"], made["a#proposition"], other["c"], other["f"]):
        assert space.element(kept)["_system"]["state"] == "active"
    assert {made["ann"], made["a#proposition"]} <= set(report.kept)
    assert space.element(made["a"])["_system"]["state"] == "purged"


@requirement("KI-RETAIN-024")
def test_payload_only_takes_the_bytes_and_leaves_what_was_learned(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    report = eraser.run(OWNER, eraser.plan(OWNER, [made["e"]], "payload_only").plan_ref)
    assert places(report) == {("payload", made["e"]): "erased", ("index", made["e"]): "erased"}
    assert report.status == "completed"
    assert space.element(made["e"])["payload"] == {"status": "purged"}
    assert space.element(made["a"])["_system"]["state"] == "active"


@requirement("KI-RETAIN-025")
def test_copies_made_after_the_plan_are_erased_and_what_now_stands_by_itself_is_not(
    space: Space, made: dict[str, str]
) -> None:
    eraser = Eraser(space.engine, batch=1)
    plan = eraser.plan(OWNER, [made["e"]]).plan_ref
    eraser.step(OWNER, plan)
    late = space.handles(
        """MUTATE {
          CREATE EVIDENCE ?f { SET FIELDS {evidence_class: "user_statement", payload: "I said it again"} }
          ASSERT ?late (:ann, "speaks", "it") {by: :ann, mode: "stated", evidence: :e}
          ASSERT ?own (:ann, "speaks", "en") {by: :ann, mode: "stated", evidence: ?f}
        }""",
        ann=made["ann"],
        e=made["e"],
    )
    report = eraser.run(OWNER, plan)
    assert report.status == "completed"
    assert space.element(late["late"])["_system"]["state"] == "purged"
    assert space.element(late["own"])["_system"]["state"] == "active"


# --- authority and holds ----------------------------------------------------------------------------------------------


@requirement("KI-RETAIN-025")
def test_authority_is_asked_for_with_every_batch(space: Space, made: dict[str, str]) -> None:
    governor, eraser = Governor(space.engine), Eraser(space.engine, batch=1)
    clerk = Session("clerk", "test", frozenset())
    with pytest.raises(errors.NotAuthorized):
        eraser.plan(AGENT, [made["e"]])
    grant = governor.grant(OWNER, "clerk", ["discover", "read", "purge"])
    plan = eraser.plan(clerk, [made["e"]]).plan_ref
    begun = eraser.step(clerk, plan)
    governor.revoke(OWNER, grant)
    before = space.seq
    with pytest.raises(errors.NotAuthorized):
        eraser.run(clerk, plan)
    assert space.seq == before
    assert eraser.report(OWNER, plan).record == begun.record
    assert eraser.run(OWNER, plan).status == "completed"


@requirement("KI-RETAIN-025")
def test_nobody_erases_what_they_may_not_know_of(space: Space, eraser: Eraser, made: dict[str, str]) -> None:
    governor = Governor(space.engine)
    governor.grant(OWNER, "clerk", ["discover", "read", "purge"])
    hidden = Scope(labels=frozenset({"secret"}))
    deny = Rule("deny", frozenset({"discover"}), to=frozenset({"clerk"}), scope=hidden)
    governor.set_policy(OWNER, Policy(labels=("secret",), rules=(deny,)))
    governor.classify(OWNER, [made["s"]], "secret")
    before = space.seq
    with pytest.raises(errors.PurgeDenied) as refused:
        eraser.plan(Session("clerk", "test", frozenset()), [made["e"]])
    assert made["s"] not in repr(refused.value.to_wire())
    assert space.seq == before


@requirement("KI-RETAIN-025")
def test_an_erasure_that_waits_for_approval_is_done_after_it(space: Space, made: dict[str, str]) -> None:
    governor, eraser = Governor(space.engine), Eraser(space.engine, batch=2)
    governor.set_policy(OWNER, Policy(approvals=frozenset({"purge"})))
    plan = eraser.plan(OWNER, [made["e"]]).plan_ref
    before = space.seq
    with pytest.raises(errors.RequiresApproval) as refused:
        eraser.run(OWNER, plan)
    assert space.seq == before
    second = Session("second", "test", frozenset({"approve", "discover", "read"}))
    governor.approve(second, refused.value.details["approval_id"])
    assert eraser.run(OWNER, plan).status == "completed"


@requirement("KI-RETAIN-026", "KI-RETAIN-025")
def test_a_held_element_blocks_the_plan_until_the_hold_is_lifted(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    plan = eraser.plan(OWNER, [made["e"]]).plan_ref
    space.write("SET RETENTION :s {legal_hold: true}", s=made["s"])
    report = eraser.run(OWNER, plan)
    assert report.status == "blocked"
    assert {(one.surface, one.ref, one.state) for one in report.remaining} == {
        ("summary", made["s"], "held"),
        ("index", made["s"], "held"),
        ("cache", "kip:exposure-log", "pending"),
    }
    assert space.element(made["s"])["_system"]["state"] == "active"
    assert space.element(made["e"])["_system"]["state"] == "purged"
    space.write("SET RETENTION :s {legal_hold: false}", s=made["s"])
    assert eraser.run(OWNER, plan).status == "completed"


@requirement("KI-RETAIN-026")
def test_a_hold_on_something_whose_source_is_gone_already_still_blocks(
    space: Space, eraser: Eraser, made: dict[str, str]
) -> None:
    plan = eraser.plan(OWNER, [made["e"]]).plan_ref
    space.write("SET RETENTION :c {legal_hold: true}", c=made["opera"])
    assert eraser.run(OWNER, plan).status == "blocked"
    assert eraser.run(OWNER, plan).status == "blocked"
    space.write("SET RETENTION :c {legal_hold: false}", c=made["opera"])
    assert eraser.run(OWNER, plan).status == "completed"
    assert space.element(made["opera"])["_system"]["state"] == "purged"


# --- what the host holds ----------------------------------------------------------------------------------------------


@requirement("KI-RETAIN-026")
def test_a_pending_backup_keeps_a_plan_from_being_completed(space: Space, made: dict[str, str]) -> None:
    gone: set[str] = set()
    tries: list[str] = []

    def erase(ref: str) -> bool:
        tries.append(ref)
        return ref in gone

    eraser = Eraser(space.engine, handlers={"cache": erase})
    plan = eraser.plan(OWNER, [made["e"]], outside=[("backup", "nightly"), ("cache", "page 7")]).plan_ref
    report = eraser.run(OWNER, plan)
    assert report.status == "partial"
    assert {(one.surface, one.ref, one.state) for one in report.remaining} == {
        ("backup", "nightly", "pending"),
        ("cache", "page 7", "unavailable"),
    }
    gone.add("page 7")
    assert eraser.run(OWNER, plan).status == "partial"
    assert tries == ["page 7", "page 7"]
    assert eraser.confirm(OWNER, plan, "backup", "nightly", "erased").status == "completed"


@requirement("KI-RETAIN-026")
def test_a_host_cannot_report_away_a_copy_of_the_spaces_own(space: Space, eraser: Eraser, made: dict[str, str]) -> None:
    plan = eraser.plan(OWNER, [made["e"]], outside=[("backup", "nightly")]).plan_ref
    with pytest.raises(errors.ConstraintViolation):
        eraser.confirm(OWNER, plan, "backup", "nightly", "erased")
    eraser.step(OWNER, plan)
    for surface, ref in (("element", made["a"]), ("backup", "weekly")):
        with pytest.raises(errors.NotFoundOrNotVisible):
            eraser.confirm(OWNER, plan, surface, ref, "erased")  # type: ignore[arg-type]


@requirement("KI-RETAIN-024", "KI-RETAIN-026")
def test_bytes_that_are_kept_elsewhere_are_the_hosts_to_erase(space: Space) -> None:
    digest = "sha256:" + "0" * 64
    made = space.handles(
        """CREATE EVIDENCE ?e { SET FIELDS {evidence_class: "document", content_digest: :d,
             payload: {mode: "external", content_ref: "blob:7"}} }""",
        d=digest,
    )["e"]
    without = Eraser(space.engine)
    plan = without.plan(OWNER, [made], "payload_only").plan_ref
    assert places(without.run(OWNER, plan))["blob", "blob:7"] == "pending"
    report = Eraser(space.engine, handlers={"blob": lambda ref: ref == "blob:7"}).run(OWNER, plan)
    assert (report.status, places(report)["blob", "blob:7"]) == ("completed", "erased")


def _versions(space: Space, element_id: str) -> list[Any]:
    with space.store.snapshot() as snapshot:
        return [element.body for _, element in snapshot.versions(element_id)]
