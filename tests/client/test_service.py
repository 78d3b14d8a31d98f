"""Both clients against the real service: every kind of request, refusals, and a stream over a restart."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from brain.client import (
    AsyncClient,
    Busy,
    Client,
    Conflict,
    ConnectionLost,
    InvalidRequest,
    KipFailed,
    NotAuthenticated,
    NotFound,
    NotInTime,
    Retries,
    RunFailed,
    Space,
)
from brain.client.types import Message
from brain.demo.tour import serving
from tests.http.test_access import MANAGER, PUBLIC_KEY, cwt
from tests.http.test_archives import PRIVATE
from tests.service.processes import started
from tests.service.world import OWNER, settings_for

ANA: list[Message] = [{"role": "user", "name": "Ana Ruiz", "content": "I live in Lisbon."}]
LIVES = {"claims": [{"msg": 1, "subject": "I", "predicate": "lives_in", "object": "Lisbon"}]}
PERSON = 'UPSERT CONCEPT ?who { MATCH {type: "Person", key: :who} SET FIELDS {name: :who} }'


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = settings_for(
        tmp_path_factory.mktemp("client"),
        listen_addr="127.0.0.1:0",
        ed25519_pubkeys=(PUBLIC_KEY,),
        managers=(MANAGER,),
        metrics_addr="same",
        archive_signing_key=PRIVATE,
    )
    with serving(settings) as address:
        yield address


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Client]:
    with Client(url, token=lambda: cwt("*", "*")) as opened:
        yield opened


_made = iter(range(10_000))


@pytest.fixture
def home(client: Client) -> Space:
    name = f"home{next(_made)}"
    client.create_space(name, user=OWNER, tier=3)
    return client.space(name)


def test_a_conversation_is_formed_and_asked_about(home: Space) -> None:
    run = home.form(ANA, context={"counterparty": "ana"})
    record = home.ended(run["conversation"])
    assert record["status"] == "completed"
    answer = home.ask("Where does Ana live?")
    assert "Lisbon" in answer["answer"]
    assert answer["found"]
    assert "Lisbon" in home.recall("Where does Ana live?")["content"]
    assert home.probe("Lisbon")["found"]
    assert home.packet("Where does Ana live?")["found"]
    cycle = home.maintain("quick")
    assert home.ended(cycle["conversation"], "maintenance")["status"] == "completed"
    listed = home.conversations("formation", limit=1)
    assert (len(listed.rows), listed.next_cursor) == (1, None)
    assert home.conversation_delta(run["conversation"])["status"] == "completed"
    assert home.attention()["complete"]
    assert home.memory_status()["graph"]["concepts"] == home.space_info()["concepts"] == home.status()["concepts"]
    assert not home.formation_status()["formation_processing"]


def test_facts_are_written_and_read_without_a_model(home: Space) -> None:
    kept = home.remember(ANA, LIVES, key="k")
    assert home.remember(ANA, LIVES, key="k") == kept
    with pytest.raises(Conflict) as conflict:
        home.remember(ANA, {**LIVES, "summary": "other"}, key="k")
    assert conflict.value.code == "IdempotencyConflict"
    with pytest.raises(InvalidRequest) as refused:
        home.remember(ANA, {"claims": [{"msg": 2}]})
    assert refused.value.faults[0]["at"] == "claims[0]"
    made = home.write(PERSON, who="bo")
    assert made["handles"]["who"].startswith("C-")
    assert home.kip('FIND(?c.name) WHERE { ?c {type: "Person", key: :k} }', k="bo") == ["bo"]
    with pytest.raises(KipFailed) as failed:
        home.write('PURGE :id CONFIRM "PURGE"', id={"id": "C-1"})
    assert (failed.value.code, bool(failed.value.hint)) == ("NotAuthorized", True)
    both = home.execute_kip_readonly("DESCRIBE SPACE", "FIND(", mode="independent")
    assert [one["status"] for one in both["results"]] == ["succeeded", "failed"]
    define = home.execute_kip('DEFINE CONCEPT TYPE "Boat" {description: "A boat."}')
    assert define["status"] == "succeeded"
    assert home.schema_drafts()["symbols"][0]["name"] == "Boat"
    assert home.user("cy", "Cy Young")["name"] == "Cy Young"
    entity = home.kip('FIND(?c.id) WHERE { ?c {type: "Person", key: "bo"} }')[0]
    assert home.pin(entity)["pinned"]
    assert home.forget([entity], dry_run=True)["entities"][0]["existed"]


def test_a_space_is_managed(client: Client, home: Space) -> None:
    assert home.update_space(name="Home", public=True) is True
    assert home.space_info()["name"] == "Home"
    token = home.add_token("reader", "read")
    with Client(str(client._http.base_url), token=token["token"]) as reader:
        assert reader.space(home.id).space_info()["public"]
        with pytest.raises(NotAuthenticated):
            reader.space(home.id).form(ANA)
    assert [one["name"] for one in home.tokens()] == ["reader"]
    assert home.revoke_token(name="reader") is True
    assert home.update_tier(user=OWNER, tier=4)["tier"] == 4
    assert home.own_model() is None
    assert home.drop_own_model() is False
    assert home.flush()["space_seq"] >= 1
    assert home.keep_open(False) == {"kept_open": False}
    assert "closed" in home.close()
    with pytest.raises(InvalidRequest):
        home.restart_formation(99)
    assert home.delete(confirm=home.id)["space_id"] == home.id
    with pytest.raises(NotFound):
        home.space_info()


def test_a_space_goes_out_as_an_archive_and_comes_in_under_another_id(client: Client, home: Space) -> None:
    home.remember(ANA, LIVES)
    archive = home.export_space()
    brought = client.import_space(archive, f"{home.id}_again")
    assert brought["space_id"] == f"{home.id}_again"
    assert "Lisbon" in client.space(f"{home.id}_again").ask("Where does Ana live?")["answer"]
    with pytest.raises(InvalidRequest):
        client.import_space(archive[:-20], f"{home.id}_cut")


def test_the_service_tells_of_itself(client: Client) -> None:
    assert client.info()["name"] == "brain"
    assert "/v1/{space_id}/remember" in client.openapi()["paths"]
    assert client.skill().startswith("---") or "Recall" in client.skill()
    assert client.manual().lstrip().lower().startswith("<!doctype html")
    assert client.favicon()
    assert client.touch_icon()
    assert client.alive()
    assert "checks" in client.ready()
    assert "# TYPE" in client.metrics()
    client.create_space("twice", user=OWNER, tier=1)
    with pytest.raises(InvalidRequest, match="already exists"):
        client.create_space("twice", user=OWNER, tier=1)


def test_a_run_that_does_not_end_well_or_in_time_is_told(home: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidRequest):
        home.ended(77)
    record: dict[str, Any] = {"_id": 1, "status": "failed", "failed_reason": "model: gone"}
    monkeypatch.setattr(home, "conversation", lambda *_: record)
    with pytest.raises(RunFailed, match="model: gone"):
        home.ended(1)
    record["status"] = "working"
    with pytest.raises(NotInTime):
        home.ended(1, seconds=0.1)


def test_pages_and_waits_of_changes(home: Space) -> None:
    first = home.changes(limit=2)
    assert first.next_cursor is not None
    assert [row["space_seq"] for row in first.rows] == [1, 2]
    assert home.changes(first.next_cursor).rows == []
    place = home.changes(after="now").next_cursor
    home.write(PERSON, who="bo")
    assert [row["space_seq"] for row in home.changes(place, wait=10).rows] == [3, 4]  # the writer, and what it wrote


def test_a_service_that_is_not_there_is_no_answer(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:9", retries=Retries(attempts=2, first_s=0.01)) as nobody:
        with pytest.raises(ConnectionLost):
            nobody.info()
        with pytest.raises(ConnectionLost):
            next(nobody.space("home").follow())


def test_a_follower_is_told_when_its_credential_is_none(url: str) -> None:
    with Client(url, token="STjunk") as stranger, pytest.raises(NotAuthenticated):
        next(stranger.space("home0").follow())


def test_a_stream_goes_on_over_a_restart_and_misses_nothing(tmp_path: Path) -> None:
    """The service is killed, comes back at the same address, and commits were made meanwhile."""
    folder = tmp_path / "spaces"
    seen: list[int] = []
    with started(folder, "serve", module="brain") as server:
        address = server.url.removeprefix("http://")
        with Client(server.url) as writer:
            writer.create_space("home", user=OWNER, tier=3)
            writer.space("home").write(PERSON, who="a")
        patient = Client(server.url, retries=Retries(attempts=60, first_s=0.1, longest_s=0.3))
        wanted = threading.Event()

        def follow() -> None:
            with closing(patient.space("home").follow(limit=2)) as changes:
                for change in changes:
                    seen.append(change.seq)
                    if wanted.is_set() and change.seq >= goal:
                        return

        goal = 10**9
        reader = threading.Thread(target=follow, daemon=True)
        reader.start()
        _until(lambda: len(seen) >= 3)
        server.kill()
    with started(folder, "serve", module="brain") as elsewhere, Client(elsewhere.url) as writer:
        writer.space("home").write(PERSON, who="while it was gone")
    with (
        started(folder, "serve", module="brain", wait=False, listen_addr=address),
        Client(f"http://{address}", retries=Retries(attempts=100, first_s=0.1, longest_s=0.3)) as writer,
    ):
        goal = writer.space("home").changes().rows[-1]["space_seq"]
        wanted.set()
        writer.space("home").write(PERSON, who="last")
        reader.join(30)
        assert not reader.is_alive()
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) >= goal
    patient.close()


def _until(holds: Any) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_the_asynchronous_client_does_the_same(url: str) -> None:
    async with AsyncClient(url, token=cwt("*", "*")) as client:
        await client.create_space("apart", user=OWNER, tier=3)
        apart = client.space("apart")
        run = await apart.form(ANA)
        assert (await apart.ended(run["conversation"]))["status"] == "completed"
        assert "Lisbon" in (await apart.ask("Where does Ana live?"))["answer"]
        with pytest.raises(KipFailed):
            await apart.kip("FIND(")
        assert (await apart.write(PERSON, who="bo"))["handles"]
        seen: list[int] = []
        with anyio.fail_after(20):
            async with aclosing(apart.follow(after="now")) as changes, anyio.create_task_group() as tasks:

                async def write() -> None:
                    await anyio.sleep(0.3)
                    await apart.write(PERSON, who="later")

                tasks.start_soon(write)
                async for change in changes:
                    seen.append(change.seq)
                    break
        assert len(seen) == 1


def test_a_full_service_is_busy_and_says_when_to_come_again(tmp_path: Path) -> None:
    with (
        started(tmp_path / "spaces", "serve", module="brain", http_max_concurrency=1) as server,
        Client(server.url, retries=Retries(attempts=1)) as client,
    ):
        client.create_space("home", user=OWNER, tier=1)
        with closing(client.space("home").follow()) as changes:
            next(changes)  # one follower has the only place of its kind
            with closing(client.space("home").follow()) as more, pytest.raises(Busy) as refused:
                next(more)
            assert refused.value.after_s == 1
