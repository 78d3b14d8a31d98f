"""No trouble with Redis leaves a worker standing still once Redis is back."""

from __future__ import annotations

import json
import os
import signal
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conformance.redis_server import redis_server
from tests.service.processes import ServerProcess
from tests.workers.fleet import Fleet, family, fleet, is_at_rest, is_working, statuses, when
from tests.workers.test_celery_work import accept
from tests.workers.wire import Wire, wire
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


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-008")
def test_who_was_left_on_a_replica_by_a_failover_goes_on_with_the_new_master(tmp_path: Path) -> None:
    with fleet(tmp_path, *BOTH) as home, redis_server(tmp_path / "other") as other, wire(home.redis.url) as to_redis:
        api = home.api(redis_url=to_redis.url)
        worker = home.worker("--beat", redis_url=to_redis.url)
        api.form("I own a boat.")
        when(lambda: statuses(home) == ["completed"])
        with other.client() as new:
            new.config_set("requirepass", urlsplit(home.redis.url).password)
        to_redis.target = other.url
        with home.redis.client() as old:
            old.replicaof("127.0.0.1", 1)
            api.form("I own a car.")
            when(lambda: statuses(home) == ["completed"] * 2, 45)
            # Nor does anybody ask the old one without a pause.
            time.sleep(1)
            asked = old.info("stats")["total_commands_processed"]
            time.sleep(2)
            assert old.info("stats")["total_commands_processed"] - asked < 40
            old.replicaof("no", "one")
        # What was accepted without a wake-up is found as well: beat has come along.
        accept(home, "I own a bike.")
        when(lambda: statuses(home) == ["completed"] * 3, 45)
        assert (api.stop(), worker.stop()) == (0, 0)


def all_at_work(home: Fleet, to_redis: Wire) -> tuple[ServerProcess, ServerProcess, ServerProcess]:
    """An API, a worker with an input of either Space at work, and a beat, all over this wire."""
    api = home.api(redis_url=to_redis.url)
    worker, beat = home.keeper(redis_url=to_redis.url), home.beat(redis_url=to_redis.url)
    for space in BOTH:
        api.form("first [slow 3]", space)
    when(lambda: all(is_working(home, 1, space) for space in BOTH))
    return api, worker, beat


def is_full(home: Fleet, to_redis: Wire) -> None:
    with home.redis.client() as redis:
        redis.config_set("maxmemory-policy", "noeviction")
        redis.config_set("maxmemory", 1)


def has_room(home: Fleet, to_redis: Wire) -> None:
    with home.redis.client() as redis:
        redis.config_set("maxmemory", 0)


def loads(home: Fleet, to_redis: Wire) -> None:
    to_redis.answer = b"-LOADING Redis is loading the dataset in memory\r\n"


def cannot_save(home: Fleet, to_redis: Wire) -> None:
    to_redis.answer = b"-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist\r\n"


def says_nothing(home: Fleet, to_redis: Wire) -> None:
    to_redis.answer = b""


def answers(home: Fleet, to_redis: Wire) -> None:
    to_redis.answer = None


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-008")
@pytest.mark.parametrize(
    ("fails", "recovers"),
    [(is_full, has_room), (loads, answers), (cannot_save, answers), (says_nothing, answers)],
    ids=["full", "loading", "cannot save", "silent"],
)
def test_nobody_ends_or_stands_still_while_redis_refuses_what_it_is_asked_or_after(
    tmp_path: Path, fails: Callable[[Fleet, Wire], None], recovers: Callable[[Fleet, Wire], None]
) -> None:
    with fleet(tmp_path, *BOTH) as home, wire(home.redis.url) as to_redis:
        api, worker, beat = all_at_work(home, to_redis)
        fails(home, to_redis)
        when(lambda: all(statuses(home, space) == ["completed"] for space in BOTH))
        for space in BOTH:
            api.form("second", space)
        time.sleep(20)
        said = worker.said.stat().st_size
        time.sleep(5)
        assert worker.said.stat().st_size - said < 20_000, "it says so without a pause"
        recovers(home, to_redis)
        when(lambda: all(statuses(home, space) == ["completed"] * 2 for space in BOTH), 45)
        accept(home, "third")
        when(lambda: statuses(home) == ["completed"] * 3, 45)
        assert (api.stop(), worker.stop(), beat.stop()) == (0, 0, 0)


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-008")
def test_connections_that_go_dead_without_a_word_are_replaced(tmp_path: Path) -> None:
    with fleet(tmp_path, *BOTH) as home, wire(home.redis.url) as to_redis:
        api, worker, beat = all_at_work(home, to_redis)
        assert to_redis.drop() > 2
        for space in BOTH:
            api.form("second", space)
        when(lambda: all(statuses(home, space) == ["completed"] * 2 for space in BOTH), 90)
        # And again while everybody waits.
        to_redis.drop()
        accept(home, "third")
        when(lambda: statuses(home) == ["completed"] * 3, 90)
        assert (api.stop(), worker.stop(), beat.stop()) == (0, 0, 0)


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-006")
def test_a_worker_starts_its_beat_again_when_it_dies(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        worker = home.worker("--beat")
        for deaths in range(1, 4):
            *_, beat = family(worker)
            os.kill(beat, signal.SIGKILL)
            when(lambda deaths=deaths: len(home.told(worker, "beat_died")) == deaths)
            # Nobody is woken for it: a sweep of the new one finds it.
            accept(home, f"I own a thing{deaths}.")
            when(lambda deaths=deaths: statuses(home) == ["completed"] * deaths)
        everybody = family(worker)
        assert worker.stop() == 0
        when(lambda: not any(Path(f"/proc/{pid}").exists() for pid in everybody), 5)
        assert len(home.told(worker, "beat_died")) == 3


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-005")
def test_a_worker_that_takes_no_messages_for_whatever_reason_ends_to_be_started_again(tmp_path: Path) -> None:
    with fleet(tmp_path, *BOTH) as home:
        worker = home.keeper(worker_concurrency=2, watch_look_s=1)
        accept(home, "first [slow 14]")
        home.send(Kind.FORMATION, "home")
        when(lambda: is_working(home, 1))
        (tmp_path / "deaf").touch()
        accept(home, "first", space="away")
        home.send(Kind.FORMATION, "away")
        # What is at work may end.
        assert worker.process.wait(60) == 1
        assert len(home.told(worker, "stands_still")) == 1
        assert (statuses(home), statuses(home, "away")) == (["completed"], ["submitted"])
        (tmp_path / "deaf").unlink()
        home.keeper()
        when(lambda: statuses(home, "away") == ["completed"])


@pytest.mark.requirement("BR-OPS-003", "BR-LIFE-010")
def test_a_worker_does_not_end_while_messages_wait_for_good_reasons(tmp_path: Path) -> None:
    with fleet(tmp_path, *BOTH) as home:
        busy = home.keeper(worker_concurrency=1, watch_look_s=1)
        accept(home, "first [slow 16]")
        for _ in range(5):
            home.send(Kind.FORMATION, "home")
        when(lambda: statuses(home) == ["completed"])
        # One that has slept has not looked; one without Redis has nothing to take.
        (tmp_path / "deaf").touch()
        for pid in family(busy):
            os.kill(pid, signal.SIGSTOP)
        home.send(Kind.FORMATION, "home")
        time.sleep(14)
        (tmp_path / "deaf").unlink()
        for pid in family(busy):
            os.kill(pid, signal.SIGCONT)
        home.redis.kill()
        time.sleep(14)
        home.redis.start()
        accept(home, "second")
        home.send(Kind.FORMATION, "home")
        when(lambda: statuses(home) == ["completed"] * 2)
        assert not home.told(busy, "stands_still")
        assert busy.stop() == 0


def strange_messages() -> Iterator[bytes]:
    """What is no message at all, and messages of ours with one thing in them that is something else."""
    yield from (b"", b"junk", b"\xff\xfe", b"{}", b"[]", b"7", b"null", b'"home"', b"[" * 100_000)
    headers = {"task": Kind.SWEEP.task, "id": "1", "lang": "py", "retries": 0, "timelimit": [None, None]}
    headers |= {"eta": None, "expires": None, "argsrepr": "()", "kwargsrepr": "{}", "origin": "here", "group": None}
    properties = {"delivery_tag": "1", "body_encoding": "base64", "correlation_id": "1", "priority": 0}
    properties |= {"delivery_info": {"exchange": "", "routing_key": Kind.SWEEP.queue}, "reply_to": None}
    good = {"body": b64encode(b"[[], {}, {}]").decode(), "headers": headers, "properties": properties}
    good |= {"content-type": "application/json", "content-encoding": "utf-8"}
    number = 0
    for part in (good, headers, properties):
        for name in list(part):
            for odd in (None, {}, [["x", {}]], "odd", -1, True, 1e300, "gone"):
                number += 1
                message = json.loads(json.dumps(good))
                place = message if part is good else message["headers" if part is headers else "properties"]
                if isinstance(message["properties"], dict):
                    message["properties"]["delivery_tag"] = str(number)
                if odd == "gone":
                    del place[name]
                else:
                    place[name] = odd
                yield json.dumps(message).encode()


@pytest.mark.requirement("BR-OPS-003", "BR-OPS-005")
def test_nothing_anybody_writes_into_a_queue_ends_a_worker_or_stays_with_it(tmp_path: Path) -> None:
    with fleet(tmp_path, "home") as home:
        worker = home.keeper(worker_concurrency=2)
        accept(home, "first")
        with home.redis.client() as redis:
            for message in strange_messages():
                redis.lpush(Kind.SWEEP.queue, message)
                redis.lpush(Kind.FORMATION.queue, message)
            home.send(Kind.FORMATION, "home")
            when(lambda: all(is_at_rest(redis) for _ in range(10)), 120)
            assert worker.process.poll() is None
            assert worker.stop() == 0
            assert is_at_rest(redis)  # nobody is given any of them again
        assert statuses(home) == ["completed"]
        assert "odd" not in worker.said.read_text()
