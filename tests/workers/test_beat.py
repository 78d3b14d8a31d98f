"""What beat sends, when and how much of it, whatever clocks say and whoever listens."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from pydantic import SecretStr
from redis import Redis

from conformance.redis_server import RedisServer, redis_server
from tests.service.world import settings_for
from workers.beat import Scheduler
from workers.celery_app import celery_app, steady_now
from workers.kinds import Kind

SWEEP_S = 0.1
QUEUE = Kind.SWEEP.queue


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path) as server:
        yield server


@pytest.fixture
def redis(server: RedisServer) -> Iterator[Redis]:
    with server.client() as client:
        yield client


@pytest.fixture
def beat(server: RedisServer, tmp_path: Path) -> Iterator[Scheduler]:
    settings = settings_for(tmp_path).model_copy(
        update={"redis_url": SecretStr(server.url), "work_queue": "celery", "sweep_interval_ms": int(SWEEP_S * 1000)}
    )
    beat = Scheduler(app=celery_app(settings))
    yield beat
    beat.close()


def runs(beat: Scheduler, seconds: float, take: Callable[[], Any] = lambda: None) -> list[Any]:
    """Run beat for a while; what was taken meanwhile."""
    taken = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(max(min(beat.tick(), SWEEP_S / 2), 0))
        if (message := take()) is not None:
            taken.append(message)
    return taken


@pytest.mark.requirement("BR-OPS-006")
@pytest.mark.parametrize("step", [timedelta(days=-400), timedelta(hours=-1), timedelta(days=400)])
def test_sweeps_go_on_at_their_pace_when_the_clock_is_set(
    beat: Scheduler, redis: Redis, step: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runs(beat, SWEEP_S * 3, lambda: redis.rpop(QUEUE))
    monkeypatch.setattr(Celery, "now", lambda _: datetime.now(UTC) + step)
    assert 3 <= len(runs(beat, SWEEP_S * 15, lambda: redis.rpop(QUEUE))) <= 18


@pytest.mark.requirement("BR-OPS-006")
def test_the_time_beat_goes_by_is_no_ones_to_set() -> None:
    before = steady_now()
    time.sleep(0.01)
    assert timedelta() < steady_now() - before < timedelta(seconds=10)
    assert abs(steady_now().timestamp() - time.monotonic()) < 10


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-006")
def test_a_sweep_is_good_however_the_clocks_of_two_machines_differ(beat: Scheduler, redis: Redis) -> None:
    message = json.loads(runs(beat, SWEEP_S * 3, lambda: redis.rpop(QUEUE))[0])
    assert message["headers"]["task"] == Kind.SWEEP.task
    assert message["headers"]["expires"] is None
    assert message["headers"]["eta"] is None


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-006")
def test_a_queue_nobody_takes_from_is_not_filled_and_is_served_again_when_somebody_does(
    beat: Scheduler, redis: Redis
) -> None:
    runs(beat, SWEEP_S * 12)
    assert redis.llen(QUEUE) == 4
    redis.delete(QUEUE)
    runs(beat, SWEEP_S * 3)
    assert 1 <= redis.llen(QUEUE) <= 4
