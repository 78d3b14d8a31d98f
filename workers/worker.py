"""`brain worker`: a process that does passes.

A worker is a main process, which talks to Redis and opens no Space, and a pool of forked processes, which each work on
one Space at a time. What is imported before the fork is shared by all of them.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import structlog
from celery import platforms, signals
from celery.apps.worker import Worker
from celery.worker import state

from brain import __version__, logs
from brain.settings import OFFLINE_MODEL, Settings, SettingsError
from workers.beat import Timekeeper, check_settings, keep_own_logging
from workers.celery_app import celery_app
from workers.kinds import QUEUES, Kind
from workers.observing import Numbers
from workers.pool_process import STOP_SIGNAL, PoolProcess
from workers.tasks import register
from workers.watch import Watch

if TYPE_CHECKING:
    from brain.app import Application

log = structlog.get_logger(__name__)

_HAND_BACK_S = 5.0
"""What handing back may take after the grace time, before a process of the pool is killed."""


def work(
    settings: Settings,
    *,
    queues: Sequence[str] = QUEUES,
    with_beat: bool = False,
    build: Callable[[Settings], Application] | None = None,
) -> int:
    """Work until SIGTERM or SIGINT; 0, or 1 when it ended by itself.

    queues     the kinds of work to take (`workers.kinds.QUEUES`)
    with_beat  keep time as well
    build      makes the application of each process of the pool
    raises     SettingsError
    """
    check_settings(settings)
    if not queues or not set(queues) <= set(QUEUES):
        raise SettingsError(f"cannot start: --queues takes {', '.join(QUEUES)}, comma-separated")
    logs.configure(settings.log_level)
    keep_own_logging()
    logging.captureWarnings(True)
    _warm()
    numbers = Numbers(settings)
    process = PoolProcess(settings, numbers.watched(build or _build))
    app = celery_app(settings)
    register(app, process)
    _connect_signals(app, process)
    if with_beat:
        app.steps["worker"].add(Timekeeper)
    numbers.connect()
    worker_queues = [Kind(name).queue for name in queues]
    worker = _Worker(
        app=app,
        hostname=f"brain-{os.getpid()}@%h",
        pool="prefork",
        concurrency=settings.worker_concurrency,
        queues=worker_queues,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.grace_s = settings.shutdown_grace_ms / 1000
    log.info(
        "working",
        version=__version__,
        queues=list(queues),
        concurrency=settings.worker_concurrency,
        beat=with_beat,
        model=f"{settings.model_family}/{settings.model_name}" if settings.has_provider else OFFLINE_MODEL,
    )
    watch = Watch(settings, worker_queues, settings.worker_concurrency, worker.give_up)
    signals.worker_ready.connect(lambda **_: watch.start(), weak=False)
    worker.start()
    watch.stop()
    numbers.close()
    log.info("stopped")
    return 0 if worker.was_asked_to_stop else 1


class _Worker(Worker):  # type: ignore[misc]
    """A worker whose stop is bounded: its pool is told to stop, then to hurry, then ended."""

    grace_s = 0.0
    was_asked_to_stop = False

    def install_platform_tweaks(self, _: Worker) -> None:
        """Answer the two signals a process is stopped with, and none of Celery's others."""
        for name in ("SIGTERM", "SIGINT"):
            platforms.signals[name] = self._stop

    def _process_task(self, request: Any) -> None:
        """Give a message to the pool. One that cannot be given keeps no place there: Celery would keep it for good."""
        try:
            super()._process_task(request)
        except Exception as fault:  # noqa: BLE001 - nothing that others write may end a worker
            log.error("message_refused", meaning="it is not one of ours, and is gone", **logs.fault(fault))
            request.reject(requeue=False)
            state.task_ready(request)
            self._quick_release()

    def _stop(self, _: int, __: FrameType | None) -> None:
        is_first, self.was_asked_to_stop = not self.was_asked_to_stop, True
        state.should_stop = 0
        threading.Thread(target=self._stop_pool, args=(is_first,), name="stopping", daemon=True).start()

    def give_up(self) -> None:
        """End by itself, as if asked to. From any thread."""
        if state.should_stop is None:
            state.should_stop = 1
            self._stop_pool(True)

    def _stop_pool(self, is_first: bool) -> None:
        self._signal_pool(STOP_SIGNAL)
        if not is_first:
            return
        log.info("stopping")
        time.sleep(self.grace_s + _HAND_BACK_S)
        # A process that does not come to its end: what it was at is found when its lease has run out.
        log.error("pool_killed")
        self._signal_pool(signal.SIGKILL)
        time.sleep(_HAND_BACK_S)
        os._exit(0 if self.was_asked_to_stop else 1)

    def _signal_pool(self, number: signal.Signals) -> None:
        pids: list[int] = []
        with suppress(Exception):  # before the pool is there, and after
            pids = list(self.pool.info["processes"])
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def _build(settings: Settings) -> Application:
    from brain.app import build

    return build(settings)


def _warm() -> None:
    """Import what passes need, and nothing that starts a thread or keeps a file open."""
    import brain.agents.formation
    import brain.agents.maintenance
    import brain.app
    import brain.kip.pipeline
    import brain.upkeep.settle  # noqa: F401


def _connect_signals(app: Any, process: PoolProcess) -> None:
    def began(**_: Any) -> None:
        process.begin()

    def ended(**_: Any) -> None:
        process.end()

    def ready(**_: Any) -> None:
        log.info("ready")
        with suppress(Exception):  # the clock sends the next one
            # The backlog of every Space, without being asked.
            app.send_task(Kind.SWEEP.task, queue=Kind.SWEEP.queue, retry=False, ignore_result=True)

    def beat_began(**_: Any) -> None:
        platforms.set_pdeathsig("SIGKILL")  # not to outlive a worker that was killed

    signals.worker_process_init.connect(began, weak=False)
    signals.worker_process_shutdown.connect(ended, weak=False)
    signals.worker_ready.connect(ready, weak=False)
    signals.beat_embedded_init.connect(beat_began, weak=False)
