"""How much of a store a query asks for, and what stops it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brain import errors
from brain.kip import algebra
from brain.kip.context import Limits, Run
from brain.kip.read import run_find
from brain.store.base import Hit, SearchQuery, SpaceStore, Undecided
from brain.store.sqlite import SqliteStore
from tests.kip.graph import Graph, find, reading
from tests.kip.read.watched import StepByStep, Watched

SIZE = 1_200


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpaceStore]:
    """1200 people, each of whom knows the next, lives in one of three places and said so."""
    graph = Graph()
    places = [graph.concept("Place", name=f"Place {number}") for number in range(3)]
    people = [
        graph.concept(name=f"Person {number}", key=f"person:{number}", attributes={"age": number % 50})
        for number in range(SIZE)
    ]
    for number, person in enumerate(people):
        graph.proposition(person, "knows", people[(number + 1) % SIZE])
        home = graph.proposition(person, "lives_in", places[number % 3])
        graph.assertion(home, person)
    store = SqliteStore(tmp_path_factory.mktemp("crowd"), durability="normal")
    yield graph.store(store)
    store.close()


def ask(run: Run, command: str, **members: Any) -> tuple[Any, Watched]:
    watched = Watched(run.snapshot)
    answer = run_find(find(command), replace(run, snapshot=watched, **members))
    return answer, watched


@pytest.mark.requirement("KI-KQL-067")
def test_a_join_asks_once_per_batch_not_per_row(crowd: SpaceStore) -> None:
    command = """FIND(COUNT(?a)) WHERE { ?p {type: "Person"} (?p, "lives_in", ?o) ?l (?p, "lives_in", ?o)
        ?a ASSERTION {proposition: ?l} OPTIONAL { (?p, "knows", ?q) } NOT { (?p, "works_for", ?x) } }"""
    with reading(crowd) as run:
        answer, watched = ask(run, command)
    assert answer.result == [SIZE]
    assert sum(watched.calls.values()) < 60


@pytest.mark.requirement("KI-KQL-067")
@pytest.mark.parametrize(
    "command",
    [
        'FIND(?p.name) WHERE { ?p {type: "Person"} } LIMIT 5',
        'FIND(?p.name, ?o.name) WHERE { ?p {type: "Person"} OPTIONAL { (?p, "lives_in", ?o) } } LIMIT 5',
        'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 1) } LIMIT 5',
        'FIND(?l.id) WHERE { ?l (?s, "knows", ?o) } LIMIT 5',
        "FIND(?a.id) WHERE { ?a ASSERTION {} } LIMIT 5",
    ],
)
def test_a_cut_answer_reads_no_further_than_it_has_to(crowd: SpaceStore, command: str) -> None:
    with reading(crowd) as run:
        answer, watched = ask(run, command)
    assert len(answer.result) == 5
    assert watched.read <= 64
    assert answer.next_cursor is not None


@pytest.mark.requirement("KI-KQL-056")
def test_a_later_page_starts_where_the_one_before_stopped(crowd: SpaceStore) -> None:
    command = 'FIND(?p.name) WHERE { ?p {type: "Person"} } LIMIT 5'
    with reading(crowd) as run:
        whole, _ = ask(run, command.replace("5", "1000"))
        answer, watched = ask(run, f"{command} CURSOR :c", parameters={"c": whole.next_cursor})
    assert answer.result == [f"Person {number}" for number in range(1000, 1005)]
    assert watched.read <= 64


@pytest.mark.requirement("KI-KQL-067")
def test_counting_one_pattern_reads_no_element(crowd: SpaceStore) -> None:
    with reading(crowd) as run:
        answer, watched = ask(run, 'FIND(COUNT(?p), COUNT(DISTINCT ?p)) WHERE { ?p {type: "Person"} }')
    assert answer.result == [[SIZE, SIZE]]
    assert (watched.calls["count"], watched.calls["scan"], watched.calls["elements"]) == (1, 0, 0)


@pytest.mark.requirement("KI-KQL-067")
def test_a_bound_end_is_where_a_join_starts(crowd: SpaceStore) -> None:
    command = """FIND(?d.name) WHERE { (?c, "knows", ?d) ?d {type: "Person"} (?b, "knows", ?c) (?a, "knows", ?b)
        ?a {type: "Person", key: "person:7"} }"""
    with reading(crowd) as run:
        watched = StepByStep(run.snapshot)
        answer = run_find(find(command), replace(run, snapshot=watched))
    assert answer.result == ["Person 10"]
    assert watched.read == 1


@pytest.mark.requirement("KI-ERR-080")
def test_a_passed_deadline_ends_the_query(crowd: SpaceStore) -> None:
    with reading(crowd) as run, pytest.raises(errors.ExecutionTimeout) as raised:
        ask(run, "FIND(COUNT(?a)) WHERE { ?a {} ?b {} ?c {} }", deadline_ms=time.monotonic() * 1000 + 50)
    assert raised.value.retry is errors.Retry.SAFE_SAME_REQUEST


@pytest.mark.requirement("KI-KQL-020", "KI-ERR-078")
def test_more_solutions_than_may_be_held_are_an_error_and_no_cut_answer(crowd: SpaceStore) -> None:
    with reading(crowd, limits=Limits(held_solutions=1_000)) as run, pytest.raises(errors.ResourceExhausted):
        ask(run, 'FIND(?p.name) WHERE { ?p {type: "Person"} }')


@pytest.mark.requirement("KI-KQL-061", "KI-ERR-078")
def test_a_path_past_the_hop_limit_is_an_error_and_no_absence(crowd: SpaceStore) -> None:
    with reading(crowd, limits=Limits(hops=5)) as run:
        answer, _ = ask(run, 'FIND(?o.name) WHERE { ({key: "person:7"}, "knows"{1,5}, ?o) }')
        assert len(answer.result) == 5
        with pytest.raises(errors.ResourceExhausted):
            ask(run, 'FIND(?o.name) WHERE { ({key: "person:7"}, "knows"{1,}, ?o) }')
        with pytest.raises(errors.ResourceExhausted):
            ask(run, 'FIND(?o.name) WHERE { ({key: "person:7"}, "knows"{9}, ?o) }')


@pytest.mark.requirement("KI-KQL-061")
def test_a_circle_shorter_than_the_limit_has_an_end(tmp_path: Path) -> None:
    graph = Graph()
    ring = [graph.concept(name=name) for name in "ABC"]
    for number in range(3):
        graph.proposition(ring[number], "knows", ring[(number + 1) % 3])
    with reading(graph.store(SqliteStore(tmp_path)), limits=Limits(hops=3)) as run:
        answer, _ = ask(run, 'FIND(?o.name) WHERE { ("C-1", "knows"{1,}, ?o) }')
    assert answer.result == ["A", "B", "C"]


class NoPast(Watched):
    """A store whose search knows the present only, asked after a later commit."""

    def search(self, query: SearchQuery) -> list[Hit]:
        raise errors.HistoricalSearchUnavailable


@pytest.mark.requirement("KI-KQL-056", "KI-ERR-064", "KI-ERR-068")
def test_a_search_that_can_no_longer_be_continued_says_so(crowd: SpaceStore) -> None:
    command = 'FIND(?p.name) WHERE { ?p SEARCH CONCEPT "place" LIMIT 10 } ORDER BY ?p.name LIMIT 1'
    with reading(crowd) as run:
        cursor = run_find(find(command), run).next_cursor
        late = replace(run, snapshot=NoPast(run.snapshot), parameters={"c": cursor})
        with pytest.raises(errors.CursorExpired) as raised:
            run_find(find(f"{command} CURSOR :c"), late)
        with pytest.raises(errors.HistoricalSearchUnavailable):
            run_find(find(command), late)
    assert raised.value.details == {"family": "kql", "reason": "expired"}


class Native(Watched):
    """A store that runs the plans it was told to by itself."""

    def __init__(self, snapshot: Any, answers: dict[type, Any]) -> None:
        super().__init__(snapshot)
        self.answers = answers
        self.offered: list[algebra.Step] = []

    def select(self, plan: algebra.Step, repeated: Any = None) -> Iterator[tuple[Any, ...]] | None:
        self.offered.append(plan)
        if isinstance(plan, algebra.Block) and len(plan.steps) > 1:
            return None
        found = self.answers.get(type(plan))
        return None if found is None else iter(found)


@pytest.mark.requirement("KI-KQL-067")
def test_a_store_is_offered_the_whole_plan_and_then_the_longest_runs_of_steps(crowd: SpaceStore) -> None:
    command = 'FIND(?p.name, ?o.name) WHERE { ?p {key: "person:7"} (?p, "lives_in", ?o) } ORDER BY ?o.name'
    with reading(crowd) as run:
        native = Native(run.snapshot, {algebra.Block: [(("element", "C-11"),)]})
        answer = run_find(find(command), replace(run, snapshot=native))
    assert answer.result == [["Person 7", "Place 1"]]
    assert [type(plan) for plan in native.offered] == [algebra.Project, algebra.Block, algebra.Block]
    assert [len(plan.steps) for plan in native.offered if isinstance(plan, algebra.Block)] == [2, 1]
    assert native.calls["scan"] == 0


@pytest.mark.requirement("KI-KQL-067")
def test_a_store_may_answer_the_whole_plan(crowd: SpaceStore) -> None:
    with reading(crowd) as run:
        first = run.snapshot.elements(["C-4"])["C-4"]
        rows = [(first, {"P-1"}), (("element", "C-5"), set())]
        native = Native(run.snapshot, {algebra.Project: rows})
        answer = run_find(find("FIND(?p.name) WHERE { ?p {} } LIMIT 1"), replace(run, snapshot=native))
    assert (answer.result, answer.bound) == (["Person 0"], (frozenset({"C-4", "P-1"}),))
    assert answer.next_cursor is not None
    assert [type(plan) for plan in native.offered] == [algebra.Project]


@pytest.mark.requirement("KI-KQL-067")
def test_a_store_may_count_groups(crowd: SpaceStore) -> None:
    rows = [(("value", 2), 3, ["C-4"]), (("value", 2.0), 1, ["C-5"]), (None, 7, [])]
    with reading(crowd) as run:
        native = Native(run.snapshot, {algebra.Group: rows})
        command = "FIND(?p.attributes.age, COUNT(?p)) WHERE { ?p {} } ORDER BY COUNT(?p) DESC"
        answer = run_find(find(command), replace(run, snapshot=native))
    assert answer.result == [[None, 7], [2, 4]]
    assert answer.bound == (frozenset(), frozenset({"C-4", "C-5"}))


@pytest.mark.requirement("KI-KQL-067")
@pytest.mark.parametrize("plan", [algebra.Project, algebra.Group, algebra.Block])
def test_what_a_store_cannot_judge_is_run_step_by_step_from_there_on(crowd: SpaceStore, plan: type) -> None:
    commands = {
        algebra.Project: 'FIND(?p.name) WHERE { ?p {type: "Place"} }',
        algebra.Group: 'FIND(?p.name, COUNT(?p)) WHERE { ?p {type: "Place"} }',
        algebra.Block: 'FIND(?p.name) WHERE { ?p {type: "Place"} FILTER(?p.name != "x") } ORDER BY ?p.name',
    }

    class GivesUp(Native):
        def select(self, offered: algebra.Step, repeated: Any = None) -> Iterator[tuple[Any, ...]] | None:
            return self.two_rows() if type(offered) is plan else None

        def two_rows(self) -> Iterator[tuple[Any, ...]]:
            if plan is algebra.Project:
                yield (("element", "C-1"), set())
                yield (("element", "C-2"), set())
            raise Undecided

    with reading(crowd) as run:
        native = GivesUp(run.snapshot, {})
        answer = run_find(find(commands[plan]), replace(run, snapshot=native))
    names = [f"Place {number}" for number in range(3)]
    assert answer.result == ([[name, 1] for name in names] if plan is algebra.Group else names)


@pytest.mark.requirement("KI-KQL-044", "KI-KQL-067")
def test_a_value_that_no_comparison_takes_is_an_error_in_the_store_too(tmp_path: Path) -> None:
    graph = Graph()
    graph.concept(name="A", attributes={"age": 3})
    graph.concept(name="B", attributes={"age": [3]})
    with reading(graph.store(SqliteStore(tmp_path))) as run:
        for command in (
            'FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 1) }',
            'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 1) }',
            'FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.attributes.age',
        ):
            with pytest.raises(errors.TypeMismatch):
                run_find(find(command), run)
