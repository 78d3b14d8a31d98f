"""Blocking work beside the event loop, in threads that are kept: what nearly every request waits for.

`anyio.to_thread` does the same for any event loop and within a bound of its own; this one knows that it runs under
asyncio and is bounded by its callers, and a hand-over costs it half.
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

from anyio import CancelScope
from anyio.lowlevel import checkpoint_if_cancelled

T = TypeVar("T")

_KEPT_S = 10.0
"""How long a thread without work is kept, as soon as others have some."""


@dataclass(slots=True)
class _Task:
    context: Context
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]
    worker: _Worker


@dataclass(slots=True, eq=False)
class _Worker:
    """A thread that takes one task after another; None ends it."""

    tasks: SimpleQueue[_Task | None] = field(default_factory=SimpleQueue)
    free_since: float = 0.0

    def begin(self) -> None:
        threading.Thread(target=_take, args=(self.tasks,), name="blocking work", daemon=True).start()


def _take(tasks: SimpleQueue[_Task | None]) -> None:
    while (task := tasks.get()) is not None:
        try:
            result, fault = task.context.run(task.work), None
        except BaseException as raised:  # noqa: BLE001 - it is whoever waits that has to see it
            result, fault = None, raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            task.loop.call_soon_threadsafe(_end, task, result, fault)
        del task, result, fault  # nothing of it is kept while there is no other


def _end(task: _Task, result: Any, fault: BaseException | None) -> None:
    """In the event loop: the thread is free, and whoever waits goes on."""
    free = _free_of(task.loop)
    task.worker.free_since = now = time.monotonic()
    free.append(task.worker)
    while now - free[0].free_since > _KEPT_S:
        free.popleft().tasks.put(None)
    if task.done.cancelled():
        return
    if fault is None:
        task.done.set_result(result)
    elif isinstance(fault, StopIteration):  # which a future cannot carry
        task.done.set_exception(RuntimeError("blocking work raised StopIteration"))
    else:
        task.done.set_exception(fault)


_FREE: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, deque[_Worker]] = weakref.WeakKeyDictionary()
"""Threads without work of each event loop, the one that was busy last at the right; they end with their loop."""


def _free_of(loop: asyncio.AbstractEventLoop) -> deque[_Worker]:
    free = _FREE.get(loop)
    if free is None:
        free = _FREE[loop] = deque()
        weakref.finalize(loop, _dismiss, free)
    return free


def _dismiss(free: deque[_Worker]) -> None:
    while free:
        free.popleft().tasks.put(None)


async def in_thread(work: Callable[[], T]) -> T:
    """What blocking work comes to, in the context of whoever waits. How much of it there is at a time is the caller's
    to bound. Who is cancelled before begins nothing, and who is cancelled then waits for its end."""
    await checkpoint_if_cancelled()
    loop = asyncio.get_running_loop()
    free = _free_of(loop)
    if free:
        worker = free.pop()
    else:
        worker = _Worker()
        worker.begin()
    task = _Task(copy_context(), work, loop, loop.create_future(), worker)
    with CancelScope(shield=True):
        worker.tasks.put(task)
        result: T = await task.done
    return result
