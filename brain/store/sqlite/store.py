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
from brain.store.sqlite import dumping, loading, removal, schema
from brain.store.sqlite.connection import Durability, Options, connect, overwrite
from brain.store.sqlite.failures import DISK_FULL, translated
from brain.store.sqlite.space import SqliteSpace
from brain.times import Clock, SystemClock

SUFFIX, _DRAFT = ".db", ".new"
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
        with contextlib.suppress(OSError):  # the next to look goes on
            self.finish_removals()

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
        if SPACE_ID.fullmatch(space_id) is None:
            return False
        return self._path(space_id).is_file() and not removal.mark_of(self._folder, space_id).exists()

    def spaces(self) -> Iterable[str]:
        gone = set(removal.marked(self._folder))
        names = (path.name.removesuffix(SUFFIX) for path in self._folder.glob(f"*{SUFFIX}"))
        return sorted(name for name in names if SPACE_ID.fullmatch(name) and name not in gone)

    def with_work(self, *, unindexed: bool) -> None:
        """Each Space is a file of its own."""

    def check(self) -> None:
        try:
            _check_usable(self._folder)
        except OSError as error:
            raise translated(error) from error

    def delete(self, space_id: str) -> None:
        if not self.exists(space_id):
            self.finish_removals()
            return
        for space in self._opened():
            if space.space_id == space_id:
                space.close()
        path = self._path(space_id)
        try:
            number = path.stat().st_ino
            connection = connect(path, self._options)
            # Writers wait here; they find the file gone and write nothing.
            connection.execute("BEGIN IMMEDIATE")
        except FileNotFoundError:
            return
        except (apsw.NotADBError, apsw.CantOpenError):
            self._remove(space_id, number)
        except apsw.Error as error:
            raise translated(error) from error
        else:
            try:
                self._remove(space_id, number)
            finally:
                connection.close(True)

    def _remove(self, space_id: str, number: int) -> None:
        """Remove the files of a Space, if it is still the one of that inode."""
        path = self._path(space_id)

        def is_meant() -> bool:
            return path.exists() and path.stat().st_ino == number

        try:
            removal.remove(self._folder, space_id, path, begin=is_meant)
        except OSError as error:
            raise translated(error) from error

    def finish_removals(self) -> list[str]:
        gone = [space_id for space_id in removal.marked(self._folder) if SPACE_ID.fullmatch(space_id)]
        return [space_id for space_id in gone if removal.remove(self._folder, space_id, self._path(space_id))]

    def holds(self, space_id: str, instance_id: str) -> dict[str, int]:
        del instance_id  # an id has one file here
        if SPACE_ID.fullmatch(space_id) is None:
            return {}
        path = self._path(space_id)
        try:
            files = [path.with_name(path.name + suffix) for suffix in removal.SUFFIXES]
            sizes = [file.stat().st_size for file in files if file.is_file()]
            rows = _rows_in(path, self._options) if path.is_file() else {}
        except OSError as error:
            raise translated(error) from error
        return {"files": len(sizes), "bytes": sum(sizes), **rows}

    def close(self) -> None:
        for space in self._opened():
            space.close()

    def _opened(self) -> list[SqliteSpace]:
        with self._open_lock:
            return list(self._open)

    def _path(self, space_id: str) -> Path:
        return self._folder / f"{space_id}{SUFFIX}"

    def _make(
        self, space_id: str, created_ms: int, fill: Callable[[apsw.Connection], None], *, replace: bool = False
    ) -> SqliteSpace:
        """A Space appears under its name complete or not at all, and for one of two makers only."""
        if SPACE_ID.fullmatch(space_id) is None:
            raise errors.InvalidIdentifier("A Space id has 1 to 64 lower-case letters, digits and underscores.")
        draft, path = self._folder / f".{uuid.uuid4().hex}{_DRAFT}", self._path(space_id)
        try:
            removal.remove(self._folder, space_id, path)  # if somebody was killed over it: its name must be free
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
                removal.unlink(draft)
        try:
            removal.flush(self._folder)
        except OSError as error:
            if not replace:
                removal.unlink(path)
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
                    removal.unlink(draft)


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


def _rows_in(path: Path, options: Options) -> dict[str, int]:
    """How many rows each table of a file has; none for a file that is no Space."""
    try:
        with contextlib.closing(connect(path, options)) as connection:
            found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            tables = [str(name) for (name,) in found if not str(name).startswith("sqlite_")]
            return {name: _count(connection, name) for name in tables}
    except (apsw.NotADBError, apsw.CantOpenError):
        return {}
    except apsw.Error as error:
        raise translated(error) from error


def _count(connection: apsw.Connection, table: str) -> int:
    [(number,)] = connection.execute(f'SELECT count(*) FROM "{table}"')
    assert isinstance(number, int)  # noqa: S101 - as counts are
    return number
