"""What every store promises of the past: reading as of a sequence is reading what was there after that commit."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain.ids import object_key
from brain.store import rows
from brain.store.base import EdgeScan, Element, Kind, Scan, Snapshot, SpaceStore, Store, TupleScan, element_number
from tests.store.building import (
    FRIENDS,
    KNOWS,
    LIVES_IN,
    PERSON,
    PLACE,
    assertion,
    concept,
    erase,
    proposition,
    ref,
    stub,
    symbol,
    write,
)

CONCEPTS = [f"C-{number}" for number in range(1, 5)]
PROPOSITIONS = [f"P-{number}" for number in range(1, 4)]
ASSERTIONS = [f"A-{number}" for number in range(1, 4)]
EVERY_ID = [*CONCEPTS, *PROPOSITIONS, *ASSERTIONS]
STATES = ["active", "active", "active", "archived", "merged"]

references = st.lists(st.sampled_from(CONCEPTS).map(ref), max_size=3)
concepts = st.builds(
    lambda element_id, lineage, state, name, friends, into: concept(
        element_id, lineage, state=state, name=name, key=name, structural={symbol(FRIENDS): friends}, merged_into=into
    ),
    st.sampled_from(CONCEPTS),
    st.sampled_from([PERSON, PLACE]),
    st.sampled_from(STATES),
    st.sampled_from(["Alice", "Bob"]),
    references,
    st.none() | st.sampled_from(CONCEPTS).map(ref),
)
propositions = st.builds(
    lambda element_id, subject, predicate, object_, state: proposition(
        element_id, subject, predicate, object_, state=state
    ),
    st.sampled_from(PROPOSITIONS),
    st.sampled_from(CONCEPTS),
    st.sampled_from([KNOWS, LIVES_IN]),
    st.sampled_from(CONCEPTS).map(ref) | st.sampled_from([1, "1", True]),
    st.sampled_from(STATES),
)
assertions = st.builds(
    lambda element_id, about, by, context: assertion(element_id, about, by, context_refs=context),
    st.sampled_from(ASSERTIONS),
    st.sampled_from(PROPOSITIONS),
    st.sampled_from(CONCEPTS),
    references,
)
puts = st.lists(concepts | propositions | assertions, min_size=1, max_size=4, unique_by=lambda element: element.id)
erasures = st.sampled_from(EVERY_ID)
histories = st.lists(puts | puts | puts | erasures, min_size=1, max_size=8)


class Past:
    """The obvious history: all that holds after each commit, kept as a whole."""

    def __init__(self) -> None:
        self.states: list[dict[str, Element]] = [{}]
        self.written: list[tuple[int, str]] = []

    def put(self, elements: Iterable[Element]) -> None:
        changed = {element.id: element for element in elements}
        self.states.append(self.states[-1] | changed)
        self.written += [(len(self.states) - 1, element_id) for element_id in changed]

    def erase(self, left: Element) -> None:
        self.put([left])
        for state in self.states:
            if left.id in state:
                state[left.id] = left

    def versions(self, element_id: str) -> list[tuple[int, Element]]:
        return [(seq, self.states[seq][element_id]) for seq, written in self.written if written == element_id]


def by_number(elements: Iterable[Element], kind: Kind) -> list[Element]:
    return sorted((found for found in elements if found.kind is kind), key=lambda found: element_number(found.id))


def check(snapshot: Snapshot, state: dict[str, Element]) -> None:
    """Every read of a snapshot gives what a look at the whole state gives."""
    assert snapshot.elements(EVERY_ID) == state
    for kind in (Kind.CONCEPT, Kind.PROPOSITION, Kind.ASSERTION):
        every = by_number(state.values(), kind)
        assert list(snapshot.scan(Scan(kind, states=None))) == every
        for lineages in ({PERSON}, {PLACE, PERSON, KNOWS}):
            for states in ({"active"}, {"merged", "purged"}, None):
                query = Scan(
                    kind, lineages=frozenset(lineages), states=None if states is None else frozenset(states), after=1
                )
                expected = [
                    found
                    for found in every
                    if rows.columns(found).type in lineages
                    and kind is not Kind.ASSERTION
                    and (states is None or found.state in states)
                    and element_number(found.id) > 1
                ]
                assert list(snapshot.scan(query)) == expected
                assert snapshot.count(query) == len(expected)
    named = [found for found in by_number(state.values(), Kind.CONCEPT) if found.body.get("name") == "Alice"]
    assert list(snapshot.scan(Scan(Kind.CONCEPT, name="Alice", states=None))) == named
    assert list(snapshot.scan(Scan(Kind.CONCEPT, key="Alice", states=None))) == named
    tuples = [found for found in by_number(state.values(), Kind.PROPOSITION) if "subject" in found.body]
    for subject in CONCEPTS[:2]:
        expected = [found for found in tuples if found.body["subject"] == ref(subject)]
        assert snapshot.tuples(TupleScan(subjects=frozenset({subject}), states=None)) == expected
    for key in ("C-1", "1", '"1"', "true"):
        expected = [found for found in tuples if object_key(found.body["object"]) == key]
        assert snapshot.tuples(TupleScan(objects=frozenset({key}), states=None)) == expected
        pairs = frozenset((subject, key) for subject in CONCEPTS[:2])
        expected = [found for found in expected if found.body["subject"]["id"] in CONCEPTS[:2]]
        assert snapshot.tuples(TupleScan(states=None, pairs=pairs)) == expected
    claims = by_number(state.values(), Kind.ASSERTION)
    about = [found for found in claims if found.body.get("proposition") in (ref("P-1"), ref("P-2"))]
    assert snapshot.assertions(["P-1", "P-2"]) == about
    edges = [edge for found in state.values() for edge in rows.edges(found)]
    edges.sort(key=lambda edge: (element_number(edge.source), EVERY_ID.index(edge.source), edge.field, edge.position))
    assert snapshot.edges(EdgeScan()) == edges
    for scan in (EdgeScan(sources=frozenset({"C-1", "A-1"})), EdgeScan(targets=frozenset({"C-2", "P-1"}))):
        assert snapshot.edges(scan) == [
            edge
            for edge in edges
            if (scan.sources is None or edge.source in scan.sources)
            and (scan.targets is None or edge.target in scan.targets)
        ]
    merged = {found.id: found.body["merged_into"] for found in state.values() if found.body.get("merged_into")}
    assert snapshot.merges() == {source: into["id"] for source, into in merged.items()}


class HistoryContract:
    @pytest.mark.requirement("BR-STORE-010", "BR-STORE-004")
    # One process may run it for each store; the examples of one are good for the other.
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(history=histories)
    def test_reading_as_of_a_sequence_is_reading_what_was_there(self, store: Store, history: list[object]) -> None:
        space_id = uuid.uuid4().hex
        space = store.create(space_id, now_ms=0)
        past = Past()
        for step in history:
            if isinstance(step, list):
                write(space, *step)
                past.put(step)
            elif step in past.states[-1]:
                left = stub(past.states[-1][step])
                erase(space, left)
                past.erase(left)
        for seq, state in enumerate(past.states):
            with space.snapshot(seq) as snapshot:
                assert snapshot.seq == seq
                check(snapshot, state)
        with space.snapshot() as snapshot:
            check(snapshot, past.states[-1])
            active = [found for found in past.states[-1].values() if found.state == "active"]
            assert snapshot.counts() == {kind: len(by_number(active, kind)) for kind in Kind}
            for element_id in EVERY_ID:
                assert snapshot.versions(element_id) == past.versions(element_id)
        store.delete(space_id)

    @pytest.mark.requirement("BR-STORE-010")
    def test_versions_of_an_element_stop_at_the_snapshot(self, space: SpaceStore) -> None:
        for number, name in enumerate(("a", "b", "c"), start=1):
            write(space, concept("C-1", name=name, version=number))
        with space.snapshot(2) as snapshot:
            assert [(seq, version.body["name"]) for seq, version in snapshot.versions("C-1")] == [(1, "a"), (2, "b")]
            assert snapshot.versions("C-2") == snapshot.versions("nonsense") == []
