"""Inputs of more messages than one pass may cite: read whole, in order, in several passes of one run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.agents.builtin import OfflineModel
from brain.agents.jobs import CONTEXT, WINDOW, windows_of
from brain.app import build
from brain.service import ledger
from brain.service.inputs import FormationInput, MessageInput, RecallInput
from brain.times import FixedClock
from tests.service.keeper import Keeper
from tests.service.world import CALLER, World, settings_for, until, world

pytestmark = pytest.mark.anyio

MINUTE = 60_000
LAST = (8, 24, 40)
"""The last message of each pass over forty."""


@pytest.fixture
async def home(tmp_path: Path, clock: FixedClock) -> AsyncIterator[World]:
    made = world(tmp_path, clock=clock)
    made.create()
    yield made
    made.application.spaces.close()


def texts(marks: Mapping[int, str] | None = None) -> list[str]:
    """`number 1` … `number 40`, some with marks for the Keeper: `{24: "[fail]"}`."""
    return [f"number {n} {(marks or {}).get(n, '')}".strip() for n in range(1, 41)]


async def post(home: World, said: list[str], name: str | None = "Ana") -> int:
    """Accept these messages as one input; its conversation."""
    messages = [MessageInput(role="user", name=name, content=text) for text in said]
    accepted = await home.application.brain.submit_formation("home", FormationInput(messages=messages), CALLER)
    number: int = accepted["conversation"]
    return number


def evidence(home: World) -> list[str]:
    return [payload["inline"] for (payload,) in home.find("FIND(?e.payload) WHERE { ?e EVIDENCE {} }")]


@asynccontextmanager
async def cut_at(home: World, text: str, *, killed: bool, turn: int = 1) -> AsyncIterator[None]:
    """Cut the pass that ends with this message in one of its turns: by the end of its process, or by a stop."""
    gate = home.keeper.gates[text] = anyio.Event()

    def die(*_: object) -> None:
        raise OSError("the process is gone")

    with pytest.MonkeyPatch.context() as patch:
        if killed:
            patch.setattr(home.application.queue, "hand_back", die)
        async with anyio.create_task_group() as group:
            group.start_soon(home.application.passes.step, home.application.spaces.get("home"))
            await until(lambda: gate.statistics().tasks_waiting)
            if turn == 2:
                home.keeper.gates[text] = anyio.Event()
                gate.set()
                await until(lambda: home.keeper.asked[text] == 2)
            group.cancel_scope.cancel()
    yield


@given(st.integers(0, 300))
def test_every_message_is_cited_by_one_pass_and_the_last_has_the_newest(count: int) -> None:
    windows = windows_of(count)
    assert [at for window in windows for at in range(window.first, window.end)] == list(range(count))
    assert all(0 < window.end - window.first <= WINDOW for window in windows)
    assert count == 0 or windows[-1].first == max(0, count - WINDOW)


@pytest.mark.requirement("BR-FORM-008", "BR-FORM-011", "BR-FORM-012", "BR-FORM-030")
async def test_forty_messages_are_formed_whole_as_one_run(home: World) -> None:
    said = texts()
    await post(home, said)
    assert await home.work() == 1
    assert home.kept() == [said[last - 1] for last in LAST]
    assert evidence(home) == said
    record = home.record(1)
    assert record["status"] == "completed"
    assert (record["usage"]["input_tokens"], record["usage"]["requests"]) == (300, 3)
    assert record["extra"]["rounds"] == 3
    assert len(record["extra"]["memory_refs"]) == len(set(record["extra"]["memory_refs"])) >= 43
    with home.application.spaces.get("home").snapshot() as now:
        assert ledger.usage_of(now, "formation").input_tokens == 300
        assert ledger.progress(now)["formed"] == 1
    asked = [message["content"] for message in record["messages"] if message["role"] == "user"]
    assert ["of 40" in text and text.count("[context]") for text in asked] == [0, CONTEXT, CONTEXT]
    assert "[16] " in asked[2]
    assert next(line for line in asked[2].splitlines() if line.startswith("[1] ")).endswith(": number 25")


@pytest.mark.requirement("BR-FORM-012", "BR-FORM-013")
async def test_a_pass_that_keeps_nothing_leaves_no_evidence_of_its_messages(tmp_path: Path, clock: FixedClock) -> None:
    home = World(build(settings_for(tmp_path), clock=clock, model=OfflineModel()), Keeper())
    home.create()
    await post(home, ["Good morning!", *["Thanks!"] * 15, "I live in Lisbon."])
    await home.work()
    assert len(evidence(home)) == 16
    home.application.spaces.close()


@pytest.mark.requirement("BR-FORM-046", "BR-FORM-011")
async def test_what_the_first_and_the_last_of_forty_messages_say_is_recalled(tmp_path: Path, clock: FixedClock) -> None:
    home = World(build(settings_for(tmp_path), clock=clock, model=OfflineModel()), Keeper())
    home.create()
    await post(home, ["I live in Lisbon.", *["Thanks, lovely weather."] * 38, "I work for Acme."], "Ana Ruiz")
    await home.work()
    assert home.record(1)["status"] == "completed"
    for question, answer in (("Where does Ana Ruiz live?", "Lisbon"), ("Who does Ana Ruiz work for?", "Acme")):
        told = await home.application.brain.recall("home", RecallInput(query=question), CALLER)
        assert answer in told["content"]
    home.application.spaces.close()


@pytest.mark.requirement("BR-FORM-013")
async def test_the_same_words_in_two_passes_are_two_records(home: World) -> None:
    said = [f"number {n}" for n in range(1, 33)]
    said[15] = said[31] = "the same again"
    await post(home, said)
    await home.work()
    assert home.kept() == ["the same again"] * 2


@pytest.mark.requirement("BR-FORM-037", "BR-FORM-038", "BR-FORM-047")
@pytest.mark.parametrize("killed", [True, False])
async def test_a_run_cut_between_passes_goes_on_with_the_next_and_keeps_nothing_twice(
    home: World, tmp_path: Path, clock: FixedClock, killed: bool
) -> None:
    said = texts()
    await post(home, said)
    async with cut_at(home, "number 40", killed=killed):
        assert home.kept() == ["number 8", "number 24"]
        assert home.record(1)["status"] == ("working" if killed else "submitted")
        home.application.spaces.close()
        clock.advance(home.application.settings.lease_ttl_ms)
    later = world(tmp_path, clock=clock)
    assert await later.work() == 1
    assert later.kept() == ["number 8", "number 24", "number 40"]
    assert evidence(later) == said
    assert dict(later.keeper.asked) == {"number 40": 1}
    record = later.record(1)
    assert record["status"] == "completed"
    assert (record["usage"]["input_tokens"], record["extra"]["rounds"]) == (300, 3)
    assert [message["role"] for message in record["messages"]].count("user") == 3
    later.application.spaces.close()


@pytest.mark.requirement("BR-FORM-037", "BR-FORM-038")
@pytest.mark.parametrize("killed", [True, False])
@pytest.mark.parametrize("place", [24, 40])
async def test_a_pass_cut_after_it_had_stored_something_is_told_and_those_after_it_are_done(
    home: World, tmp_path: Path, clock: FixedClock, killed: bool, place: int
) -> None:
    said = texts({place: "[twice]"})
    await post(home, said)
    async with cut_at(home, f"number {place} [twice]", killed=killed, turn=2):
        home.application.spaces.close()
        clock.advance(home.application.settings.lease_ttl_ms)
    later = world(tmp_path, clock=clock)
    await later.work()
    assert later.kept() == [said[last - 1] for last in LAST]
    assert later.record(1)["status"] == "failed"
    assert later.record(1)["failed_reason"] == (
        "interrupted: some of it was stored and what was left to do is unknown; "
        f"this concerns messages {place - 15} to {place} of 40"
    )
    assert [message["role"] for message in later.record(1)["messages"]].count("user") == 3
    later.application.spaces.close()


@pytest.mark.requirement("BR-FORM-036", "BR-FORM-038")
async def test_a_pass_that_failed_half_way_is_told_and_those_after_it_are_done(home: World) -> None:
    await post(home, texts({24: "[twice] [fail later]"}))
    await home.work()
    assert home.kept() == ["number 8", "number 24 [twice] [fail later]", "number 40"]
    record = home.record(1)
    assert record["status"] == "failed"
    assert record["failed_reason"].startswith("provider_error: ")
    assert record["failed_reason"].endswith("; this concerns messages 9 to 24 of 40")


@pytest.mark.requirement("BR-FORM-035", "BR-FORM-036")
async def test_a_pass_whose_model_call_fails_waits_for_its_round_and_those_before_it_are_not_done_again(
    home: World, clock: FixedClock
) -> None:
    await post(home, texts({24: "[fail once]"}))
    await home.work()
    assert home.statuses() == ["submitted"]
    clock.advance(1_000)
    await home.work()
    assert home.statuses() == ["completed"]
    assert home.kept() == ["number 8", "number 24 [fail once]", "number 40"]
    assert dict(home.keeper.asked) == {"number 8": 1, "number 24 [fail once]": 2, "number 40": 1}


@pytest.mark.requirement("BR-FORM-035")
async def test_a_run_that_is_given_up_tells_which_messages_it_never_formed(home: World, clock: FixedClock) -> None:
    await post(home, texts({24: "[fail]"}))
    while home.record(1)["status"] != "cancelled":
        await home.work()
        clock.advance(10 * MINUTE)
    assert home.kept() == ["number 8"]
    assert home.record(1)["failed_reason"].startswith("formation_failed: gave up after ")
    assert home.record(1)["failed_reason"].endswith("; messages 9 to 40 were not formed")


@pytest.mark.requirement("BR-FORM-028")
async def test_all_passes_of_a_run_share_what_a_run_may_take(home: World) -> None:
    await post(home, texts({24: "[loop]"}))
    await home.work()
    record = home.record(1)
    assert record["status"] == "failed"
    assert record["extra"]["rounds"] == 200
    assert record["failed_reason"] == (
        "turn_limit: the run did not end within 200 model calls; messages 9 to 40 were not formed"
    )


@pytest.mark.requirement("BR-FORM-018")
async def test_messages_are_counted_as_they_were_posted_blank_ones_too(home: World) -> None:
    await post(home, ["  ", *texts({24: "[twice] [fail later]"})])
    await home.work()
    assert home.record(1)["failed_reason"].endswith("; this concerns messages 10 to 25 of 41")


@pytest.mark.requirement("BR-GATE-040")
async def test_a_speaker_kept_apart_is_the_same_in_every_pass(home: World) -> None:
    space: Any = home.application.spaces.get("home")
    for key in ("a-1", "a-2"):
        space.engine.run(f'CREATE CONCEPT ?p {{ TYPE "Person" NAME "Ana" SET FIELDS {{key: "{key}"}} }}')
    await post(home, texts())
    await home.work()
    assert home.record(1)["status"] == "completed"
    people = [key for (key,) in home.find('FIND(?p.key) WHERE { ?p {type: "Person"} }') if key != "$self"]
    assert sorted(people) == ["a-1", "a-2", "ana:conversation-1"]
    tasks = home.find('FIND(?t.attributes.task_class) WHERE { ?t {type: "SleepTask"} }')
    assert tasks == [["resolve_identity"]]
