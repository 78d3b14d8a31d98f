"""What a driver's error means to a caller; nothing of the driver's own words reaches one."""

from __future__ import annotations

import apsw

from brain import errors


def translated(error: apsw.Error) -> errors.KipError:
    """The registered error for a driver's error; raise it `from` that one, which the log may show."""
    if isinstance(error, apsw.InterruptError):
        return errors.ExecutionTimeout()
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return errors.SerializationConflict("Other writers kept the Space busy for too long.")
    if isinstance(error, apsw.FullError):
        return errors.InternalError("The Space's disk is full.")
    return errors.InternalError("The Space's store failed.")
