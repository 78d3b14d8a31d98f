"""`brain beat`: the process that keeps time. Two of them at once send twice as many wake-ups, and that is all."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import celery.beat
import structlog
from celery import bootsteps, signals

from brain import __version__, logs
from brain.settings import Settings, SettingsError
from workers.celery_app import celery_app, periods

log = structlog.get_logger(__name__)

_MOST_WAITING = 4
"""Some of each kind, since the clock's messages stand in the sweeps' queue."""


def beat(settings: Settings) -> int:
    """Send the sweeps and the clock until SIGTERM or SIGINT; 0.

    raises  SettingsError
    """
    check_settings(settings)
    logs.configure(settings.log_level)
    keep_own_logging()
    app = celery_app(settings)
    log.info("beating", version=__version__, seconds=periods(settings))
    with suppress(SystemExit):
        app.Beat(quiet=True, loglevel="WARNING").run()
    log.info("stopped")
    return 0


_LOOK_S = 2.0
"""How often a worker looks after its beat."""


class Scheduler(celery.beat.Scheduler):  # type: ignore[misc]
    """What beat sends, kept in memory: there is nothing a file would have to remember between two starts.

    A queue nobody takes from is not filled: one message that waits is worth as much as a thousand.
    """

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **named: Any) -> Any:
        if self._waiting(entry, producer) < _MOST_WAITING:
            return super().apply_async(entry, producer=producer, advance=advance, **named)
        log.debug("not_sent", task=entry.task, meaning="there are enough that nobody has taken")
        return None

    def _waiting(self, entry: Any, producer: Any) -> int:
        with suppress(Exception):  # whatever it is, sending meets it too, and mends the connection or tells of it
            return int(producer.channel.waiting(entry.options["queue"]))
        return 0


class Timekeeper(bootsteps.StartStopStep):  # type: ignore[misc]
    """Beat as a process of a worker's. Celery's own step would go on without it for good, should it die."""

    requires = ("celery.worker.components:Pool",)  # whose processes are not to inherit anything of it
    _beat: Any = None

    def create(self, _: Any) -> Any:
        return self

    def start(self, worker: Any) -> None:
        self._beat = celery.beat.EmbeddedService(worker.app, scheduler_cls=worker.app.conf.beat_scheduler)
        self._beat.start()

    def stop(self, _: Any) -> None:
        beat, self._beat = self._beat, None
        if beat is not None:
            beat.stop()

    terminate = stop

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        """Called by the worker whenever it has connected."""
        hub.call_repeatedly(_LOOK_S, self._look, worker)

    def _look(self, worker: Any) -> None:
        if self._beat is not None and not self._beat.is_alive():
            log.error("beat_died", exit_code=self._beat.exitcode, meaning="it is started again")
            self.start(worker)


def check_settings(settings: Settings) -> None:
    """SettingsError where nobody would send a worker anything."""
    if settings.work_queue != "celery":
        raise SettingsError("cannot start: WORK_QUEUE is embedded, so `brain serve` does this work; set it to celery")


def keep_own_logging() -> None:
    """Celery sets up no logging where somebody listens to this signal."""
    signals.setup_logging.connect(_leave_logging_alone, weak=False)
    logging.getLogger("multiprocessing").propagate = True  # the pool's own lines, which have no handler otherwise


def _leave_logging_alone(**_: Any) -> None:
    pass
