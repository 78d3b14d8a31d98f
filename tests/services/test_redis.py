"""A Redis that is started here is found, kept, killed and started again, and nobody else's is touched."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from deploy.services import ServiceError, Services, ports
from deploy.services.manager import ROOT, SERVERS
from deploy.services.process import Process


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    """Services in a folder of their own, all gone afterwards."""
    services = Services(tmp_path / "services")
    yield services
    services.remove()


def client(variables: dict[str, str]) -> redis.Redis:
    return redis.Redis.from_url(variables["REDIS_URL"], decode_responses=True)


def pid(services: Services) -> int:
    found = services.state("redis").pid
    assert found is not None
    return found


def command(services: Services, *words: str) -> list[str]:
    return [sys.executable, "-m", "deploy.services", "--dir", str(services.folder), *words]


def run(services: Services, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(services, *words), cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.requirement("BR-OPS-017", "BR-OPS-018")
def test_a_started_service_answers_at_the_settings_it_gives(services: Services) -> None:
    assert not services.state("redis").ready
    with client(services.start("redis")) as connection:
        assert connection.ping()
    assert services.state("redis").ready


def test_only_this_machine_reaches_it_and_only_with_its_password(services: Services) -> None:
    url = services.start("redis")["REDIS_URL"]
    wrong = {"REDIS_URL": url.replace("redis://:", "redis://:x")}
    with client(wrong) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()
    with client({"REDIS_URL": url}) as connection:
        assert connection.config_get("bind") == {"bind": ports.LOOPBACK}
    secret = url.split(":")[2].partition("@")[0]
    listing = subprocess.run(["ps", "-ww", "-p", str(pid(services)), "-o", "args="], capture_output=True, check=True)
    assert secret.encode() not in listing.stdout
    for file in services.folder.rglob("*"):
        if file.is_file() and secret.encode() in file.read_bytes():
            assert file.stat().st_mode & 0o077 == 0, file


def test_starting_what_runs_changes_nothing(services: Services) -> None:
    first, number = services.start("redis"), pid(services)
    assert services.start("redis") == first
    assert pid(services) == number


def test_several_who_start_at_once_get_one_service(services: Services) -> None:
    starts = [
        subprocess.Popen(command(services, "start", "redis"), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    answers = {start.communicate(timeout=60)[0] for start in starts}
    assert answers == {run(services, "env", "redis").stdout}
    listing = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True).stdout
    port = services.state("redis").variables["REDIS_URL"].split(":")[-1].partition("/")[0]
    assert sum(line.endswith(f":{port}") for line in listing.splitlines()) == 1


def test_two_folders_have_two_services_and_stopping_one_leaves_the_other(services: Services, tmp_path: Path) -> None:
    other = Services(tmp_path / "other")
    try:
        mine, theirs = services.start("redis"), other.start("redis")
        assert mine["REDIS_URL"] != theirs["REDIS_URL"]
        assert other.stop("redis")
        with client(mine) as connection:
            assert connection.ping()
        assert not other.state("redis").ready
    finally:
        other.remove()


def test_a_number_left_by_a_dead_service_kills_nobody(services: Services) -> None:
    services.start("redis")
    services.stop("redis")
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as bystander:
        (services.folder / "redis" / "pid").write_text(f"{bystander.pid}\n", "ascii")
        assert services.state("redis").pid is None
        assert not services.stop("redis")
        services.kill("redis")
        assert bystander.poll() is None
        bystander.kill()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_service_that_was_ended_by_others_starts_again_where_it_was(
    services: Services, ending: signal.Signals
) -> None:
    before = services.start("redis")
    with client(before) as connection:
        connection.set("kept", "yes")
    first = pid(services)
    os.kill(first, ending)
    deadline = time.monotonic() + 20
    while services.state("redis").pid is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not services.state("redis").ready
    assert run(services, "status", "redis").returncode == 1
    assert run(services, "env", "redis").stdout == ""
    assert services.start("redis") == before
    assert pid(services) != first
    with client(before) as connection:
        assert connection.get("kept") == "yes"


def test_data_and_settings_survive_an_orderly_stop(services: Services) -> None:
    before = services.start("redis")
    with client(before) as connection:
        connection.set("kept", "yes")
    assert services.stop("redis")
    assert services.start("redis") == before
    with client(before) as connection:
        assert connection.get("kept") == "yes"


def test_a_port_that_was_taken_meanwhile_is_left_to_its_new_owner(services: Services) -> None:
    before = services.start("redis")
    with client(before) as connection:
        connection.set("kept", "yes")
    services.stop("redis")
    port = int(before["REDIS_URL"].split(":")[-1].partition("/")[0])
    with socket.create_server((ports.LOOPBACK, port)):
        after = services.start("redis")
        assert after != before
        with client(after) as connection:
            assert connection.get("kept") == "yes"


def test_a_service_whose_starter_was_killed_is_taken_over(services: Services) -> None:
    never_ready = (
        "import sys; from pathlib import Path; from deploy.services.manager import SERVERS, Services;"
        "SERVERS['redis'].ready = lambda *_: False; Services(Path(sys.argv[1])).start('redis')"
    )
    with subprocess.Popen([sys.executable, "-c", never_ready, str(services.folder)], cwd=ROOT) as starter:
        deadline = time.monotonic() + 30
        while (left := services.state("redis")).pid is None or not left.ready:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        starter.kill()
    services.start("redis")
    assert pid(services) == left.pid
    assert services.stop("redis")


def test_a_child_that_outlives_its_killed_service_delays_the_next_start_and_no_more(services: Services) -> None:
    services.start("redis")
    services.kill("redis")
    Process(services.folder / "redis").spawn(["sh", "-c", "sleep 1 & kill -9 $$"])
    assert services.state("redis").pid is not None
    services.start("redis")
    assert services.state("redis").ready


def test_another_who_takes_the_port_just_before_the_service_does_only_costs_a_second_try(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as quicker:
        taken = quicker.getsockname()[1]
        chosen, looks = iter([taken]), iter([taken])
        choose, is_free = ports.choose, ports.is_free
        monkeypatch.setattr(ports, "choose", lambda: next(chosen, None) or choose())
        monkeypatch.setattr(ports, "is_free", lambda port: port == next(looks, None) or is_free(port))
        with client(services.start("redis")) as connection:
            assert connection.ping()


def test_a_stopped_program_is_ended_after_its_grace(services: Services) -> None:
    stubborn = Process(services.folder / "stubborn")
    stubborn.spawn(["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"])
    stubborn.stop(grace=0.5)
    assert not stubborn.running()


def test_what_cannot_start_says_why_and_leaves_nothing_running(services: Services) -> None:
    services.start("redis")
    services.stop("redis")
    (services.folder / "redis" / "data" / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n", "ascii")
    with pytest.raises(ServiceError, match=r"(?s)redis ended instead of starting.*manifest"):
        services.start("redis")
    assert services.state("redis").pid is None
    done = run(services, "start", "redis")
    assert done.returncode == 1
    assert done.stderr.startswith("error: redis ended instead of starting")


def test_a_missing_program_is_named_with_its_package(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(services.folder))
    with pytest.raises(ServiceError, match=r"`redis-server` is missing: install it .*apt-get install redis-server"):
        services.start("redis")
    assert services.state("redis").pid is None


def test_a_shell_takes_the_settings_from_the_command_line(services: Services) -> None:
    assert run(services, "start", "redis").returncode == 0
    text = run(services, "env", "redis").stdout
    seen = subprocess.run(["sh", "-c", f'{text}printf %s "$REDIS_URL"'], capture_output=True, text=True, check=True)
    assert seen.stdout == services.state("redis").variables["REDIS_URL"]
    assert run(services, "status", "redis").returncode == 0
    assert run(services, "stop", "redis").stdout == "redis: stopped\n"
    assert run(services, "stop", "redis").stdout == "redis: was not running\n"
    assert run(services, "start", "mongodb").returncode == 2


def test_every_service_can_be_named_on_the_command_line(services: Services) -> None:
    assert run(services, "status").stdout == "".join(f"{name}: not running\n" for name in SERVERS)
