"""Members that Neo4j compares, orders and groups by, beside what running the plan step by step answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from brain.kip.algebra import Project, Step
from brain.kip.context import Run
from brain.kip.plan import plan_of
from brain.kip.read import run_find
from brain.store.base import Snapshot, SpaceStore, Undecided
from brain.store.neo4j import Neo4jStore, connection, filling, members
from tests.kip.graph import Graph, find, reading
from tests.kip.read.strategies import chance
from tests.kip.read.test_pushdown import VALUES, Asker, agree, check, check_pages
from tests.laws import law
from tests.store.building import concept, erase, stub, write
from tests.store.neo4j_service import fresh_store
from tests.store.test_neo4j_plans import operators

LAW = law(12, by_night=1_000)
"""Most queries have a shape of their own, which Neo4j plans anew for each."""

STRANGE: tuple[Any, ...] = (
    *("\U0001f600", "\uff21", "\ufe0f", "\ud7ff", "a\x1eb", "x\x1f1", "y" * members.LONGEST, "y" * 501, "\0", "'\"\\"),
    *(-0.0, 0.1, 2**53 - 1, -(2**53) + 1, 1e-7, 1e22, [], {}, [[1]], "true", "null"),
)
"""Texts that Neo4j orders otherwise, that hold the marks between entries or are as long as these may be; numbers at the
edge of what is exact."""

_numbers = count()


@pytest.fixture(scope="module")
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        yield opened


def graph_of(at: Random) -> Graph:
    graph = Graph()
    values = at.sample((*VALUES, *STRANGE), at.choice([2, 4, 8]))
    people = [
        graph.concept(
            at.choice(["Person", "Person", "Place"]),
            name=at.choice(["N1", "N2", None, "\U0001f600", "\uff21"]),
            attributes={name: at.choice(values) for name in ("age", "city") if at.random() < 0.8} or None,
        )
        for _ in range(at.randint(2, 9))
    ]
    for _ in range(at.choice([0, 4, 9])):
        one, other = at.choice(people), at.choice(people)
        if not graph.has_tuple(one, "knows", other):
            confidence = at.choice([None, 0.5, 1, 0])
            graph.assertion(graph.proposition(one, "knows", other), at.choice(people), confidence=confidence)
    return graph


BLOCKS = {
    '?a {type: "Person"}': ("a",),
    "?a {}": ("a",),
    '?a {type: "Person"} ?b {type: "Place"} (?a, "knows", ?b)': ("a", "b"),
    '?b {} ?p (?a, "knows", ?b)': ("a", "b", "p"),
    "?x ASSERTION {}": ("x",),
    '?x ASSERTION {proposition: ?p} ?p (?a, "knows", ?b)': ("x", "p", "a"),
}
"""Patterns, and what of them is an element for certain."""


class Comparing(Asker):
    """Writes conditions over members that are stored and few that are not."""

    def path_of(self) -> str:
        members = ("attributes.age", "attributes.city", "name", "confidence", "_system.version", "id", "attributes")
        return f"?{self.pick(*sorted(self.bound))}.{self.pick(*members)}"


@pytest.mark.requirement("KI-KQL-006", "KI-KQL-048", "KI-KQL-050", "KI-KQL-067")
@LAW
@given(seed=st.integers(0, 2**32))
def test_what_is_compared_in_the_statement_is_what_the_language_compares(store: Neo4jStore, seed: int) -> None:
    at = chance(seed)
    space = graph_of(at).store(store, f"m{next(_numbers)}")
    with reading(space) as run:
        for _ in range(2):
            block, bound = at.choice(list(BLOCKS.items()))
            asker = Comparing(at, 0, set(bound))
            filters = [f"FILTER({asker.condition(2)})" for _ in range(at.choice([0, 1, 1, 2]))]
            where = f"WHERE {{ {block} {' '.join(filters)} }}"
            names = at.sample(bound, at.randint(1, len(bound)))
            listed = ", ".join(f"?{name}{at.choice(['', '.id', '.name', '.attributes.age'])}" for name in names)
            order = ", ".join(asker.path_of() + at.choice(["", " DESC"]) for _ in range(at.choice([0, 1, 2])))
            text = f"FIND({listed}) {where} {order and f'ORDER BY {order}'}"
            told(f"{text} LIMIT 3", run)
            check(f"{text} LIMIT {at.choice([1, 2, 5, 100])}", run)
            check_pages(text, run, at.choice([1, 2, 3]))
            keys = [at.choice([asker.path_of(), f"?{names[0]}"]) for _ in range(at.choice([0, 1, 1, 2]))]
            counted = f"{at.choice(['COUNT', 'SUM', 'AVG'])}({at.choice(['', 'DISTINCT '])}{asker.path_of()})"
            groups = f"FIND({', '.join([*dict.fromkeys(keys), counted])}) {where}"
            told(groups, run)
            check(groups, run)
    space.close()


def told(text: str, run: Run) -> None:
    """Count, for `--hypothesis-show-statistics`, how many of the queries the store runs by itself."""
    plan = plan_of(find(text), run)
    event("runs in the store" if is_native(run.snapshot, plan) else "runs step by step")


def is_native(snapshot: Snapshot, plan: Project) -> bool:
    """Whether the store answers a whole plan, and meets nothing it cannot judge."""
    whole: Step = plan.group or plan
    try:
        found = snapshot.select(whole)
        return found is not None and list(found) is not None
    except Undecided:
        return False


# --- examples ---------------------------------------------------------------------------------------------------------

AGES = (41, 17, None, "old", 41.0, True, 8)
PEOPLE = '?a {type: "Person"}'
NATIVE = (
    f"FIND(?a.name) WHERE {{ {PEOPLE} FILTER(?a.attributes.age == 41) }} LIMIT 10",
    f"FIND(?a.name) WHERE {{ {PEOPLE} FILTER(?a.attributes.age > 8 && !(?a.attributes.age == 17)) }} LIMIT 10",
    f"FIND(?a.name) WHERE {{ {PEOPLE} }} ORDER BY ?a.attributes.age DESC LIMIT 3",
    f"FIND(?a.attributes.age, COUNT(?a)) WHERE {{ {PEOPLE} }}",
    f"FIND(?a.attributes.city, MIN(?a.name), MAX(?a._system.version)) WHERE {{ {PEOPLE} }}",
    f"FIND(COUNT(?a.name), COUNT(DISTINCT ?a.attributes.city)) WHERE {{ {PEOPLE} }}",
    f'FIND(SUM(?a._system.version)) WHERE {{ {PEOPLE} FILTER(STARTS_WITH(?a.name, "N")) }}',
)
"""Queries that are one statement."""


def persons(store: Neo4jStore, name: str) -> SpaceStore:
    graph = Graph()
    for place, age in enumerate(AGES):
        graph.concept("Person", name=f"N{place}", attributes={"age": age, "city": "Bergen"})
    return graph.store(store, name)


@pytest.mark.requirement("KI-KQL-006")
@pytest.mark.parametrize("text", NATIVE)
def test_it_is_one_statement_and_one_trip(store: Neo4jStore, text: str) -> None:
    space = persons(store, f"n{next(_numbers)}")
    with reading(space) as run:
        assert is_native(run.snapshot, plan_of(find(text), run))
        agree(text, run)
        run_find(find(text), run)
    with reading(space) as run:
        before = store.trips
        assert run_find(find(text), run).result
        assert store.trips - before == 1


def test_a_cut_answer_in_the_order_of_the_index_is_sorted_by_nobody(store: Neo4jStore) -> None:
    with reading(persons(store, "cut")) as run:
        kinds = {text: list(kinds_of(store, run, text)) for text in (NATIVE[0], NATIVE[2])}
    in_order, sorted_ = kinds.values()
    assert "Limit" in in_order
    assert not {"Sort", "Top", "PartialTop", "PartialSort"} & set(in_order)
    assert "Top" in sorted_


def kinds_of(store: Neo4jStore, run: Run, text: str) -> Iterator[str]:
    """What the server does for a query."""
    statement = run.snapshot._compiled(plan_of(find(text), run))  # type: ignore[attr-defined]
    with store._database._driver.session() as session:
        explained = session.run(f"EXPLAIN {connection._bound(statement.text)}", {"p": statement.parameters}).consume()
    assert explained.plan is not None
    for operator, _ in operators(explained.plan):
        yield operator.partition("@")[0]


def test_a_transaction_runs_nothing_that_could_end_it(store: Neo4jStore) -> None:
    space = persons(store, "writer")
    with reading(space) as run:
        compared, hop = (
            plan_of(find(text), run) for text in (NATIVE[0], f'FIND(?b) WHERE {{ {PEOPLE} (?a, "knows", ?b) }}')
        )
        assert run.snapshot.select(compared) is not None
    with space.transaction() as transaction:
        assert transaction.select(compared) is None
        assert transaction.select(hop.block) is not None


@pytest.mark.requirement("BR-STORE-019")
def test_versions_of_an_earlier_format_are_compared_step_by_step_until_they_are_filled(store: Neo4jStore) -> None:
    space = persons(store, "earlier")
    named = {"name": "earlier", "deployment": store._deployment}
    of_space = "MATCH (s:Space) WHERE s.id = $name AND s.deployment = $deployment MATCH (v:Version {space: s.space})"
    is_kept = "RETURN v.id, v.from_seq, v.members, v.attributes ORDER BY v.id, v.from_seq"
    made = store._database.run(f"{of_space} {is_kept}", named)
    store._database.run(f"{of_space} REMOVE v.members, v.attributes FINISH", named)
    for is_filled in (False, True):
        with reading(space) as run:
            for text in NATIVE:
                agree(text, run)
                assert is_native(run.snapshot, plan_of(find(text), run)) is is_filled
        filling.fill_members(store._database)
    assert store._database.run(f"{of_space} {is_kept}", named) == made
    assert len(made) == len(AGES)


@pytest.mark.requirement("BR-STORE-019")
def test_an_erasure_leaves_nothing_of_the_members_of_any_version(store: Neo4jStore) -> None:
    space = store.create("erased", now_ms=0)
    write(space, concept("C-1", name="Alice", attributes={"told": "a secret"}))
    write(space, concept("C-1", name="Alice", version=2, attributes={"secret name": 1}))
    erase(space, stub(concept("C-1", version=2)))
    of_space = "MATCH (s:Space {id: 'erased', deployment: $deployment}) MATCH (v:Version {space: s.space})"
    found = store._database.run(f"{of_space} RETURN properties(v)", {"deployment": store._deployment})
    assert len(found) == 3
    assert "secret" not in str(found)
    assert "Alice" not in str(found)


def test_a_name_is_never_a_property(store: Neo4jStore) -> None:
    space = store.create("names", now_ms=0)
    write(space, concept("C-1", attributes={"a name of the caller's": 1, "`": 2, "\x1e": 3}))
    known = {name for (name,) in store._database.run("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey", {})}
    assert "attributes" in known
    assert not known & {"a name of the caller's", "`", "\x1e"}
