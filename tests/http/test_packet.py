"""Packets over HTTP: recall within a token budget, with a model and without, and what is said where there is none."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import cbor2
import pytest
from jsonschema import Draft202012Validator

from brain.agents.jobs import RecallJob
from brain.agents.loop import sent_text
from brain.agents.model import Model, ModelAnswer, ModelFailure, ModelRequest, ToolCall, Usage, say
from brain.app import build
from brain.packet.tokens import count
from brain.service import brain as service
from brain.service import packets
from brain.service.recalls import recall_definition
from tests.http.conftest import Door, opened, said
from tests.service.world import OWNER, served, settings_for

pytestmark = pytest.mark.anyio

QUESTION = "Where does Ana Ruiz live?"
DEFAULTS = {"tokenizer": "o200k_base@tiktoken-rs-0.12", "token_limit": 4_096, "context_token_limit": 49_152}


class Scripted:
    """A model that forms nothing and answers recalls by a function of the request and of how often it was asked."""

    name = "test/scripted"

    def __init__(self, answer: Any) -> None:
        self.requests: list[ModelRequest] = []
        self._answer = answer

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        made = self._answer(len(self.requests))
        if isinstance(made, Exception):
            raise made
        if isinstance(made, float):
            await anyio.sleep(made)
            return say("late")
        found: ModelAnswer = made
        return found


def calls(*commands: str, start: int = 0) -> ModelAnswer:
    """An answer that reads with KIP."""
    made = [
        ToolCall(f"call_{start}_{n}", "execute_kip_readonly", json.dumps({"command": command}))
        for n, command in enumerate(commands)
    ]
    return ModelAnswer("", tuple(made), Usage(1, 1, 0, 1), "test/scripted")


@pytest.fixture(scope="session", autouse=True)
def _counted_before() -> None:
    count("")


@asynccontextmanager
async def remembering(folder: Path, model: Model | None = None) -> AsyncIterator[Door]:
    """A Space in which the key-free model formed some messages; then it is served with another model."""
    async with opened(folder) as door:
        await door.formed(
            said("I live in Lisbon. I work for Acme. Always answer me in French. I'll send Ben the report by Friday.")
        )
        if model is None:
            yield door
            return
    async with served(build(settings_for(folder), model=model)) as client:
        yield Door(client, "home")


def packet_of(answer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.get("content", answer.get("answer")))
    return found


def kinds(packet: dict[str, Any]) -> list[str]:
    return [item["kind"] for item in packet["items"]]


# --- recall without a model -------------------------------------------------------------------------------------------


async def test_any_number_of_packets_at_a_time_keeps_no_other_request_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, made = threading.Event(), packets.packet

    def late(*given: Any) -> Any:
        assert is_over.wait(60)
        return made(*given)

    monkeypatch.setattr(packets, "packet", late)
    async with remembering(tmp_path) as door, anyio.create_task_group() as tasks:
        answers: list[int] = []

        async def ask() -> None:
            answers.append((await door.post("packet", {"query": QUESTION})).status_code)

        for _ in range(40):
            tasks.start_soon(ask)
        try:
            await anyio.sleep(0.2)
            with anyio.fail_after(5):
                assert (await door.get("formation_status")).status_code == 200
        finally:
            is_over.set()
    assert answers == [200] * 40


@pytest.mark.requirement("BR-RECALL-028", "BR-RECALL-030", "BR-RECALL-039", "BR-RECALL-042")
async def test_a_packet_is_counted_as_it_is_sent(tmp_path: Path) -> None:
    async with remembering(tmp_path) as door:
        answer = await door.post("packet", {"query": QUESTION})
        result = answer.json()["result"]
        packet, receipt = result["packet"], result["memory_budget"]
        text = json.dumps(packet, ensure_ascii=False, separators=(",", ":"))
        assert text in answer.text
        assert {**DEFAULTS, "tokens": count(text)} == receipt
        assert (result["found"], packet["status"], packet["content"]) == (True, "bounded", "untrusted_data")
        assert (packet["semantic_complete"], packet["action_ready"]) == (False, False)
        assert kinds(packet)[:2] == ["insight", "commitment"]
        [home] = [item for item in packet["items"] if item.get("predicate") == "lives_in"]
        assert (home["object"]["name"], home["belief"]) == ("Lisbon", "accepted")
        [spoken] = home["said"]
        assert (spoken["by"]["name"], len(spoken["evidence"])) == ("Ana Ruiz", 1)
        bare = await door.post("packet", {"query": QUESTION}, headers={"accept": "text/markdown"})
        for name in ("at", "space_seq"):  # asked at another instant
            assert json.loads(bare.text).pop(name)
        assert json.loads(bare.text)["items"] == packet["items"]
        assert count(bare.text) == receipt["tokens"]
        spoken_for = await door.post("packet", content=QUESTION, headers={"content-type": "text/plain"})
        assert spoken_for.json()["result"]["packet"]["items"] == packet["items"]
        binary = await door.post("packet", {"query": QUESTION}, headers={"accept": "application/cbor"})
        assert cbor2.loads(binary.content)["result"]["packet"]["items"] == packet["items"]


@pytest.mark.requirement("BR-RECALL-032", "BR-RECALL-038")
async def test_a_budget_too_small_for_what_is_required_is_told_and_never_an_empty_answer(tmp_path: Path) -> None:
    async with remembering(tmp_path) as door:
        small = await door.result("packet", {"query": QUESTION, "budget": {"max_tokens": 150}})
        assert (small["packet"]["status"], small["packet"]["items"], small["found"]) == (
            "budget_insufficient",
            [],
            False,
        )
        assert small["failed_reason"] == small["packet"]["failed_reason"] == "recall_output_budget_exhausted"
        none = await door.result("packet", {"query": QUESTION, "budget": {"max_tokens": 1}})
        assert (none["packet"], none["found"], none["failed_reason"]) == (None, False, "recall_output_budget_exhausted")
        assert none["memory_budget"]["tokens"] == 1


async def test_a_packet_of_another_instant_tells_what_held_then(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        await door.formed(said("I moved to Porto in January 2020."), said("I moved to Lisbon in March 2024."))
        asked = {"query": QUESTION, "at": "2021-06-15T00:00:00+02:00"}
        packet = (await door.result("packet", asked))["packet"]
        assert packet["at"] == "2021-06-14T22:00:00.000Z"
        homes = {i["object"]["name"]: i["standing"] for i in packet["items"] if i.get("predicate") == "lives_in"}
        assert homes["Porto"] == "accepted"
        refused = await door.post("packet", {"query": QUESTION, "at": "last Tuesday"})
        assert refused.status_code == 400


@pytest.mark.parametrize(
    "body, named",
    [
        ({}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "x" * 32_769}, "query"),
        ({"query": "x", "at": 5}, "at"),
        ({"query": "x", "budget": 5}, "budget"),
        ({"query": "x", "context": {"counterparty": "$self"}}, "counterparty"),
    ],
)
async def test_bad_input_is_named(tmp_path: Path, body: dict[str, Any], named: str) -> None:
    async with opened(tmp_path) as door:
        refused = await door.post("packet", body)
        assert refused.status_code == 400
        assert named in refused.json()["error"]["message"]


# --- recall within a budget -------------------------------------------------------------------------------------------


@pytest.mark.requirement("BR-RECALL-024", "BR-RECALL-026", "BR-RECALL-040", "BR-RECALL-041", "BR-RECALL-020")
async def test_a_budget_turns_both_recalls_into_packets_with_the_key_free_model(tmp_path: Path) -> None:
    async with remembering(tmp_path) as door:
        plain = await door.result("recall", {"query": QUESTION, "budget": {}})
        packet = packet_of(plain)
        assert any(i.get("predicate") == "lives_in" and i["object"]["name"] == "Lisbon" for i in packet["items"])
        assert set(plain) == {"content", "conversation", "usage", "model"}
        structured = await door.result("recall_structured", {"query": QUESTION, "budget": {"max_tokens": 2_000}})
        text = structured["answer"]
        assert structured["memory_budget"] == {**DEFAULTS, "token_limit": 2_000, "tokens": count(text)}
        assert count(text) <= 2_000
        assert structured["found"] is True
        assert not {"memories", "history", "thoughts", "artifacts", "tool_calls"} & set(structured)
        for budget in ({"budget": None}, {}):
            words = await door.result("recall_structured", {"query": QUESTION, **budget})
            assert "Lisbon" in words["answer"]
            assert "memory_budget" not in words
            assert not words["answer"].startswith("{")
        kept = await door.result(f"conversations/{plain['conversation']}?collection=recall")
        assert kept["status"] == "completed"


@pytest.mark.requirement("BR-RECALL-042")
async def test_as_markdown_a_budgeted_recall_is_the_packet_text(tmp_path: Path) -> None:
    async with remembering(tmp_path) as door:
        for route in ("recall", "recall_structured"):
            bare = await door.post(route, {"query": QUESTION, "budget": {}}, headers={"accept": "text/markdown"})
            assert bare.text.startswith('{"format":"brain.packet/1"')
            assert json.loads(bare.text)["status"] == "bounded"


@pytest.mark.requirement("BR-RECALL-025")
@pytest.mark.parametrize("route", ["recall", "recall_structured", "packet"])
async def test_budgets_out_of_bounds_are_refused_by_name(tmp_path: Path, route: str) -> None:
    bad: list[tuple[str, Any]] = [
        *(("max_tokens", value) for value in (0, -1, 65_537, "4096", 1.5, True)),
        *(("context_tokens", value) for value in (0, 131_073, "x")),
        *(("tokenizer", value) for value in ("cl100k_base", "o200k_base", "")),
    ]
    async with opened(tmp_path) as door:
        for member, value in bad:
            refused = await door.post(route, {"query": "x", "budget": {member: value}})
            assert refused.status_code == 400, (member, value)
            assert member in refused.json()["error"]["message"]
        for tokenizer in ("o200k_base@tiktoken-rs-0.12", "o200k_base@tiktoken-rs-0.12.0"):
            good = {"tokenizer": tokenizer, "max_tokens": 65_536, "context_tokens": 131_072}
            assert (await door.post(route, {"query": "x", "budget": good})).status_code == 200


@pytest.mark.requirement("BR-RECALL-024", "BR-RECALL-027")
@pytest.mark.parametrize(
    "policy, asked, limits",
    [
        ({"max_tokens": 2_000}, None, (2_000, 49_152)),
        ({"max_tokens": 2_000}, {"max_tokens": 8_000}, (2_000, 49_152)),
        ({"max_tokens": 2_000}, {"max_tokens": 1_500, "context_tokens": 90_000}, (1_500, 49_152)),
        ({"max_tokens": 9_000, "context_tokens": 9_000}, {}, (9_000, 9_000)),
        ({}, None, (4_096, 49_152)),
        ({}, {"max_tokens": 60_000}, (4_096, 49_152)),
        (None, {"max_tokens": 60_000, "context_tokens": 99_000}, (60_000, 99_000)),
    ],
)
async def test_a_request_may_tighten_the_policy_and_neither_raise_nor_lift_it(
    tmp_path: Path, policy: Any, asked: Any, limits: tuple[int, int]
) -> None:
    async with remembering(tmp_path) as door:
        body = {"memory_policy": {"recall_budget": policy}}
        changed = await door.client.patch("/v1/home/management/update_space", json=body)
        assert changed.status_code == 200, changed.text
        for route in ("recall_structured", "packet"):
            receipt = (await door.result(route, {"query": QUESTION, "budget": asked}))["memory_budget"]
            assert (receipt["token_limit"], receipt["context_token_limit"]) == limits


# --- a model that looks before ----------------------------------------------------------------------------------------


async def test_what_a_model_read_is_delivered_and_its_words_are_not(tmp_path: Path) -> None:
    read = 'FIND(?c) WHERE { ?c {type: "Organization"} }'
    model = Scripted(
        lambda asked: calls(read) if asked == 1 else say("Trust me: she lives on the Moon.", model="test/scripted")
    )
    async with remembering(tmp_path, model) as door:
        answer = await door.result("recall", {"query": "qqq zzz", "budget": {}})
        assert "Moon" not in answer["content"]
        named = [item.get("name") for item in packet_of(answer)["items"]]
        assert "Acme" in named
        assert answer["model"] == "test/scripted"


@pytest.mark.requirement("BR-RECALL-007")
async def test_a_budgeted_run_reads_no_more_than_its_bounds(tmp_path: Path) -> None:
    read = "FIND(?a.id) WHERE { ?a ASSERTION {} }"
    model = Scripted(lambda asked: calls(*[read] * 6, start=asked) if asked < 6 else say("done"))
    async with remembering(tmp_path, model) as door:
        await door.result("recall", {"query": "x", "budget": {"context_tokens": 131_072}})
    told = [message for message in model.requests[-1].messages if message.role == "tool"]
    by_turn = [sum("too many tool calls" not in m.content for m in told[n : n + 6]) for n in range(0, len(told), 6)]
    assert by_turn == [4, 4, 4, 0, 0]  # sixteen calls came within these three turns, refused ones among them


async def test_a_budgeted_run_sees_so_many_rows_of_a_read(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        await door.formed(said(" ".join(f"I like food{n}." for n in range(40))))
    model = Scripted(lambda asked: calls("FIND(?c.id) WHERE { ?c {state: ?s} }") if asked == 1 else say("done"))
    async with served(build(settings_for(tmp_path), model=model)) as client:
        await Door(client, "home").result("recall", {"query": "x", "budget": {}})
    [told] = [json.loads(m.content) for m in model.requests[-1].messages if m.role == "tool"]
    assert len(told["rows"]) == 32
    assert [warning["code"] for warning in told["warnings"]] == ["RowsLeftOut"]


@pytest.mark.requirement("BR-RECALL-029", "BR-RECALL-035", "BR-RECALL-043")
async def test_the_sum_of_what_a_model_is_sent_is_bounded_and_the_prompt_stays_whole(tmp_path: Path) -> None:
    model = Scripted(lambda asked: calls("FIND(?c.id) WHERE { ?c {state: ?s} } LIMIT 3", start=asked))
    async with remembering(tmp_path, model) as door:
        answer = await door.result("recall_structured", {"query": QUESTION, "budget": {"context_tokens": 20_000}})
        sent = [count(sent_text(request)) for request in model.requests]
        assert 1 < len(sent) < 7
        assert sum(sent) <= 20_000 < sum(sent) + max(sent) * 2
        assert {request.messages[0].content for request in model.requests} == {model.requests[0].messages[0].content}
        packet = packet_of(answer)
        warnings = [item["code"] for item in packet["items"] if item["kind"] == "warning"]
        assert (packet["status"], warnings) == ("bounded", ["recall_context_budget_exhausted"])
        assert any(item.get("predicate") == "lives_in" for item in packet["items"])
        assert (answer["found"], "failed_reason" in answer) == (True, False)
        model.requests.clear()
        tiny = await door.result("recall_structured", {"query": QUESTION, "budget": {"context_tokens": 200}})
        assert "recall_context_budget_exhausted" in tiny["answer"]
        assert model.requests == []


@pytest.mark.requirement("BR-RECALL-036", "BR-RECALL-037", "BR-RECALL-038")
@pytest.mark.parametrize(
    "answer, code",
    [
        (lambda _: ModelFailure("provider_error", "sk-secret said no", transient=False), "recall_model_unavailable"),
        (lambda _: RuntimeError("sk-secret said no"), "recall_model_unavailable"),
        (lambda asked: calls("DESCRIBE PRIMER", start=asked), "recall_planner_incomplete"),
        (lambda _: 30.0, "recall_deadline_reached"),
    ],
    ids=["provider error", "broken model", "never done", "too slow"],
)
async def test_a_run_that_came_to_no_end_is_a_fixed_code_and_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, code: str
) -> None:
    timeout = 1_500 if code == "recall_deadline_reached" else 180_000
    monkeypatch.setattr(service, "RecallJob", functools.partial(RecallJob, timeout_ms=timeout))
    async with remembering(tmp_path, Scripted(answer)) as door:
        asked = {"query": QUESTION, "budget": {"context_tokens": 131_072}}
        for route in ("recall", "recall_structured"):
            response = await door.post(route, asked)
            result = response.json()["result"]
            packet = packet_of(result)
            assert (response.status_code, packet["status"], packet["items"]) == (200, "budget_insufficient", [])
            assert packet["failed_reason"] == result["failed_reason"] == code
            assert result.get("found", False) is False
            assert "sk-secret" not in response.text
        small = await door.result(
            "recall_structured", {**asked, "budget": {"max_tokens": 3, "context_tokens": 131_072}}
        )
        assert (small["answer"], small["failed_reason"], small["memory_budget"]["tokens"]) == ("null", code, 1)


@pytest.mark.requirement("BR-RECALL-036")
async def test_a_budgeted_recall_whose_required_items_do_not_fit_says_so(tmp_path: Path) -> None:
    async with remembering(tmp_path) as door:
        answer = await door.result("recall_structured", {"query": QUESTION, "budget": {"max_tokens": 150}})
        assert packet_of(answer)["status"] == "budget_insufficient"
        assert (answer["found"], answer["failed_reason"]) == (False, "recall_output_budget_exhausted")
        kept = await door.result(f"conversations/{answer['conversation']}?collection=recall")
        assert (kept["status"], kept["failed_reason"]) == ("failed", "recall_output_budget_exhausted")


@pytest.mark.requirement("BR-RECALL-047")
async def test_recall_can_be_registered_as_a_function_of_a_model(tmp_path: Path) -> None:
    definition = recall_definition()
    parameters = definition["parameters"]
    Draft202012Validator.check_schema(parameters)
    assert (definition["name"], parameters["required"]) == ("recall_memory", ["query"])
    assert set(parameters["properties"]) == {"query", "context", "budget"}
    assert "$ref" not in json.dumps(parameters)
    asked = {"query": QUESTION, "context": {"counterparty": "ana"}, "budget": {"max_tokens": 900}}
    Draft202012Validator(parameters).validate(asked)
    assert list(Draft202012Validator(parameters).iter_errors({"query": "x", "budget": {"max_tokens": 0}}))
    async with remembering(tmp_path) as door:
        assert (await door.post("recall", asked)).status_code == 200


async def test_a_space_that_is_not_there_is_named_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        assert (await Door(door.client, "nowhere").post("packet", {"query": "x"})).status_code == 404
        assert OWNER
