"""Connections to a Space's file: how they are opened, wait for a lock, keep a deadline and notice a deleted file."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import apsw
import sqlite_vec

from brain.store.base import SpaceInUse, SpaceMissing
from brain.store.sqlite.functions import register
from brain.times import Clock, SystemClock

Durability = Literal["full", "normal"]

_STEPS_BETWEEN_LOOKS = 10_000
"""Steps of SQLite's machine between two looks at a deadline: well under a millisecond."""

_LOG_PAGES = 4_000
"""Pages of the log after which a commit moves them into the file."""

_CACHE_KB = 8_000
"""What a connection may keep of a file, as far as it was read: about the inner pages of the indexes of a million
elements, so that a lookup reads no page but those of its own rows. A scan is not helped by any that is smaller than
the file; memory mapping would serve both, but turns an unreadable disk into the end of the process."""

_LONGEST_NAP_S = 0.005

_OVERWRITE_WAIT_MS = 1_000
"""How long it is waited for those who are just closing a file that is to be overwritten."""

_COPY_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class Options:
    """How a store works.

    durability       `full`: a commit is on the disk when it returns, also through a power loss (synchronous=FULL).
                     `normal`: a power loss may undo the last commits, never half of one; a killed process loses
                     nothing either way
    busy_timeout_ms  how long a writer waits for the other writers of its Space
    """

    clock: Clock = field(default_factory=SystemClock)
    durability: Durability = "full"
    busy_timeout_ms: int = 10_000


def connect(path: Path, options: Options, *, is_new: bool = False) -> apsw.Connection:
    """A connection with the store's settings; apsw.CantOpenError when there is no file and none is to be made."""
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if is_new else 0)
    connection = apsw.Connection(str(path), flags=flags, statementcachesize=256)
    wait_for_locks(connection, options.busy_timeout_ms)
    # Plans never depend on bound values: without this SQLite prepares a statement anew for every LIMIT it is given.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("synchronous", options.durability)
    # Distances between vectors, for semantic search; 0.1 ms.
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    register(connection)
    # What is purged is overwritten, not only unlinked (§60.3).
    connection.pragma("secure_delete", True)
    connection.pragma("temp_store", "memory")
    connection.pragma("cache_size", -_CACHE_KB)
    # Pages of several commits go into the file together; the log's own file does not stay larger than it has to.
    connection.pragma("wal_autocheckpoint", _LOG_PAGES)
    connection.pragma("journal_size_limit", _LOG_PAGES * 4096)
    return connection


def wait_for_locks(connection: apsw.Connection, limit_ms: int) -> None:
    """From now on wait up to `limit_ms` for a lock another connection holds, then fail with apsw.BusyError."""
    started = 0.0

    def nap(earlier: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if earlier == 0:
            started = now
        if now - started >= limit_ms / 1000:
            return False
        time.sleep(min(0.0002 * (earlier + 1), _LONGEST_NAP_S))
        return True

    connection.set_busy_handler(nap)


@contextmanager
def deadline(connection: apsw.Connection, timeout_ms: int | None) -> Iterator[None]:
    """Interrupt a statement that still runs after `timeout_ms`."""
    if timeout_ms is None:
        yield
        return
    end = time.monotonic() + timeout_ms / 1000
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    finally:
        connection.set_progress_handler(None)


def check_in_place(connection: apsw.Connection) -> None:
    """SpaceMissing when the file was deleted, or another one stands in its place, since it was opened."""
    has_moved = ctypes.c_int(0)
    connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, ctypes.addressof(has_moved))
    if has_moved.value:
        raise SpaceMissing("the Space was deleted")


def overwrite(path: Path, draft: Path, options: Options) -> None:
    """Give a file that nobody has open the content of another, in one transaction.

    The file itself stays: a log belongs to a file by its name, and whoever opened the old one a moment before it was
    put away would take the new one's log for its own.

    raises  SpaceInUse when somebody has it open; the file is as it was then, as after any other error
    """
    try:
        target = connect(path, options)
        with _closed_after(target):
            wait_for_locks(target, _OVERWRITE_WAIT_MS)
            # Everybody who has the file open holds a lock of it, so this one is had alone or not at all.
            target.pragma("locking_mode", "exclusive")
            target.execute("BEGIN EXCLUSIVE; COMMIT")
            source = connect(draft, options)
            with _closed_after(source), target.backup("main", source, "main") as copying:
                while not copying.done:
                    copying.step(_COPY_PAGES)
            target.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError as busy:
        raise SpaceInUse(f"{path.stem} is open") from busy
    except (apsw.NotADBError, apsw.CorruptError):
        # What is no database is no Space that anybody could have open, and may be why one is restored.
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        draft.replace(path)


@contextmanager
def _closed_after(connection: apsw.Connection) -> Iterator[None]:
    try:
        yield
    finally:
        connection.close(True)
