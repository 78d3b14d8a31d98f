"""A small Space to send anything to, which can be put back to how it was, and what is wrong with an answer."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import apsw

from brain import errors
from brain.kip.context import Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock
from conformance.answers import pointer
from conformance.fuzz.corpus import Corpus
from conformance.fuzz.mutations import DEADLINE_MS, Attempt

WRITER = Session(principal_id="owner", channel="conformance")
READER = Session(principal_id="owner", channel="conformance", readonly=True)
PACKAGES = ("cognitive-memory", "general")
GRACE_S = 0.5
"""Processor time past the deadline that is no hang: what runs between two looks at the clock, and the answer."""
PATIENCE_S = 5.0
"""Processor time after which a request is broken off."""
_NOW_MS = 1_789_862_400_000
_SPACE = "default"


class Hang(BaseException):
    """A request that had to be broken off; nothing in the engine catches it."""


class _Watched(Engine):
    """An engine that keeps its defects instead of logging them."""

    defect: Exception | None = None

    def report(self, error: Exception) -> errors.InternalError:
        self.defect = error
        return error if isinstance(error, errors.InternalError) else errors.InternalError()


@dataclass(frozen=True, slots=True)
class Played:
    """What one request came to.

    code   `ok`, the code of the request's error, or that of its first failed operation
    cpu_s  processor time of the thread; the judgement of a hang does not depend on what else runs here
    fault  what must not be: a kind, and the place for a defect; None when all is well
    trace  of the defect, for people
    """

    code: str
    cpu_s: float
    wall_s: float
    fault: str | None = None
    trace: str = ""


class Arena:
    """A context manager.

    template  a file with the Space as it is to be; without one it is filled from the corpus, whose `values` are then
              given the ids the Space holds
    """

    def __init__(self, corpus: Corpus, template: Path | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="brain-fuzz-")
        self.template = template or Path(self._folder.name, "template.db")
        self._file = Path(self._folder.name, "spaces", f"{_SPACE}.db")
        self._clock = FixedClock(_NOW_MS)
        self._library = PackageLibrary.bundled()
        self._store = SqliteStore(self._file.parent, clock=self._clock, durability="normal")
        if template is None:
            self._fill(corpus)

    def __enter__(self) -> Self:
        self.fresh()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self.discard()

    def discard(self) -> None:
        """Give back what stands on the disk, the template made here included."""
        self._store.close()
        self._folder.cleanup()

    def fresh(self) -> None:
        """The Space as it was first filled."""
        self._close()
        self._store.delete(_SPACE)
        shutil.copyfile(self.template, self._file)
        self._open()

    def play(self, attempt: Attempt) -> Played:
        """Send one request and judge the answer; after a hang the Space is fresh."""
        self._clock.advance(1_000)
        self._engine.defect = None
        before, cpu, wall = self._writes(), time.thread_time(), time.perf_counter()
        fault: str | None = None
        response: dict[str, Any] = {}
        try:
            with _patience():
                session = WRITER if attempt.door == "writer" else READER if attempt.door == "reader" else WRITER
                response = self._engine.execute(attempt.request, session).response
        except Hang as error:
            fault = f"hang in {_place(error)}"
        except Exception as error:  # noqa: BLE001 - a way out that must not be is what is looked for
            fault, self._engine.defect = f"raised {type(error).__name__} in {_place(error)}", error
        cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
        wrote = self._writes() != before
        defect = self._engine.defect
        fault = fault or _fault(attempt, response, cpu, wrote=wrote, defect=defect)
        trace = "" if defect is None else "".join(traceback.format_exception(defect))
        if fault is not None and fault.startswith("hang"):
            self.fresh()
        return Played(_code(response), cpu, wall, fault, trace)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _fill(self, corpus: Corpus) -> None:
        """Play every setup of our cases into one Space, and keep it as the template."""
        controls = Engine.birth_controls(self._library, PACKAGES)
        self._store.create(_SPACE, now_ms=_NOW_MS, controls=controls).close()
        self._open()
        captured: dict[str, Any] = {}
        for step in corpus.setups:
            command = {"command": step.get("command", ""), "parameters": {**captured, **step.get("params", {})}}
            operations = step.get("operations") or [command]
            sent = {"kip": "2.0", "operations": operations, **step.get("envelope", {})}
            response = self._engine.execute(sent, WRITER).response
            first = (response.get("results") or [{}])[0]
            for name, place in step.get("capture", {}).items():
                if "result" in first:
                    captured[name] = pointer(first["result"], place)
        for name, value in captured.items():
            corpus.values[name].append(value)
        head = self._engine.space.head()
        corpus.values["seq"] += [0, 1, head // 2, head, head + 1]
        self._close()
        connection = apsw.Connection(str(self._file))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        shutil.copyfile(self._file, self.template)

    def _open(self) -> None:
        self._space = self._store.open(_SPACE)
        self._engine = _Watched(self._space, self._library, clock=self._clock)
        self._witness = apsw.Connection(str(self._file), flags=apsw.SQLITE_OPEN_READWRITE)

    def _close(self) -> None:
        if hasattr(self, "_space"):
            self._witness.close()
            self._space.close()

    def _writes(self) -> int:
        """A number that changes with every commit to the file by any other connection, whatever it wrote."""
        return int(self._witness.pragma("data_version"))


def _fault(
    attempt: Attempt, response: dict[str, Any], cpu_s: float, *, wrote: bool, defect: Exception | None
) -> str | None:
    """What is wrong with an answer; None when nothing is."""
    if defect is not None:
        return f"defect {type(defect).__name__} in {_place(defect)}"
    if "InternalError" in _codes(response):
        return "defect InternalError"
    try:
        json.dumps(response, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError) as error:
        return f"an answer that is no JSON: {type(error).__name__}"
    if cpu_s > DEADLINE_MS / 1000 + GRACE_S:
        return "hang past the deadline"
    if wrote and attempt.door != "writer":
        return f"a {attempt.door} wrote"
    if wrote and all(one["status"] in ("failed", "skipped") for one in response.get("results", [])):
        return "a refused request wrote"
    return None


def _codes(response: dict[str, Any]) -> list[str]:
    found = [response.get("error"), *(one.get("error") for one in response.get("results", []))]
    return [str(error["code"]) for error in found if error]


def _code(response: dict[str, Any]) -> str:
    return next(iter(_codes(response)), "ok" if response else "none")


def _place(error: BaseException) -> str:
    """The innermost frame of the engine, as file and line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/brain/" in frame.filename] or frames
    return f"{ours[-1].filename.rpartition('/brain/')[2]}:{ours[-1].lineno}"


@contextmanager
def _patience() -> Iterator[None]:
    """Raise Hang in a request that computes for too long; signals reach the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
