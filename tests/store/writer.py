"""One of several processes that write the same Space; run as `python -m tests.store.writer NAME TIMES`.

Each of its commits counts C-1 up by one, adds Evidence, a document and an entry of work, and takes the lease of the
commit. It prints one JSON object: the ids, sequences and tokens it was given.
"""

from __future__ import annotations

import json
import sys

from brain.store.base import Kind
from tests.store.building import concept, evidence, write_in
from tests.store.opened import opened


def main(name: str, times: int) -> dict[str, list[object]]:
    given: dict[str, list[object]] = {"seqs": [], "evidence": [], "work": [], "tokens": []}
    space = opened().open("demo")
    for number in range(times):
        with space.transaction() as transaction:
            before = transaction.elements(["C-1"])["C-1"]
            n = before.body["attributes"]["n"] + 1
            [evidence_id] = transaction.new_ids(Kind.EVIDENCE, 1)
            lease = transaction.acquire_lease("turn", name, ttl_ms=1000, now_ms=0)
            assert lease is not None
            written = [
                concept("C-1", version=before.version + 1, attributes={"n": n}),
                evidence(evidence_id, f"number {n} by {name}"),
            ]
            given["seqs"].append(write_in(transaction, written))
            given["evidence"].append(evidence_id)
            given["work"].append(transaction.enqueue("formation", {"by": name, "number": number}))
            given["tokens"].append(lease.token)
            total = transaction.get("totals", "all") or {"n": 0}
            transaction.set("totals", "all", {"n": total["n"] + 1})
            transaction.release_lease(lease)
        with space.snapshot() as snapshot:
            assert snapshot.elements(["C-1"])["C-1"].body["attributes"]["n"] == snapshot.seq - 1
    return given


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))  # noqa: T201
