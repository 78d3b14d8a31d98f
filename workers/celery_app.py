"""The Celery application: what is sent over Redis, how it is delivered, and what the clock sends.

A message is a wake-up and nothing else: "look at this Space", with the Space's id as its only argument. What there is
to do, who does it and how it ends stands in the Space's store, so a message may be lost, doubled, late or forged and
changes nothing but the moment at which somebody looks. That is why nothing is kept as a result, why a message is
acknowledged after its work, and why the answer to a lost one is the next sweep.

Work of later kinds (a wiki's digest, the scheduling of watches) is one more kind in `workers/kinds.py`, its task, and
an entry of `periods` where the clock calls for it.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from celery.schedules import schedule
from kombu.entity import Queue

from brain.settings import Settings, SettingsError
from workers.kinds import QUEUES, Kind
from workers.transport import Amqp

CLOCK_S = 300.0
"""How often the clock of every Space's maintenance is looked at (BR-LIFE-004)."""

LONGEST_SWEEP_S = 30.0
"""The longest time after which lost wake-ups are found, whatever SWEEP_INTERVAL_MS says of the embedded runner."""

_REDELIVERY_MARGIN_S = 60
_CHILD_START_S = 30.0
_CONNECT_S = 5.0
_HEALTH_S = 5
"""How often a quiet connection is checked: a Redis that went without a word is noticed in about twice that."""

_ANSWER_S = 15.0
"""Longer than the blocking read a worker waits for messages with."""

_FOREIGN = ("CELERY_BROKER_URL", "CELERY_BROKER_READ_URL", "CELERY_BROKER_WRITE_URL")


def sweep_s(settings: Settings) -> float:
    """Seconds between two sweeps of all Spaces."""
    return min(settings.sweep_interval_ms / 1000, LONGEST_SWEEP_S)


def periods(settings: Settings) -> dict[Kind, float]:
    """What beat sends, and the seconds between two of a kind."""
    return {Kind.SWEEP: sweep_s(settings), Kind.CLOCK: CLOCK_S}


def steady_now() -> datetime:
    """The time of the machine since it started, as a date: no hand and no server sets it."""
    return datetime.fromtimestamp(time.monotonic(), UTC)


def _schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """What Celery's beat is to do. No message expires: one machine's clock writes that, and another's reads it."""
    return {
        kind.value: {
            "task": kind.task,
            "schedule": schedule(seconds, nowfun=steady_now),
            "options": {"queue": kind.queue},
        }
        for kind, seconds in periods(settings).items()
    }


def celery_app(settings: Settings, **transport: Any) -> Celery:
    """A Celery application of these settings, without tasks. Nothing is connected or read from files.

    transport  further options of the Redis transport
    raises     SettingsError when the environment would make Celery use another broker than the settings'
    """
    for name in _FOREIGN:
        if os.environ.get(name):
            raise SettingsError(f"cannot start: {name} is no setting; REDIS_URL is")
    app = Celery("brain", amqp=Amqp, set_as_current=False, fixups=[])
    hard_s = settings.worker_hard_limit_ms / 1000
    app.conf.update(
        broker_url=settings.redis_url.get_secret_value(),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            # A message is given out again when its work cannot be going on any more.
            "visibility_timeout": hard_s + _REDELIVERY_MARGIN_S,
            "socket_connect_timeout": _CONNECT_S,
            "socket_timeout": _ANSWER_S,
            "socket_keepalive": True,
            "health_check_interval": _HEALTH_S,
            **transport,
        },
        # JSON alone: a message must not be able to name anything to be called or unpacked.
        accept_content=["json"],
        task_serializer="json",
        event_serializer="json",
        result_serializer="json",
        result_backend=None,
        result_expires=None,
        task_ignore_result=True,
        task_store_errors_even_if_ignored=False,
        task_queues=[Queue(f"brain.{name}") for name in QUEUES],  # type: ignore[no-untyped-call]
        task_default_queue=Kind.SWEEP.queue,
        task_create_missing_queues=False,
        task_routes={kind.task: {"queue": kind.queue} for kind in Kind},
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_acks_on_failure_or_timeout=True,
        task_soft_time_limit=settings.worker_soft_limit_ms / 1000,
        task_time_limit=hard_s,
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_proc_alive_timeout=_CHILD_START_S,
        # Nobody steers a worker through the broker: whoever can write to Redis can wake it and no more.
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        enable_utc=True,
        timezone="UTC",
        beat_scheduler="workers.beat:Scheduler",
        beat_schedule=_schedule(settings),
        beat_max_loop_interval=5,
    )
    return app
