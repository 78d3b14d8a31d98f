"""All Spaces of a data folder: one file each, `<space id>.db`."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock
from weakref import WeakSet

import apsw
import orjson

from brain import errors
from brain.ids import SPACE_ID
from brain.store.base import Document, SpaceExists, SpaceMissing
from brain.store.dump import Row, SpaceRow, Tally, checked, verify
from brain.store.search import ANALYSIS
from brain.store.sqlite import dumping, loading, schema
from brain.store.sqlite.connection import Durability, Options, connect, overwrite
from brain.store.sqlite.failures import DISK_FULL, translated
from brain.store.sqlite.space import SqliteSpace
from brain.times import Clock, SystemClock

_SUFFIX, _DRAFT = ".db", ".new"
_LEFT_AFTER_S = 86_400
"""How long a draft has to have been let be until it is somebody's who is gone."""


class SqliteStore:
    """See `brain.store.base.Store`. Several processes may have one folder, and one Space, open.

    folder           made when missing, for this user only; on a local disk, since processes share maps of its files;
                     OSError when it cannot be made or written
    clock            says when a document of state has expired
    durability       see `Options`
    busy_timeout_ms  how long a writer waits for the other writers of its Space
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        clock: Clock | None = None,
        durability: Durability = "full",
        busy_timeout_ms: int = 10_000,
    ) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_usable(self._folder)
        self._options = Options(clock or SystemClock(), durability, busy_timeout_ms)
        self._open: WeakSet[SqliteSpace] = WeakSet()
        self._open_lock = Lock()

    def create(self, space_id: str, *, now_ms: int, controls: Mapping[str, Document] | None = None) -> SqliteSpace:
        """InvalidIdentifier when the id is not one."""

        def fill(connection: apsw.Connection) -> None:
            connection.executemany(
                "INSERT INTO control VALUES (?, 0, ?)",
                [(name, orjson.dumps(document).decode()) for name, document in (controls or {}).items()],
            )

        return self._make(space_id, now_ms, fill)

    def load(self, rows: Iterable[Row], *, replace: bool = False) -> SqliteSpace:
        """InvalidIdentifier when the id is not one."""
        self._remove_left_drafts()
        tally = Tally()
        following = checked(tally.following(rows))
        first = next(following)
        assert isinstance(first, SpaceRow)  # noqa: S101 - as checked

        def fill(connection: apsw.Connection) -> None:
            loading.load(connection, following)
            verify(dumping.rows_of(connection), tally)

        return self._make(first.space_id, first.created_ms, fill, replace=replace)

    def open(self, space_id: str) -> SqliteSpace:
        try:
            is_there = self.exists(space_id)
        except OSError as error:
            raise translated(error) from error
        if not is_there:
            raise SpaceMissing(space_id)
        space = SqliteSpace(self._path(space_id), space_id, self._options)
        with self._open_lock:
            self._open.add(space)
        return space

    def exists(self, space_id: str) -> bool:
        return SPACE_ID.fullmatch(space_id) is not None and self._path(space_id).is_file()

    def spaces(self) -> Iterable[str]:
        names = (path.name.removesuffix(_SUFFIX) for path in self._folder.glob(f"*{_SUFFIX}"))
        return sorted(name for name in names if SPACE_ID.fullmatch(name))

    def check(self) -> None:
        try:
            _check_usable(self._folder)
        except OSError as error:
            raise translated(error) from error

    def delete(self, space_id: str) -> None:
        if not self.exists(space_id):
            return
        for space in self._opened():
            if space.space_id == space_id:
                space.close()
        path = self._path(space_id)
        try:
            connection = connect(path, self._options)
            # Writers wait here; they find the file gone and write nothing.
            connection.execute("BEGIN IMMEDIATE")
        except (apsw.NotADBError, apsw.CantOpenError):
            _remove(path)
        except apsw.Error as error:
            raise translated(error) from error
        else:
            _remove(path)
            connection.close(True)
        self._flush_folder()

    def close(self) -> None:
        for space in self._opened():
            space.close()

    def _opened(self) -> list[SqliteSpace]:
        with self._open_lock:
            return list(self._open)

    def _path(self, space_id: str) -> Path:
        return self._folder / f"{space_id}{_SUFFIX}"

    def _make(
        self, space_id: str, created_ms: int, fill: Callable[[apsw.Connection], None], *, replace: bool = False
    ) -> SqliteSpace:
        """A Space appears under its name complete or not at all, and for one of two makers only."""
        if SPACE_ID.fullmatch(space_id) is None:
            raise errors.InvalidIdentifier("A Space id has 1 to 64 lower-case letters, digits and underscores.")
        draft, path = self._folder / f".{uuid.uuid4().hex}{_DRAFT}", self._path(space_id)
        try:
            if not replace and self.exists(space_id):
                raise SpaceExists(space_id)
            self._write_new(draft, space_id, created_ms, fill)
            if replace and self.exists(space_id):
                overwrite(path, draft, self._options)
            else:
                os.link(draft, path)
        except FileExistsError as error:
            raise SpaceExists(space_id) from error
        except (apsw.Error, OSError) as error:
            raise translated(error) from error
        finally:
            with contextlib.suppress(OSError):  # a folder that was closed to us says so above
                _remove(draft)
        try:
            self._flush_folder()
        except OSError as error:
            if not replace:
                _remove(path)
            raise translated(error) from error
        return self.open(space_id)

    def _write_new(self, path: Path, space_id: str, created_ms: int, fill: Callable[[apsw.Connection], None]) -> None:
        connection = connect(path, self._options, is_new=True)
        try:
            connection.pragma("journal_mode", "wal")
            connection.pragma("application_id", schema.APPLICATION_ID)
            schema.migrate(connection, self._options.clock.now_ms())
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [
                    ("space", space_id),
                    ("instance", uuid.uuid4().hex),
                    ("created_ms", str(created_ms)),
                    ("analysis", str(ANALYSIS)),
                ],
            )
            fill(connection)
            # Closing would do it too, and say nothing when there is no room for it.
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            connection.close(True)

    def _remove_left_drafts(self) -> None:
        """What processes left behind that were killed over a file nobody had seen yet."""
        for draft in self._folder.glob(f".*{_DRAFT}"):
            with contextlib.suppress(OSError):
                if time.time() - draft.stat().st_mtime > _LEFT_AFTER_S:
                    _remove(draft)

    def _flush_folder(self) -> None:
        """Put the folder's names on the disk."""
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _check_usable(folder: Path) -> None:
    """OSError when a folder cannot be looked through, or no file be made in it; a full disk is no reason, for what is
    there can be read."""
    with os.scandir(folder):
        pass
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
