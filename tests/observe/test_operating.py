"""What operators see over HTTP: whether a process lives, whether it is ready, and its numbers."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from brain import errors
from brain.app import Application, build
from brain.observe.health import Check, NotReady, Readiness
from brain.store.sqlite import SqliteStore
from tests.service.world import OWNER, served, settings_for

SECRET = "Quetzalcoatl"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Operator:
    application: Application
    client: httpx.AsyncClient
    space: str = "quiet_space"

    async def numbers(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        """Every sample by its name and labels, read by Prometheus's own reader."""
        answer = await self.client.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    async def number(self, name: str, **labels: str) -> float:
        return (await self.numbers()).get((name, frozenset(labels.items())), 0.0)

    async def formed(self, content: str) -> None:
        message = {"role": "user", "name": "Ana", "content": content}
        accepted = await self.client.post(f"/v1/{self.space}/formation", json={"messages": [message]})
        number = accepted.json()["result"]["conversation"]
        with anyio.fail_after(20):
            while True:  # until it ended
                path = f"/v1/{self.space}/conversations/{number}?collection=formation"
                record = (await self.client.get(path)).json()["result"]
                if record["status"] not in {"submitted", "working"}:
                    return
                await anyio.sleep(0.02)


@asynccontextmanager
async def opened(folder: Path, *, store: Any = None, **changed: Any) -> AsyncIterator[Operator]:
    application = build(settings_for(folder, **changed), store=store)
    async with served(application) as client:
        made = await client.post("/admin/create_space", json={"user": OWNER, "space_id": "quiet_space", "tier": 3})
        assert made.status_code == 200, made.text
        yield Operator(application, client)


@pytest.mark.anyio
@pytest.mark.requirement("BR-OPS-020")
class TestMetrics:
    async def test_requests_are_counted_and_timed_by_route_and_not_by_path(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            await operator.client.get("/info")
            await operator.client.get("/info")
            await operator.client.get(f"/{SECRET}")
            await operator.client.get(f"/v1/{operator.space}/info")
            await operator.client.request(SECRET.upper(), "/info")
            count = operator.number
            assert await count("brain_requests_total", route="/info", method="GET", status="200") == 2
            assert await count("brain_requests_total", route="none", method="GET", status="404") == 1
            assert await count("brain_request_seconds_count", route="/info", method="GET") == 2
            assert await count("brain_request_seconds_bucket", route="/info", method="GET", le="+Inf") == 2
            assert await count("brain_requests_total", route="/v1/{space_id}/info", method="GET", status="200") == 1

    async def test_what_is_formed_and_asked_is_counted_by_outcome(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            await operator.formed("I live in Lisbon.")
            assert await operator.number("brain_passes_total", queue="formation", outcome="completed") == 1
            assert await operator.number("brain_pass_seconds_count", queue="formation") == 1
            assert await operator.number("brain_model_call_seconds_count", outcome="answered") >= 1
            assert await operator.number("brain_store_seconds_count", operation="commit") > 1
            assert await operator.number("brain_store_seconds_count", operation="open") > 1

    async def test_errors_are_counted_by_their_code(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            path = f"/v1/{operator.space}/execute_kip_readonly"
            await operator.client.post(path, json={"command": "FIND("})
            await operator.client.get("/v1/nobody_here/info")
            assert await operator.number("brain_errors_total", code="InvalidSyntax") == 1
            assert await operator.number("brain_errors_total", code="SpaceNotFound") == 1

    async def test_the_queue_is_told_with_the_age_of_its_oldest_entry(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            spaces = operator.application.spaces
            with spaces.use(operator.space) as space, space.transaction() as tx:
                # Somebody else is at work, so that what is accepted has to wait.
                now_ms = int(time.time() * 1000)
                tx.acquire_lease("pass", "another", ttl_ms=60_000, now_ms=now_ms)
                work_id = tx.enqueue("formation", {"conversation": 99})
                tx.begin_work(work_id, now_ms - 100_000)
            message = {"role": "user", "name": "Ana", "content": "I live in Lisbon."}
            for _ in range(3):
                await operator.client.post(f"/v1/{operator.space}/formation", json={"messages": [message]})
            assert await operator.number("brain_queue_entries", queue="formation", status="queued") == 3
            assert await operator.number("brain_queue_entries", queue="formation", status="running") == 1
            assert 100 <= await operator.number("brain_queue_running_seconds", queue="formation") < 130
            assert await operator.number("brain_leases_held") == 1
            assert 0 <= await operator.number("brain_queue_oldest_seconds", queue="formation") < 30
            assert await operator.number("brain_spaces") == 1

    async def test_no_label_tells_of_a_space_or_of_what_it_holds(self, tmp_path: Path) -> None:
        async with opened(tmp_path, model_api_base=f"http://{SECRET}.test") as operator:
            await operator.formed(f"My name is {SECRET} and I live in {SECRET}.")
            question = {"query": f"Where does {SECRET} live?"}
            await operator.client.post(f"/v1/{operator.space}/recall", json=question)
            await operator.client.get(f"/v1/{SECRET}/info", headers={"authorization": f"Bearer {SECRET}"})
            text = (await operator.client.get("/metrics")).text
            for word in (SECRET, SECRET.lower(), operator.space, str(tmp_path), "Ana"):
                assert word not in text

    async def test_numbers_only_grow_and_say_what_they_are(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            before = await operator.numbers()
            await operator.client.get("/info")
            after = await operator.numbers()
            fell = {
                key for key in before if key[0].endswith(("_total", "_count", "_bucket")) and after[key] < before[key]
            }
            assert not fell
            assert any(name == "brain_info" for name, _ in after)
            assert after["process_resident_memory_bytes", frozenset()] > 1_000_000
            told = (await operator.client.get("/metrics")).text
            for name in re.findall(r"^# TYPE (\S+)", told, re.M):
                assert f"# HELP {name} " in told

    @pytest.mark.parametrize("address", ["off", "127.0.0.1:0"])
    async def test_metrics_can_be_elsewhere_or_off(self, tmp_path: Path, address: str) -> None:
        async with opened(tmp_path, metrics_addr=address) as operator:
            assert (await operator.client.get("/metrics")).status_code == 404
            assert (await operator.client.get("/healthz")).status_code == 200


class BrokenStore(SqliteStore):
    """A store that fails, or hangs, when it is looked at."""

    fault: BaseException | None = None
    hangs_s: float = 0

    def check(self) -> None:
        time.sleep(self.hangs_s)
        if self.fault is not None:
            raise self.fault
        super().check()


@pytest.mark.anyio
@pytest.mark.requirement("BR-OPS-020", "BR-OPS-008")
class TestReadiness:
    async def test_a_process_that_can_serve_is_ready_and_says_why(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            answer = await operator.client.get("/readyz")
            assert answer.status_code == 200
            told = answer.json()
            assert told["ready"] is True
            assert set(told["checks"]) == {"store", "format", "queue", "model"}
            assert all(check["ok"] and check["reason"] for check in told["checks"].values())

    async def test_without_its_store_it_lives_and_is_not_ready(self, tmp_path: Path) -> None:
        store = BrokenStore(tmp_path)
        async with opened(tmp_path, store=store) as operator:
            store.fault = errors.InternalError("The Space's disk is full; nothing was stored.")
            answer = await operator.client.get("/readyz")
            assert answer.status_code == 503
            told = answer.json()
            assert told["ready"] is False
            assert told["checks"]["store"] == {
                "ok": False,
                "required": True,
                "reason": "The Space's disk is full; nothing was stored.",
            }
            assert (await operator.client.get("/healthz")).json() == {"alive": True}

    async def test_a_store_that_hangs_is_told_in_bounded_time_and_asked_once(self, tmp_path: Path) -> None:
        store = BrokenStore(tmp_path)
        store.hangs_s = 4.0
        async with opened(tmp_path, store=store) as operator:
            started = time.monotonic()
            answer = await operator.client.get("/readyz")
            assert time.monotonic() - started < 3.5
            assert answer.status_code == 503
            assert answer.json()["checks"]["store"]["reason"] == "it took too long"
            assert answer.json()["checks"]["model"]["ok"] is True

    async def test_a_data_folder_that_is_gone_is_not_ready(self, tmp_path: Path) -> None:
        async with opened(tmp_path / "db") as operator:
            (tmp_path / "db").rename(tmp_path / "elsewhere")
            answer = await operator.client.get("/readyz")
            assert answer.status_code == 503
            assert str(tmp_path) not in answer.text

    async def test_spaces_of_a_newer_release_are_not_ready(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            operator.application.spaces.evict_idle(0)
            import apsw

            connection = apsw.Connection(str(tmp_path / "quiet_space.db"))
            connection.pragma("user_version", 99)
            connection.close()
            answer = await operator.client.get("/readyz")
            assert answer.status_code == 503
            assert answer.json()["checks"]["format"]["ok"] is False

    async def test_without_its_broker_it_goes_on_accepting_and_says_so(self, tmp_path: Path) -> None:
        nowhere = "redis://:do-not-tell@127.0.0.1:1/0"
        async with opened(tmp_path, work_queue="celery", redis_url=nowhere) as operator:
            answer = await operator.client.get("/readyz")
            assert answer.status_code == 200
            queue = answer.json()["checks"]["queue"]
            assert (queue["ok"], queue["required"]) == (False, False)
            assert "do-not-tell" not in answer.text

    async def test_while_it_stops_it_is_not_ready(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as operator:
            operator.application.observed.drain()
            answer = await operator.client.get("/readyz")
            assert answer.status_code == 503
            assert answer.json()["checks"]["serving"]["ok"] is False
            assert (await operator.client.get("/healthz")).status_code == 200

    async def test_a_busy_process_still_answers_operators(self, tmp_path: Path) -> None:
        async with opened(tmp_path, http_max_concurrency=1) as operator:
            with operator.application.http.state.request_budget.place():
                assert (await operator.client.get("/info")).status_code == 503
                for path in ("/healthz", "/readyz", "/metrics"):
                    assert (await operator.client.get(path)).status_code == 200


@dataclass
class Looks:
    count: int = 0
    faults: list[str] = field(default_factory=list)

    def __call__(self) -> str:
        self.count += 1
        if self.faults:
            raise NotReady(self.faults[0])
        return "well"


@pytest.mark.requirement("BR-OPS-020")
def test_asking_often_costs_one_look() -> None:
    looks = Looks()
    readiness = Readiness((Check("one", looks),))
    for _ in range(50):
        assert readiness.look().is_ready
    assert looks.count == 1


@pytest.mark.requirement("BR-OPS-020")
def test_a_check_that_is_not_required_is_told_and_keeps_nothing_from_being_ready() -> None:
    verdict = Readiness((Check("one", Looks(faults=["away"]), required=False), Check("two", Looks()))).look()
    assert verdict.is_ready
    assert verdict.checks["one"] == {"ok": False, "required": False, "reason": "away"}


@pytest.mark.requirement("BR-OPS-020")
def test_a_check_that_breaks_is_one_that_failed() -> None:
    def broken() -> str:
        raise ZeroDivisionError(SECRET)

    verdict = Readiness((Check("one", broken),)).look()
    assert not verdict.is_ready
    assert SECRET not in str(verdict.to_wire())
