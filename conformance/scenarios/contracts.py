"""`cognitive-contracts.json`: projection, strength, comparison and record shapes as machine-readable semantics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

from brain import errors
from brain.kip.erasure.record import SCOPES, STATES, Plan, Surface, Target
from brain.kip.schema import Environment
from brain.kip.validate import Carrier, check_attributes, check_facet
from brain.store.base import Kind
from conformance.report import CaseResult
from conformance.scenarios.world import Refused, World

_COMPARISON = "needs trials and their verdicts (validated learning), which are not offered"
POLICIES = {"memory-default": "kip:memory-default", "structural": "kip:policy:structural"}
_DEFINE_SLOT = 'DEFINE PREDICATE "holds" {description: "One slot of a case.", functional: :functional}'
_DEFINE_PARTITIONED = """DEFINE PREDICATE "holds" {
  description: "One slot of a case, by the kind of its value.",
  object: {kinds: ["Concept"]}, functional_by: "object_type"}"""
_CLAIM = """MUTATE {
  ASSERT ?claim (:subject, "holds", :value) {
    by: :actor, mode: :mode, stance: :stance, at: :at, valid: :valid, context: :context, evidence: :evidence}
  %s
}"""
_DERIVED = """CREATE ACTIVITY ?inference {
    SET FIELDS {activity_class: "inference", status: "completed"}
    SET FACET "DependencyBasis" {
      basis_seq: :seq, groups: [{role: "all_of", pins: [{id: :premise, version: 1}]}], policy_basis: :basis}
    SET STRUCTURAL {("inputs", :premise) ("outputs", ?claim)}
  }"""


def run_contracts(contracts: Mapping[str, Any]) -> Iterator[CaseResult]:
    """Every case of the document, by its part."""
    for part, play in (("projection", _projection), ("strength", _strength)):
        for case in contracts.get(part, ()):
            yield _played(f"contracts/{part}", case, play)
    if "comparison" in contracts:
        yield CaseResult("contracts/comparison", "comparison", "not decided", _COMPARISON)
    with World() as world, world.adapter.engine.space.snapshot() as snapshot:
        environment = world.adapter.engine.environment(snapshot)
        for name, record in contracts.get("records", {}).items():
            yield _record(environment, name, record)


def _played(group: str, case: Mapping[str, Any], play: Callable[[World, Mapping[str, Any]], list[str]]) -> CaseResult:
    try:
        with World() as world:
            return _result(group, case["id"], play(world, case))
    except Refused as refusal:
        return _result(group, case["id"], [f"the case was refused: {refusal}"])


def _result(group: str, case_id: str, problems: Sequence[str]) -> CaseResult:
    return CaseResult(group, case_id, "failed" if problems else "passed", "; ".join(problems))


# --- projection -------------------------------------------------------------------------------------------------------


def _projection(world: World, case: Mapping[str, Any]) -> list[str]:
    """The case's claims written, its slot read, and each candidate read on its own as well."""
    request, candidates = case["request"], case["candidates"]
    slot = _Slot(world, request, candidates)
    for candidate in candidates:
        for claim in candidate["assertions"]:
            slot.claim(candidate, claim)
    epistemic: dict[str, Any] = {
        "policy": POLICIES[request.get("policy", "structural")],
        "context_refs": slot.contexts(request),
    }
    answer = world.run(
        'FIND(?s) WHERE { ?s BELIEF SLOT (:subject, "holds") } FOR TIME :at WITH EPISTEMIC '
        "{policy: :policy, context_refs: :context_refs}",
        subject=slot.subject,
        at=request["valid_at"],
        **epistemic,
    )[0]
    statuses = {found["proposition_id"]: found["status"] for found in answer["candidate_projections"]}
    found = {
        "slot_status": answer["status"],
        "accepted_values": [slot.named(value) for value in answer["accepted_values"]],
        "candidate_statuses": [statuses[slot.proposition(candidate)] for candidate in candidates],
    }
    alone = [
        world.run(
            "FIND(?b.status) WHERE { ?b BELIEF (id: :id) } FOR TIME :at WITH EPISTEMIC "
            "{policy: :policy, context_refs: :context_refs}",
            id=slot.proposition(candidate),
            at=request["valid_at"],
            **epistemic,
        )[0]
        for candidate in candidates
    ]
    problems = [
        f"want {name} {wanted}, got {found[name]}" for name, wanted in case["expected"].items() if found[name] != wanted
    ]
    if alone != found["candidate_statuses"]:
        problems.append(f"grounded BELIEF says {alone}, the slot {found['candidate_statuses']}")
    return problems


class _Slot:
    """The subject, values, actors, sources and contexts of one case, as elements."""

    def __init__(self, world: World, request: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]]) -> None:
        self._world = world
        self._named: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._propositions: dict[str, str] = {}
        if request.get("functional_by"):
            for partition in dict.fromkeys(candidate["partition"] for candidate in candidates):
                world.run(f'DEFINE CONCEPT TYPE "{partition}" {{description: "A kind of value."}}')
            world.run(_DEFINE_PARTITIONED)
        else:
            world.run(_DEFINE_SLOT, functional=bool(request.get("functional")))
        self.subject = self._concept(request.get("subject", "somebody"))
        for candidate in candidates:
            made = world.handles(
                'ENSURE PROPOSITION ?p (:subject, "holds", :value)', subject=self.subject, value=self._value(candidate)
            )
            self._propositions[candidate["id"]] = made["p"]

    def proposition(self, candidate: Mapping[str, Any]) -> str:
        return self._propositions[candidate["id"]]

    def contexts(self, holder: Mapping[str, Any]) -> list[str]:
        return [self._concept(name) for name in holder.get("context_refs", ())]

    def named(self, value: Any) -> Any:
        """An accepted value as the case writes it."""
        if not isinstance(value, Mapping):
            return value
        return next(name for name, element_id in self._named.items() if element_id == value["id"])

    def claim(self, candidate: Mapping[str, Any], claim: Mapping[str, Any]) -> None:
        """Write one claim; a derived one with the Activity that made it from its source."""
        validity = candidate.get("dependency_validity")
        is_derived = claim["mode"] == "inferred" or validity is not None
        source = self._source(claim["root"])
        premise = self._premise() if validity == "needs_review" else source
        start = claim.get("from")
        made = self._world.handles(
            _CLAIM % (_DERIVED if is_derived else ""),
            subject=self.subject,
            value=self._value(candidate),
            actor=self._concept(claim.get("actor", f"actor of {claim['root']}")),
            mode="inferred" if is_derived else claim["mode"],
            stance=claim["stance"],
            at=claim.get("asserted_at") or (start["latest"] if isinstance(start, Mapping) else start),
            valid={name: claim[name] for name in ("from", "until") if name in claim},
            context=self.contexts(claim),
            evidence=[source],
            seq=self._world.seq,
            premise=premise,
            basis=self._world.basis(self.subject) if is_derived else None,
        )
        if claim["status"] != "active":
            self._world.run(f'TRANSITION :claim TO "{claim["status"]}"', claim=made["claim"])
        if validity == "needs_review":
            self._world.run('TRANSITION :premise TO "retracted"', premise=premise)

    def _premise(self) -> str:
        """A claim that can be withdrawn without touching what the derived one cites."""
        made = self._world.handles(
            'ASSERT ?premise (:subject, "knows", :subject) {by: :subject, mode: "stated"}', subject=self.subject
        )
        return made["premise"]

    def _value(self, candidate: Mapping[str, Any]) -> Any:
        if "partition" in candidate:
            return {"id": self._concept(candidate["value"], candidate["partition"])}
        return candidate["value"]

    def _concept(self, name: str, concept_type: str = "Person") -> str:
        if name not in self._named:
            made = self._world.handles("CREATE CONCEPT ?c {TYPE :type NAME :name}", type=concept_type, name=name)
            self._named[name] = made["c"]
        return self._named[name]

    def _source(self, root: str) -> str:
        if root not in self._sources:
            made = self._world.handles(
                'CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "message", payload: :root}}', root=root
            )
            self._sources[root] = made["e"]
        return self._sources[root]


# --- strength ---------------------------------------------------------------------------------------------------------


def _strength(world: World, case: Mapping[str, Any]) -> list[str]:
    problems = []
    for state in (case["state"], *case.get("variants", ())):
        members = ", ".join(f"{name}: :{name}" for name in state)
        made = world.handles(
            f'CREATE CONCEPT ?m {{TYPE "Insight" SET ATTRIBUTES {{summary: "s"}} '
            f'SET FACET "MnemonicState" {{{members}}}}}',
            **state,
        )
        for read in case["reads"]:
            world.go_to(read["at"])
            left = world.run('FIND(?m.facets["MnemonicState"].effective_strength) WHERE { ?m {id: :m} }', m=made["m"])[
                0
            ]
            wanted = read["expected"]
            if not (left is wanted or (left is not None and wanted is not None and math.isclose(left, wanted))):
                problems.append(f"at {read['at']}: want {wanted}, got {left}")
    return problems


# --- records ----------------------------------------------------------------------------------------------------------

_CARRIERS: Mapping[str, Carrier] = {
    "OutcomeRecord": Carrier(Kind.EVIDENCE),
    "WatchState": Carrier(Kind.CONCEPT, schema_ref="kip://profiles/cognitive-memory@2.0.0/Watch"),
    "LeaseState": Carrier(Kind.CONCEPT, schema_ref="kip://profiles/cognitive-memory@2.0.0/SleepTask"),
}


def _record(environment: Environment, name: str, record: Mapping[str, Any]) -> CaseResult:
    """A valid shape has to pass the definition a write is checked against; the same shape with one member more not."""
    group = "contracts/records"
    if name == "ErasurePlan":
        return _result(group, name, _plan_faults(record))
    if name != "SkillRevision" and not _has_facet(environment, name):
        return CaseResult(group, name, "not decided", f"{name} is no record of the active packages")
    problems = []
    fault = _fault(environment, name, record)
    if fault is not None:
        problems.append(f"refused: {fault}")
    if _fault(environment, name, {**record, "surplus": True}) is None:
        problems.append("an unknown member was taken")
    return _result(group, name, problems)


def _plan_faults(record: Mapping[str, Any]) -> list[str]:
    """A plan is made here and taken from nobody: one that has got as far has to tell the same of itself."""
    targets = tuple(Target(**target) for target in record["targets"])
    plan = Plan(
        ref="plan",
        scope=record["scope"],
        basis_seq=record["basis_seq"],
        sources=tuple(record["source_event_refs"]),
        targets=targets,
        exports=tuple(record["external_exports"]),
        receipts=tuple(record["receipts"]),
        has_begun=True,
    )
    problems = [f"{plan.scope} is no scope"] if plan.scope not in SCOPES else []
    problems += [f"{target.surface} is no surface" for target in targets if target.surface not in get_args(Surface)]
    problems += [f"{target.state} is no state of a target" for target in targets if target.state not in STATES]
    told = plan.to_record()
    return problems + ([] if told == record else [f"want {record}, got {told}"])


def _has_facet(environment: Environment, name: str) -> bool:
    return any(found.symbol.name == name for found in environment.definitions("facet"))


def _fault(environment: Environment, name: str, record: Mapping[str, Any]) -> str | None:
    try:
        if name == "SkillRevision":
            check_attributes(environment, environment.concept_type(name), record)
        else:
            facet = environment.facet(name)
            classes = (facet.attachment or {}).get("activity_classes") or ["inference"]
            carrier = Carrier(Kind.ACTIVITY, activity_class=classes[0], status="completed")
            check_facet(environment, facet, _CARRIERS.get(name, carrier), record)
    except errors.KipError as error:
        return f"{error.code}: {error.message}"
    return None
