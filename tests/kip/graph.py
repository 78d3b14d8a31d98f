"""A graph put together element by element, for tests that read: no statement, no receipt, one commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from brain.ids import object_key
from brain.kip import ast
from brain.kip.context import Limits, Run, Session
from brain.kip.library import PackageLibrary
from brain.kip.parser import parse
from brain.kip.schema import Environment
from brain.store.base import Commit, Element, ElementId, Kind, SpaceStore, Store

MEMORY = "kip://profiles/cognitive-memory@2.0.0"
GENERAL = "kip://domains/general@1.0.0"
NOW = "2026-09-20T00:00:00.000Z"
OWNER = Session(principal_id="owner", channel="test")
PACKAGES = ("general",)
REFS: Mapping[str, str] = {
    **{name: f"{MEMORY}/{name}" for name in ("Event", "Experience", "Person", "prefers", "same_as")},
    **{name: f"{GENERAL}/{name}" for name in ("Organization", "Place", "Topic")},
    **{name: f"{GENERAL}/{name}" for name in ("knows", "lives_in", "located_in", "speaks", "timezone", "works_for")},
}
"""Local names a graph may use, with their exact references."""

ENVIRONMENT = Environment.load(PackageLibrary.bundled().birth(PACKAGES), PackageLibrary.bundled())


class Graph:
    """Elements by id, as they will be stored. Ids count from 1 per kind in the order things are made."""

    def __init__(self) -> None:
        self.bodies: dict[ElementId, dict[str, Any]] = {}
        self._numbers: dict[Kind, int] = defaultdict(int)

    def concept(self, type: str = "Person", *, state: str = "active", **members: Any) -> ElementId:  # noqa: A002
        """A Concept of a local type name."""
        return self._new(Kind.CONCEPT, state, schema_ref=REFS[type], **members)

    def proposition(self, subject: ElementId, predicate: str, value: Any, *, state: str = "active") -> ElementId:
        """A tuple; an element id as the value stands for the element, anything else for a Literal."""
        object_ = {"id": value} if value in self.bodies else value
        return self._new(
            Kind.PROPOSITION, state, subject={"id": subject}, predicate_ref=REFS[predicate], object=object_
        )

    def assertion(
        self, proposition: ElementId, by: ElementId, *, state: str = "active", status: str = "active", **members: Any
    ) -> ElementId:
        """A claim about a Proposition."""
        members = {"stance": "support", "mode": "stated", "asserted_at": "2026-01-01T00:00:00.000Z", **members}
        return self._new(
            Kind.ASSERTION,
            state,
            proposition={"id": proposition},
            asserted_by={"id": by},
            lifecycle={"status": status},
            **members,
        )

    def evidence(self, payload: Any = "words", *, state: str = "active", **members: Any) -> ElementId:
        members = {"evidence_class": "user_statement", "payload": {"mode": "inline", "inline": payload}, **members}
        return self._new(Kind.EVIDENCE, state, lifecycle={"status": "active"}, **members)

    def activity(self, *, state: str = "active", **members: Any) -> ElementId:
        return self._new(Kind.ACTIVITY, state, **{"activity_class": "inference", "status": "completed", **members})

    def refer(self, source: ElementId, field: str, *targets: ElementId) -> None:
        """Structural references of a Profile field, in order."""
        stored = self.bodies[source].setdefault("structural", {}).setdefault(f"{MEMORY}/{field}", [])
        stored.extend({"id": target} for target in targets)

    def merge(self, source: ElementId, target: ElementId) -> None:
        self.bodies[source]["merged_into"] = {"id": target}
        self.bodies[source]["_system"]["state"] = "merged"

    def has_tuple(self, subject: ElementId, predicate: str, value: Any) -> bool:
        wanted = (subject, REFS[predicate], object_key({"id": value} if value in self.bodies else value))
        return any(
            (body["subject"]["id"], body["predicate_ref"], object_key(body["object"])) == wanted
            for body in self.bodies.values()
            if body["kind"] == Kind.PROPOSITION
        )

    def _new(self, kind: Kind, state: str, **members: Any) -> ElementId:
        self._numbers[kind] += 1
        element_id = f"{kind.letter}-{self._numbers[kind]}"
        self.bodies[element_id] = {
            "id": element_id,
            "kind": kind.value,
            "space_id": "kip:space:default",
            "governance": {"authority_class": "descriptive"},
            "_system": {
                "version": 1,
                "state": state,
                "created_at": NOW,
                "origin": {"principal_id": "owner", "channel": "test", "import_id": None},
            },
            **{name: value for name, value in members.items() if value is not None},
        }
        return element_id

    # --- storing and reading ------------------------------------------------------------------------------------------

    def store(self, store: Store, space_id: str = "default") -> SpaceStore:
        """A new Space that holds this graph as its first commit."""
        controls = {"schema": PackageLibrary.bundled().birth(PACKAGES)}
        space = store.create(space_id, now_ms=0, controls=controls)
        self.commit(space)
        return space

    def commit(self, space: SpaceStore) -> None:
        """All elements as one more commit; new ids are taken so that later writes do not meet them."""
        elements = [Element(body["id"], Kind(body["kind"]), body) for body in self.bodies.values()]
        with space.transaction() as tx:
            for kind, count in self._numbers.items():
                tx.new_ids(kind, count)
            tx.put(elements)
            tx.record(Commit(tx.seq + 1, f"kip:space:default#{tx.seq + 1}", NOW, {}, {"changes": []}))


def find(text: str) -> ast.Find:
    """A FIND, parsed."""
    statement = parse(text)
    assert isinstance(statement, ast.Find)
    return statement


@contextmanager
def reading(space: SpaceStore, parameters: Mapping[str, Any] | None = None, **members: Any) -> Iterator[Run]:
    """A run over the head of a Space, with the profile and the general domain as its vocabulary."""
    with space.snapshot(members.pop("seq", None)) as snapshot:
        yield Run(
            snapshot=snapshot,
            environment=ENVIRONMENT,
            parameters=parameters or {},
            session=OWNER,
            now=NOW,
            space_uri="kip:space:default",
            limits=members.pop("limits", Limits()),
            cursor_key=b"a key of the tests",
            **members,
        )
