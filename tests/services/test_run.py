"""The services of one test run: one set for all workers, gone with the run however it ends."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.services import Services
from deploy.services.manager import ROOT
from tests.services.fixtures import FOLDER, OWNER, PREFIX, clear_abandoned

ASKING = """
import os, pathlib, time
from deploy.services import Services
import pytest, redis

@pytest.mark.parametrize("turn", range(4))
def test_asks(redis_url, turn):
    assert redis.Redis.from_url(redis_url).ping()
    folder = pathlib.Path(os.environ["SERVICES_DIR"])
    number = Services(folder).state("redis").pid
    seen = pathlib.Path(__file__).with_name(f"seen-{os.getpid()}-{turn}")
    seen.with_suffix(".part").write_text(f"{number} {redis_url.rsplit('/', 1)[1]} {folder}")
    seen.with_suffix(".part").rename(seen)
    time.sleep(WAIT)
"""


def start_run(place: Path, wait: float) -> subprocess.Popen[bytes]:
    """A run of its own with two workers, on a test that asks for Redis."""
    (place / "test_asking.py").write_text(ASKING.replace("WAIT", str(wait)), "utf-8")
    (place / "pytest.ini").write_text("[pytest]\n", "utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", FOLDER))}
    environment["PYTHONPATH"] = str(ROOT)
    words = ["-q", "-n", "2", "-p", "tests.services.fixtures", "--rootdir", str(place), str(place)]
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *words], cwd=place, env=environment, stdout=subprocess.DEVNULL
    )


def what_was_seen(place: Path) -> list[tuple[str, str, str]]:
    """Process number of Redis, database number, folder: once per finished question."""
    files = [file for file in place.glob("seen-*") if not file.suffix]
    return [tuple(file.read_text("utf-8").split(" ", 2)) for file in files]  # type: ignore[misc]


def is_alive(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(gone: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not gone():
        assert time.monotonic() < deadline, "the service outlived its run"
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.requirement("BR-OPS-018", "BR-OPS-025")
def test_workers_share_one_service_each_with_a_database_of_its_own_and_it_ends_with_the_run(tmp_path: Path) -> None:
    with start_run(tmp_path, wait=0.2) as run:
        assert run.wait(timeout=120) == 0
    seen = what_was_seen(tmp_path)
    assert len(seen) == 4
    ((number, folder),) = {(number, folder) for number, _, folder in seen}
    assert {database for _, database, _ in seen} == {"0", "1"}
    assert not Path(folder).exists()
    wait_until(lambda: not is_alive(number))  # the system may take a moment to forget a process that has ended


@pytest.mark.slow
def test_a_run_that_is_killed_takes_its_services_with_it(tmp_path: Path) -> None:
    with start_run(tmp_path, wait=30) as run:
        deadline = time.monotonic() + 120
        while not (seen := what_was_seen(tmp_path)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        number, _, folder = seen[0]
        assert is_alive(number)
        run.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_alive(number) and not Path(folder).exists())


def test_what_runs_left_that_were_killed_with_their_guards_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    left, held, young = (tmp_path / f"{PREFIX}{name}" for name in ("left", "held", "young"))
    for folder in (left, held, young):
        folder.mkdir()
        (folder / OWNER).touch()
    services = Services(left)
    services.start("redis")
    for folder in (left, held):
        os.utime(folder / OWNER, (0, 0))
    with (held / OWNER).open() as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        clear_abandoned(tmp_path)
    assert not left.exists()
    assert services.state("redis").pid is None
    assert held.exists()
    assert young.exists()
