"""The one loop of all agents: ask the model, run the tools it calls, count, stop.

Roles differ by their prompt, their tools and their gate; nothing here knows which role runs. The loop ends when the
model answers without a call, when a tool says the run is over, or when the budget is used up. Budgets are looked at
between turns, so that a write in flight is always finished.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import anyio
from anyio.to_thread import run_sync

from brain.agents.model import Model, ModelAnswer, ModelFailure, ModelMessage, ModelRequest, ToolCall, Usage
from brain.agents.texts import cut_result
from brain.agents.tools import Tool, ToolAnswer, compact, failure

Stopped = Literal["done", "turns", "time", "context", "failed"]

Transcript = Callable[[Sequence[Mapping[str, Any]], Usage], None]

_LAST_TURN = "This is the last turn of this run: answer now with what you have, without calling a tool."
_CALL_LIMIT = "No more tool calls in this turn; answer, or call again in the next turn."


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may use.

    rounds         model calls
    total_ms       the run, from start to end; a model call in flight then is given up, a write is not
    call_ms        one model call
    tool_calls     of the whole run; `calls_per_turn` of one model answer
    result_chars   one tool result, before it is cut with a marker
    output_tokens  asked of the model per call
    context_tokens of everything the model is sent, summed over all calls, as `count` counts; None for no bound
    used_rounds    what a run of several passes has made of its rounds, and used_ms of its time, before this one
    """

    rounds: int
    total_ms: int
    call_ms: int = 120_000
    tool_calls: int = 256
    calls_per_turn: int = 16
    result_chars: int = 12_000
    output_tokens: int = 8_192
    context_tokens: int | None = None
    count: Callable[[str], int] = len
    used_rounds: int = 0
    used_ms: int = 0


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """How a run ended.

    content        the model's last words; empty when it had none
    failed_reason  a stable code and a short text, or None; never a provider's body
    model          who answered last, the asked model's name when nobody did
    calls          usage of each model call, in order
    """

    content: str
    stopped: Stopped
    failed_reason: str | None
    usage: Usage
    model: str
    rounds: int
    calls: tuple[Usage, ...]


@dataclass(slots=True)
class _Run:
    messages: list[ModelMessage]
    wire: list[dict[str, Any]]
    usage: Usage = field(default_factory=Usage)
    calls: list[Usage] = field(default_factory=list)
    tool_calls: int = 0
    sent_tokens: int = 0
    said: str = ""
    model: str = ""

    def end(self, stopped: Stopped, failed_reason: str | None = None) -> LoopEnd:
        return LoopEnd(self.said, stopped, failed_reason, self.usage, self.model, len(self.calls), tuple(self.calls))


async def run_loop(
    model: Model,
    *,
    system: str,
    user: str,
    tools: Sequence[Tool],
    budget: Budget,
    task: object | None,
    transcript: Transcript,
    follow_up: str | None = None,
) -> LoopEnd:
    """Run one agent to its end; every way it can end is an answer, none an exception.

    system, user  the two texts the run begins with; they and the tool specs stay byte for byte the same over all calls
    transcript    called after every turn with all messages so far but the system text, in wire shape
    follow_up     asked once when the agent is done, in the same run and budget
    """
    started = time.monotonic()
    by_name = {tool.spec.name: tool for tool in tools}
    specs = tuple(tool.spec for tool in tools)
    run = _Run(
        [ModelMessage("system", system), ModelMessage("user", user)],
        [{"role": "user", "content": user}],
        model=model.name,
    )
    end: LoopEnd | None = None
    while end is None:
        left_ms = budget.total_ms - budget.used_ms - int((time.monotonic() - started) * 1000)
        if left_ms <= 0:
            end = run.end("time", f"time_limit: the run did not end within {budget.total_ms // 1000} s")
            break
        if budget.used_rounds + len(run.calls) >= budget.rounds:
            end = run.end("turns", f"turn_limit: the run did not end within {budget.rounds} model calls")
            break
        request = ModelRequest(tuple(run.messages), specs, budget.output_tokens, min(budget.call_ms, left_ms), task)
        if budget.context_tokens is not None:
            run.sent_tokens += await run_sync(budget.count, sent_text(request))
            if run.sent_tokens > budget.context_tokens:
                end = run.end(
                    "context", f"context_limit: the run's model calls take over {budget.context_tokens} tokens"
                )
                break
        answer = await _ask(model, request)
        if isinstance(answer, ModelFailure):
            run.usage += Usage(requests=1)
            end = run.end("failed", f"{answer.reason}: {answer}")
            break
        _note_answer(run, answer)
        is_over = not answer.tool_calls or await _answer_calls(run, answer.tool_calls, by_name, budget)
        if is_over and follow_up is None:
            end = run.end("done")
            break
        if is_over and follow_up is not None:
            run.messages.append(ModelMessage("user", follow_up))
            run.wire.append({"role": "user", "content": follow_up})
            follow_up = None
        await run_sync(transcript, list(run.wire), run.usage)
    await run_sync(transcript, list(run.wire), run.usage)
    return end


def sent_text(request: ModelRequest) -> str:
    """What a model is sent, as the text whose tokens are counted: messages and tools as compact JSON.

    How a provider wraps it is the provider's own, and not counted.
    """
    messages = [
        {
            "role": message.role,
            "content": message.content,
            **({"tool_calls": [asdict(call) for call in message.tool_calls]} if message.tool_calls else {}),
            **({"tool_call_id": message.tool_call_id} if message.tool_call_id else {}),
        }
        for message in request.messages
    ]
    tools = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in request.tools]
    return compact({"messages": messages, "tools": tools})


async def _ask(model: Model, request: ModelRequest) -> ModelAnswer | ModelFailure:
    """One model call within its time; a model that fails in a way it did not announce is a failure too."""
    try:
        with anyio.fail_after(request.timeout_ms / 1000):
            return await model.answer(request)
    except TimeoutError:
        return ModelFailure("timeout", "the model did not answer in time", transient=True)
    except ModelFailure as failed:
        return failed
    except Exception as broken:  # noqa: BLE001 - the kind of failure is all that may be told
        return ModelFailure("provider_error", f"the model call broke ({type(broken).__name__})", transient=True)


def _note_answer(run: _Run, answer: ModelAnswer) -> None:
    run.usage += answer.usage
    run.calls.append(answer.usage)
    run.model = answer.model
    if answer.text.strip():
        run.said = answer.text
    run.messages.append(ModelMessage("assistant", answer.text, answer.tool_calls))
    if not answer.tool_calls:
        run.wire.append({"role": "assistant", "content": answer.text})
        return
    parts: list[dict[str, Any]] = [{"type": "Text", "text": answer.text}] if answer.text else []
    parts += [
        {"type": "ToolCall", "name": call.name, "args": call.arguments, "callId": call.id} for call in answer.tool_calls
    ]
    run.wire.append({"role": "assistant", "content": parts})


async def _answer_calls(run: _Run, calls: Sequence[ToolCall], by_name: Mapping[str, Tool], budget: Budget) -> bool:
    """Run the calls of one turn in order; True when one of them ended the run."""
    is_over = False
    for number, call in enumerate(calls):
        run.tool_calls += 1
        if number >= budget.calls_per_turn or run.tool_calls > budget.tool_calls:
            answer = failure("ResourceExhausted", "This call was not run: too many tool calls.", _CALL_LIMIT)
        else:
            answer = await _run_tool(call, by_name)
        text = cut_result(answer.text, budget.result_chars, answer.advice)
        if budget.used_rounds + len(run.calls) == budget.rounds - 1 and number == len(calls) - 1:
            text = f"{text}\n{_LAST_TURN}"
        run.messages.append(ModelMessage("tool", text, tool_call_id=call.id))
        run.wire.append(
            {
                "role": "tool",
                "name": call.name,
                "content": [{"type": "ToolOutput", "name": call.name, "output": text, "callId": call.id}],
            }
        )
        is_over = is_over or answer.ends
    return is_over


async def _run_tool(call: ToolCall, by_name: Mapping[str, Tool]) -> ToolAnswer:
    tool = by_name.get(call.name)
    if tool is None:
        offered = ", ".join(by_name)
        return failure("UnsupportedCapability", f"There is no tool {call.name[:64]!r} here.", f"Tools: {offered}.")
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as wrong:
        return failure("InvalidRequestEnvelope", f"The arguments are not JSON: {wrong}.", "Send one JSON object.")
    if not isinstance(arguments, dict):
        return failure("InvalidRequestEnvelope", "The arguments are not a JSON object.", "Send one JSON object.")
    return await tool.run(arguments)
