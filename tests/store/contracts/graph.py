"""What every store promises of elements, references, controls and commits at the head of a Space."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brain import errors
from brain.ids import object_key
from brain.store.base import (
    Edge,
    EdgeScan,
    Element,
    Kind,
    Lookups,
    Scan,
    SearchQuery,
    Snapshot,
    SpaceStore,
    TupleScan,
    WorkStatus,
)
from brain.times import timestamp
from tests.store.building import (
    FRIENDS,
    KNOWS,
    LIVES_IN,
    MEMORY,
    PERSON,
    PLACE,
    activity,
    assertion,
    commit_of,
    concept,
    element,
    erase,
    evidence,
    proposition,
    ref,
    stub,
    symbol,
    write,
    write_in,
)

CITY = "attributes", "city"


def ids(elements: object) -> list[str]:
    return [found.id for found in elements]  # type: ignore[attr-defined]


def small_world() -> list[Element]:
    """Two Persons, a Place, what is said of them and by what."""
    return [
        concept("C-1", key="alice", name="Alice", attributes={"city": "Oslo", "age": 41, "active": True}),
        concept("C-2", key="bob", name="Bob", attributes={"city": "Rome", "age": 1, "score": 1.5}),
        concept("C-3", PLACE, key="oslo", name="Oslo", canonical_id="geo:1", attributes={"city": None}),
        concept("C-4", key="alicia", name="Alice", state="archived"),
        proposition("P-1", "C-1", KNOWS, ref("C-2")),
        proposition("P-2", "C-1", LIVES_IN, ref("C-3")),
        proposition("P-3", "C-1", f"{MEMORY}/timezone", "+01:00"),
        proposition("P-4", "C-2", LIVES_IN, ref("C-3"), state="archived"),
        assertion("A-1", "P-1", "C-1", evidence=[{"id": "E-1", "role": "support"}]),
        assertion("A-2", "P-1", "C-2", lifecycle={"status": "retracted"}),
        assertion("A-3", "P-2", "C-1", context_refs=[ref("C-3"), ref("C-2")], state="archived"),
        evidence("E-1", "Alice knows Bob", source=[ref("C-1")], generated_by=ref("X-1")),
        evidence("E-2", {"lines": ["one", "two"]}, evidence_class="tool_result"),
        activity("X-1", "ingestion", inputs=[ref("E-2")], outputs=[ref("E-1")], associated_actors=[ref("C-1")]),
        activity("X-2", "inference", status="pending"),
    ]


@pytest.fixture
def world(space: SpaceStore) -> SpaceStore:
    write(space, *small_world())
    return space


SCANS = {
    "a kind": (Scan(Kind.CONCEPT), ["C-1", "C-2", "C-3"]),
    "no state": (Scan(Kind.CONCEPT, states=frozenset()), []),
    "every state": (Scan(Kind.CONCEPT, states=None), ["C-1", "C-2", "C-3", "C-4"]),
    "some states": (Scan(Kind.CONCEPT, states=frozenset({"archived", "purged"})), ["C-4"]),
    "a type": (Scan(Kind.CONCEPT, lineages=frozenset({PERSON})), ["C-1", "C-2"]),
    "two types": (Scan(Kind.CONCEPT, lineages=frozenset({PERSON, PLACE})), ["C-1", "C-2", "C-3"]),
    "two types in every state": (
        Scan(Kind.CONCEPT, lineages=frozenset({PERSON, PLACE}), states=None),
        ["C-1", "C-2", "C-3", "C-4"],
    ),
    "no type": (Scan(Kind.CONCEPT, lineages=frozenset()), []),
    "an unknown type": (Scan(Kind.CONCEPT, lineages=frozenset({"kip://x/Y"})), []),
    "a predicate": (Scan(Kind.PROPOSITION, lineages=frozenset({KNOWS})), ["P-1"]),
    "a predicate is no type": (Scan(Kind.CONCEPT, lineages=frozenset({KNOWS})), []),
    "a key": (Scan(Kind.CONCEPT, key="alice"), ["C-1"]),
    "a key of a type": (Scan(Kind.CONCEPT, lineages=frozenset({PERSON}), key="oslo"), []),
    "a name": (Scan(Kind.CONCEPT, name="Alice"), ["C-1"]),
    "a name in every state": (Scan(Kind.CONCEPT, name="Alice", states=None), ["C-1", "C-4"]),
    "a name and a key": (Scan(Kind.CONCEPT, name="Alice", key="alicia", states=None), ["C-4"]),
    "another case of a name": (Scan(Kind.CONCEPT, name="alice"), []),
    "a canonical id": (Scan(Kind.CONCEPT, canonical_id="geo:1"), ["C-3"]),
    "a class": (Scan(Kind.EVIDENCE, classes=frozenset({"tool_result"})), ["E-2"]),
    "an activity's class": (Scan(Kind.ACTIVITY, classes=frozenset({"inference", "ingestion"})), ["X-1", "X-2"]),
    "a class is no lineage": (Scan(Kind.EVIDENCE, lineages=frozenset({"tool_result"})), []),
    "an assertion's status": (Scan(Kind.ASSERTION, statuses=frozenset({"active"})), ["A-1"]),
    "two statuses": (
        Scan(Kind.ASSERTION, statuses=frozenset({"active", "retracted"}), states=None),
        ["A-1", "A-2", "A-3"],
    ),
    "an activity's status": (Scan(Kind.ACTIVITY, statuses=frozenset({"pending"})), ["X-2"]),
    "a string member": (Scan(Kind.CONCEPT, members=((CITY, "Oslo"),)), ["C-1"]),
    "a number member": (Scan(Kind.CONCEPT, members=((("attributes", "age"), 41),)), ["C-1"]),
    "a number in another spelling": (Scan(Kind.CONCEPT, members=((("attributes", "age"), 41.0),)), ["C-1"]),
    "a fraction": (Scan(Kind.CONCEPT, members=((("attributes", "score"), 1.5),)), ["C-2"]),
    "a boolean member": (Scan(Kind.CONCEPT, members=((("attributes", "active"), True),)), ["C-1"]),
    "a boolean is no number": (Scan(Kind.CONCEPT, members=((("attributes", "age"), True),)), []),
    "a number is no boolean": (Scan(Kind.CONCEPT, members=((("attributes", "active"), 1),)), []),
    "a number is no string": (Scan(Kind.CONCEPT, members=((("attributes", "age"), "41"),)), []),
    "null equals nothing": (Scan(Kind.CONCEPT, members=((CITY, "null"),)), []),
    "an absent member": (Scan(Kind.CONCEPT, members=((("attributes", "nowhere"), "x"),)), []),
    "a member of a reference": (Scan(Kind.ASSERTION, members=((("asserted_by", "id"), "C-2"),)), ["A-2"]),
    "a member in a type": (
        Scan(Kind.CONCEPT, lineages=frozenset({PERSON, PLACE}), members=((CITY, "Rome"),)),
        ["C-2"],
    ),
    "two members": (Scan(Kind.CONCEPT, members=((CITY, "Oslo"), (("attributes", "age"), 42))), []),
    "what comes after": (Scan(Kind.CONCEPT, after=1), ["C-2", "C-3"]),
    "the first": (Scan(Kind.CONCEPT, limit=2), ["C-1", "C-2"]),
    "the first of two types": (
        Scan(Kind.CONCEPT, lineages=frozenset({PERSON, PLACE}), after=1, limit=1),
        ["C-2"],
    ),
    "none": (Scan(Kind.CONCEPT, limit=0), []),
}

TUPLES = {
    "a subject": (TupleScan(subjects=frozenset({"C-1"})), ["P-1", "P-2", "P-3"]),
    "a subject and a predicate": (TupleScan(frozenset({"C-1"}), frozenset({KNOWS})), ["P-1"]),
    "predicates": (TupleScan(predicates=frozenset({KNOWS, LIVES_IN})), ["P-1", "P-2"]),
    "an object": (TupleScan(objects=frozenset({"C-3"})), ["P-2"]),
    "an object in every state": (TupleScan(objects=frozenset({"C-3"}), states=None), ["P-2", "P-4"]),
    "a literal": (TupleScan(objects=frozenset({'"+01:00"'})), ["P-3"]),
    "all three": (TupleScan(frozenset({"C-1", "C-2"}), frozenset({KNOWS}), frozenset({"C-2"})), ["P-1"]),
    "many subjects, one object": (
        TupleScan(frozenset({"C-1", "C-2", "C-9"}), None, frozenset({"C-3"}), None),
        ["P-2", "P-4"],
    ),
    "pairs": (
        TupleScan(states=None, pairs=frozenset({("C-1", "C-2"), ("C-1", '"+01:00"'), ("C-2", "C-2")})),
        ["P-1", "P-3"],
    ),
    "pairs of a predicate": (
        TupleScan(predicates=frozenset({KNOWS}), pairs=frozenset({("C-1", "C-2"), ("C-1", "C-3"), ("x", "C-2")})),
        ["P-1"],
    ),
    "no pairs": (TupleScan(pairs=frozenset()), []),
    "nobody": (TupleScan(subjects=frozenset()), []),
    "no element id": (TupleScan(subjects=frozenset({"alice"})), []),
    "no condition": (TupleScan(), ["P-1", "P-2", "P-3"]),
    "archived ones": (TupleScan(states=frozenset({"archived"})), ["P-4"]),
}


class GraphContract:
    def test_an_element_is_read_as_it_was_written(self, space: SpaceStore) -> None:
        odd = {"é\"'\\.$": [None, True, 1.5, -0.25, 2**53 - 1, {"": "\u0000\n𝄞 \U0010ffff"}], "deep": [[[[]]]]}
        alice = concept("C-1", name="Ålice", attributes=odd, aliases=["a", "b"], facets={})
        write(space, alice)
        with space.snapshot() as snapshot:
            assert snapshot.elements(["C-1"]) == {"C-1": alice}

    def test_ids_that_do_not_exist_are_left_out(self, world: SpaceStore) -> None:
        with world.snapshot() as snapshot:
            asked = ["C-1", "C-99", "C-01", "c-1", "C-1 ", "C-0", "Z-1", "C", "", "C-9999999999999999999999", "C-1"]
            assert snapshot.elements(asked).keys() == {"C-1"}
            assert snapshot.elements([]) == {}
            assert snapshot.elements(["C-4", "P-1", "X-1"]).keys() == {"C-4", "P-1", "X-1"}

    @pytest.mark.parametrize("name", SCANS)
    def test_a_scan_gives_what_meets_every_condition_in_order(self, world: SpaceStore, name: str) -> None:
        query, expected = SCANS[name]
        with world.snapshot() as snapshot:
            assert ids(snapshot.scan(query)) == expected
            assert snapshot.count(query) == len(expected)

    def test_a_member_whose_name_no_path_can_spell_is_compared_too(self, space: SpaceStore) -> None:
        write(space, concept("C-1", attributes={'a"b': "x", "c\\d": 1}), concept("C-2", attributes={'a"b': "y"}))
        with space.snapshot() as snapshot:
            for path, value in ((("attributes", 'a"b'), "x"), (("attributes", "c\\d"), 1)):
                query = Scan(Kind.CONCEPT, members=((path, value),))
                assert ids(snapshot.scan(query)) == ["C-1"]
                assert snapshot.count(query) == 1
                assert ids(snapshot.scan(replace(query, lineages=frozenset({PERSON}), limit=5))) == ["C-1"]

    def test_a_long_scan_is_streamed_in_order_over_all_its_types(self, space: SpaceStore) -> None:
        lineages = [PERSON, PLACE, f"{MEMORY}/Event"]
        write(space, *(concept(f"C-{n}", lineages[n % 3], attributes={"n": n}) for n in range(1, 1801)))
        with space.snapshot() as snapshot:
            every = [f"C-{n}" for n in range(1, 1801)]
            assert ids(snapshot.scan(Scan(Kind.CONCEPT))) == every
            assert ids(snapshot.scan(Scan(Kind.CONCEPT, lineages=frozenset(lineages)))) == every
            two = Scan(Kind.CONCEPT, lineages=frozenset(lineages[:2]), after=100, limit=900)
            assert ids(snapshot.scan(two)) == [i for i in every[100:] if int(i[2:]) % 3 < 2][:900]
            assert snapshot.count(replace(two, limit=None)) == 1133

    @pytest.mark.requirement("BR-STORE-012")
    @pytest.mark.parametrize("text", ["'; DROP TABLE element; --", '") OR 1=1 --', "%", "_", "?", ":at", "\\", "`}]"])
    def test_a_text_of_a_user_is_a_value_everywhere(self, space: SpaceStore, text: str) -> None:
        lineage = f"{MEMORY}/{text}"
        write(
            space,
            concept("C-1", lineage, key=text, name=text, canonical_id=text, attributes={text: text}),
            concept("C-2", key="k", name="n", canonical_id="c", attributes={"a": "v"}),
            proposition("P-1", "C-1", KNOWS, text),
            evidence("E-1", text, evidence_class=text, source=[ref(text)]),
            client_keys={"C-1": text},
            **{text: {"text": text}},
        )
        with space.snapshot() as snapshot:
            for query in (
                Scan(Kind.CONCEPT, lineages=frozenset({lineage})),
                Scan(Kind.CONCEPT, key=text),
                Scan(Kind.CONCEPT, name=text),
                Scan(Kind.CONCEPT, canonical_id=text),
                Scan(Kind.CONCEPT, members=((("attributes", text), text),)),
            ):
                assert ids(snapshot.scan(query)) == ["C-1"]
                assert ids(snapshot.scan(replace(query, states=frozenset({text})))) == []
            assert ids(snapshot.tuples(TupleScan(objects=frozenset({object_key(text)})))) == ["P-1"]
            assert ids(snapshot.scan(Scan(Kind.EVIDENCE, classes=frozenset({text})))) == ["E-1"]
            assert snapshot.by_client_key(Kind.CONCEPT, text) == snapshot.elements(["C-1"])["C-1"]
            assert snapshot.control(text) == {"text": text}
            assert snapshot.edges(EdgeScan(sources=frozenset({"E-1", text}), fields=frozenset({text}))) == []
        with space.transaction() as transaction:
            transaction.set(text, text, {text: text})
            work_id = transaction.enqueue(text, {text: text})
            transaction.update_work(work_id, status=WorkStatus.FAILED, note=text)
            assert transaction.acquire_lease(text, text, ttl_ms=1, now_ms=0) is not None
            assert transaction.scan_state(text, prefix=text) == [(text, {text: text})]
            assert [work.note for work in transaction.work(text)] == [text]

    @pytest.mark.parametrize("name", TUPLES)
    def test_tuples_are_found_by_any_of_their_ends(self, world: SpaceStore, name: str) -> None:
        query, expected = TUPLES[name]
        with world.snapshot() as snapshot:
            assert ids(snapshot.tuples(query)) == expected

    @pytest.mark.parametrize("expected", [{"claims": True}, {"hops": 2}, {"hops": 9}], ids=str)
    def test_what_is_expected_changes_no_answer(self, world: SpaceStore, expected: Any) -> None:
        write(world, proposition("P-5", "C-2", KNOWS, ref("C-1")), assertion("A-4", "P-1", "C-2"))
        made = EdgeScan(fields=frozenset({"outputs"}), targets=frozenset({"E-1", "A-1"}))
        maker = EdgeScan(sources=frozenset({"E-1"}), fields=frozenset({"generated_by"}))
        for name in ("a subject and a predicate", "an object", "all three", "nobody"):
            with world.snapshot(1) as snapshot:
                snapshot.expect(TUPLES[name][0], **expected)
                for asked, found in TUPLES.values():
                    assert ids(snapshot.tuples(asked)) == found
                assert ids(snapshot.assertions(["P-1", "P-2"])) == ["A-1", "A-2", "A-3"]
                assert snapshot.edges(made) == [Edge("X-1", "outputs", "E-1", 0, None)]
                assert snapshot.edges(maker) == [Edge("E-1", "generated_by", "X-1", 0, None)]
                assert snapshot.elements(["C-1", "P-1", "E-1", "C-77"]).keys() == {"C-1", "P-1", "E-1"}

    @pytest.mark.parametrize("assumed", [False, True])
    def test_what_a_transaction_looked_ahead_for_changes_no_answer(self, world: SpaceStore, assumed: bool) -> None:
        lineages, literal = frozenset({KNOWS, LIVES_IN}), '"+01:00"'
        lookups = Lookups(
            frozenset({"C-1", "P-1", "C-99"}),
            frozenset({"nobody", *(query.key for query, _ in SCANS.values() if query.key)}),
            frozenset((subject, lineages, far) for subject in ("C-1", "C-2") for far in ("C-2", "C-3", literal)),
        )
        with world.transaction(assumed=assumed) as transaction:
            transaction.look_ahead(lambda: lookups)
            for asked, found in SCANS.values():
                assert ids(transaction.scan(asked)) == found
            for query, found in TUPLES.values():
                assert ids(transaction.tuples(query)) == found
            assert transaction.elements(["C-1", "C-2", "C-99"]).keys() == {"C-1", "C-2"}
            made = [concept("C-7", PLACE, key="alice"), proposition("P-7", "C-1", KNOWS, ref("C-2"))]
            write_in(transaction, [*made, concept("C-1", version=2, key="alice", state="archived")])
            assert ids(transaction.scan(Scan(Kind.CONCEPT, key="alice"))) == ["C-7"]
            assert ids(transaction.scan(Scan(Kind.CONCEPT, key="alice", states=None))) == ["C-1", "C-7"]
            assert ids(transaction.tuples(TUPLES["pairs of a predicate"][0])) == ["P-1", "P-7"]

    def test_literals_are_told_apart_by_value_and_datatype(self, space: SpaceStore) -> None:
        literals = [1, "1", True, None, "true", "é", "a" * 100_000, "a" * 100_001, 1.5]
        write(space, *(proposition(f"P-{n}", "C-1", KNOWS, value) for n, value in enumerate(literals, 1)))
        keys = ["1", '"1"', "true", "null", '"true"', '"é"', f'"{"a" * 100_000}"', f'"{"a" * 100_001}"', "1.5"]
        with space.snapshot() as snapshot:
            for number, key in enumerate(keys, 1):
                assert ids(snapshot.tuples(TupleScan(objects=frozenset({key})))) == [f"P-{number}"]

    def test_assertions_of_propositions_come_in_every_state_and_status(self, world: SpaceStore) -> None:
        with world.snapshot() as snapshot:
            assert ids(snapshot.assertions(["P-1"])) == ["A-1", "A-2"]
            assert ids(snapshot.assertions(["P-2", "P-1", "P-9", "C-1", "x"])) == ["A-1", "A-2", "A-3"]
            assert snapshot.assertions([]) == []

    def test_every_reference_of_core_is_an_edge(self, world: SpaceStore) -> None:
        with world.snapshot() as snapshot:
            assert snapshot.edges(EdgeScan(sources=frozenset({"A-1", "A-3", "P-1", "X-1", "E-1"}))) == [
                Edge("P-1", "object", "C-2", 0),
                Edge("P-1", "subject", "C-1", 0),
                Edge("A-1", "asserted_by", "C-1", 0),
                Edge("A-1", "evidence", "E-1", 0, "support"),
                Edge("A-1", "proposition", "P-1", 0),
                Edge("E-1", "generated_by", "X-1", 0),
                Edge("E-1", "source", "C-1", 0),
                Edge("X-1", "associated_actors", "C-1", 0),
                Edge("X-1", "inputs", "E-2", 0),
                Edge("X-1", "outputs", "E-1", 0),
                Edge("A-3", "asserted_by", "C-1", 0),
                Edge("A-3", "context", "C-3", 0),
                Edge("A-3", "context", "C-2", 1),
                Edge("A-3", "proposition", "P-2", 0),
            ]

    def test_edges_are_found_by_source_field_and_target(self, world: SpaceStore) -> None:
        with world.snapshot() as snapshot:

            def found(**query: set[str]) -> list[tuple[str, str]]:
                scan = EdgeScan(**{name: frozenset(wanted) for name, wanted in query.items()})
                return [(edge.source, edge.field) for edge in snapshot.edges(scan)]

            assert found(targets={"E-1"}) == [("A-1", "evidence"), ("X-1", "outputs")]
            assert found(targets={"C-3"}, fields={"object"}) == [("P-2", "object"), ("P-4", "object")]
            assert found(sources={"A-3", "A-1"}, targets={"C-2"}) == [("A-3", "context")]
            assert found(sources={"A-3"}, fields={"context"}) == [("A-3", "context")] * 2
            assert found(fields={"generated_by"}) == [("E-1", "generated_by")]
            assert found(fields={"nothing"}) == found(sources=set()) == found(targets={"x"}) == []

    def test_edges_follow_a_new_version(self, space: SpaceStore) -> None:
        has, keeps = f"{MEMORY}/has", f"{MEMORY}/keeps"
        first = {symbol(has): [ref("C-2"), ref("C-3")], symbol(keeps): [ref("C-2")]}
        write(space, concept("C-1", structural=first))
        second = {symbol(has): [ref("C-3"), ref("C-2"), ref("C-4")]}
        write(space, concept("C-1", version=2, structural=second, merged_into=ref("C-9")))
        with space.snapshot() as snapshot:
            assert snapshot.edges(EdgeScan(sources=frozenset({"C-1"}))) == [
                Edge("C-1", has, "C-3", 0),
                Edge("C-1", has, "C-2", 1),
                Edge("C-1", has, "C-4", 2),
                Edge("C-1", "merged_into", "C-9", 0),
            ]
            assert snapshot.edges(EdgeScan(targets=frozenset({"C-2"}))) == [Edge("C-1", has, "C-2", 1)]
        with space.snapshot(1) as snapshot:
            assert snapshot.edges(EdgeScan(sources=frozenset({"C-1"}))) == [
                Edge("C-1", has, "C-2", 0),
                Edge("C-1", has, "C-3", 1),
                Edge("C-1", keeps, "C-2", 0),
            ]
            assert snapshot.edges(EdgeScan(targets=frozenset({"C-4"}))) == []

    def test_two_versions_of_a_structural_symbol_are_one_field(self, space: SpaceStore) -> None:
        structural = {symbol(FRIENDS, "1.0.0"): [ref("C-2")], symbol(FRIENDS, "1.1.0"): [ref("C-3")]}
        write(space, concept("C-1", structural=structural))
        with space.snapshot() as snapshot:
            assert snapshot.edges(EdgeScan(fields=frozenset({FRIENDS}))) == [
                Edge("C-1", FRIENDS, "C-2", 0),
                Edge("C-1", FRIENDS, "C-3", 1),
            ]

    def test_an_element_is_found_by_its_client_key(self, space: SpaceStore) -> None:
        keys = {"E-1": "message:1", "C-1": "message:1"}
        write(space, evidence("E-1", "hello"), concept("C-1"), evidence("E-2", "other"), client_keys=keys)
        with space.snapshot() as snapshot:
            for kind, expected in ((Kind.EVIDENCE, "E-1"), (Kind.CONCEPT, "C-1")):
                found = snapshot.by_client_key(kind, "message:1")
                assert found is not None
                assert found.id == expected
            assert snapshot.by_client_key(Kind.ASSERTION, "message:1") is None
            assert snapshot.by_client_key(Kind.EVIDENCE, "message:2") is None
        erase(space, stub(evidence("E-1", "hello")))
        with space.snapshot() as snapshot:
            found = snapshot.by_client_key(Kind.EVIDENCE, "message:1")
            assert found is not None
            assert found.state == "purged"
        with space.snapshot(0) as snapshot:
            assert snapshot.by_client_key(Kind.EVIDENCE, "message:1") is None

    def test_merges_are_told_one_step_each(self, space: SpaceStore) -> None:
        write(space, *(concept(f"C-{n}") for n in range(1, 5)))
        write(space, concept("C-1", version=2, state="merged", merged_into=ref("C-2")))
        write(space, concept("C-2", version=2, state="merged", merged_into=ref("C-3")))
        with space.snapshot() as snapshot:
            assert snapshot.merges() == {"C-1": "C-2", "C-2": "C-3"}
        with space.snapshot(2) as snapshot:
            assert snapshot.merges() == {"C-1": "C-2"}
        write(space, concept("C-1", version=3, merged_into=None))
        with space.snapshot() as snapshot:
            assert snapshot.merges() == {"C-2": "C-3"}

    def test_active_elements_are_counted_as_they_come_and_go(self, space: SpaceStore) -> None:
        def counts() -> dict[Kind, int]:
            with space.snapshot() as snapshot:
                return {kind: number for kind, number in snapshot.counts().items() if number}

        assert counts() == {}
        write(space, concept("C-1"), concept("C-2"), evidence("E-1", "x"))
        assert counts() == {Kind.CONCEPT: 2, Kind.EVIDENCE: 1}
        write(space, concept("C-1", version=2, state="archived"), concept("C-3", state="archived"))
        assert counts() == {Kind.CONCEPT: 1, Kind.EVIDENCE: 1}
        write(space, concept("C-1", PLACE, version=3))
        assert counts() == {Kind.CONCEPT: 2, Kind.EVIDENCE: 1}
        with space.snapshot() as snapshot:
            assert snapshot.count(Scan(Kind.CONCEPT, lineages=frozenset({PERSON}))) == 1
            assert snapshot.count(Scan(Kind.CONCEPT, lineages=frozenset({PERSON}), states=None)) == 2
        erase(space, stub(evidence("E-1", "x")))
        assert counts() == {Kind.CONCEPT: 2}

    def test_a_control_document_is_read_as_of_the_snapshot(self, space: SpaceStore) -> None:
        write(space, schema={"v": 1})
        write(space, policies={"p": 1})
        write(space, schema={"v": 2})
        expected = {0: (None, None), 1: ({"v": 1}, None), 2: ({"v": 1}, {"p": 1}), 3: ({"v": 2}, {"p": 1})}
        for seq, documents in expected.items():
            with space.snapshot(seq) as snapshot:
                assert (snapshot.control("schema"), snapshot.control("policies")) == documents
        with space.transaction() as transaction:
            transaction.put_control("schema", {"v": 3})
            assert transaction.control("schema") == {"v": 3}
            transaction.put_control("schema", {"v": 4})
            assert transaction.control("schema") == {"v": 4}
            transaction.record(commit_of(4))

    @pytest.mark.requirement("KI-TX-031")
    def test_commits_are_kept_whole_and_read_in_pages(self, space: SpaceStore) -> None:
        for number in range(1, 8):
            write(space, concept(f"C-{number}"))
        with space.snapshot() as snapshot:

            def seqs(**page: int) -> list[int]:
                return [commit.seq for commit in snapshot.commits(**page)]

            assert snapshot.commit(3) == snapshot.commit_by_tx("kip:space:demo#3") == commit_of(3)
            assert snapshot.commit(0) is snapshot.commit(8) is snapshot.commit_by_tx("nothing") is None
            assert seqs() == [1, 2, 3, 4, 5, 6, 7]
            assert seqs(after=2, limit=3) == [3, 4, 5]
            assert seqs(after=2, until=4) == [3, 4]
            assert seqs(after=7) == seqs(after=3, until=3) == seqs(limit=0) == []
        with space.snapshot(4) as snapshot:
            assert [commit.seq for commit in snapshot.commits()] == [1, 2, 3, 4]
            assert [commit.seq for commit in snapshot.commits(until=9)] == [1, 2, 3, 4]
            assert snapshot.commit(5) is snapshot.commit_by_tx("kip:space:demo#5") is None

    def test_a_moment_leads_to_the_last_commit_that_was_made_by_then(self, space: SpaceStore) -> None:
        for seq, second in ((1, 10), (2, 20), (3, 20), (4, 15)):
            with space.transaction() as transaction:
                transaction.put([concept(f"C-{seq}")])
                transaction.record(replace(commit_of(seq), committed_at=timestamp(second * 1000)))

        def at(snapshot: Snapshot, second: int) -> int | None:
            commit = snapshot.commit_at(timestamp(second * 1000))
            return None if commit is None else commit.seq

        with space.snapshot() as snapshot:
            assert [at(snapshot, second) for second in (9, 10, 14, 15, 19, 20, 99)] == [None, 1, 1, 4, 4, 4, 4]
        with space.snapshot(3) as snapshot:
            assert [at(snapshot, second) for second in (9, 10, 19, 20, 99)] == [None, 1, 1, 3, 3]


class ErasureContract:
    @pytest.mark.requirement("BR-STORE-015")
    def test_an_erased_element_has_its_stub_in_every_version(self, space: SpaceStore) -> None:
        write(space, concept("C-1", key="secret", name="Secret", attributes={"city": "Hidden"}))
        write(space, concept("C-1", version=2, key="secret", name="Second", structural={symbol(FRIENDS): [ref("C-2")]}))
        write(space, concept("C-2", name="Other", structural={symbol(FRIENDS): [ref("C-1")]}))
        left = stub(concept("C-1", version=2))
        erase(space, left)
        for seq in (1, 2, 3, 4):
            with space.snapshot(seq) as snapshot:
                assert snapshot.elements(["C-1"]) == {"C-1": left}
                assert "C-1" not in ids(snapshot.scan(Scan(Kind.CONCEPT)))
                assert ids(snapshot.scan(Scan(Kind.CONCEPT, key="secret", states=None))) == []
                assert ids(snapshot.scan(Scan(Kind.CONCEPT, states=frozenset({"purged"})))) == ["C-1"]
                assert snapshot.edges(EdgeScan(sources=frozenset({"C-1"}))) == []
        with space.snapshot() as snapshot:
            assert [(seq, version) for seq, version in snapshot.versions("C-1")] == [(1, left), (2, left), (4, left)]
            assert [edge.source for edge in snapshot.edges(EdgeScan(targets=frozenset({"C-1"})))] == ["C-2"]
            for word in ("secret", "second", "hidden"):
                assert snapshot.search(SearchQuery(Kind.CONCEPT, word, None, 5)) == []
            assert snapshot.counts()[Kind.CONCEPT] == 1
        with space.snapshot(0) as snapshot:
            assert snapshot.elements(["C-1"]) == {}

    def test_what_survives_an_erasure_keeps_its_references_through_all_time(self, space: SpaceStore) -> None:
        whole = evidence("E-1", "a secret", source=[ref("C-1")])
        write(space, concept("C-1"), whole)
        left = element("E-1", version=2, **{**whole.body, "payload": {"status": "purged"}, "_system": None})
        body = {**left.body, "_system": {"version": 2, "state": "active"}}
        erase(space, replace(left, body=body))
        for seq in (1, 2):
            with space.snapshot(seq) as snapshot:
                assert snapshot.elements(["E-1"])["E-1"].body == body
                assert snapshot.edges(EdgeScan(sources=frozenset({"E-1"}))) == [Edge("E-1", "source", "C-1", 0)]
        with space.snapshot() as snapshot:
            assert snapshot.search(SearchQuery(Kind.EVIDENCE, "secret", None, 5)) == []
            assert snapshot.count(Scan(Kind.EVIDENCE, classes=frozenset({"message"}))) == 1
        with space.snapshot(0) as snapshot:
            assert snapshot.edges(EdgeScan(sources=frozenset({"E-1"}))) == []

    def test_an_element_can_be_erased_in_the_transaction_that_made_it(self, space: SpaceStore) -> None:
        with space.transaction() as transaction:
            transaction.put([concept("C-1", name="Secret")])
            transaction.erase([stub(concept("C-1"))])
            transaction.record(commit_of(1))
        with space.snapshot() as snapshot:
            assert [version.state for _, version in snapshot.versions("C-1")] == ["purged"]
            assert snapshot.search(SearchQuery(Kind.CONCEPT, "secret", None, 5)) == []

    def test_an_element_can_be_erased_in_a_transaction_that_changed_it(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Secret", structural={symbol(FRIENDS): [ref("C-2")]}))
        left = stub(concept("C-1", version=2))
        with space.transaction() as transaction:
            transaction.put([concept("C-1", name="Hidden", version=2, structural={symbol(KNOWS): [ref("C-3")]})])
            transaction.erase([left])
            transaction.record(commit_of(2))
        for seq in (1, 2):
            with space.snapshot(seq) as snapshot:
                assert snapshot.elements(["C-1"]) == {"C-1": left}
                assert snapshot.edges(EdgeScan()) == []
        with space.snapshot() as snapshot:
            assert snapshot.versions("C-1") == [(1, left), (2, left)]
            for word in ("secret", "hidden"):
                assert snapshot.search(SearchQuery(Kind.CONCEPT, word, None, 5)) == []

    def test_an_erasure_without_a_record_is_undone(self, space: SpaceStore) -> None:
        write(space, concept("C-1", name="Alice"))
        with pytest.raises(errors.InternalError), space.transaction() as transaction:
            transaction.erase([stub(concept("C-1"))])
        with space.snapshot() as snapshot:
            assert snapshot.elements(["C-1"])["C-1"].body["name"] == "Alice"
            assert [hit.id for hit in snapshot.search(SearchQuery(Kind.CONCEPT, "alice", None, 5))] == ["C-1"]
