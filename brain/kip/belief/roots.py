"""Provenance roots and corroboration groups (§23): how many independent voices stand behind the claims of one side.

The graph of provenance is read as references alone, so that no Evidence payload is loaded to count voices. A root is

- an Evidence element with nothing upstream, or an Activity without inputs that generated Evidence (one tool run),
- a Concept that Evidence names as its source (a speaker, an instrument, a source event),
- the actor of a claim with nothing upstream: testimony,
- the import a claim came in with.

Corrected Evidence is no root and leads to none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from brain.kip.belief.identity import Identity
from brain.kip.belief.model import Claim, RootGroup
from brain.store.base import Edge, EdgeScan, ElementId, Snapshot, element_number

_UPSTREAM = frozenset({"asserted_by", "corrected_by", "evidence", "generated_by", "inputs", "source"})


@dataclass(slots=True)
class Provenance:
    """References upstream of a set of claims, as far as they were followed.

    upstream    element to the references it holds
    producers   Assertion or Evidence to the Activities that have it among their outputs
    quarantined elements that nothing may rest on (§31.6)
    """

    upstream: dict[ElementId, list[Edge]] = field(default_factory=dict)
    producers: dict[ElementId, list[ElementId]] = field(default_factory=dict)
    quarantined: frozenset[ElementId] = frozenset()

    @classmethod
    def read(
        cls,
        snapshot: Snapshot,
        evidence: Iterable[ElementId],
        derived: Iterable[ElementId],
        quarantined: frozenset[ElementId] = frozenset(),
    ) -> tuple[Provenance, int]:
        """Follow Evidence and derived Assertions, by way of their producing Activities too, to the end; two store calls
        per level.

        Returns the graph and how many references it holds.
        """
        graph = cls(quarantined=quarantined)
        frontier, size = set(evidence), 0
        unproduced = frontier | set(derived)
        while frontier or unproduced:
            produced = graph._read_producers(snapshot, unproduced)
            frontier |= produced - graph.upstream.keys()
            found = snapshot.edges(EdgeScan(sources=frozenset(frontier), fields=_UPSTREAM)) if frontier else []
            size += len(found)
            for element_id in frontier:
                graph.upstream[element_id] = []
            for edge in found:
                graph.upstream[edge.source].append(edge)
            reached = {edge.target for edge in found if edge.target[0] in "AEX" and edge.field != "corrected_by"}
            frontier = reached - graph.upstream.keys()
            unproduced = {element_id for element_id in frontier if element_id[0] in "AE"} - graph.producers.keys()
        return graph, size

    def _read_producers(self, snapshot: Snapshot, made: Collection[ElementId]) -> set[ElementId]:
        if not made:
            return set()
        found = snapshot.edges(EdgeScan(fields=frozenset({"outputs"}), targets=frozenset(made)))
        for element_id in made:
            self.producers[element_id] = []
        for edge in found:
            self.producers[edge.target].append(edge.source)
        return {edge.source for edge in found}

    def is_corrected(self, evidence: ElementId) -> bool:
        """Whether another record took this Evidence's place (§22.4)."""
        return any(edge.field == "corrected_by" for edge in self.upstream.get(evidence, ()))

    def is_out(self, evidence: ElementId) -> bool:
        """Whether nothing rests on this Evidence any more."""
        return evidence in self.quarantined or self.is_corrected(evidence)

    def is_derived(self, evidence: ElementId) -> bool:
        """Whether this Evidence was made from other Evidence, claims or Activity inputs."""
        made_by = (*self._targets(evidence, "generated_by"), *self._makers(evidence))
        return bool(self._sources(evidence) or any(self._sources(x) for x in made_by))

    def roots(self, starts: Iterable[ElementId], identity: Identity) -> frozenset[str]:
        """The roots these elements go back to; none when all their provenance runs in a circle or is corrected."""
        firm: set[str] = set()
        voices: set[str] = set()
        pending = list(starts)
        seen = set(pending)
        while pending:
            node = pending.pop()
            if self.is_out(node):
                continue
            firm.update(identity.resolve(source) for source in self._targets(node, "source") if source[0] == "C")
            speakers = {identity.resolve(actor) for actor in self._targets(node, "asserted_by")}
            further = self._further(node)
            if further:
                voices |= speakers
            else:
                firm |= speakers or {node}
            pending += further - seen
            seen |= further
        return frozenset(firm | voices if firm else ())

    def _further(self, node: ElementId) -> set[ElementId]:
        """The elements directly upstream, whose roots count instead of this one."""
        return {*self._sources(node), *self._targets(node, "generated_by"), *self._makers(node)}

    def _makers(self, node: ElementId) -> list[ElementId]:
        """The Activities a claim or a piece of Evidence is an output of.

        Evidence counts as made by an Activity that read Evidence or claims. One that only points to another Activity,
        as the observation of an outcome points to the decision, says what was looked at and not what it was made from.
        """
        makers = self.producers.get(node, [])
        if node[0] == "A":
            return makers
        return [maker for maker in makers if any(source[0] in "AE" for source in self._sources(maker))]

    def _sources(self, node: ElementId) -> list[ElementId]:
        """Evidence, claims and Activities that an element names as what it was made from."""
        return [
            edge.target
            for edge in self.upstream.get(node, ())
            if edge.target[0] in "AEX"
            and (edge.field in ("source", "inputs") or (edge.field == "evidence" and edge.role in (None, "support")))
        ]

    def _targets(self, node: ElementId, name: str) -> list[ElementId]:
        return [edge.target for edge in self.upstream.get(node, ()) if edge.field == name]


def corroboration_groups(claims: Sequence[Claim], unstated_confidence: float = 1.0) -> tuple[RootGroup, ...]:
    """The independent voices among the claims of one side; claims without a root are left to the caller.

    First-hand claims join when they share a root. A derived claim joins the voice it goes back to and adds no weight
    there; it never makes two voices one. Derived claims that go back to nobody present form groups among themselves.
    """
    if not claims:
        return ()
    ordered = sorted((claim for claim in claims if claim.roots), key=lambda claim: element_number(claim.id))
    voices = _joined([claim for claim in ordered if not claim.is_derived])
    voice_of = {root: i for i, voice in enumerate(voices) for claim in voice for root in claim.roots}
    relayed: dict[int, list[Claim]] = defaultdict(list)
    loose: list[Claim] = []
    for claim in ordered:
        if claim.is_derived:
            home = min((voice_of[root] for root in claim.roots if root in voice_of), default=None)
            (loose if home is None else relayed[home]).append(claim)
    groups = [_group(voice, relayed[i], unstated_confidence) for i, voice in enumerate(voices)]
    groups += [_group(voice, [], unstated_confidence) for voice in _joined(loose)]
    return tuple(sorted(groups, key=lambda group: element_number(group.claims[0].id)))


def _joined(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Partition claims so that two that share a root, directly or through others, are together."""
    parent: dict[str, str] = {}

    def top(root: str) -> str:
        while (above := parent.setdefault(root, root)) != root:
            parent[root] = root = parent[above]
        return root

    for claim in claims:
        first, *others = claim.roots
        for other in others:
            parent[top(other)] = top(first)
    voices: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        voices[top(next(iter(claim.roots)))].append(claim)
    return list(voices.values())


def _group(heard: Sequence[Claim], added: Sequence[Claim], unstated_confidence: float) -> RootGroup:
    weights = [unstated_confidence if claim.confidence is None else claim.confidence for claim in heard]
    members = sorted([*heard, *added], key=lambda claim: element_number(claim.id))
    return RootGroup(tuple(members), frozenset().union(*(claim.roots for claim in heard)), max(weights))
