"""Which recorded outcomes may grade what was done: one sample per attempt, metric and window (KIP 2.0 §15.7).

An outcome stays readable whatever becomes of it here. To count, it has to have been observed in this Space by an
instrument, for an attempt that an observation links it to; a task family they share says nothing (Validated Learning
§3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from brain.kip.belief.dependency import facet, is_quarantined, is_recording_invalidated
from brain.kip.write.records import OBSERVATION, OUTCOME
from brain.store.base import Document, EdgeScan, Element, ElementId, Kind, Scan, Snapshot, element_number


class LeftOut(StrEnum):
    """Why an outcome counts for nothing here."""

    IMPORTED = "imported"
    """It was observed elsewhere, by an instrument nobody here authorized (Capsule §41.6)."""

    WITHDRAWN = "withdrawn"
    """It was corrected, put away or kept out since."""

    UNATTRIBUTED = "unattributed"
    """It names no attempt, or no instrument's observation links it to that attempt."""

    INTERMEDIATE = "intermediate"
    """More of the same was to come."""

    REPEATED = "repeated"
    """It says again what another says of the same attempt, metric and window."""

    CONFLICTING = "conflicting"
    """Others say otherwise of the same, and no rule says which is right."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one attempt came to by one metric over one window.

    outcome    the Evidence that says so, the first of several that agree
    status     success, partial, failure, aborted or unknown
    magnitude  0 to 1; None when it was not measured
    """

    attempt: ElementId
    metric: str
    window: str
    outcome: ElementId
    status: str
    magnitude: float | None


@dataclass(frozen=True, slots=True)
class Sampled:
    """The samples by number of their outcome, and why every other outcome is none of them."""

    samples: tuple[Sample, ...]
    left_out: Mapping[ElementId, LeftOut]


def sampled(snapshot: Snapshot, *, attempts: Collection[ElementId] | None = None) -> Sampled:
    """The samples of a Space, or of some attempts; outcomes of other attempts are then not spoken of."""
    left_out: dict[ElementId, LeftOut] = {}
    groups: dict[tuple[ElementId, str, str], list[tuple[Element, Document]]] = defaultdict(list)
    outcomes = list(snapshot.scan(Scan(Kind.EVIDENCE, states=None, classes=frozenset({OUTCOME}))))
    links = _links(snapshot, [outcome.id for outcome in outcomes])
    for outcome in outcomes:
        record = facet(outcome.body, "OutcomeRecord") or {}
        attempt: Any = record.get("attempt_ref")
        if attempts is not None and attempt not in attempts:
            continue
        reason = _reason(outcome, record, links.get(outcome.id, frozenset()))
        if reason is not None:
            left_out[outcome.id] = reason
        else:
            groups[attempt, record["metric"], record["window"]].append((outcome, record))
    samples = []
    for (attempt, metric, window), observed in groups.items():
        first, record = observed[0]
        said = {(one["outcome_status"], one.get("magnitude")) for _, one in observed}
        if len(said) > 1:
            left_out.update((outcome.id, LeftOut.CONFLICTING) for outcome, _ in observed)
            continue
        left_out.update((outcome.id, LeftOut.REPEATED) for outcome, _ in observed[1:])
        samples.append(Sample(attempt, metric, window, first.id, record["outcome_status"], record.get("magnitude")))
    return Sampled(tuple(sorted(samples, key=lambda sample: element_number(sample.outcome))), left_out)


def _reason(outcome: Element, record: Document, linked: frozenset[ElementId]) -> LeftOut | None:
    body = outcome.body
    if body["_system"]["origin"].get("import_id") is not None:
        return LeftOut.IMPORTED
    stands = outcome.state == "active" and body["lifecycle"]["status"] == "active"
    if not stands or is_quarantined(body) or is_recording_invalidated(body):
        return LeftOut.WITHDRAWN
    if record.get("attempt_ref") not in linked:
        return LeftOut.UNATTRIBUTED
    return None if record["terminal"] else LeftOut.INTERMEDIATE


def _links(snapshot: Snapshot, outcomes: Iterable[ElementId]) -> dict[ElementId, frozenset[ElementId]]:
    """The attempts each outcome is linked to: both stand in one finished observation of an instrument of this Space."""
    fields = frozenset({"inputs", "outputs"})
    edges = snapshot.edges(EdgeScan(fields=fields, targets=frozenset(outcomes)))
    observations = {
        activity.id
        for activity in snapshot.elements({edge.source for edge in edges}).values()
        if activity.state == "active"
        and activity.body["activity_class"] == OBSERVATION
        and activity.body["status"] == "completed"
        and activity.body["_system"]["origin"].get("import_id") is None
    }
    if not observations:
        return {}
    named: dict[ElementId, set[ElementId]] = defaultdict(set)
    for edge in snapshot.edges(EdgeScan(sources=frozenset(observations), fields=fields)):
        named[edge.source].add(edge.target)
    found = snapshot.elements(set().union(*named.values()))
    attempts = {
        element.id
        for element in found.values()
        if element.kind is Kind.ACTIVITY and facet(element.body, "AttemptRecord")
    }
    links: dict[ElementId, set[ElementId]] = defaultdict(set)
    for edge in edges:
        if edge.source in observations:
            links[edge.target] |= named[edge.source] & attempts
    return {outcome: frozenset(linked) for outcome, linked in links.items()}
