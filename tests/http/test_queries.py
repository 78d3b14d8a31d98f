"""Callers' own KIP that would never end: it is ended in time, it stops, and others hardly notice."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from brain.kip.pipeline import Engine
from brain.service.callers import Caller
from tests.service.processes import ServerProcess, started
from tests.service.world import World, served, world

PEOPLE = 900
TWO = '?a {type: "Person"} ?b {type: "Person"}'
REST = '?b {type: "Person"} ?c {type: "Person"}'
THREE = f'{TWO} ?c {{type: "Person"}}'
NEVER = "FILTER(?a.name > ?b.name && ?b.name > ?c.name && ?c.name > ?a.name)"
ENDLESS = f'FIND(COUNT(?a)) WHERE {{ {THREE} ?d {{type: "Person"}} }}'
LONG = f"FIND(COUNT(?a)) WHERE {{ {TWO} FILTER(?a.name > ?b.name) }}"
SHORT = 'FIND(?a.name) WHERE { ?a {type: "Person", key: "k7"} }'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Space with so many people that comparing each with each takes a while, and three of them takes hours."""
    path = tmp_path_factory.mktemp("people") / "spaces"
    home: World = world(path)
    home.create()
    clauses = " ".join(
        f'UPSERT CONCEPT ?p{n} {{ MATCH {{type: "Person", key: "k{n}"}} SET FIELDS {{name: "Person {n}"}} }}'
        for n in range(PEOPLE)
    )
    done = home.application.spaces.get("home").engine.run(f"MUTATE {{ {clauses} }}")
    assert done.response["status"] == "succeeded"
    home.application.spaces.close()
    return path


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    home = world(folder)
    yield home.application.spaces.get("home").engine
    home.application.spaces.close()


PRODUCTS = {
    "counted": f"FIND(COUNT(?a)) WHERE {{ {THREE} }}",
    "shown": f"FIND(?a.name, ?b.name, ?c.name) WHERE {{ {THREE} }}",
    "ordered": f"FIND(?a.name, ?b.name) WHERE {{ {THREE} }} ORDER BY ?c.name LIMIT 5",
    "grouped": f"FIND(?a.name, COUNT(?b)) WHERE {{ {THREE} }}",
    "all different": f"FIND(COUNT(DISTINCT ?c.name)) WHERE {{ {THREE} }}",
    "thrown away": f"FIND(COUNT(?a)) WHERE {{ {THREE} {NEVER} }}",
    "many conditions": f"FIND(COUNT(?a)) WHERE {{ {TWO} FILTER({' && '.join(['?a.name != ?b.name'] * 200)}) }}",
    "by a pattern": f'FIND(COUNT(?a)) WHERE {{ {THREE} FILTER(REGEX(?a.name, "(Person)? [0-9]*$")) }}',
    "in NOT": f'FIND(?a) WHERE {{ ?a {{type: "Person"}} NOT {{ {REST} {NEVER} }} }}',
    "in OPTIONAL": f"FIND(COUNT(?x)) WHERE {{ ?x CONCEPT {{}} OPTIONAL {{ {THREE} }} }}",
    "in UNION": f"FIND(COUNT(?x)) WHERE {{ ?x CONCEPT {{}} UNION {{ {THREE} }} }}",
    "believed": f'FIND(COUNT(?z)) WHERE {{ {THREE} ?z BELIEF (?a, "knows", ?b) }}',
    "two hundred": f"FIND(COUNT(?x0)) WHERE {{ {' '.join(f'?x{n} CONCEPT {{}}' for n in range(200))} }}",
}  # fmt: skip


@pytest.mark.requirement("BR-EP-020", "KI-ENV-035", "KI-ERR-080")
@pytest.mark.parametrize("command", PRODUCTS.values(), ids=PRODUCTS)
def test_every_product_of_patterns_is_ended_in_time(engine: Engine, command: str) -> None:
    request = {"kip": "2.0", "operations": [{"command": command}], "options": {"deadline_ms": 300}}
    begun = time.process_time()
    response = engine.execute(request, Caller("somebody", "http").reader()).response
    assert response["results"][0]["error"]["code"] == "ExecutionTimeout", response
    assert response["results"][0]["error"]["retry"]["class"] == "safe_same_request"
    assert time.process_time() - begun < 3  # they would take minutes to hours


@pytest.mark.anyio
@pytest.mark.requirement("BR-EP-020", "BR-HTTP-008")
async def test_a_query_that_takes_too_long_is_ended_and_says_so(folder: Path) -> None:
    async with served(world(folder, kip_timeout_ms=700).application) as client:
        begun = time.monotonic()
        answer = await client.post("/v1/home/execute_kip_readonly", json={"command": ENDLESS})
        assert 0.6 < time.monotonic() - begun < 3
        assert (answer.status_code, answer.json()["status"]) == (200, "failed")
        assert answer.json()["results"][0]["error"]["code"] == "ExecutionTimeout"


@pytest.mark.anyio
@pytest.mark.requirement("KI-ERR-081")
async def test_a_burst_is_told_when_to_come_again_and_what_runs_goes_on(folder: Path) -> None:
    async with served(world(folder, kip_timeout_ms=1_500, kip_max_concurrency=2).application) as client:
        codes: list[str] = []

        async def ask() -> None:
            answer = (await client.post("/v1/home/execute_kip_readonly", json={"command": ENDLESS})).json()
            error = answer.get("error") or answer["results"][0]["error"]
            if error["code"] == "RateLimited":
                assert (answer["status"], answer["results"]) == ("failed", [])
                assert error["retry"] == {"class": "safe_same_request", "after_ms": 1_000}
            codes.append(error["code"])

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
        assert sorted(codes) == ["ExecutionTimeout"] * 2 + ["RateLimited"] * 3
        again = await client.post("/v1/home/execute_kip_readonly", json={"command": SHORT})
        assert again.json()["results"][0]["result"] == ["Person 7"]


@pytest.mark.anyio
async def test_a_query_of_seconds_is_answered_in_full(folder: Path) -> None:
    async with served(world(folder, kip_timeout_ms=300_000).application) as client:
        begun = time.monotonic()
        answer = await client.post("/v1/home/execute_kip_readonly", json={"command": LONG}, timeout=310)
        assert answer.json()["results"][0]["result"] == [PEOPLE * (PEOPLE + 1) // 2]  # $self is one more
        assert time.monotonic() - begun > 0.3, "too short to have begun twice"


@pytest.mark.slow
@pytest.mark.requirement("BR-HTTP-028", "BR-EP-020")
def test_others_are_answered_while_endless_queries_run_and_their_work_ends_with_them(folder: Path) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(started(folder, "serve", module="brain", kip_timeout_ms=6_000))
        answers: list[tuple[float, Any]] = []
        client = stack.enter_context(httpx.Client(base_url=server.url, timeout=60))

        def kip(command: str) -> dict[str, Any]:
            told = client.post("/v1/home/execute_kip_readonly", json={"command": command}).json()["results"][0]
            return dict(told)

        def ask() -> None:
            begun = time.monotonic()
            told = kip(ENDLESS)
            answers.append((time.monotonic() - begun, told["error"]["code"]))

        asking = [threading.Thread(target=ask) for _ in range(12)]
        for thread in asking:
            thread.start()
        time.sleep(1.5)
        reads, pings = [], []
        while any(thread.is_alive() for thread in asking):
            begun = time.monotonic()
            assert kip(SHORT)["result"] == ["Person 7"]
            reads.append(time.monotonic() - begun)
            begun = time.monotonic()
            assert client.get("/v1/home/formation_status").status_code == 200
            pings.append(time.monotonic() - begun)
        assert {code for _, code in answers} == {"ExecutionTimeout"}
        assert max(seconds for seconds, _ in answers) < 15
        assert statistics.median(reads) < 1, sorted(reads)[-5:]
        assert statistics.median(pings) < 1, sorted(pings)[-5:]
        assert peak_mb(server) < 250
        time.sleep(0.5)
        before = cpu_seconds(server)
        time.sleep(1)
        assert cpu_seconds(server) - before < 0.4, "a query goes on that nobody waits for"


def peak_mb(server: ServerProcess) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def cpu_seconds(server: ServerProcess) -> float:
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
