"""The tasks of a worker: each checks what its message carries and hands it to its process of the pool."""

from __future__ import annotations

from typing import Any

import structlog
from celery import Celery, Task

from brain.ids import SPACE_ID
from workers.kinds import Kind
from workers.pool_process import PoolProcess

log = structlog.get_logger(__name__)

_SPACE_KINDS = (Kind.FORMATION, Kind.MAINTENANCE, Kind.INDEX)


def register(app: Celery, process: PoolProcess) -> None:
    """Add the tasks to a worker's application.

    process  what the pool's process works with; forked with the application, so that each has its own
    """
    for kind in _SPACE_KINDS:
        _add(app, kind, _for_space(kind, process), again=True)
    # Beat sends these again in any case; one that ends its process must not be given to the next at once.
    _add(app, Kind.SWEEP, _for_all(Kind.SWEEP, process.sweep), again=False)
    _add(app, Kind.CLOCK, _for_all(Kind.CLOCK, process.look_at_clock), again=False)


def _add(app: Celery, kind: Kind, run: Any, *, again: bool) -> None:
    app.task(run, name=kind.task, bind=True, reject_on_worker_lost=again, typing=False)


def _for_space(kind: Kind, process: PoolProcess) -> Any:
    def run(task: Task, *arguments: object, **named: object) -> None:
        space_id = arguments[0] if len(arguments) == 1 and not named else None
        if not isinstance(space_id, str) or SPACE_ID.fullmatch(space_id) is None:
            _refuse(kind)
            return
        delivery = task.request.delivery_info or {}
        process.work(kind, space_id, is_again=bool(delivery.get("redelivered")))

    return run


def _for_all(kind: Kind, work: Any) -> Any:
    def run(_: Task, *arguments: object, **named: object) -> None:
        if arguments or named:
            _refuse(kind)
            return
        work()

    return run


def _refuse(kind: Kind) -> None:
    """What it carried is not logged: whoever can write to Redis chose it."""
    log.error("message_refused", kind=kind.value, meaning="it does not carry what a wake-up of its kind carries")
