"""Benchmarks: `python -m conformance bench [parse] [engine] [service] [--size N]`.

Each figure is the median of repeated runs on this machine, in milliseconds unless said; the peer's figures on a machine
like these stand beside ours where they are known. Nothing here ever fails a build.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from conformance.engine import EngineAdapter
from conformance.servers import brain_server

_CITIES = ("Oslo", "Rome", "Kyoto", "Lima", "Porto")
_NOTES = ("climbs in the hills", "plays chess", "likes tea", "repairs bicycles", "sings in a choir")


def milliseconds(work: Callable[[], Any], *, repeat: int = 25) -> float:
    """The median time of one call."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


def line(name: str, ours: float, peer: float | None = None, unit: str = "ms") -> None:
    """Print one figure, and the peer's beside it."""
    beside = f"   peer {peer:g}" if peer is not None else ""
    print(f"  {name:<44} {ours:>10.3f} {unit}{beside}")


# --- the language -----------------------------------------------------------------------------------------------------

STATEMENTS = (
    'FIND(?p.name, ?o.name) WHERE { ?p {type: "Person", key: :k} (?p, "works_for", ?o) } ORDER BY ?o.name LIMIT 20',
    'FIND(?b.status) WHERE { ?b BELIEF (:p, "lives_in", :o) } FOR TIME "2026-01-01T00:00:00.000Z"',
    'ASSERT ?a (:p, "works_for", :o) {by: :p, mode: "stated", at: :at, evidence: :msg1}',
    'UPSERT CONCEPT ?p { MATCH {type: "Person", key: :k} SET FIELDS {name: :n} SET ATTRIBUTES {city: "Oslo"} }',
    'MUTATE { CREATE CONCEPT ?e { TYPE "Event" SET ATTRIBUTES {n: :s} } ASSERT (?e, "p", :q) {by: :p, mode: :m} }',
    'SEARCH CONCEPT "blue bicycle" WITH TYPE "Person" LIMIT 10',
    "DESCRIBE PRIMER",
    'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} NOT { (?p, "works_for", ?o) } FILTER(?p.attributes.age > 30) }',
)


def bench_parse() -> None:
    """Statements a second, cold (never seen) and warm (cached by text)."""
    from brain.kip.parser import parse, parse_uncached

    print("parse (statements a second)")
    cold = milliseconds(lambda: [parse_uncached(text) for text in STATEMENTS], repeat=60)
    for text in STATEMENTS:
        parse(text)
    warm = milliseconds(lambda: [parse(text) for text in STATEMENTS], repeat=200)
    line("cold", len(STATEMENTS) / cold * 1000, unit="/s")
    line("warm cache", len(STATEMENTS) / warm * 1000, unit="/s")


# --- the engine -------------------------------------------------------------------------------------------------------


def load_people(run: Callable[[str, Mapping[str, Any]], Any], size: int, *, batch: int = 200) -> float:
    """A Space of `size` Concepts (70 % Persons) with tuples and one claim per Person; seconds it took."""
    persons = size * 7 // 10
    begun = time.perf_counter()
    places: dict[int, str] = {}
    for start in range(0, size - persons, batch):
        chunk = range(start, min(start + batch, size - persons))
        text = " ".join(
            f'UPSERT CONCEPT ?x{i} {{ MATCH {{type: "{_kind(i)}", key: :k{i}}} SET FIELDS {{name: :n{i}}} }}'
            for i in chunk
        )
        values = {f"k{i}": f"thing-{i}" for i in chunk} | {f"n{i}": f"Thing {i}" for i in chunk}
        handles = run(f"MUTATE {{ {text} }}", values)["handles"]
        places |= {i: handles[f"x{i}"] for i in chunk}
    orgs = [element for i, element in places.items() if _kind(i) == "Organization"]
    cities = [element for i, element in places.items() if _kind(i) == "Place"]
    for start in range(0, persons, batch):
        chunk = range(start, min(start + batch, persons))
        parts: list[str] = []
        bound: dict[str, Any] = {}
        for i in chunk:
            parts.append(
                f'CREATE CONCEPT ?p{i} {{ TYPE "Person" NAME :n{i} SET FIELDS {{key: :k{i}}} SET ATTRIBUTES '
                f"{{age: :a{i}, city: :c{i}, description: :d{i}}} }}"
                f' ASSERT (?p{i}, "works_for", :o{i}) {{by: ?p{i}, mode: "stated"}}'
                f' ENSURE PROPOSITION (?p{i}, "lives_in", :l{i})'
            )
            if i > start:
                parts.append(f'ENSURE PROPOSITION (?p{i}, "knows", ?p{i - 1})')
            bound |= {
                f"n{i}": f"Person {i}",
                f"k{i}": f"person-{i}",
                f"a{i}": 18 + i % 60,
                f"c{i}": _CITIES[i % 5],
                f"d{i}": f"{_NOTES[i % 5]} number {i}" + (" with a zither" if i % 997 == 5 else ""),
                f"o{i}": {"id": orgs[i % len(orgs)]},
                f"l{i}": {"id": cities[i % len(cities)]},
            }
        run(f"MUTATE {{ {' '.join(parts)} }}", bound)
    return time.perf_counter() - begun


def _kind(i: int) -> str:
    return ("Organization", "Place", "Topic")[i % 3]


def bench_engine(size: int) -> None:
    """Commands of the reference's own benchmark on a Space of `size` Concepts."""
    engine = EngineAdapter()
    engine.reset(["cognitive-memory", "general"])

    def run(command: str, parameters: Mapping[str, Any] | None = None) -> Any:
        operation = {"command": command, "parameters": dict(parameters or {})}
        answer = engine.send({"kip": "2.0", "operations": [operation]})
        if answer["status"] != "succeeded":
            raise RuntimeError(json.dumps(answer)[:800])
        return answer["results"][0]["result"]

    seconds = load_people(run, size)
    middle = {"k": f"person-{size // 3}"}
    person = {"p": {"id": run('FIND(?p.id) WHERE { ?p {type: "Person", key: :k} }', middle)[0]}}
    peer = _PEER_ENGINE.get(size, {})
    print(f"engine, {size} Concepts (loaded in {seconds:.1f} s, peer {peer.get('load', '?')} s)")
    queries: dict[str, tuple[str, Mapping[str, Any]]] = {
        "point": ('FIND(?p.name) WHERE { ?p {type: "Person", key: :k} }', middle),
        "hop": ('FIND(?o.name) WHERE { ?p {type: "Person", key: :k} (?p, "works_for", ?o) }', middle),
        "hops3": (
            'FIND(?o.name) WHERE { ?p {key: :k} (?p, "knows", ?q) (?q, "knows", ?r) (?r, "works_for", ?o) }',
            middle,
        ),
        "slot": ('FIND(?s.status, ?s.accepted_values) WHERE { ?s BELIEF SLOT (:p, "works_for") }', person),
        "filter": ('FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(?p.attributes.age == 40) } LIMIT 10', {}),
        "group": ('FIND(?p.attributes.city, COUNT(?p)) WHERE { ?p {type: "Person"} }', {}),
        "order": ('FIND(?p.name) WHERE { ?p {type: "Person"} } ORDER BY ?p.attributes.age DESC LIMIT 10', {}),
        "rare": ('SEARCH CONCEPT "zither" LIMIT 10', {}),
        "common": ('SEARCH CONCEPT "chess" LIMIT 10', {}),
        "count": ('FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }', {}),
    }
    for name, query in queries.items():
        repeat = 7 if name in {"group", "order", "filter"} else 25
        line(name, milliseconds(partial(run, *query), repeat=repeat), peer.get(name))
    counter = iter(range(1_000_000))

    def one_claim() -> None:
        run(
            'ASSERT (:p, "speaks", :v) {by: :p, mode: "stated"}',
            {**person, "v": f"x-{next(counter)}"},
        )

    line("assert (one a transaction)", milliseconds(one_claim, repeat=40), peer.get("assert"))
    engine.close()


_PEER_ENGINE: dict[int, dict[str, float]] = {
    1_000: {
        "point": 0.35, "hop": 0.58, "hops3": 0.80, "slot": 0.99, "filter": 24, "group": 23, "order": 21,
        "rare": 0.37, "common": 0.81, "count": 0.35, "assert": 19, "load": 1.4,
    },
    10_000: {
        "point": 0.33, "hop": 0.55, "hops3": 0.80, "slot": 0.72, "filter": 213, "group": 228, "order": 243,
        "rare": 0.41, "common": 1.99, "count": 0.67, "assert": 125, "load": 27.7,
    },
    50_000: {
        "point": 0.45, "hop": 0.65, "hops3": 1.12, "slot": 1.24, "filter": 2115, "group": 2319, "order": 2329,
        "rare": 0.61, "common": 6.57, "count": 3.5, "assert": 498, "load": 402,
    },
}  # fmt: skip


# --- the service ------------------------------------------------------------------------------------------------------


def bench_service(size: int) -> None:
    """Start, memory, enqueue and host time on a Space of `size` claims."""
    from brain.app import spaces_for
    from brain.service.spaces import HOST
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

        load_people(run, size * 10 // 7)
        spaces.close()
        with brain_server(folder=folder) as url:
            print(f"service, {size} claims")
            _bench_http(url)
            line("memory", resident_mb(url), unit="MB")
        asyncio.run(_bench_host_time(folder))


def _bench_http(url: str) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:

        def post(path: str, body: Any) -> Any:
            answer = client.post(f"/v1/bench/{path}", json=body)
            answer.raise_for_status()
            return answer.json()

        def kip(command: str, **parameters: Any) -> Any:
            return post("execute_kip_readonly", {"command": command, "parameters": parameters})

        key = {"k": "person-100"}
        line(
            "KIP point over HTTP",
            milliseconds(lambda: kip('FIND(?p.name) WHERE { ?p {type: "Person", key: :k} }', **key)),
            0.82,
        )
        line(
            "BELIEF SLOT over HTTP",
            milliseconds(
                lambda: kip(
                    'FIND(?s.status) WHERE { ?p {type: "Person", key: :k} ?s BELIEF SLOT (?p, "works_for") }', **key
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
        question = {"query": "Where does Person 100 work?"}
        line("recall, builtin/offline", milliseconds(lambda: post("recall", question), repeat=10), 32)


async def _bench_host_time(folder: Path) -> None:
    """What a formation costs beside its model call: dossier, prompt, compile, gate, commit, bookkeeping."""
    from brain.agents.model import Model, ModelAnswer, ModelRequest
    from brain.agents.models import model_for
    from brain.app import build
    from brain.service.brain import Caller
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
            f"Person {number}": f"I moved to Porto. My dog is called Rex{number}.",
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
    """Resident memory of the process that listens on an address."""
    port = int(url.rsplit(":", 1)[1])
    inode = next(
        (
            row.split()[9]
            for row in Path("/proc/net/tcp").read_text().splitlines()[1:]
            if row.split()[1].endswith(f":{port:04X}") and row.split()[3] == "0A"
        ),
        "",
    )
    for status in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if status.readlink().name == f"socket:[{inode}]":
                text = (status.parent.parent / "status").read_text()
                return int(text.split("VmRSS:")[1].split()[0]) / 1024
        except OSError:
            continue
    return float("nan")


def main(arguments: Sequence[str]) -> int:
    """Run the named parts, or all."""
    size = int(arguments[arguments.index("--size") + 1]) if "--size" in arguments else 10_000
    parts = [part for part in ("parse", "engine", "service") if part in arguments] or ["parse", "engine", "service"]
    if "parse" in parts:
        bench_parse()
    if "engine" in parts:
        bench_engine(size)
    if "service" in parts:
        bench_service(size)
    return 0
