"""Two Spaces that differ by some hidden elements and nothing else, for whoever may not know of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from brain.kip.context import OWNER_PERMISSIONS, Session
from brain.kip.governance.plane import Plane, Policy, Rule, Scope, to_document
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.base import Commit, Element, ElementId, Kind, Store
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from tests.kip.graph import NOW, PACKAGES, Graph
from tests.kip.read.strategies import chance, graphs

SECRET = "secret"
GUEST = Session(principal_id="guest", channel="test", permissions=OWNER_PERMISSIONS)
"""May do everything, as far as it may know of anything."""

HIDES_SECRETS = Plane(
    version=1,
    policy=Policy(
        version=1,
        labels=("internal", SECRET),
        rules=(
            Rule("deny", frozenset({"discover"}), to=frozenset({"guest"}), scope=Scope(labels=frozenset({SECRET}))),
        ),
    ),
)

_numbers = count()


@st.composite
def partly_hidden(draw: DrawFn) -> tuple[Graph, frozenset[ElementId]]:
    """A graph with Evidence, contexts and Activities, and some of its elements."""
    graph = draw(graphs())
    at = chance(draw(st.integers(0, 2**32)))
    concepts = [i for i, body in graph.bodies.items() if body["kind"] == "concept"]
    claims = [i for i, body in graph.bodies.items() if body["kind"] == "assertion"]
    evidence = [
        graph.evidence(at.choice(["N1 spoke", "N2 wrote"]), source=[{"id": at.choice(concepts)}])
        for _ in range(at.choice([0, 2, 3]))
    ]
    for claim in claims:
        body = graph.bodies[claim]
        if evidence and at.random() < 0.6:
            body["evidence"] = [{"id": item, "role": "support"} for item in at.sample(evidence, at.choice([1, 2]))]
        if at.random() < 0.2:
            body["context_refs"] = [{"id": at.choice(concepts)}]
    if len(claims) > 1 and at.random() < 0.3:
        graph.bodies[claims[0]]["lifecycle"] = {"status": "superseded", "superseded_by": [{"id": claims[1]}]}
        graph.bodies[claims[1]]["lifecycle"]["supersedes"] = [{"id": claims[0]}]
    for _ in range(at.choice([0, 1, 2])):
        made = at.sample([*concepts, *claims], 2)
        used = at.sample([*evidence, *concepts], 2)
        graph.activity(inputs=[{"id": one} for one in used], outputs=[{"id": one} for one in made])
    hidden = frozenset(i for i in graph.bodies if at.random() < 0.25)
    # Neither commit is ever empty for who may not know of these: an engine makes no commit of nothing.
    graph.concept("Place")
    graph.activity(inputs=[], outputs=[])
    return graph, hidden


def without(graph: Graph, hidden: frozenset[ElementId]) -> Graph:
    """The graph in which these elements, and what says nothing without them, never were."""
    gone = set(hidden)
    while True:
        more = {i for i, body in graph.bodies.items() if i not in gone and _ends(body) & gone}
        if not more:
            break
        gone |= more
    less = Graph()
    less._numbers = graph._numbers
    for element_id, body in graph.bodies.items():
        if element_id not in gone:
            less.bodies[element_id] = _unlinked(deepcopy(body), gone)
    return less


def _ends(body: dict[str, Any]) -> set[ElementId]:
    if body["kind"] == "proposition":
        return {end["id"] for end in (body["subject"], body["object"]) if isinstance(end, dict)}
    if body["kind"] == "assertion":
        named = [body["proposition"], body["asserted_by"], *body.get("context_refs", [])]
        return {reference["id"] for reference in named}
    return set()


def _unlinked(body: dict[str, Any], gone: set[ElementId]) -> dict[str, Any]:
    def kept(references: list[Any]) -> list[Any]:
        return [reference for reference in references if reference["id"] not in gone]

    for name in ("evidence", "source"):
        if name in body:
            body[name] = kept(body[name])
            if not body[name]:
                del body[name]
    for name in ("inputs", "outputs"):
        if name in body:
            body[name] = kept(body[name])
    for name in ("supersedes", "superseded_by"):
        if name in body.get("lifecycle", {}):
            body["lifecycle"][name] = kept(body["lifecycle"][name])
            if not body["lifecycle"][name]:
                del body["lifecycle"][name]
    if "structural" in body:
        body["structural"] = {name: left for name, refs in body["structural"].items() if (left := kept(refs))}
        if not body["structural"]:
            del body["structural"]
    if body.get("merged_into", {}).get("id") in gone:
        del body["merged_into"]
    return body


@contextmanager
def engine_over(
    graph: Graph, hidden: frozenset[ElementId], store: Store, plane: Plane = HIDES_SECRETS
) -> Iterator[Engine]:
    """An engine over a Space that holds the graph in two commits, the hidden elements labelled."""
    controls = {**Engine.birth_controls(PackageLibrary.bundled(), PACKAGES), "governance": to_document(plane)}
    space = store.create("default", now_ms=0, controls=controls)
    bodies = [deepcopy(body) for body in graph.bodies.values()]
    for body in bodies:
        body["_system"] |= {"plane_versions": {"attributes": 1, "structural": 0, "retention": 0}, "space_seq": 1}
        if body["id"] in hidden:
            body["governance"] = {**body["governance"], "classification": SECRET}
    # The second commit depends on the id alone, so that leaving an element out moves no other.
    for seq, part in enumerate(([b for b in bodies if _early(b)], [b for b in bodies if not _early(b)]), start=1):
        with space.transaction() as tx:
            if seq == 1:
                for kind, number in graph._numbers.items():
                    tx.new_ids(kind, number)
            tx.put([Element(body["id"], Kind(body["kind"]), body) for body in part])
            tx.record(Commit(seq, f"kip:space:default#{seq}", NOW, {"status": "committed"}, _envelope(seq, part)))
    engine = Engine(space, PackageLibrary.bundled(), clock=FixedClock(1_789_862_400_000))
    engine.cursor_key = b"the same in both"
    try:
        yield engine
    finally:
        space.close()
        store.delete("default")


def two_stores(folder: Path) -> tuple[Store, Store]:
    """Stores in folders of their own, so that both may have a Space of the same name."""
    return tuple(SqliteStore(folder / f"store-{next(_numbers)}", durability="normal") for _ in range(2))  # type: ignore[return-value]


def answers(engine: Engine, commands: Sequence[tuple[str, dict[str, Any]]], session: Session = GUEST) -> list[Any]:
    """Whole response envelopes."""
    return [engine.run(command, values, session=session).response for command, values in commands]


def _early(body: dict[str, Any]) -> bool:
    return bool(body["kind"] in ("concept", "evidence"))


def _envelope(seq: int, bodies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    entries = []
    for body in sorted(bodies, key=lambda one: one["id"]):
        entry = {"op": "create", "kind": body["kind"], "id": body["id"], "new_version": 1}
        if "schema_ref" in body:
            entry["schema_ref"] = body["schema_ref"]
        if body["kind"] == "assertion":
            entry["refs"] = {"proposition": body["proposition"]["id"]}
        if body["kind"] == "proposition":
            entry["refs"] = {"subject": body["subject"]["id"], "predicate_ref": body["predicate_ref"]}
        entries.append(entry)
    return {
        "kip": "2.0",
        "space_id": "kip:space:default",
        "space_seq": seq,
        "tx_id": f"kip:space:default#{seq}",
        "committed_at": NOW,
        "schema_environment_version": 1,
        "changes": entries,
    }
