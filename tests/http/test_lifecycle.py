"""A Space as a whole, in administrators' hands: flushed, closed, kept open, deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from brain.app import Application
from brain.errors import InternalError
from brain.service.spaces import Spaces
from tests.http.conftest import Door, holding, said
from tests.http.test_access import cwt, guarded
from tests.service.keeper import Keeper
from tests.service.world import OWNER, served, until, world

pytestmark = pytest.mark.anyio


@dataclass
class Home:
    application: Application
    keeper: Keeper
    client: httpx.AsyncClient

    @property
    def door(self) -> Door:
        return Door(self.client, "home")

    async def admin(self, what: str, body: Any = None, space: str = "home") -> httpx.Response:
        return await self.client.post(f"/admin/{space}/{what}", json=body)

    async def done(self, what: str, body: Any = None) -> Any:
        answer = await self.admin(what, body)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]

    async def create(self, space: str = "home") -> None:
        made = await self.client.post("/admin/create_space", json={"user": OWNER, "space_id": space, "tier": 3})
        assert made.status_code == 200, made.text


@asynccontextmanager
async def at_home(folder: Path, **settings: Any) -> AsyncIterator[Home]:
    made = world(folder, **settings)
    async with served(made.application) as client:
        home = Home(made.application, made.keeper, client)
        await home.create()
        yield home


def named(folder: Path, text: str) -> list[Path]:
    return list(folder.rglob(f"*{text}*"))


def message(text: str) -> dict[str, Any]:
    return {"messages": [said(text)]}


async def test_a_flushed_space_is_on_the_disk_up_to_its_last_commit(tmp_path: Path) -> None:
    async with at_home(tmp_path) as home:
        await home.door.formed(said("I like tea."))
        info = await home.door.result("info")
        assert await home.done("flush_space") == {"space_seq": info["db_stats"]["space_seq"]}
        assert (await home.admin("flush_space", space="nowhere")).status_code == 404


@pytest.mark.requirement("BR-LIFE-004")
async def test_open_spaces_are_flushed_at_every_look_at_all_spaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.embedded._ROUND_S", 0.0)
    async with at_home(tmp_path, sweep_interval_ms=100) as home:
        await home.create("other")
        spaces, flushed = home.application.spaces, Counter[str]()
        for space_id in ("home", "other"):
            store = spaces.get(space_id).store

            def flush(space_id: str = space_id) -> None:
                flushed[space_id] += 1
                if space_id == "home":
                    raise InternalError("the disk is gone")

            monkeypatch.setattr(store, "flush", flush)
        await until(lambda: min(flushed["home"], flushed["other"]) >= 2)
        assert spaces.resident() == ["home", "other"]


@pytest.mark.requirement("BR-LIFE-006", "BR-LIFE-008")
async def test_closing_waits_for_the_input_in_hand_and_the_rest_goes_on_at_the_next_access(tmp_path: Path) -> None:
    async with at_home(tmp_path) as home:
        spaces = home.application.spaces
        home.keeper.gates["one"] = anyio.Event()
        numbers = [(await home.door.result("formation", message(text)))["conversation"] for text in ("one", "two")]
        await until(lambda: home.keeper.at_work == ["one"])
        refused = await home.admin("close_space", {"timeout_ms": 50})
        assert refused.status_code == 503
        assert spaces.is_open("home")
        assert (await home.door.get("info")).status_code == 200  # it stayed open

        answers: list[Any] = []
        async with anyio.create_task_group() as group:

            async def close() -> None:
                answers.append(await home.done("close_space", {}))

            group.start_soon(close)
            await until(lambda: spaces._open["home"].is_closing)
            waiting = await home.door.get("info")
            assert waiting.status_code == 503
            assert waiting.headers["retry-after"]
            home.keeper.gates["one"].set()
        assert answers == [{"closed": True}]
        assert "home" not in spaces.resident()
        assert await home.done("close_space", {}) == {"closed": False}
        for number in numbers:
            assert (await home.door.ended(number))["status"] == "completed"
        assert home.keeper.asked["one"] == home.keeper.asked["two"] == 1


async def test_closing_a_space_that_is_not_there_is_404_and_a_bad_wait_400(tmp_path: Path) -> None:
    async with at_home(tmp_path) as home:
        assert (await home.admin("close_space", {}, "nowhere")).status_code == 404
        waits: tuple[Any, ...] = ({"timeout_ms": -1}, {"timeout_ms": "1"}, {"timeout_ms": 600_001}, [])
        for bad in waits:
            assert (await home.admin("close_space", bad)).status_code == 400
        kept: tuple[Any, ...] = ({}, {"kept_open": "yes"}, {"kept_open": None})
        for bad in kept:
            assert (await home.admin("keep_space_open", bad)).status_code == 400


@pytest.mark.requirement("BR-LIFE-005")
async def test_a_space_that_is_kept_open_is_not_closed_for_being_idle(tmp_path: Path) -> None:
    async with at_home(tmp_path, sweep_interval_ms=60_000) as home:
        await home.create("other")
        spaces = home.application.spaces
        assert await home.done("keep_space_open", {"kept_open": True}) == {"kept_open": True}
        assert spaces.evict_idle(0) == ["other"]
        assert await home.done("close_space", {}) == {"closed": True}
        await home.door.result("info")
        assert spaces.evict_idle(0) == []  # it is the Space that is, and not this opening of it
        await home.done("keep_space_open", {"kept_open": False})
        assert spaces.evict_idle(0) == ["home"]


@pytest.mark.requirement("BR-LIFE-007")
async def test_a_space_that_will_not_close_keeps_the_others_reachable_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_home(tmp_path, sweep_interval_ms=60_000) as home:
        await home.create("other")
        spaces = home.application.spaces
        stuck = spaces.get("home").store
        with monkeypatch.context() as patch:

            def refuse() -> None:
                raise InternalError("the disk is gone")

            patch.setattr(stuck, "close", refuse)
            assert spaces.evict_idle(0) == ["other"]
            assert spaces.evict_idle(0) == []
            refused = await home.door.get("info")
            assert refused.status_code == 503
            assert refused.headers["retry-after"]
            assert (await Door(home.client, "other").get("info")).status_code == 200
        assert (await home.door.get("info")).status_code == 200
        assert spaces.get("home").store is not stuck


@pytest.mark.requirement("BR-SPACE-001", "BR-SPACE-007")
async def test_a_deleted_space_leaves_nothing_and_shows_it(tmp_path: Path) -> None:
    async with at_home(tmp_path) as home:
        await home.create("other")
        await home.door.formed(said("My code word is quetzalcoatl."))
        await Door(home.client, "other").formed(said("I like tea."))
        token = {"scope": "read", "name": "reader"}
        await home.client.post("/v1/home/management/add_space_token", json=token)
        if home.application.settings.storage == "local":
            assert holding(tmp_path, "quetzalcoatl")
        report = await home.done("delete_space", {"confirm": "home"})
        assert len([kind for kind, number in report["before"].items() if number]) >= 5
        assert report["before"].keys() == report["after"].keys()
        assert not any(report["after"].values())
        assert not holding(tmp_path, "quetzalcoatl")
        assert not named(tmp_path, "home")
        for path in ("info", "memory_status", "conversations"):
            assert (await home.door.get(path)).status_code == 404
        assert (await home.admin("delete_space", {"confirm": "home"})).status_code == 404
        assert len(await Door(home.client, "other").kip('FIND(?e.id) WHERE { ?e {type: "Event"} }')) == 1

        await home.create()
        assert (await home.door.result("info"))["conversations"] == 0
        assert (await home.client.get("/v1/home/management/space_tokens")).json()["result"] == []
        again = await home.done("delete_space", {"confirm": "home"})
        assert again["instance"] != report["instance"]


@pytest.mark.parametrize(
    "body", [None, {}, {"confirm": ""}, {"confirm": "other"}, {"confirm": True}, {"confirm": "Home"}]
)
async def test_deleting_without_the_spaces_own_id_is_refused(tmp_path: Path, body: Any) -> None:
    async with at_home(tmp_path) as home:
        await home.create("other")
        assert (await home.admin("delete_space", body)).status_code == 400
        assert (await home.door.get("info")).status_code == 200
        assert (await home.admin("delete_space", {"confirm": "nowhere"}, "nowhere")).status_code == 404
        assert (await home.admin("delete_space", {"confirm": "a-b"}, "a-b")).status_code == 400


@pytest.mark.requirement("BR-AUTH-019")
async def test_only_administrators_delete(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        for name in ("cwt *", "cwt of all *", "token *", "manager read", "nobody"):
            credential = door.credentials["home"][name]
            answer = await door.ask("POST", "/admin/home/delete_space", credential, {"confirm": "home"})
            assert answer.status_code == 401, name
        answer = await door.ask("POST", "/admin/home/delete_space", cwt("*", "write"), {"confirm": "home"})
        assert answer.status_code == 200


@pytest.mark.requirement("BR-LIFE-008")
async def test_an_outsider_is_not_told_that_a_space_closes(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        with door.application.spaces.barred("home"):
            for name in ("nobody", "junk", "other Space's cwt"):
                answer = await door.ask("GET", "/v1/home/info", door.credentials["home"][name])
                missing = await door.ask("GET", "/v1/missing/info", door.credentials["home"][name])
                assert (answer.status_code, answer.content) == (missing.status_code, missing.content), name
            answer = await door.ask("GET", "/v1/home/info", door.credentials["home"]["token read"])
            assert answer.status_code == 503


@pytest.mark.requirement("BR-LIFE-008")
async def test_deleting_ends_the_passes_and_recalls_under_way(tmp_path: Path) -> None:
    async with at_home(tmp_path) as home:
        for text in ("one", "where?"):
            home.keeper.gates[text] = anyio.Event()
        await home.door.result("formation", message("one"))
        answers: list[httpx.Response] = []

        async def ask() -> None:
            answers.append(await home.door.post("recall", {"query": "where?"}))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await until(lambda: sorted(home.keeper.at_work) == ["one", "where?"])
            report = await home.done("delete_space", {"confirm": "home"})
        assert not any(report["after"].values())
        assert [answer.status_code for answer in answers] == [503]
        assert home.keeper.at_work == []
        assert home.application.spaces.all_ids() == []
        await home.create()
        assert (await home.door.result("info"))["conversations"] == 0


@pytest.mark.requirement("BR-LIFE-011")
async def test_a_deletion_that_was_cut_off_is_ended_by_asking_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_home(tmp_path) as home:
        if home.application.settings.storage != "local":
            pytest.skip("how files go; the other store's own tests show it of nodes")
        from brain.store.sqlite import removal

        with monkeypatch.context() as patch:

            def cut(_: Path) -> None:
                raise OSError(5, "cut off")

            patch.setattr(removal, "unlink", cut)
            assert (await home.admin("delete_space", {"confirm": "home"})).status_code >= 500
        assert (await home.door.get("info")).status_code == 404  # gone, and not half
        ended = await home.done("delete_space", {"confirm": "home"})
        assert (ended["instance"], ended["before"]) == (None, {})
        assert not named(tmp_path, "home")
        await home.create()


async def test_what_cannot_be_read_can_be_deleted(tmp_path: Path) -> None:
    async with at_home(tmp_path) as home:
        if home.application.settings.storage != "local":
            pytest.skip("a file that is no Space is of the store of files")
        await home.done("close_space", {})
        (tmp_path / "home.db").write_bytes(b"no database at all" * 1_000)
        assert (await home.door.get("info")).status_code == 500
        report = await home.done("delete_space", {"confirm": "home"})
        assert (report["before"]["files"], report["after"]["files"]) == (1, 0)
        await home.create()


def test_a_barred_space_is_neither_opened_nor_made(tmp_path: Path) -> None:
    from brain.service.failures import Unavailable

    made = world(tmp_path)
    made.create()
    spaces: Spaces = made.application.spaces
    with spaces.barred("home"):
        for use in (
            lambda: spaces.get("home"),
            lambda: spaces.peek("home", lambda store: store.head()),
            lambda: spaces.create("home", owner=OWNER, tier=1),
            lambda: spaces.barred("home").__enter__(),
        ):
            with pytest.raises(Unavailable):
                use()
    assert spaces.get("home").id == "home"
    spaces.close()
