"""Whatever the graph and the query: the engine answers what nested loops answer."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from brain.kip.context import Answer, Run
from brain.kip.read import run_find
from brain.store.base import Store
from tests.kip.graph import ENVIRONMENT, Graph, find, reading
from tests.kip.read.oracle import Oracle
from tests.kip.read.strategies import Writer, blocks, chance, graphs

_numbers = count()


def listed(answer: Answer, columns: int) -> list[Any]:
    return [[row] for row in answer.result] if columns == 1 else answer.result


@pytest.mark.requirement("KI-KQL-006", "KI-KQL-067", "KI-KQL-040", "KI-KQL-038", "KI-KQL-045", "KI-MERGE-009")
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), queries=st.lists(blocks(), min_size=1, max_size=3), data=st.data())
def test_the_engine_answers_what_nested_loops_answer(store: Store, graph: Graph, queries: Any, data: Any) -> None:
    space = graph.store(store, f"s{next(_numbers)}")
    with reading(space) as run:
        oracle = Oracle(run.snapshot, ENVIRONMENT)
        for block, names in queries:
            order = data.draw(st.sampled_from(["", f"ORDER BY ?{names[0]}.name DESC", f"ORDER BY ?{names[0]}.id"]))
            text = f"FIND({', '.join(f'?{name}' for name in names)}) WHERE {{ {block} }} {order}"
            note(text)
            expected = oracle.rows(find(text))
            assert listed(run_find(find(text), run), len(names)) == expected
            size = data.draw(st.integers(1, 5))
            assert _paged(f"{text} LIMIT {size}", run, len(names), len(expected) + 1) == expected
            counted = run_find(find(f"FIND(COUNT(?{names[0]})) WHERE {{ {block} }}"), run).result
            assert counted == [sum(row[0] is not None for row in expected)]
    space.close()


def _paged(text: str, run: Run, columns: int, most: int) -> list[Any]:
    """All pages one after the other."""
    found: list[Any] = []
    answer = run_find(find(text), run)
    for _ in range(most):
        found += listed(answer, columns)
        if answer.next_cursor is None:
            return found
        answer = run_find(find(f'{text} CURSOR "{answer.next_cursor}"'), run)
    raise AssertionError("pages without an end")


@pytest.mark.requirement("KI-KQL-006")
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), data=st.data())
def test_patterns_join_in_any_order(store: Store, graph: Graph, data: Any) -> None:
    writer = Writer(chance(data.draw(st.integers(0, 2**32))))
    patterns = [writer.pattern() for _ in range(3)]
    names = sorted(writer.bound)
    space = graph.store(store, f"s{next(_numbers)}")
    with reading(space) as run:
        answers = []
        for order in (patterns, data.draw(st.permutations(patterns))):
            text = f"FIND({', '.join(f'?{name}' for name in names)}) WHERE {{ {' '.join(order)} }}"
            note(text)
            answers.append(sorted(map(repr, listed(run_find(find(text), run), len(names)))))
    space.close()
    assert answers[0] == answers[1]
