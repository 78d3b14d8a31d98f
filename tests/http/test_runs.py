"""Runs seen from outside: times and speakers of an input, a run while it goes on, tiers, probes, figures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from brain.service import probe as module
from brain.service.records import change_record
from brain.store.base import Commit
from brain.store.sqlite.snapshot import SqliteSnapshot
from brain.times import FixedClock
from tests.http.conftest import Door, opened, said
from tests.service.world import OWNER, World, served, until, world

pytestmark = pytest.mark.anyio

MINUTE = 60_000


@asynccontextmanager
async def kept(folder: Path, tier: int = 3, **how: Any) -> AsyncIterator[tuple[Door, World]]:
    """A served Space whose model keeps every message."""
    home = world(folder, **how)
    async with served(home.application) as client:
        made = await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": tier})
        assert made.status_code == 200, made.text
        yield Door(client, "home"), home


@pytest.mark.requirement("BR-FORM-006", "BR-FORM-007", "BR-HTTP-014")
async def test_a_message_was_said_at_its_own_time_else_the_requests_else_when_it_came(
    tmp_path: Path, clock: FixedClock
) -> None:
    at = 1_767_225_600_000
    async with kept(tmp_path, clock=clock) as (door, home):
        await door.formed(said("own", timestamp=at), said("of the request"), timestamp="2026-03-09T18:30:00+08:00")
        await door.formed(said("of its coming"))
        times = home.find("FIND(?e.payload, ?e.observed_at) WHERE { ?e EVIDENCE {} }")
    assert {payload["inline"]: at for payload, at in times} == {
        "own": "2026-01-01T00:00:00.000Z",
        "of the request": "2026-03-09T10:30:00.000Z",
        "of its coming": "2026-09-20T00:00:00.000Z",
    }


@pytest.mark.requirement("BR-FORM-004", "BR-FORM-012")
async def test_parts_are_joined_and_the_newest_sixteen_messages_are_read_after_the_others(tmp_path: Path) -> None:
    async with kept(tmp_path) as (door, home):
        parts = [{"type": "Text", "text": "one"}, "two", {"type": "Image", "url": "x"}]
        record = await door.formed(*(said(f"number {n}") for n in range(19)), {"role": "user", "content": parts})
        payloads = [row[0]["inline"] for row in home.find("FIND(?e.payload) WHERE { ?e EVIDENCE {} }")]
    assert payloads == [*(f"number {n}" for n in range(19)), "one\ntwo"]
    asked = [message["content"].splitlines() for message in record["messages"] if message["role"] == "user"]
    cited = [[line.rpartition(": ")[2] for line in lines if line.startswith(("[1] ", "[4] "))] for lines in asked]
    assert cited == [["number 0", "number 3"], ["number 4", "number 7"]]
    assert [sum(line.startswith("[context] ") for line in lines) for lines in asked] == [0, 4]


@pytest.mark.requirement("BR-FORM-001", "BR-FORM-008", "BR-DIAG-023", "BR-EP-026", "BR-EP-029")
async def test_a_run_is_seen_while_it_goes_on(tmp_path: Path) -> None:
    async with kept(tmp_path) as (door, home):
        home.keeper.gates["slowly [twice]"] = anyio.Event()
        with anyio.fail_after(2):
            accepted = await door.result("formation", {"messages": [said("slowly [twice]")]})
        number = accepted["conversation"]
        await until(lambda: home.keeper.at_work)
        working = await door.result(f"conversations/{number}")
        assert working["status"] == "working"
        status = await door.result("formation_status")
        assert (status["formation_processing"], status["formation_processed_id"]) == (True, 0)
        seen = len(working["messages"])
        home.keeper.gates["slowly [twice]"].set()
        home.keeper.pause_s = 0.3
        await until(lambda: len(home.record(number)["messages"]) > seen and home.keeper.at_work)
        delta = await door.result(f"conversations/{number}/delta?messages_offset={seen}")
        assert delta["status"] == "working"
        assert [message["role"] for message in delta["messages"]] == ["assistant", "tool"][: len(delta["messages"])]
        done = await door.ended(number)
        rest = await door.result(f"conversations/{number}/delta?messages_offset={seen + len(delta['messages'])}")
        assert delta["messages"] + rest["messages"] == done["messages"][seen:]
        assert rest["status"] == "completed"
        status = await door.result("formation_status")
        assert (status["formation_processing"], status["formation_processed_id"]) == (False, number)


@pytest.mark.requirement("BR-FORM-010", "BR-LIFE-001", "BR-LIFE-002")
async def test_a_space_over_its_tier_takes_no_more_and_still_answers(tmp_path: Path) -> None:
    async with kept(tmp_path, tier=0) as (door, home):
        for number in range(101):
            accepted = await door.post("formation", {"messages": [said(f"[fail] {number}")]})
            assert accepted.status_code == 200, (number, accepted.text)
        refused = await door.post("formation", {"messages": [said("one more")]})
        assert refused.status_code == 400
        assert "node limit exceeded: 101 of 100" in refused.json()["error"]["message"]
        assert (await door.result("info"))["conversations"] == 101
        assert (await door.post("recall", {"query": "who?"})).status_code == 200
        assert (await door.post("probe", {"query": "who"})).status_code == 200
        with home.application.spaces.get("home").transaction() as tx:
            change_record(tx, lambda record: record.update(tier={"tier": 1, "updated_at": 0}))
        assert (await door.post("formation", {"messages": [said("one more")]})).status_code == 200


@pytest.mark.requirement("BR-DIAG-004", "BR-DIAG-005")
async def test_a_vain_search_is_remembered_for_an_hour(tmp_path: Path, clock: FixedClock) -> None:
    async with kept(tmp_path, clock=clock) as (door, _):
        assert (await door.result("probe", {"query": "Quuxville"}))["negative_cached"] is False
        clock.advance(59 * MINUTE)
        assert (await door.result("probe", {"query": "Quuxville"}))["negative_cached"] is True
        clock.advance(2 * MINUTE)
        assert (await door.result("probe", {"query": "Quuxville"}))["negative_cached"] is False


@pytest.mark.requirement("BR-DIAG-004")
async def test_long_and_many_vain_searches_are_not_remembered_without_end(tmp_path: Path) -> None:
    async with kept(tmp_path) as (door, home):
        for _ in range(2):
            assert (await door.result("probe", {"query": "q" * 513}))["negative_cached"] is False
        with home.application.spaces.get("home").transaction() as tx:
            for number in range(1024):
                tx.set("probe_misses", f"x{number}", {}, expires_ms=home.clock.now_ms() + MINUTE)
        for _ in range(2):
            assert (await door.result("probe", {"query": "one more"}))["negative_cached"] is False


async def test_a_miss_is_not_remembered_when_something_was_written_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kept(tmp_path) as (door, home):
        search = module._search

        def slow_search(*arguments: Any) -> Any:
            found = search(*arguments)
            home.application.spaces.get("home").engine.run(
                'UPSERT CONCEPT ?x { MATCH {type: "Person", key: "late"} SET FIELDS {name: "Latecomer"} }'
            )
            return found

        with monkeypatch.context() as patch:
            patch.setattr(module, "_search", slow_search)
            assert (await door.result("probe", {"query": "Latecomer"}))["found"] is False
        assert (await door.result("probe", {"query": "Latecomer"}))["found"] is True


@pytest.mark.requirement("BR-DIAG-002", "BR-DIAG-006", "BR-DIAG-007")
async def test_probe_shows_at_most_fifty_active_hits_and_says_whether_there_are_more(tmp_path: Path) -> None:
    async with kept(tmp_path) as (door, home):
        space = home.application.spaces.get("home")
        for number in range(60):
            space.engine.run(
                'UPSERT CONCEPT ?x { MATCH {type: "Person", key: :key} SET FIELDS {name: :name} }',
                {"key": f"z{number}", "name": f"Zither {number}"},
            )
        found = await door.result("probe", {"query": "zither"})
        assert (len(found["hits"]), found["search_exhaustive"]) == (8, False)
        for limit, shown in {1: 1, 0: 1, -5: 1, 50: 50, 51: 50, 10_000: 50}.items():
            assert len((await door.result("probe", {"query": "zither", "limit": limit}))["hits"]) == shown
        first = found["hits"][0]["entity"]
        space.engine.run(f'TRANSITION "{first}" TO "archived"')
        hits = (await door.result("probe", {"query": "zither", "limit": 50}))["hits"]
        assert first not in {hit["entity"] for hit in hits}


@pytest.mark.requirement("BR-DIAG-008", "BR-DIAG-009", "BR-DIAG-011", "BR-RECALL-023", "BR-SPACE-011", "BR-DIAG-028")
async def test_figures_move_by_their_own_events_and_rates_wait_for_a_divisor(tmp_path: Path) -> None:
    async with kept(tmp_path) as (door, _):
        fresh = await door.result("memory_status")
        assert set(fresh) == {"metrics", "graph"}
        assert {value for name, value in fresh["metrics"].items()} == {0}
        await door.result("recall_structured", {"query": "how is it?"})
        after = await door.result("memory_status")
        moved = {name for name in fresh["metrics"] if after["metrics"][name] != fresh["metrics"][name]}
        assert moved == {"recalls_completed", "uncertainty_reports", "uncertainty_sum", "updated_at"}
        assert after["avg_uncertainty"] == 0.25
        assert "probe_hit_rate" not in after
        await door.result("probe", {"query": "nothing"})
        assert (await door.result("memory_status"))["probe_hit_rate"] == 0.0
        info = await door.result("info")
        assert info["recall_usage"] == {
            "input_tokens": 50,
            "output_tokens": 10,
            "cached_tokens": 0,
            "requests": 1,
        }
        assert info["formation_usage"]["requests"] == 0
        await door.ended((await door.result("maintenance", {}))["conversation"], "maintenance")
        assert (await door.result("memory_status"))["last_settlement"]["settled_at"] > 0


@pytest.mark.requirement("BR-DIAG-012", "BR-SPACE-010")
async def test_figures_are_read_from_counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kept(tmp_path) as (door, _):
        for name in ("scan", "tuples", "assertions", "select", "commits", "search", "scan_state"):

            def refuse(*_: Any, name: str = name, **__: Any) -> None:
                raise AssertionError(f"{name} reads more than a counter")

            monkeypatch.setattr(SqliteSnapshot, name, refuse)
        for path in ("info", "formation_status", "memory_status"):
            assert await door.result(path)


@pytest.mark.requirement("BR-SPACE-001")
async def test_nothing_of_a_space_is_seen_through_anothers_id(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        await door.formed(said("I live in Porto."))
        await door.client.post("/admin/create_space", json={"user": OWNER, "space_id": "other", "tier": 1})
        other = Door(door.client, "other")
        assert (await other.result("probe", {"query": "Porto"}))["found"] is False
        assert (await other.result("recall_structured", {"query": "Where does Ana live?"}))["found"] is False
        assert (await other.get("conversations/1")).status_code == 400
        assert await other.kip('FIND(?x.id) WHERE { ?x {name: "Porto"} }') == []
        named = await other.post(
            "execute_kip_readonly", {"command": "DESCRIBE SNAPSHOT", "read": {"snapshot_token": "home"}}
        )
        assert named.json()["status"] == "failed"


@pytest.mark.requirement("BR-EP-016")
async def test_the_words_a_space_made_for_itself_are_listed_with_what_became_of_them(tmp_path: Path) -> None:
    async with kept(tmp_path) as (door, home):
        fresh = await door.result("schema/drafts")
        assert (fresh["package_ref"], fresh["symbols"]) == ("kip://local/draft@0.0.0", [])
        engine = home.application.spaces.get("home").engine
        for command in (
            'DEFINE CONCEPT TYPE "Gizmo" {description: "A gadget."}',
            'DEFINE PREDICATE "tinkers_with" {description: "Plays and mends.", subject: {concept_types: ["Person"]}}',
            'DEFINE CONCEPT TYPE "Aardvark" {description: "An animal."}',
        ):
            assert engine.run(command).response["status"] == "succeeded"
        drafts = await door.result("schema/drafts")
        assert drafts["schema_environment_version"] == fresh["schema_environment_version"] + 3
        assert [(one["kind"], one["name"], one["ref"]) for one in drafts["symbols"]] == [
            ("ConceptType", "Gizmo", "kip://local/draft@0.0.0/Gizmo"),
            ("ConceptType", "Aardvark", "kip://local/draft@0.0.0/Aardvark"),
            ("PredicateType", "tinkers_with", "kip://local/draft@0.0.0/tinkers_with"),
        ]
        assert drafts["symbols"][0]["definition"]["description"] == "A gadget."
        assert not any("promoted_to" in one for one in drafts["symbols"])
        with home.application.spaces.get("home").transaction() as tx:
            promoting = engine.environment(tx).with_promotion(
                "concept_type", "Gizmo", "kip://profiles/cognitive-memory@2.0.0/Event"
            )
            tx.put_control("schema", promoting.to_document())
            seq = tx.seq + 1
            tx.record(Commit(seq, f"test#{seq}", "2026-09-20T00:00:00.000Z", {}, {"space_seq": seq}))
        promoted = {one["name"]: one.get("promoted_to") for one in (await door.result("schema/drafts"))["symbols"]}
        assert promoted["Gizmo"].endswith("/Event")
        assert promoted["Aardvark"] is None
