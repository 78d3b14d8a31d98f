"""Real server processes on real files: together, killed, stopped."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from brain.settings import load_settings
from tests.service.processes import ServerProcess, started, wait_for
from tests.service.world import World, world

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = world(tmp_path / "spaces")
    made.create()
    made.application.spaces.close()
    return tmp_path / "spaces"


def look(folder: Path) -> World:
    return world(folder)


def has_ended(server: ServerProcess, count: int) -> bool:
    rows = httpx.get(f"{server.url}/v1/home/conversations?limit=100", timeout=10).json()["result"]
    return len(rows) >= count and all(row["status"] in {"completed", "failed", "cancelled"} for row in rows)


def has_come_forward(server: ServerProcess) -> bool:
    """Whether this process has ended a pass, or there is none left to begin."""
    return "pass_ended" in server.said.read_text() or has_ended(server, 1)


def is_at_rest(server: ServerProcess, waiting: int) -> bool:
    """Whether nothing is worked on, and at most so many inputs wait."""
    rows = httpx.get(f"{server.url}/v1/home/conversations?limit=1000", timeout=10).json()["result"]
    states = Counter(row["status"] for row in rows)
    is_busy = server.get("/v1/home/formation_status")["formation_processing"]
    return not is_busy and not states["working"] and states["submitted"] <= waiting


@pytest.mark.requirement("BR-FORM-031", "BR-FORM-032", "BR-LIFE-012", "BR-LIMIT-007")
def test_two_servers_on_one_folder_form_every_input_once_and_in_order(folder: Path) -> None:
    with started(folder) as one, started(folder) as two:
        texts = {(one if n % 2 else two).form(f"number {n}"): f"number {n}" for n in range(40)}
        wait_for(lambda: has_ended(one, 40), 30)
    home = look(folder)
    assert home.statuses() == ["completed"] * 40
    assert home.kept() == [texts[number] for number in sorted(texts)]
    assert len(home.find("FIND(?e.id) WHERE { ?e EVIDENCE {} }")) == 40
    home.application.spaces.close()


@pytest.mark.requirement("BR-FORM-032", "BR-FORM-034", "BR-FORM-037", "BR-FORM-038", "BR-LIFE-011", "BR-LIMIT-005")
def test_killed_again_and_again_it_loses_nothing_doubles_nothing_and_reports_the_rest(folder: Path) -> None:
    accepted: dict[int, str] = {}
    posted = 0
    chance = random.Random(17)
    end = time.monotonic() + 45
    kills = 0
    while kills < 12 and (time.monotonic() < end or kills < 5 or len(accepted) <= 20):
        with started(folder, keeper_pause_s=0.01) as server:
            stop, has_begun = threading.Event(), threading.Event()

            def post(server: ServerProcess, stop: threading.Event, has_begun: threading.Event) -> None:
                nonlocal posted
                while not stop.is_set():
                    posted += 1
                    text = f"number {posted}" + (" [twice]" if posted % 3 == 0 else "")
                    try:
                        accepted[server.form(text)] = text
                        has_begun.set()
                    except httpx.HTTPError:
                        return  # whether it was accepted is not known

            poster = threading.Thread(target=post, args=(server, stop, has_begun))
            poster.start()
            if kills % 3:  # else also while it opens the Space
                has_begun.wait(10)
            time.sleep(chance.uniform(0.1, 1.0))
            server.kill()
            kills += 1
            stop.set()
            poster.join()
    assert kills >= 5
    assert len(accepted) > 20
    with started(folder) as server:
        # What was cut short three times waits a minute for its next round, and stands in the queue till then.
        wait_for(lambda: is_at_rest(server, waiting=kills // 3), 60)
        assert server.stop() == 0

    home = look(folder)
    kept = Counter(home.kept())
    statuses = dict(enumerate(home.statuses(), start=1))
    assert set(accepted) <= set(statuses), "an accepted input is lost"
    assert max(kept.values()) == 1, "an input was formed twice"
    for number, text in accepted.items():
        record = home.record(number)
        assert record["status"] in {"completed", "failed", "submitted"}, record
        if record["status"] == "completed":
            assert kept[text] == 1
            assert kept[f"{text} (again)"] == (1 if "[twice]" in text else 0)
        else:
            assert record["failed_reason"].startswith("interrupted: ")
    # An input whose passes were cut short again and again waits for its next round; it stands in the queue.
    waiting = [number for number, status in statuses.items() if status == "submitted"]
    assert len(waiting) <= kills / 3
    with home.application.spaces.get("home").snapshot() as now:
        assert [work.payload["conversation"] for work in now.work("formation")] == waiting
    home.application.spaces.close()


@pytest.mark.requirement("BR-LIFE-009", "BR-FORM-034")
def test_sigterm_ends_with_code_0_finishes_what_is_under_way_and_leaves_the_rest(folder: Path) -> None:
    with started(folder) as server:
        server.form("under way [slow 1]")
        wait_for(lambda: server.get("/v1/home/conversations/1")["status"] == "working", 10)
        server.form("left")
        begun = time.monotonic()
        assert server.stop() == 0
        assert 0.3 < time.monotonic() - begun < 8
        assert '"stopped"' in server.said.read_text() or "pass_ended" in server.said.read_text()
    home = look(folder)
    assert home.statuses() == ["completed", "submitted"]
    home.application.spaces.close()
    with started(folder) as server:
        wait_for(lambda: has_ended(server, 2), 20)
    home = look(folder)
    assert home.kept() == ["under way [slow 1]", "left"]
    home.application.spaces.close()


@pytest.mark.requirement("BR-LIFE-009")
def test_sigterm_waits_no_longer_than_the_grace_time_and_tells_who_waits_to_come_back(folder: Path) -> None:
    with started(folder, shutdown_grace_ms=500) as server:
        server.form("long [slow 30]")
        answers: list[httpx.Response] = []

        def ask() -> None:
            answers.append(httpx.post(f"{server.url}/v1/home/recall", json={"query": "who? [slow 30]"}, timeout=30))

        asking = threading.Thread(target=ask)
        asking.start()
        wait_for(lambda: server.get("/v1/home/conversations?collection=recall"), 10)
        wait_for(lambda: server.get("/v1/home/conversations/1")["status"] == "working", 10)
        begun = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - begun < 5
        asking.join()
        assert answers[0].status_code == 503
        assert answers[0].headers["retry-after"] == "1"
        assert "stopping" in answers[0].json()["error"]["message"]
    home = look(folder)
    assert home.statuses() == ["submitted"]
    assert home.record(1, "recall")["status"] == "cancelled"
    home.application.spaces.close()


def test_a_second_instance_on_the_port_refuses_to_start(folder: Path) -> None:
    with started(folder) as one:
        address = one.url.removeprefix("http://")
        with started(folder, "serve", "--addr", address, module="brain", wait=False) as two:
            assert two.process.wait(20) == 1
            assert f"cannot listen on {address}" in two.said.read_text()
        assert one.is_up()


@pytest.mark.requirement("BR-OPS-014", "BR-OPS-027", "BR-EP-001")
def test_it_answers_within_a_second_of_its_start_and_stays_small(tmp_path: Path) -> None:
    seconds: list[float] = []
    for number in range(8):  # the best of some: other tests use the caches of the machine too
        with started(tmp_path / f"spaces{number}", "serve", module="brain") as server:
            seconds.append(processor_seconds(server.process.pid))  # a start waits for nothing but the processor
            time.sleep(1.5)  # the rest is imported by then
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            assert int(status.split("VmRSS:")[1].split()[0]) / 1024 < 150
            assert server.stop() == 0
        if seconds[-1] < 1.0:
            return
    pytest.fail(f"processor seconds from start to the first answer: {seconds}")


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.requirement("BR-HTTP-026", "BR-CONF-018")
def test_a_providers_key_is_in_no_log_and_no_answer(folder: Path) -> None:
    key = "sk-do-not-tell-4f1c9a"
    provider: dict[str, Any] = {"model_family": "openai", "model_name": "x", "model_api_base": "http://127.0.0.1:9/v1"}
    with started(folder, "serve", module="brain", model_api_key=key, log_level="debug", **provider) as server:
        told = [httpx.get(f"{server.url}/info", timeout=10).text, str(server.get("/v1/home/info"))]
        server.form("hello there")
        answer = httpx.post(f"{server.url}/v1/home/recall", json={"query": "who?"}, timeout=60)
        told.append(answer.text)
        assert answer.json()["result"]["failed_reason"].startswith("provider_error")
        wait_for(lambda: "failed_reason" in server.get("/v1/home/conversations/1"), 60)
        told.append(str(server.get("/v1/home/conversations/1")))
        assert server.stop() == 0
        told.append(server.said.read_text())
    assert all(key not in text for text in told)
    assert "hello there" not in told[-1]
    assert key not in repr(load_settings(model_api_key=key, _env_file=None))


@pytest.mark.requirement("BR-FORM-032", "BR-FORM-037", "BR-FORM-038")
def test_a_long_input_killed_between_and_within_its_passes_is_formed_once_or_told(folder: Path) -> None:
    texts = [f"number {n}" for n in range(1, 101)]
    ends = {texts[place - 1]: f"{max(1, place - 15)} to {place}" for place in range(4, 101, 16)}
    chance = random.Random(5)
    with started(folder, keeper_pause_s=0.2) as server:
        messages = [{"role": "user", "name": "Ana", "content": text} for text in texts]
        server.post("/v1/home/formation", {"messages": messages})
        time.sleep(0.3)
        server.kill()
    for turn in range(6):
        with started(folder, keeper_pause_s=0.2) as server:
            if turn % 2:  # what is cut short again and again waits a minute: it has to come forward now and then
                wait_for(partial(has_come_forward, server), 20)
                time.sleep(chance.random() / 2)
            else:
                time.sleep(1.0 + chance.random())
            server.kill()
    with started(folder) as server:
        wait_for(lambda: has_ended(server, 1), 40)
    home = look(folder)
    record, kept = home.record(1), home.kept()
    assert kept == [text for text in ends if text in kept]
    assert len(kept) == len(set(kept))
    reason = record.get("failed_reason", "")
    assert record["status"] == ("failed" if reason else "completed")
    # What a pass may have left undone is told; everything else is there, with every message as Evidence.
    assert [text for text, span in ends.items() if text not in kept and f"messages {span} of 100" not in reason] == []
    assert len(home.find("FIND(?e.id) WHERE { ?e EVIDENCE {} }")) == 100
    home.application.spaces.close()
