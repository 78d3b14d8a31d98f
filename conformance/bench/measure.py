"""Medians, memory, and how figures are printed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def milliseconds(work: Callable[[], Any], *, repeat: int = 25) -> float:
    """The median time of one call, in milliseconds."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


def line(name: str, ours: float, peer: float | None = None, unit: str = "ms") -> None:
    """Print one figure, and the peer's beside it."""
    beside = f"   peer {peer:g}" if peer is not None else ""
    print(f"  {name:<44} {ours:>10.3f} {unit}{beside}", flush=True)


def peak_mb(pid: int | str = "self") -> float:
    """The most memory a process has held since its start or `forget_peak`, in MB; NaN when nobody can say."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return float("nan")


def forget_peak() -> None:
    """Let this process's peak begin anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return
