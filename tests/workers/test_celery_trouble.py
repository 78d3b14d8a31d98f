"""What becomes of work when workers, their processes or Redis die, hang or are told to stop."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import httpx
import pytest

from tests.workers.fleet import Fleet, family, fleet, is_at_rest, is_working, statuses, when
from tests.workers.test_celery_work import accept
from workers.kinds import Kind

pytestmark = pytest.mark.slow

MINUTE_MS = 60_000


def kept(home: Fleet) -> list[str]:
    found = home.look()
    try:
        return found.kept()
    finally:
        found.application.spaces.close()


def commits(home: Fleet) -> int:
    found = home.look()
    with found.application.spaces.get("home").snapshot() as now:
        seq = now.seq
    found.application.spaces.close()
    return seq


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-008", "BR-FORM-001", "BR-FORM-032")
def test_redis_may_be_emptied_killed_and_started_again_and_nothing_waits_longer_than_a_sweep(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        api, worker = home.api(), home.worker("--beat")
        api.form("I own a thing1.")
        when(lambda: statuses(home) == ["completed"])

        # Emptied while messages wait in it: the worker stands still until they are gone.
        for pid in family(worker):
            os.kill(pid, signal.SIGSTOP)
        api.form("I own a thing2.")
        redis = home.redis.client()
        time.sleep(1)
        home.redis.empty()
        for pid in family(worker):
            os.kill(pid, signal.SIGCONT)
        when(lambda: statuses(home) == ["completed"] * 2)

        # Away: what is accepted is kept, and nobody who asks waits for it. A process that had a wake-up in hand would
        # rightly form what is accepted now.
        when(lambda: all(is_at_rest(redis) for _ in range(10)))
        redis.close()
        home.redis.kill()
        slowest = 0.0
        for number in range(3, 9):
            begun = time.monotonic()
            api.form(f"I own a thing{number}.")
            slowest = max(slowest, time.monotonic() - begun)
        assert slowest < 2
        time.sleep(2)
        assert statuses(home)[2:] == ["submitted"] * 6
        home.redis.start()
        when(lambda: statuses(home) == ["completed"] * 8, 45)
        api.form("I own a thing9.")
        when(lambda: statuses(home) == ["completed"] * 9)
        assert len(home.told(api, "broker_lost")) == len(home.told(api, "broker_back")) == 1

        # Silent: it keeps its connections and does not answer.
        assert home.redis.pid is not None
        os.kill(home.redis.pid, signal.SIGSTOP)
        begun = time.monotonic()
        for number in range(10, 13):
            api.form(f"I own a thing{number}.")
        assert time.monotonic() - begun < 6
        os.kill(home.redis.pid, signal.SIGCONT)
        when(lambda: statuses(home) == ["completed"] * 12, 45)
        assert (api.stop(), worker.stop()) == (0, 0)


@pytest.mark.requirement("BR-FORM-033", "BR-FORM-037", "BR-OPS-005")
def test_a_worker_that_stood_still_past_its_lease_commits_nothing_when_it_wakes(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        frozen = home.keeper(worker_concurrency=1)
        accept(home, "contested [slow 3]", "after")
        home.send(Kind.FORMATION, "home")
        when(lambda: is_working(home, 1))
        pids = family(frozen)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        other = home.keeper(worker_concurrency=1)
        when(lambda: statuses(home) == ["completed"] * 2)
        before = commits(home)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        when(lambda: home.told(frozen, "pass_lease_lost"))
        assert commits(home) == before
        assert kept(home) == ["contested [slow 3]", "after"]
        assert home.formed(other) == [("home", 1), ("home", 2)]
        assert home.formed(frozen) == []
        # It goes on with what comes next.
        other.kill()
        accept(home, "later")
        home.send(Kind.FORMATION, "home")
        when(lambda: home.formed(frozen) == [("home", 3)])


@pytest.mark.requirement("BR-FORM-037", "BR-OPS-005", "BR-LIFE-011")
def test_a_killed_process_of_a_pool_leaves_its_input_to_the_others(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        worker = home.keeper(worker_concurrency=2)
        accept(home, "first [slow 2]", "second")
        home.send(Kind.FORMATION, "home")
        when(lambda: is_working(home, 1))
        main, *pool = family(worker)
        for pid in pool:
            os.kill(pid, signal.SIGKILL)
        when(lambda: statuses(home) == ["completed"] * 2)
        assert kept(home) == ["first [slow 2]", "second"]
        assert worker.process.poll() is None
        assert main == worker.process.pid


@pytest.mark.requirement("BR-FORM-035", "BR-FORM-037", "BR-OPS-005")
def test_an_input_that_kills_its_worker_is_counted_passed_by_and_given_up_with_its_reason(tmp_path: Path) -> None:
    with fleet(tmp_path, "home", lease_ttl_ms=1000) as home:
        worker = home.keeper()
        home.beat()
        accept(home, "poison [kill]", "after")
        home.send(Kind.FORMATION, "home")
        when(lambda: statuses(home) == ["submitted", "completed"], 90)
        found = home.look()
        assert found.record(1)["failed_reason"].startswith("interrupted: ")
        found.application.spaces.close()
        for minutes in (2, 13, 24):
            (tmp_path / "clock").write_text(str(minutes * MINUTE_MS))
            time.sleep(4)
            assert statuses(home) == ["submitted", "completed"] or is_working(home, 1)
        (tmp_path / "clock").write_text(str(45 * MINUTE_MS))
        when(lambda: statuses(home) == ["failed", "completed"], 90)
        found = home.look()
        reason = found.record(1)["failed_reason"]
        found.application.spaces.close()
        assert reason.startswith("interrupted: gave up after ")
        assert int(reason.split()[4]) >= 3
        assert kept(home) == ["after"]
        accept(home, "later")
        when(lambda: statuses(home) == ["failed", "completed", "completed"])
        assert worker.process.poll() is None


@pytest.mark.requirement("BR-LIFE-009", "BR-LIFE-010", "BR-FORM-034")
@pytest.mark.parametrize("signals", [1, 2], ids=["once", "twice"])
def test_sigterm_lets_a_pass_end_within_the_grace_time_and_leaves_the_rest_queued(tmp_path: Path, signals: int) -> None:
    with fleet(tmp_path, "home") as home:
        worker = home.keeper(shutdown_grace_ms=60_000)
        accept(home, "under way [slow 4]", "left")
        home.send(Kind.FORMATION, "home")
        when(lambda: is_working(home, 1))
        for _ in range(signals - 1):
            worker.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
        assert worker.stop(50) == 0
        assert home.told(worker, "stopped")
        assert statuses(home) == (["completed", "submitted"] if signals == 1 else ["submitted"] * 2)
        home.keeper()
        when(lambda: statuses(home) == ["completed"] * 2)
        assert kept(home) == ["under way [slow 4]", "left"]


@pytest.mark.requirement("BR-LIFE-010", "BR-FORM-038")
def test_sigterm_to_the_whole_group_hands_back_a_pass_that_is_too_slow(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        worker = home.keeper(shutdown_grace_ms=500)
        accept(home, "long [slow 60]", "left")
        home.send(Kind.FORMATION, "home")
        when(lambda: is_working(home, 1))
        begun = time.monotonic()
        for pid in family(worker):
            os.kill(pid, signal.SIGTERM)
        assert worker.process.wait(30) == 0
        assert time.monotonic() - begun < 15
        assert home.told(worker, "pass_handed_back")
        found = home.look()
        assert found.statuses() == ["submitted"] * 2
        with found.application.spaces.get("home").snapshot() as now:
            assert now.lease("pass") is None
        found.application.spaces.close()


@pytest.mark.requirement("BR-OPS-005", "BR-FORM-035")
def test_a_pass_over_the_soft_limit_is_cut_counted_and_passed_by(tmp_path: Path) -> None:
    with fleet(tmp_path, "home", worker_soft_limit_ms=1500, worker_hard_limit_ms=20_000) as home:
        worker = home.keeper()
        home.beat()
        accept(home, "endless [slow 300]", "after")
        home.send(Kind.FORMATION, "home")
        when(lambda: statuses(home) == ["submitted", "completed"], 90)
        assert len([line for line in home.told(worker, "pass_handed_back") if line["overran"]]) == 3
        found = home.look()
        assert found.record(1)["failed_reason"].startswith("interrupted: ")
        found.application.spaces.close()


@pytest.mark.requirement("BR-OPS-008", "BR-OPS-027")
def test_an_api_process_starts_answers_and_stops_without_any_redis(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        home.redis.kill()
        api = home.api()
        api.form("I own a boat.")
        assert httpx.get(f"{api.url}/info", timeout=5).status_code == 200
        when(lambda: home.told(api, "broker_lost"))
        api.form("I own a car.")
        begun = time.monotonic()
        assert api.stop() == 0
        assert time.monotonic() - begun < 12
        assert len(home.told(api, "broker_lost")) == 1
        assert statuses(home) == ["submitted"] * 2
