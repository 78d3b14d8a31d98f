"""What operators see of whole processes: a server with an address for them alone, and a worker with its pool."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.service.processes import started
from tests.workers.fleet import Fleet, fleet, when


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def number(address: str, name: str, **labels: str) -> float:
    """One sample; 0 when it is not told."""
    text = httpx.get(f"http://{address}/metrics", timeout=10).text
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    )


@pytest.mark.requirement("BR-OPS-020")
def test_a_server_shows_its_numbers_on_an_address_of_their_own_alone(tmp_path: Path) -> None:
    address = free_address()
    with started(tmp_path, "serve", module="brain", metrics_addr=address) as server:
        assert httpx.get(f"{server.url}/info", timeout=10).status_code == 200
        assert httpx.get(f"{server.url}/metrics", timeout=10).status_code == 404
        assert number(address, "brain_requests_total", route="/info", method="GET", status="200") >= 1
        assert httpx.get(f"http://{address}/readyz", timeout=10).json()["ready"] is True
        assert httpx.get(f"http://{address}/healthz", timeout=10).status_code == 200
        assert httpx.get(f"http://{address}/info", timeout=10).status_code == 404
        with started(tmp_path, "serve", module="brain", wait=False, metrics_addr=address) as second:
            assert second.process.wait(60) == 1
            assert address in second.said.read_text()


def waiting_for(home: Fleet, address: str, count: int) -> None:
    when(lambda: number(address, "brain_passes_total", queue="formation", outcome="completed") == count)


@pytest.mark.slow
@pytest.mark.requirement("BR-OPS-020", "BR-OPS-008")
def test_a_worker_shows_the_numbers_of_its_pool_and_they_never_fall(tmp_path: Path) -> None:
    address = free_address()
    with fleet(tmp_path, "home", "elsewhere") as home:
        worker = home.keeper(metrics_addr=address)
        when(lambda: home.told(worker, "metrics_served"))
        api = home.api()
        for text in ("one", "two"):
            api.form(text, "home")
        api.form("three", "elsewhere")
        waiting_for(home, address, 3)
        ready = httpx.get(f"http://{address}/readyz", timeout=10)
        assert ready.status_code == 200, ready.text
        assert json.loads(ready.text)["checks"]["queue"]["ok"] is True
        text = httpx.get(f"http://{address}/metrics", timeout=10).text
        assert "home" not in text
        assert "elsewhere" not in text
        home.redis.kill()
        when(lambda: httpx.get(f"http://{address}/readyz", timeout=10).status_code == 503)
        assert httpx.get(f"http://{address}/healthz", timeout=10).status_code == 200
        assert number(address, "brain_passes_total", queue="formation", outcome="completed") == 3
