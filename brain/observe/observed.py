"""What operators see of one process, in one hand."""

from __future__ import annotations

from dataclasses import dataclass

from brain.observe.health import Readiness
from brain.observe.measures import Measures
from brain.observe.outlook import Outlook
from brain.observe.traces import Tracer


@dataclass(frozen=True, slots=True)
class Observed:
    """Its numbers, its traces, whether it is ready; and what waits in its store, where it looks into one."""

    measures: Measures
    tracer: Tracer
    readiness: Readiness
    outlook: Outlook | None
