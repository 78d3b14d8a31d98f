"""State beside the graph: documents, the durable queue and leases. It has no history."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import apsw
import orjson

from brain import errors
from brain.store.base import Document, Lease, LeaseLost, Work, WorkStatus
from brain.store.sqlite.failures import translated
from brain.times import Clock

Row = tuple[Any, ...]

_EVER = 2**62
"""Later than every time."""

_WORK = "SELECT id, queue, payload, status, not_before, attempts, first_attempt_ms, note FROM work "


class _Ended:
    """Stands in for the connection of a snapshot or transaction that is over."""

    def execute(self, *_: Any) -> Any:
        raise RuntimeError("the snapshot or transaction has ended")

    executemany = execute


_Connection = apsw.Connection | _Ended


class StateReader:
    """Statements on one connection, and what `Reader` promises of them."""

    def __init__(self, connection: apsw.Connection, clock: Clock, timeout_ms: int | None) -> None:
        self._connection: _Connection = connection
        self._clock = clock
        self.timeout_ms = timeout_ms
        self._deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        self._streams: set[Any] = set()

    def end(self) -> None:
        """Nothing can be read or written from now on; the connection goes on to serve others."""
        while self._streams:
            self._streams.pop().close(True)
        self._connection = _Ended()

    def get(self, namespace: str, key: str) -> Document | None:
        row = self._row(
            "SELECT body FROM document WHERE namespace = ? AND key = ? AND (expires_ms IS NULL OR expires_ms > ?)",
            (namespace, key, self._clock.now_ms()),
        )
        return None if row is None else orjson.loads(row[0])

    def scan_state(
        self,
        namespace: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[tuple[str, Document]]:
        order, beyond = ("DESC", "<") if reverse else ("ASC", ">")
        rows = self._rows(
            "SELECT key, body FROM document WHERE namespace = :namespace AND key >= :first"
            + (" AND key < :end" if (end := _end_of_prefix(prefix)) is not None else "")
            + (f" AND key {beyond} :after" if after is not None else "")
            + f" AND (expires_ms IS NULL OR expires_ms > :now) ORDER BY key {order} LIMIT :limit",
            {
                "namespace": namespace,
                "first": prefix,
                "end": end,
                "after": after,
                "now": self._clock.now_ms(),
                "limit": -1 if limit is None else limit,
            },
        )
        return [(key, orjson.loads(body)) for key, body in rows]

    def work(
        self, queue: str, *, statuses: Collection[WorkStatus] | None = None, limit: int | None = None
    ) -> list[Work]:
        rows = self._rows(
            _WORK + "WHERE queue = ? AND status IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?",
            (queue, json_list(statuses if statuses is not None else WorkStatus), -1 if limit is None else limit),
        )
        return [_work(row) for row in rows]

    def due_work(self, queue: str, now_ms: int, *, limit: int | None = None) -> list[Work]:
        # One statement per status: so each walks its part of the index in order and stops at the limit.
        rows = [
            row
            for status, by in ((WorkStatus.RUNNING, _EVER), (WorkStatus.QUEUED, now_ms))
            for row in self._rows(
                _WORK + "WHERE queue = ? AND status = ? AND not_before <= ? ORDER BY id LIMIT ?",
                (queue, status.value, by, -1 if limit is None else limit),
            )
        ]
        return [_work(row) for row in sorted(rows)[:limit]]

    def work_by_id(self, work_id: int) -> Work | None:
        row = self._row(_WORK + "WHERE id = ?", (work_id,))
        return None if row is None else _work(row)

    def lease(self, name: str) -> Lease | None:
        row = self._row("SELECT holder, token, expires_ms FROM lease WHERE name = ?", (name,))
        return None if row is None or row[0] is None else Lease(name, *row)

    def check_deadline(self) -> None:
        """ExecutionTimeout once the time for this snapshot or transaction is up."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise errors.ExecutionTimeout

    def _rows(self, statement: str, bindings: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        self.check_deadline()
        try:
            return self._connection.execute(statement, bindings).fetchall()
        except apsw.Error as error:
            raise translated(error) from error

    def _stream(self, statement: str, bindings: dict[str, Any]) -> Iterator[Row]:
        """The rows of a statement as they are made; closing the iterator ends the statement."""
        self.check_deadline()
        try:
            cursor = self._connection.execute(statement, bindings)
            self._streams.add(cursor)
            try:
                yield from cursor
            finally:
                self._streams.discard(cursor)
                cursor.close(True)
        except apsw.Error as error:
            raise translated(error) from error

    def _row(self, statement: str, bindings: Sequence[Any] | dict[str, Any] = ()) -> Row | None:
        rows = self._rows(statement, bindings)
        return rows[0] if rows else None

    def _write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement once per row of bindings."""
        if not rows:
            return
        self.check_deadline()
        try:
            self._connection.executemany(statement, rows)
        except apsw.Error as error:
            raise translated(error) from error


class StateWriter(StateReader):
    """What `Transaction` promises of state beside the graph."""

    def set(self, namespace: str, key: str, document: Document, *, expires_ms: int | None = None) -> None:
        self._write(
            "INSERT INTO document (namespace, key, expires_ms, body) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (namespace, key) DO UPDATE SET expires_ms = excluded.expires_ms, body = excluded.body",
            [(namespace, key, expires_ms, json_text(document))],
        )
        if expires_ms is not None:
            # Whoever adds what expires sweeps a little of what has, so that nothing else needs to.
            self._write(
                "DELETE FROM document WHERE id IN (SELECT id FROM document WHERE expires_ms <= ? LIMIT 20)",
                [(self._clock.now_ms(),)],
            )

    def delete(self, namespace: str, key: str) -> None:
        self._write("DELETE FROM document WHERE namespace = ? AND key = ?", [(namespace, key)])

    def enqueue(self, queue: str, payload: Document, *, not_before: int = 0) -> int:
        row = self._row(
            "INSERT INTO work (queue, status, not_before, attempts, payload) VALUES (?, ?, ?, 0, ?) RETURNING id",
            (queue, WorkStatus.QUEUED.value, not_before, json_text(payload)),
        )
        assert row is not None  # noqa: S101 - RETURNING always gives the row
        return int(row[0])

    def update_work(
        self, work_id: int, *, status: WorkStatus, not_before: int | None = None, note: str | None = None
    ) -> None:
        self._write(
            "UPDATE work SET status = ?, not_before = coalesce(?, not_before), note = ? WHERE id = ?",
            [(status.value, not_before, note, work_id)],
        )

    def begin_work(self, work_id: int, now_ms: int) -> Work:
        """LookupError when there is no such entry."""
        self._write(
            "UPDATE work SET status = ?, attempts = attempts + 1, first_attempt_ms = coalesce(first_attempt_ms, ?)"
            " WHERE id = ?",
            [(WorkStatus.RUNNING.value, now_ms, work_id)],
        )
        begun = self.work_by_id(work_id)
        if begun is None:
            raise LookupError(f"no work {work_id}")
        return begun

    def delete_work(self, work_id: int) -> None:
        self._write("DELETE FROM work WHERE id = ?", [(work_id,)])

    def acquire_lease(self, name: str, holder: str, *, ttl_ms: int, now_ms: int) -> Lease | None:
        row = self._row("SELECT holder, token, expires_ms FROM lease WHERE name = ?", (name,))
        token = 1
        if row is not None:
            held_by, token, expires_ms = row
            held = held_by is not None and expires_ms > now_ms
            if held and held_by != holder:
                return None
            token = token if held else token + 1
        lease = Lease(name, holder, token, now_ms + ttl_ms)
        # The row outlives every holder: its token is what makes the next one newer.
        self._write("INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?)", [(name, holder, token, lease.expires_ms)])
        return lease

    def release_lease(self, lease: Lease) -> None:
        self._write(
            "UPDATE lease SET holder = NULL WHERE name = ? AND holder = ? AND token = ?",
            [(lease.name, lease.holder, lease.token)],
        )

    def check_lease(self, lease: Lease, now_ms: int) -> None:
        newest = self.lease(lease.name)
        if newest is None or newest.token != lease.token or newest.expires_ms <= now_ms:
            raise LeaseLost(f"the lease {lease.name!r} with token {lease.token} is no longer held")


def json_text(document: Any) -> str:
    return orjson.dumps(document).decode()


def json_list(values: Iterable[Any]) -> str:
    """Values for `json_each`, sorted so that a plan never depends on a set's order."""
    return orjson.dumps(sorted(values)).decode()


def _work(row: Row) -> Work:
    work_id, queue, payload, status, not_before, attempts, first_attempt_ms, note = row
    return Work(work_id, queue, orjson.loads(payload), WorkStatus(status), not_before, attempts, first_attempt_ms, note)


def _end_of_prefix(prefix: str) -> str | None:
    """The least text greater than every text that begins with `prefix`; None when there is no such text."""
    for at in range(len(prefix) - 1, -1, -1):
        if (code := ord(prefix[at])) < 0x10FFFF:
            # Surrogates are no characters: the code point after U+D7FF is U+E000.
            return prefix[:at] + chr(0xE000 if code == 0xD7FF else code + 1)
    return None
