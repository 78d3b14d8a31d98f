"""The loop: what it asks, what it counts, how it stops."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import pytest

from brain.agents.loop import Budget, LoopEnd, run_loop
from brain.agents.model import (
    ModelAnswer,
    ModelFailure,
    ModelRequest,
    ScriptedModel,
    ScriptedStep,
    ToolCall,
    ToolSpec,
    Usage,
    call,
    say,
)
from brain.agents.tools import Tool, ToolAnswer

BUDGET = Budget(rounds=5, total_ms=10_000)


class Echo:
    """A tool that answers with what it was given."""

    spec = ToolSpec("echo", "Say it again.", {"type": "object"})

    def __init__(self, text: str | None = None, *, ends: bool = False) -> None:
        self.got: list[Mapping[str, Any]] = []
        self._text, self._ends = text, ends

    async def run(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        self.got.append(arguments)
        return ToolAnswer(self._text or json.dumps(arguments), ends=self._ends)


class Kept:
    def __init__(self) -> None:
        self.turns: list[Sequence[Mapping[str, Any]]] = []

    def __call__(self, messages: Sequence[Mapping[str, Any]], usage: Usage) -> None:
        self.turns.append(messages)


def run(steps: Sequence[ScriptedStep], *tools: Tool, budget: Budget = BUDGET) -> tuple[LoopEnd, ScriptedModel, Kept]:
    model, kept = ScriptedModel(list(steps)), Kept()

    async def go() -> LoopEnd:
        return await run_loop(
            model, system="be good", user="hello", tools=tools, budget=budget, task="typed", transcript=kept
        )

    return anyio.run(go), model, kept


@pytest.mark.requirement("BR-AGENT-001")
def test_an_answer_without_a_call_ends_the_run() -> None:
    end, model, kept = run([say("hi")], Echo())
    assert (end.content, end.stopped, end.rounds, end.failed_reason) == ("hi", "done", 1, None)
    assert model.requests[0].task == "typed"
    assert [m["role"] for m in kept.turns[-1]] == ["user", "assistant"]


@pytest.mark.requirement("BR-AGENT-006")
def test_usage_is_summed_and_kept_per_call() -> None:
    end, _, _ = run([call("echo", "{}"), say("done")], Echo())
    assert (end.usage.input_tokens, end.usage.output_tokens, end.usage.requests) == (20, 10, 2)
    assert len(end.calls) == 2


def test_tool_results_go_back_to_the_model_under_their_call() -> None:
    echo = Echo()
    _, model, kept = run([call("echo", '{"a": 1}', call_id="c7"), say("done")], echo)
    assert echo.got == [{"a": 1}]
    last = model.requests[1].messages[-1]
    assert (last.role, last.content, last.tool_call_id) == ("tool", '{"a": 1}', "c7")
    assert "ToolOutput" in json.dumps(kept.turns[-1])


@pytest.mark.requirement("BR-AGENT-005")
@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("echo", '{"a": not json', "InvalidRequestEnvelope"),
        ("echo", "[1]", "InvalidRequestEnvelope"),
        ("echo", "[" * 100_000, "InvalidRequestEnvelope"),
        ("rm", "{}", "UnsupportedCapability"),
    ],
)
def test_garbage_comes_back_as_a_tool_error_and_the_run_goes_on(name: str, arguments: str, code: str) -> None:
    end, model, _ = run([call(name, arguments), say("sorry")], Echo())
    assert code in model.requests[1].messages[-1].content
    assert (end.content, end.failed_reason) == ("sorry", None)


@pytest.mark.requirement("BR-FORM-028", "BR-RECALL-005")
def test_an_endless_caller_stops_at_its_turns_and_was_told_before() -> None:
    end, model, _ = run([call("echo", "{}")] * 9, Echo(), budget=Budget(rounds=3, total_ms=10_000))
    assert (end.stopped, end.rounds) == ("turns", 3)
    assert end.failed_reason is not None
    assert end.failed_reason.startswith("turn_limit")
    assert "last turn" in model.requests[2].messages[-1].content


@pytest.mark.requirement("BR-RECALL-006")
def test_a_slow_model_is_given_up_at_the_end_of_the_time() -> None:
    class Slow:
        name = "slow/test"

        async def answer(self, request: ModelRequest) -> ModelAnswer:
            await asyncio.sleep(30)
            return say("never")

    async def go() -> LoopEnd:
        return await run_loop(
            Slow(), system="s", user="u", tools=(), budget=Budget(3, total_ms=200), task=None, transcript=Kept()
        )

    end = anyio.run(go)
    assert (end.stopped, end.failed_reason) == ("failed", "timeout: the model did not answer in time")


@pytest.mark.requirement("BR-AGENT-007")
def test_a_model_failure_ends_the_run_with_its_code() -> None:
    end, _, _ = run([ModelFailure("rate_limited", "too many calls", transient=True)])
    assert (end.stopped, end.failed_reason) == ("failed", "rate_limited: too many calls")


@pytest.mark.requirement("BR-AGENT-007")
def test_an_unexpected_exception_of_a_model_shows_its_kind_only() -> None:
    def explode(_: ModelRequest) -> ModelAnswer:
        raise RuntimeError("sk-secret in here")

    end, _, _ = run([explode])
    assert end.failed_reason is not None
    assert "RuntimeError" in end.failed_reason
    assert "secret" not in end.failed_reason


def test_a_tool_may_end_the_run_without_another_model_call() -> None:
    end, model, _ = run([call("echo", "{}")], Echo(ends=True))
    assert (end.stopped, len(model.requests)) == ("done", 1)


@pytest.mark.requirement("BR-AGENT-011")
def test_a_long_result_is_cut_with_a_marker() -> None:
    _, model, _ = run([call("echo", "{}"), say("ok")], Echo("x" * 50_000), budget=Budget(5, 10_000, result_chars=1_000))
    seen = model.requests[1].messages[-1].content
    assert len(seen) < 1_200
    assert "[cut: 1000 of 50000 characters shown. Ask for less" in seen


@pytest.mark.requirement("BR-RECALL-007")
def test_calls_of_one_turn_and_of_the_run_are_bounded() -> None:
    many = ModelAnswer("", tuple(ToolCall(f"c{n}", "echo", "{}") for n in range(6)), Usage(1, 1, 0, 1), "scripted/test")
    echo = Echo()
    _, model, _ = run([many, many, say("ok")], echo, budget=Budget(5, 10_000, tool_calls=7, calls_per_turn=4))
    assert len(echo.got) == 5
    assert "ResourceExhausted" in model.requests[1].messages[-1].content


@pytest.mark.requirement("BR-AGENT-016")
def test_the_beginning_of_every_call_is_the_same() -> None:
    _, model, _ = run([call("echo", "{}"), call("echo", "{}"), say("ok")], Echo())
    first, last = model.requests[0], model.requests[2]
    assert last.messages[: len(first.messages)] == first.messages
    assert last.tools == first.tools


def test_the_transcript_is_kept_after_every_turn() -> None:
    _, _, kept = run([call("echo", "{}"), say("ok")], Echo())
    assert [len(turn) for turn in kept.turns] == [3, 4]
