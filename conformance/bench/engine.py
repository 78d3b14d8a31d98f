"""The engine, the reference engine and the floor on one data set, in one run.

A machine's pace may change by half within minutes. So all Spaces are filled first, and then everything is measured a
few times in turn, every size of every side: what is compared was measured under the same conditions.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from brain.collector import settle
from conformance.bench.floor import Floor
from conformance.bench.measure import forget_peak, peak_mb
from conformance.bench.people import (
    ASSERT,
    CLAIMS_OF_A_BLOCK,
    READS,
    block_of,
    claim_of,
    load,
    parameters_of,
    person_count,
)
from conformance.engine import EngineAdapter
from conformance.live import Peer
from conformance.places import bare_trips

_ROUNDS, _IN_A_ROW = 4, 11
_CLAIMS_IN_A_ROW = 50
_BLOCKS_IN_A_ROW = 5
_WARMING = 2
"""Measurements at the beginning of a row that are forgotten: another side had the processor's caches before."""
_BUDGET_S = 20.0
"""What took a side longer than this together is repeated no more."""


class Driver(Protocol):
    """Something that runs commands on one fresh Space and tells how long each took inside it."""

    def run(self, command: str, parameters: Mapping[str, Any]) -> tuple[Any, float]:
        """A command's result and its milliseconds; RuntimeError when it failed."""
        ...

    def peak_mb(self) -> float:
        """The most memory it held."""
        ...

    def close(self) -> None: ...


class Ours:
    """Our engine, in this process, settled as a server is, on a store that survives power loss."""

    def __init__(self, store: str) -> None:
        forget_peak()
        self._adapter = EngineAdapter(durability="full", store=store)
        self._adapter.reset(["cognitive-memory", "general"])
        settle()

    def run(self, command: str, parameters: Mapping[str, Any]) -> tuple[Any, float]:
        request = {"kip": "2.0", "operations": [{"command": command, "parameters": dict(parameters)}]}
        begun = time.perf_counter()
        answer = self._adapter.send(request)
        spent = (time.perf_counter() - begun) * 1000
        if answer["status"] != "succeeded":
            raise RuntimeError(json.dumps(answer)[:800])
        return answer["results"][0]["result"], spent

    def peak_mb(self) -> float:
        return peak_mb()

    def close(self) -> None:
        self._adapter.close()


class Theirs:
    """The reference engine's binary, in memory."""

    def __init__(self, binary: str) -> None:
        self._peer = Peer([binary])
        self._peer.reset(["cognitive-memory", "general"])

    def run(self, command: str, parameters: Mapping[str, Any]) -> tuple[Any, float]:
        return self._peer.timed(command, parameters)

    def peak_mb(self) -> float:
        return peak_mb(self._peer.pid)

    def close(self) -> None:
        self._peer.close()


@dataclass(slots=True)
class _Side:
    """One engine on a Space of one size.

    ids      of its Persons
    figures  medians in milliseconds by name, the load in seconds, the peak in MB
    least    what there is to compare with, by name: medians of a bare database or of a bare round trip
    """

    name: str
    driver: Driver
    size: int
    ids: Sequence[str]
    figures: dict[str, float] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)

    @classmethod
    def filled(cls, name: str, driver: Driver, size: int) -> _Side:
        ids, seconds = load(lambda command, parameters: driver.run(command, parameters)[0], size)
        figures = {"load, s": seconds, "peak memory, MB": driver.peak_mb()}
        return cls(name, driver, size, ids, figures)

    def read(self, name: str, turn: int) -> float:
        command = READS[name]
        number = (turn * 7919 + 13) % person_count(self.size)
        return self.driver.run(command, parameters_of(command, number))[1]

    def claim(self, turn: int) -> float:
        return self.driver.run(ASSERT, claim_of(self.ids, turn))[1]

    def block(self, turn: int) -> float:
        """Many claims at once; the milliseconds of one of them, as its caller has to wait."""
        numbers = range(turn * CLAIMS_OF_A_BLOCK, (turn + 1) * CLAIMS_OF_A_BLOCK)
        claims = {n: (self.ids[n * 17 % len(self.ids)], f"-{n % 12:02d}:30") for n in numbers}
        command, bound = block_of("timezone", claims)
        begun = time.perf_counter()
        self.driver.run(command, bound)
        return (time.perf_counter() - begun) * 1000 / CLAIMS_OF_A_BLOCK


def bench_engine(sizes: Sequence[int], binary: str | None, store: str, *, peer_up_to: int | None = None) -> None:
    """Every read and write at every size, and how the medians grew from the smallest to the largest.

    store       of `conformance/places.py`; the floor beside a Neo4j is one round trip of its bare driver, made as often
                and right behind what it is compared with
    peer_up_to  the largest size the reference engine is measured at, None for all: its load takes time by the square
    """
    compared = [size for size in sizes if binary and (peer_up_to is None or size <= peer_up_to)]
    with ThreadPoolExecutor(1) as beside:
        filling = beside.submit(
            lambda: {size: _Side.filled("reference", Theirs(str(binary)), size) for size in compared}
        )
        ours = {size: _Side.filled("ours", Ours(store), size) for size in sizes}
        theirs = filling.result()
    sides = [side for size in sizes for side in (ours[size], theirs.get(size)) if side is not None]
    with ExitStack() as stack:
        for side in sides:
            stack.callback(side.driver.close)
        trip = stack.enter_context(bare_trips()) if store == "neo4j" else None
        for size in sizes if trip is None else ():
            ours[size].least = _floor(size)
        for name in READS:
            _in_turn(sides, name, _reading(name), _IN_A_ROW, trip)
        _in_turn(sides, "ASSERT, one a transaction", _Side.claim, _CLAIMS_IN_A_ROW, trip)
        _in_turn(sides, "claim, 100 a transaction", _Side.block, _BLOCKS_IN_A_ROW)
        for size in sizes:
            _print(store, ours[size], theirs.get(size))
        if len(sizes) > 1:
            print(f"growth from {sizes[0]} to {sizes[-1]} Concepts")
            for name in READS:
                print(f"  {name:<28}{ours[sizes[-1]].figures[name] / ours[sizes[0]].figures[name]:>11.2f}x")


def _reading(name: str) -> Callable[[_Side, int], float]:
    return lambda side, turn: side.read(name, turn)


def _in_turn(
    sides: Sequence[_Side],
    name: str,
    measure: Callable[[_Side, int], float],
    in_a_row: int,
    trip: Callable[[], float] | None = None,
) -> None:
    """The median of each side, some measurements of one after some of the other, and some bare trips behind each."""
    times: dict[int, list[float]] = {place: [] for place in range(len(sides))}
    trips: dict[int, list[float]] = {place: [] for place in times}
    turns = {place: count() for place in times}
    spent = dict.fromkeys(times, 0.0)
    for _ in range(_ROUNDS):
        for place, side in enumerate(sides):
            for taken in range(_WARMING + in_a_row):
                if spent[place] > _BUDGET_S and times[place]:
                    break
                begun = time.perf_counter()
                figure = measure(side, next(turns[place]))
                spent[place] += time.perf_counter() - begun
                if taken >= _WARMING:
                    times[place].append(figure)
            if trip is not None:
                trips[place] += [trip() for _ in range(in_a_row)]
    for place, side in enumerate(sides):
        side.figures[name] = statistics.median(times[place])
        if trip is not None:
            side.least[name] = statistics.median(trips[place])


def _print(store: str, ours: _Side, theirs: _Side | None) -> None:
    print(f"engine on {store}, {ours.size} Concepts, median ms")
    bare = "bare SQL" if store == "sqlite" else "bare trip"
    print(f"  {'':<28}{'ours':>12}{'reference':>12}{'ratio':>9}{bare:>12}{'ratio':>9}")
    for name, figure in ours.figures.items():
        peer, least = theirs.figures.get(name) if theirs else None, ours.least.get(name)
        columns = [f"{figure:>12.3f}"]
        for other in (peer, least):
            columns += [f"{_or_blank(other):>12}", f"{_or_blank(figure / other if other else None):>9}"]
        print(f"  {name:<28}{''.join(columns)}", flush=True)


def _floor(size: int) -> dict[str, float]:
    floor = Floor(size)
    try:
        figures: dict[str, float] = {}
        for name, command in READS.items():
            times = []
            for turn in range(_WARMING + _IN_A_ROW):
                parameters = parameters_of(command, (turn * 7919 + 13) % person_count(size))
                begun = time.perf_counter()
                floor.read(name, parameters)
                times.append((time.perf_counter() - begun) * 1000)
            figures[name] = statistics.median(times[_WARMING:])
        times = []
        for turn in range(_ROUNDS * _CLAIMS_IN_A_ROW):
            begun = time.perf_counter()
            floor.claim(1 + turn)
            times.append((time.perf_counter() - begun) * 1000)
        figures["ASSERT, one a transaction"] = statistics.median(times)
        return figures
    finally:
        floor.close()


def _or_blank(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"
