"""Full disks, folders that are closed to us and files that are no Spaces: told apart, and nothing half-kept."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import httpx
import pytest

from brain import errors
from brain.app import build
from brain.settings import SettingsError
from brain.store.base import SpaceMissing
from brain.store.sqlite import SqliteStore
from tests.http.conftest import opened, said
from tests.http.test_faults import log_lines, parsed
from tests.service.world import OWNER, served, settings_for
from tests.store import disk

__all__ = ["log_lines"]  # a fixture, found here by its name


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, as the service does."""
    return "asyncio"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "spaces")
    yield made
    made.close()


@pytest.mark.requirement("BR-STORE-002", "BR-STORE-013")
def test_a_commit_that_found_no_room_is_undone_and_says_so(store: SqliteStore) -> None:
    space = store.create("home", now_ms=0)
    with disk.full(), pytest.raises(errors.InternalError) as failure, space.transaction() as tx:
        tx.set("kind", "key", {"a": "b" * 100_000})
    assert "disk is full; nothing was stored" in failure.value.message
    assert failure.value.retry is errors.Retry.SAFE_SAME_REQUEST
    with space.snapshot() as now:
        assert now.get("kind", "key") is None
    with space.transaction() as tx:
        tx.set("kind", "key", {"a": "c"})
    space.close()
    with store.open("home").snapshot() as now:
        assert now.get("kind", "key") == {"a": "c"}


@pytest.mark.requirement("BR-STORE-002")
def test_what_outgrows_memory_before_its_commit_is_undone_too(store: SqliteStore) -> None:
    space = store.create("home", now_ms=0)
    with disk.full(), pytest.raises(errors.InternalError, match="disk is full"), space.transaction() as tx:
        deque((tx.set("kind", str(number), {"a": "b" * 100_000}) for number in range(200)), maxlen=0)
    with space.snapshot() as now:
        assert now.get("kind", "0") is None


@pytest.mark.requirement("BR-SPACE-004", "BR-STORE-002")
def test_a_space_there_is_no_room_for_is_not_made_by_half(store: SqliteStore, tmp_path: Path) -> None:
    with disk.full(), pytest.raises(errors.InternalError, match="disk is full"):
        store.create("home", now_ms=0)
    assert list((tmp_path / "spaces").iterdir()) == []
    assert store.create("home", now_ms=0).head() == 0


@pytest.mark.requirement("BR-SPACE-003", "BR-STORE-013")
@pytest.mark.parametrize("suffix", [".db", "-wal", "-shm"])
def test_a_file_that_may_not_be_opened_is_not_taken_for_one_that_is_missing(store: SqliteStore, suffix: str) -> None:
    store.create("home", now_ms=0).close()
    with disk.denied(suffix), pytest.raises(errors.InternalError) as failure:
        store.open("home")
    assert re.match("The Space.s file cannot be (opened|written)", failure.value.message)
    assert failure.value.retry is errors.Retry.SAFE_SAME_REQUEST
    with disk.denied(suffix), pytest.raises(SpaceMissing):
        store.open("other")
    assert store.open("home").head() == 0


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-005", "BR-SPACE-003")
async def test_every_route_tells_a_closed_file_from_a_missing_space(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    async with served(build(settings_for(tmp_path))) as client:
        with disk.denied(".db"):
            for space, status in {"home": 503, "other": 404}.items():
                for answer in await _routes(client, space):
                    assert answer.status_code == status, answer.text
                    assert ("retry-after" in answer.headers) is (status == 503)
        assert (await client.get("/v1/home/info")).status_code == 200


async def _routes(client: httpx.AsyncClient, space: str) -> list[httpx.Response]:
    return [
        await client.get(f"/v1/{space}/info"),
        await client.get(f"/v1/{space}/conversations"),
        await client.post(f"/v1/{space}/formation", json={"messages": [said("I live in Porto.")]}),
        await client.post(f"/v1/{space}/recall", json={"query": "Where?"}),
        await client.post(f"/v1/{space}/execute_kip_readonly", json={"command": "DESCRIBE PROTOCOL"}),
    ]


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-005", "BR-FORM-003")
async def test_a_full_disk_is_named_and_the_same_request_works_when_there_is_room(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        input_, made = {"messages": [said("I live in Porto.")]}, {"user": OWNER, "space_id": "new", "tier": 1}
        with disk.full():
            for answer in (
                await door.post("formation", input_),
                await door.client.post("/admin/create_space", json=made),
            ):
                assert answer.status_code == 503, answer.text
                assert int(answer.headers["retry-after"]) >= 1
                assert "disk is full" in answer.json()["error"]["message"]
        assert (await door.result("info"))["conversations"] == 0
        assert (await door.client.post("/admin/create_space", json=made)).status_code == 200
        assert (await door.result("formation", input_))["conversation"] == 1
        assert (await door.ended(1))["status"] == "completed"


@pytest.mark.anyio
@pytest.mark.requirement("BR-HTTP-005")
@pytest.mark.parametrize("is_known", [False, True], ids=["who writes is new", "who writes is known"])
async def test_known_facts_that_meet_a_full_disk_may_be_sent_again(tmp_path: Path, is_known: bool) -> None:
    lives = {"msg": 1, "subject": "I", "predicate": "lives_in", "object": "Lisbon"}
    document = {"messages": [said("I live in Lisbon.")], "document": {"claims": [lives]}, "idempotency_key": "k"}
    person = 'UPSERT CONCEPT ?p { MATCH {type: "Person", key: :who} SET FIELDS {name: :who} }'
    written = {
        "command": person,
        "parameters": {"who": "bo"},
        "execution": {"mode": "sequence", "idempotency_key": "k"},
    }
    async with opened(tmp_path) as door:
        if is_known:
            await door.result("remember", {**document, "idempotency_key": "before"})
            await door.post("execute_kip", {**written, "parameters": {"who": "al"}, "execution": {"mode": "sequence"}})
        with disk.full():
            answer = await door.post("remember", document)
            assert (answer.status_code, int(answer.headers["retry-after"]) >= 1) == (503, True), answer.text
            response = (await door.post("execute_kip", written)).json()
            errors_ = [response.get("error"), *(one.get("error") for one in response["results"])]
            [error] = [one for one in errors_ if one is not None]
            assert error["retry"]["class"] == "safe_same_request"
            assert "disk is full" in error["message"]
        assert (await door.result("remember", document))["wrote"] > 0
        assert (await door.post("execute_kip", written)).json()["status"] == "succeeded"


@pytest.mark.anyio
async def test_a_search_in_vain_is_answered_also_where_it_cannot_be_counted(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        with disk.full():
            found = await door.result("probe", {"query": "zzz"})
        assert found == {"found": False, "negative_cached": False, "search_exhaustive": True}
        assert not (await door.result("probe", {"query": "zzz"}))["negative_cached"]
        assert (await door.result("probe", {"query": "zzz"}))["negative_cached"]


@pytest.mark.anyio
@pytest.mark.requirement("BR-STORE-024", "BR-HTTP-004")
@pytest.mark.parametrize("content", [b"", b"not a database" * 100, b"SQLite format 3\0" + b"\0" * 100])
async def test_a_file_that_is_no_space_is_called_that(tmp_path: Path, content: bytes) -> None:
    async with opened(tmp_path) as door:
        (tmp_path / "odd.db").write_bytes(content)
        answer = await door.client.get("/v1/odd/info")
        assert answer.status_code == 500
        assert answer.json()["error"]["message"].startswith("space odd cannot be opened: the file of 'odd' is no ")
        assert (await door.get("info")).status_code == 200
        assert (tmp_path / "odd.db").read_bytes() == content


@pytest.fixture
def ordinary() -> Iterator[Path]:
    """A folder of an ordinary user's, as whom the test goes on: nothing is closed to root."""
    root, nobody = os.geteuid() == 0, 65_534
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, nobody, nobody)
            os.seteuid(nobody)
        yield Path(folder)
        for path in (Path(folder) / "spaces", *Path(folder).glob("spaces/*")):
            path.chmod(0o700)
        if root:
            os.seteuid(0)


@pytest.mark.requirement("BR-SPACE-003", "BR-STORE-013")
@pytest.mark.parametrize(("mode", "opens"), [(0o500, False), (0o300, True), (0o000, False)])
def test_a_folder_that_is_closed_to_us_holds_no_fewer_spaces(ordinary: Path, mode: int, opens: bool) -> None:
    folder = ordinary / "spaces"
    store = SqliteStore(folder)
    store.create("home", now_ms=0).close()
    folder.chmod(mode)
    with nullcontext() if opens else pytest.raises(errors.InternalError, match=r"cannot be (opened|written)"):
        store.open("home").close()
    with pytest.raises(SpaceMissing if mode else errors.InternalError):
        store.open("other")
    with pytest.raises(errors.InternalError) as refused:
        store.create("new", now_ms=0)
    assert refused.value.retry is errors.Retry.SAFE_SAME_REQUEST
    with pytest.raises(PermissionError):
        SqliteStore(folder)
    folder.chmod(0o700)
    assert store.spaces() == ["home"]
    assert [path.name for path in folder.iterdir()] == ["home.db"]


@pytest.mark.requirement("BR-SPACE-003", "BR-STORE-013")
def test_a_file_that_may_be_read_only_takes_no_write(ordinary: Path) -> None:
    store = SqliteStore(ordinary / "spaces")
    store.create("home", now_ms=0).close()
    (ordinary / "spaces" / "home.db").chmod(0o400)
    space = store.open("home")
    with pytest.raises(errors.InternalError, match="cannot be written"), space.transaction() as tx:
        tx.set("kind", "key", {})
    space.close()
    (ordinary / "spaces" / "home.db").chmod(0o000)
    with pytest.raises(errors.InternalError, match="cannot be opened") as failure:
        store.open("home")
    assert isinstance(failure.value.__cause__, PermissionError)


@pytest.mark.requirement("BR-OPS-006")
@pytest.mark.parametrize("place", ["file", "file/below", "/proc/spaces"])
def test_a_folder_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SettingsError, match=r"LOCAL_DB_PATH: the folder .* cannot be read and written"):
        build(settings_for(tmp_path / place))
    environment = {**os.environ, "LOCAL_DB_PATH": str(tmp_path / place), "LISTEN_ADDR": "127.0.0.1:0"}
    ended = subprocess.run(
        [sys.executable, "-m", "brain", "serve"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("cannot start: LOCAL_DB_PATH: ")
    assert "Traceback" not in ended.stderr


@pytest.mark.requirement("BR-OPS-006")
def test_a_folder_is_refused_when_no_file_can_be_made_in_it_but_not_when_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(number: int) -> None:
        def make(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr("tempfile.TemporaryFile", make)

    for number in (errno.EROFS, errno.EACCES):
        fails(number)
        with pytest.raises(OSError, match=os.strerror(number)):
            SqliteStore(tmp_path)
    fails(errno.ENOSPC)
    SqliteStore(tmp_path).close()


@pytest.mark.anyio
@pytest.mark.requirement("BR-DIAG-027")
async def test_the_log_says_why_a_file_could_not_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: io.StringIO
) -> None:
    async with opened(tmp_path):
        pass

    def may_not(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    async with served(build(settings_for(tmp_path))) as client:
        with disk.denied(".db"), monkeypatch.context() as patched:
            patched.setattr("brain.store.sqlite.failures.Path.open", may_not)
            assert (await client.get("/v1/home/info")).status_code == 503
    (line,) = [line for line in parsed(log_lines) if line["event"] == "store_failed"]
    assert (line["cause"], line["reason"]) == ("PermissionError", "Permission denied")
