"""Claims a second of one Space, and of several at once: what a machine takes when nobody shares a Space.

A Space has one writer at a time, so one of them is bounded by how long a claim takes; several are bounded by processor
and disk, as long as nothing of the store is shared between them. Each Space is written by a thread of its own, and the
threads are spread over processes as a deployment's are: one Python process uses one core.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from conformance.bench.engine import Ours
from conformance.bench.people import ASSERT, claim_of, load
from conformance.places import database_s, round_trip_ms, settings_of

_CONCEPTS = 300
"""Concepts in each Space, seven in ten of them Persons who make the claims."""

_COLUMNS = ("Spaces", "claims/s", "of each", "median, ms", "p95, ms", "ours, ms", "database, ms", "cores busy")


@dataclass(slots=True)
class _Claims:
    """What some Spaces wrote side by side.

    times         milliseconds of each claim, as its caller had to wait
    processor_ms  what the writing processes spent
    """

    times: list[float] = field(default_factory=list)
    processor_ms: float = 0.0


class _Space:
    """One Space and the writer of it."""

    def __init__(self, store: str, concepts: int) -> None:
        self._driver = Ours(store)
        self._ids, _ = load(lambda command, parameters: self._driver.run(command, parameters)[0], concepts)
        self._numbers = count()

    def write(self, seconds: float) -> list[float]:
        """Claim one after the other until the time is over; the milliseconds of each."""
        times, until = list[float](), time.perf_counter() + seconds
        while time.perf_counter() < until:
            times.append(self._driver.run(ASSERT, claim_of(self._ids, next(self._numbers)))[1])
        return times

    def close(self) -> None:
        self._driver.close()


def bench_writers(spaces: Sequence[int], processes: int, seconds: float, store: str) -> None:
    """Claims a second with so many Spaces at once, a line for each number of them.

    Printed beside the pace are the processor time of a claim in the writing processes and in the database, and how many
    cores of this machine were busy with that and with whatever else was at work.

    processes  at most, over which the Spaces are spread
    seconds    of each line; as long is written before the first, unmeasured
    """
    most, cores = max(spaces), os.cpu_count() or 1
    with ExitStack() as stack:
        shares = [len(range(place, most, processes)) for place in range(min(processes, most))]
        writers = [stack.enter_context(_process(store, share)) for share in shares]
        for writer in writers:
            writer.recv()
        _together(writers, most, seconds)
        trip = f"; bare trip {round_trip_ms():.2f} ms" if store == "neo4j" else ""
        print(f"writers on {store}: {_CONCEPTS} Concepts a Space, {len(writers)} processes, {cores} cores{trip}")
        print("".join(f"{column:>13}" for column in _COLUMNS))
        for wanted in spaces:
            database, busy, begun = database_s(store), _busy_s(), time.perf_counter()
            claims = _together(writers, wanted, seconds)
            spent, busy, database = time.perf_counter() - begun, _busy_s() - busy, database_s(store) - database
            made = len(claims.times)
            row = (
                f"{wanted}",
                f"{made / spent:.0f}",
                f"{made / spent / wanted:.0f}",
                f"{statistics.median(claims.times):.2f}",
                f"{sorted(claims.times)[made * 95 // 100]:.2f}",
                f"{claims.processor_ms / made:.2f}",
                f"{database * 1000 / made:.2f}" if store == "neo4j" else "",
                f"{busy / spent:.2f}",
            )
            print("".join(f"{cell:>13}" for cell in row), flush=True)


def _together(writers: Sequence[Connection], spaces: int, seconds: float) -> _Claims:
    """Have the first so many Spaces written at once."""
    for place, writer in enumerate(writers):
        writer.send((len(range(place, spaces, len(writers))), seconds))
    claims = _Claims()
    for writer in writers:
        of_one = writer.recv()
        claims.times += of_one.times
        claims.processor_ms += of_one.processor_ms
    return claims


@contextmanager
def _process(store: str, spaces: int) -> Iterator[Connection]:
    """A process with so many Spaces; it says when they are there, and then writes as often as it is told to."""
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    process = context.Process(target=_write_when_told, args=(its, store, dict(settings_of(store)), spaces), daemon=True)
    process.start()
    its.close()  # so that the end of either process is the end of the pipe
    try:
        yield ours
    finally:
        ours.close()
        process.join()


def _write_when_told(orders: Connection, store: str, settings: Mapping[str, str], count_: int) -> None:
    """The life of a writing process: `(how many of its Spaces, seconds)` comes, `_Claims` goes."""
    os.environ.update(settings)
    with ExitStack() as stack, ThreadPoolExecutor(max(count_, 1)) as threads:
        spaces = [_Space(store, _CONCEPTS) for _ in range(count_)]
        for space in spaces:
            stack.callback(space.close)
        orders.send(None)
        while (order := _next_order(orders)) is not None:
            wanted, seconds = order
            begun = time.process_time()
            lists = list(threads.map(lambda space: space.write(seconds), spaces[:wanted]))  # noqa: B023 - run at once
            spent = (time.process_time() - begun) * 1000
            orders.send(_Claims([one for times in lists for one in times], spent))


def _next_order(orders: Connection) -> Any:
    try:
        return orders.recv()
    except EOFError:
        return None


def _busy_s() -> float:
    """Seconds all cores together have worked since the machine started; NaN when nobody can say."""
    try:
        user, nice, system, _idle, _waiting, *rest = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    except (OSError, ValueError):
        return float("nan")
    return (user + nice + system + sum(rest[:2])) / os.sysconf("SC_CLK_TCK")
