"""Hidden and absent are one: whatever is asked, in whatever way, the answer is that of a Space without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from brain.store.base import ElementId, Store
from tests.kip.governance.worlds import GUEST, answers, engine_over, partly_hidden, two_stores, without
from tests.kip.graph import Graph
from tests.kip.read.strategies import blocks, chance

Partly = tuple[Graph, frozenset[ElementId]]
Command = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    pair = two_stores(tmp_path_factory.mktemp("existence"))
    yield pair
    for store in pair:
        store.close()


def finds(block: str, names: list[str]) -> list[Command]:
    first = f"?{names[0]}"
    listed = ", ".join(f"?{name}" for name in names)
    return [
        (f"FIND({listed}) WHERE {{ {block} }}", {}),
        (f"FIND({first}.name, {first}.id) WHERE {{ {block} }} ORDER BY {first}.name DESC LIMIT 3", {}),
        (
            f"FIND(COUNT({first}), COUNT(DISTINCT {first}.name), MIN({first}.id), MAX({first}.id)) WHERE {{ {block} }}",
            {},
        ),
        (f"FIND({first}.name, COUNT({first})) WHERE {{ {block} }}", {}),
        (f"FIND({listed}) WHERE {{ {block} }} AS OF SEQ 1", {}),
    ]


def others(graph: Graph, hidden: frozenset[ElementId]) -> list[Command]:
    """Every other way to look, at hidden and at visible elements alike."""
    asked: list[Command] = [
        ('SEARCH CONCEPT "N1 N2 Person"', {}),
        ('SEARCH PROPOSITION "knows speaks en"', {}),
        ('SEARCH ASSERTION "knows speaks en" LIMIT 2', {}),
        ('SEARCH EVIDENCE "spoke wrote" LIMIT 1', {}),
        ('FIND(?c, ?c.name) WHERE { ?c SEARCH CONCEPT "N1" LIMIT 2 }', {}),
        ("CHANGES AFTER SEQ 0", {}),
        ("CHANGES AFTER SEQ 0 LIMIT 1", {}),
        ("HISTORY SPACE", {}),
        ('DESCRIBE PRIMER MODE "full"', {}),
        ("DESCRIBE SPACE", {}),
        ("DESCRIBE SNAPSHOT AS OF SEQ 1", {}),
        ("DESCRIBE TRANSACTION :tx", {"tx": "kip:space:default#2"}),
        ("DESCRIBE ACCESS", {}),
        ("EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }", {}),
        ('EXPORT CAPSULE ?x WHERE { ?x ASSERTION {} } WITH {closure: "closed"}', {}),
        ("FIND(?x, ?x.evidence, ?x.lifecycle) WHERE { ?x ASSERTION {} }", {}),
        ("FIND(?x) WHERE { ?x ACTIVITY {} }", {}),
        ("FIND(?x) WHERE { ?x EVIDENCE {} }", {}),
        ('FIND(?s, ?e) WHERE { ?e STRUCTURAL (?s, "has_step", ?t) }', {}),
        ('FIND(?s, ?e.index, ?t) WHERE { ?e STRUCTURAL (?s, "involves", ?t) }', {}),
        ('FIND(?s, ?t) WHERE { STRUCTURAL (?s, "derived_from", ?t) }', {}),
        ('FIND(?s.id, ?d.id) WHERE { (?s, "knows"{1,3}, ?d) }', {}),
    ]
    ids = sorted(graph.bodies)
    for element_id in ids:
        asked += [
            ("HISTORY ELEMENT :e", {"e": element_id}),
            ('DESCRIBE ACCESS WITH {resource: :e, operation: "read"}', {"e": element_id}),
            ("LIST DEPENDENTS :e DEPTH 4", {"e": element_id}),
        ]
    for concept in (i for i in ids if i.startswith("C-")):
        asked += [
            (
                f'FIND(?b) WHERE {{ ?b BELIEF SLOT (:c, "{predicate}") }} WITH EPISTEMIC {{explanation: "ledger"}}',
                {"c": concept},
            )
            for predicate in ("knows", "speaks")
        ]
        asked += [
            ('TRANSITION :c TO "archived"', {"c": concept}),
            ("UPDATE :c SET ATTRIBUTES {age: 9}", {"c": concept}),
            ('ASSERT (:c, "speaks", "xx") {by: :c, mode: "stated"}', {"c": concept}),
            ('UPSERT CONCEPT ?u { MATCH {id: :c} SET FIELDS {name: "new"} }', {"c": concept}),
        ]
    for proposition in (i for i in ids if i.startswith("P-")):
        asked.append(("FIND(?b) WHERE { ?p (id: :p) ?b BELIEF (?p) }", {"p": proposition}))
    for claim in (i for i in ids if i.startswith("A-")):
        asked.append(('TRANSITION :a TO "retracted"', {"a": claim}))
    return asked


@pytest.mark.requirement("KI-GOV-015", "KI-GOV-019", "KI-SEC-006", "KI-GOV-017", "KI-SEC-005")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(world=partly_hidden(), queries=st.lists(blocks(), min_size=1, max_size=3))
def test_a_query_answers_as_if_what_is_hidden_had_never_been(
    stores: tuple[Store, Store], world: Partly, queries: Any
) -> None:
    graph, hidden = world
    commands = [command for block, names in queries for command in finds(block, names)]
    with engine_over(graph, hidden, stores[0]) as full, engine_over(without(graph, hidden), hidden, stores[1]) as less:
        for command, values in commands:
            note(command)
            assert answers(full, [(command, values)]) == answers(less, [(command, values)])


@pytest.mark.requirement("KI-GOV-015", "KI-GOV-022", "KI-SEC-014", "KI-GOV-017", "KI-SEC-005", "KI-BELIEF-056")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(world=partly_hidden())
def test_belief_search_history_changes_and_errors_do_too(stores: tuple[Store, Store], world: Partly) -> None:
    graph, hidden = world
    with engine_over(graph, hidden, stores[0]) as full, engine_over(without(graph, hidden), hidden, stores[1]) as less:
        for command, values in others(graph, hidden):
            note(f"{command} {values}")
            dry = (
                {"options": {"dry_run": True}}
                if command.split()[0] in ("UPDATE", "TRANSITION", "ASSERT", "UPSERT")
                else {}
            )
            pair = [engine.run(command, values, session=GUEST, **dry).response for engine in (full, less)]
            assert _comparable(pair[0]) == _comparable(pair[1])


def _comparable(response: Any) -> Any:
    """A response without the one member that is made at random, the id of a transaction that changed nothing."""
    for result in response["results"]:
        assert result.get("error", {}).get("code") != "InvalidSyntax"
        if "receipt" in result:
            result["receipt"] = {
                name: value for name, value in result["receipt"].items() if name not in ("receipt_digest", "tx_id")
            }
    return response


WRITES = (
    'ASSERT ?n (:c, "speaks", "xx") {by: :d, mode: "stated"}',
    'UPDATE :c SET ATTRIBUTES {age: 9} SET FIELDS {name: "N2"}',
    'UPSERT CONCEPT ?n { MATCH {id: :c} SET FIELDS {name: "N1"} }',
    'TRANSITION :c TO "archived"',
    'TRANSITION :a TO "retracted"',
    "MERGE CONCEPT :c INTO :d",
    'CREATE CONCEPT ?n { TYPE "Person" NAME "N1" SET STRUCTURAL { ("involves", :c) } }',
    'UPDATE ?x SET ATTRIBUTES {age: 3} WHERE { ?x {name: "N1"} } LIMIT 2',
    'TRANSITION ?x TO "retracted" WHERE { ?x ASSERTION {} } LIMIT 2',
)


@pytest.mark.requirement("KI-GOV-015", "KI-GOV-019", "KI-SEC-014")
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(world=partly_hidden(), seed=st.integers(0, 2**32))
def test_a_write_does_what_it_would_do_without_what_is_hidden(
    stores: tuple[Store, Store], world: Partly, seed: int
) -> None:
    graph, hidden = world
    at = chance(seed)
    chosen = [(at.choice(WRITES), at.randint(1, 7), at.randint(1, 7)) for _ in range(4)]
    with engine_over(graph, hidden, stores[0]) as full, engine_over(without(graph, hidden), hidden, stores[1]) as less:
        for command, one, other in chosen:
            values = {"c": f"C-{one}", "d": f"C-{other}", "a": f"A-{one}"}
            used = {name: value for name, value in values.items() if f":{name}" in command}
            note(f"{command} {used}")
            pair = [engine.run(command, used, session=GUEST).response for engine in (full, less)]
            assert _comparable(pair[0]) == _comparable(pair[1])
        for command, values in others(graph, hidden):
            if command.split()[0] in ("FIND", "SEARCH", "CHANGES", "HISTORY"):
                note(f"{command} {values}")
                assert answers(full, [(command, values)]) == answers(less, [(command, values)])
