"""The embedded runner: finds its work by itself, keeps Spaces apart, and stops without losing any."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import anyio
import pytest

from brain.service.inputs import FormationInput, MessageInput
from tests.service.world import CALLER, served, until, world

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("BR-FORM-034", "BR-OPS-004")
async def test_a_start_resumes_the_backlog_by_itself(tmp_path: Path) -> None:
    before = world(tmp_path)
    before.create()
    await before.submit("one", "two", "three")
    before.application.spaces.close()
    after = world(tmp_path)
    async with served(after.application):
        await until(lambda: after.statuses() == ["completed"] * 3)
        assert after.kept() == ["one", "two", "three"]


async def test_an_input_is_formed_soon_after_it_was_accepted(tmp_path: Path) -> None:
    home = world(tmp_path, sweep_interval_ms=60_000)
    home.create()
    async with served(home.application):
        await anyio.sleep(0.2)
        for number in range(5):
            await home.submit(f"number {number}")
            await until(lambda n=number: home.statuses() == ["completed"] * (n + 1), seconds=3)


@pytest.mark.requirement("BR-OPS-003")
async def test_a_lost_wake_up_costs_one_sweep(tmp_path: Path) -> None:
    home = world(tmp_path, sweep_interval_ms=200)
    home.create()
    async with served(home.application):
        await anyio.sleep(0.3)
        other = world(tmp_path)  # accepts, and tells nobody
        await other.submit("one")
        await until(lambda: home.statuses() == ["completed"], seconds=3)
        other.application.spaces.close()


async def test_an_input_that_failed_is_tried_again_without_anybody_asking(tmp_path: Path) -> None:
    home = world(tmp_path)
    home.create()
    async with served(home.application):
        await home.submit("one [fail once]", "two")
        await until(lambda: home.statuses() == ["completed"] * 2, seconds=5)
        assert home.kept() == ["two", "one [fail once]"]


@pytest.mark.requirement("BR-SPACE-023", "BR-FORM-031")
async def test_spaces_do_not_wait_for_each_other_and_each_forms_one_at_a_time(tmp_path: Path) -> None:
    home = world(tmp_path)
    home.create("slow")
    home.create("quick")
    home.keeper.gates["waits"] = anyio.Event()
    async with served(home.application):
        await home.submit("waits", "behind", space_id="slow")
        await until(lambda: home.keeper.at_work)
        await home.submit("one", "two", space_id="quick")
        await until(lambda: home.statuses(space_id="quick") == ["completed"] * 2)
        assert home.statuses(space_id="slow") == ["working", "submitted"]
        assert home.keeper.most_at_work == 2
        home.keeper.gates["waits"].set()
        await until(lambda: home.statuses(space_id="slow") == ["completed"] * 2)
        assert home.kept("slow") == ["waits", "behind"]


async def test_a_broken_space_hides_no_other(tmp_path: Path) -> None:
    before = world(tmp_path)
    for name in ("a_broken", "b_whole"):
        before.create(name)
        await before.submit("one", space_id=name)
    before.application.spaces.close()
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"a_broken.db{suffix}").unlink(missing_ok=True)
    (tmp_path / "a_broken.db").write_bytes(b"this is no database" * 400)
    after = world(tmp_path)
    async with served(after.application) as client:
        await until(lambda: after.statuses(space_id="b_whole") == ["completed"])
        answer = await client.get("/v1/a_broken/info")
        assert answer.status_code == 500
        assert "a_broken cannot be opened" in answer.json()["error"]["message"]


@pytest.mark.requirement("BR-LIFE-009", "BR-LIFE-010")
async def test_a_stop_lets_the_pass_under_way_finish_and_leaves_the_rest(tmp_path: Path) -> None:
    home = world(tmp_path)
    home.create()
    async with served(home.application):
        await home.submit("under way [slow 0.4]", "left", "left too")
        await until(lambda: home.keeper.at_work)
    later = world(tmp_path)
    assert later.statuses() == ["completed", "submitted", "submitted"]
    assert later.kept() == ["under way [slow 0.4]"]
    later.application.spaces.close()


@pytest.mark.requirement("BR-LIFE-009", "BR-LIFE-010")
async def test_a_stop_waits_no_longer_than_the_grace_time_and_hands_back(tmp_path: Path) -> None:
    home = world(tmp_path, shutdown_grace_ms=200)
    home.create()
    home.keeper.gates["for ever"] = anyio.Event()
    with anyio.fail_after(3):
        async with served(home.application):
            await home.submit("for ever", "left")
            await until(lambda: home.keeper.at_work)
    later = world(tmp_path)
    assert later.statuses() == ["submitted", "submitted"]
    assert await later.work() == 2  # at once: no lease is left to run out
    assert later.kept() == ["for ever", "left"]
    later.application.spaces.close()


@pytest.mark.requirement("BR-LIFE-005", "BR-LIFE-006")
async def test_idle_spaces_are_closed_also_while_sweeps_go_on(tmp_path: Path) -> None:
    home = world(tmp_path, sweep_interval_ms=100, space_idle_ms=1_000)
    home.create()
    spaces = home.application.spaces
    async with served(home.application):
        assert spaces.resident() == ["home"]
        await until(lambda: spaces.resident() == [], seconds=5)
        await home.submit("one")
        await until(lambda: home.statuses() == ["completed"])


async def test_a_space_with_a_pass_under_way_is_not_closed(tmp_path: Path) -> None:
    home = world(tmp_path, sweep_interval_ms=100, space_idle_ms=1_000)
    home.create()
    home.keeper.gates["long"] = anyio.Event()
    async with served(home.application):
        await home.application.brain.submit_formation("home", _said("long"), CALLER)
        await until(lambda: home.keeper.at_work)
        await anyio.sleep(1.5)
        assert home.application.spaces.resident() == ["home"]
        home.keeper.gates["long"].set()
        await until(lambda: home.application.spaces.resident() == [], seconds=5)
    assert _is_whole(tmp_path / "home.db")


def _said(text: str) -> FormationInput:
    return FormationInput(messages=[MessageInput(role="user", content=text)])


def _is_whole(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return bool(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")
    finally:
        connection.close()
