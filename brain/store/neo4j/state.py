"""State beside the graph, as a snapshot reads it: documents, the durable queue and leases. It has no history."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

import orjson

from brain import errors
from brain.store.base import Document, Lease, Work, WorkStatus
from brain.store.neo4j.connection import Row
from brain.times import Clock

_DOCUMENT = (
    "MATCH (d:Document) USING INDEX d:Document(space, namespace, key)"
    " WHERE d.space = $space AND d.namespace = $namespace AND d.key = $key"
    " AND (d.expires_ms IS NULL OR d.expires_ms > $now) RETURN collect(d.body) AS found"
)
WORK = "w.id, w.queue, w.payload, w.status, w.not_before, w.attempts, w.first_attempt_ms, w.note"
_WORK_BY_ID = (
    "MATCH (w:Work) USING INDEX w:Work(space, id) WHERE w.space = $space AND w.id = $id"
    f" RETURN collect([{WORK}]) AS found"
)
_QUEUE = (
    "MATCH (w:Work) USING INDEX w:Work(space, queue, id)"
    " WHERE w.space = $space AND w.queue = $queue AND w.id IS NOT NULL AND w.status IN $statuses"
    f" WITH w ORDER BY w.space, w.queue, w.id LIMIT $limit RETURN collect([{WORK}]) AS found"
)
_DUE = (
    "MATCH (w:Open) USING INDEX w:Open(space, queue, id)"
    " WHERE w.space = $space AND w.queue = $queue AND w.id IS NOT NULL"
    " AND (w.status = 'running' OR w.not_before <= $now)"
    f" WITH w ORDER BY w.space, w.queue, w.id LIMIT $limit RETURN collect([{WORK}]) AS found"
)
_LEASE = (
    "MATCH (l:Lease) USING INDEX l:Lease(space, name) WHERE l.space = $space AND l.name = $name"
    " RETURN collect([l.holder, l.token, l.expires_ms]) AS found"
)

UNLIMITED = 1 << 40


class StateReader:
    """Statements on one Space, and what `Reader` promises of them."""

    def __init__(self, space_key: str, clock: Clock, timeout_ms: int | None) -> None:
        self._space_key = space_key
        self._clock = clock
        self.timeout_ms = timeout_ms
        self._deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        self._is_over = False

    def end(self) -> None:
        """Nothing can be read or written from now on."""
        self._is_over = True

    # --- how ----------------------------------------------------------------------------------------------------------

    def _ask(self, statement: str, parameters: Mapping[str, Any], timeout_s: float | None) -> list[Row]:
        raise NotImplementedError

    def _state_rows(self, statement: str, **parameters: Any) -> list[Row]:
        """The rows of one statement, one round trip; `$space` is bound for it."""
        return self._ask(statement, {"space": self._space_key, **parameters}, self._time_left())

    def _state_value(self, statement: str, **parameters: Any) -> Any:
        """The one value of a statement that ends with `AS found`."""
        raise NotImplementedError

    def _time_left(self) -> float | None:
        """Seconds to the deadline; RuntimeError when all is over, ExecutionTimeout when the time is."""
        if self._is_over:
            raise RuntimeError("the snapshot or transaction has ended")
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise errors.ExecutionTimeout
        return left

    # --- documents ----------------------------------------------------------------------------------------------------

    def get(self, namespace: str, key: str) -> Document | None:
        bodies = self._state_value(_DOCUMENT, namespace=namespace, key=key, now=self._clock.now_ms())
        return orjson.loads(bodies[0]) if bodies else None

    def scan_state(
        self,
        namespace: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[tuple[str, Document]]:
        first, end, order = prefix, end_of_prefix(prefix), "DESC" if reverse else "ASC"
        bounds = ["d.key >= $first"] if after is None or reverse or after < first else ["d.key > $after"]
        if after is not None and reverse and (end is None or after < end):
            bounds.append("d.key < $after")
        elif end is not None:
            bounds.append("d.key < $end")
        rows = self._state_value(
            "MATCH (d:Document) USING INDEX d:Document(space, namespace, key)"
            f" WHERE d.space = $space AND d.namespace = $namespace AND {' AND '.join(bounds)}"
            " AND (d.expires_ms IS NULL OR d.expires_ms > $now)"
            f" WITH d ORDER BY d.space {order}, d.namespace {order}, d.key {order} LIMIT $limit"
            " RETURN collect([d.key, d.body]) AS found",
            namespace=namespace,
            first=first,
            end=end,
            after=after,
            now=self._clock.now_ms(),
            limit=UNLIMITED if limit is None else limit,
        )
        return [(key, orjson.loads(body)) for key, body in rows]

    # --- work ---------------------------------------------------------------------------------------------------------

    def work(
        self, queue: str, *, statuses: Collection[WorkStatus] | None = None, limit: int | None = None
    ) -> list[Work]:
        wanted = sorted(status.value for status in (WorkStatus if statuses is None else statuses))
        rows = self._state_value(_QUEUE, queue=queue, statuses=wanted, limit=UNLIMITED if limit is None else limit)
        return [_work(row) for row in rows]

    def due_work(self, queue: str, now_ms: int, *, limit: int | None = None) -> list[Work]:
        rows = self._state_value(_DUE, queue=queue, now=now_ms, limit=UNLIMITED if limit is None else limit)
        return [_work(row) for row in rows]

    def work_by_id(self, work_id: int) -> Work | None:
        rows = self._state_value(_WORK_BY_ID, id=work_id)
        return _work(rows[0]) if rows else None

    # --- leases -------------------------------------------------------------------------------------------------------

    def lease(self, name: str) -> Lease | None:
        rows = self._state_value(_LEASE, name=name)
        return Lease(name, *rows[0]) if rows and rows[0][0] is not None else None


def json_text(document: Any) -> str:
    return orjson.dumps(document).decode()


def parsed(text: str) -> Document:
    document: Document = orjson.loads(text)
    return document


def end_of_prefix(prefix: str) -> str | None:
    """The least text greater than every text that begins with `prefix`; None when there is no such text."""
    for at in range(len(prefix) - 1, -1, -1):
        if (code := ord(prefix[at])) < 0x10FFFF:
            # Surrogates are no characters: the code point after U+D7FF is U+E000.
            return prefix[:at] + chr(0xE000 if code == 0xD7FF else code + 1)
    return None


def _work(row: Row) -> Work:
    work_id, queue, payload, status, not_before, attempts, first_attempt_ms, note = row
    return Work(work_id, queue, orjson.loads(payload), WorkStatus(status), not_before, attempts, first_attempt_ms, note)
