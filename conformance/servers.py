"""Start this project's server as a user would, on a free port, and stop it again."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent


def free_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_up(url: str, process: subprocess.Popen[bytes], *, seconds: float = 30) -> float:
    """Seconds until the address answers 200; RuntimeError when it does not."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode}")
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(url, timeout=2).status_code == 200:
                return time.monotonic() - begun
        time.sleep(0.01)
    raise RuntimeError(f"{url} did not answer within {seconds} s")


@contextlib.contextmanager
def process(command: list[str], environment: Mapping[str, str], *, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A child process with its output in a file, terminated at the end of the block."""
    with log.open("ab") as sink:
        child = subprocess.Popen(command, env=dict(environment), cwd=ROOT, stdout=sink, stderr=sink)
        try:
            yield child
        finally:
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


@contextlib.contextmanager
def brain_server(settings: Mapping[str, str] | None = None, *, folder: Path | None = None) -> Iterator[str]:
    """A serving Brain over a folder of its own; its base address."""
    with contextlib.ExitStack() as stack:
        data = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="brain-server-")))
        port = free_port()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("MODEL_", "SPACE_", "LLM_"))},
            "LISTEN_ADDR": f"127.0.0.1:{port}",
            "LOCAL_DB_PATH": str(data / "spaces"),
            **(settings or {}),
        }
        url = f"http://127.0.0.1:{port}"
        child = stack.enter_context(
            process([sys.executable, "-m", "brain", "serve"], environment, log=data / "server.log")
        )
        wait_until_up(f"{url}/info", child)
        yield url


def pid_of(url: str) -> str:
    """The process that listens on an address; OSError when none is found."""
    port = int(url.rsplit(":", 1)[1])
    inode = next(
        (
            row.split()[9]
            for row in Path("/proc/net/tcp").read_text().splitlines()[1:]
            if row.split()[1].endswith(f":{port:04X}") and row.split()[3] == "0A"
        ),
        "",
    )
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if opened.readlink().name == f"socket:[{inode}]":
                return opened.parent.parent.name
        except OSError:
            continue
    raise OSError(f"nobody is seen to listen on {url}")


def processor_ms(pid: str) -> float:
    """Milliseconds of processor time a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")
