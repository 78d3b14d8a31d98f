"""Profile records in use: kinds, signals, promises, derived views, verdicts, attachments, and ASSERT's long form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.ids import digest
from brain.kip.context import Session
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.world import World

_ALICE = 'CREATE CONCEPT ?a {TYPE "Person" NAME "Alice" SET FIELDS {key: "alice"}}'


def activity(activity_class: str, facet: str, record: Mapping[str, Any], *, status: str, structural: str = "") -> str:
    """KML for an Activity with one record Facet; its values are the parameters `m_…` of `values_of`."""
    members = ", ".join(f"{name}: :m_{name}" for name in record)
    return (
        f'CREATE ACTIVITY ?x {{SET FIELDS {{activity_class: "{activity_class}", status: "{status}"}} '
        f'SET FACET "{facet}" {{{members}}} {structural}}}'
    )


def values_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of `activity`."""
    return {f"m_{name}": value for name, value in record.items()}


@scenario("KIP2-MEM-013")
def profile_things_are_concepts_and_evidence_alone_is_enough(world: World) -> Observed:
    made = world.handles(
        """MUTATE {
          CREATE CONCEPT ?event {TYPE "Event" SET ATTRIBUTES {summary: "a walk"}}
          CREATE CONCEPT ?experience {TYPE "Experience" SET ATTRIBUTES {goal: "walk", outcome_status: "success"}}
          CREATE CONCEPT ?skill {TYPE "Skill"
            SET ATTRIBUTES {status: "proposed", summary: "walk", skill_class: "heuristic"}
            SET STRUCTURAL {("current_revision", ?revision)}}
          CREATE CONCEPT ?revision {TYPE "SkillRevision" SET ATTRIBUTES {
            task_family: "walking", procedure: "step", behavior_digest: :digest}
            SET STRUCTURAL {("revision_of", ?skill)}}
          CREATE CONCEPT ?self {TYPE "SelfModel" SET ATTRIBUTES {summary: "calm"}}
        }""",
        digest=digest({"task_family": "walking", "procedure": "step"}),
    )
    kinds = {world.element(element_id)["kind"] for element_id in made.values()}
    counted = {"concepts": world.count("?x CONCEPT {}"), "claims": world.count("?x ASSERTION {}")}
    alone = world.code('CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "hm"}}')
    invented = {"concepts": world.count("?x CONCEPT {}"), "claims": world.count("?x ASSERTION {}")} != counted
    return Observed(
        {"profile_objects_are_concepts": kinds == {"concept"}, "evidence_only_valid": alone is None},
        {"fabricated_actor_or_cot": invented or world.count("?x ACTIVITY {}") > 0},
    )


@scenario("KIP2-MEM-014")
def signals_are_orthogonal_and_silence_is_a_decision(world: World) -> Observed:
    alice = world.handles(_ALICE)["a"]
    claim = world.handles('ASSERT ?c (:a, "timezone", "+01:00") {by: :a, mode: "stated", confidence: 0.6}', a=alice)[
        "c"
    ]
    before = _epistemic(world, claim, alice)
    world.run('UPDATE :a SET FACET "MnemonicState" {salience: 0.9, utility: 0.1, memory_strength: 0.5}', a=alice)
    decision = {
        "decision": "silence",
        "retrieved_refs": [claim],
        "used_refs": [],
        "applied_revisions": [],
        "basis": world.basis(alice),
    }
    command = activity(
        "action_gate",
        "DecisionRecord",
        decision,
        status="completed",
        structural='SET STRUCTURAL {("inputs", :a)}',
    )
    gate = world.handles(command, a=alice, **values_of(decision))["x"]
    signals = world.element(alice)["facets"]
    for _ in range(3):
        world.basis(alice)
        world.run('SEARCH CONCEPT "Alice"')
    recorded = [facet["decision"] for facet in world.element(gate)["facets"].values()]
    return Observed(
        {"silence_recorded": recorded == ["silence"]},
        {
            "epistemic_or_authority_change": _epistemic(world, claim, alice) != before,
            "read_reinforcement": world.element(alice)["facets"] != signals,
        },
    )


def _epistemic(world: World, claim: str, concept: str) -> list[Any]:
    """What signals may not touch: the claim as written, its belief without its coordinates, and authority."""
    (belief,) = world.run('FIND(?s) WHERE { ?s BELIEF SLOT (:c, "timezone") }', c=concept)
    answer = {name: belief[name] for name in ("status", "accepted_values")}
    return [world.element(claim), answer, world.element(concept)["governance"]]


@scenario("KIP2-MEM-016")
def promises_stay_until_somebody_keeps_them(world: World) -> Observed:
    alice = world.handles(_ALICE)["a"]
    made = world.handles(
        """MUTATE {
          CREATE CONCEPT ?promise {TYPE "Commitment"
            SET ATTRIBUTES {summary: "send the slides", status: "pending", due_at: "2026-09-21T09:00:00.000Z"}
            SET FACET "MnemonicState" {memory_strength: 0.01}
            SET STRUCTURAL {("committed_to", :a)}}
          CREATE CONCEPT ?task {TYPE "SleepTask"
            SET ATTRIBUTES {task_class: "review_conflict", summary: "look again", status: "pending"}
            SET STRUCTURAL {("assigned_to", :a)}}
        }""",
        a=alice,
    )
    world.go_to("2026-12-24T00:00:00.000Z")
    worker = Session(
        principal_id="alice",
        channel="conformance",
        permissions=frozenset({"discover", "read"}),
        actors=frozenset({alice}),
    )
    denied = world.code('UPDATE :t SET ATTRIBUTES {status: "completed"}', session=worker, t=made["task"])
    due = world.run(
        """FIND(?c.id, ?c.attributes.status) WHERE { ?c {type: "Commitment"}
           FILTER(?c.attributes.due_at < "2026-12-24T00:00:00.000Z") }"""
    )
    promise = world.element(made["promise"])
    kept = promise["attributes"]["status"] != "pending" or promise["_system"]["version"] != 1
    return Observed(
        {
            "due_commitment_visible": due == [[made["promise"], "pending"]],
            "ungranted_worker_denied": denied == "NotAuthorized",
        },
        {"automatic_fulfillment": kept},
    )


@scenario("KIP2-MEM-017")
def a_working_state_is_a_view_and_no_evidence(world: World) -> Observed:
    alice = world.handles(_ALICE)["a"]
    premise = world.handles('ASSERT ?c (:a, "timezone", "+01:00") {by: :a, mode: "stated"}', a=alice)["c"]
    made = world.handles(
        """MUTATE {
          CREATE CONCEPT ?state {TYPE "WorkingState" SET ATTRIBUTES {summary: "in Oslo", basis_seq: :seq}}
          CREATE ACTIVITY ?x {
            SET STRUCTURAL {("inputs", :premise) ("outputs", ?state)}
            SET FACET "DependencyBasis" {
              policy_basis: :basis, groups: [{role: "all_of", pins: [{id: :premise, version: 1}]}], basis_seq: :seq}
            SET FIELDS {status: "completed", activity_class: "working_state_refresh"}}
        }""",
        seq=world.seq,
        premise=premise,
        basis=world.basis(alice),
    )
    cited = world.code(
        'ASSERT (:a, "timezone", "+02:00") {by: :a, mode: "stated", evidence: :s}', a=alice, s=made["state"]
    )
    at = world.element(made["state"])["attributes"]["basis_seq"]
    for place in ("+02:00", "+03:00", "+04:00"):
        world.run('ASSERT (:a, "timezone", :v) {by: :a, mode: "stated"}', a=alice, v=place)
    page = world.run("CHANGES AFTER SEQ :at LIMIT 1", at=at)
    through = page[-1]["coverage"]["through_seq"]
    world.run('TRANSITION :p TO "retracted"', p=premise)
    (validity,) = world.run("FIND(?s._system.dependency_validity) WHERE { ?s {id: :s} }", s=made["state"])
    disclosed = through < world.seq and validity["status"] == "needs_review" and not validity["action_eligible"]
    return Observed({"incomplete_wake_disclosed": disclosed}, {"working_state_evidence": cited is None})


@scenario("KIP2-MEM-020")
def a_verdict_guards_every_plane_it_writes(world: World) -> Observed:
    skill = _skill(world)
    planes = world.element(skill)["_system"]["plane_versions"]
    world.run('UPDATE :s SET FACET "MnemonicState" {utility: 0.4}', s=skill)
    world.run('UPDATE :s SET ATTRIBUTES {summary: "walk faster"}', s=skill)
    verdict = """MUTATE {
      CREATE ACTIVITY ?v {SET FIELDS {activity_class: "lifecycle_verdict", status: "completed"}
        SET STRUCTURAL {("inputs", :s)}}
      UPDATE :s SET ATTRIBUTES {status: "revoked"} SET FACET "MnemonicState" {utility: 0}
        EXPECT VERSION :attributes OF ATTRIBUTES EXPECT VERSION :signals OF FACET "MnemonicState"
    }"""
    now = world.element(skill)["_system"]["plane_versions"]
    fresh = {"attributes": now["attributes"], "signals": now["facets"]["MnemonicState"]}
    stale = [{**fresh, "attributes": planes["attributes"]}, {**fresh, "signals": 0}]
    codes = {world.code(verdict, s=skill, **guards) for guards in stale}
    codes.add({"ConstraintViolation": "VersionConflict"}.get(_written_grade(world, skill), "taken"))
    partial = world.count('?x ACTIVITY {activity_class: "lifecycle_verdict"}') > 0
    status = world.element(skill)["attributes"]["status"]
    committed = world.code(verdict, s=skill, **fresh) is None
    return Observed(
        {"stale_plane_write_rejected": codes == {"VersionConflict"} and committed},
        {"partial_verdict_commit": partial or status != "proposed"},
    )


def _written_grade(world: World, skill: str) -> str:
    """The code a written grade is refused with."""
    return world.code('UPDATE :s SET FACET "GradingState" {grade: 1}', s=skill) or ""


def _skill(world: World) -> str:
    return world.handles(
        """MUTATE {
          CREATE CONCEPT ?skill {TYPE "Skill"
            SET ATTRIBUTES {status: "proposed", summary: "walk", skill_class: "heuristic"}
            SET STRUCTURAL {("current_revision", ?revision)}}
          CREATE CONCEPT ?revision {TYPE "SkillRevision" SET ATTRIBUTES {
            task_family: "walking", procedure: "step", behavior_digest: :digest}
            SET STRUCTURAL {("revision_of", ?skill)}}
        }""",
        digest=digest({"task_family": "walking", "procedure": "step"}),
    )["skill"]


@scenario("KIP2-MEM-021")
def records_hang_where_they_belong_and_stay(world: World) -> Observed:
    alice = world.handles(_ALICE)["a"]
    decision = {
        "decision": "act",
        "retrieved_refs": [alice],
        "used_refs": [alice],
        "applied_revisions": [],
        "basis": world.basis(alice),
    }
    values = values_of(decision)
    seq = world.seq
    misplaced = [
        world.code(activity(activity_class, "DecisionRecord", decision, status=status), **values)
        for activity_class, status in (
            ("action_attempt", "completed"),
            ("action_gate", "pending"),
            ("note", "completed"),
        )
    ]
    unlinked = {**decision, "applied_revisions": [alice]}
    mismatch = world.code(
        activity("action_gate", "DecisionRecord", unlinked, status="completed"), **values_of(unlinked)
    )
    committed = world.seq != seq
    gate = world.handles(activity("action_gate", "DecisionRecord", decision, status="completed"), **values)["x"]
    changes = [
        'UPDATE :x SET FACET "DecisionRecord" {decision: "silence"}',
        'UPDATE :x UNSET FACET "DecisionRecord" {"used_refs"}',
        'UPDATE :x SET FIELDS {activity_class: "note"}',
        'UPDATE :x SET STRUCTURAL {("inputs", :a)}',
        'UPDATE :x SET FACET "MnemonicState" {salience: 1}',
    ]
    return Observed(
        {
            "bad_attachment_rejected": None not in misplaced,
            "immutable_record_update_rejected": all(world.code(change, x=gate, a=alice) for change in changes),
        },
        {"topology_mismatch_committed": mismatch is None or committed},
    )


# --- ASSERT and its long form -----------------------------------------------------------------------------------------

_SHORT = """ASSERT ?new (:a, "timezone", "+02:00") {
  by: :a, mode: "stated", at: :at, context: [:task], evidence: :e, confidence: 0.7, valid: {from: :at}
} SUPERSEDING :old"""
_LONG = """MUTATE {
  ENSURE PROPOSITION ?p (:a, "timezone", "+02:00")
  CREATE ASSERTION ?new {
    SET FIELDS {proposition: ?p, asserted_by: :a, stance: "support", mode: "stated", asserted_at: :at,
      context_refs: [:task], confidence: 0.7, valid_time: {from: :at}}
    SET STRUCTURAL {("evidence", :e) {role: "support"}}
  }
  TRANSITION :old TO "superseded" BY ?new
}"""


@scenario("KIP2-REL-014")
def assert_does_what_its_long_form_does(world: World) -> Observed:
    with World() as other:
        short, short_ids = _claimed(world, _SHORT)
        long, _ = _claimed(other, _LONG)
        extra = abs(_elements(world) - _elements(other))
    scoped = world.element(short_ids["new"])["context_refs"] == [{"id": short_ids["task"]}]
    general = world.handles('ASSERT ?g (:a, "timezone", "+03:00") {by: :a, mode: "stated"}', a=short_ids["a"])["g"]
    unscoped = not world.element(general).get("context_refs")
    return Observed(
        {"desugared_state_equal": short == long, "scope_preserved": scoped and unscoped}, {"extra_elements": extra}
    )


def _claimed(world: World, command: str) -> tuple[Any, dict[str, str]]:
    """A scoped claim superseded by a command; what every element looks like afterwards, and the ids."""
    made = world.handles(
        """MUTATE {
          CREATE CONCEPT ?a {TYPE "Person" NAME "Alice"}
          CREATE CONCEPT ?task {TYPE "Topic" NAME "task"}
          CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "p"}}
        }"""
    )
    at = "2026-09-02T00:00:00.000Z"
    made |= world.handles(
        'ASSERT ?old (:a, "timezone", "+01:00") {by: :a, mode: "stated", at: :at, context: [:task]}', at=at, **made
    )
    named = {name: element_id for name, element_id in made.items() if "#" not in name}
    made |= world.handles(command, at=at, **named)
    ids = [made["a"], made["old"], made["new"], made["e"]]
    views = [world.element(element_id) for element_id in ids]
    slots = [
        world.run(
            'FIND(?s) WHERE { ?s BELIEF SLOT (:a, "timezone") } FOR TIME :at WITH EPISTEMIC {context_refs: :context}',
            a=made["a"],
            at="2026-09-10T00:00:00.000Z",
            context=context,
        )[0]["accepted_values"]
        for context in ([], [made["task"]])
    ]
    return [views, slots], made


def _elements(world: World) -> int:
    kinds = ("?x CONCEPT {}", "?x PROPOSITION (?s, ?p, ?o)", "?x ASSERTION {}", "?x EVIDENCE {}", "?x ACTIVITY {}")
    return sum(world.count(kind) for kind in kinds)
