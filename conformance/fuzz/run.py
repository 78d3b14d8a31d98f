"""Blocks of commands, each on a Space of its own, played in processes that may die of what they play.

A block is the unit of what can be told again: its commands depend on the seed and their numbers alone, and its Space is
fresh. A process that crashes, or that nothing but its end could stop, is replaced; its block is played again without
the command it died of.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from multiprocessing import connection
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from conformance.fuzz.arena import Arena
from conformance.fuzz.clock import ProcessorTime, use_processor_time
from conformance.fuzz.corpus import Corpus
from conformance.fuzz.mutations import Attempt, attempt
from conformance.fuzz.shrink import Shrinker

EACH_SPACE = 1_000
"""Commands of a block: a Space stays small, and what fails can be told again."""

LONGEST_S = 300.0
"""Elapsed seconds after which a process that gives no sign any more is ended: far more than `PATIENCE_S` of processor
time take on a busy machine, since this is for what not even an exception reaches."""

_SIGN_EVERY_S = 10.0
_SHOWN = 600
_SLOWEST = 5

Slow: TypeAlias = tuple[float, float, str, str]
"""Processor seconds, elapsed seconds, code and text of a command."""


@dataclass(frozen=True, slots=True)
class Found:
    """One command that went wrong: the kind, its number, and the trace of a defect."""

    kind: str
    number: int
    trace: str = ""


@dataclass(slots=True)
class Block:
    """What a block of commands came to, or what several did."""

    codes: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)
    slowest: list[Slow] = field(default_factory=list)

    def add(self, other: Block) -> None:
        """Count another one too."""
        self.codes += other.codes
        self.found += other.found
        self.slowest = nlargest(_SLOWEST, self.slowest + other.slowest)


@dataclass(frozen=True, slots=True)
class Explained:
    """The smallest attempt that goes wrong in one way, and whether it does by itself on a fresh Space."""

    smallest: Attempt
    is_alone: bool


@dataclass(frozen=True, slots=True)
class _Task:
    """Commands from `first` up to `end` without those to skip, or the explanation of one."""

    first: int
    end: int
    skip: frozenset[int] = frozenset()
    explain: str | None = None


def attempt_of(seed: int, number: int, corpus: Corpus) -> Attempt:
    """The command of a number; the same in every run."""
    return attempt(Random(f"{seed}:{number}"), corpus)


class Crew:
    """Processes that play commands.

    corpus, template  what the commands are made of and the Space they meet, from `Arena`
    tell              called now and then with how many commands were played and what was found so far
    """

    def __init__(
        self, corpus: Corpus, template: Path, seed: int, workers: int, tell: Callable[[int, Block], None]
    ) -> None:
        self._corpus = corpus
        self._template = template
        self._seed = seed
        self._tell = tell
        self._fork = multiprocessing.get_context("fork")
        self._folder = tempfile.TemporaryDirectory(prefix="brain-fuzz-crew-")
        self._crew = [self._hired(place) for place in range(workers)]
        self.total = Block()

    def play(self, count: int, end: float | None) -> None:
        """Play commands 0 to `count`, or the blocks that were begun before `end` on the monotonic clock."""
        waiting = deque(
            _Task(first, min(first + EACH_SPACE, count)) for first in range(0, count, EACH_SPACE)
        )  # fmt: skip
        while waiting or any(worker.task for worker in self._crew):
            if end is not None and time.monotonic() > end:
                waiting.clear()
            for worker in self._crew:
                if worker.task is None and waiting:
                    worker.give(waiting.popleft())
            waiting.extendleft(self._heard(1.0))
            self._tell(self.total.codes.total() + sum(worker.played for worker in self._crew), self.total)

    def explain(self, found: Found) -> Explained:
        """Make what went wrong smaller, in a process of its own as well."""
        worker = self._crew[0]
        worker.give(_Task(found.number, found.number + 1, explain=found.kind))
        while worker.task is not None:
            if not worker.pipe.poll(1.0) and worker.process.is_alive():
                continue
            try:
                explained: Explained = worker.pipe.recv()
            except EOFError:
                self._replace(0)
                return Explained(attempt_of(self._seed, found.number, self._corpus), True)
            worker.task = None
        return explained

    def dismiss(self) -> None:
        """End them all."""
        for worker in self._crew:
            worker.dismiss()
        self._folder.cleanup()

    def _heard(self, timeout_s: float) -> list[_Task]:
        """Take what the processes report; the blocks that have to be played again."""
        again: list[_Task] = []
        ready = connection.wait([worker.pipe for worker in self._crew if worker.task], timeout_s)
        for place, worker in enumerate(self._crew):
            if worker.pipe not in ready or worker.task is None:
                continue
            task = worker.task
            try:
                self.total.add(worker.pipe.recv())
                worker.task = None
            except EOFError:
                number = worker.number
                worker.process.join()
                self.total.codes["died"] += 1
                self.total.found.append(_death(worker.process.exitcode, number, worker.last_words))
                self._replace(place)
                again.append(_Task(task.first, task.end, task.skip | {number}))
        return again

    def _replace(self, place: int) -> None:
        self._crew[place].process.join()
        self._crew[place] = self._hired(place)

    def _hired(self, place: int) -> _Worker:
        return _Worker(self._fork, self._corpus, self._template, self._seed, Path(self._folder.name, f"{place}.txt"))


class _Worker:
    """A process and what it was given to do."""

    def __init__(self, fork: Any, corpus: Corpus, template: Path, seed: int, last_words: Path) -> None:
        self.task: _Task | None = None
        self.last_words = last_words
        self._number = fork.RawValue("q", 0)
        self.pipe: Connection
        self.pipe, theirs = fork.Pipe()
        arguments = (corpus, template, seed, theirs, self.pipe, self._number, last_words)
        self.process = fork.Process(target=_work, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    @property
    def number(self) -> int:
        """The command it is at."""
        return int(self._number.value)

    @property
    def played(self) -> int:
        """Commands of a block that is not finished."""
        return 0 if self.task is None else max(0, self.number - self.task.first)

    def dismiss(self) -> None:
        """End it, at once when it is in the middle of something."""
        if self.task is None and self.process.is_alive():
            self.pipe.send(None)
        else:
            self.process.kill()
        self.process.join()
        self.pipe.close()

    def give(self, task: _Task) -> None:
        self._number.value = task.first
        self.task = task
        self.pipe.send(task)


def _work(
    corpus: Corpus, template: Path, seed: int, pipe: Connection, theirs: Connection, at: Any, last_words: Path
) -> None:
    """What a process does: take tasks until nobody gives one any more."""
    theirs.close()
    with last_words.open("w") as file, Arena(corpus, template) as arena:
        faulthandler.enable(file)
        clock = ProcessorTime()
        use_processor_time(clock)
        while (task := _received(pipe)) is not None:
            if task.explain is not None:
                pipe.send(_explained(arena, attempt_of(seed, task.first, corpus), task.explain))
                continue
            arena.fresh()
            use_processor_time(clock)  # what was loaded meanwhile too
            numbers = (number for number in range(task.first, task.end) if number not in task.skip)
            pipe.send(played(arena, corpus, seed, _signed(numbers, at, file)))


def _received(pipe: Connection) -> _Task | None:
    """The next task; None when there will be none, also because nobody is there any more to give it."""
    parent = multiprocessing.parent_process()
    while not pipe.poll(_SIGN_EVERY_S):
        if parent is None or not parent.is_alive():
            return None
    task: _Task | None = pipe.recv()
    return task


def _signed(numbers: Iterable[int], at: Any, file: Any) -> Iterable[int]:
    """The numbers, each noted before it is played; when no sign comes for long, the process ends."""
    until = 0.0
    for number in numbers:
        if time.monotonic() > until:
            faulthandler.dump_traceback_later(LONGEST_S, exit=True, file=file)
            until = time.monotonic() + _SIGN_EVERY_S
        at.value = number
        yield number
    faulthandler.cancel_dump_traceback_later()


def played(arena: Arena, corpus: Corpus, seed: int, numbers: Iterable[int]) -> Block:
    """Play commands one after the other."""
    block = Block()
    least = 0.0
    for number in numbers:
        one = attempt_of(seed, number, corpus)
        result = arena.play(one)
        block.codes[result.code] += 1
        if result.fault is not None:
            block.found.append(Found(result.fault, number, result.trace))
        if result.cpu_s > least:
            entry = (result.cpu_s, result.wall_s, result.code, text_of(one)[:_SHOWN])
            block.slowest = nlargest(_SLOWEST, [*block.slowest, entry])
            least = block.slowest[-1][0] if len(block.slowest) == _SLOWEST else 0.0
    return block


def text_of(one: Attempt) -> str:
    """The text of a request, or of its first command."""
    if isinstance(one.request, str):
        return one.request
    operations = one.request.get("operations")
    first = operations[0] if isinstance(operations, list) and operations else operations
    return str(first.get("command")) if isinstance(first, dict) else str(first)


def _explained(arena: Arena, one: Attempt, kind: str) -> Explained:
    def fails(smaller: Attempt) -> bool:
        arena.fresh()
        return arena.play(smaller).fault == kind

    is_alone = fails(one)
    return Explained(Shrinker(fails).shrunk(one) if is_alone else one, is_alone)


def _death(exitcode: int | None, number: int, last_words: Path) -> Found:
    """What a process that ended left behind: the innermost place in the engine, and all of it."""
    text = last_words.read_text("utf-8", "replace")
    places = [line.split('"')[1:] for line in text.splitlines() if "/brain/" in line and '"' in line]
    place = "an unknown place"
    if places:
        file, rest = places[0][0], places[0][1]
        place = f"{file.rpartition('/brain/')[2]}:{rest.removeprefix(', line ').split(' ')[0]}"
    how = "hang that nothing stopped" if exitcode == 1 else f"death of the process (exit code {exitcode})"
    return Found(f"{how} in {place}", number, text)
