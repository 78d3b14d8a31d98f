"""Dependency validity (§57.6): do the premises a derivation was made from still stand?

A derivation's producing Activity carries a `DependencyBasis` Facet with pinned premises. The check reads the pins
against the snapshot, follows premises that are derivations themselves, and says what it found. It never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from brain.kip.belief.model import Currency, Dependency
from brain.store.base import Document, EdgeScan, Element, ElementId, Kind, Snapshot, element_number

BASIS_FACET = "DependencyBasis"
DEEPEST = 64
"""Levels of derivations on derivations that are followed; what lies deeper is not verified."""

ARTIFACTS = frozenset(
    f"kip://profiles/cognitive-memory/{name}"
    for name in ("Insight", "SelfModel", "Skill", "SkillRevision", "WorkingState")
)
"""Lineages of Concept Types whose elements are made from others (Profile §8.2)."""

_CURRENT = Dependency(Currency.CURRENT)
_ORDER = list(Currency)

EndedClaims = Callable[[Collection[Element]], frozenset[ElementId]]
"""Tells which of these Assertions no longer hold at the asked instant."""


def dependencies(
    snapshot: Snapshot,
    derived: Iterable[ElementId],
    ended: EndedClaims,
    most_elements: int,
) -> dict[ElementId, Dependency]:
    """The validity of each of these derivations, all of which need a DependencyBasis to be current."""
    asked = frozenset(derived)
    premises = _Premises(asked)
    premises.read(snapshot, most_elements)
    pinned_claims = [e for e in premises.elements.values() if e.kind is Kind.ASSERTION and e.id in premises.pinned]
    check = _Check(premises, ended(pinned_claims) if pinned_claims else frozenset(), snapshot.seq)
    return {element_id: check.derivation(element_id) for element_id in asked}


def is_derivation(element: Element, lineage: str | None) -> bool:
    """Whether an element is one that has a validity: an inferred claim, or a Profile artifact.

    lineage  the canonical lineage of a Concept's type, None for other kinds
    """
    return _is_inference(element) if element.kind is Kind.ASSERTION else lineage in ARTIFACTS


def facet(body: Document, name: str) -> Document | None:
    """A Facet of an element by its local name, whatever version of its symbol it is stored under."""
    for symbol, value in (body.get("facets") or {}).items():
        if symbol == name or symbol.endswith("/" + name):
            found: Document = value
            return found
    return None


@dataclass(slots=True)
class _Premises:
    """Derivations, the finished Activities that certify them, and every element those pin."""

    asked: frozenset[ElementId]
    elements: dict[ElementId, Element] = field(default_factory=dict)
    certified_by: dict[ElementId, list[Element]] = field(default_factory=dict)
    pinned: set[ElementId] = field(default_factory=set)

    def read(self, snapshot: Snapshot, most_elements: int) -> None:
        """Level by level, three store calls each; what is not reached has no entry in `certified_by`."""
        frontier = set(self.asked)
        for _ in range(DEEPEST):
            if not frontier:
                return
            self.certified_by.update((element_id, []) for element_id in frontier)
            outputs = snapshot.edges(EdgeScan(fields=frozenset({"outputs"}), targets=frozenset(frontier)))
            activities = snapshot.elements(frozenset(edge.source for edge in outputs))
            for edge in outputs:
                activity = activities.get(edge.source)
                if activity is not None and _certifies(activity):
                    self.certified_by[edge.target].append(activity)
            pins = {
                pin["id"] for activity in activities.values() for group in _groups(activity) for pin in group["pins"]
            }
            wanted = (pins | frontier) - self.elements.keys()
            self.elements.update(snapshot.elements(wanted))
            self.pinned |= pins
            frontier = {pin for pin in pins if pin[:1] in ("A", "C")} - self.certified_by.keys()
            if len(self.elements) > most_elements:
                return


@dataclass(slots=True)
class _Check:
    premises: _Premises
    ended: frozenset[ElementId]
    seq: int
    known: dict[ElementId, Dependency] = field(default_factory=dict)
    path: set[ElementId] = field(default_factory=set)

    def derivation(self, element_id: ElementId) -> Dependency:
        """The validity of one element as a derivation; a record that is none is current by itself."""
        if element_id in self.known:
            return self.known[element_id]
        if element_id in self.path:
            return Dependency(Currency.UNVERIFIABLE, ("premise_cycle",))
        self.path.add(element_id)
        found = self._derivation(element_id)
        self.path.discard(element_id)
        self.known[element_id] = found
        return found

    def _derivation(self, element_id: ElementId) -> Dependency:
        if element_id not in self.premises.certified_by:
            return Dependency(Currency.UNVERIFIABLE, ("traversal_incomplete",))
        element = self.premises.elements.get(element_id)
        activity = _certificate(self.premises.certified_by[element_id], fixed_premises=element_id[0] == "A")
        if activity is None:
            if element_id not in self.premises.asked and not _is_inference(element):
                return _CURRENT
            return Dependency(Currency.UNVERIFIABLE, ("dependency_basis_missing",))
        findings = [self._group(group) for group in _groups(activity) if group["role"] != "context"]
        if self._selection_moved(activity):
            findings.append(Dependency(Currency.UNVERIFIABLE, ("selection_not_reevaluated",)))
        if element is not None and element.kind is not Kind.ASSERTION and _has_changed_since(element, activity):
            findings.append(Dependency(Currency.NEEDS_REVIEW, ("artifact_changed",)))
        if not findings:
            # Only disclosed context: nothing the derivation rests on was pinned.
            return Dependency(Currency.UNVERIFIABLE, ("dependency_basis_missing",))
        return _worst(findings)

    def _selection_moved(self, activity: Element) -> bool:
        """Whether a recorded query may answer otherwise now: any commit after its own counts."""
        basis = facet(activity.body, BASIS_FACET) or {}
        committed = activity.body["_system"].get("space_seq", 0)
        return bool(basis.get("queries")) and self.seq > max(basis["basis_seq"], committed)

    def _group(self, group: Document) -> Dependency:
        findings = [self._pin(pin) for pin in group["pins"]]
        if group["role"] == "all_of":
            return _worst(findings)
        if any(finding.is_current for finding in findings):
            return _CURRENT
        best = min((finding.currency for finding in findings), key=_ORDER.index)
        return Dependency(best, tuple(sorted({"alternatives_lost"}.union(*(f.reasons for f in findings)))))

    def _pin(self, pin: Document) -> Dependency:
        element = self.premises.elements.get(pin["id"])
        if element is None or element.state in ("purged", "tombstoned") or is_quarantined(element.body):
            return Dependency(Currency.UNVERIFIABLE, ("source_unavailable",))
        changes = [reason for reason, is_so in _changes(element, pin, self.ended) if is_so]
        findings = [Dependency(Currency.NEEDS_REVIEW, (reason,)) for reason in changes]
        premise = self.derivation(element.id) if element.kind in (Kind.ASSERTION, Kind.CONCEPT) else _CURRENT
        if not premise.is_current:
            findings.append(Dependency(premise.currency, ("premise_not_current", *premise.reasons)))
        return _worst(findings)


def is_quarantined(body: Document) -> bool:
    """Whether Governance keeps an element out of recall and projection (§31.6)."""
    return bool((body.get("governance") or {}).get("quarantined"))


def is_recording_invalidated(body: Document) -> bool:
    """Whether a recording repair found that the Brain wrote down what nobody had claimed (§57.8)."""
    return (body["_system"].get("recording_validity") or {}).get("status") == "invalidated"


def _changes(element: Element, pin: Document, ended: frozenset[ElementId]) -> Sequence[tuple[str, bool]]:
    lifecycle = (element.body.get("lifecycle") or {}).get("status", "active")
    return (
        ("identity_changed", element.state == "merged"),
        ("prerequisite_expired", element.id in ended),
        ("recording_repaired", is_recording_invalidated(element.body)),
        ("source_archived", element.state == "archived"),
        ("source_changed", _version_differs(element, pin)),
        ("source_corrected", lifecycle == "corrected"),
        ("source_revised", lifecycle in ("retracted", "superseded")),
    )


def _version_differs(element: Element, pin: Document) -> bool:
    if "planes" not in pin:
        return bool(element.version != pin["version"])
    return any(_plane(element, plane) != counter for plane, counter in pin["planes"].items())


def _plane(element: Element, plane: str) -> int:
    """The counter of a plane: `attributes`, `structural`, `retention`, or a Facet by symbol or local name."""
    counters = element.body["_system"].get("plane_versions") or {}
    found = counters.get(plane)
    if isinstance(found, int):
        return found
    for symbol, counter in (counters.get("facets") or {}).items():
        if symbol == plane or symbol.endswith("/" + plane.removeprefix("facets.")):
            return int(counter)
    return 0


def _has_changed_since(element: Element, activity: Element) -> bool:
    """Whether an artifact moved on from the version its Activity certified, in a plane that was certified."""
    system = activity.body["_system"]
    planes = (system.get("output_plane_versions") or {}).get(element.id)
    if planes is not None:
        return any(_plane(element, plane) != counter for plane, counter in planes.items())
    certified = (system.get("output_versions") or {}).get(element.id)
    return certified is not None and bool(element.version != certified)


def _certifies(activity: Element) -> bool:
    return activity.body.get("status") == "completed" and facet(activity.body, BASIS_FACET) is not None


def _certificate(activities: Sequence[Element], *, fixed_premises: bool) -> Element | None:
    """The Activity that speaks for a derivation: its producer, or the newest validation after it.

    fixed_premises  an old claim keeps the premises it was made from: a validation that brings others is no validation
    """
    ordered = sorted(activities, key=lambda activity: element_number(activity.id))
    producer = next((a for a in ordered if a.body["activity_class"] != "dependency_validation"), None)
    if producer is None:
        return None
    premises = _pinned_ids(producer)
    later = [a for a in ordered if a.body["activity_class"] == "dependency_validation"]
    valid = [a for a in later if not fixed_premises or _pinned_ids(a) <= premises]
    return valid[-1] if valid else producer


def _pinned_ids(activity: Element) -> set[ElementId]:
    return {pin["id"] for group in _groups(activity) for pin in group["pins"] if group["role"] != "context"}


def _groups(activity: Element) -> Sequence[Document]:
    groups: Sequence[Document] = (facet(activity.body, BASIS_FACET) or {}).get("groups") or ()
    return groups


def _is_inference(element: Element | None) -> bool:
    return element is not None and element.body.get("mode") == "inferred"


def _worst(findings: Sequence[Dependency]) -> Dependency:
    if not findings:
        return _CURRENT
    reasons = frozenset().union(*(finding.reasons for finding in findings))
    return Dependency(max((f.currency for f in findings), key=_ORDER.index), tuple(sorted(reasons)))
