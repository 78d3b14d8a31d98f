"""`LLM_MAX_CONCURRENCY` bounds the model calls of a deployment, however many processes it has."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from anyio.to_thread import run_sync
from pydantic import SecretStr
from redis import Redis

from brain.agents.model import ModelAnswer, ModelMessage, ModelRequest, Usage
from brain.agents.models import BudgetedModel, Places
from brain.broker import client_url
from conformance.redis_server import redis_server
from tests.agents.openai_server import serving
from tests.service.processes import ROOT, wait_for
from tests.service.world import settings_for
from tests.workers.fleet import fleet, statuses, when
from tests.workers.test_processes import provider_settings, remembers
from tests.workers.wire import wire
from workers.places import KEYS, SharedPlaces

pytestmark = pytest.mark.anyio
HELD, LINE, SEEN = KEYS
DAY_MS = 86_400_000
REQUEST = ModelRequest((ModelMessage("user", "hello"),), (), 100, 60_000)


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url) as client:
        client.delete(*KEYS)
        yield client
        client.delete(*KEYS)


def places(redis_url: str, most: int = 1, lease_ttl_ms: int = 2_000) -> SharedPlaces:
    """As one process of a deployment has them."""
    settings = settings_for(Path("unused"), llm_max_concurrency=most, lease_ttl_ms=lease_ttl_ms)
    return SharedPlaces(settings.model_copy(update={"redis_url": SecretStr(redis_url)}))


async def until(holds: Callable[[], object]) -> None:
    """Wait for something the shared Redis, or another thread, comes to hold."""
    await run_sync(wait_for, holds, 40)


class Counting:
    """A model that thinks for a moment and counts who is with it, and who came in which order."""

    name = "counting"

    def __init__(self) -> None:
        self.here = self.most = 0
        self.came: list[str] = []

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        self.came.append(request.messages[0].content)
        self.here += 1
        self.most = max(self.most, self.here)
        try:
            await anyio.sleep(0.01)
        finally:
            self.here -= 1
        return ModelAnswer("hi", (), Usage(1, 1, 0, 1), self.name)


@pytest.mark.slow
@pytest.mark.requirement("BR-AGENT-004")
def test_two_workers_with_limit_1_ask_the_provider_one_call_at_a_time(tmp_path: Path) -> None:
    spaces = ("home", "away", "work", "club")
    with serving() as provider, fleet(tmp_path, *spaces, llm_max_concurrency=1) as home:
        provider.steps = [remembers(f"thing{number}", after=0.3) for number in range(12)]
        api = home.api()
        for number in range(12):
            api.form(f"I own a thing{number}.", spaces[number % 4])
        workers = [home.worker(**provider_settings(provider.url)) for _ in range(2)]
        for space in spaces:
            when(lambda space=space: statuses(home, space) == ["completed"] * 3, 120)
        assert all(home.formed(worker) for worker in workers), "one of them did all the work"
        assert provider.most_at_work == 1
        assert not any(home.told(worker, "places_not_shared") for worker in workers)


@contextmanager
def holder(redis_url: str, lease_ttl_ms: int) -> Iterator[subprocess.Popen[str]]:
    """Another process, which has taken the only place and keeps it."""
    program = (
        "import anyio, sys\n"
        "from tests.workers.test_places import places\n"
        "async def main():\n"
        "    async with places(sys.argv[1], lease_ttl_ms=int(sys.argv[2])).place():\n"
        "        print('taken', flush=True)\n"
        "        await anyio.sleep(600)\n"
        "anyio.run(main)\n"
    )
    command = [sys.executable, "-c", program, redis_url, str(lease_ttl_ms)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "taken\n"
            yield process
        finally:
            process.kill()


@pytest.mark.requirement("BR-AGENT-004")
async def test_a_killed_process_gives_its_place_back_when_its_lease_has_run_out(redis: Redis, redis_url: str) -> None:
    with holder(redis_url, 2_000) as other:
        mine = places(redis_url)
        with anyio.move_on_after(3):  # longer than a lease: it is renewed
            async with mine.place():
                pytest.fail("there were two at a time")
        other.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        async with mine.place():
            assert time.monotonic() - killed < 30
            assert redis.zcard(HELD) == 1


@pytest.mark.requirement("BR-AGENT-004", "BR-OPS-007")
async def test_places_of_the_dead_come_back_though_the_clock_of_redis_was_set_back(
    redis: Redis, redis_url: str
) -> None:
    seconds, micros = redis.time()
    later = seconds * 1000 + DAY_MS
    redis.zadd(HELD, {"dead:1": later})
    redis.zadd(LINE, {"gone": (seconds - 60) * 1_000_000 + micros})
    redis.zadd(SEEN, {"gone": later})
    with anyio.fail_after(30):
        async with places(redis_url).place():
            assert redis.zcard(HELD) == 1
            assert not redis.zcard(LINE)


@pytest.mark.requirement("BR-AGENT-004", "BR-OPS-007")
async def test_places_are_shared_again_after_a_failover(tmp_path: Path) -> None:
    with (
        redis_server(tmp_path / "one") as one,
        redis_server(tmp_path / "other") as other,
        wire(one.url) as to_redis,
        one.client() as old,
        other.client() as new,
    ):
        new.config_set("requirepass", urlsplit(one.url).password)
        async with places(to_redis.url).place():
            assert old.zcard(HELD) == 1
            to_redis.target = other.url
            old.replicaof("127.0.0.1", 1)
            with anyio.fail_after(10):
                await until(lambda: new.zcard(HELD) == 1)
        await until(lambda: new.zcard(HELD) == 0)


@pytest.mark.requirement("BR-AGENT-004")
async def test_all_processes_together_have_so_many_calls_and_take_turns(redis: Redis, redis_url: str) -> None:
    counting = Counting()
    busy, calm = (
        BudgetedModel(counting, Places(2, places(redis_url, 2)), max_output=50, timeout_ms=60_000) for _ in range(2)
    )
    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(busy.answer, _asking(f"busy {number}"))
        await anyio.sleep(0.1)
        for number in range(3):
            group.start_soon(calm.answer, _asking(f"calm {number}"))
    assert counting.most == 2
    # Whoever has few calls waits for its turn among the processes, and not behind all calls of the other.
    assert max(counting.came.index(f"calm {number}") for number in range(3)) < 60
    await until(lambda: not redis.exists(HELD, LINE))


def _asking(what: str) -> ModelRequest:
    return ModelRequest((ModelMessage("user", what),), (), 100, 60_000)


@pytest.mark.requirement("BR-AGENT-004")
async def test_who_leaves_while_waiting_takes_no_place_and_no_turn(redis: Redis, redis_url: str) -> None:
    one, two = places(redis_url), places(redis_url)
    async with one.place():
        for number in itertools.count():
            with anyio.move_on_after(0.02 * (number % 5)):
                async with two.place():
                    pytest.fail("there were two at a time")
            if number == 25:
                break
        await until(lambda: not redis.exists(LINE))
    with anyio.fail_after(10):
        async with two.place():
            assert redis.zcard(HELD) == 1


@pytest.mark.requirement("BR-AGENT-004")
async def test_without_redis_each_process_bounds_its_own_and_refuses_nobody(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        counting = Counting()
        shared = [places(server.url) for _ in range(2)]
        models = [BudgetedModel(counting, Places(1, one), max_output=50, timeout_ms=60_000) for one in shared]
        async with anyio.create_task_group() as group, shared[0].place():
            await anyio.sleep(0.05)
            group.start_soon(models[1].answer, REQUEST)
            await anyio.sleep(0.2)
            assert counting.here == 0
            server.kill()
            await until(lambda: counting.came)  # who waited
            with anyio.fail_after(10):  # who comes now
                await models[1].answer(REQUEST)
                await models[0].answer(REQUEST)
            server.start()
            with server.client() as redis:
                # What is at work counts again, in a Redis that has forgotten everything.
                await until(lambda: redis.zcard(HELD) == 1)
            async with anyio.create_task_group() as others:
                others.start_soon(models[1].answer, REQUEST)
                await anyio.sleep(0.5)
                assert counting.here == 0
                others.cancel_scope.cancel()
        assert counting.most <= 2


@pytest.mark.requirement("BR-AGENT-004")
async def test_a_redis_that_is_full_or_answers_nonsense_keeps_nobody_out(redis: Redis, redis_url: str) -> None:
    redis.set(HELD, "no set at all")
    with anyio.fail_after(10):
        async with places(redis_url).place():
            pass


async def test_nothing_is_started_or_connected_before_the_first_call() -> None:
    before = threading.active_count()
    Places(1, places("redis://192.0.2.1:6379/0"))
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("redis://:p%40ss@host:6379/3", "redis://:p%40ss@host:6379/3"),
        ("redis+socket:///run/redis.sock?virtual_host=2", "unix:///run/redis.sock?db=2"),
        ("redis+socket:///run/redis.sock", "unix:///run/redis.sock?db=0"),
        ("rediss://host:6379/0?ssl_cert_reqs=CERT_NONE", "rediss://host:6379/0?ssl_cert_reqs=none"),
    ],
)
def test_an_address_as_celery_writes_it_is_read_by_the_library(written: str, read: str) -> None:
    assert client_url(written) == read
    assert Redis.from_url(read) is not None
