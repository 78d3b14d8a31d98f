"""The memory policy of a Space: what may be set, what it is when nothing is, and what it governs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from brain.agents.jobs import FormationJob, Place, RunResult
from brain.agents.model import ModelAnswer, ModelRequest, Usage, call
from brain.agents.turns import MaintenanceTurn
from brain.app import build
from brain.service.inputs import UpdateSpaceInput
from brain.service.records import record_of
from tests.http.conftest import Door, opened
from tests.service.world import OWNER, served, settings_for, world

pytestmark = pytest.mark.anyio

UPDATE = "/v1/home/management/update_space"

RUST_POLICY = {
    "version": 1,
    "memory_strength_decay_factor": 0.95,
    "recall_reinforcement": 0.1,
    "correction_penalty": 0.2,
    "decay_floor": 0.3,
    "stale_event_threshold_days": 7,
    "unsorted_max_backlog": 20,
    "orphan_max_count": 20,
    "self_test_queries_per_cycle": 4,
    "self_test_token_budget": 20000,
    "recall_search_threshold": 0.5,
    "recall_max_rounds": 7,
    "recall_budget": None,
    "shadow_replay_sample": 4,
}
"""Every member the Rust service keeps."""


async def update(door: Door, **members: Any) -> tuple[int, str]:
    answer = await door.client.patch(UPDATE, json=members)
    return answer.status_code, answer.text


@pytest.mark.requirement("BR-EP-040", "BR-CONF-026", "BR-SPACE-009", "BR-SPACE-012")
async def test_a_policy_is_replaced_whole_and_kept_over_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        before = await door.result("info")
        assert "memory_policy" not in before
        await update(door, memory_policy={"recall_max_rounds": 3, "orphan_max_count": 5})
        await update(door, memory_policy={"recall_max_rounds": 4}, name="Kitchen")
        await update(door, description="Meals")
        info = await door.result("info")
        assert info["memory_policy"] == {"recall_max_rounds": 4}
        assert (info["name"], info["description"]) == ("Kitchen", "Meals")
        assert info["db_stats"] == before["db_stats"]  # it is no part of the graph, and takes no sequence
    async with served(build(settings_for(tmp_path))) as client:
        door = Door(client, "home")
        assert (await door.result("info"))["memory_policy"] == {"recall_max_rounds": 4}
        await update(door, memory_policy=None)
        assert "memory_policy" not in await door.result("info")


@pytest.mark.requirement("BR-CONF-026", "BR-CONF-028", "BR-CONF-039")
@pytest.mark.parametrize(
    ("member", "lowest", "highest"),
    [
        ("stale_event_threshold_days", 1, 365),
        ("unconsolidated_max_backlog", 1, 10_000),
        ("unsorted_max_backlog", 1, 10_000),
        ("orphan_max_count", 1, 10_000),
        ("self_test_queries_per_cycle", 0, 100),
        ("self_test_token_budget", 0, 10_000_000),
        ("recall_max_rounds", 1, 50),
        ("shadow_replay_sample", 0, 16),
        ("decay_floor", 0, 1),
        ("recall_reinforcement", 0, 1),
        ("correction_penalty", 0, 1),
        ("recall_search_threshold", 0, 1),
    ],
)
async def test_a_member_out_of_range_is_refused_by_name_and_changes_nothing(
    tmp_path: Path, member: str, lowest: int, highest: int
) -> None:
    async with opened(tmp_path) as door:
        for good in (lowest, highest):
            assert await update(door, memory_policy={member: good}) == (200, '{"result":true}')
        kept = (await door.result("info"))["memory_policy"]
        for bad in (lowest - 1, highest + 1, "1", True, [1]):
            status, text = await update(door, memory_policy={member: bad}, name="changed")
            assert status == 400
            assert member in text
        info = await door.result("info")
        assert (info["memory_policy"], info["name"]) == (kept, None)


@pytest.mark.requirement("BR-CONF-026", "BR-CONF-028")
async def test_ceilings_of_a_recall_budget_are_checked_with_the_policy(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        good = {"tokenizer": "o200k_base@tiktoken-rs-0.12", "max_tokens": 65_536, "context_tokens": 131_072}
        await update(door, memory_policy={"recall_budget": good})
        assert (await door.result("info"))["memory_policy"] == {"recall_budget": good}
        bad: tuple[Any, ...] = ({"max_tokens": 0}, {"max_tokens": 65_537}, {"context_tokens": 131_073}, 5)
        for budget in (*bad, {"tokenizer": "cl100k_base"}):
            status, text = await update(door, memory_policy={"recall_budget": budget})
            assert status == 400
            assert "recall_budget" in text


@pytest.mark.requirement("BR-CONF-029", "BR-CONF-039")
async def test_a_policy_of_the_rust_service_is_taken_as_it_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        assert (await update(door, memory_policy=RUST_POLICY))[0] == 200
        kept = (await door.result("info"))["memory_policy"]
        renamed = {name: value for name, value in RUST_POLICY.items() if value is not None}
        renamed["unconsolidated_max_backlog"] = renamed.pop("unsorted_max_backlog")
        assert kept == renamed
        for bad in (0, 1.1):
            assert (await update(door, memory_policy={"memory_strength_decay_factor": bad}))[0] == 400


@pytest.mark.requirement("BR-CONF-026", "BR-CONF-027", "BR-MAINT-006", "BR-MAINT-036")
async def test_a_cycle_keeps_to_its_own_targets_then_the_policys_then_the_defaults(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    class Watching:
        name = "test/watching"

        async def answer(self, request: ModelRequest) -> ModelAnswer:
            assert isinstance(request.task, MaintenanceTurn)
            seen.append(dict(request.task.assessment["backlog"]["targets"]))
            return ModelAnswer("Nothing to tidy.", (), Usage(1, 1, 0, 1), self.name)

    async with served(build(settings_for(tmp_path), model=Watching())) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 3})
        door = Door(client, "home")

        async def cycle(**parameters: int) -> None:
            accepted = await door.result("maintenance", {"scope": "quick", "parameters": parameters})
            assert (await door.ended(accepted["conversation"], "maintenance"))["status"] == "completed"

        await cycle()
        await update(door, memory_policy={"stale_event_threshold_days": 30, "orphan_max_count": 5})
        await cycle()
        await cycle(orphan_max_count=9)
        await cycle()

    def told(days: int, backlog: int, orphans: int) -> dict[str, int]:
        names = ("stale_event_threshold_days", "unconsolidated_max_backlog", "orphan_max_count")
        return dict(zip(names, (days, backlog, orphans), strict=True))

    assert seen == [told(7, 20, 20), told(30, 20, 5), told(30, 20, 9), told(30, 20, 5)]


class Endless:
    """A model that never stops asking for the reference."""

    name = "test/endless"

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        self.asked += 1
        return call("kip_reference", '{"topic": "syntax"}', call_id=f"call_{self.asked}", model=self.name)


@pytest.mark.requirement("BR-RECALL-005", "BR-CONF-028")
async def test_recall_takes_as_many_rounds_as_the_policy_allows(tmp_path: Path) -> None:
    model = Endless()
    async with served(build(settings_for(tmp_path), model=model)) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 3})
        door, rounds = Door(client, "home"), []
        for policy in (None, {"recall_max_rounds": 2}, {"recall_max_rounds": 9}, {}):
            await update(door, memory_policy=policy)
            model.asked = 0
            await door.result("recall", {"query": "Where does Ana live?"})
            rounds.append(model.asked)
        assert rounds == [7, 2, 9, 7]


@pytest.mark.requirement("BR-GATE-032")
async def test_whom_a_claim_may_name_is_set_by_the_policy_before_the_setting(tmp_path: Path) -> None:
    home = world(tmp_path, memory_attribution="named")
    home.create()
    management, passes = home.application.management, home.application.passes
    seen: list[str] = []

    async def form(place: Place, _: FormationJob) -> RunResult:
        seen.append(place.attribution)
        return RunResult("", None, Usage(), "test/none", 0, "done")

    passes._form = form
    for policy in (None, {"memory_attribution": "open"}, {"memory_attribution": "speaker"}, {}):
        management.update_space("home", UpdateSpaceInput.model_validate({"memory_policy": policy}))
        await home.submit("I like tea.")
        await home.work()
    assert seen == ["named", "open", "speaker", "named"]
    with pytest.raises(ValidationError):
        UpdateSpaceInput.model_validate({"memory_policy": {"memory_attribution": "anyone"}})
    home.application.spaces.close()


@pytest.mark.requirement("BR-EP-040", "BR-SPACE-012")
async def test_wiki_members_are_checked_and_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        labels = {"handbook": "hr"}
        good = {"wiki_digest": True, "wiki_audit_reads": True, "wiki_acl_defaults": labels}
        assert (await update(door, **good))[0] == 200
        bad: tuple[dict[str, Any], ...] = (
            {"wiki_digest": "yes"},
            {"wiki_audit_reads": None},
            {"wiki_acl_defaults": []},
            {"wiki_acl_defaults": {"handbook": 7}},
            {"wiki_acl_defaults": {" ": "hr"}},
            {"wiki_acl_defaults": {"handbook": " "}},
            {"wiki_acl_defaults": {"handbook": "x" * 257}},
        )
        for members in bad:
            assert (await update(door, **members))[0] == 400
        spaces = door.client._transport.app.state.management._spaces  # type: ignore[attr-defined]
        with spaces.get("home").snapshot() as now:
            record = record_of(now)
        assert {name: record[name] for name in good} == good
