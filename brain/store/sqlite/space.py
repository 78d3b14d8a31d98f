"""One open Space: its connections, its snapshots and the writer lock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import apsw

from brain import errors
from brain.store.base import SpaceMissing, StoreFormatError
from brain.store.dump import Row
from brain.store.search import ANALYSIS
from brain.store.sqlite import passages, schema
from brain.store.sqlite.connection import Options, check_in_place, connect, deadline, wait_for_locks
from brain.store.sqlite.dumping import rows_of
from brain.store.sqlite.failures import raise_unopened, translated
from brain.store.sqlite.known import Known
from brain.store.sqlite.snapshot import SqliteSnapshot
from brain.store.sqlite.transaction import SqliteTransaction
from brain.times import Seq

IDLE_READERS = 8
"""Reader connections kept open between snapshots."""

_FLUSHED, _UNFLUSHED = "PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL"
"""How the next commit is written. The log is one file: what is flushed takes with it all that came before."""

_SCRUB_WAIT_MS = 200
"""How long an erasure waits for readers before it leaves the log to the next commit."""


_KNOWN_SYMBOLS = 4_096
"""About as many symbols are remembered from commit to commit, so that they are not looked up each time."""

_PASSING = (apsw.BusyError, apsw.FullError, apsw.IOError, apsw.ReadOnlyError)
"""What ends a scrub for now: the commit before it stands, and must not be told as failed."""


class SqliteSpace:
    """See `brain.store.base.SpaceStore`. Every reader has a connection of its own; all writers share one."""

    def __init__(self, path: Path, space_id: str, options: Options) -> None:
        self.space_id = space_id
        self._path = path
        self._options = options
        self._idle: list[apsw.Connection] = []
        self._idle_lock = Lock()
        self._writer_lock = Lock()
        self._is_closed = False
        self.instance_id = ""
        self._writer = self._open_file()
        self._is_flushed = options.durability == "full"
        self._symbols: set[str] = set()
        self._known = Known(0)
        try:
            meta = _meta(self._writer)
            self.instance_id = meta["instance"]
            if meta["analysis"] != str(ANALYSIS):
                self._rebuild_index()
            self._must_scrub = "scrub" in meta
            if self._must_scrub:
                self._scrub(0)
        except apsw.Error as error:
            self._writer.close(True)
            raise translated(error) from error

    def head(self) -> Seq:
        with self.snapshot() as snapshot:
            return snapshot.seq

    @contextmanager
    def snapshot(
        self,
        seq: Seq | None = None,
        *,
        timeout_ms: int | None = None,
        assumed: bool = False,  # noqa: ARG002 - to find out takes no time here
    ) -> Iterator[SqliteSnapshot]:
        with self._reading() as (connection, head):
            snapshot = SqliteSnapshot(
                connection,
                space_id=self.space_id,
                seq=head if seq is None else seq,
                at=None if seq is None or seq == head else seq,
                clock=self._options.clock,
                timeout_ms=timeout_ms,
                known=self._known_at(head) if seq is None or seq == head else None,
            )
            try:
                if not 0 <= snapshot.seq <= head:
                    raise errors.HistoricalSnapshotUnavailable(details={"seq": seq, "head": head})
                with deadline(connection, timeout_ms):
                    yield snapshot
            finally:
                snapshot.end()

    def flush(self) -> None:
        with self._writer_lock:
            self._check_open()
            try:
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            except apsw.Error as error:
                raise translated(error) from error

    @contextmanager
    def dump(self) -> Iterator[Iterator[Row]]:
        with self._reading() as (connection, _), closing(rows_of(connection)) as rows:
            yield rows

    @contextmanager
    def transaction(
        self,
        *,
        timeout_ms: int | None = None,
        durable: bool = True,
        assumed: bool = False,  # noqa: ARG002
    ) -> Iterator[SqliteTransaction]:
        started = time.monotonic()
        patience_ms = self._options.busy_timeout_ms if timeout_ms is None else timeout_ms
        if not self._writer_lock.acquire(timeout=patience_ms / 1000):
            raise errors.SerializationConflict("Other writers kept the Space busy for too long.")
        try:
            self._check_open()
            connection = self._writer
            waited_ms = round((time.monotonic() - started) * 1000)
            wait_for_locks(connection, max(0, patience_ms - waited_ms))
            self._flush_from_now(durable and self._options.durability == "full")
            try:
                connection.execute("BEGIN IMMEDIATE")
            except apsw.Error as error:
                raise translated(error) from error
            try:
                check_in_place(connection)
                head = _head(connection)
                transaction = SqliteTransaction(
                    connection,
                    space_id=self.space_id,
                    seq=head,
                    clock=self._options.clock,
                    timeout_ms=None if timeout_ms is None else max(0, timeout_ms - waited_ms),
                    symbols=self._symbols,
                    known=self._known_at(head),
                )
                with deadline(connection, transaction.timeout_ms):
                    try:
                        yield transaction
                        transaction.settle()
                    finally:
                        transaction.end()
                if not transaction.is_complete:
                    raise errors.InternalError("The graph was changed without a commit record.")
                self._commit(connection)
            except apsw.Error as error:
                _roll_back(connection)
                raise translated(error) from error
            except BaseException:
                _roll_back(connection)
                raise
            if len(self._symbols) < _KNOWN_SYMBOLS:
                self._symbols |= transaction.new_symbols
            if transaction.has_erased:
                self._must_scrub = True
                self._scrub(_SCRUB_WAIT_MS)
            elif self._must_scrub:
                self._scrub(0)
        finally:
            self._writer_lock.release()

    def close(self) -> None:
        """Close what is not in use; a snapshot that is still open closes its connection when it ends."""
        with self._writer_lock, self._idle_lock:
            self._is_closed = True
            self._writer.close(True)
            for connection in self._idle:
                connection.close(True)
            self._idle.clear()

    # --- how ----------------------------------------------------------------------------------------------------------

    def _known_at(self, head: Seq) -> Known:
        known = self._known
        if known.seq != head:
            known = self._known = Known(head)
        return known

    def _open_file(self) -> apsw.Connection:
        """A connection to this very Space, in the present format."""
        try:
            return self._checked_file()
        except apsw.CantOpenError as error:
            raise_unopened(self._path, self.space_id, error)
        except apsw.NotADBError as error:
            raise StoreFormatError(f"the file of {self.space_id!r} is no database") from error
        except apsw.Error as error:
            raise translated(error) from error

    def _checked_file(self) -> apsw.Connection:
        connection = connect(self._path, self._options)
        try:
            if connection.pragma("application_id") != schema.APPLICATION_ID:
                raise StoreFormatError(f"the file of {self.space_id!r} is no Space")
            schema.migrate(connection, self._options.clock.now_ms())
            meta = _meta(connection)
            if meta["space"] != self.space_id:
                raise StoreFormatError(f"the file of {self.space_id!r} holds the Space {meta['space']!r}")
            if self.instance_id not in ("", meta["instance"]):
                raise SpaceMissing(f"{self.space_id} was deleted and made anew")
        except BaseException:
            connection.close(True)
            raise
        return connection

    def _flush_from_now(self, is_flushed: bool) -> None:
        """How the writer's next commit is written."""
        if is_flushed != self._is_flushed:
            self._writer.execute(_FLUSHED if is_flushed else _UNFLUSHED)
            self._is_flushed = is_flushed

    def _check_open(self) -> None:
        if self._is_closed:
            raise SpaceMissing(f"{self.space_id} is closed here")

    @contextmanager
    def _reading(self) -> Iterator[tuple[apsw.Connection, Seq]]:
        """A connection within a read transaction, and the head it shows."""
        connection = self._take_reader()
        try:
            connection.execute("BEGIN")
            head = _head(connection)
            check_in_place(connection)
        except apsw.Error as error:
            connection.close(True)
            raise translated(error) from error
        except BaseException:
            connection.close(True)
            raise
        try:
            yield connection, head
        finally:
            self._give_back(connection)

    def _take_reader(self) -> apsw.Connection:
        with self._idle_lock:
            self._check_open()
            if self._idle:
                return self._idle.pop()
        connection = self._open_file()
        connection.pragma("query_only", True)
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except apsw.Error:
            connection.close(True)
            return
        with self._idle_lock:
            if not self._is_closed and len(self._idle) < IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close(True)

    def _commit(self, connection: apsw.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except apsw.BusyError as error:
            raise translated(error) from error
        except apsw.FullError as error:
            # What marks a commit in the log is written last: without room for it there is none, and SQLite has undone
            # the rest.
            raise translated(error) from error
        except apsw.Error as error:
            # The log may hold the whole commit although its last step failed.
            raise errors.OutcomeUnknown from error

    def _scrub(self, wait_ms: int) -> None:
        """Move erased content out of the log too; what keeps it from that now is over at a later commit."""
        wait_for_locks(self._writer, wait_ms)
        try:
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._writer.execute("DELETE FROM meta WHERE name = 'scrub'")
        except _PASSING:
            return
        self._must_scrub = False

    def _rebuild_index(self) -> None:
        """Make the search index anew, in one transaction, unless another process has done it meanwhile."""
        connection = self._writer
        try:
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("SELECT value FROM meta WHERE name = 'analysis'").fetchall() != [(str(ANALYSIS),)]:
                passages.rebuild(connection)
                connection.execute("UPDATE meta SET value = ? WHERE name = 'analysis'", (str(ANALYSIS),))
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _meta(connection: apsw.Connection) -> dict[str, str]:
    rows: Any = connection.execute("SELECT name, value FROM meta").fetchall()
    return dict(rows)


def _head(connection: apsw.Connection) -> Seq:
    head: Any = connection.execute("SELECT coalesce(max(seq), 0) FROM history").fetchall()[0][0]
    return int(head)
