"""What becomes of an accepted input: in order, exactly once, or reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from brain.service import conversations, ledger
from brain.service.byok import OwnModels
from brain.service.entries import cycle_input
from brain.service.passes import Passes
from brain.service.rounds import rounds_of
from brain.store.base import WorkStatus
from brain.times import FixedClock
from tests.service.world import World, world

pytestmark = pytest.mark.anyio

MINUTE = 60_000


@pytest.fixture
def home(tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    made = world(tmp_path, clock=clock)
    made.create()
    yield made
    made.application.spaces.close()


@pytest.mark.requirement("BR-FORM-008", "BR-FORM-030", "BR-FORM-031", "BR-FORM-040")
async def test_inputs_are_formed_in_the_order_they_were_accepted(home: World) -> None:
    texts = [f"number {number}" for number in range(12)]
    assert await home.submit(*texts) == list(range(1, 13))
    assert home.statuses() == ["submitted"] * 12
    assert await home.work() == 12
    assert home.kept() == texts
    assert home.statuses() == ["completed"] * 12
    record = home.record(12)
    assert record["model"] == "test/keeper"
    assert record["extra"]["memory_refs"]
    with home.application.spaces.get("home").snapshot() as now:
        assert len(conversations.commits_of(now, "formation", 12)) == 1
        assert ledger.progress(now)["formation_processed_id"] == 12
        assert ledger.usage_of(now, "formation").input_tokens == 1200
        assert not now.work("formation")
        assert now.lease("pass") is None


@pytest.mark.requirement("BR-FORM-009")
async def test_the_same_words_twice_are_two_conversations_with_evidence_of_their_own(home: World) -> None:
    await home.submit("again", "again")
    await home.work()
    assert home.kept() == ["again", "again"]
    assert len(home.find("FIND(?e.id) WHERE { ?e EVIDENCE {} }")) == 2


@pytest.mark.requirement("BR-FORM-036")
async def test_an_input_whose_model_call_fails_waits_and_later_inputs_go_on(home: World, clock: FixedClock) -> None:
    await home.submit("first [fail once]", "second", "third")
    await home.work()
    assert home.statuses() == ["submitted", "completed", "completed"]
    assert home.record(1)["failed_reason"].startswith("provider_error: ")
    clock.advance(999)
    assert await home.work() == 0
    clock.advance(1)
    assert await home.work() == 1
    assert home.statuses() == ["completed"] * 3
    assert home.kept() == ["second", "third", "first [fail once]"]
    assert "failed_reason" not in home.record(1)


@pytest.mark.requirement("BR-FORM-035")
async def test_three_failed_rounds_over_half_an_hour_give_an_input_up(home: World, clock: FixedClock) -> None:
    begun = clock.now_ms()
    await home.submit("never [fail]", "other")
    rounds = []
    while home.record(1)["status"] == "submitted" and len(rounds) < 20:
        if await home.work():
            rounds.append(clock.now_ms() - begun)
        clock.advance(1000)
    assert [round(at / 1000) for at in rounds] == [0, 1, 61, 661, 1261, 1861]
    record = home.record(1)
    assert record["status"] == "cancelled"
    assert record["failed_reason"].startswith("formation_failed: gave up after 6 rounds: provider_error: ")
    assert home.keeper.asked["never [fail]"] == 6
    assert await home.work() == 0
    assert home.statuses() == ["cancelled", "completed"]


@pytest.mark.requirement("BR-FORM-035")
@pytest.mark.parametrize(("minutes", "status"), [(29, "submitted"), (30, "cancelled")])
async def test_the_third_failed_round_decides_by_the_time_since_the_first(
    home: World, clock: FixedClock, minutes: int, status: str
) -> None:
    await home.submit("never [fail]")
    await home.work()
    clock.advance(1000)
    await home.work()
    clock.advance(minutes * MINUTE - 1000)
    assert await home.work() == 1
    assert home.record(1)["status"] == status


async def test_interruptions_are_no_failed_rounds(home: World, clock: FixedClock) -> None:
    await home.submit("never [fail]")
    space, queue = home.application.spaces.get("home"), home.application.queue
    for _ in range(7):
        taken = queue.take(space)
        assert taken is not None
        queue.hand_back(space, taken)
        clock.advance(10 * MINUTE)
    await home.work()
    assert home.record(1)["status"] == "submitted"


@pytest.mark.requirement("BR-FORM-037", "BR-FORM-038")
async def test_what_failed_after_it_had_written_is_reported_and_not_formed_again(
    home: World, clock: FixedClock
) -> None:
    await home.submit("half [twice] [fail later]", "after")
    await home.work()
    clock.advance(60 * MINUTE)
    await home.work()
    assert home.statuses() == ["failed", "completed"]
    assert home.kept() == ["half [twice] [fail later]", "after"]


@pytest.mark.requirement("BR-FORM-028")
async def test_a_run_that_never_ends_is_ended_and_not_tried_again(home: World, clock: FixedClock) -> None:
    await home.submit("round and round [loop]", "after")
    assert await home.work() == 2
    clock.advance(60 * MINUTE)
    assert await home.work() == 0
    assert home.statuses() == ["failed", "completed"]
    assert home.record(1)["failed_reason"].startswith("turn_limit: ")


async def test_a_defect_in_an_agent_costs_its_input_a_round(tmp_path: Path, clock: FixedClock) -> None:
    async def broken(*_: object) -> object:
        raise ZeroDivisionError("a text nobody shall see")

    home = world(tmp_path, clock=clock)
    home.create()
    application = home.application
    passes = Passes(
        clock=clock,
        settings=application.settings,
        queue=application.queue,
        models=OwnModels(home.keeper, None, lambda chosen: home.keeper),
        form=broken,  # type: ignore[arg-type]
        maintain=broken,  # type: ignore[arg-type]
        settle=lambda *_: {},
    )
    await home.submit("one")
    assert await passes.step(application.spaces.get("home"))
    record = home.record(1)
    assert record["status"] == "submitted"
    assert record["failed_reason"] == "internal_error: the pass ended unexpectedly"
    application.spaces.close()


@pytest.mark.requirement("BR-FORM-038")
@pytest.mark.parametrize("has_committed", [False, True])
async def test_a_pass_whose_process_died_is_judged_by_what_it_committed(
    home: World, clock: FixedClock, has_committed: bool
) -> None:
    await home.submit("one", "two")
    space, queue = home.application.spaces.get("home"), home.application.queue
    taken = queue.take(space)
    assert taken is not None
    assert taken.number == 1
    if has_committed:
        with space.transaction() as tx:
            conversations.add_commit(tx, "formation", 1, tx.seq + 1)
    assert await home.work() == 0  # its lease still stands
    clock.advance(home.application.settings.lease_ttl_ms)
    await home.work()
    if has_committed:
        assert home.statuses() == ["failed", "completed"]
        assert home.record(1)["failed_reason"].startswith("interrupted: ")
        assert home.kept() == ["two"]
    else:
        assert home.statuses() == ["completed", "completed"]
        assert home.kept() == ["one", "two"]


def die(home: World, clock: FixedClock) -> int | None:
    """Take the next entry and end like a killed process; its conversation."""
    taken = home.application.queue.take(home.application.spaces.get("home"))
    if taken is None:
        return None
    clock.advance(home.application.settings.lease_ttl_ms)
    return taken.number


@pytest.mark.requirement("BR-FORM-035", "BR-FORM-037", "BR-OPS-005")
async def test_an_input_that_ends_its_process_again_and_again_is_given_up_after_half_an_hour(
    home: World, clock: FixedClock
) -> None:
    await home.submit("poison", "after")
    begun = clock.now_ms()
    assert [die(home, clock) for _ in range(3)] == [1, 1, 1]
    # From the third on it waits, and what came after it is formed.
    await home.work()
    assert home.statuses() == ["submitted", "completed"]
    assert home.record(1)["failed_reason"].startswith("interrupted: ")
    cuts = 3
    while home.statuses()[0] != "failed":
        clock.advance(MINUTE)
        cuts += die(home, clock) == 1
        assert clock.now_ms() - begun < 60 * MINUTE
    assert clock.now_ms() - begun >= 30 * MINUTE
    assert home.record(1)["failed_reason"] == f"interrupted: gave up after {cuts} passes that were cut short"
    assert cuts >= 5
    assert home.kept() == ["after"]
    with home.application.spaces.get("home").snapshot() as now:
        assert not now.work("formation")


async def test_an_input_cut_less_than_half_an_hour_ago_is_tried_again_however_often(
    home: World, clock: FixedClock
) -> None:
    await home.submit("innocent")
    begun = clock.now_ms()
    while clock.now_ms() - begun < 18 * MINUTE:
        die(home, clock)
        clock.advance(MINUTE)
    while home.statuses() != ["completed"]:
        await home.work()
        clock.advance(MINUTE)
        assert clock.now_ms() - begun < 40 * MINUTE
    with home.application.spaces.get("home").snapshot() as now:
        assert not now.scan_state("rounds")


async def test_a_pass_that_overran_counts_as_cut_and_one_that_was_asked_to_stop_does_not(
    home: World, clock: FixedClock
) -> None:
    await home.submit("one")
    space, queue = home.application.spaces.get("home"), home.application.queue
    for overran, cuts in [(False, 0), (False, 0), (True, 1), (False, 1), (True, 2), (True, 3)]:
        taken = queue.take(space)
        assert taken is not None
        queue.hand_back(space, taken, overran=overran)
        with space.snapshot() as now:
            assert rounds_of(now, taken.work.id)["cut"] == cuts
    assert queue.take(space) is None
    assert queue.wait_ms(space.store) == MINUTE
    clock.advance(MINUTE)
    assert await home.work() == 1
    assert home.statuses() == ["completed"]


async def test_a_worker_of_one_queue_leaves_the_other_alone_and_never_goes_before_maintenance(home: World) -> None:
    await home.submit("one")
    space, queue = home.application.spaces.get("home"), home.application.queue
    assert queue.outlook(space.store) == ("formation", 0)
    assert queue.take(space, "maintenance") is None
    queue.accept_cycle(space, cycle_input("quick", "manual", 0), user="tester", request_id=None)
    assert queue.outlook(space.store) == ("maintenance", 0)
    assert queue.take(space, "formation") is None
    cycle = queue.take(space, "maintenance")
    assert cycle is not None
    assert cycle.collection == "maintenance"
    assert queue.outlook(space.store) == ("maintenance", home.application.settings.lease_ttl_ms)
    assert queue.take(space, "formation") is None
    queue.hand_back(space, cycle)
    assert await home.work() == 2
    assert queue.outlook(space.store) is None


@pytest.mark.requirement("BR-FORM-032", "BR-FORM-034")
async def test_what_was_accepted_is_there_after_a_restart(home: World, tmp_path: Path, clock: FixedClock) -> None:
    await home.submit("one", "two")
    home.application.spaces.close()
    later = world(tmp_path, clock=clock)
    assert await later.work() == 2
    assert later.kept() == ["one", "two"]
    later.application.spaces.close()


async def test_accepting_is_one_write_or_none(home: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError("no")

    space = home.application.spaces.get("home")
    with space.transaction() as tx:
        kind = type(tx)
    with monkeypatch.context() as patch:
        patch.setattr(kind, "enqueue", refuse)
        with pytest.raises(OSError, match="no"):
            await home.submit("lost")
    with space.snapshot() as now:
        assert conversations.count(now, "formation") == 0
        assert conversations.read(now, "formation", 1) is None
    assert await home.submit("kept") == [1]


async def test_running_entries_are_looked_after_also_when_they_wait_no_more(home: World) -> None:
    await home.submit("one")
    space, queue = home.application.spaces.get("home"), home.application.queue
    taken = queue.take(space)
    assert taken is not None
    with space.snapshot() as now:
        assert [work.status for work in now.work("formation")] == [WorkStatus.RUNNING]
        assert queue.has_due(now, "formation")
    assert queue.wait_ms(space.store) == home.application.settings.lease_ttl_ms
    queue.hand_back(space, taken)
    assert queue.wait_ms(space.store) == 0
    assert await home.work() == 1
    assert queue.wait_ms(space.store) is None
