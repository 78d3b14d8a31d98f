"""Whose day it is: relative dates are worked out by the clock of whoever speaks, from the door to the claim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.agents.builtin import OfflineModel
from brain.agents.remember.dates import read_date
from brain.agents.remember.ground import Message
from brain.agents.remember.things import Thing
from brain.app import build
from brain.service import conversations
from brain.service.inputs import FormationInput, RecallInput
from brain.times import FixedClock, milliseconds, offset_text, shifted, timestamp
from tests.service.keeper import Keeper
from tests.service.world import CALLER, World, settings_for

pytestmark = pytest.mark.anyio

LATE = "2026-06-01T23:30:00-08:00"
"""Monday evening in San Francisco, Tuesday morning in UTC."""

EARLY = "2026-06-02T01:00:00+08:00"
"""Tuesday, an hour past midnight in Shanghai, Monday afternoon in UTC."""


@pytest.fixture
def home(tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    made = World(build(settings_for(tmp_path), clock=clock, model=OfflineModel()), Keeper())
    made.create()
    yield made
    made.application.spaces.close()


async def form(home: World, *messages: dict[str, Any], **request: Any) -> str:
    """Form these messages; the text the model was given."""
    posted = [{"role": "user", "name": "Ana Ruiz", **message} for message in messages]
    asked = FormationInput.model_validate({"messages": posted, **request})
    accepted = await home.application.brain.submit_formation("home", asked, CALLER)
    await home.work()
    record = home.record(accepted["conversation"])
    assert record["status"] == "completed", record
    return str(record["messages"][0]["content"])


def due(home: World) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in home.find(
        'FIND(?c.attributes.due, ?c.attributes.due_at) WHERE { ?c {type: "Commitment"} }'
    )]  # fmt: skip


@pytest.mark.requirement("BR-FORM-006", "BR-FORM-007", "BR-FORM-022", "BR-FORM-046")
@pytest.mark.parametrize(
    ("said", "at", "day", "until"),
    [
        ("I'll send the slides tomorrow.", LATE, "2026-06-02", "2026-06-02T23:59:59.999Z"),
        ("I'll send the slides by Friday.", LATE, "2026-06-05", "2026-06-05T23:59:59.999Z"),
        ("I'll send the slides tomorrow at 9pm.", LATE, "2026-06-02T21:00-08:00", "2026-06-03T05:00:59.999Z"),
        ("I'll send the slides tomorrow.", EARLY, "2026-06-03", "2026-06-03T23:59:59.999Z"),
        ("I'll send the slides tomorrow.", "2026-06-01T23:30:00Z", "2026-06-02", "2026-06-02T23:59:59.999Z"),
        ("我答应明天交报告。", EARLY, "2026-06-03", "2026-06-03T23:59:59.999Z"),
        ("我答应明天交报告。", LATE, "2026-06-02", "2026-06-02T23:59:59.999Z"),
    ],
)
async def test_a_day_to_come_is_that_of_the_speakers_calendar(
    home: World, said: str, at: str, day: str, until: str
) -> None:
    await form(home, {"content": said}, timestamp=at)
    assert due(home) == [(day, until)]


@pytest.mark.requirement("BR-FORM-007", "BR-FORM-046")
@pytest.mark.parametrize(
    ("said", "at", "since"),
    [
        ("I moved to Lisbon yesterday.", LATE, "2026-05-31"),
        ("I moved to Lisbon last Friday.", LATE, "2026-05-29"),
        ("I moved to Lisbon today.", LATE, "2026-06-01"),
        ("I moved to Lisbon yesterday.", EARLY, "2026-06-01"),
        ("I moved to Lisbon today.", EARLY, "2026-06-02"),
        ("我昨天搬到了里斯本。", EARLY, "2026-06-01"),
        ("我上周五搬到了里斯本。", EARLY, "2026-05-29"),
    ],
)
async def test_a_day_gone_by_is_that_of_the_speakers_calendar_and_holds(
    home: World, said: str, at: str, since: str
) -> None:
    await form(home, {"content": said}, timestamp=at)
    [[valid]] = home.find("FIND(?a.valid_time) WHERE { ?a ASSERTION {} }")
    begun = valid["from"]
    first = begun["earliest"] if isinstance(begun, dict) else begun
    assert first[:10] == since
    told = await home.application.brain.recall("home", RecallInput(query="Where does Ana Ruiz live?"), CALLER)
    assert ("里斯本" if "里斯本" in said else "Lisbon") in told["content"]


@pytest.mark.requirement("BR-FORM-006", "BR-FORM-007", "BR-HTTP-014")
async def test_the_model_is_shown_the_speakers_clock_and_memory_keeps_utc(home: World) -> None:
    shown = await form(
        home,
        {"content": "I live in Lisbon.", "timestamp": "2026-06-02T09:00:00+05:30"},
        {"content": "I work for Acme.", "timestamp": milliseconds("2026-06-02T06:00:00.000Z")},
        {"content": "I like tea."},
        timestamp=LATE,
    )
    lines = [line for line in shown.splitlines() if line.startswith("[")]
    assert [line.split(" Ana Ruiz")[0] for line in lines] == [
        "[1] Tue 2026-06-02 09:00 +05:30",
        "[2] Mon 2026-06-01 22:00 -08:00",
        "[3] Mon 2026-06-01 23:30 -08:00",
    ]
    assert [row[0] for row in home.find("FIND(?e.observed_at) WHERE { ?e EVIDENCE {} }")] == [
        "2026-06-02T03:30:00.000Z",
        "2026-06-02T06:00:00.000Z",
        "2026-06-02T07:30:00.000Z",
    ]


@pytest.mark.requirement("BR-FORM-004")
async def test_a_conversation_shows_times_as_milliseconds_whichever_way_they_came(home: World) -> None:
    message = {"role": "user", "content": "hi", "timestamp": LATE}
    asked = FormationInput.model_validate({"messages": [message]})
    accepted = await home.application.brain.submit_formation("home", asked, CALLER)
    [shown] = home.record(accepted["conversation"])["messages"]
    assert shown == {"role": "user", "content": "hi", "timestamp": milliseconds("2026-06-02T07:30:00.000Z")}


@pytest.mark.requirement("BR-FORM-032")
async def test_what_was_queued_without_an_offset_was_said_in_utc(home: World) -> None:
    asked = FormationInput.model_validate(
        {"messages": [{"role": "user", "name": "Ana", "content": "I'll send the slides tomorrow."}], "timestamp": LATE}
    )
    accepted = await home.application.brain.submit_formation("home", asked, CALLER)
    with home.application.spaces.get("home").transaction() as tx:
        stored = conversations.input_of(tx, "formation", accepted["conversation"])
        assert stored is not None
        messages = [{name: value for name, value in m.items() if "offset" not in name} for m in stored["messages"]]
        tx.set("inputs.formation", f"{accepted['conversation']:012d}", {**stored, "messages": messages})
    await home.work()
    assert [day for day, _ in due(home)] == ["2026-06-03"]


# --- calendar days and instants ---------------------------------------------------------------------------------------

OFFSETS = st.integers(-12 * 60, 14 * 60)
INSTANTS = st.integers(0, milliseconds("2090-01-01T00:00:00.000Z"))
ANA = Thing("C-1", "Person", "ana", "Ana")


def message(observed_ms: int, offset: int, *, later_ms: int = 0) -> Message:
    return Message(1, "msg1", timestamp(observed_ms), ANA, offset, timestamp(observed_ms + later_ms))


@given(INSTANTS, OFFSETS, st.integers(0, 72 * 3_600_000), st.integers(-40, 0))
def test_what_has_begun_on_the_speakers_clock_holds_when_it_is_heard(
    at: int, offset: int, later: int, days: int
) -> None:
    said = message(at, offset, later_ms=later)
    day = shifted(said.observed_at, offset + days * 1440)[:10]
    begun = said.begun(read_date(day, offset))
    assert begun.earliest <= begun.latest <= said.now
    # Kept under its own date, unless it has not begun in UTC while it is heard.
    assert begun.earliest[:10] == day or f"{day}T00:00:00.000Z" > said.now


@given(INSTANTS, OFFSETS, st.integers(1, 40))
def test_what_is_still_to_come_on_the_speakers_clock_has_not_begun(at: int, offset: int, days: int) -> None:
    said = message(at, offset)
    day = shifted(shifted(said.observed_at, offset), days * 1440)[:10]
    begun = said.begun(read_date(day, offset))
    assert said.observed_at < begun.earliest <= begun.latest
    assert begun.earliest[:10] == day


@given(INSTANTS, OFFSETS, st.integers(1, 40))
def test_what_is_over_on_the_speakers_clock_is_over(at: int, offset: int, days: int) -> None:
    said = message(at, offset)
    day = shifted(said.observed_at, offset - days * 1440)[:10]
    over = said.over(read_date(day, offset))
    assert over.earliest <= over.latest <= said.observed_at
    assert over.earliest[:10] == day


@given(INSTANTS, OFFSETS)
def test_a_time_of_day_is_told_by_the_speakers_clock(at: int, offset: int) -> None:
    here = shifted(timestamp(at), offset)[:16]
    for text in (here, f"{here}{offset_text(offset)}"):
        span = read_date(text, offset)
        assert (span.earliest[:16], span.latest[:16]) == (timestamp(at)[:16], timestamp(at)[:16])


@pytest.mark.requirement("BR-FORM-007")
@pytest.mark.parametrize("ahead", ["2026-06-01T12:01:00+00:00", "9999-12-31T00:00:00Z"])
def test_a_time_ahead_of_the_servers_clock_counts_as_when_it_was_accepted(ahead: str) -> None:
    accepted_at = "2026-06-01T12:00:00.000Z"
    said = FormationInput.model_validate(
        {"messages": [{"role": "user", "content": "I live in Porto."}], "timestamp": ahead}
    ).said(accepted_at)
    assert [one.observed_at for one in said] == [accepted_at]
