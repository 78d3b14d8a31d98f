"""When something breaks, is busy, or goes away: what callers see, what the log tells, and who else notices."""

from __future__ import annotations

import errno
import io
import json
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

from brain import errors, logs
from brain.service.brain import Brain
from brain.service.recalls import RecallRun
from brain.times import FixedClock
from tests.http.conftest import Door, opened, said
from tests.http.test_access import cwt, guarded
from tests.service.processes import ServerProcess, started, wait_for
from tests.service.world import OWNER, served, until, with_model, world

SECRET = "a sentence nobody shall see in a log"


@contextmanager
def logging_to(stream: io.StringIO) -> Iterator[io.StringIO]:
    """Everything is logged there at debug level."""
    before = structlog.get_config()
    handlers, level = logging.getLogger().handlers, logging.getLogger().level
    logs.configure("debug", stream=stream)
    yield stream
    structlog.configure(**before)
    logging.getLogger().handlers = handlers
    logging.getLogger().setLevel(level)


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    """What is logged at debug level, as it would stand in the log."""
    with logging_to(io.StringIO()) as stream:
        yield stream


class FullDisk(io.StringIO):
    """A log that cannot be written."""

    tried = 0

    def write(self, _: str) -> int:
        self.tried += 1
        raise OSError(errno.ENOSPC, "No space left on device")


def parsed(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-004", "BR-HTTP-026", "BR-DIAG-027")
async def test_a_defect_is_told_in_general_and_logged_by_kind_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: io.StringIO
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(Brain, "space_info", broken)
    async with opened(tmp_path) as door:
        answer = await door.get("info")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/json"
    assert SECRET not in answer.text
    (line,) = [line for line in parsed(log_lines) if line["level"] == "error"]
    assert (line["event"], line["kind"]) == ("unexpected_failure", "ZeroDivisionError")
    assert line["request_id"] == answer.headers["x-request-id"]
    assert any("test_faults.py" in place for place in line["place"])
    assert SECRET not in log_lines.getvalue()


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-005", "BR-HTTP-006", "BR-HTTP-023")
@pytest.mark.parametrize(
    ("fault", "status"),
    [(errors.SerializationConflict(), 503), (errors.OutcomeUnknown(), 500), (errors.InternalError(), 500)],
)
async def test_a_store_that_is_busy_or_broken_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: errors.KipError, status: int
) -> None:
    async def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(Brain, "submit_formation", broken)
    async with opened(tmp_path) as door:
        answer = await door.post("formation", {"messages": [said("x")]})
    assert answer.status_code == status
    assert answer.json()["error"]["data"]["code"] == fault.code
    assert ("retry-after" in answer.headers) is (status == 503)


@pytest.mark.anyio
@pytest.mark.requirement("BR-DIAG-027", "BR-HTTP-029", "BR-HTTP-026")
async def test_logs_are_json_lines_that_follow_a_request_into_its_pass_and_hold_no_content(
    tmp_path: Path, log_lines: io.StringIO
) -> None:
    home = world(tmp_path)
    async with served(home.application) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        for text in (SECRET, f"{SECRET} [break]", f"{SECRET} [fail]"):
            await client.post(
                "/v1/home/formation",
                json={"messages": [said(text)]},
                headers={"x-request-id": f"follow-{len(text)}"},
            )
        await client.post("/v1/home/recall", json={"query": SECRET}, headers={"x-request-id": "ask-1"})
        # "submitted" is also how an input begins, so the log says when all three passes have ended.
        await until(lambda: log_lines.getvalue().count('"pass_ended"') == 3)
        assert home.statuses() == ["completed", "submitted", "submitted"]
    lines = parsed(log_lines)
    assert SECRET not in log_lines.getvalue()
    ended = {line["request_id"]: line for line in lines if line["event"] == "pass_ended"}
    assert set(ended) == {f"follow-{len(SECRET)}", f"follow-{len(SECRET) + 8}", f"follow-{len(SECRET) + 7}"}
    assert [line["request_id"] for line in lines if line["event"] == "recall_ended"] == ["ask-1"]
    for line in lines:
        assert {"event", "level", "at"} <= set(line)


@pytest.mark.requirement("BR-DIAG-027")
@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-026")
async def test_a_log_that_cannot_be_written_ends_neither_requests_nor_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with logging_to(FullDisk()) as stream:
        async with opened(tmp_path) as door:
            assert (await door.formed(said("I live in Lisbon.")))["status"] == "completed"
            monkeypatch.setattr(Brain, "space_info", lambda *_: 1 / 0)
            assert (await door.get("info")).status_code == 500
            assert (await door.formed(said("I work for Acme.")))["status"] == "completed"
        assert isinstance(stream, FullDisk)
        assert stream.tried > 3


def test_lines_of_other_libraries_are_told_without_their_words(log_lines: io.StringIO) -> None:
    logging.getLogger("elsewhere").warning("%s", SECRET)
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("elsewhere").exception(SECRET)
    logging.getLogger("elsewhere").info("not at all")
    lines = parsed(log_lines)
    assert [(line["event"], line["logger"], line["level"]) for line in lines] == [
        ("foreign_log", "elsewhere", "warning"),
        ("foreign_log", "elsewhere", "error"),
    ]
    assert lines[1]["kind"] == "ValueError"
    assert SECRET not in log_lines.getvalue()


@pytest.mark.slow
@pytest.mark.requirement("BR-RECALL-019", "BR-HTTP-022")
def test_a_client_that_hangs_up_frees_its_places_and_ends_its_recall(tmp_path: Path) -> None:
    with started(tmp_path / "spaces", llm_max_concurrency=1) as server:
        server.post("/admin/create_space", {"user": OWNER, "space_id": "home", "tier": 3})
        for number in (1, 2):
            hung_up(server, f"who is it? [slow 20] {number}")
        wait_for(lambda: _answers(server), 5)
        records = server.get("/v1/home/conversations?collection=recall")
        assert [record["status"] for record in records] == ["cancelled", "cancelled", "completed"]
        assert records[0]["failed_reason"] == "cancelled: nobody waited for the answer any more"


def hung_up(server: ServerProcess, query: str) -> None:
    """Ask, and hang up while the model is thinking."""
    body = json.dumps({"query": query}).encode()
    head = f"POST /v1/home/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    before = len(server.get("/v1/home/conversations?collection=recall"))
    with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as line:
        line.sendall(head + body)
        wait_for(lambda: len(server.get("/v1/home/conversations?collection=recall")) > before, 5)
        full = httpx.post(f"{server.url}/v1/home/recall", json={"query": "me too"}, timeout=10)
        assert full.status_code == 429
    wait_for(lambda: all(r["status"] != "working" for r in server.get("/v1/home/conversations?collection=recall")), 5)


def _answers(server: ServerProcess) -> bool:
    return httpx.post(f"{server.url}/v1/home/recall", json={"query": "who?"}, timeout=10).status_code == 200


@pytest.mark.anyio
async def test_a_client_that_leaves_while_it_sends_is_no_defect(tmp_path: Path, log_lines: io.StringIO) -> None:
    application = with_model(tmp_path, None)
    async with served(application) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/home/formation",
            "raw_path": b"/v1/home/formation",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
            "app": application.http,
            "state": {},
        }
        await application.http(scope, receive, send)
        assert sent == []
    assert [line for line in parsed(log_lines) if line["level"] in {"error", "warning"}] == []
    assert [line["event"] for line in parsed(log_lines) if line["event"] == "client_left"] == ["client_left"]


@pytest.mark.anyio
async def test_a_recall_whose_process_ended_is_told_as_failed(tmp_path: Path) -> None:
    clock = FixedClock(1_789_862_400_000)
    home = world(tmp_path, clock=clock)
    home.create()
    RecallRun(home.application.spaces.get("home"), clock, query="who?", user="x")
    async with served(home.application) as client:
        door = Door(client, "home")
        assert (await door.result("conversations/1?collection=recall"))["status"] == "working"
        clock.advance(11 * 60_000)
        for path in ("conversations/1", "conversations/1/delta"):
            told = await door.result(f"{path}?collection=recall")
            assert told["status"] == "failed"
            assert told["failed_reason"].startswith("interrupted: ")
        assert (await door.result("conversations?collection=recall"))[0]["status"] == "failed"


@pytest.mark.anyio
@pytest.mark.requirement("BR-AUTH-025")
async def test_an_outsider_cannot_tell_a_space_that_cannot_be_read_from_a_missing_one(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        broken = door.application.settings.local_db_path / "broken.db"
        broken.write_bytes(b"no database")
        for credential in (None, "STjunk", "x" * 80, cwt("elsewhere", "*"), door.credentials["home"]["token *"]):
            answer = await door.ask("GET", "/v1/broken/info", credential)
            assert (answer.status_code, answer.json()) == (401, {"error": {"message": "authentication failed"}})
        assert (await door.ask("GET", "/v1/broken/info", cwt("*", "*"))).status_code == 500
