"""One program kept in a folder: at most one at a time, and known by a lock it holds for as long as it lives.

A pid in a file proves nothing: the program may be gone and its number given to another. So the program inherits an
open file that is locked exclusively (flock). The system frees that lock when the last process holding the file is
gone, however it ended. While it is held, the number in `pid` belongs to our program's process group, since the
system gives no number away that a group still bears.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from pathlib import Path

from deploy.services.errors import ServiceError

# The shell writes the number that the program keeps after exec; a starter that dies meanwhile leaves nothing unknown.
WRITE_PID_AND_EXEC = 'echo $$ >"$1" && cd "$2" && shift 2 && exec "$@"'
INHERITED_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "TZ")


class Process:
    """The program of one folder. Its output is appended to `output.log` there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "output.log"
        self._alive = folder / "alive"
        self._pid = folder / "pid"

    def running(self) -> bool:
        """Whether the program lives, or a process it left behind."""
        try:
            handle = os.open(self._alive, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            # Shared, so that two who ask at once do not take each other for the program.
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def pid(self) -> int | None:
        """Number of the running program, which leads its process group; None when it does not run."""
        if not self.running():
            return None
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            text = self._pid.read_text("ascii") if self._pid.exists() else ""
            if text.endswith("\n"):
                return int(text)
            if not self.running():
                return None
            time.sleep(0.01)
        raise ServiceError(f"{self._alive} is held by a process that wrote no number into {self._pid}")

    def spawn(self, command: list[str], directory: Path | None = None) -> None:
        """Start the program in a session of its own, working in `directory` or else in its folder.

        The caller has seen that it does not run, and lets no other start it meanwhile.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._pid.unlink(missing_ok=True)
        handle = os.open(self._alive, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.set_inheritable(handle, True)
            os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", WRITE_PID_AND_EXEC, "sh", str(self._pid), str(directory or self.folder), *command],
                {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, str(self.output), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
                setsid=True,
            )
        finally:
            os.close(handle)

    def stop(self, grace: float) -> None:
        """Ask the program to end; after `grace` seconds end it. Returns when it is gone.

        raises  ServiceError when it outlives SIGKILL by ten seconds
        """
        pid = self.pid()
        if pid is None:
            return
        if grace > 0:
            self._signal(pid, signal.SIGTERM)
        if not self._gone(pid, grace):
            self._signal(pid, signal.SIGKILL)
            if not self._gone(pid, 10):
                raise ServiceError(f"process {pid} of {self.folder} does not end")

    def _signal(self, group: int, number: signal.Signals) -> None:
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            return

    def _gone(self, pid: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(ChildProcessError):  # it is ours to reap only when this very process started it
                os.waitpid(pid, os.WNOHANG)
            if not self.running():
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.02)
