"""Several real processes on one Space in Neo4j: no look meets half a commit, and a killed writer leaves none."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import pytest

from tests.store.neo4j_service import connected
from tests.store.opened import told
from tests.store.processes import answer_of, start, write_together


@pytest.fixture
def deployment() -> str:
    return f"test-{uuid.uuid4().hex}"


@pytest.mark.requirement("BR-STORE-017", "KI-TX-005")
def test_several_processes_write_one_space_and_lose_nothing(neo4j_service: Mapping[str, str], deployment: str) -> None:
    store = connected(neo4j_service, deployment)
    write_together(store, told((neo4j_service, deployment)), processes=3, times=8)
    store.close()


@pytest.mark.slow
@pytest.mark.requirement("BR-STORE-017", "BR-STORE-004", "BR-STORE-010")
def test_whoever_looks_while_others_write_finds_whole_commits_by_every_way(
    neo4j_service: Mapping[str, str], deployment: str
) -> None:
    store = connected(neo4j_service, deployment)
    store.create("demo", now_ms=0)
    store.close()
    environment = told((neo4j_service, deployment))
    programs = ("write", "write", "look", "look")
    started = [start(environment, "tests.store.together", program, 12) for program in programs]
    first, second, *looks = [answer_of(process) for process in started]
    assert [look["faults"] for look in looks] == [[], []]
    assert first["commits"] > 0
    assert second["commits"] > 0
    assert all(look["looks"] > 0 for look in looks)


@pytest.mark.slow
@pytest.mark.requirement("BR-STORE-014", "BR-STORE-018", "BR-STORE-002", "KI-TX-012")
def test_killed_writers_leave_every_commit_whole_or_not_at_all(
    neo4j_service: Mapping[str, str], deployment: str
) -> None:
    report = answer_of(start(told((neo4j_service, deployment)), "tests.store.killed", 20, 20261130, 600))
    assert report["faults"] == []
    assert report["kills"] == 20
