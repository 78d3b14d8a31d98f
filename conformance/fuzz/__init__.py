"""Send commands nobody wrote: `python -m conformance fuzz --count N --seed S [--seconds T] [--corpus FOLDER]`.

Each is made from a command of our cases by a seeded choice of changes and sent with a deadline of one second. None may
end in InternalError, compute past its deadline, or write through a session that reads, as a dry run, or while it is
refused. Printed are the outcomes by code, the slowest commands, and for every kind of fault the smallest input found.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from pathlib import Path
from random import Random
from typing import Any

from conformance.fuzz.arena import Arena, Played
from conformance.fuzz.corpus import corpus_of
from conformance.fuzz.mutations import Attempt, attempt
from conformance.fuzz.shrink import Shrinker

EACH_SPACE = 1_000
"""Commands after which the Space is put back, so that it stays small and what fails can be told again."""
_SHOWN = 600


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault: the smallest input found, and whether it fails on a fresh Space by itself."""

    kind: str
    smallest: Attempt
    is_alone: bool
    trace: str


@dataclass(slots=True)
class Fuzzed:
    """What a run came to.

    codes    outcomes by code
    faults   the first of each kind
    times    how often each kind occurred
    slowest  the attempts that took most processor time
    """

    codes: Counter[str] = field(default_factory=Counter)
    faults: dict[str, Fault] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, float, str, str]] = field(default_factory=list)


def fuzz(count: int, seed: int, *, seconds: float | None = None, folders: Iterable[Path] = ()) -> Fuzzed:
    """Send `count` commands, or as many as fit into some seconds. The same seed sends the same commands."""
    found = Fuzzed()
    corpus = corpus_of(folders)
    end = None if seconds is None else time.monotonic() + seconds
    with Arena(corpus) as arena:
        for number in range(count):
            if number and number % EACH_SPACE == 0:
                arena.fresh()
            if end is not None and time.monotonic() > end:
                break
            one = attempt(Random(f"{seed}:{number}"), corpus)
            played = arena.play(one)
            _count(found, one, played)
            if played.fault is not None:
                found.times[played.fault] += 1
                if played.fault not in found.faults:
                    found.faults[played.fault] = _explained(arena, one, played)
    return found


def main(arguments: Sequence[str]) -> int:
    """Print what a run came to; 1 when anything was at fault."""
    parser = argparse.ArgumentParser(prog="python -m conformance fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="how many commands are sent")
    parser.add_argument("--seed", type=int, default=1, help="the same seed sends the same commands")
    parser.add_argument("--seconds", type=float, help="stop after this long")
    parser.add_argument("--corpus", type=Path, action="append", default=[], metavar="FOLDER", help="further commands")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    found = fuzz(options.count, options.seed, seconds=options.seconds, folders=options.corpus)
    total = found.codes.total()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"seed {options.seed}: {total} commands in {time.monotonic() - began:.0f} s, peak {peak} MB")
    for code, times in found.codes.most_common():
        print(f"  {times:>8}  {code}")
    print("slowest (processor ms, elapsed ms, outcome, command):")
    for cpu, wall, code, text in found.slowest:
        print(f"  {cpu * 1000:>6.0f} {wall * 1000:>6.0f}  {code}  {text[:160]!r}")
    for kind, fault in found.faults.items():
        print(f"FAULT {kind} ({found.times[kind]} times{'' if fault.is_alone else ', not by itself'})")
        print(f"  {fault.smallest.door}: {fault.smallest.request!r:.4000}")
        print(fault.trace)
    print(f"faults: {len(found.faults)} kinds, {found.times.total()} times")
    return 1 if found.faults else 0


def _count(found: Fuzzed, one: Attempt, played: Played) -> None:
    found.codes[played.code] += 1
    if len(found.slowest) < 5 or played.cpu_s > found.slowest[-1][0]:
        entry = (played.cpu_s, played.wall_s, played.code, _text(one.request)[:_SHOWN])
        found.slowest = nlargest(5, [*found.slowest, entry])


def _explained(arena: Arena, one: Attempt, played: Played) -> Fault:
    """The fault with the smallest input that shows it on a fresh Space."""

    def fails(smaller: Attempt) -> bool:
        arena.fresh()
        return arena.play(smaller).fault == played.fault

    is_alone = fails(one)
    smallest = Shrinker(fails).shrunk(one) if is_alone else one
    arena.fresh()
    return Fault(str(played.fault), smallest, is_alone, played.trace)


def _text(request: dict[str, Any] | str) -> str:
    if isinstance(request, str):
        return request
    operations = request.get("operations")
    first = operations[0] if isinstance(operations, list) and operations else operations
    return str(first.get("command")) if isinstance(first, dict) else str(first)
