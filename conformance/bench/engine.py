"""The engine, the reference engine and the floor on one data set, in one run."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from brain.collector import settle
from conformance.bench.floor import Floor
from conformance.bench.measure import forget_peak, peak_mb
from conformance.bench.people import ASSERT, GROWING, READS, load, parameters_of, person_count
from conformance.engine import EngineAdapter
from conformance.live import Peer
from conformance.places import round_trip_ms

_CLAIMS = 200
_BLOCKS, _BLOCK = 20, 100
_BUDGET_S = 20.0
"""A read that is slower than this together is repeated no more."""


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


def bench_engine(sizes: Sequence[int], binary: str | None, store: str) -> None:
    """Every size in turn, then how the medians grew from the smallest to the largest.

    store  of `conformance/places.py`; the floor beside a Neo4j is one round trip of its bare driver
    """
    medians: list[Mapping[str, float]] = []
    for size in sizes:
        ours = _measured(Ours(store), size)
        theirs = _measured(Theirs(binary), size) if binary else {}
        floor = _floor(size) if store == "sqlite" else dict.fromkeys(READS, round_trip_ms())
        print(f"engine on {store}, {size} Concepts, median ms")
        bare = "bare SQL" if store == "sqlite" else "bare trip"
        print(f"  {'':<28}{'ours':>12}{'reference':>12}{'ratio':>9}{bare:>12}")
        for name, figure in ours.items():
            peer, least = theirs.get(name), floor.get(name)
            ratio = f"{figure / peer:.3f}" if peer else ""
            print(f"  {name:<28}{figure:>12.3f}{_or_blank(peer):>12}{ratio:>9}{_or_blank(least):>12}", flush=True)
        medians.append(ours)
    if len(sizes) > 1:
        print(f"growth from {sizes[0]} to {sizes[-1]} Concepts")
        for name in READS:
            print(f"  {name:<28}{medians[-1][name] / medians[0][name]:>11.2f}x")


def _measured(driver: Driver, size: int) -> dict[str, float]:
    """Medians of every read and write, the load in seconds and the peak in MB."""
    figures: dict[str, float] = {}
    try:
        ids, seconds = load(lambda command, parameters: driver.run(command, parameters)[0], size)
        for name, command in READS.items():
            times: list[float] = []
            begun = time.perf_counter()
            for turn in range(9 if name in GROWING else 41):
                number = (turn * 7919 + 13) % person_count(size)
                times.append(driver.run(command, parameters_of(command, number))[1])
                if time.perf_counter() - begun > _BUDGET_S and turn:
                    break
            figures[name] = statistics.median(times[1:])
        figures |= _written(driver, ids)
        figures["load, s"] = seconds
        figures["peak memory, MB"] = driver.peak_mb()
    finally:
        driver.close()
    return figures


def _written(driver: Driver, ids: Sequence[str]) -> dict[str, float]:
    """One claim a transaction, and many in one."""
    times: list[float] = []
    begun = time.perf_counter()
    for turn in range(_CLAIMS):
        bound = {"s": {"id": ids[turn * 31 % len(ids)]}, "v": f"+{turn % 12:02d}:00"}
        times.append(driver.run(ASSERT, bound)[1])
        if time.perf_counter() - begun > _BUDGET_S and turn:
            break
    figures = {"ASSERT, one a transaction": statistics.median(times)}
    begun = time.perf_counter()
    claims = 0
    for turn in range(_BLOCKS):
        numbers = range(turn * _BLOCK, (turn + 1) * _BLOCK)
        text = " ".join(
            f'ASSERT (:s{n}, "timezone", :v{n}) {{by: :s{n}, mode: "stated", confidence: 0.8}}' for n in numbers
        )
        bound = {f"s{n}": {"id": ids[n * 17 % len(ids)]} for n in numbers}
        driver.run(f"MUTATE {{ {text} }}", bound | {f"v{n}": f"-{n % 12:02d}:30" for n in numbers})
        claims += _BLOCK
        if time.perf_counter() - begun > _BUDGET_S:
            break
    figures["claim, 100 a transaction"] = (time.perf_counter() - begun) * 1000 / claims
    return figures


def _floor(size: int) -> dict[str, float]:
    floor = Floor(size)
    try:
        figures: dict[str, float] = {}
        for name, command in READS.items():
            times = []
            for turn in range(9 if name in GROWING else 41):
                parameters = parameters_of(command, (turn * 7919 + 13) % person_count(size))
                begun = time.perf_counter()
                floor.read(name, parameters)
                times.append((time.perf_counter() - begun) * 1000)
            figures[name] = statistics.median(times[1:])
        times = []
        for turn in range(_CLAIMS):
            begun = time.perf_counter()
            floor.claim(1 + turn)
            times.append((time.perf_counter() - begun) * 1000)
        figures["ASSERT, one a transaction"] = statistics.median(times)
        return figures
    finally:
        floor.close()


def _or_blank(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"
