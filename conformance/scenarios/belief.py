"""Belief: conflicts, dependencies, bases, coarse time, partitions, the standard policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.kip.context import Session
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.world import World

_PEOPLE = """MUTATE {
  CREATE CONCEPT ?alice {TYPE "Person" NAME "Alice"}
  CREATE CONCEPT ?bob {TYPE "Person" NAME "Bob"}
  CREATE CONCEPT ?work {TYPE "Topic" NAME "work"}
  CREATE CONCEPT ?travel {TYPE "Topic" NAME "travel"}
  CREATE EVIDENCE ?first {SET FIELDS {evidence_class: "message", payload: "one"}}
  CREATE EVIDENCE ?second {SET FIELDS {evidence_class: "message", payload: "two"}}
}"""
_CLAIM = """ASSERT ?a (:subject, :predicate, :value) {
  by: :by, mode: :mode, stance: :stance, at: :at, context: :context, valid: :valid, evidence: :evidence}"""


def claim(world: World, subject: str, predicate: str, value: Any, by: str, **members: Any) -> str:
    """Write a claim, stated on 1 September 2026 where nothing else is said."""
    defaults: dict[str, Any] = {
        "mode": "stated",
        "stance": "support",
        "at": "2026-09-01T00:00:00.000Z",
        "context": [],
        "valid": {},
        "evidence": [],
    }
    made = world.handles(_CLAIM, subject=subject, predicate=predicate, value=value, by=by, **{**defaults, **members})
    return made["a"]


def slot(world: World, subject: str, predicate: str, at: str, **epistemic: Any) -> dict[str, Any]:
    """A slot's answer under the structural policy, or what `epistemic` names."""
    named = {"policy": "kip:policy:structural", **epistemic}
    members = ", ".join(f"{name}: :{name}" for name in named)
    (found,) = world.run(
        f"FIND(?s) WHERE {{ ?s BELIEF SLOT (:subject, :predicate) }} FOR TIME :at WITH EPISTEMIC {{{members}}}",
        subject=subject,
        predicate=predicate,
        at=at,
        **named,
    )
    answer: dict[str, Any] = found
    return answer


def statuses(answer: Mapping[str, Any]) -> list[str]:
    """The final status of each candidate, in order of their Propositions."""
    found = sorted(answer["candidate_projections"], key=lambda one: int(one["proposition_id"][2:]))
    return [one["status"] for one in found]


@scenario("KIP2-MEM-001")
def single_candidates_and_their_slot_agree(world: World) -> Observed:
    made, at = world.handles(_PEOPLE), "2026-09-06T12:00:00.000Z"
    for value, by in (("+01:00", made["alice"]), ("+02:00", made["bob"])):
        claim(world, made["alice"], "timezone", value, by)
    before = world.state()
    answer = slot(world, made["alice"], "timezone", at)
    by_triple = [
        world.run(
            'FIND(?b.status) WHERE { ?b BELIEF (:who, "timezone", :value) } FOR TIME :at '
            'WITH EPISTEMIC {policy: "kip:policy:structural"}',
            who=made["alice"],
            value=value,
            at=at,
        )[0]
        for value in ("+01:00", "+02:00")
    ]
    by_id = [
        world.run(
            "FIND(?b.status) WHERE { ?b BELIEF (id: :id) } FOR TIME :at "
            'WITH EPISTEMIC {policy: "kip:policy:structural"}',
            id=one["proposition_id"],
            at=at,
        )[0]
        for one in answer["candidate_projections"]
    ]
    agreed = by_triple if by_triple == by_id == statuses(answer) else [*by_triple, *by_id, *statuses(answer)]
    return Observed(
        {"candidate_statuses": agreed, "slot_status": answer["status"]}, {"unchanged": world.state() == before}
    )


@scenario("KIP2-MEM-006")
def dependency_validity_shows_at_the_next_read(world: World) -> Observed:
    made = world.handles(_PEOPLE)
    derived = world.handles(
        """MUTATE {
          ASSERT ?claim (:alice, "lives_in", :place) {by: :bob, mode: "inferred", evidence: :second}
          CREATE CONCEPT ?insight {TYPE "Insight" SET ATTRIBUTES {summary: "s"}}
          CREATE CONCEPT ?state {TYPE "WorkingState" SET ATTRIBUTES {summary: "s", basis_seq: :seq}}
          CREATE ACTIVITY ?work {
            SET FIELDS {activity_class: "inference", status: "completed"}
            SET FACET "DependencyBasis" {
              basis_seq: :seq, groups: [{role: "all_of", pins: [{id: :first, version: 1}]}], policy_basis: :basis}
            SET STRUCTURAL {("inputs", :first) ("outputs", ?claim) ("outputs", ?insight) ("outputs", ?state)}
          }
        }""",
        **made,
        place=world.handles('CREATE CONCEPT ?p {TYPE "Place" NAME "Oslo"}')["p"],
        seq=world.seq,
        basis=world.basis(made["alice"]),
    )
    ids = [derived[name] for name in ("claim", "insight", "state")]
    payloads = [_payload(world, element_id) for element_id in ids]
    versions = [world.element(element_id)["_system"]["version"] for element_id in ids]
    correction = world.handles('CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: "not one"}}')
    world.run('TRANSITION :first TO "corrected" BY :e', first=made["first"], e=correction["e"])
    found = [_validity(world, element_id) for element_id in ids]
    belief = slot(world, made["alice"], "lives_in", "2026-10-01T00:00:00.000Z")
    status = {one["status"] for one in found}
    eligible = any(one["action_eligible"] for one in found) or belief["status"] == "accepted"
    unchanged = [world.element(element_id)["_system"]["version"] for element_id in ids] == versions
    return Observed(
        {"dependency_status": status.pop() if len(status) == 1 else sorted(status), "action_eligible": eligible},
        {
            "derived_payload_unchanged": [_payload(world, element_id) for element_id in ids] == payloads,
            "review_flag_unchanged": unchanged,
        },
    )


def _validity(world: World, element_id: str) -> dict[str, Any]:
    kind = {"A": "ASSERTION", "C": "CONCEPT"}[element_id[0]]
    (found,) = world.run(f"FIND(?x._system.dependency_validity) WHERE {{ ?x {kind} {{id: :id}} }}", id=element_id)
    validity: dict[str, Any] = found
    return validity


def _payload(world: World, element_id: str) -> dict[str, Any]:
    return {name: value for name, value in world.element(element_id).items() if name != "_system"}


@scenario("KIP2-MEM-007")
def bases_are_complete_and_boundaries_exact(world: World) -> Observed:
    made, boundary = world.handles(_PEOPLE), "2026-09-06T12:00:00.000Z"
    alice, bob = made["alice"], made["bob"]
    claim(world, alice, "timezone", "old", alice, valid={"until": boundary})
    claim(world, alice, "timezone", "new", bob, valid={"from": boundary})
    for value, context in (("work", made["work"]), ("travel", made["travel"])):
        claim(world, bob, "timezone", value, bob, context=[context])
    before = world.state()
    at_boundary = slot(world, alice, "timezone", boundary)["accepted_values"]
    without_context = slot(world, bob, "timezone", boundary)["accepted_values"]
    untouched = world.state() == before
    return Observed(
        {
            "boundary_values": at_boundary,
            "empty_context_values": without_context,
            "basis_mutations_reused": _reused(world, bob, made["work"], boundary),
        },
        {"read_mutations": 0 if untouched else 1},
    )


def _reused(world: World, who: str, context: str, at: str) -> int:
    """How many changes of one basis coordinate are answered under the basis from before the change."""
    first = slot(world, who, "timezone", at)["basis"]
    changed: dict[str, Any] = {
        "context_refs": slot(world, who, "timezone", at, context_refs=[context])["basis"],
        "policy": slot(world, who, "timezone", at, policy="kip:memory-default")["basis"],
        "purpose": slot(world, who, "timezone", at, purpose="plan a trip")["basis"],
        "risk": slot(world, who, "timezone", at, risk="high")["basis"],
        "valid_at": slot(world, who, "timezone", "2026-09-07T00:00:00.000Z")["basis"],
    }
    other = Session(principal_id="another", channel="conformance")
    (seen,) = world.run(
        'FIND(?s.basis) WHERE { ?s BELIEF SLOT (:who, "timezone") } FOR TIME :at '
        'WITH EPISTEMIC {policy: "kip:policy:structural"}',
        session=other,
        who=who,
        at=at,
    )
    changed["authorization_view"] = seen
    world.run('DEFINE PREDICATE "hums" {description: "d"}')
    changed["schema_environment_version"] = slot(world, who, "timezone", at)["basis"]
    world.run('CREATE CONCEPT ?c {TYPE "Person" NAME "Cho"}')
    changed["snapshot_seq"] = slot(world, who, "timezone", at)["basis"]
    world.run(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {name: "Cho"} ?b {name: "Bob"} }',
    )
    changed["identity_version"] = slot(world, who, "timezone", at)["basis"]
    return sum(basis[name] == first[name] for name, basis in changed.items())


@scenario("KIP2-MEM-027")
def coarse_time_is_never_an_invented_instant(world: World) -> Observed:
    made = world.handles(_PEOPLE)
    coarse = {"from": {"earliest": "2026-01-01T00:00:00.000Z", "latest": "2026-12-31T23:59:59.999Z"}}
    claim(world, made["alice"], "timezone", "+01:00", made["alice"], valid=coarse)
    before = world.state()
    answer = slot(world, made["alice"], "timezone", "2026-06-01T00:00:00.000Z")
    malformed: list[Any] = [
        {},
        {"earliest": "2026"},
        {"latest": "2026-09-01T00:00:00.000Z", "about": "autumn"},
        {"earliest": "2026-09-02T00:00:00.000Z", "latest": "2026-09-01T00:00:00.000Z"},
        "September",
        5,
    ]
    refused = [
        world.code(
            'ASSERT (:a, "timezone", "+02:00") {by: :a, mode: "stated", valid: {from: :start}}',
            a=made["alice"],
            start=start,
        )
        for start in malformed
    ]
    (candidate,) = answer["candidate_projections"]
    return Observed(
        {
            "indeterminate_status": candidate["status"],
            "uncertainty_reason": ", ".join(candidate["uncertainty"]["reasons"]),
            "malformed_bounds_rejected": all(refused),
        },
        {"stored_lifecycle_changes": 0 if world.state() == before else 1},
    )


@scenario("KIP2-MEM-028")
def preferences_of_one_kind_take_turns(world: World) -> Observed:
    alice = world.handles(_PEOPLE)["alice"]
    options = {"dark": "ColorScheme", "light": "ColorScheme", "vim": "Editor"}
    for kind in ("ColorScheme", "Editor"):
        world.run(f'DEFINE CONCEPT TYPE "{kind}" {{description: "Something to prefer."}}')
    starts = {"dark": "2026-01-01", "light": "2026-09-01", "vim": "2026-02-01"}
    named = {}
    for name, kind in options.items():
        option = world.handles("CREATE CONCEPT ?o {TYPE :kind NAME :name}", kind=kind, name=name)["o"]
        named[option] = name
        claim(world, alice, "prefers", {"id": option}, alice, valid={"from": f"{starts[name]}T00:00:00.000Z"})
    before = world.state()
    answer = slot(world, alice, "prefers", "2026-09-20T00:00:00.000Z")
    conflicts = [one for one in answer["candidate_projections"] if one["conflict_reasons"]]
    return Observed(
        {
            "accepted_values": sorted(named[value["id"]] for value in answer["accepted_values"]),
            "conflict_count": len(conflicts),
        },
        {"stored_lifecycle_changes": 0 if world.state() == before else 1},
    )


@scenario("KIP2-MEM-029")
def the_standard_policy_has_three_rules(world: World) -> Observed:
    made, at = world.handles(_PEOPLE), "2026-09-20T00:00:00.000Z"
    alice, bob, task = made["alice"], made["bob"], made["work"]
    world.run('DEFINE PREDICATE "indents_with" {description: "d", functional: true}')
    claim(world, alice, "indents_with", "spaces", alice)
    claim(world, alice, "indents_with", "tabs", alice, context=[task])
    claim(world, bob, "timezone", "+08:00", bob)
    claim(world, bob, "timezone", "+09:00", alice, mode="observed")
    before = world.state()
    scoped = slot(world, alice, "indents_with", at, policy="kip:memory-default", context_refs=[task])
    structural = slot(world, alice, "indents_with", at, context_refs=[task])
    observed = slot(world, bob, "timezone", at, policy="kip:memory-default")
    reasons = {
        reason
        for one in scoped["candidate_projections"]
        if one["status"] == "uncertain"
        for reason in one["uncertainty"]["reasons"]
    }
    return Observed(
        {
            "specificity_accepted": scoped["accepted_values"],
            "outranked_reason": ", ".join(sorted(reasons)),
            "structural_slot_status": structural["status"],
            "observation_conflict_status": observed["status"],
        },
        {"stored_lifecycle_changes": 0 if world.state() == before else 1},
    )
