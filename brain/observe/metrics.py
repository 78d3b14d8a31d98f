"""Numbers of a process: counters and histograms, cheap to raise, and how they are written for Prometheus.

A recorder of our own, since a service that has just started answers before a metrics library would be imported, and
what a process of a pool counted has to reach the one that is asked (`workers/observing.py`).
"""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from weakref import WeakSet

Labels = tuple[str, ...]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of what a caller waits for."""

LONG_SECONDS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
"""Bounds of what works in the background."""


class Sample(NamedTuple):
    """One line of a family: `suffix` follows its name, `extra` its labels."""

    labels: Labels
    value: float
    suffix: str = ""
    extra: tuple[tuple[str, str], ...] = ()


class Family(NamedTuple):
    """Everything of one name."""

    name: str
    help: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    samples: Sequence[Sample]


class Counter:
    """What only grows. Thread-safe."""

    def __init__(self, name: str, help_: str, *labels: str) -> None:
        self.name, self.help, self.labels = name, help_, labels
        self._values: dict[Labels, float] = {}
        self._lock = threading.Lock()

    def add(self, *labels: str, by: float = 1) -> None:
        """Raise the number of these labels' values."""
        with self._lock:
            self._values[labels] = self._values.get(labels, 0) + by

    def take(self) -> dict[Labels, list[float]]:
        """The numbers as they are, for `Recorder.state`."""
        with self._lock:
            return {labels: [value] for labels, value in self._values.items()}

    def family(self, values: Mapping[Labels, Sequence[float]]) -> Family:
        samples = [Sample(labels, value) for labels, [value] in sorted(values.items())]
        return Family(self.name, self.help, "counter", self.labels, samples)

    def forget_lock(self) -> None:
        """In a process that was forked: whoever held it is not here."""
        self._lock = threading.Lock()


class Histogram:
    """How often something took how long, in buckets. Thread-safe.

    bounds  ascending upper bounds of the buckets; everything above them has one more
    """

    def __init__(self, name: str, help_: str, *labels: str, bounds: Sequence[float] = SECONDS) -> None:
        self.name, self.help, self.labels, self.bounds = name, help_, labels, tuple(bounds)
        self._values: dict[Labels, list[float]] = {}
        self._lock = threading.Lock()

    def observe(self, value: float, *labels: str) -> None:
        """Count one value."""
        place = bisect_left(self.bounds, value)
        with self._lock:
            row = self._values.get(labels)
            if row is None:
                row = self._values[labels] = [0.0] * (len(self.bounds) + 2)
            row[place] += 1
            row[-1] += value

    def take(self) -> dict[Labels, list[float]]:
        """Per labels the count of each bucket, not cumulated, and the sum of all values."""
        with self._lock:
            return {labels: list(row) for labels, row in self._values.items()}

    def family(self, values: Mapping[Labels, Sequence[float]]) -> Family:
        samples = []
        for labels, row in sorted(values.items()):
            total = 0.0
            for bound, count in zip((*self.bounds, float("inf")), row[:-1], strict=True):
                total += count
                samples.append(Sample(labels, total, "_bucket", (("le", _number(bound)),)))
            samples += [Sample(labels, row[-1], "_sum"), Sample(labels, total, "_count")]
        return Family(self.name, self.help, "histogram", self.labels, samples)

    def forget_lock(self) -> None:
        """See `Counter.forget_lock`."""
        self._lock = threading.Lock()


State = dict[str, list[tuple[list[str], list[float]]]]
"""The numbers of one process, as JSON can carry them."""


class Recorder:
    """The counters and histograms of one process."""

    def __init__(self, metrics: Iterable[Counter | Histogram]) -> None:
        self._metrics = {metric.name: metric for metric in metrics}
        _RECORDERS.add(self)

    def state(self) -> State:
        """All numbers."""
        return {
            name: [(list(labels), values) for labels, values in metric.take().items()]
            for name, metric in self._metrics.items()
        }

    def families(self, others: Iterable[State] = ()) -> Iterator[Family]:
        """All numbers, those of other processes added."""
        states = list(others)
        for name, metric in self._metrics.items():
            sums = metric.take()
            for other in states:
                for labels, values in other.get(name, ()):
                    held = sums.setdefault(tuple(labels), [0.0] * len(values))
                    if len(held) == len(values):
                        held[:] = [a + b for a, b in zip(held, values, strict=True)]
            yield metric.family(sums)

    def forget_locks(self) -> None:
        """See `Counter.forget_lock`."""
        for metric in self._metrics.values():
            metric.forget_lock()


_RECORDERS: WeakSet[Recorder] = WeakSet()
"""Those of this process, for one purpose: a lock that is held at a fork is never given back in the child."""


def _after_fork() -> None:
    for recorder in _RECORDERS:
        recorder.forget_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def text_of(families: Iterable[Family]) -> bytes:
    """Families in the text format of Prometheus, version 0.0.4; one without samples is left out."""
    lines = []
    for family in families:
        if not family.samples:
            continue
        lines.append(f"# HELP {family.name} {_escaped(family.help, quote=False)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        for sample in family.samples:
            pairs = [*zip(family.labels, sample.labels, strict=True), *sample.extra]
            told = ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs)
            labels = f"{{{told}}}" if told else ""
            lines.append(f"{family.name}{sample.suffix}{labels} {_number(sample.value)}")
    return ("\n".join(lines) + "\n").encode()


def gauge(name: str, help_: str, values: Mapping[Labels, float] | float, *labels: str) -> Family:
    """What stands at a value just now."""
    given = values if isinstance(values, Mapping) else {(): float(values)}
    samples = [Sample(key, value) for key, value in sorted(given.items())]
    return Family(name, help_, "gauge", labels, samples)


def _number(value: Any) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _escaped(text: str, *, quote: bool = True) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text
