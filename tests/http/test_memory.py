"""Single things a Space remembers: pinned, forgotten, users, attention, promotion, restarts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from brain.agents.reading import Reading
from brain.service.attention import attention
from brain.service.entries import MAINTENANCE, PASS_LEASE, cycle_input, queue_cycle
from brain.service.hosting import HOST
from brain.service.spaces import OpenSpace
from brain.store.base import WorkStatus
from brain.times import SystemClock
from tests.http.conftest import Door, holding, opened

pytestmark = pytest.mark.anyio


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    async with opened(tmp_path) as one:
        yield one


def space_of(door: Door) -> OpenSpace:
    application = door.client._transport.app.state  # type: ignore[attr-defined]
    space: OpenSpace = application.memory._spaces.get("home")
    return space


def write(door: Door, command: str, **parameters: Any) -> Any:
    outcome = space_of(door).engine.run(command, parameters, session=HOST).response
    assert outcome["status"] == "succeeded", outcome
    return outcome["results"][0]["result"]


def two_people(door: Door) -> dict[str, str]:
    made = write(
        door,
        'MUTATE { CREATE CONCEPT ?ana {TYPE "Person" NAME "Ana"} CREATE CONCEPT ?bo {TYPE "Person" NAME "Bo"} '
        'ASSERT ?claim (?ana, "knows", ?bo) {by: ?ana, mode: "stated"} }',
    )["handles"]
    return {**made, "tuple": made["claim#proposition"]}


@pytest.mark.requirement("BR-MODEL-026", "BR-EP-010")
async def test_pinning_is_told_by_how_many_records_it_changed_and_unpinning_restores_the_class(door: Door) -> None:
    ana = two_people(door)["ana"]
    write(door, 'SET RETENTION :id {retention_class: "transient"}', id={"id": ana})
    assert await door.result("memory/pin", {"entity": ana}) == {"entity": ana, "pinned": True, "updated": 1}
    assert await door.result("memory/pin", {"entity": ana}) == {"entity": ana, "pinned": True, "updated": 0}
    [held] = await door.kip("FIND(?c.retention) WHERE { ?c CONCEPT {id: :id} }", id=ana)
    assert held["retention_class"] == "pinned"
    off = {"entity": ana, "pinned": False}
    assert await door.result("memory/pin", off) == {**off, "updated": 1}
    assert await door.result("memory/pin", off) == {**off, "updated": 0}
    [held] = await door.kip("FIND(?c.retention) WHERE { ?c CONCEPT {id: :id} }", id=ana)
    assert held["retention_class"] == "transient"
    for bad in ({"entity": "C-999"}, {"entity": "ana"}, {"entity": ana, "pinned": "yes"}, {}):
        assert (await door.post("memory/pin", bad)).status_code == 400


@pytest.mark.requirement("BR-MODEL-028", "BR-MODEL-029", "BR-MODEL-030", "BR-EP-011", "BR-EP-051")
async def test_a_dry_run_of_forgetting_tells_what_the_real_run_does(door: Door, tmp_path: Path) -> None:
    made = two_people(door)
    write(door, 'CREATE CONCEPT ?x {TYPE "Person" NAME "Zyzzyva Quux"}')
    [zyzzyva] = await door.kip('FIND(?c.id) WHERE { ?c CONCEPT {name: "Zyzzyva Quux"} }')
    # The tuple goes with its claim; Bo is what it was about; the rest is not there, or twice.
    asked = [made["bo"], made["tuple"], made["claim"], zyzzyva, made["bo"], "E-77"]
    seq = space_of(door).store.head()
    tried = await door.result("memory/forget", {"entities": asked, "dry_run": True})
    assert space_of(door).store.head() == seq
    done = await door.result("memory/forget", {"entities": asked})
    assert {**tried, "dry_run": False} == done
    assert {name: count for name, count in done.items() if name.startswith("deleted")} == {
        "deleted_concepts": 2,
        "deleted_propositions": 1,
        "deleted_assertions": 1,
        "deleted_evidence": 0,
        "deleted_activities": 0,
    }
    assert [told["entity"] for told in done["entities"]] == [made["bo"], made["tuple"], made["claim"], zyzzyva, "E-77"]
    assert [told["existed"] for told in done["entities"]] == [True] * 4 + [False]
    assert [bool(told.get("error")) for told in done["entities"]] == [False] * 4 + [True]
    assert not await door.kip("FIND(?c.id) WHERE { ?c CONCEPT {id: :id} }", id=made["bo"])
    assert await door.kip("FIND(?c.id) WHERE { ?c CONCEPT {id: :id} }", id=made["ana"])
    again = await door.result("memory/forget", {"entities": [made["bo"]]})
    assert again["entities"][0]["existed"] is False
    status = await door.result("memory_status")
    assert status["metrics"]["forgotten_entities"] == 4
    assert not holding(tmp_path, "Zyzzyva")


@pytest.mark.requirement("BR-MODEL-028", "BR-MODEL-030")
async def test_what_is_held_or_referred_to_stays_and_is_told_and_the_rest_goes(door: Door) -> None:
    made = two_people(door)
    write(door, "SET RETENTION :id {legal_hold: true}", id={"id": made["claim"]})
    write(door, 'CREATE CONCEPT ?x {TYPE "Person" NAME "Cy"}')
    [cy] = await door.kip('FIND(?c.id) WHERE { ?c CONCEPT {name: "Cy"} }')
    done = await door.result("memory/forget", {"entities": [made["claim"], made["ana"], made["tuple"], cy]})
    errors = {told["entity"]: told.get("error") for told in done["entities"]}
    assert errors[cy] is None
    assert all(errors[made[name]] for name in ("claim", "ana", "tuple"))
    assert (done["deleted_concepts"], done["deleted_propositions"], done["deleted_assertions"]) == (1, 0, 0)


@pytest.mark.requirement("BR-EP-011")
@pytest.mark.parametrize(
    "asked", [{}, {"entities": "C-1"}, {"entities": ["zzz"]}, {"entities": [f"C-{n}" for n in range(1, 102)]}]
)
async def test_what_cannot_be_forgotten_as_asked_is_refused(door: Door, asked: Any) -> None:
    assert (await door.post("memory/forget", asked)).status_code == 400


@pytest.mark.requirement("BR-EP-012")
async def test_nothing_is_forgotten_while_a_cycle_runs_but_a_dry_run_is_answered(door: Door) -> None:
    made, space = two_people(door), space_of(door)
    now = SystemClock().now_ms()
    with space.transaction() as tx:
        tx.acquire_lease(PASS_LEASE, "another process", ttl_ms=60_000, now_ms=now)
        number = queue_cycle(tx, now, cycle_input("quick", "scheduled", 0), "$system", None)
        [work] = tx.work(MAINTENANCE)
        assert work.payload["conversation"] == number
        tx.update_work(work.id, status=WorkStatus.RUNNING)
    refused = await door.post("memory/forget", {"entities": [made["claim"]]})
    assert refused.status_code == 400
    assert "maintenance" in refused.json()["error"]["message"]
    assert (await door.result("memory/forget", {"entities": [made["claim"]], "dry_run": True}))[
        "deleted_assertions"
    ] == 1


@pytest.mark.requirement("BR-EP-023")
async def test_a_user_is_made_once_and_renamed_only_when_a_name_is_given(door: Door) -> None:
    made = await door.result("get_or_init_user", {"user": "u1"})
    assert (made["kind"], made["key"], made["name"]) == ("concept", "u1", "u1")
    assert made["schema_ref"].endswith("/Person")
    named = await door.result("get_or_init_user", {"user": "u1", "name": "User One"})
    assert (named["id"], named["name"]) == (made["id"], "User One")
    assert (await door.result("get_or_init_user", {"user": " u1 "}))["name"] == "User One"
    other = await door.result("get_or_init_user", {"user": "u2", "name": "Two"})
    assert (other["key"], other["name"]) == ("u2", "Two")
    missing = await door.post("get_or_init_user", {})
    assert missing.status_code == 400
    assert "missing field" in missing.json()["error"]["message"]
    for bad in ({"user": " "}, {"user": "$self", "name": "Mallory"}, {"user": 7}, {"user": "u" * 300}):
        assert (await door.post("get_or_init_user", bad)).status_code == 400
    [own] = await door.kip('FIND(?c.name) WHERE { ?c CONCEPT {key: "$self"} }')
    assert own == "Brain"


@pytest.mark.requirement("BR-SPACE-017", "BR-SPACE-018", "BR-SPACE-019", "BR-EP-017")
async def test_a_draft_is_promoted_once_and_matches_as_its_target_from_then_on(door: Door) -> None:
    write(door, 'DEFINE CONCEPT TYPE "Human" {description: "A human."}')
    write(door, 'CREATE CONCEPT ?h {TYPE "Human" NAME "Hilda"}')
    asked = {"kind": "ConceptType", "from": "Human", "to": "Person"}
    before = (await door.result("schema/drafts"))["schema_environment_version"]
    for bad in (
        {**asked, "from": "Nobody"},
        {**asked, "to": "Nobody"},
        {**asked, "to": "Human"},
        {**asked, "kind": "PredicateType"},
        {**asked, "kind": "Facet"},
        {"kind": "ConceptType"},
    ):
        assert (await door.post("schema/promote", bad)).status_code == 400, bad
    promoted = await door.result("schema/promote", asked)
    assert promoted == {
        "promoted": "kip://local/draft@0.0.0/Human",
        "to": "kip://profiles/cognitive-memory@2.0.0/Person",
        "schema_environment_version": promoted["schema_environment_version"],
    }
    drafts = await door.result("schema/drafts")
    assert drafts["schema_environment_version"] == promoted["schema_environment_version"] > before
    assert drafts["symbols"][0]["promoted_to"] == "kip://profiles/cognitive-memory/Person"
    [hilda] = await door.kip('FIND(?c) WHERE { ?c {type: "Person", name: "Hilda"} }')
    assert hilda["schema_ref"] == "kip://local/draft@0.0.0/Human"
    assert (await door.post("schema/promote", asked)).status_code == 400


def raise_all(door: Door, *names: str) -> list[str]:
    """Commitments that fell due in one commit, in the order named."""
    concepts = " ".join(
        f'CREATE CONCEPT ?c{n} {{TYPE "Commitment" NAME "{name}" SET ATTRIBUTES '
        f'{{summary: "{name}", status: "pending", due_at: "2026-01-0{n + 1}T00:00:00.000Z"}}}}'
        for n, name in enumerate(names)
    )
    made = write(door, f"MUTATE {{ {concepts} }}")["handles"]
    # Raised the other way round: the order of the items is that of what was raised.
    raises = " ".join(
        f'CREATE ACTIVITY ?x{n} {{SET FIELDS {{activity_class: "commitment_review", status: "completed"}} '
        f'SET STRUCTURAL {{("inputs", "{made[f"c{n}"]}")}} }}'
        for n in reversed(range(len(names)))
    )
    write(door, f"MUTATE {{ {raises} }}")
    return [made[f"c{n}"] for n in range(len(names))]


@pytest.mark.requirement("BR-EP-013", "BR-EP-014", "BR-EP-015", "BR-MI-081")
@pytest.mark.parametrize("limit", [1, 2, 3, 20])
async def test_attention_is_delivered_in_order_whatever_the_page(door: Door, limit: int) -> None:
    assert await door.result(f"memory/attention?limit={limit}") == {
        "items": [],
        "attention_cursor": "attention:start",
        "complete": True,
    }
    first = raise_all(door, "Pay rent", "Call Bo", "Water plants")
    second = raise_all(door, "Mend the roof")
    watch = write(
        door,
        'CREATE CONCEPT ?w {TYPE "Watch" NAME "Roof" SET ATTRIBUTES '
        '{summary: "the roof leaks", watch_class: "delta", status: "disarmed", condition: {element: "C-9"}} '
        'SET STRUCTURAL {("watches", :roof)} }',
        roof={"id": second[0]},
    )["handles"]["w"]
    write(
        door,
        'CREATE ACTIVITY ?x {SET FIELDS {activity_class: "watch_fire", status: "completed"} '
        'SET STRUCTURAL {("inputs", :w) ("inputs", :roof)} }',
        w={"id": watch},
        roof={"id": second[0]},
    )
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        asked = f"memory/attention?limit={limit}" + (f"&attention_cursor={cursor}" if cursor else "")
        page = await door.result(asked)
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["attention_cursor"]
        if page["complete"]:
            break
    assert [item["ref"] for item in items] == [*first, *second, watch]
    assert {item["kind"] for item in items[:4]} == {"commitment_due"}
    assert items[0]["summary"] == "Pay rent"
    assert items[0]["due_at"] == "2026-01-01T00:00:00.000Z"
    assert items[0]["target_refs"] == [first[0]]
    assert (items[-1]["kind"], items[-1]["target_refs"]) == ("watch_fired", second)
    assert cursor == f"attention:{items[-1]['raised_seq']}"
    empty = await door.result(f"memory/attention?attention_cursor={cursor}")
    assert empty == {"items": [], "attention_cursor": cursor, "complete": True}


@pytest.mark.requirement("BR-EP-013", "BR-EP-014")
async def test_cursors_and_limits_that_are_none_are_refused(door: Door) -> None:
    for query in (
        "limit=0",
        "limit=51",
        "limit=x",
        "limit=-1",
        "attention_cursor=junk",
        "attention_cursor=attention:1:Z",
    ):
        assert (await door.get(f"memory/attention?{query}")).status_code == 400, query
    for start in ("attention:start", "attention:-1", ""):
        assert (await door.result(f"memory/attention?attention_cursor={start}"))["complete"] is True


async def test_a_position_inside_a_commit_names_what_was_delivered_last(door: Door) -> None:
    first = raise_all(door, "Pay rent", "Call Bo")
    page = attention(Reading(space_of(door).engine, HOST), None, 1)
    seq = page["items"][0]["raised_seq"]
    assert page["attention_cursor"] == f"attention:{seq}:{first[0]}"
    assert page["complete"] is False


@pytest.mark.requirement("BR-EP-041")
async def test_only_a_formation_that_failed_is_started_again(door: Door) -> None:
    record = await door.formed({"role": "user", "name": "Ana", "content": "I like tea."})
    path, asked = "management/restart_formation", {"conversation": record["_id"]}
    assert (await door.client.patch(f"/v1/home/{path}", json=asked)).status_code == 400
    assert (await door.client.patch(f"/v1/home/{path}", json={"conversation": 99})).status_code == 400
    assert (await door.client.patch(f"/v1/home/{path}", json={})).status_code == 400
    space = space_of(door)
    with space.transaction() as tx:
        stored = tx.get("conversations.formation", f"{record['_id']:012d}")
        assert stored is not None
        tx.set("conversations.formation", f"{record['_id']:012d}", {**stored, "status": "failed", "failed_reason": "x"})
    answer = await door.client.patch(f"/v1/home/{path}", json=asked)
    assert answer.status_code == 200
    assert answer.json()["result"] is True
    ended = await door.ended(record["_id"])
    assert ended["status"] == "completed"
    assert "failed_reason" not in ended
