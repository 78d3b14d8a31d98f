"""The conventions of the door: negotiation, envelopes, admission, and the routes end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import cbor2
import httpx
import pytest

from brain.agents.model import ModelAnswer, ModelRequest, say
from brain.http.principals import parse_principal, principal_text
from brain.service.failures import InvalidInput
from tests.http.conftest import Door, opened, said
from tests.service.world import OWNER, served, until, with_model

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("BR-EP-001", "BR-EP-002", "BR-EP-003", "BR-HTTP-017")
async def test_public_pages_need_no_space(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        info = await door.client.get("/info", headers={"accept": "application/cbor"})
        assert info.headers["content-type"] == "application/json"
        assert set(info.json()) == {"name", "version", "sharding", "description", "memory_interface"}
        skill = await door.client.get("/SKILL.md")
        assert skill.headers["content-type"] == "text/markdown; charset=utf-8"
        assert "/v1/{space_id}/formation" in skill.text
        assert (await door.client.get("/favicon.ico")).headers["content-type"] == "image/x-icon"
        assert (await door.client.get("/apple-touch-icon.webp")).headers["content-type"] == "image/webp"


@pytest.mark.requirement("BR-HTTP-007")
async def test_what_is_not_routed_is_an_empty_404_or_405(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        missing = await door.client.get("/v1/home/nope/nope")
        assert (missing.status_code, missing.content) == (404, b"")
        wrong = await door.get("formation")
        assert (wrong.status_code, wrong.content) == (405, b"")
        assert "POST" in wrong.headers["allow"]
        head = await door.client.head("/info")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == (await door.client.get("/info")).headers["content-length"]


async def test_options_tells_what_a_path_can_be_asked_by(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        for path, methods in (("/info", "GET, HEAD, OPTIONS"), ("/v1/home/formation", "OPTIONS, POST")):
            told = await door.client.options(path)
            assert (told.status_code, told.headers["allow"], told.content) == (204, methods, b"")
            assert (await door.client.request("PURGE", path)).headers["allow"] == methods
        assert (await door.client.options("/nope")).status_code == 404


@pytest.mark.requirement("BR-HTTP-009", "BR-HTTP-010", "BR-HTTP-011", "BR-HTTP-012", "BR-HTTP-015")
async def test_one_request_in_three_types_has_one_answer(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        body = {"query": "zzz"}
        as_json = (await door.post("probe", body)).json()
        sent = {
            "content": cbor2.dumps(body),
            "headers": {"content-type": "application/cbor", "accept": "application/cbor"},
        }
        as_cbor = await door.post("probe", **sent)
        assert as_cbor.headers["content-type"] == "application/cbor"
        assert cbor2.loads(as_cbor.content)["result"]["found"] is as_json["result"]["found"] is False
        plain = await door.post("probe", content=json.dumps(body).encode(), headers={"content-type": "text/plain"})
        assert plain.json()["result"]["found"] is False
        raw = await door.post("formation", content=b"Hello there", headers={"content-type": "text/markdown"})
        record = await door.ended(raw.json()["result"]["conversation"])
        assert record["messages"][0]["content"]


@pytest.mark.requirement("BR-HTTP-010")
@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/markdown, application/json", "application/json"),
        ("application/json, application/cbor;q=0.1", "application/cbor"),
        ("text/markdown", "text/markdown; charset=utf-8"),
        ("image/png", "application/json"),
    ],
)
async def test_the_answers_type_follows_accept(tmp_path: Path, accept: str, kind: str) -> None:
    async with opened(tmp_path) as door:
        answer = await door.get("info", headers={"accept": accept})
        assert answer.headers["content-type"] == kind


@pytest.mark.requirement("BR-HTTP-003")
async def test_errors_are_json_whatever_was_asked_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        for accept in ("application/cbor", "text/markdown"):
            answer = await door.client.get("/v1/nosuch/info", headers={"accept": accept})
            assert answer.status_code == 404
            assert set(answer.json()) == {"error"}


@pytest.mark.requirement("BR-HTTP-016")
@pytest.mark.parametrize(
    ("headers", "status"),
    [({"shard-id": "0"}, 200), ({"shard-id": "5"}, 400), ({"x-shard": "5"}, 400), ({"shard-id": "abc"}, 200),
     ({"shard-id": "0", "x-shard": "5"}, 200), ({"shard-id": "-1"}, 200)],
)  # fmt: skip
async def test_another_shard_is_refused(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    async with opened(tmp_path) as door:
        assert (await door.get("info", headers=headers)).status_code == status


@pytest.mark.requirement("BR-HTTP-029")
async def test_every_answer_carries_a_request_id(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        assert (await door.get("info", headers={"x-request-id": "abc-1"})).headers["x-request-id"] == "abc-1"
        made = (await door.get("info", headers={"x-request-id": "a b\tc"})).headers["x-request-id"]
        assert made
        assert made != "a b\tc"


@pytest.mark.requirement("BR-HTTP-024")
async def test_browsers_are_let_in_only_from_listed_origins(tmp_path: Path) -> None:
    async with opened(tmp_path / "off") as door:
        answer = await door.get("info", headers={"origin": "https://a.test"})
        assert "access-control-allow-origin" not in answer.headers
    async with opened(tmp_path / "on", cors_origins=("https://a.test",)) as door:
        for origin, allowed in {"https://a.test": True, "https://b.test": False}.items():
            answer = await door.get("info", headers={"origin": origin})
            assert ("access-control-allow-origin" in answer.headers) is allowed


class Slow:
    """A model that answers when it is told to."""

    name = "slow/test"

    def __init__(self) -> None:
        self.may_answer = anyio.Event()
        self.asked = 0
        self.left = 0

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        self.asked += 1
        try:
            await self.may_answer.wait()
        except BaseException:
            self.left += 1
            raise
        return say(f"answered after {len(request.messages)} messages")


async def _asked(model: Slow, times: int) -> None:
    with anyio.fail_after(10):
        while model.asked < times:  # noqa: ASYNC110 - the model has no event for it
            await anyio.sleep(0.01)


@pytest.mark.requirement("BR-HTTP-018", "BR-HTTP-023", "BR-HTTP-005")
async def test_a_full_model_budget_is_429_at_once_for_every_route_that_leads_to_a_model(tmp_path: Path) -> None:
    model = Slow()
    async with served(with_model(tmp_path, model, llm_max_concurrency=1)) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        door = Door(client, "home")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(door.post, "recall", {"query": "Who is Ana?"})
            await _asked(model, 1)
            for path in ("recall", "recall_structured", "formation", "maintenance"):
                refused = await door.post(path, content=b"is not even looked at")
                assert (refused.status_code, refused.text) == (429, "too many concurrent requests, retry later")
                assert refused.headers["retry-after"] == "1"
                assert refused.headers["content-type"].startswith("text/plain")
            assert (await door.get("info")).status_code == 200
            model.may_answer.set()


@pytest.mark.requirement("BR-HTTP-020")
async def test_a_full_service_is_503(tmp_path: Path) -> None:
    model = Slow()
    async with served(with_model(tmp_path, model, http_max_concurrency=1)) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        door = Door(client, "home")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(door.post, "recall", {"query": "Who is Ana?"})
            await _asked(model, 1)
            assert (await door.get("info")).status_code == 503
            model.may_answer.set()


@pytest.mark.requirement(
    "BR-EP-005", "BR-EP-006", "BR-EP-007", "BR-RECALL-012", "BR-RECALL-013", "BR-RECALL-020", "BR-FORM-046"
)
async def test_what_was_said_is_answered_with_its_citation_and_the_name_of_the_model(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        accepted = await door.result(
            "formation", {"messages": [said("I live in Porto.")], "timestamp": "2026-03-09T18:30:00+08:00"}
        )
        assert accepted["content"] == ""
        assert set(accepted["usage"]) == {"input_tokens", "output_tokens", "cached_tokens", "requests"}
        record = await door.ended(accepted["conversation"])
        assert (record["status"], record["model"], record["label"]) == ("completed", "builtin/offline", "formation")
        assert await door.kip("FIND(?e.observed_at) WHERE { ?e EVIDENCE {} }") == ["2026-03-09T10:30:00.000Z"]
        answer = await door.result("recall_structured", {"query": "Where does Ana live?"})
        assert answer["found"] is True
        assert "Porto" in answer["answer"]
        assert answer["model"] == "builtin/offline"
        assert answer["memories"][0]["entity"].startswith("A-")
        unknown = await door.result("recall_structured", {"query": "What is Ana's phone number?"})
        assert unknown["found"] is False
        assert "memories" not in unknown
        logged = await door.result(f"conversations/{answer['conversation']}?collection=recall")
        assert logged["label"] == "recall"
        markdown = await door.post("recall", {"query": "Where does Ana live?"}, headers={"accept": "text/markdown"})
        assert markdown.text.startswith("Ana Ruiz lives in Porto")


@pytest.mark.requirement("BR-EP-027", "BR-EP-028", "BR-EP-029", "BR-DIAG-025", "BR-EP-052")
async def test_conversations_page_newest_first_and_stay_true_while_new_ones_arrive(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        numbers = [(await door.formed(said(f"note {i}")))["_id"] for i in range(5)]
        first = (await door.get("conversations?limit=2")).json()
        assert [row["_id"] for row in first["result"]] == numbers[3:]
        await door.formed(said("one more"))
        second = (await door.get(f"conversations?limit=2&cursor={first['next_cursor']}")).json()
        assert [row["_id"] for row in second["result"]] == numbers[1:3]
        third = (await door.get(f"conversations?limit=2&cursor={second['next_cursor']}")).json()
        assert ([row["_id"] for row in third["result"]], "next_cursor" in third) == (numbers[:1], False)
        whole = await door.result("conversations/1")
        delta = await door.result("conversations/1/delta?messages_offset=1")
        assert delta["messages"] == whole["messages"][1:]
        for path, status in {"conversations/abc": 400, "conversations/99": 400, "conversations?limit=x": 400,
                             "conversations?collection=dreams": 400}.items():  # fmt: skip
            assert (await door.get(path)).status_code == status, path


@pytest.mark.requirement("BR-EP-024", "BR-EP-025", "BR-EP-056", "BR-SPACE-010", "BR-SPACE-011")
async def test_a_spaces_figures_follow_what_happened(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        before = await door.result("info")
        assert before == await door.result("status")
        await door.formed(said("I live in Porto."))
        after = await door.result("info")
        assert after["conversations"] == before["conversations"] + 1
        assert after["concepts"] > before["concepts"]
        assert after["propositions"] == before["propositions"] + 1
        assert after["formation_processed_id"] == 1
        assert after["formation_usage"]["requests"] >= 1
        assert after["recall_usage"] == before["recall_usage"]
        assert after["owner"] == OWNER


@pytest.mark.requirement("BR-SPACE-005", "BR-EP-044")
async def test_a_taken_space_id_is_refused_and_the_space_untouched(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        await door.formed(said("I live in Porto."))
        again = await door.client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 0})
        assert again.status_code == 400
        assert "already exists" in again.json()["error"]["message"]
        assert (await door.result("info"))["tier"]["tier"] == 3


@pytest.mark.requirement("BR-DIAG-001", "BR-DIAG-004", "BR-DIAG-005", "BR-DIAG-006", "BR-FORM-042")
async def test_a_vain_probe_is_remembered_until_something_is_formed(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        first = await door.result("probe", {"query": "Quuxville"})
        assert first == {"found": False, "negative_cached": False, "search_exhaustive": True}
        assert (await door.result("probe", {"query": "Quuxville"}))["negative_cached"] is True
        await door.formed(said("I live in Quuxville."))
        found = await door.result("probe", {"query": "Quuxville"})
        assert found["found"] is True
        assert found["hits"][0]["entity"]
        metrics = (await door.result("memory_status"))["metrics"]
        assert (metrics["probe_hits"], metrics["probe_misses"], metrics["negative_cache_hits"]) == (1, 2, 1)


@pytest.mark.requirement("BR-EP-019", "BR-GATE-005", "BR-GATE-001", "BR-EP-022")
async def test_the_read_only_door_refuses_writes_by_what_they_parse_to(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        for command in (
            'UPSERT CONCEPT ?x { MATCH {type: "Person", key: "w"} }',
            '// FIND(?x) WHERE {}\nPURGE "C-1" CONFIRM "PURGE"',
            'DEFINE CONCEPT TYPE "Nope" {description: "x"}',
        ):
            answer = (await door.post("execute_kip_readonly", {"command": command})).json()
            assert answer["status"] == "failed"
            assert answer["results"][0]["error"]["code"] == "ReadonlyViolation"
        bare = await door.post(
            "execute_kip_readonly", content=b"DESCRIBE PROTOCOL", headers={"content-type": "text/plain"}
        )
        assert bare.json()["status"] == "succeeded"
        assert (await door.post("execute_kip_readonly", "DESCRIBE PROTOCOL")).json()["status"] == "succeeded"


@pytest.mark.requirement("BR-MAINT-001", "BR-MAINT-002", "BR-MAINT-038", "BR-SPACE-024", "BR-EP-008")
async def test_a_cycle_runs_in_the_background_and_a_second_one_is_refused(tmp_path: Path) -> None:
    model = Slow()
    async with served(with_model(tmp_path, model)) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        door = Door(client, "home")
        started = await door.result("maintenance", {"scope": "full"})
        await _asked(model, 1)
        second = await door.post("maintenance", {})
        assert second.status_code == 400
        assert "processing" in second.json()["error"]["message"]
        assert (await door.result("formation_status"))["maintenance_processing"] is True
        model.may_answer.set()
        assert (await door.ended(started["conversation"], "maintenance"))["status"] == "completed"
        status = await door.result("formation_status")
        assert status["maintenance_at"]["full"] == status["maintenance_at"]["start_at"] > 0


@pytest.mark.requirement("BR-RECALL-019", "BR-HTTP-022")
async def test_a_caller_who_leaves_frees_its_place_and_the_run_is_closed(tmp_path: Path) -> None:
    model = Slow()
    async with served(with_model(tmp_path, model, llm_max_concurrency=1)) as client:
        await client.post("/admin/create_space", json={"user": OWNER, "space_id": "home", "tier": 1})
        door = Door(client, "home")
        async with anyio.create_task_group() as caller:
            caller.start_soon(door.post, "recall", {"query": "Who is Ana?"})
            await until(lambda: model.asked, 20)
            caller.cancel_scope.cancel()
        with anyio.fail_after(20):
            while (await door.result("conversations/1?collection=recall"))["status"] == "working":  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert model.left == model.asked == 1
        model.may_answer.set()
        assert (await door.post("recall", {"query": "Who is Ben?"})).status_code == 200


async def test_a_principal_is_written_as_its_checksum_and_bytes() -> None:
    assert principal_text(b"\x01") == "uuc56-gyb" == OWNER
    assert parse_principal("uuc56-gyb") == parse_principal(b"\x01")
    for wrong in ("uuc56-gyc", "UUC56-GYB", "", "not a principal", "uuc56gyb", "alice"):
        with pytest.raises(InvalidInput, match="must be a principal as it is written, such as uuc56-gyb: at most 29"):
            parse_principal(wrong)


async def test_a_slow_query_does_not_hold_up_others(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        await door.formed(*(said(f"I know Person{i} Smith.") for i in range(16)))

        async def slow() -> httpx.Response:
            many = " ".join(f"?c{i} CONCEPT {{}}" for i in range(4))
            return await door.post("execute_kip_readonly", {"command": f"FIND(COUNT(?c0)) WHERE {{ {many} }}"})

        answers: list[Any] = []

        async def run() -> None:
            answers.append(await slow())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await anyio.sleep(0.05)
            with anyio.fail_after(2):
                assert (await door.get("info")).status_code == 200
        assert answers[0].status_code == 200
