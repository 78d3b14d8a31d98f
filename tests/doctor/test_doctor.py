"""`brain doctor` names what keeps a deployment from working, and what to do; it writes nothing and tells no secret."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from brain.commands import main
from brain.doctor import machine, services
from brain.doctor.command import examine
from brain.doctor.finding import Finding
from brain.settings import Settings
from brain.store.sqlite import SqliteStore
from tests.service.processes import started
from tests.service.world import settings_for

KEY = "sk-do-not-tell"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("BRAIN_TEST_STORE", raising=False)
    monkeypatch.chdir(tmp_path)


def settings_of(tmp_path: Path, **changed: Any) -> Settings:
    return settings_for(tmp_path / "data", **{"listen_addr": "127.0.0.1:0", **changed})


def found(settings: Settings, subject: str) -> list[Finding]:
    return [finding for finding in examine(settings) if finding.subject == subject]


def only(findings: Any, level: str) -> Finding:
    """The one finding of a level."""
    [one] = [finding for finding in findings if finding.level == level]
    assert (one.fix != "") == (level != "ok"), one
    return one


def spaces(folder: Path, *names: str) -> None:
    store = SqliteStore(folder)
    for name in names:
        store.create(name, now_ms=1).close()
    store.close()


@pytest.mark.requirement("BR-CONF-020")
def test_a_deployment_that_is_well_has_no_faults_and_ends_with_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spaces(tmp_path / "data", "home", "work")
    assert main(["doctor", "--db", str(tmp_path / "data"), "--addr", "127.0.0.1:0", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["well"] is True
    assert {finding["level"] for finding in told["findings"]} == {"ok"}
    assert {
        "settings",
        "packages",
        "keys",
        "folder",
        "disk",
        "clock",
        "port",
        "prompts",
        "store",
        "queue",
        "model",
    } <= {finding["subject"] for finding in told["findings"]}


@pytest.mark.requirement("BR-CONF-020")
def test_a_fault_is_named_with_what_to_do_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").write_text("a file")
    assert main(["doctor", "--db", str(tmp_path / "data"), "--addr", "127.0.0.1:0"]) == 1
    said = capsys.readouterr().out
    assert "fault    folder" in said
    assert "→ set LOCAL_DB_PATH to a folder" in said
    assert main(["doctor", "--addr", "nowhere"]) == 2


@pytest.mark.requirement("BR-CONF-020")
def test_looking_writes_nothing(tmp_path: Path) -> None:
    assert all(finding.level == "ok" for finding in examine(settings_of(tmp_path)))
    assert not (tmp_path / "data").exists()
    spaces(tmp_path / "data", "home")
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in (tmp_path / "data").iterdir()}
    list(examine(settings_of(tmp_path)))
    assert {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in (tmp_path / "data").iterdir()} == before


@pytest.mark.requirement("BR-CONF-020")
def test_formats_of_spaces_are_judged_before_they_are_opened(tmp_path: Path) -> None:
    spaces(tmp_path / "data", "old", "new", "fine")
    for name, number in (("old", 1), ("new", 99)):
        with contextlib.closing(sqlite3.connect(tmp_path / "data" / f"{name}.db")) as file:
            file.execute(f"PRAGMA user_version = {number}")
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (tmp_path / "data" / "broken.db").write_bytes(b"not a database at all")
    findings = found(settings_of(tmp_path), "store")
    assert [finding.level for finding in findings] == ["fault", "fault", "warning"]
    assert "broken" in findings[0].text
    assert "new" in findings[1].text
    assert "backup" in findings[2].fix


def test_a_format_is_read_while_the_space_is_in_use(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "data")
    space = store.create("home", now_ms=1)
    with space.transaction() as tx:
        tx.set("notes", "a", {"b": 1})
    assert only(found(settings_of(tmp_path), "store"), "ok").text.startswith("1 Spaces")
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="permissions of files as POSIX has them")
def test_a_folder_others_may_look_into_and_one_that_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    (tmp_path / "data").chmod(0o755)
    assert only(machine.folder(settings_of(tmp_path)), "warning").fix == f"chmod 700 {tmp_path / 'data'}"
    (tmp_path / "data").chmod(0o700)
    assert {finding.level for finding in machine.folder(settings_of(tmp_path))} == {"ok"}
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests may be allowed everything
    assert "cannot be read and written" in only(machine.folder(settings_of(tmp_path)), "fault").text


def test_little_room_and_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, level in ((2**40, "ok"), (2**29, "warning"), (2**20, "fault")):
        monkeypatch.setattr(machine.shutil, "disk_usage", lambda _, free=free: type("Usage", (), {"free": free})())
        [disk] = [finding for finding in machine.folder(settings_of(tmp_path)) if finding.subject == "disk"]
        assert disk.level == level


def test_a_clock_that_cannot_be_right(tmp_path: Path) -> None:
    assert only(machine.clock(settings_of(tmp_path), now=0.0), "fault").text.startswith("the clock stands before")
    spaces(tmp_path / "data", "home")
    newest = max(file.stat().st_mtime for file in (tmp_path / "data").iterdir())
    assert "ahead of the clock" in only(machine.clock(settings_of(tmp_path), now=newest - 3_600), "fault").text
    assert only(machine.clock(settings_of(tmp_path), now=newest), "ok")
    apart = list(services._apart("Redis", 1_000.0, 1_060.0))
    assert "60 seconds apart" in only(apart, "warning").text
    assert not list(services._apart("Redis", 1_000.0, 1_001.0))


@pytest.mark.requirement("BR-CONF-020")
def test_a_port_is_free_ours_or_somebody_elses(tmp_path: Path) -> None:
    assert only(machine.ports(settings_of(tmp_path)), "ok").text.endswith("is free")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        assert "taken by another program" in only(machine.ports(settings_of(tmp_path, listen_addr=taken)), "fault").text
        apart = settings_of(tmp_path, metrics_addr=taken)
        assert only(machine.ports(apart), "fault").text.startswith("METRICS_ADDR")
    with started(tmp_path / "served", "serve", module="brain") as server:
        ours = server.url.removeprefix("http://")
        assert (
            "in use by this service, version" in only(machine.ports(settings_of(tmp_path, listen_addr=ours)), "ok").text
        )
    for wrong in ("203.0.113.7:0", "no-such-host.invalid:0"):
        assert only(machine.ports(settings_of(tmp_path, listen_addr=wrong)), "fault")


def test_who_may_call_is_told(tmp_path: Path) -> None:
    open_ = {"listen_addr": "0.0.0.0:0"}
    assert "credential" in only(machine.who_may_call(settings_of(tmp_path, **open_)), "fault").text
    assert only(machine.who_may_call(settings_of(tmp_path, **open_, allow_open_access=True)), "warning")
    from tests.http.test_access import PUBLIC_KEY

    keyed = list(machine.who_may_call(settings_of(tmp_path, ed25519_pubkeys=(PUBLIC_KEY,))))
    assert "MANAGERS is empty" in only(keyed, "warning").text
    (tmp_path / ".env").write_text(f"MODEL_API_KEY={KEY}\n")
    (tmp_path / ".env").chmod(0o644)
    assert only(machine.who_may_call(settings_of(tmp_path)), "warning").fix == "chmod 600 .env"


def test_a_package_that_does_not_exist_is_named(tmp_path: Path) -> None:
    assert "nonsense" in only(found(settings_of(tmp_path, space_packages=("nonsense",)), "packages"), "fault").text


# --- what it leans on -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def provider(status: int, body: object = None) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """A provider that answers everything alike; its address, and method, path and key of what it was asked."""
    asked: list[tuple[str, str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            key = self.headers.get("authorization") or self.headers.get("x-api-key") or ""
            asked.append(("GET", self.path, key))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.requirement("BR-CONF-020")
@pytest.mark.parametrize(
    ("status", "body", "level", "words"),
    [
        (200, {"data": [{"id": "m-1"}]}, "ok", "takes the key"),
        (200, {"data": [{"id": "m-2"}]}, "warning", "does not list m-1"),
        (200, {"odd": True}, "ok", "takes the key"),
        (401, {}, "fault", "refuses the key"),
        (403, {}, "fault", "refuses the key"),
        (404, {}, "ok", "without a paid call"),
        (500, {}, "ok", "answers"),
    ],
)
def test_a_provider_is_asked_only_what_costs_nothing(
    tmp_path: Path, status: int, body: object, level: str, words: str
) -> None:
    with provider(status, body) as (url, asked):
        settings = settings_of(
            tmp_path, model_family="openai", model_name="m-1", model_api_base=f"{url}/v1", model_api_key=KEY
        )
        [finding] = services.models(settings)
    assert (finding.level, words in finding.text) == (level, True), finding
    assert KEY not in str(finding)
    assert asked == [("GET", "/v1/models", f"Bearer {KEY}")]


def test_a_provider_that_is_not_there_and_one_of_another_protocol(tmp_path: Path) -> None:
    with provider(200, {"data": []}) as (url, asked):
        given = {"model_family": "anthropic", "model_api_base": f"{url}/anthropic", "model_api_key": KEY}
        only(services.models(settings_of(tmp_path, **given)), "ok")
        assert asked == [("GET", "/anthropic/v1/models", KEY)]
    gone = only(services.models(settings_of(tmp_path, **given)), "fault")
    assert "cannot be reached" in gone.text
    assert "HTTPS_PROXY" in gone.fix
    embedding = {"embedding_family": "openai", "embedding_name": "e", "embedding_api_base": url}
    findings = list(services.models(settings_of(tmp_path, **embedding, embedding_api_key=KEY)))
    assert only(findings, "fault").subject == "embedding"
    assert KEY not in str(findings)


@pytest.mark.requirement("BR-CONF-017", "BR-CONF-020")
def test_a_broker_that_answers_and_one_that_does_not(tmp_path: Path, redis_url: str) -> None:
    assert only(services.broker(settings_of(tmp_path, work_queue="celery", redis_url=redis_url)), "ok")
    gone = f"redis://:{KEY}@127.0.0.1:1/0"
    finding = only(services.broker(settings_of(tmp_path, work_queue="celery", redis_url=gone)), "fault")
    assert "Redis" in finding.text
    assert KEY not in str(finding)


@pytest.mark.requirement("BR-CONF-017", "BR-CONF-020")
def test_a_database_that_answers_and_one_that_does_not(tmp_path: Path, neo4j_service: dict[str, str]) -> None:
    given = {name.lower(): value for name, value in neo4j_service.items()}
    well = only(services.store(settings_of(tmp_path, storage="neo4j", **given)), "ok")
    assert well.text.startswith("Neo4j answers")
    for wrong in ({"neo4j_password": KEY}, {"neo4j_uri": "bolt://127.0.0.1:1"}, {"neo4j_database": "nosuch"}):
        finding = only(services.store(settings_of(tmp_path, storage="neo4j", **{**given, **wrong})), "fault")
        assert "NEO4J_PASSWORD" in finding.fix
        assert KEY not in str(finding)


def test_what_is_forgotten_at_the_end_is_a_warning(tmp_path: Path) -> None:
    assert only(services.store(settings_of(tmp_path, storage="memory")), "warning")
