"""When maintenance runs, and what stands in its way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from brain.service import ledger
from brain.service.failures import Busy
from brain.service.inputs import MaintenanceInput
from brain.service.triggers import due_by_count
from brain.times import FixedClock
from tests.service.world import CALLER, World, world

pytestmark = pytest.mark.anyio

HOUR = 3_600_000


@pytest.fixture
def home(tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    made = world(tmp_path, clock=clock)
    made.create()
    yield made
    made.application.spaces.close()


async def start(home: World, scope: str = "daydream") -> int:
    asked = MaintenanceInput(scope=scope)  # type: ignore[arg-type]
    number: int = (await home.application.brain.start_maintenance("home", asked, CALLER))["conversation"]
    return number


@pytest.mark.requirement("BR-MAINT-001", "BR-MAINT-013", "BR-MAINT-039")
async def test_a_cycle_is_a_conversation_of_its_own_collection(home: World, clock: FixedClock) -> None:
    assert await start(home, "quick") == 1
    assert await home.work() == 1
    record = home.record(1, "maintenance")
    assert (record["status"], record["label"]) == ("completed", "maintenance")
    with home.application.spaces.get("home").snapshot() as now:
        progress = ledger.progress(now)
        assert progress["maintenance_processed_id"] == 1
        assert progress["maintenance_at"] == {
            "daydream": 0,
            "full": 0,
            "quick": clock.now_ms(),
            "start_at": clock.now_ms(),
        }
        assert ledger.usage_of(now, "maintenance").requests == 1
        assert ledger.usage_of(now, "formation").requests == 0
        assert ledger.report(now, "last_settlement") is not None


@pytest.mark.requirement("BR-MAINT-002", "BR-SPACE-023")
async def test_a_second_cycle_is_refused_while_one_waits_or_works(home: World) -> None:
    await start(home)
    with pytest.raises(Busy, match="processing"):
        await start(home)
    space, queue = home.application.spaces.get("home"), home.application.queue
    taken = queue.take(space)
    assert taken is not None
    with pytest.raises(Busy):
        await start(home)
    queue.hand_back(space, taken)
    await home.work()
    assert await start(home) == 2
    assert home.statuses("maintenance") == ["completed", "submitted"]


@pytest.mark.requirement("BR-MAINT-002", "BR-SPACE-023", "BR-SPACE-024")
async def test_a_cycle_is_refused_while_formation_works_and_the_queue_goes_on(home: World) -> None:
    home.create("elsewhere")
    await home.submit("one", "two")
    space, queue = home.application.spaces.get("home"), home.application.queue
    taken = queue.take(space)
    assert taken is not None
    with pytest.raises(Busy, match="processing"):
        await start(home)
    await home.submit("in peace", space_id="elsewhere")
    assert await home.work("elsewhere") == 1
    queue.hand_back(space, taken)
    assert await home.work() == 2
    assert home.statuses() == ["completed", "completed"]


@pytest.mark.requirement("BR-SPACE-023")
async def test_the_guard_of_a_process_that_died_does_not_stand_for_ever(home: World, clock: FixedClock) -> None:
    await home.submit("one")
    home.application.queue.take(home.application.spaces.get("home"))
    with pytest.raises(Busy):
        await start(home)
    clock.advance(home.application.settings.lease_ttl_ms)
    assert await start(home) == 1


@pytest.mark.requirement("BR-MAINT-007", "BR-MAINT-008")
@pytest.mark.parametrize(
    ("formed", "daydream", "quick", "full", "due"),
    [
        (20, 0, 0, 0, None),
        (21, 0, 0, 0, "daydream"),
        (41, 21, 0, 0, None),
        (42, 21, 0, 0, "quick"),
        (62, 21, 42, 0, None),
        (63, 21, 42, 0, "daydream"),
        (84, 63, 42, 0, "quick"),
        (168, 147, 126, 0, "full"),
        (189, 147, 126, 168, "daydream"),
        (210, 189, 126, 168, "quick"),
        (400, 0, 0, 0, "full"),
    ],
)
async def test_the_widest_scope_that_is_due(formed: int, daydream: int, quick: int, full: int, due: str | None) -> None:
    assert due_by_count(formed, {"daydream": daydream, "quick": quick, "full": full}) == due


@pytest.mark.requirement("BR-FORM-043", "BR-MAINT-008", "BR-SPACE-025")
async def test_cycles_follow_the_21st_42nd_and_168th_formed_conversation(home: World) -> None:
    await home.submit(*(f"number {number}" for number in range(170)))
    order = []
    space, queue = home.application.spaces.get("home"), home.application.queue
    while (taken := queue.take(space)) is not None:
        order.append((taken.collection, taken.input.get("scope")))
        queue.hand_back(space, taken)
        await home.work(steps=1)
    formed = 0
    cycles = {}
    for collection, scope in order:
        if collection == "formation":
            formed += 1
        else:
            cycles[formed] = scope
    assert formed == 170
    assert cycles == {
        21: "daydream",
        42: "quick",
        63: "daydream",
        84: "quick",
        105: "daydream",
        126: "quick",
        147: "daydream",
        168: "full",
    }
    assert home.statuses("maintenance") == ["completed"] * 8
    record = home.record(8, "maintenance")
    assert record["user"] == "$system"


@pytest.mark.requirement("BR-MAINT-012")
async def test_a_restart_between_count_and_start_neither_skips_nor_doubles_a_cycle(
    home: World, tmp_path: Path, clock: FixedClock
) -> None:
    await home.submit(*(f"number {number}" for number in range(22)))
    await home.work(steps=21)
    assert home.statuses("maintenance") == ["submitted"]
    home.application.spaces.close()
    later = world(tmp_path, clock=clock)
    assert await later.work() == 2
    assert later.statuses("maintenance") == ["completed"]
    assert later.statuses() == ["completed"] * 22
    later.application.spaces.close()


async def test_only_formed_conversations_count(home: World) -> None:
    await home.submit(*(f"number {number} [fail]" for number in range(25)))
    await home.work()
    assert home.statuses("maintenance") == []


@pytest.mark.requirement("BR-MAINT-009", "BR-MAINT-012")
async def test_a_day_without_a_cycle_calls_for_a_full_one_where_something_was_formed(
    home: World, clock: FixedClock
) -> None:
    space, queue = home.application.spaces.get("home").store, home.application.queue
    clock.advance(25 * HOUR)
    assert not queue.accept_cycle_by_clock(space)
    await home.submit("one")
    await home.work()
    assert queue.accept_cycle_by_clock(space)
    assert not queue.accept_cycle_by_clock(space)
    await home.work()
    record = home.record(1, "maintenance")
    assert (record["status"], record["user"]) == ("completed", "$system")
    clock.advance(24 * HOUR - 1)
    assert not queue.accept_cycle_by_clock(space)
    clock.advance(1)
    assert queue.accept_cycle_by_clock(space)


async def test_a_first_formation_calls_for_no_full_cycle(home: World) -> None:
    await home.submit("one")
    await home.work()
    assert home.statuses("maintenance") == []
    assert not home.application.queue.accept_cycle_by_clock(home.application.spaces.get("home").store)


@pytest.mark.requirement("BR-MAINT-004", "BR-MAINT-005")
@pytest.mark.parametrize(
    ("parameters", "effective"),
    [
        ({}, {}),
        ({"stale_event_threshold_days": 1}, {"stale_event_threshold_days": 1}),
        ({"unsorted_max_backlog": 9}, {"unconsolidated_max_backlog": 9}),
        ({"orphan_max_count": 10_000, "confidence_decay_factor": 0.5}, {"orphan_max_count": 10_000}),
        ({"memory_strength_decay_factor": 1}, {}),
    ],
)
async def test_targets_of_a_cycle_are_taken_under_both_names_and_the_decay_is_ignored(
    home: World, parameters: dict[str, object], effective: dict[str, int]
) -> None:
    asked = MaintenanceInput.model_validate({"parameters": parameters})
    assert asked.parameters.effective() == effective
