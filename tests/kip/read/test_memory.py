"""What a query holds in memory follows its answer, not the Space."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import pytest

from brain import errors
from brain.kip.context import Run
from brain.kip.execute.graph import Graph as Reading
from brain.kip.execute.results import answer
from brain.kip.parser import parse
from brain.kip.plan import plan_of
from brain.kip.templates import Asked
from brain.store.base import SpaceStore
from brain.store.sqlite import SqliteStore
from tests.kip.graph import Graph, reading

SMALL, LARGE = 5_000, 20_000
"""Both hold more than the pages SQLite keeps in memory."""

SLACK = 128 * 1024
"""What a few hundred rows on the way may take; 15,000 identifiers alone would take several times that."""


@pytest.fixture(scope="module")
def spaces(tmp_path_factory: pytest.TempPathFactory) -> tuple[SpaceStore, SpaceStore]:
    folder: Path = tmp_path_factory.mktemp("spaces")

    def crowd(size: int) -> SpaceStore:
        graph = Graph()
        for number in range(size):
            graph.concept(name=f"Person {number}", attributes={"age": number % 50, "city": f"City {number % 7}"})
        return graph.store(SqliteStore(folder, durability="normal"), f"s{size}")

    return crowd(SMALL), crowd(LARGE)


def peak(work: Callable[[], Any]) -> int:
    """Bytes that Python and SQLite together held at most while the work ran, beyond what they held before."""
    work()
    tracemalloc.start()
    before = apsw.memory_used()
    apsw.memory_high_water(True)
    work()
    found = tracemalloc.get_traced_memory()[1] + apsw.memory_high_water() - before
    tracemalloc.stop()
    return found


def rows(command: str, run: Run, most: int | None = None) -> int:
    """How many rows an answer has; they are looked at one by one. At most so many."""
    statement: Any = parse(command)
    found = 0
    asked = Asked.once(plan_of(statement, run))
    for _ in islice(answer(asked, Reading(run)), asked.limit):
        found += 1
        if found == most:
            break
    return found


@pytest.mark.requirement("KI-KQL-020", "KI-KQL-067")
@pytest.mark.parametrize(
    ("command", "most"),
    [
        ('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }', None),
        ('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 3) }', None),
        ('FIND(COUNT(?p.attributes.age)) WHERE { ?p {type: "Person"} }', None),
        ('FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.attributes.age DESC LIMIT 10', None),
        ('FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 3) }', 300),
    ],
    ids=["count", "filtered count", "count of a member", "best ten", "first rows of many"],
)
def test_memory_does_not_grow_with_the_space(
    spaces: tuple[SpaceStore, SpaceStore], command: str, most: int | None
) -> None:
    held = []
    for space in spaces:
        with reading(space) as run:
            assert rows(command, run, most) == (most or (10 if "LIMIT" in command else 1))
            held.append(peak(lambda run=run: rows(command, run, most)))  # type: ignore[misc]
    small, large = held
    assert large < small + SLACK, held


@pytest.mark.requirement("KI-KQL-067")
def test_a_statement_that_is_left_early_ends_with_its_snapshot(spaces: tuple[SpaceStore, SpaceStore]) -> None:
    command: Any = parse('FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age > 3) }')
    with reading(spaces[0]) as run:
        left = answer(Asked.once(plan_of(command, run)), Reading(run))
        assert next(left).values == ("Person 4",)
    with pytest.raises(errors.InternalError):
        list(left)
    with reading(spaces[0]) as run:
        assert rows('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }', run) == 1
