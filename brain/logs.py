"""Structured logs: one JSON object a line, with time, level, event and the request's id; never message content.

Errors are told by their kind and place. Their texts, and lines of other libraries, may quote what people said or a
provider's key, and are left out.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import traceback
from pathlib import Path
from typing import Any, TextIO

import structlog

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure(level: str, *, stream: TextIO | None = None) -> None:
    """Send every log line of this process to `stream` (standard output unless given)."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(_Lossy(stream or sys.stdout)),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers = [_Foreign()]
    root.setLevel(logging.WARNING)


def fault(error: BaseException) -> dict[str, Any]:
    """What a log line may tell of an error: its kind, what caused it, and the innermost places it came through."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    place = [f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}" for frame in frames]
    told: dict[str, Any] = {"kind": type(error).__name__, "place": place}
    cause = error.__cause__
    if cause is not None:
        told["cause"] = type(cause).__name__
    for one in (error, cause):
        if isinstance(one, OSError) and one.strerror:
            told["reason"] = one.strerror
    return told


class _Lossy:
    """A stream that loses lines rather than fails: a log on a full disk, or with nobody behind its pipe any more, must
    end neither a request nor the loop that does the background work."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()


class _Foreign(logging.Handler):
    """Warnings and errors of other libraries, as lines of ours."""

    def emit(self, record: logging.LogRecord) -> None:
        told: dict[str, Any] = {"logger": record.name, "place": f"{record.module}:{record.lineno}"}
        if record.name.startswith("uvicorn"):  # speaks of connections only
            told["message"] = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            told |= fault(record.exc_info[1])
        logger = structlog.get_logger(record.name)
        (logger.error if record.levelno >= logging.ERROR else logger.warning)("foreign_log", **told)
