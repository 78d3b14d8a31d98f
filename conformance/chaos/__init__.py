"""`python -m conformance chaos`: inputs are accepted and formed while everything that can die is killed at random.

Two API processes, two workers, two clocks and a Redis share one store. Each is started again when it has died, as a
supervisor would. What counts is the end: every input that was accepted is formed exactly once, or reported as failed
with a reason, and nothing is left behind.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from conformance.chaos.clients import Clients
from conformance.chaos.deployment import Deployment
from conformance.chaos.judge import Verdict, judge
from conformance.chaos.monkey import Monkey
from conformance.chaos.stores import STORES
from conformance.redis_server import redis_server

_PATIENCE = 4
"""How many times as long a slow machine may take to accept and to kill as much as was asked for; the time for which the
database was away comes on top."""

SPACES = ("ash", "birch", "cedar", "dogwood")


def main(arguments: Sequence[str]) -> int:
    """Run once and print the table; 0 when nothing was lost, doubled or left, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m conformance chaos", description=__doc__)
    parser.add_argument("--store", choices=sorted(STORES), default="sqlite", help="what the Spaces are kept in")
    parser.add_argument("--inputs", type=int, default=500, help="inputs to have accepted")
    parser.add_argument("--seconds", type=float, default=150, help="how long to go on killing, at least")
    parser.add_argument("--kills", type=int, default=40, help="how many to kill, at least, in four times that time")
    parser.add_argument(
        "--settle", type=float, default=120, help="seconds without any progress after which the rest counts as left"
    )
    parser.add_argument("--seed", type=int, default=17, help="of the choice of victims and moments")
    parser.add_argument("--keep", type=Path, help="folder for the Spaces and logs, kept afterwards")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="brain-chaos-") as scratch:
        folder = asked.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        verdict = run(
            folder,
            store=asked.store,
            inputs=asked.inputs,
            seconds=asked.seconds,
            kills=asked.kills,
            settle_s=asked.settle,
            seed=asked.seed,
        )
    print(verdict.table())
    return 0 if verdict.is_good else 1


def run(folder: Path, *, store: str, inputs: int, seconds: float, kills: int, settle_s: float, seed: int) -> Verdict:
    """One run, on Spaces and logs in a folder."""
    with (
        STORES[store](folder) as kept,
        redis_server(folder) as redis,
        Deployment(folder, kept, redis) as deployment,
    ):
        deployment.create_spaces(SPACES)
        clients = Clients(deployment.urls, SPACES, inputs=inputs, seconds=seconds)
        monkey = Monkey(deployment, seed)
        begun = time.monotonic()
        with clients, monkey:
            missing = inputs
            while missing and time.monotonic() - begun < _PATIENCE * seconds + monkey.away_s:
                missing = clients.wait(1.0)
            time.sleep(max(0.0, seconds - (time.monotonic() - begun)))
            while sum(monkey.done.values()) < kills and time.monotonic() - begun < _PATIENCE * seconds + monkey.away_s:
                time.sleep(0.2)
        killing_s = time.monotonic() - begun
        deployment.repair()
        settled_s = deployment.wait_until_settled(SPACES, settle_s)
        deployment.stop()
        return judge(
            kept.settings(),
            clients.sent,
            missing=missing,
            store=store,
            seed=seed,
            kills=monkey.done,
            away_s=monkey.away_s,
            killing_s=killing_s,
            settled_s=settled_s,
        )
