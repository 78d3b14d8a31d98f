"""A disk that fails as disks do: system calls of SQLite that return an error number, with SQLite itself unchanged."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

_WRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_longlong, use_errno=True
)
_OPEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, use_errno=True)


@contextmanager
def full() -> Iterator[None]:
    """As long as this lasts no block can be written to any database file or log."""

    def write(_: int, __: int, ___: int, ____: int) -> int:
        ctypes.set_errno(errno.ENOSPC)
        return -1

    with _instead({"pwrite": _WRITE(write), "pwrite64": _WRITE(write)}):
        yield


@contextmanager
def denied(suffix: str) -> Iterator[None]:
    """As long as this lasts no file whose name ends so can be opened."""

    def opened(path: bytes, flags: int, mode: int) -> int:
        if path.endswith(suffix.encode()):
            ctypes.set_errno(errno.EACCES)
            return -1
        try:
            return os.open(path, flags, mode)
        except OSError as error:
            ctypes.set_errno(error.errno or errno.EIO)
            return -1

    with _instead({"open": _OPEN(opened)}):
        yield


@contextmanager
def _instead(calls: dict[str, Any]) -> Iterator[None]:
    disk = apsw.VFS("failing", "unix")
    present = {name for name in calls if disk.xGetSystemCall(name)}
    assert present
    try:
        for name in present:
            disk.xSetSystemCall(name, ctypes.cast(calls[name], ctypes.c_void_p).value)
        yield
    finally:
        for name in present:
            disk.xSetSystemCall(name, 0)
        disk.unregister()
