"""Spaces take turns for threads: none has all of them, and none waits behind all requests of another."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.agents.reading import Reading
from brain.app import Application
from brain.service.attention import attention
from brain.service.failures import Unavailable
from brain.service.hosting import HOST
from brain.service.probe import probe
from brain.service.turns import TurnMissed, Turns
from tests.service.world import served, world

pytestmark = pytest.mark.anyio
DOCUMENT = {
    "messages": [{"role": "user", "name": "Ana Ruiz", "content": "I live in Lisbon."}],
    "document": {"claims": [{"msg": 1, "subject": "I", "predicate": "lives_in", "object": "Lisbon"}]},
}
TIMEOUT_MS = 1_500


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Work:
    """Blocking work that counts itself."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.here: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.done: list[str] = []

    def run(self, space: str) -> str:
        with self.lock:
            self.here[space] += 1
            self.most[space] = max(self.most[space], self.here[space])
            self.most["all"] = max(self.most["all"], self.here.total())
        time.sleep(0.001)
        with self.lock:
            self.here[space] -= 1
            self.done.append(space)
        return space


@settings(max_examples=25, deadline=None)
@given(
    threads=st.integers(1, 4),
    of_one=st.integers(1, 4),
    asked=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from((None, 0.0, 0.002))), max_size=24),
)
def test_no_more_at_a_time_than_there_are_turns_whoever_leaves_meanwhile(
    threads: int, of_one: int, asked: list[tuple[str, float | None]]
) -> None:
    work = Work()

    async def ask_all() -> None:
        turns = Turns(threads, of_one)

        async def ask(space: str, patience_s: float | None) -> None:
            with anyio.move_on_after(patience_s):
                assert await turns.run(space, lambda: work.run(space)) == space

        async with anyio.create_task_group() as group:
            for space, patience_s in asked:
                group.start_soon(ask, space, patience_s)
        # What was taken was given back: as much can be done at a time as before.
        async with anyio.create_task_group() as group:
            for _ in range(threads):
                for space in "abcd":
                    group.start_soon(turns.run, space, lambda space=space: work.run(space))
        assert (turns._free, turns._at_work.total(), len(turns._waiting)) == (threads, 0, 0)

    anyio.run(ask_all)
    assert work.most["all"] <= threads
    assert all(work.most[space] <= of_one for space in "abcd")
    patient = Counter(space for space, patience_s in asked if patience_s is None)
    assert all(work.done.count(space) >= patient[space] + threads for space in "abc")


async def test_a_few_requests_of_one_space_do_not_wait_for_many_of_another() -> None:
    turns, work = Turns(2, 2), Work()
    async with anyio.create_task_group() as group:
        for _ in range(60):
            group.start_soon(turns.run, "busy", lambda: work.run("busy"))
        for _ in range(3):
            group.start_soon(turns.run, "calm", lambda: work.run("calm"))
    assert [place for place, space in enumerate(work.done) if space == "calm"][-1] < 15


async def test_who_has_no_turn_in_time_has_begun_nothing() -> None:
    turns, work, gate = Turns(1, 1), Work(), threading.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(turns.run, "home", gate.wait)
        await anyio.sleep(0.01)
        with pytest.raises(TurnMissed):
            await turns.run("away", lambda: work.run("away"), time.monotonic() + 0.05)
        with pytest.raises(TurnMissed):
            await turns.run("away", lambda: work.run("away"), time.monotonic() - 1)
        gate.set()
    assert work.done == []
    assert await turns.run("away", lambda: work.run("away")) == "away"


@asynccontextmanager
async def two_spaces(folder: Path) -> AsyncIterator[tuple[Application, httpx.AsyncClient]]:
    made = world(folder, kip_timeout_ms=TIMEOUT_MS)
    made.create("home")
    made.create("away")
    async with served(made.application) as client:
        yield made.application, client


@contextmanager
def written_to(application: Application, space_id: str) -> Iterator[None]:
    """Somebody else writes to a Space, for the whole block."""
    begun, done = threading.Event(), threading.Event()

    def write() -> None:
        with application.spaces.use(space_id) as space, space.store.transaction():
            begun.set()
            done.wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    begun.wait(10)
    try:
        yield
    finally:
        done.set()
        writer.join(10)


@pytest.mark.requirement("BR-HTTP-028", "BR-EP-020")
async def test_a_document_has_the_time_of_a_request_and_keeps_nothing_when_it_is_over(tmp_path: Path) -> None:
    async with two_spaces(tmp_path) as (application, client):
        with written_to(application, "home"):
            begun = time.monotonic()
            answer = await client.post("/v1/home/remember", json=DOCUMENT)
            assert time.monotonic() - begun < TIMEOUT_MS / 1000 + 5
            assert answer.status_code == 503, answer.text
            assert answer.headers["retry-after"] == "1"
        command = {"command": "FIND(COUNT(?e)) WHERE { ?e EVIDENCE {} }"}
        asked = (await client.post("/v1/home/execute_kip_readonly", json=command)).json()
        assert asked["results"][0]["result"] == [0]
        assert (await client.get("/v1/home/info")).json()["result"]["conversations"] == 0
        assert (await client.post("/v1/home/remember", json=DOCUMENT)).status_code == 200


@pytest.mark.requirement("BR-HTTP-028")
async def test_documents_of_one_space_do_not_keep_out_those_of_another(tmp_path: Path) -> None:
    async with two_spaces(tmp_path) as (application, client), anyio.create_task_group() as group:
        statuses: list[int] = []

        async def remember() -> None:
            statuses.append((await client.post("/v1/home/remember", json=DOCUMENT)).status_code)

        with written_to(application, "home"):
            for _ in range(8):
                group.start_soon(remember)
            await anyio.sleep(0.2)
            assert (await client.post("/v1/away/remember", json=DOCUMENT)).status_code == 200
            await anyio.sleep(TIMEOUT_MS / 1000 + 1)
        with anyio.fail_after(20):
            while len(statuses) < 8:  # noqa: ASYNC110 - what is waited for has no event
                await anyio.sleep(0.01)
        assert set(statuses) == {503}


@pytest.mark.requirement("BR-HTTP-028")
async def test_requests_that_wait_in_one_space_do_not_keep_out_those_of_another(tmp_path: Path) -> None:
    async with two_spaces(tmp_path) as (application, client), anyio.create_task_group() as group:
        body = {"messages": DOCUMENT["messages"]}
        with written_to(application, "home"):
            for _ in range(24):
                group.start_soon(lambda: client.post("/v1/home/formation", json=body))
            await anyio.sleep(0.3)
            assert (await client.post("/v1/away/formation", json=body)).status_code == 200
            assert (await client.post("/v1/away/probe", json={"query": "Lisbon"})).status_code == 200
            # There is no turn for it in time, and it says so.
            answer = await client.post("/v1/home/probe", json={"query": "Lisbon"})
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "1"


@pytest.mark.requirement("BR-EP-020")
async def test_a_probe_and_a_look_for_attention_end_with_their_time(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.create()
    over = time.monotonic() - 1
    with made.application.spaces.use("home") as space:
        with pytest.raises(Unavailable, match="in time"):
            probe(space, "Lisbon", 5, session=HOST, clock=made.clock, ends=over)
        with pytest.raises(Unavailable, match="in time"):
            attention(Reading(space.engine, HOST, ends=over), None, 5)
        answer = space.engine.until(over).run('FIND(?p) WHERE { ?p {type: "Person"} }', session=HOST).response
        assert answer["status"] == "failed"
        refused = answer.get("error") or answer["results"][0]["error"]
        assert refused["code"] == "ExecutionTimeout"
        assert probe(space, "Lisbon", 5, session=HOST, clock=made.clock)["found"] is False
        assert attention(Reading(space.engine, HOST), None, 5)["complete"] is True
    made.application.spaces.close()
