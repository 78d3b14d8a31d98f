"""No trouble with Redis leaves a worker standing still once Redis is back."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.processes import ServerProcess
from tests.workers.fleet import Fleet, family, fleet, is_working, statuses, when
from tests.workers.test_celery_work import accept
from workers.kinds import Kind

pytestmark = pytest.mark.slow

BOTH = ("home", "away")


def wake_both(home: Fleet) -> None:
    for space in BOTH:
        home.send(Kind.FORMATION, space)


def failed_answers(home: Fleet, worker: ServerProcess) -> int:
    """How many messages could not be given back to Redis."""
    lines = [line for line in home.told(worker, "foreign_log") if line["logger"] == "celery.worker.request"]
    return len([line for line in lines if line.get("kind") == "ConnectionError"])


def end_their_work(home: Fleet, worker: ServerProcess) -> None:
    wake_both(home)
    when(lambda: all(is_working(home, 1, space) for space in BOTH))
    home.redis.kill()


def are_killed_at_work(home: Fleet, worker: ServerProcess) -> None:
    end_their_work(home, worker)
    for pid in family(worker)[1:]:
        os.kill(pid, signal.SIGKILL)


def have_not_begun(home: Fleet, worker: ServerProcess) -> None:
    pool = family(worker)[1:]
    for pid in pool:
        os.kill(pid, signal.SIGSTOP)
    wake_both(home)
    redis = home.redis.client()
    when(lambda: redis.hlen("unacked") == 2)
    redis.close()
    home.redis.kill()
    for pid in pool:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-005", "BR-OPS-008")
@pytest.mark.parametrize("what_they_do", [end_their_work, are_killed_at_work, have_not_begun])
def test_a_worker_whose_processes_all_lose_redis_goes_on_when_it_is_back(
    tmp_path: Path, what_they_do: Callable[[Fleet, ServerProcess], None]
) -> None:
    with fleet(tmp_path, *BOTH) as home:
        worker = home.keeper(worker_concurrency=2)
        for space in BOTH:
            accept(home, "first [slow 3]", space=space)
        what_they_do(home, worker)
        when(lambda: failed_answers(home, worker))
        time.sleep(2)
        home.redis.start()
        for space in BOTH:
            accept(home, "second", space=space)
        wake_both(home)
        when(lambda: all(statuses(home, space) == ["completed"] * 2 for space in BOTH), 45)
        assert worker.stop() == 0
