"""Everything a batch of projections needs, fetched from a snapshot in a handful of calls.

Whole slots are read where values exclude each other, because the verdict on one value rests on its rivals; elsewhere
only the values asked for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from brain import errors
from brain.ids import lineage_of
from brain.kip.belief.claims import cited, exclusion, read_claim, time_of
from brain.kip.belief.dependency import dependencies, is_quarantined
from brain.kip.belief.identity import Identity
from brain.kip.belief.model import Candidate, Claim, Dependency, Slot, by_partition
from brain.kip.belief.request import BeliefRequest
from brain.kip.belief.roots import Provenance
from brain.kip.belief.succession import effective_times
from brain.kip.context import Run
from brain.kip.governance.plane import CONTROL
from brain.kip.schema import PredicateType
from brain.store.base import Element, ElementId, Json, TupleScan, element_number

SlotKey = tuple[ElementId, str]
"""A resolved subject and the canonical lineage of a Predicate."""

_BOOLEANS: Mapping[str, Json] = {"false": False, "true": True}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Values of a slot to read, by label; `objects` is None for all of them."""

    subject: ElementId
    predicate: PredicateType
    objects: Mapping[str, Json] | None


@dataclass(slots=True)
class Gatherer:
    """Reads for one request against one snapshot; it may be asked several times.

    raises  ResourceExhausted past the engine's bound on elements, ExecutionTimeout past the deadline: an incomplete
            reading never becomes a verdict
    """

    run: Run
    request: BeliefRequest
    identity: Identity
    _count: int = field(default=0, init=False)

    def slot_key(self, subject: ElementId, predicate: PredicateType) -> SlotKey:
        """What slots compare by."""
        lineage = self.run.environment.canonical_lineage("predicate", predicate.symbol.lineage)
        return self.identity.resolve(subject), lineage

    def slots(self, wanted: Iterable[Wanted], *, check_derivations: bool = True) -> dict[SlotKey, Slot]:
        """The asked slots with every claim about their candidates, and a candidate for every value asked for."""
        plans = self._plans(wanted)
        stored = self._propositions(plans)
        claims = self._claims(stored, check_derivations=check_derivations)
        types = self._object_types(plans, stored)
        return {key: _slot(plan, stored[key], claims, types) for key, plan in plans.items()}

    # --- propositions -----------------------------------------------------------------------------------------------

    def _plans(self, wanted: Iterable[Wanted]) -> dict[SlotKey, _Plan]:
        """One plan per slot: what is asked of a slot in several places is read once."""
        plans: dict[SlotKey, _Plan] = {}
        for want in wanted:
            key = self.slot_key(want.subject, want.predicate)
            plan = plans.setdefault(key, _Plan(key[0], want.predicate))
            if want.objects is None or want.predicate.functional or want.predicate.functional_by is not None:
                plan.is_whole = True
            plan.asked.update(want.objects or {})
        return plans

    def _propositions(self, plans: Mapping[SlotKey, _Plan]) -> dict[SlotKey, dict[str, list[Element]]]:
        """The active Propositions of every plan, by the label of their object."""
        stored: dict[SlotKey, dict[str, list[Element]]] = {key: {} for key in plans}
        for scan in self._scans(plans):
            self.run.snapshot.expect(scan, claims=True)
            found = self.run.snapshot.tuples(scan)
            self._spend(len(found))
            for proposition in found:
                body = proposition.body
                lineage = self.run.environment.canonical_lineage("predicate", lineage_of(body["predicate_ref"]))
                key = (self.identity.resolve(body["subject"]["id"]), lineage)
                label = self.identity.label(body["object"])
                if key in plans and plans[key].reads(label) and not is_quarantined(body):
                    stored[key].setdefault(label, []).append(proposition)
        return stored

    def _scans(self, plans: Mapping[SlotKey, _Plan]) -> Iterator[TupleScan]:
        """One scan per Predicate for whole slots and one for single values."""
        grouped: dict[tuple[str, bool], list[_Plan]] = defaultdict(list)
        for (_, lineage), plan in plans.items():
            grouped[lineage, plan.is_whole].append(plan)
        for (lineage, is_whole), members in grouped.items():
            labels = frozenset().union(*(plan.labels for plan in members))
            yield TupleScan(
                subjects=self.identity.names(plan.subject for plan in members),
                predicates=self.run.environment.group("predicate", lineage),
                objects=None if is_whole else self.identity.names(labels),
            )

    def _object_types(
        self, plans: Mapping[SlotKey, _Plan], stored: Mapping[SlotKey, Mapping[str, object]]
    ) -> dict[str, str]:
        """Concept Type lineages of the objects of slots that a Predicate partitions by type."""
        objects: set[ElementId] = set()
        for key, plan in plans.items():
            if plan.predicate.functional_by is not None:
                objects.update(stored[key])
                objects.update(label for label, value in plan.asked.items() if isinstance(value, Mapping))
        if not objects:
            return {}
        canonical = self.run.environment.canonical_lineage
        return {
            element_id: canonical("concept_type", lineage_of(element.body["schema_ref"]))
            for element_id, element in self.run.snapshot.elements(frozenset(objects)).items()
            if "schema_ref" in element.body
        }

    # --- claims -----------------------------------------------------------------------------------------------------

    def _claims(
        self, stored: Mapping[SlotKey, Mapping[str, Sequence[Element]]], *, check_derivations: bool
    ) -> dict[ElementId, list[Claim]]:
        """Claims by their Proposition."""
        labels = {p.id: label for found in stored.values() for label, group in found.items() for p in group}
        if not labels:
            return {}
        assertions = [a for a in self.run.snapshot.assertions(labels.keys()) if "stance" in a.body]
        self._spend(len(assertions))
        excluded = {a.id: exclusion(a, self.request, self.identity) for a in assertions}
        weighed = [a for a in assertions if excluded[a.id] is None]
        inferred = [a.id for a in weighed if a.body["mode"] == "inferred"] if check_derivations else []
        provenance, size = Provenance.read(
            self.run.snapshot, (evidence for a in weighed for evidence in cited(a.body)), inferred, self._quarantined()
        )
        self._spend(size)
        checked = self._dependencies(inferred)
        claims: dict[ElementId, list[Claim]] = defaultdict(list)
        for a in assertions:
            about = a.body["proposition"]["id"]
            claims[about].append(
                read_claim(a, labels[about], self.identity, excluded[a.id], provenance, checked.get(a.id))
            )
        return claims

    def _quarantined(self) -> frozenset[ElementId]:
        """What was in quarantine as of the snapshot."""
        if self.run.plane is None:
            return frozenset()
        return frozenset((self.run.snapshot.control(CONTROL) or {}).get("quarantined", ()))

    # --- derivations ------------------------------------------------------------------------------------------------

    def _dependencies(self, inferred: Collection[ElementId]) -> dict[ElementId, Dependency]:
        if not inferred:
            return {}
        self._check_deadline()
        return dependencies(self.run.snapshot, inferred, self.ended, self.run.limits.plan_elements)

    def ended(self, assertions: Collection[Element]) -> frozenset[ElementId]:
        """Those Assertions whose effective time is over at the asked instant, succession included (§14.3, §25.4)."""
        about = {a.id: a.body["proposition"]["id"] for a in assertions if "stance" in a.body}
        propositions = self.run.snapshot.elements(frozenset(about.values()))
        wanted = []
        for proposition in propositions.values():
            if proposition.state == "active":
                label = self.identity.label(proposition.body["object"])
                predicate = predicate_of(self.run, proposition)
                wanted.append(Wanted(proposition.body["subject"]["id"], predicate, {label: proposition.body["object"]}))
        ends = {a.id: time_of(a.body).interval.end.latest for a in assertions if a.id in about}
        for slot in self.slots(wanted, check_derivations=False).values():
            for members in by_partition(slot.candidates).values():
                eligible = [claim for c in members for claim in c.claims if claim.excluded is None]
                for timed in effective_times(eligible, self.request.valid_at):
                    if timed.claim.id in ends:
                        ends[timed.claim.id] = timed.interval.end.latest
        return frozenset(element_id for element_id, end in ends.items() if end <= self.request.valid_at)

    # --- bounds -----------------------------------------------------------------------------------------------------

    def _spend(self, elements: int) -> None:
        self._count += elements
        limit = self.run.limits.plan_elements
        if self._count > limit:
            raise errors.ResourceExhausted(
                f"This projection would weigh more than {limit} elements.", hint="Ask for fewer subjects at a time."
            )
        self._check_deadline()

    def _check_deadline(self) -> None:
        if self.run.deadline_ms is not None and time.monotonic() * 1000 > self.run.deadline_ms:
            raise errors.ExecutionTimeout()


@dataclass(slots=True)
class _Plan:
    """How a slot is read: whole, or only some values."""

    subject: ElementId
    predicate: PredicateType
    asked: dict[str, Json] = field(default_factory=dict)
    is_whole: bool = False

    @property
    def labels(self) -> frozenset[str]:
        """Labels to read when the slot is not read whole: what was asked, and what could contradict it."""
        asked = self.asked.keys()
        if self.predicate.boolean_completeness and not _BOOLEANS.keys().isdisjoint(asked):
            return frozenset(asked | _BOOLEANS.keys())
        return frozenset(asked)

    def reads(self, label: str) -> bool:
        return self.is_whole or label in self.labels


def predicate_of(run: Run, proposition: Element) -> PredicateType:
    """The definition a stored Proposition is weighed under: the one in force, else the version it was written under."""
    ref: str = proposition.body["predicate_ref"]
    try:
        return run.environment.predicate(ref)
    except errors.SchemaSymbolNotFound:
        return run.environment.exact_predicate(ref)


def _slot(
    plan: _Plan,
    stored: Mapping[str, Sequence[Element]],
    claims: Mapping[ElementId, Sequence[Claim]],
    types: Mapping[str, str],
) -> Slot:
    candidates = []
    for label in sorted(stored.keys() | plan.asked.keys()):
        propositions = sorted((p.id for p in stored.get(label, ())), key=element_number)
        value = stored[label][0].body["object"] if label in stored else plan.asked[label]
        candidates.append(
            Candidate(
                label=label,
                object={"id": label} if isinstance(value, Mapping) else value,
                propositions=tuple(propositions),
                partition=_partition(plan.predicate, label, types),
                claims=tuple(claim for p in propositions for claim in claims.get(p, ())),
            )
        )
    return Slot(plan.subject, plan.predicate, tuple(sorted(candidates, key=_place)))


def _place(candidate: Candidate) -> tuple[float, str]:
    """Candidates come in the order their Propositions were made; what is not stored comes last."""
    first = element_number(candidate.propositions[0]) if candidate.propositions else float("inf")
    return first, candidate.label


def _partition(predicate: PredicateType, label: str, types: Mapping[str, str]) -> str:
    """What a value competes within (§20.15): the slot, the values of its type, its negation, or nothing but itself."""
    if predicate.functional:
        return "slot"
    if predicate.functional_by is not None:
        return f"type {types[label]}" if label in types else f"value {label}"
    if predicate.boolean_completeness and label in _BOOLEANS:
        return "boolean"
    return f"value {label}"
