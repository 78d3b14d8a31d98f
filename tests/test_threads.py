"""Blocking work beside the event loop: in a thread, in the context of whoever waits, and waited for to its end."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from contextvars import ContextVar

import anyio
import pytest

from brain.threads import in_thread

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_work_runs_in_another_thread_and_one_after_another_in_the_same() -> None:
    one, two = await in_thread(threading.get_ident), await in_thread(threading.get_ident)
    assert one == two != threading.get_ident()


async def test_work_that_waits_for_other_work_has_a_thread_of_its_own() -> None:
    meeting = threading.Barrier(20)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(in_thread, lambda: meeting.wait(10))


async def test_work_knows_the_context_of_whoever_waits_and_leaves_it_alone() -> None:
    told = ContextVar("told", default="nothing")

    def work() -> str:
        before = told.get()
        told.set("changed")
        return before

    told.set("something")
    assert await in_thread(work) == "something"
    assert told.get() == "something"


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, asyncio.CancelledError])
async def test_a_failure_reaches_whoever_waits_and_the_thread_goes_on(kind: type[BaseException]) -> None:
    def work() -> None:
        raise kind

    with pytest.raises(kind):
        await in_thread(work)
    assert await in_thread(lambda: 1) == 1


async def test_a_failure_that_ends_iterations_is_none_of_whoever_waits() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(lambda: next(iter(())))


async def test_work_that_has_begun_is_waited_for_by_whoever_is_cancelled() -> None:
    done = threading.Event()

    def work() -> None:
        time.sleep(0.1)
        done.set()

    with anyio.move_on_after(0.01):
        await in_thread(work)
        assert done.is_set()


async def test_who_is_cancelled_before_begins_nothing() -> None:
    begun = threading.Event()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await in_thread(begun.set)
    assert scope.cancelled_caught
    assert not begun.is_set()


async def test_work_whose_waiter_is_gone_frees_its_thread_all_the_same() -> None:
    go = threading.Event()
    waiter = asyncio.create_task(in_thread(go.wait))
    await asyncio.sleep(0.01)
    waiter.cancel()  # by the event loop itself, which no scope holds off
    with pytest.raises(asyncio.CancelledError):
        await waiter
    go.set()
    await asyncio.sleep(0.05)
    assert await in_thread(lambda: 1) == 1


def test_threads_end_with_their_event_loop() -> None:
    names = set[int]()

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(in_thread, lambda: names.add(threading.get_ident()) or time.sleep(0.05))

    asyncio.run(work())
    assert names
    ends = time.monotonic() + 10
    while {thread.ident for thread in threading.enumerate()} & names and time.monotonic() < ends:
        gc.collect()
        time.sleep(0.01)
    assert not {thread.ident for thread in threading.enumerate()} & names
