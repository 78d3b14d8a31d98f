"""Load: `python -m conformance load [--clients N] [--seconds S] [--claims N] [--store STORE]`.

So many clients, each on one connection, send a mix of what agents send to one API process, as fast as they are
answered. Told are requests a second, statuses, percentiles of each kind, and the server's processor time for a request.
The exit code is 1 when an answer was neither a success nor a documented "too many" (429, 503).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.bench.people import load
from conformance.places import add_option, settings_of
from conformance.servers import brain_server, pid_of, processor_ms

_SPACE = "bench"
_MAY_BE_FULL = (429, 503)
_POINT = 'FIND(?p.name) WHERE { ?p {type: "Person", key: :k} }'
_SLOT = 'FIND(?s.status) WHERE { ?p {type: "Person", key: :k} ?s BELIEF SLOT (?p, "lives_in") }'

Made = tuple[str, str, Any]
"""Method, path and body of a request."""


def _mix(persons: int) -> list[tuple[int, str, Callable[[random.Random], Made]]]:
    """What is sent: how often of a hundred, its name, and how one is made."""

    def kip(command: str, **parameters: Any) -> Made:
        return "POST", "execute_kip_readonly", {"command": command, "parameters": parameters}

    def key(chance: random.Random) -> str:
        return f"person:{chance.randrange(persons)}"

    def said(chance: random.Random) -> Made:
        content = f"Person number{chance.randrange(persons)} says good morning."
        return "POST", "formation", {"messages": [{"role": "user", "content": content}]}

    def asked(chance: random.Random) -> Made:
        return "POST", "recall", {"query": f"Where does Person number{chance.randrange(persons)} live?"}

    return [
        (40, "KIP point", lambda chance: kip(_POINT, k=key(chance))),
        (15, "BELIEF SLOT", lambda chance: kip(_SLOT, k=key(chance))),
        (10, "SEARCH", lambda _: kip('SEARCH CONCEPT "zither" LIMIT 10')),
        (15, "probe", lambda chance: ("POST", "probe", {"query": f"number{chance.randrange(persons)}"})),
        (10, "info", lambda _: ("GET", "info", None)),
        (5, "formation", said),
        (2, "conversations", lambda _: ("GET", "conversations?limit=20", None)),
        (3, "recall", asked),
    ]


@dataclass
class _Seen:
    """What came back."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    broken: int = 0


def main(arguments: Sequence[str]) -> int:
    """Fill a Space, load its server, tell what happened."""
    parser = argparse.ArgumentParser(prog="conformance load", description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--claims", type=int, default=10_000, help="claims in the Space")
    parser.add_argument("--seed", type=int, default=6)
    add_option(parser)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="brain-load-") as name:
        settings = settings_of(options.store)
        _fill(Path(name), settings, options.claims)
        with brain_server(settings, folder=Path(name)) as url:
            pid = pid_of(url)
            spent = processor_ms(pid)
            seen = asyncio.run(_run(url, options.clients, options.seconds, options.claims, options.seed))
            return _tell(seen, options.seconds, processor_ms(pid) - spent)


def _fill(folder: Path, settings: Mapping[str, str], claims: int) -> None:
    from brain.app import spaces_for
    from brain.service.hosting import HOST
    from brain.settings import load_settings

    given = {name.lower(): value for name, value in settings.items()}
    given |= {"local_db_path": str(folder / "spaces"), "sqlite_durability": "normal"}
    spaces = spaces_for(load_settings(**given))
    space = spaces.create(_SPACE, owner="load", tier=6)

    def run(command: str, parameters: Mapping[str, Any]) -> Any:
        response = space.engine.run(command, parameters, session=HOST).response
        if response["status"] != "succeeded":
            raise RuntimeError(json.dumps(response)[:800])
        return response["results"][0]["result"]

    load(run, claims * 10 // 7)
    spaces.close()


async def _run(url: str, clients: int, seconds: float, persons: int, seed: int) -> _Seen:
    seen = _Seen()
    ends = time.monotonic() + seconds
    await asyncio.gather(*(_client(url, ends, persons, random.Random(f"{seed}:{n}"), seen) for n in range(clients)))
    return seen


async def _client(url: str, ends: float, persons: int, chance: random.Random, seen: _Seen) -> None:
    """One client on one connection; a library's client would take more of the machine than the server does."""
    host, _, port = url.removeprefix("http://").partition(":")
    mix = _mix(persons)
    weights = [weight for weight, _, _ in mix]
    line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    while time.monotonic() < ends:
        [(_, name, make)] = chance.choices(mix, weights)
        method, path, body = make(chance)
        begun = time.perf_counter()
        try:
            line = line or await asyncio.open_connection(host, int(port))
            status, stays = await asyncio.wait_for(_ask(line, method, path, body), 60)
        except (OSError, ValueError, asyncio.IncompleteReadError, TimeoutError):
            seen.broken += 1
            line = None
            continue
        seen.times[name].append((time.perf_counter() - begun) * 1000)
        seen.statuses[name, status] += 1
        if not stays:
            line[1].close()
            line = None
        if status in _MAY_BE_FULL:
            await asyncio.sleep(chance.uniform(0.05, 0.2))
    if line is not None:
        line[1].close()


async def _ask(
    line: tuple[asyncio.StreamReader, asyncio.StreamWriter], method: str, path: str, body: Any
) -> tuple[int, bool]:
    """The status of one request, and whether the connection stays."""
    reader, writer = line
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} /v1/{_SPACE}/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n"
    writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + content)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = answer.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines if each)}
    await reader.readexactly(int(headers["content-length"]))
    return int(first.split(" ")[1]), headers.get("connection", "").lower() != "close"


def _tell(seen: _Seen, seconds: float, processor_ms_spent: float) -> int:
    total = seen.statuses.total()
    print(f"{total / seconds:.0f} requests/s (goal 300), {total} in {seconds:.0f} s")
    print(
        f"{processor_ms_spent / max(total, 1):.2f} ms of the server's processor time for a request, background included"
    )
    print(f"{'':<16}{'count':>8}{'p50 ms':>9}{'p95':>9}{'p99':>9}{'max':>9}  other statuses")
    for name, times in sorted(seen.times.items()):
        times.sort()
        at = [times[min(len(times) - 1, int(len(times) * share))] for share in (0.5, 0.95, 0.99, 1)]
        others = {status: n for (kind, status), n in seen.statuses.items() if kind == name and status != 200}
        print(f"{name:<16}{len(times):>8}{''.join(f'{one:>9.1f}' for one in at)}  {others or ''}")
    wrong = sum(n for (_, status), n in seen.statuses.items() if status not in (200, *_MAY_BE_FULL)) + seen.broken
    if wrong:
        print(f"{wrong} answers were errors, {seen.broken} of them broken connections", file=sys.stderr)
    return int(wrong > 0)
