"""What a driver's error means to a caller; nothing of the driver's own words reaches one."""

from __future__ import annotations

from neo4j.exceptions import AuthError, ConnectionPoolError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired

from brain import errors

UNREACHED = (ServiceUnavailable, SessionExpired, OSError)
"""The database did not answer, or stopped to while it was asked."""

_LATER_MS = 5_000
"""When to come again after the database could not be reached."""

_TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration", "Terminated")
_IN_THE_WAY = ("DeadlockDetected", "LockAcquisitionTimeout", "LockClientStopped", "Outdated", "ConstraintsChanged")
_NOT_NOW = (
    "DatabaseUnavailable",
    "MemoryPoolOutOfMemoryError",
    "TransactionOutOfMemoryError",
    "ReadOnly",
    "NotALeader",
)


def code_of(error: BaseException) -> str:
    """The last part of a server error's code, empty for an error of the driver."""
    return (getattr(error, "code", None) or "").rpartition(".")[2]


def translated(error: Exception) -> errors.KipError:
    """The registered error for a driver's error; raise it `from` that one, which the log may show."""
    code = code_of(error)
    if code in _TIMED_OUT:
        return errors.ExecutionTimeout()
    if code in _IN_THE_WAY:
        return errors.SerializationConflict("Other writers kept the Space busy for too long.")
    if isinstance(error, AuthError):
        return _for_now("The database refuses the service's name or password.", "Let the service log in to Neo4j.")
    if isinstance(error, ConnectionPoolError):
        return _for_now("Too many requests wait for the database.", "Send it again a little later.")
    if isinstance(error, UNREACHED) or code in _NOT_NOW:
        return _for_now("The database cannot be reached.", "Send it again once Neo4j is back.")
    if isinstance(error, Neo4jError) and error.is_retryable():
        return errors.SerializationConflict("The database could not serve this beside others.")
    return errors.InternalError("The Space's store failed.")


def _for_now(message: str, hint: str) -> errors.KipError:
    return errors.InternalError(message, hint=hint, retry=errors.Retry.SAFE_SAME_REQUEST, after_ms=_LATER_MS)


__all__ = ["UNREACHED", "DriverError", "Neo4jError", "code_of", "translated"]
