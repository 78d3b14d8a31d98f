"""How a Space's files go: a mark first, then the files, then the mark.

From its mark on a Space is gone to everybody, and stays gone: whoever removes it may be killed, and whoever looks at
the folder next goes on. The mark is locked while somebody is at it, so that none takes away what another has made anew
under the same name; a log that outlived its file would be read into the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

SUFFIXES = ("", "-wal", "-shm")
"""Of the files of one Space."""

_GONE = ".gone"


def mark_of(folder: Path, space_id: str) -> Path:
    """The file that says a Space is gone."""
    return folder / f".{space_id}{_GONE}"


def marked(folder: Path) -> list[str]:
    """Spaces whose removal was begun and not ended."""
    return sorted(mark.name.removeprefix(".").removesuffix(_GONE) for mark in folder.glob(f".*{_GONE}"))


def remove(folder: Path, space_id: str, path: Path, *, begin: Callable[[], bool] | None = None) -> bool:
    """Remove a Space's files, waiting for whoever is at it; whether there was a removal to begin or to end.

    begin  asked when nobody else's removal is under way: whether what stands under the name is what should go.
           None to end what was begun, and begin nothing
    """
    mark = mark_of(folder, space_id)
    with _locked(mark, os.O_CREAT if begin is not None else 0) as is_locked:
        if not is_locked:
            return False
        if begin is not None and not begin():
            mark.unlink()
            return False
        flush(folder)
        unlink(path)
        flush(folder)
        mark.unlink()
        flush(folder)
    return True


def unlink(path: Path) -> None:
    """Take away what there is of the files of a Space."""
    for suffix in SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def flush(folder: Path) -> None:
    """Put the folder's names on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _locked(mark: Path, create: int) -> Iterator[bool]:
    """Hold the mark alone; False when there is none."""
    while True:
        try:
            handle = os.open(mark, os.O_RDWR | os.O_CLOEXEC | create, 0o600)
        except FileNotFoundError:
            yield False
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_same(mark, handle):
                yield True
                return
        finally:
            os.close(handle)


def _is_same(mark: Path, handle: int) -> bool:
    """Whether the mark is still the file that was locked: whoever held it before may have ended its removal."""
    try:
        return mark.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False
