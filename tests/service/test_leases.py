"""One worker at a time: a pass that lost its lease stops, and nothing of it is stored afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from brain.agents.jobs import FormationJob, Place, RunResult
from brain.agents.model import Usage
from brain.errors import SerializationConflict
from brain.gate.gate import host_session
from brain.service import conversations
from brain.service.byok import OwnModels
from brain.service.passes import Passes
from brain.service.queue import Queue
from brain.service.spaces import OpenSpace
from brain.store.base import Document, LeaseLost
from brain.times import FixedClock, SystemClock
from tests.service.world import World, until, world

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def two(folder: Path, clock: FixedClock, **changed: int) -> AsyncIterator[tuple[World, World]]:
    """Two processes' worth of service on one folder."""
    first = world(folder, clock=clock, **changed)
    first.create()
    second = world(folder, clock=clock, **changed)
    yield first, second
    first.application.spaces.close()
    second.application.spaces.close()


def commits(home: World) -> int:
    with home.application.spaces.get("home").snapshot() as now:
        return now.seq


@pytest.mark.requirement("BR-FORM-033", "BR-LIFE-012")
async def test_a_worker_that_was_overtaken_commits_nothing(tmp_path: Path, clock: FixedClock) -> None:
    async with two(tmp_path, clock) as (slow, quick):
        slow.keeper.gates["contested"] = anyio.Event()
        await slow.submit("contested")
        async with anyio.create_task_group() as group:
            group.start_soon(slow.work)
            await until(lambda: slow.keeper.at_work)
            assert await quick.work() == 0
            clock.advance(slow.application.settings.lease_ttl_ms)
            assert await quick.work() == 1
            formed, record = commits(quick), quick.record(1)
            slow.keeper.gates["contested"].set()
        assert commits(quick) == formed
        assert quick.record(1) == record
        assert record["status"] == "completed"
        assert quick.kept() == ["contested"]
        assert len(quick.find("FIND(?e.id) WHERE { ?e EVIDENCE {} }")) == 1
        assert quick.statuses() == ["completed"]


async def test_a_lost_lease_is_noticed_while_the_model_is_waited_for(tmp_path: Path, clock: FixedClock) -> None:
    async with two(tmp_path, clock, lease_ttl_ms=1_000) as (slow, quick):
        slow.keeper.gates["contested"] = anyio.Event()
        await slow.submit("contested")
        async with anyio.create_task_group() as group:
            group.start_soon(slow.work, "home", 1)
            await until(lambda: slow.keeper.at_work)
            clock.advance(1_000)
            await until(lambda: not slow.keeper.at_work, seconds=3)
        assert await quick.work() == 1
        assert quick.kept() == ["contested"]
        assert quick.statuses() == ["completed"]


async def test_a_lease_is_renewed_for_as_long_as_its_pass_takes(tmp_path: Path) -> None:
    slow = world(tmp_path, lease_ttl_ms=1_000)
    slow.create()
    await slow.submit("long [slow 2.2]")
    other = world(tmp_path, lease_ttl_ms=1_000)
    async with anyio.create_task_group() as group:
        group.start_soon(slow.work)
        await until(lambda: slow.keeper.at_work)
        taken = 0
        while slow.keeper.at_work:
            taken += await other.work()
            await anyio.sleep(0.05)
    assert taken == 0
    assert slow.statuses() == ["completed"]
    slow.application.spaces.close()
    other.application.spaces.close()


async def test_an_agent_that_overlooks_the_loss_is_not_believed(tmp_path: Path, clock: FixedClock) -> None:
    async with two(tmp_path, clock) as (slow, quick):
        written: list[str] = []

        async def careless(place: Place, job: FormationJob) -> RunResult:
            if len(written) == 0:
                clock.advance(slow.application.settings.lease_ttl_ms)
                await quick.work()
            command = 'CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {summary: "too late", event_class: "note"} }'
            for _ in range(2):
                outcome = place.engine.run(command, session=host_session("agent:test", job.commit_review))
                written.append(outcome.response["results"][0]["status"])
            return RunResult("done", None, Usage(), "careless", 1, "done")

        passes = _passes(slow, careless)
        await slow.submit("contested")
        assert await passes.step(slow.application.spaces.get("home"))
        assert written == ["failed", "failed"]
        assert quick.kept() == ["contested"]
        assert quick.record(1)["model"] == "test/keeper"


async def test_the_end_of_a_pass_waits_for_other_writers_and_is_not_lost(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = world(tmp_path, clock=clock)
    home.create()
    await home.submit("one")
    original, left = Queue.finish, [3]

    def busy(self: Queue, *arguments: object) -> str:
        if left[0]:
            left[0] -= 1
            raise SerializationConflict
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Queue, "finish", busy)
    assert await home.work() == 1
    assert home.statuses() == ["completed"]
    assert home.keeper.asked["one"] == 1
    home.application.spaces.close()


@pytest.mark.requirement("BR-FORM-038", "BR-LIFE-009", "BR-LIFE-010")
@pytest.mark.parametrize(
    ("text", "status", "kept"),
    [("whole", "submitted", []), ("half [twice]", "failed", ["half [twice]"])],
    ids=["nothing written", "something written"],
)
async def test_a_stopped_pass_is_handed_back_or_reported(
    tmp_path: Path, clock: FixedClock, text: str, status: str, kept: list[str]
) -> None:
    async with two(tmp_path, clock) as (stopping, next_one):
        if kept:
            stopping.keeper.pause_s = 0.2
        else:
            stopping.keeper.gates[text] = anyio.Event()
        await stopping.submit(text, "after")
        async with anyio.create_task_group() as group:
            group.start_soon(stopping.work)
            await until(lambda: stopping.kept() == kept and stopping.keeper.at_work)
            group.cancel_scope.cancel()
        assert stopping.statuses() == [status, "submitted"]
        with stopping.application.spaces.get("home").snapshot() as now:
            assert now.lease("pass") is None
        await next_one.work()
        assert next_one.kept() == [*(kept or [text]), "after"]
        assert next_one.statuses() == [status if kept else "completed", "completed"]


async def test_a_write_in_flight_is_waited_for_when_a_pass_is_stopped(tmp_path: Path, clock: FixedClock) -> None:
    home = world(tmp_path, clock=clock)
    home.create()
    entered = anyio.Event()
    loop_seq: list[int] = []

    async def writing(place: Place, job: FormationJob) -> RunResult:
        def write() -> None:
            anyio.from_thread.run_sync(entered.set)
            import time

            time.sleep(0.3)
            place.engine.run(
                'CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {summary: "in flight", event_class: "note"} }',
                session=host_session("agent:test", job.commit_review),
            )
            with place.engine.space.snapshot() as now:
                loop_seq.append(now.seq)

        await anyio.to_thread.run_sync(write)
        return RunResult("done", None, Usage(), "test", 1, "done")

    await home.submit("one")
    async with anyio.create_task_group() as group:
        group.start_soon(_passes(home, writing).step, home.application.spaces.get("home"))
        await entered.wait()
        group.cancel_scope.cancel()
    with home.application.spaces.get("home").snapshot() as now:
        assert loop_seq == [now.seq]
        assert conversations.commits_of(now, "formation", 1) == [now.seq]
    assert home.kept() == ["in flight"]
    assert home.record(1)["status"] == "failed"
    assert home.record(1)["failed_reason"].startswith("interrupted: ")
    home.application.spaces.close()


def _passes(home: World, form: object) -> Passes:
    async def maintain(*_: object) -> RunResult:
        raise NotImplementedError

    def settle(_: OpenSpace, *__: object) -> Document:
        raise NotImplementedError

    application = home.application
    return Passes(
        clock=home.clock,
        settings=application.settings,
        queue=application.queue,
        models=OwnModels(home.keeper, None, lambda chosen: home.keeper),
        form=form,  # type: ignore[arg-type]
        maintain=maintain,
        settle=settle,
    )


DAY_MS = 86_400_000


@pytest.mark.requirement("BR-FORM-033", "BR-OPS-005")
async def test_a_holder_that_died_under_a_later_clock_is_waited_for_no_longer_than_any_other(
    tmp_path: Path, clock: FixedClock
) -> None:
    async with two(tmp_path, clock, lease_ttl_ms=1_000) as (dead, other):
        await dead.submit("interrupted", "after")
        taken = dead.application.queue.take(dead.application.spaces.get("home"))
        assert taken is not None
        clock.advance(-DAY_MS)
        assert await other.work() == 0
        outlook = other.application.queue.outlook(other.application.spaces.get("home").store)
        assert outlook == ("formation", 1_000)
        await anyio.sleep(1.1)
        assert await other.work() == 2
        assert other.statuses() == ["completed"] * 2
        # And it is over for the one that was given up, should it live.
        with pytest.raises(LeaseLost):
            dead.application.queue.renew(dead.application.spaces.get("home"), taken)


@pytest.mark.requirement("BR-FORM-033", "BR-LIFE-012")
async def test_a_holder_whose_clock_is_a_day_ahead_keeps_its_lease_while_it_lives(tmp_path: Path) -> None:
    clock = SystemClock()
    ahead = world(tmp_path, clock=FixedClock(clock.now_ms() + DAY_MS), lease_ttl_ms=1_000)
    ahead.create()
    other = world(tmp_path, clock=clock, lease_ttl_ms=1_000)
    await ahead.submit("long [slow 3]")
    async with anyio.create_task_group() as group:
        group.start_soon(ahead.work)
        await until(lambda: ahead.keeper.at_work)
        while ahead.keeper.at_work:
            ahead.clock.advance(50)
            assert await other.work() == 0
            await anyio.sleep(0.05)
    assert ahead.statuses() == ["completed"]
    ahead.application.spaces.close()
    other.application.spaces.close()
