"""Processes that write and look at one Space at once; `python -m tests.store.together write|look SECONDS`.

Every commit n of a writer rewrites the same Persons, each to tell of n, and adds Evidence, a Proposition and a control
document. So every look knows from its sequence alone what it must find, by whichever way it looks. Prints one JSON
object: `commits` of a writer; of a looker `looks`, `heads` (different sequences seen) and `faults`.
"""

from __future__ import annotations

import json
import random
import sys
import time

from brain.store.base import EdgeScan, Kind, Scan, SearchQuery, Snapshot, SpaceStore, Transaction, TupleScan
from tests.store.building import KNOWS, PERSON, assertion, concept, evidence, proposition, ref, write_in
from tests.store.opened import opened

PERSONS = [f"C-{number}" for number in range(1, 9)]
EVERY = 10_000


def write(space: SpaceStore, seconds: float) -> dict[str, object]:
    end, commits = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        with space.transaction() as transaction:
            commit(transaction)
        commits += 1
    return {"commits": commits}


def commit(transaction: Transaction) -> None:
    n = transaction.seq + 1
    persons = [
        concept(person, version=n, key=f"key{n}", name=f"name{n}", attributes={"n": n}, merged_into=ref(f"C-{n + 100}"))
        for person in PERSONS
    ]
    made = [
        evidence(f"E-{n}", f"common rare{n}"),
        proposition(f"P-{n}", "C-1", KNOWS, ref("C-2")),
        assertion(f"A-{n}", "P-1", "C-1"),
    ]
    keys = {f"E-{n}": f"message:{n}"}
    write_in(transaction, [*persons, *made], client_keys=keys, controls={"schema": {"n": n}})
    transaction.set("receipts", f"{n:09}", {"n": n, "text": "x" * (n % 7) * 500})
    transaction.set("last", "one", {"n": n, "text": "y" * (n % 5) * 700})


def look(space: SpaceStore, seconds: float) -> dict[str, object]:
    end, looks, heads, faults = time.monotonic() + seconds, 0, set(), []
    newest = 0
    chance = random.Random(seconds)
    while time.monotonic() < end:
        past = chance.randint(1, newest) if newest and looks % 3 == 0 else None
        with space.snapshot(past) as snapshot:
            if past is None and snapshot.seq < newest:
                faults.append(f"the head went from {newest} to {snapshot.seq}")
            newest = max(newest, snapshot.seq)
            heads.add(snapshot.seq)
            faults += faults_of(snapshot)
        looks += 1
    return {"looks": looks, "heads": len(heads), "faults": faults[:20]}


def faults_of(snapshot: Snapshot) -> list[str]:
    """What is not as commit `seq` left it."""
    n = snapshot.seq
    present = len(PERSONS) if n else 0
    found = {
        "elements": {one.body["attributes"]["n"] for one in snapshot.elements(PERSONS).values()},
        "persons": [one.body["attributes"]["n"] for one in snapshot.scan(Scan(Kind.CONCEPT, lineages=_PERSON))],
        "by key": len(list(snapshot.scan(Scan(Kind.CONCEPT, key=f"key{n}")))),
        "by old key": len(list(snapshot.scan(Scan(Kind.CONCEPT, key=f"key{n - 1}")))),
        "by next key": len(list(snapshot.scan(Scan(Kind.CONCEPT, key=f"key{n + 1}")))),
        "by name": len(list(snapshot.scan(Scan(Kind.CONCEPT, name=f"name{n}", states=None)))),
        "evidence": snapshot.count(Scan(Kind.EVIDENCE, classes=frozenset({"message"}))),
        "propositions": [one.id for one in snapshot.tuples(TupleScan(subjects=frozenset({"C-1"})))],
        "by object": len(snapshot.tuples(TupleScan(objects=frozenset({"C-2"})))),
        "assertions": len(snapshot.assertions(["P-1"])),
        "edges": len(snapshot.edges(EdgeScan(targets=frozenset({"C-1"}), fields=frozenset({"asserted_by"})))),
        "merges": set(snapshot.merges().values()),
        "key of client": [snapshot.by_client_key(Kind.EVIDENCE, f"message:{one}") is None for one in (n, n + 1)],
        "control": snapshot.control("schema"),
        "common word": len(snapshot.search(SearchQuery(Kind.EVIDENCE, "common", None, EVERY))),
        "rare word": len(snapshot.search(SearchQuery(Kind.EVIDENCE, f"rare{n}", None, EVERY))),
        "next rare word": len(snapshot.search(SearchQuery(Kind.EVIDENCE, f"rare{n + 1}", None, EVERY))),
        "names": len(snapshot.search(SearchQuery(Kind.CONCEPT, f"name{n}", None, EVERY))),
        "commits": [one.seq for one in snapshot.commits(after=n - 2)],
        "versions": len(snapshot.versions("C-3")),
        "receipt": snapshot.get("receipts", f"{n:09}") is not None,
        "last": (snapshot.get("last", "one") or {"n": 0})["n"] >= n,
    }
    expected = {
        "elements": {n} if n else set(),
        "persons": [n] * present,
        "by key": present,
        "by old key": 0,
        "by next key": 0,
        "by name": present,
        "evidence": n,
        "propositions": [f"P-{one}" for one in range(1, n + 1)],
        "by object": n,
        "assertions": n,
        "edges": n,
        "merges": {f"C-{n + 100}"} if n else set(),
        "key of client": [n == 0, True],
        "control": {"n": n} if n else None,
        "common word": n,
        "rare word": min(n, 1),
        "next rare word": 0,
        "names": present,
        "commits": list(range(max(1, n - 1), n + 1)),
        "versions": n,
        "receipt": n > 0,
        "last": True,
    }
    return [
        f"at {n}: {name}: {found[name]!r} instead of {wanted!r}"
        for name, wanted in expected.items()
        if found[name] != wanted
    ]


_PERSON = frozenset({PERSON})

if __name__ == "__main__":
    done = {"write": write, "look": look}[sys.argv[1]](opened().open("demo"), float(sys.argv[2]))
    print(json.dumps(done))  # noqa: T201
