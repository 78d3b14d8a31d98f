"""What the Neo4j store runs by itself is what running the plan step by step answers, and takes fewer round trips."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import count, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from brain.kip.context import Run
from brain.kip.parser import parse
from brain.kip.plan import plan_of
from brain.kip.planned import shown
from brain.kip.read import run_find
from brain.store.base import SpaceStore
from brain.store.neo4j import Neo4jStore, ahead, connection
from brain.store.neo4j.plans import record
from brain.store.sqlite import SqliteStore
from tests.kip.graph import Graph, find, reading
from tests.kip.read.strategies import blocks, chance, graphs
from tests.kip.read.test_plans import CASES, LINE
from tests.kip.read.test_pushdown import any_query, outcome, what_a_store_runs
from tests.laws import law
from tests.store.neo4j_service import fresh_store
from tests.store.test_neo4j_plans import asked, operators

__all__ = ["asked"]

LAW = law(25, by_night=1_000)
"""Most queries have a shape of their own, which Neo4j plans anew for each: few of them each time."""


_numbers = count()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path_factory.mktemp("here"), durability="normal")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        yield opened


@pytest.mark.requirement("KI-KQL-006", "KI-KQL-067")
@LAW
@given(graph=graphs(), queries=st.lists(blocks(), min_size=1, max_size=2), data=st.data())
def test_any_query_is_answered_as_step_by_step(store: Neo4jStore, graph: Graph, queries: Any, data: Any) -> None:
    any_query(store, graph, queries, data)


@pytest.mark.requirement("KI-KQL-006", "KI-KQL-048", "KI-KQL-050", "KI-KQL-067")
@LAW
@given(seed=st.integers(0, 2**32))
def test_what_a_store_runs_is_what_its_steps_answer(store: Neo4jStore, seed: int) -> None:
    what_a_store_runs(store, seed)


@pytest.mark.requirement("KI-KQL-006", "KI-KQL-067")
@LAW
@given(seed=st.integers(0, 2**32), most=st.integers(0, 6), few=st.integers(0, 6))
def test_more_rows_than_a_record_should_hold_are_found_step_by_step(
    store: Neo4jStore, here: SqliteStore, seed: int, most: int, few: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "MOST", most)
        patch.setattr(record, "MOST_COUNTED", most)
        patch.setattr(record, "FEW", few)
        patch.setattr(ahead, "_MOST", most + 1)
        patch.setattr(ahead, "_FEW", few)
        patch.setattr(ahead, "KEPT", few)
        what_a_store_runs(store, seed)
        either_store(store, here, seed)


# --- what is read ahead -----------------------------------------------------------------------------------------------

ASKED = (
    'FIND(?d.name, ?d) WHERE { ?a {id: "C-1"} (?a, "knows"{1,3}, ?d) }',
    'FIND(?d.id) WHERE { ?a {id: "C-2"} (?d, "knows"{1,6}, ?a) }',
    'FIND(?a.id, ?d.id) WHERE { ?a {type: "Person"} (?a, "knows"{2,} | "lives_in"{0,2}, ?d) }',
    'FIND(?b.status, ?b.accepted_values, ?b) WHERE { ?a {id: "C-1"} ?b BELIEF SLOT (?a, "lives_in") }',
    'FIND(?a.id, ?b) WHERE { ?a {type: "Person"} ?b BELIEF SLOT (?a, "speaks") }',
    'FIND(?p.id, ?b) WHERE { ?p (?a, "lives_in", ?o) ?b BELIEF (?p) }',
    'FIND(?b) WHERE { ?b BELIEF ("C-1", "knows", "C-2") }',
    'FIND(?o.id, ?b) WHERE { ?b BELIEF ("C-1", "lives_in", ?o) }',
    'FIND(?x.id, ?x._system.dependency_validity.status) WHERE { ?x ASSERTION {mode: "inferred"} }',
)
"""Queries that tell the store what they will ask next."""


def stated_graph(at: Random) -> Graph:
    """Persons and Places with tuples, and claims that rest on Evidence of every provenance; some merged, some of it
    corrected, some derived."""
    graph = Graph()
    people = [graph.concept("Person", name=f"N{number}") for number in range(at.randint(2, 6))]
    places = [graph.concept("Place", name=f"L{number}") for number in range(2)]
    activities = [graph.activity() for _ in range(2)]
    evidence: list[str] = []
    for _ in range(at.randint(0, 6)):
        members: dict[str, Any] = {}
        if at.random() < 0.5:
            members["source"] = [{"id": at.choice([*people, *evidence])}]
        if at.random() < 0.3:
            members["generated_by"] = {"id": at.choice(activities)}
        evidence.append(graph.evidence(**members))
    propositions = []
    for _ in range(at.randint(1, 14)):
        predicate = at.choice(["knows", "knows", "lives_in", "speaks"])
        values = {"knows": people, "lives_in": places, "speaks": ["en", "no", "x" * 300]}
        subject, value = at.choice(people), at.choice(values[predicate])
        if not graph.has_tuple(subject, predicate, value):
            propositions.append(
                graph.proposition(subject, predicate, value, state=at.choice(["active"] * 7 + ["archived"]))
            )
    claims = []
    for _ in range(at.randint(0, 12)):
        cited = at.sample(evidence, min(len(evidence), at.choice([0, 1, 2])))
        claim = graph.assertion(
            at.choice(propositions),
            at.choice(people),
            stance=at.choice(["support", "support", "reject"]),
            mode=at.choice(["stated", "observed", "inferred"]),
            confidence=at.choice([None, 0.5, 0.9]),
            evidence=[{"id": one, "role": "support"} for one in cited] or None,
        )
        claims.append(claim)
    for activity in activities:
        made = at.sample([*claims, *evidence], min(len(claims) + len(evidence), 2))
        graph.bodies[activity] |= {
            "outputs": [{"id": one} for one in made],
            "inputs": [{"id": one} for one in at.sample(evidence, min(len(evidence), 1))],
        }
    for one in evidence:
        if at.random() < 0.15:
            graph.bodies[one]["lifecycle"]["corrected_by"] = [{"id": at.choice(evidence)}]
    if at.random() < 0.2:
        graph.merge(people[-1], people[0])
    return graph


@pytest.mark.requirement("KI-KQL-006", "KI-BELIEF-012")
@LAW
@given(seed=st.integers(0, 2**32))
def test_what_is_read_ahead_is_what_is_asked_for(store: Neo4jStore, here: SqliteStore, seed: int) -> None:
    either_store(store, here, seed)


def either_store(store: Neo4jStore, here: SqliteStore, seed: int) -> None:
    """SQLite, which reads nothing ahead, answers the same."""
    at = chance(seed)
    graph, name = stated_graph(at), f"ahead{next(_numbers)}"
    spaces = [graph.store(store, name), graph.store(here, name)]
    if at.random() < 0.5:
        graph.bodies["C-1"]["name"] = "another"
        for proposition in [one for one in graph.bodies if one.startswith("P-")]:
            graph.bodies[proposition]["_system"]["state"] = at.choice(["active", "archived"])
        for space in spaces:
            graph.commit(space)
    seq = at.choice([None, None, 1])
    with reading(spaces[0], seq=seq) as far, reading(spaces[1], seq=seq) as near:
        for text in at.sample(ASKED, 4):
            note(text)
            # One snapshot answers several: what one has read the next may find at hand.
            assert outcome(text, far) == outcome(text, near)
    for space in spaces:
        space.close()


# --- round trips ------------------------------------------------------------------------------------------------------

TRIPS = {
    "a point": ('FIND(?a.name) WHERE { ?a {type: "Person", key: "a"} }', 1),
    "a hop": ('FIND(?b.name) WHERE { ?a {type: "Person", key: "a"} (?a, "knows", ?b) }', 1),
    "a hop with a filter": (
        'FIND(?b.name) WHERE { ?a {key: "a"} (?a, "knows", ?b) FILTER(?b.name != "x") } ORDER BY ?b.name LIMIT 3',
        1,
    ),
    "three hops": (
        'FIND(?d.name) WHERE { ?a {key: "a"} (?a, "knows", ?b) (?b, "knows", ?c) (?c, "knows", ?d) }',
        1,
    ),
    "three hops of a path": ('FIND(?d.name) WHERE { ?a {key: "a"} (?a, "knows"{1,3}, ?d) }', 1),
    "claims": (
        'FIND(?x, ?w) WHERE { ?a {key: "a"} ?p (?a, "knows", ?b) ?x ASSERTION {proposition: ?p, asserted_by: ?w} }',
        1,
    ),
    "claims of an actor": (
        'FIND(?b.name) WHERE { ?a {key: "a"} ?x ASSERTION {asserted_by: ?a, proposition: ?p} ?p (?s, "knows", ?b) }',
        1,
    ),
    "a count": ('FIND(COUNT(?b)) WHERE { ?a {key: "a"} (?a, "knows", ?b) }', 1),
    "who is in no relation": (
        'FIND(?a.id) WHERE { ?a {type: "Person"} NOT { (?a, "knows", ?b) (?b, "knows", ?c) } } ORDER BY ?a.id LIMIT 3',
        1,
    ),
    "how many are in none": ('FIND(COUNT(?a)) WHERE { ?a {type: "Person"} NOT { (?a, "knows", {key: "b"}) } }', 1),
    "groups by objects": ('FIND(?b, COUNT(?a)) WHERE { (?a, "knows", ?b) }', 1),
    "the values of Literals": (
        'FIND(?a.name, MAX(?v), SUM(?v)) WHERE { ?a {type: "Person"} (?a, "speaks", ?v) FILTER(?v > 1) }',
        1,
    ),
    "one tuple": ('FIND(?b.name) WHERE { ("C-1", "knows", ?b) }', 1),
    "one claim": ('FIND(?w.name) WHERE { ?x ASSERTION {proposition: "P-1", asserted_by: ?w} }', 1),
    "a slot": ('FIND(?s) WHERE { ?a {key: "a"} ?s BELIEF SLOT (?a, "knows") }', 1),
    "a belief": ('FIND(?b.status) WHERE { ?a {key: "a"} ?p (?a, "knows", ?o) ?b BELIEF (?p) }', 2),
}
"""Queries, and how often they ask the database anything."""


@pytest.fixture(scope="module")
def small(store: Neo4jStore) -> SpaceStore:
    graph = Graph()
    people = [graph.concept("Person", key=key, name=f"Person {key}") for key in "abcd"]
    for one, other in pairwise(people):
        told = graph.evidence(source=[{"id": one}])
        graph.assertion(graph.proposition(one, "knows", other), one, evidence=[{"id": told, "role": "support"}])
    for number, person in enumerate(people):
        graph.proposition(person, "speaks", number)
    return graph.store(store, "small")


@pytest.mark.parametrize(("query", "trips"), TRIPS.values(), ids=TRIPS)
def test_round_trips(store: Neo4jStore, small: SpaceStore, query: str, trips: int) -> None:
    with reading(small) as run:
        run_find(find(query), run)  # what holds for many reads is read once: control documents, merges
    with reading(small) as run:
        before = store.trips
        answer = run_find(find(query), run)
        assert answer.result
        assert store.trips - before == trips


@pytest.fixture(scope="module")
def empty(store: Neo4jStore) -> Iterator[Run]:
    with reading(Graph().store(store, "empty"), {"who": {"type": "Person", "key": "alice"}, "n": 10}) as run:
        yield run


@pytest.mark.requirement("KI-KQL-006")
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_plan(empty: Run, path: Path) -> None:
    """What Neo4j runs of each plan of `test_plans.py`, in a file beside it."""
    statement: Any = parse(path.read_text(encoding="utf-8").partition(LINE)[0])
    plan = shown(plan_of(statement, empty), empty.snapshot).partition(LINE)[2] + "\n"
    kept = path.with_suffix(".cypher")
    if os.environ.get("REWRITE_PLANS"):
        kept.write_text(plan, encoding="utf-8")
        return
    assert plan == kept.read_text(encoding="utf-8")


@pytest.mark.requirement("BR-STORE-012")
def test_every_plan_goes_from_index_to_index_in_its_own_order(
    store: Neo4jStore, small: SpaceStore, asked: dict[str, Mapping[str, Any]]
) -> None:
    for query in (*(query for query, _ in TRIPS.values()), *ASKED):
        with reading(small) as run:
            run_find(find(query), run)
    assert len(asked) > 15
    with store._database._driver.session() as session:
        for statement, parameters in asked.items():
            explained = session.run(f"EXPLAIN {connection._bound(statement)}", {"p": parameters}).consume()
            assert explained.plan is not None
            found = list(operators(explained.plan))
            for operator, details in found:
                assert not any(word in operator for word in ("Scan", "Cartesian", "HashJoin")), (details, statement)
            sought = [int(of[1]) for _, details in found if (of := re.match(r".*? v([0-9]+):Version\(", details))]
            assert sought == sorted(sought), statement
            assert sought or "(v1:" not in statement
            assert "person" not in statement.lower()
            assert "kip://" not in statement


def test_the_text_of_a_statement_depends_on_the_shape_alone(small: SpaceStore) -> None:
    texts = set()
    for key, hops in (("a", '"knows"'), ("b", '"knows" | "lives_in"'), ("c" * 300, '"speaks"')):
        query = f'FIND(?y) WHERE {{ ?x {{type: "Person", key: "{key}"}} (?x, {hops}, ?y) }} ORDER BY ?y.name'
        other = query.replace("?x", "?one").replace("?y", "?another")
        with reading(small) as run:
            for text in (query, other):
                block = plan_of(find(text), run).block
                texts.add(run.snapshot.explain(block))
    assert len(texts) == 1
    assert None not in texts
