"""Defects seen in the service whose clients ours takes over: each is a test, here or where its subject lives.

Numbers are those of the list they were noted in. Of parts that are not there yet, and with them their tests: 1 and 16
(staged sources), 4 and 5 (briefings and revisions of the Memory Interface), the erasure plans of 11, the labelled
documents of 12.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import anyio
import pytest

from brain.app import build
from tests.http.conftest import Door, opened, said
from tests.http.test_access import cwt, guarded
from tests.http.test_execute_kip import works
from tests.service.world import OWNER, served, settings_for

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[1]

ELSEWHERE = {
    3: ["http/test_faults.py::test_a_client_that_hangs_up_frees_its_places_and_ends_its_recall"],
    7: [
        "gate/test_formation_writes.py::test_nobody_takes_back_anothers_claim",
        "gate/test_formation_writes.py::test_nobody_corrects_anothers_evidence",
        "http/test_execute_kip.py::test_what_a_person_said_in_a_conversation_is_not_taken_back_by_a_caller",
    ],
    8: [
        "agents/test_injection.py::test_what_was_planted_is_told_as_fenced_data_in_the_next_pass",
        "gate/test_maintenance_writes.py::test_an_order_planted_in_a_name_selects_nothing",
    ],
    9: [
        "gate/test_formation_writes.py::test_nobody_speaks_for_others",
        "gate/test_formation_writes.py::test_a_claim_needs_a_captured_message",
        "gate/test_formation_writes.py::test_a_claim_is_dated_by_its_message_to_the_millisecond",
        "gate/test_formation_writes.py::test_evidence_of_the_hosts_classes_is_not_made_by_models",
        "gate/test_formation_writes.py::test_activities_of_the_hosts_classes_are_not_made_by_models",
    ],
    10: ["service/test_queue.py::test_an_input_whose_model_call_fails_waits_and_later_inputs_go_on"],
    12: [
        "http/test_access.py::test_an_outsider_cannot_tell_a_missing_space_from_a_private_one",
        "http/test_attacks.py::test_no_way_of_writing_an_id_leads_anywhere_else",
        "http/test_metacharacters.py::test_letters_that_mean_something_elsewhere_mean_themselves_here",
    ],
    13: [
        "service/test_processes.py::test_killed_again_and_again_it_loses_nothing_doubles_nothing_and_reports_the_rest",
        "service/test_queue.py::test_accepting_is_one_write_or_none",
        "http/test_execute_kip.py::test_a_request_whose_process_is_killed_is_written_once_when_it_is_sent_again",
    ],
    14: [
        "service/test_processes.py::test_sigterm_ends_with_code_0_finishes_what_is_under_way_and_leaves_the_rest",
        "service/test_processes.py::test_sigterm_waits_no_longer_than_the_grace_time_and_tells_who_waits_to_come_back",
    ],
}
"""Where the defects are tested that are not tested here, or not here alone."""


def test_what_is_said_to_be_tested_elsewhere_is() -> None:
    for places in ELSEWHERE.values():
        for place in places:
            file, _, name = place.partition("::")
            defined = {node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if hasattr(node, "name")}
            assert name in defined, place


@pytest.mark.requirement("BR-SPACE-006")
async def test_2_and_6_forgetting_in_one_space_touches_no_other(tmp_path: Path) -> None:
    people = 'FIND(?p.id, ?p.key) WHERE { ?p {type: "Person"} FILTER(?p.key == "bea") }'
    async with opened(tmp_path) as door:
        other = Door(door.client, "other")
        await door.client.post("/admin/create_space", json={"user": OWNER, "space_id": "other", "tier": 3})
        ids = [(await one.result("get_or_init_user", {"user": "bea"}))["id"] for one in (door, other)]
        assert ids[0] == ids[1]  # ids of Spaces overlap, which is why every statement has to name its Space
        await other.formed(said("I live in Porto.", "Bea"), context={"counterparty": "bea"})
        before = await other.kip(people), (await other.result("info"))["db_stats"]
        report = await door.result("memory/forget", {"entities": [ids[0]]})
        assert report["deleted_concepts"] == 1
        assert await door.kip(people) == []
        # The other Space has all of it, and both take the same words again.
        assert (await other.kip(people), (await other.result("info"))["db_stats"]) == before
        for one in (door, other):
            formed = await one.formed(said("I live in Porto.", "Bea"), context={"counterparty": "bea"})
            assert formed["status"] == "completed"
            assert len(await one.kip(people)) == 1
        # A new Space and a restart find nothing that was left to be deleted.
        await door.client.post("/admin/create_space", json={"user": OWNER, "space_id": "third", "tier": 3})
    async with served(build(settings_for(tmp_path))) as client:
        for space in ("home", "other", "third"):
            assert (await client.get(f"/v1/{space}/info")).status_code == 200


@pytest.mark.requirement("BR-RECALL-019")
async def test_3_a_recall_that_was_cut_spoils_no_later_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        await door.formed(said("I live in Porto."))
        for pause in (0.0, 0.005, 0.02, 0.05):
            with anyio.move_on_after(pause):
                await door.post("recall", {"query": "Where does Ana live?"})
        for _ in range(3):
            answer = await door.result("recall", {"query": "Where does Ana live?"})
            assert "Porto" in answer["content"]


@pytest.mark.requirement("BR-SPACE-006")
async def test_12_a_token_inherits_nothing_from_a_revoked_one_of_its_name(tmp_path: Path) -> None:
    async with guarded(tmp_path) as door:
        path = "/v1/home/management"
        asked = {"scope": "*", "name": "bot"}
        first = await door.managed("POST", f"{path}/add_space_token", asked)
        sent = works(key="order-1")
        written = await door.ask("POST", "/v1/home/execute_kip", first["token"], sent)
        again = await door.ask("POST", "/v1/home/execute_kip", first["token"], sent)
        assert again.json()["results"][0]["receipt"] == written.json()["results"][0]["receipt"]
        await door.managed("POST", f"{path}/revoke_space_token", {"name": "bot"})
        second = await door.managed("POST", f"{path}/add_space_token", asked)
        # Its key is its own: neither the first one's answer nor a conflict with what that one wrote.
        other = await door.ask("POST", "/v1/home/execute_kip", second["token"], works(firm="globex", key="order-1"))
        assert other.json()["status"] == "succeeded", other.text
        assert other.json()["results"][0]["receipt"] != written.json()["results"][0]["receipt"]


@pytest.mark.requirement("BR-AUTH-020")
async def test_12_a_private_space_and_a_missing_one_are_one_answer_and_an_impossible_id_is_no_defect(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as door:
        for credential in (None, "STjunk", cwt("elsewhere", "*"), "x" * 80):
            told = set()
            for space in ("home", "missing"):
                answer = await door.ask("GET", f"/v1/{space}/info", credential)
                told.add((answer.status_code, answer.text))
            assert told == {(401, '{"error":{"message":"authentication failed"}}')}
            for space in ("Im-Possible", "a" * 65):  # which no Space can have, so that to say so tells nothing
                answer = await door.ask("GET", f"/v1/{space}/info", credential)
                assert answer.status_code in (400, 401)
                assert set(answer.json()) == {"error"}


@pytest.mark.requirement("BR-HTTP-004")
async def test_12_an_error_does_not_repeat_megabytes_of_what_was_sent(tmp_path: Path) -> None:
    long = "x" * 1_500_000
    async with opened(tmp_path) as door:
        bodies: dict[str, Any] = {
            "execute_kip_readonly": {"command": f"FIND ({long})"},
            "probe": {"query": long},
            "recall": {"query": long},
            "formation": {"messages": [{"role": long, "content": "x"}]},
            "memory/pin": {"entity": long},
            "memory/forget": {"entities": [long]},
            "get_or_init_user": {"user": long},
            "management/add_space_token": {"scope": long, "name": "n"},
        }
        for path, body in bodies.items():
            answer = await door.post(path, body)
            assert len(answer.content) < 8_192, path
            assert answer.status_code in (200, 400), path
        for path in (f"conversations?collection={'x' * 9_000}", f"conversations?cursor={'x' * 9_000}"):
            assert len((await door.get(path)).content) < 1_024


@pytest.mark.requirement("BR-FORM-003")
async def test_15_after_a_restart_the_queue_goes_on_without_a_request(tmp_path: Path) -> None:
    application = build(settings_for(tmp_path))
    application.spaces.create("home", owner=OWNER, tier=3)
    space = application.spaces.get("home")
    with space.transaction() as tx:
        stored = {
            "messages": [
                {
                    "role": "user",
                    "content": "I live in Porto.",
                    "name": "Ana",
                    "observed_at": "2026-01-01T00:00:00.000Z",
                    "utc_offset_minutes": 0,
                }
            ],
            "context": {},
        }
        application.queue.accept_formation(tx, stored, user="u", messages=[], request_id=None)
    application.spaces.close()
    resumed = build(settings_for(tmp_path))
    async with served(resumed):  # and nobody asks for anything
        with anyio.fail_after(20):
            while True:
                with resumed.spaces.get("home").snapshot() as now:
                    record = now.get("conversations.formation", f"{1:012d}")
                if record is not None and record["status"] == "completed":
                    break
                await anyio.sleep(0.05)
