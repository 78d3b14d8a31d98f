"""What a driver's error means to a caller; nothing of the driver's own words reaches one."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import apsw

from brain import errors
from brain.store.base import SpaceMissing

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Error numbers of a disk, or of a share of it, that has no room left."""

_MAKE_WRITABLE = "Let the service read and write its data folder, then send it again."
_LATER_MS = 10_000
"""When to come again after a fault that somebody has to put right at the disk."""


def translated(error: apsw.Error | OSError) -> errors.KipError:
    """The registered error for a driver's error; raise it `from` that one, which the log may show.

    A fault of the disk or folder is one of a time, and nothing was stored of what met it: the same request may be sent
    again. Where that is not sure, at a commit, see `SqliteSpace`.
    """
    if isinstance(error, apsw.InterruptError):
        return errors.ExecutionTimeout()
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return errors.SerializationConflict("Other writers kept the Space busy for too long.")
    if isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno in DISK_FULL):
        return _for_now("The Space's disk is full; nothing was stored.", "Make room on the disk, then send it again.")
    if isinstance(error, apsw.ReadOnlyError):
        return _for_now("The Space's file cannot be written; nothing was stored.", _MAKE_WRITABLE)
    if isinstance(error, apsw.CantOpenError | OSError):
        return _for_now("The Space's file cannot be opened.", _MAKE_WRITABLE)
    return errors.InternalError("The Space's store failed.")


def _for_now(message: str, hint: str) -> errors.KipError:
    return errors.InternalError(message, hint=hint, retry=errors.Retry.SAFE_SAME_REQUEST, after_ms=_LATER_MS)


def raise_unopened(path: Path, space_id: str, error: apsw.CantOpenError) -> NoReturn:
    """SQLite could not open a Space's file: SpaceMissing when it is gone, else the registered error from its reason."""
    reason: apsw.Error | OSError = error
    try:
        with path.open("r+b"):
            pass
        if not os.access(path.parent, os.W_OK | os.X_OK):
            reason = PermissionError(errno.EACCES, "the folder cannot be written")
    except FileNotFoundError:
        raise SpaceMissing(space_id) from error
    except OSError as found:
        reason = found
    raise translated(error) from reason
