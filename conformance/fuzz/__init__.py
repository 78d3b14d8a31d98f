"""Send commands nobody wrote: `python -m conformance fuzz --count N --seed S [--seconds T] [--workers N]`.

Each is made from a command of our cases by a seeded choice of changes and sent with a deadline of one second, measured
in processor time so that it means the same on a busy machine. None may end in InternalError, take its process along,
compute past its deadline, or write through a session that reads, as a dry run, or while it is refused. How far it has
got and each new kind of fault are printed on the way; at the end the outcomes by code, the slowest commands, and for
every kind of fault the smallest input found. The same seed sends the same commands, however many processes play them.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.fuzz.arena import Arena
from conformance.fuzz.corpus import corpus_of
from conformance.fuzz.mutations import Attempt
from conformance.fuzz.run import Block, Crew, Found, Slow, attempt_of, text_of

_EXPLAINED = 20
"""Kinds of fault whose input is made smaller; each may take a minute."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault: the smallest input found, and whether it fails on a fresh Space by itself."""

    kind: str
    number: int
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
    slowest: list[Slow] = field(default_factory=list)


def fuzz(
    count: int,
    seed: int,
    *,
    seconds: float | None = None,
    folders: Iterable[Path] = (),
    workers: int = 1,
    every_s: float | None = None,
) -> Fuzzed:
    """Send `count` commands, or as many as fit into some seconds, a block of them being finished in any case.

    workers  processes that play them
    every_s  how often a line tells how far it has got; None for never
    """
    corpus = corpus_of(folders)
    end = None if seconds is None else time.monotonic() + seconds
    arena = Arena(corpus)
    try:
        crew = Crew(
            corpus, arena.template, seed, workers, _Progress(seed, every_s, lambda n: attempt_of(seed, n, corpus))
        )
        try:
            crew.play(count, end)
            return _explained(crew)
        finally:
            crew.dismiss()
    finally:
        arena.discard()


def _explained(crew: Crew) -> Fuzzed:
    """A run with the first fault of each kind made small."""
    total = crew.total
    fuzzed = Fuzzed(total.codes, slowest=total.slowest)
    fuzzed.times.update(found.kind for found in total.found)
    first: dict[str, Found] = {}
    for found in sorted(total.found, key=lambda found: found.number):
        first.setdefault(found.kind, found)
    for found in list(first.values())[:_EXPLAINED]:
        smaller = crew.explain(found)
        fuzzed.faults[found.kind] = Fault(found.kind, found.number, smaller.smallest, smaller.is_alone, found.trace)
    return fuzzed


def main(arguments: Sequence[str]) -> int:
    """Print what a run came to; 1 when anything was at fault."""
    parser = argparse.ArgumentParser(prog="python -m conformance fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="how many commands are sent")
    parser.add_argument("--seed", type=int, default=1, help="the same seed sends the same commands")
    parser.add_argument("--seconds", type=float, help="begin nothing new after this long")
    parser.add_argument("--workers", type=int, default=1, help="processes that play the commands")
    parser.add_argument("--every", type=float, default=10.0, metavar="SECONDS", help="between two lines of progress")
    parser.add_argument("--corpus", type=Path, action="append", default=[], metavar="FOLDER", help="further commands")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    found = fuzz(
        options.count,
        options.seed,
        seconds=options.seconds,
        folders=options.corpus,
        workers=options.workers,
        every_s=options.every,
    )
    total, elapsed = found.codes.total(), time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime
    print(
        f"seed {options.seed}: {total} commands in {elapsed:.0f} s, {processor:.0f} s of processor time"
        f" ({total / max(processor, 0.001):.0f} a second), peak {used.ru_maxrss // 1024} MB a process"
    )
    for code, times in found.codes.most_common():
        print(f"  {times:>8}  {code}")
    print("slowest (processor ms, elapsed ms, outcome, command):")
    for cpu, wall, code, text in found.slowest:
        print(f"  {cpu * 1000:>6.0f} {wall * 1000:>6.0f}  {code}  {text[:160]!r}")
    for kind, fault in found.faults.items():
        alone = "" if fault.is_alone else ", not by itself"
        print(f"FAULT {kind} ({found.times[kind]} times, first {options.seed}:{fault.number}{alone})")
        print(f"  {fault.smallest.door}: {shown(fault.smallest)}")
        print(fault.trace)
    print(f"faults: {len(found.times)} kinds, {found.times.total()} times")
    return 1 if found.times else 0


class _Progress:
    """Tells on standard output how far a run has got, and each new kind of fault once it is met."""

    def __init__(self, seed: int, every_s: float | None, attempted: Callable[[int], Attempt]) -> None:
        self._seed = seed
        self._every_s = every_s
        self._attempted = attempted
        self._began = self._told = time.monotonic()
        self._kinds: set[str] = set()

    def __call__(self, played: int, so_far: Block) -> None:
        if self._every_s is None:
            return
        for found in so_far.found:
            if found.kind not in self._kinds:
                self._kinds.add(found.kind)
                one = self._attempted(found.number)
                print(f"FAULT {found.kind} at {self._seed}:{found.number}, {one.door}: {shown(one):.400}", flush=True)
        now = time.monotonic()
        if now - self._told >= self._every_s:
            self._told = now
            rate = played / (now - self._began)
            faults = f"{len(so_far.found)} faults of {len(self._kinds)} kinds"
            print(f"{played} commands, {rate:.0f} a second, {faults}, {now - self._began:.0f} s", flush=True)


def shown(one: Attempt) -> str:
    """A request for people, cut; also one that is nested too deep to be spelled."""
    try:
        return f"{one.request!r:.4000}"
    except RecursionError:
        return text_of(one)
