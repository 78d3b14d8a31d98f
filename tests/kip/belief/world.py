"""A small Space to hold opinions in: concepts, claims, Evidence and Activities, each made in one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from brain.kip.belief import BeliefRequest, GroundTriple, Projected, project_propositions, project_slots
from brain.kip.context import OWNER_PERMISSIONS, Limits, Run, Session
from brain.kip.schema import Environment, Installed, PredicateType
from brain.kip.schema.package import complete, load
from brain.store.base import Commit, Element, ElementId, Kind, Snapshot, SpaceStore
from brain.times import Timestamp

PACKAGE = "kip://tests/opinions"
PREDICATES: Mapping[str, Mapping[str, Any]] = {
    "code": {"functional": True, "complete": True},
    "knows": {},
    "likes": {},
    "lives_in": {"functional": True},
    "married": {"boolean_completeness": True},
    "motto": {"functional": True, "temporal_conflict": "none"},
    "position": {"functional": True},
    "prefers": {"functional_by": "object_type", "object": {"kinds": ["Concept"]}},
    "smokes": {},
    "timezone": {"functional": True},
    "works_for": {},
}
TYPES = ("ColorScheme", "Editor", "Event", "Person", "Place")
NOW = "2026-09-20T00:00:00.000Z"


def environment() -> Environment:
    """One package with a Predicate of every behaviour."""
    artifact = {
        "format": "KIP-Schema-Package",
        "manifest": {"package_id": PACKAGE, "version": "1.0.0"},
        "definitions": {"concept_types": {name: {} for name in TYPES}, "predicates": dict(PREDICATES)},
    }
    return Environment(1, [Installed(load(complete(artifact)), "active")])


def day(text: str) -> Timestamp:
    """`2026-09-01` as the instant that day begins."""
    return text if "T" in text else f"{text}T00:00:00.000Z"


def instants(value: Any) -> Any:
    """Days inside a written time as instants."""
    if isinstance(value, Mapping):
        return {name: instants(item) for name, item in value.items()}
    return day(value) if isinstance(value, str) else value


class World:
    """Elements are collected and committed when the Space is read."""

    def __init__(self, space: SpaceStore) -> None:
        self.space = space
        self.environment = environment()
        self._pending: dict[ElementId, Element] = {}
        self._numbers: dict[Kind, int] = defaultdict(int)
        self._known: dict[ElementId, Element] = {}
        self._tuples: dict[tuple[str, str, str], ElementId] = {}

    # --- writing ------------------------------------------------------------------------------------------------------

    def concept(self, type: str = "Person", **members: Any) -> ElementId:  # noqa: A002 - the protocol's word
        return self._new(Kind.CONCEPT, schema_ref=f"{PACKAGE}@1.0.0/{type}", **members)

    def proposition(self, subject: ElementId, predicate: str, value: Any) -> ElementId:
        """The Proposition of a tuple, made when there is none; an element id stands for the element."""
        key = (subject, predicate, repr(value))
        if key not in self._tuples:
            self._tuples[key] = self._new(
                Kind.PROPOSITION,
                subject={"id": subject},
                predicate_ref=f"{PACKAGE}@1.0.0/{predicate}",
                object=as_object(value),
            )
        return self._tuples[key]

    def claim(
        self,
        subject: ElementId,
        predicate: str,
        value: Any,
        *,
        by: ElementId,
        at: str = "2026-01-01",
        stance: str = "support",
        mode: str = "stated",
        confidence: float | None = None,
        valid: Mapping[str, Any] | None = None,
        context: Sequence[ElementId] = (),
        evidence: Sequence[ElementId | tuple[ElementId, str]] = (),
        **members: Any,
    ) -> ElementId:
        cited = [{"id": e, "role": "support"} if isinstance(e, str) else {"id": e[0], "role": e[1]} for e in evidence]
        optional: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
        if valid is not None:
            optional["valid_time"] = instants(valid)
        return self._new(
            Kind.ASSERTION,
            **{
                "proposition": {"id": self.proposition(subject, predicate, value)},
                "asserted_by": {"id": by},
                "stance": stance,
                "mode": mode,
                "asserted_at": day(at),
                "context_refs": [{"id": ref} for ref in context],
                "evidence": cited,
                "lifecycle": {"status": "active"},
                **optional,
                **members,
            },
        )

    def evidence(self, class_: str = "user_statement", **members: Any) -> ElementId:
        return self._new(
            Kind.EVIDENCE,
            **{
                "evidence_class": class_,
                "payload": {"mode": "inline", "inline": "text"},
                "content_digest": "sha256:" + "0" * 64,
                "observed_at": day("2026-01-01"),
                "lifecycle": {"status": "active"},
                **members,
            },
        )

    def derived_from(self, *sources: ElementId) -> ElementId:
        """Evidence that names what it was made from."""
        return self.evidence("derived_result", source=[{"id": source} for source in sources])

    def activity(
        self, class_: str, inputs: Sequence[ElementId] = (), outputs: Sequence[ElementId] = (), **members: Any
    ) -> ElementId:
        return self._new(
            Kind.ACTIVITY,
            **{
                "activity_class": class_,
                "status": "completed",
                "inputs": [{"id": i} for i in inputs],
                "outputs": [{"id": o} for o in outputs],
                **members,
            },
        )

    def inference(self, derived: ElementId, *groups: Mapping[str, Any], **members: Any) -> ElementId:
        """The finished Activity that produced a claim, with its pinned premises."""
        pins = [pin["id"] for group in groups for pin in group["pins"]]
        basis = {"basis_seq": 1, "groups": list(groups), **members.pop("basis", {})}
        return self.activity(
            members.pop("class_", "inference"),
            pins,
            [derived],
            facets={"kip://p@1.0.0/DependencyBasis": basis},
            **members,
        )

    def pin(self, element_id: ElementId, **members: Any) -> dict[str, Any]:
        """A pin on an element as it is now."""
        return {"id": element_id, "version": self.get(element_id).version, **members}

    def all_of(self, *ids: ElementId) -> dict[str, Any]:
        return {"role": "all_of", "pins": [self.pin(element_id) for element_id in ids]}

    def change(self, element_id: ElementId, *, state: str = "active", **members: Any) -> None:
        """The next version of an element, with these members in place of the old ones."""
        old = self.get(element_id)
        system = {**old.body["_system"], "version": old.version + 1, "state": state, **members.pop("system", {})}
        self._put(Element(old.id, old.kind, {**old.body, **members, "_system": system}))

    def retract(self, assertion: ElementId) -> None:
        self.change(assertion, lifecycle={"status": "retracted"})

    def correct(self, evidence: ElementId, by: ElementId) -> None:
        self.change(evidence, lifecycle={"status": "corrected", "corrected_by": [{"id": by}]})

    def merge(self, source: ElementId, target: ElementId) -> None:
        self.change(source, state="merged", merged_into={"id": target})

    def get(self, element_id: ElementId) -> Element:
        return self._known[element_id]

    def _new(self, kind: Kind, **members: Any) -> ElementId:
        self._numbers[kind] += 1
        element_id = f"{kind.letter}-{self._numbers[kind]}"
        system = {"version": 1, "state": "active", "origin": {"principal_id": "tests", "channel": "tests"}}
        system |= members.pop("system", {})
        body = {"id": element_id, "kind": kind.value, "space_id": "kip:space:tests", "_system": system, **members}
        self._put(Element(element_id, kind, body))
        return element_id

    def _put(self, element: Element) -> None:
        self._pending[element.id] = self._known[element.id] = element

    def commit(self) -> None:
        if not self._pending:
            return
        with self.space.transaction() as tx:
            tx.put(list(self._pending.values()))
            seq = tx.seq + 1
            tx.record(Commit(seq, f"kip:space:tests#{seq}", NOW, {"space_seq": seq}, {"space_seq": seq}))
        self._pending.clear()

    # --- reading ------------------------------------------------------------------------------------------------------

    @contextmanager
    def run(self, *, now: str = NOW, session: Session | None = None, **members: Any) -> Iterator[Run]:
        self.commit()
        with self.space.snapshot(members.pop("seq", None)) as snapshot:
            yield self.run_on(snapshot, now=now, session=session, **members)

    def run_on(self, snapshot: Snapshot, *, now: str = NOW, session: Session | None = None, **members: Any) -> Run:
        return Run(
            snapshot=snapshot,
            environment=self.environment,
            parameters={},
            session=session or speaker(),
            now=day(now),
            space_uri="kip:space:tests",
            **members,
        )

    def predicate(self, name: str) -> PredicateType:
        return self.environment.predicate(name)

    def belief(self, subject: ElementId, predicate: str, value: Any, **epistemic: Any) -> dict[str, Any]:
        return self.projected(subject, predicate, value, **epistemic).wire

    def projected(self, subject: ElementId, predicate: str, value: Any, **epistemic: Any) -> Projected:
        triple = GroundTriple(subject, self.predicate(predicate), as_object(value))
        return self.project([triple], **epistemic)[0]

    def project(
        self,
        targets: Sequence[ElementId | GroundTriple],
        *,
        at: str = NOW,
        session: Session | None = None,
        **epistemic: Any,
    ) -> list[Projected]:
        with self.run(session=session, limits=epistemic.pop("limits", Limits())) as run:
            return project_propositions(run, BeliefRequest.parse(run, epistemic, day(at)), targets)

    def slot(self, subject: ElementId, predicate: str, *, at: str = NOW, **epistemic: Any) -> dict[str, Any]:
        return self.projected_slot(subject, predicate, at=at, **epistemic).wire

    def projected_slot(
        self, subject: ElementId, predicate: str, *, at: str = NOW, session: Session | None = None, **epistemic: Any
    ) -> Projected:
        with self.run(session=session) as run:
            request = BeliefRequest.parse(run, epistemic, day(at))
            return project_slots(run, request, [(subject, self.predicate(predicate))])[0]

    def statuses(self, subject: ElementId, predicate: str, values: Sequence[Any], **epistemic: Any) -> list[str]:
        """The final status of each of these values."""
        return [self.belief(subject, predicate, value, **epistemic)["status"] for value in values]


def as_object(value: Any) -> Any:
    """An element id as a reference, anything else as the Literal it is."""
    is_id = isinstance(value, str) and value[:2] in ("C-", "P-")
    return {"id": value} if is_id else value


def speaker(**members: Any) -> Session:
    return Session(principal_id="tests", channel="tests", **{"permissions": OWNER_PERMISSIONS, **members})
