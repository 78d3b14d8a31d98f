"""What a source event led to, and what of that is a copy of it (KIP 2.0 §60.7).

A copy rests on the source alone. What also stands on something that stays (a claim with other Evidence, a Concept that
others speak of) is not the source's and is kept; its reference to the source then leads to a stub.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from brain.ids import is_element_id, lineage_of
from brain.kip.belief.dependency import ARTIFACTS, BASIS_FACET, facet
from brain.kip.erasure.record import Scope, Surface, Target
from brain.kip.recording.source import cited
from brain.store.base import EdgeScan, Element, ElementId, Kind, Scan, Snapshot, element_number
from brain.times import Seq

EXPOSURES = "kip:exposure-log"
"""What the log of what was shown is called as a target."""

_INDEXED = (Kind.CONCEPT, Kind.EVIDENCE, Kind.PROPOSITION)
_DEPTH = {Kind.CONCEPT: 0, Kind.PROPOSITION: 1}
_LAST = 3
_REPLAYED = ("EvaluationRecord", "TrialRecord")
_SAMPLES = ("attempt_refs", "outcome_refs")
_PINS = ("replay_artifact", "cohort_artifact")
_ANY = frozenset({"active", "archived", "tombstoned", "merged"})


@dataclass(slots=True)
class Closure:
    """
    elements  copies by id with the surface they are, those already erased among them
    replays   replay artifacts made with one of them that are no elements, by the name their Activity gives them
    kept      what came from the source and stands by itself
    """

    elements: dict[ElementId, tuple[Element, Surface]] = field(default_factory=dict)
    replays: dict[str, None] = field(default_factory=dict)
    kept: set[ElementId] = field(default_factory=set)


def source_events(snapshot: Snapshot, named: Iterable[Element]) -> list[Element]:
    """The Evidence of the named events, and every other record of the same content observed at the same moment."""
    found = {element.id: element for element in named}
    for element in list(found.values()):
        alike = Scan(Kind.EVIDENCE, states=_ANY, members=((("content_digest",), element.body["content_digest"]),))
        for other in snapshot.scan(alike):
            if other.body.get("observed_at") == element.body.get("observed_at"):
                found.setdefault(other.id, other)
    return _ordered(found.values())


def closure(snapshot: Snapshot, sources: Collection[Element]) -> Closure:
    """Everything that was made from these, as the Space stands."""
    return _Search(snapshot, sources).found()


def targets_of(scope: Scope, sources: Collection[Element], found: Closure) -> list[Target]:
    """The targets in the order they are erased in: what others are reached by goes last."""
    if scope == "payload_only":
        return [target for source in sources for target in _of_payload(source)]
    ids = {source.id for source in sources}
    listed: list[Target] = [Target(artifact, "replay") for artifact in found.replays]
    for element, surface in reversed(sorted_by_depth(found, ids)):
        if element.kind in _INDEXED:
            listed.append(Target(element.id, "index"))
        if element.id in ids:
            listed += [target for target in _of_payload(element) if target.surface != "index"]
        elif element.kind is Kind.EVIDENCE:
            listed += [target for target in _of_payload(element) if target.surface == "blob"]
        listed.append(Target(element.id, surface))
    listed.append(Target(EXPOSURES, "cache"))
    return listed


def sorted_by_depth(found: Closure, sources: Collection[ElementId]) -> list[tuple[Element, Surface]]:
    """Sources first, then what is reached by them, Concepts last."""
    places = {element_id: place for place, element_id in enumerate(found.elements)}

    def rank(one: tuple[Element, Surface]) -> tuple[int, int]:
        element = one[0]
        depth = _LAST if element.id in sources else _DEPTH.get(element.kind, 2)
        return -depth, places[element.id]

    return sorted(found.elements.values(), key=rank)


def _of_payload(source: Element) -> list[Target]:
    payload: Any = source.body.get("payload") or {}
    held = [Target(str(payload["content_ref"]), "blob")] if payload.get("mode") == "external" else []
    return [*held, Target(source.id, "index"), Target(source.id, "payload")]


def is_spoken_of(snapshot: Snapshot, element_id: ElementId, doomed: Collection[ElementId]) -> bool:
    """Whether something that stays refers to an element; an Activity does not, which only records that it was made."""
    edges = snapshot.edges(EdgeScan(targets=frozenset({element_id})))
    holders = {edge.source for edge in edges} - set(doomed)
    return any(one.kind is not Kind.ACTIVITY and one.state != "purged" for one in snapshot.elements(holders).values())


def premises(activity: Element) -> set[ElementId]:
    """What the Facets of an Activity say that its outcome rests on."""
    found: set[ElementId] = set()
    basis = facet(activity.body, BASIS_FACET)
    if basis is not None:
        found |= {pin["id"] for group in basis["groups"] for pin in group["pins"]}
    for name in _REPLAYED:
        members = facet(activity.body, name) or {}
        for listed in _SAMPLES:
            found |= set(members.get(listed, ()))
    return found


def artifacts(activity: Element) -> list[str]:
    """The artifacts from which the verdict of an Activity could be worked out again."""
    pins = [(facet(activity.body, name) or {}).get(pin) for name in _REPLAYED for pin in _PINS]
    return list(dict.fromkeys(str(pin["artifact_ref"]) for pin in pins if pin is not None))


class _Search:
    def __init__(self, snapshot: Snapshot, sources: Collection[Element]) -> None:
        self.snapshot = snapshot
        self.result = Closure({source.id: (source, "element") for source in sources})
        self.since = min((self._since(source.id) for source in sources), default=0)
        self.self_id = (snapshot.control("identity") or {}).get("self")
        self.candidates: set[ElementId] = set()
        # Facets hold references no index knows: the Activities that have such are read once.
        everyone = snapshot.scan(Scan(Kind.ACTIVITY, states=_ANY))
        self.processes = [one for one in everyone if premises(one)]

    def found(self) -> Closure:
        doomed = self.result.elements
        before = -1
        while before != len(doomed):
            before = len(doomed)
            self._claims()
            self._derived()
            self._propositions()
            self._concepts()
        self.result.kept |= self.candidates
        self.result.kept -= doomed.keys()
        return self.result

    def _claims(self) -> None:
        """Claims whose support is gone with the source."""
        for claim in self._sources_of("evidence"):
            if claim.kind is Kind.ASSERTION:
                self._judge_claim(claim)

    def _judge_claim(self, claim: Element) -> None:
        support = cited(claim)
        if support and not support <= self.result.elements.keys():
            self.result.kept.add(claim.id)
        elif support or claim.id not in {edge.source for edge in self._edges("evidence")}:
            self._doom(claim, "element")

    def _derived(self) -> None:
        """What came out of the Activities that copies went into."""
        activities = {one.id: one for one in self._sources_of("inputs") if one.kind is Kind.ACTIVITY}
        activities |= {one.id: one for one in self.processes if not premises(one).isdisjoint(self.result.elements)}
        for activity in activities.values():
            self._artifacts(activity)
        ids = frozenset(activities)
        if not ids:
            return
        made = {edge.target for edge in self.snapshot.edges(EdgeScan(sources=ids, fields=frozenset({"outputs"})))}
        made |= {edge.source for edge in self.snapshot.edges(EdgeScan(fields=frozenset({"generated_by"}), targets=ids))}
        for element in _ordered(self.snapshot.elements(made - self.result.elements.keys()).values()):
            if element.kind is Kind.ASSERTION:
                self._judge_claim(element)
            elif element.kind is Kind.EVIDENCE or _lineage(element) in ARTIFACTS:
                self._doom(element, "summary")
            elif element.kind is Kind.CONCEPT:
                self.candidates.add(element.id)

    def _artifacts(self, activity: Element) -> None:
        """The replay artifacts of a verdict that was reached with a copy."""
        for artifact in artifacts(activity):
            found = self.snapshot.elements([artifact] if is_element_id(artifact) else []).get(artifact)
            if found is None:
                self.result.replays.setdefault(artifact)
            elif found.kind is Kind.EVIDENCE:
                self._doom(found, "replay")

    def _propositions(self) -> None:
        """Propositions nobody else claims or refers to; they say in themselves what was claimed."""
        claims = [one for one, _ in self.result.elements.values() if one.kind is Kind.ASSERTION]
        about = {claim.body["proposition"]["id"] for claim in claims if "proposition" in claim.body}
        for proposition in _ordered(self.snapshot.elements(about - self.result.elements.keys()).values()):
            if self._is_unreferenced(proposition.id):
                self._doom(proposition, "element")
            else:
                self.result.kept.add(proposition.id)

    def _concepts(self) -> None:
        """Concepts that came with the source and of which nothing else speaks."""
        for element, _ in list(self.result.elements.values()):
            for name in ("subject", "object", "asserted_by"):
                end = element.body.get(name)
                if isinstance(end, dict) and "id" in end:
                    self.candidates.add(end["id"])
        left = self.candidates - self.result.elements.keys()
        for concept in _ordered(self.snapshot.elements(left).values()):
            if concept.kind is not Kind.CONCEPT or concept.id == self.self_id or self._since(concept.id) < self.since:
                continue
            if self._is_unreferenced(concept.id):
                self._doom(concept, "element")

    def _doom(self, element: Element, surface: Surface) -> None:
        self.result.elements.setdefault(element.id, (element, surface))

    def _is_unreferenced(self, element_id: ElementId) -> bool:
        return not is_spoken_of(self.snapshot, element_id, self.result.elements.keys())

    def _edges(self, name: str) -> list[Any]:
        return self.snapshot.edges(EdgeScan(fields=frozenset({name}), targets=frozenset(self.result.elements)))

    def _sources_of(self, name: str) -> list[Element]:
        ids = {edge.source for edge in self._edges(name)} - self.result.elements.keys()
        return _ordered(self.snapshot.elements(ids).values())

    def _since(self, element_id: ElementId) -> Seq:
        versions = self.snapshot.versions(element_id)
        return versions[0][0] if versions else 0


def _lineage(element: Element) -> str | None:
    ref = element.body.get("schema_ref")
    return None if ref is None else lineage_of(ref)


def _ordered(elements: Iterable[Element]) -> list[Element]:
    return sorted(elements, key=lambda one: (one.kind, element_number(one.id)))
