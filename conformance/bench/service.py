"""The service: start, memory, latency at the HTTP door, and what a formation costs beside its model."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from conformance.bench.measure import line, milliseconds
from conformance.bench.people import load
from conformance.servers import brain_server, pid_of, processor_ms


def bench_service(size: int) -> None:
    """Start, memory, enqueue and host time on a Space of `size` claims."""
    from brain.app import spaces_for
    from brain.service.hosting import HOST
    from brain.settings import load_settings

    with tempfile.TemporaryDirectory(prefix="brain-bench-") as name:
        folder = Path(name)
        begun = time.perf_counter()
        with brain_server(folder=folder) as url:
            line("start to first 200 on /info", (time.perf_counter() - begun) * 1000)
            line("idle memory", resident_mb(url), unit="MB")
        spaces = spaces_for(load_settings(local_db_path=folder / "spaces", sqlite_durability="normal"))
        space = spaces.create("bench", owner="bench", tier=6)

        def run(command: str, parameters: Mapping[str, Any]) -> Any:
            response = space.engine.run(command, parameters, session=HOST).response
            if response["status"] != "succeeded":
                raise RuntimeError(json.dumps(response)[:800])
            return response["results"][0]["result"]

        load(run, size * 10 // 7)
        spaces.close()
        with brain_server(folder=folder) as url:
            print(f"service, {size} claims")
            _until_warm(pid_of(url))
            _bench_http(url)
            bench_packets(url, size)
            line("memory", resident_mb(url), unit="MB")
        asyncio.run(_bench_host_time(folder))


def _until_warm(pid: str) -> None:
    """Wait until the process rests: in its first seconds it imports what later requests find there."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        before = processor_ms(pid)
        time.sleep(1)
        if processor_ms(pid) - before < 50:
            return


def _bench_http(url: str) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:

        def post(path: str, body: Any) -> Any:
            answer = client.post(f"/v1/bench/{path}", json=body)
            answer.raise_for_status()
            return answer.json()

        def kip(command: str, **parameters: Any) -> Any:
            return post("execute_kip_readonly", {"command": command, "parameters": parameters})

        key = {"k": "person:100"}
        line(
            "KIP point over HTTP",
            milliseconds(lambda: kip('FIND(?p.name) WHERE { ?p {type: "Person", key: :k} }', **key)),
            0.82,
        )
        line(
            "BELIEF SLOT over HTTP",
            milliseconds(
                lambda: kip(
                    'FIND(?s.status) WHERE { ?p {type: "Person", key: :k} ?s BELIEF SLOT (?p, "lives_in") }', **key
                )
            ),
            1.4,
        )
        line("SEARCH over HTTP", milliseconds(lambda: kip('SEARCH CONCEPT "zither" LIMIT 10')), 0.92)
        line("probe hit", milliseconds(lambda: post("probe", {"query": "zither"})), 0.83)
        times = []
        for number in range(100):
            begun = time.perf_counter()
            post("formation", {"messages": [{"role": "user", "content": f"Good morning, number {number}!"}]})
            times.append((time.perf_counter() - begun) * 1000)
        times.sort()
        line("formation enqueue p50", times[len(times) // 2], 6.3)
        line("formation enqueue p95", times[int(len(times) * 0.95)], 19)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            status = client.get("/v1/bench/formation_status").json()["result"]
            if not status["formation_processing"] and not status["maintenance_processing"]:
                break
            time.sleep(0.2)
        question = {"query": "Where does Person number100 live?"}
        line("recall, builtin/offline", milliseconds(lambda: post("recall", question), repeat=10), 32)


_PACKETS = 200
_QUESTIONS = (
    "Where does Person number{n} live?",
    "Who knows Person number{n}, and what is number{m} interested in?",
    "What did Person number{n} say since January 2026?",
    "Which engineer {k} is in team {t}?",
    "Who has a zither?",
)


def bench_packets(url: str, size: int) -> None:
    """Packets about changing people and things of the Space `bench`: the spread at the door, and processor time."""
    pid = pid_of(url)
    with httpx.Client(base_url=url, timeout=60) as client:

        def packet(number: int) -> float:
            question = _QUESTIONS[number % len(_QUESTIONS)].format(
                n=number * 7919 % size, m=number * 104_729 % size, k=number % 13, t=number % 31
            )
            begun = time.perf_counter()
            client.post("/v1/bench/packet", json={"query": question}).raise_for_status()
            return (time.perf_counter() - begun) * 1000

        for number in range(len(_QUESTIONS)):  # the first of a process reads the encoding
            packet(number)
        spent = processor_ms(pid)
        times = sorted(packet(number) for number in range(_PACKETS))
        line("packet p50", times[len(times) // 2])
        line("packet p95 (goal 200 at 100,000 claims)", times[int(len(times) * 0.95)])
        line("packet, processor time of the server", (processor_ms(pid) - spent) / _PACKETS)


async def _bench_host_time(folder: Path) -> None:
    """What a formation costs beside its model call: dossier, prompt, compile, gate, commit, bookkeeping."""
    from brain.agents.model import Model, ModelAnswer, ModelRequest
    from brain.agents.models import model_for
    from brain.app import build
    from brain.service.callers import Caller
    from brain.service.inputs import FormationInput
    from brain.settings import load_settings

    settings = load_settings(local_db_path=folder / "spaces")

    class Timed:
        """A model that notes how long it took."""

        def __init__(self, inner: Model) -> None:
            self._inner, self.name, self.seconds = inner, inner.name, 0.0

        async def answer(self, request: ModelRequest) -> ModelAnswer:
            begun = time.perf_counter()
            try:
                return await self._inner.answer(request)
            finally:
                self.seconds += time.perf_counter() - begun

    model = Timed(model_for(settings))
    application = build(settings, model=model)
    space = application.spaces.get("bench")
    while await application.passes.step(space):
        pass
    host, spent = [], []
    for number in range(20):
        lines = {
            f"Person number{number}": f"I moved to Porto. My dog is called Rex{number}.",
            "Ana": "I'll call Ben by Friday.",
        }
        said = FormationInput.model_validate(
            {"messages": [{"role": "user", "name": name, "content": text} for name, text in lines.items()]}
        )
        model.seconds = 0.0
        await application.brain.submit_formation("bench", said, Caller("bench", "bench"))
        begun = time.perf_counter()
        await application.passes.step(space)
        host.append((time.perf_counter() - begun - model.seconds) * 1000)
        spent.append(model.seconds * 1000)
    host.sort()
    line("host time a formation, p50", host[len(host) // 2])
    line("host time a formation, p95", host[int(len(host) * 0.95)])
    line("builtin/offline itself, p50", statistics.median(spent))
    application.spaces.close()


def resident_mb(url: str) -> float:
    """Resident memory of the process that listens on an address; NaN when nobody can say."""
    try:
        text = Path(f"/proc/{pid_of(url)}/status").read_text()
    except OSError:
        return float("nan")
    return int(text.split("VmRSS:")[1].split()[0]) / 1024
