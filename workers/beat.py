"""`brain beat`: the process that keeps time. Two of them at once send twice as many wake-ups, and that is all."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import structlog
from celery import signals

from brain import __version__, logs
from brain.settings import Settings, SettingsError
from workers.celery_app import celery_app, schedule

log = structlog.get_logger(__name__)


def beat(settings: Settings) -> int:
    """Send the sweeps and the clock until SIGTERM or SIGINT; 0.

    raises  SettingsError
    """
    check_settings(settings)
    logs.configure(settings.log_level)
    keep_own_logging()
    app = celery_app(settings)
    periods = {name: entry["schedule"] for name, entry in schedule(settings).items()}
    log.info("beating", version=__version__, seconds=periods)
    with suppress(SystemExit):
        app.Beat(quiet=True, loglevel="WARNING").run()
    log.info("stopped")
    return 0


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
