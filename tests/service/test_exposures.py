"""What a recall showed is noted beside memory (KIP 2.0 §66.8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.agents.builtin import OfflineModel
from brain.app import build
from brain.kip.exposure import ExposureLog
from brain.service.hosting import HOST
from brain.service.inputs import FormationInput, MessageInput, RecallInput
from tests.service.keeper import Keeper
from tests.service.world import CALLER, World, settings_for

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("KI-PROFILE-054", "KI-CAP-018")
async def test_a_recall_notes_what_it_showed_and_moves_no_sequence(tmp_path: Path) -> None:
    home = World(build(settings_for(tmp_path), model=OfflineModel()), Keeper())
    home.create()
    said = FormationInput(messages=[MessageInput(role="user", name="Ana Ruiz", content="I live in Lisbon.")])
    await home.application.brain.submit_formation("home", said, CALLER)
    await home.work()
    engine = home.application.spaces.get("home").engine
    before = engine.space.head()
    asked = RecallInput(query="Where does Ana Ruiz live?")
    told = await home.application.brain.recall_structured("home", asked, CALLER)
    shown = [memory["entity"] for memory in told["memories"]]
    assert shown
    rows = [row for _, row in ExposureLog(engine).read(HOST)]
    assert [row["element_id"] for row in rows] == shown
    assert {(row["exposure"], row["principal_id"], row["snapshot_seq"]) for row in rows} == {
        ("retrieved", CALLER.principal, before)
    }
    assert {row["recall_ref"] for row in rows} == {f"recall:{told['conversation']}"}
    assert engine.space.head() == before
    again = await home.application.brain.recall("home", RecallInput(query="What does Bo Li collect?"), CALLER)
    assert again["content"]
    assert len(ExposureLog(engine).read(HOST)) == len(rows)
    home.application.spaces.close()
