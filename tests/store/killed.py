"""Kill writers of a Space with SIGKILL, over and over, and say whether what they left is whole.

Run as `python -m tests.store.killed KILLS SEED LIFE_MS` with the store told (`tests/store/opened.py`); a writer lives
LIFE_MS at most. It forks each writer from itself, so that a writer starts in milliseconds, and
prints one JSON object: kills, commits, kills that struck within a commit, and every fault found.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from typing import NoReturn

from brain.store.base import Edge, EdgeScan, Kind, Scan, SearchQuery, Store, WorkStatus
from brain.store.sqlite import connection
from tests.store.building import FRIENDS, concept, evidence, ref, symbol, write_in
from tests.store.opened import opened


def main(kills: int, seed: int, life_ms: int) -> dict[str, object]:
    # A short log is moved into the file every few commits, so that kills strike there too.
    connection._LOG_PAGES = 40
    chance = random.Random(seed)
    store = opened()
    store.create("demo", now_ms=0).close()
    store.close()
    faults: list[str] = []
    within = head = 0
    for kill in range(kills):
        acknowledged = max(head, kill_one_writer(chance.uniform(0, life_ms / 1000)))
        store = opened()
        space = store.open("demo")
        with space.transaction():  # a commit that was on its way to a database is over after this
            head = space.head()
        # A kill between the commit and its acknowledgement leaves one more than the writer could tell.
        if head not in (acknowledged, acknowledged + 1):
            faults.append(f"kill {kill}: {acknowledged} commits were acknowledged and {head} are there")
        within += head == acknowledged + 1
        faults += [f"kill {kill}: {fault}" for fault in faults_of(store, head)]
        store.close()
    return {"kills": kills, "commits": head, "unacknowledged": within, "faults": faults}


def kill_one_writer(life_s: float) -> int:
    """Let a writer commit for a while, kill it, and give the last sequence it acknowledged."""
    heard, told = os.pipe()
    writer = os.fork()
    if writer == 0:
        os.close(heard)
        write_for_ever(told)
    os.close(told)
    with os.fdopen(heard, "rb") as pipe:
        pipe.readline()  # the Space is open
        time.sleep(life_s)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        return max((int(line) for line in pipe.read().split(b"\n") if line), default=0)


def write_for_ever(told: int) -> NoReturn:
    space = opened().open("demo")
    os.write(told, b"0\n")
    while True:
        with space.transaction() as transaction:
            seq = transaction.seq + 1
            write_in(
                transaction,
                [
                    concept("C-1", version=seq, attributes={"n": seq}, structural={symbol(FRIENDS): [ref(f"E-{seq}")]}),
                    evidence(f"E-{seq}", f"word{seq} " * 20),
                ],
                client_keys={f"E-{seq}": f"message:{seq}"},
                controls={"schema": {"n": seq}},
            )
            transaction.set("receipts", f"{seq:09}", {"n": seq})
            transaction.enqueue("formation", {"n": seq})
        os.write(told, b"%d\n" % seq)


def faults_of(store: Store, head: int) -> list[str]:
    """What is not as `head` whole commits leave it."""
    space = store.open("demo")
    with space.snapshot() as snapshot:
        newest = snapshot.elements(["C-1"])
        found = {
            "commit records": [commit.seq for commit in snapshot.commits(after=head - 3)],
            "element": newest["C-1"].body["attributes"]["n"] if newest else 0,
            "versions": len(snapshot.versions("C-1")),
            "evidence": snapshot.count(Scan(Kind.EVIDENCE)),
            "counted": snapshot.counts()[Kind.EVIDENCE],
            "edges": snapshot.edges(EdgeScan(sources=frozenset({"C-1"}))),
            "client key": [snapshot.by_client_key(Kind.EVIDENCE, f"message:{n}") is None for n in (head, head + 1)],
            "control": snapshot.control("schema"),
            "found": len(snapshot.search(SearchQuery(Kind.EVIDENCE, f"word{head}", None, 5))),
            "found too early": len(snapshot.search(SearchQuery(Kind.EVIDENCE, f"word{head + 1}", None, 5))),
            "waiting for vectors": snapshot.freshness("any").pending,
            "documents": [body for _, body in snapshot.scan_state("receipts", reverse=True, limit=1)],
            "work": len(snapshot.work("formation", statuses={WorkStatus.QUEUED})),
        }
    expected = {
        "commit records": list(range(max(1, head - 2), head + 1)),
        "element": head,
        "versions": head,
        "evidence": head,
        "counted": head,
        "edges": [Edge("C-1", FRIENDS, f"E-{head}", 0)] if head else [],
        "client key": [head == 0, True],
        "control": {"n": head} if head else None,
        "found": min(head, 1),
        "found too early": 0,
        "waiting for vectors": head,
        "documents": [{"n": head}] if head else [],
        "work": head,
    }
    return [f"{name}: {found[name]} instead of {wanted}" for name, wanted in expected.items() if found[name] != wanted]


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))  # noqa: T201
