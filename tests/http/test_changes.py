"""The change stream: every commit once and in order, by page or as events, across processes, as a reader may see it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from structlog.testing import capture_logs

from brain.app import Application, build
from brain.kip.governance.control import Governor
from brain.kip.governance.plane import Policy, Rule, Scope
from brain.service.hosting import HOST
from tests.http.conftest import Door, opened
from tests.http.test_access import cwt, guarded
from tests.service.processes import ServerProcess, started
from tests.service.world import OWNER, served, settings_for

pytestmark = pytest.mark.anyio

PERSON = 'UPSERT CONCEPT ?who { MATCH {type: "Person", key: :who} SET FIELDS {name: :who} }'
FOLLOW = {"accept": "text/event-stream"}


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    async with opened(tmp_path) as opened_door:
        yield opened_door


async def make(door: Door, *names: str) -> None:
    for name in names:
        done = await door.post("execute_kip", {"command": PERSON, "parameters": {"who": name}})
        assert done.json()["status"] == "succeeded", done.text


async def page(door: Door, **query: Any) -> tuple[list[dict[str, Any]], str]:
    answer = await door.get("changes", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"], answer.json()["next_cursor"]


def seqs(envelopes: list[dict[str, Any]]) -> list[int]:
    return [envelope["space_seq"] for envelope in envelopes]


async def test_pages_hold_every_commit_once_and_in_order_whatever_their_size(door: Door) -> None:
    await make(door, *"abcdef")
    whole, end = await page(door)
    assert seqs(whole) == list(range(1, len(whole) + 1))
    assert whole[-1]["changes"][0]["op"] == "create"
    for limit in (1, 2, 4):
        read: list[int] = []
        cursor = None
        while True:
            rows, cursor = await page(door, limit=limit, **({} if cursor is None else {"cursor": cursor}))
            if not rows:
                break
            assert len(rows) <= limit
            read += seqs(rows)
        assert read == seqs(whole)
    assert await page(door, cursor=end) == ([], end)
    await make(door, "g")
    rows, _ = await page(door, cursor=end)
    assert len(rows) == 1


async def test_a_stream_begins_behind_a_sequence_or_now(door: Door) -> None:
    await make(door, "a", "b")
    whole, _ = await page(door)
    rows, _ = await page(door, after=len(whole) - 1)
    assert seqs(rows) == [len(whole)]
    rows, cursor = await page(door, after="now")
    assert rows == []
    await make(door, "c")
    assert len((await page(door, cursor=cursor))[0]) == 1


async def test_who_waits_is_answered_by_the_next_commit_of_another_process(door: Door, tmp_path: Path) -> None:
    _, cursor = await page(door, after="now")
    async with served(build(settings_for(tmp_path))) as other:
        found: list[Any] = []

        async def ask() -> None:
            found.extend((await page(door, cursor=cursor, wait=20))[0])

        begun = time.monotonic()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(0.3)
            assert not found
            await make(Door(other, "home"), "elsewhere")
    assert found
    assert time.monotonic() - begun < 10


async def test_waiting_in_vain_ends_in_time(door: Door) -> None:
    begun = time.monotonic()
    assert (await page(door, after="now", wait=1))[0] == []
    assert 0.9 < time.monotonic() - begun < 5


@pytest.mark.requirement("BR-HTTP-006", "BR-HTTP-004")
async def test_a_cursor_that_is_not_of_this_stream_is_refused_in_words(door: Door) -> None:
    await make(door, "a")
    await door.client.post("/admin/create_space", json={"user": OWNER, "space_id": "other", "tier": 1})
    _, foreign = await page(Door(door.client, "other"))
    listed = (await door.post("execute_kip_readonly", {"command": "HISTORY SPACE LIMIT 1"})).json()["results"][0]
    for query, code in (
        ({"cursor": "made-up"}, "CursorInvalid"),
        ({"cursor": foreign}, "CursorInvalid"),
        ({"cursor": listed["next_cursor"]}, "CursorTypeMismatch"),
    ):
        for headers in ({}, FOLLOW):
            answer = await door.get("changes", params=query, headers=headers)
            assert answer.status_code == 400
            assert answer.headers["content-type"] == "application/json"
            assert answer.json()["error"]["data"]["code"] == code
    for query in (
        {"after": "yesterday"},
        {"after": "-1"},
        {"limit": "few"},
        {"wait": "x"},
        {"cursor": "a", "after": "1"},
    ):
        assert (await door.get("changes", params=query)).status_code == 400
    assert (await door.client.get("/v1/nowhere/changes", headers=FOLLOW)).status_code == 404


@pytest.mark.requirement("BR-HTTP-006")
async def test_a_cursor_of_a_history_that_is_no_more_is_expired(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    async with opened(folder) as door:
        await make(door, "a", "b")
        _, ahead = await page(door)
        key = space_of(door.client).engine.cursor_key
    async with opened(tmp_path / "two") as door:  # as if it had been brought back from an older copy
        space_of(door.client).engine.cursor_key = key
        answer = await door.get("changes", params={"cursor": ahead})
        assert answer.status_code == 400
        assert answer.json()["error"]["data"]["code"] == "CursorExpired"
        assert "AFTER SEQ" in answer.json()["error"]["message"]


def space_of(client: httpx.AsyncClient) -> Any:
    transport: Any = client._transport
    app: Starlette = transport.app
    return app.state.memory._spaces.get("home")


async def test_what_is_hidden_from_a_reader_is_not_in_its_stream(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        path = "/v1/home/execute_kip"
        for name in ("secret", "open"):
            done = await door.ask(
                "POST", path, cwt("home", "*", "owner"), {"command": PERSON, "parameters": {"who": name}}
            )
            [change] = [one for one in done.json()["results"][0]["result"]["changes"] if one["kind"] == "concept"]
            if name == "secret":
                hidden = change["id"]
        engine = door.application.spaces.get("home").engine
        denied = Rule("deny", frozenset({"discover", "read"}), frozenset({"bob"}), scope=Scope(ids=frozenset({hidden})))
        Governor(engine).set_policy(HOST, Policy(rules=(denied,)))
        shown: dict[str, str] = {}
        for who in ("owner", "bob"):
            answer = await door.ask("GET", "/v1/home/changes", cwt("home", "read", who))
            assert answer.status_code == 200, answer.text
            shown[who] = answer.text
        assert f'"{hidden}"' in shown["owner"]
        assert f'"{hidden}"' not in shown["bob"]


async def test_a_reader_that_may_not_read_history_is_refused(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        engine = door.application.spaces.get("home").engine
        denied = Rule("deny", frozenset({"read_history"}), frozenset({"bob"}))
        Governor(engine).set_policy(HOST, Policy(rules=(denied,)))
        assert (await door.ask("GET", "/v1/home/changes", cwt("home", "read", "bob"))).status_code == 403
        assert (await door.ask("GET", "/v1/home/changes", cwt("home", "read", "eve"))).status_code == 200


# --- events -----------------------------------------------------------------------------------------------------------


class Events:
    """Reads a stream of events as a browser would."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.last_id = ""

    def next(self) -> tuple[str, Any]:
        """The next event with data: its kind and what it carries."""
        kind, data = "message", list[str]()
        for line in self._lines:
            if not line:
                if data:
                    return kind, json.loads("\n".join(data))
                kind = "message"
            elif line.startswith("id: "):
                self.last_id = line[4:]
            elif line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
        raise EOFError


@contextlib.contextmanager
def followed(url: str, last_id: str | None = None, **query: Any) -> Iterator[Events]:
    headers = FOLLOW if last_id is None else {**FOLLOW, "last-event-id": last_id}
    with httpx.stream("GET", f"{url}/v1/home/changes", headers=headers, params=query, timeout=30) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Events(answer.iter_lines())


def wrote(server: ServerProcess, name: str) -> None:
    done = httpx.post(
        f"{server.url}/v1/home/execute_kip", json={"command": PERSON, "parameters": {"who": name}}, timeout=20
    )
    assert done.json()["status"] == "succeeded", done.text


@pytest.fixture(scope="module")
def served_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, Path]]:
    folder = tmp_path_factory.mktemp("changes") / "spaces"
    with started(folder, "serve", module="brain", http_max_concurrency=4) as server:
        server.post("/admin/create_space", {"user": OWNER, "space_id": "home", "tier": 3})
        wrote(server, "first")
        yield server, folder


def test_a_follower_sees_what_was_and_what_comes_also_from_another_process(
    served_home: tuple[ServerProcess, Path],
) -> None:
    server, folder = served_home
    whole = [envelope["space_seq"] for envelope in httpx.get(f"{server.url}/v1/home/changes").json()["result"]]
    with followed(server.url) as events:
        seen = [events.next() for _ in whole]
        assert [kind for kind, _ in seen] == ["change"] * len(whole)
        assert [envelope["space_seq"] for _, envelope in seen] == whole
        wrote(server, "while following")
        assert events.next()[1]["space_seq"] == whole[-1] + 1
        with started(folder, "serve", module="brain") as other:
            wrote(other, "in another process")
            assert events.next()[1]["space_seq"] == whole[-1] + 2


def test_a_follower_that_comes_again_misses_nothing_and_sees_nothing_twice(
    served_home: tuple[ServerProcess, Path],
) -> None:
    server, _ = served_home
    seen: list[int] = []
    last_id = None
    total = len(httpx.get(f"{server.url}/v1/home/changes").json()["result"])
    while len(seen) < total:
        with followed(server.url, last_id, limit=3) as events:  # it leaves in the middle of a page
            seen += [events.next()[1]["space_seq"] for _ in range(min(2, total - len(seen)))]
            last_id = events.last_id
    assert seen == list(range(1, total + 1))


def test_more_followers_than_requests_at_a_time_leave_room_for_requests(
    served_home: tuple[ServerProcess, Path],
) -> None:
    server, _ = served_home
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(followed(server.url, after="now"))
        for _ in range(3):
            assert httpx.get(f"{server.url}/info", timeout=10).status_code == 200
        refused = httpx.get(f"{server.url}/v1/home/changes", headers=FOLLOW, timeout=10)
        assert refused.status_code == 503
        assert "retry-after" in refused.headers
    deadline = time.monotonic() + 10
    while True:  # those who left have freed their places
        with contextlib.suppress(AssertionError), followed(server.url, after="now"):
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_stop_ends_streams_at_once(tmp_path: Path) -> None:
    with started(tmp_path / "spaces", "serve", module="brain") as server:
        server.post("/admin/create_space", {"user": OWNER, "space_id": "home", "tier": 1})
        with followed(server.url, after="now") as events:
            begun = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - begun < 8
            with pytest.raises(EOFError):
                events.next()


async def streamed(
    application: Application, headers: dict[str, str], seconds: float, leaves: bool = True
) -> list[bytes]:
    """What a follower is sent until it leaves after so long, over the bare interface."""
    sent: list[bytes] = []
    left = asyncio.Event()
    asked = False

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/v1/home/changes",
        "raw_path": b"/v1/home/changes",
        "query_string": b"after=now",
        "headers": [(b"host", b"localhost"), *((k.encode(), v.encode()) for k, v in headers.items())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    with anyio.fail_after(30):
        task = asyncio.create_task(application.http(scope, receive, send))
        if leaves:
            await asyncio.sleep(seconds)
            left.set()
        await task
    return sent


async def test_a_client_that_leaves_frees_everything(tmp_path: Path) -> None:
    application = build(settings_for(tmp_path))
    async with served(application) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        state = application.http.state
        before = len(asyncio.all_tasks())
        await asyncio.gather(*(streamed(application, FOLLOW, 0.5) for _ in range(3)))
        assert state.changes.followed() == 0
        assert state.followers._taken == 0
        assert state.request_budget._taken == 0
        await asyncio.sleep(0.05)
        assert len(asyncio.all_tasks()) == before


async def test_who_waits_in_a_space_that_took_the_place_of_a_longer_one_waits_for_its_own_commits(
    tmp_path: Path,
) -> None:
    application = build(settings_for(tmp_path))
    async with served(application) as client:
        door = Door(client, "home")
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        await make(door, *"abcdef")
        changes, space = application.http.state.changes, {"user": OWNER, "space_id": "home", "tier": 1}
        former = asyncio.create_task(changes.wait("home", 10**6, 20))
        await asyncio.sleep(0.3)
        assert (await client.post("/admin/home/delete_space", json={"confirm": "home"})).status_code == 200
        assert (await client.post("/admin/create_space", json=space)).status_code == 200
        head = len((await page(door))[0])
        await asyncio.sleep(0.3)
        assert not await changes.wait("home", head, 0.5)
        assert former.done()
        assert await former  # to find out that its history is none any more


async def test_a_space_that_cannot_be_looked_at_for_a_while_fills_no_log(tmp_path: Path) -> None:
    application = build(settings_for(tmp_path))
    async with served(application) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        waits = asyncio.create_task(application.http.state.changes.wait("home", 10**6, 2.0))
        await asyncio.sleep(0.3)
        with capture_logs() as lines:
            for _ in range(2):
                with application.spaces.barred("home"):
                    await asyncio.sleep(0.7)
                await asyncio.sleep(0.3)
        assert [line["event"] for line in lines].count("change_look_failed") == 2
        assert not await waits


@pytest.mark.requirement("BR-AUTH-012")
async def test_a_stream_ends_when_its_token_does_and_beats_while_it_is_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.http.changes._HEARTBEAT_S", 0.2)
    async with guarded(tmp_path) as door:
        minted = await door.managed("POST", "/v1/home/management/add_space_token", {"scope": "read", "name": "r"})
        headers = {**FOLLOW, "authorization": f"Bearer {minted['token']}"}
        async with asyncio.TaskGroup() as tasks:
            stream = tasks.create_task(streamed(door.application, headers, 0, leaves=False))
            await asyncio.sleep(0.9)
            assert not stream.done()
            await door.managed("POST", "/v1/home/management/revoke_space_token", {"name": "r"})
        text = b"".join(stream.result()).decode()
        assert text.count(": still here") >= 2
        assert text.endswith('event: error\ndata: {"error":{"message":"authentication failed"}}\n\n')


@pytest.mark.requirement("BR-AUTH-012")
async def test_a_stream_ends_with_a_word_also_where_others_of_its_address_failed_too_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.http.changes._HEARTBEAT_S", 0.2)
    async with guarded(tmp_path, auth_failures_per_minute=1) as door:
        minted = await door.managed("POST", "/v1/home/management/add_space_token", {"scope": "read", "name": "r"})
        headers = {**FOLLOW, "authorization": f"Bearer {minted['token']}"}
        async with asyncio.TaskGroup() as tasks:
            stream = tasks.create_task(streamed(door.application, headers, 0, leaves=False))
            await asyncio.sleep(0.3)
            door.application.http.state.auth_failures.note("127.0.0.1")
            await door.managed("POST", "/v1/home/management/revoke_space_token", {"name": "r"})
        text = b"".join(stream.result()).decode()
        assert text.endswith('event: error\ndata: {"error":{"message":"authentication failed"}}\n\n')


@pytest.mark.requirement("BR-AUTH-012")
async def test_who_waits_with_a_token_that_is_revoked_meanwhile_is_shown_nothing(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        minted = await door.managed("POST", "/v1/home/management/add_space_token", {"scope": "read", "name": "r"})
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(door.ask("GET", "/v1/home/changes?after=now&wait=20", minted["token"]))
            await asyncio.sleep(0.5)
            await door.managed("POST", "/v1/home/management/revoke_space_token", {"name": "r"})
            assert not waiting.done()
            await door.managed("POST", "/v1/home/get_or_init_user", {"user": "somebody"})
        assert (waiting.result().status_code, "result" in waiting.result().json()) == (401, False)


async def test_a_stream_that_is_ended_for_a_moment_says_that_it_may_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brain.http.changes._HEARTBEAT_S", 0.2)
    async with guarded(tmp_path) as door:
        minted = await door.managed("POST", "/v1/home/management/add_space_token", {"scope": "read", "name": "r"})
        headers = {**FOLLOW, "authorization": f"Bearer {minted['token']}"}
        async with asyncio.TaskGroup() as tasks:
            stream = tasks.create_task(streamed(door.application, headers, 0, leaves=False))
            await asyncio.sleep(0.3)
            with door.application.spaces.barred("home"):
                await asyncio.wait([stream])
        last = b"".join(stream.result()).decode().rpartition("event: error\ndata: ")[2]
        assert json.loads(last)["error"]["data"]["retry"] == {"class": "safe_same_request", "after_ms": 1_000}


async def test_head_gives_headers_only_and_does_not_follow(door: Door) -> None:
    answer = await door.client.head("/v1/home/changes", headers=FOLLOW)
    assert (answer.status_code, answer.content) == (200, b"")
