"""Real providers behind the Model promise, shown against a local OpenAI-compatible server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import anyio
import pytest

from brain.agents.litellm_model import LitellmModel, Provider
from brain.agents.model import ModelAnswer, ModelFailure, ModelMessage, ModelRequest, ToolCall, ToolSpec
from tests.agents.openai_server import ScriptedServer, hang, serving, status, text, tool_call

TOOL = ToolSpec("look", "Look something up.", {"type": "object", "properties": {"q": {"type": "string"}}})


@pytest.fixture(scope="module")
def shared_server() -> Iterator[ScriptedServer]:
    with serving() as server:
        yield server


@pytest.fixture
def server(shared_server: ScriptedServer) -> ScriptedServer:
    shared_server.steps.clear()
    shared_server.asked.clear()
    return shared_server


def model(server: ScriptedServer, **kwargs: int) -> LitellmModel:
    return LitellmModel(Provider("openai", "fake-1", "sk-very-secret", server.url), back_off_ms=5, **kwargs)


def request(*messages: ModelMessage, timeout_ms: int = 20_000) -> ModelRequest:
    given = messages or (ModelMessage("system", "be brief"), ModelMessage("user", "hello"))
    return ModelRequest(given, (TOOL,), 256, timeout_ms)


def ask(model: LitellmModel, asked: ModelRequest | None = None) -> ModelAnswer:
    return anyio.run(model.answer, asked or request())


@pytest.mark.requirement("BR-AGENT-002")
def test_text_usage_and_name_come_back(server: ScriptedServer) -> None:
    server.steps = [text("hi there")]
    answer = ask(model(server))
    assert (answer.text, answer.model) == ("hi there", "openai/fake-1")
    usage = answer.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.requests) == (21, 4, 8, 1)


def test_tools_and_output_limit_reach_the_provider_and_calls_come_back(server: ScriptedServer) -> None:
    server.steps = [tool_call("look", '{"q": "x"}')]
    answer = ask(model(server))
    assert [(c.name, c.arguments) for c in answer.tool_calls] == [("look", '{"q": "x"}')]
    asked = server.asked[0]
    assert asked["tools"][0]["function"]["name"] == "look"
    assert asked["tool_choice"] == "auto"
    assert 256 in (asked.get("max_tokens"), asked.get("max_completion_tokens"))


def test_a_history_with_tool_results_is_sent_in_the_providers_shape(server: ScriptedServer) -> None:
    server.steps = [text("done")]
    ask(
        model(server),
        request(
            ModelMessage("user", "q"),
            ModelMessage("assistant", "", (ToolCall("c1", "look", "{}"),)),
            ModelMessage("tool", "rows", tool_call_id="c1"),
        ),
    )
    sent = server.asked[0]["messages"]
    assert sent[1]["tool_calls"][0]["id"] == "c1"
    assert sent[2] == {"role": "tool", "tool_call_id": "c1", "content": "rows"}


@pytest.mark.requirement("BR-AGENT-002")
def test_a_transient_failure_is_tried_again(server: ScriptedServer) -> None:
    server.steps = [status(500), status(429), text("at last")]
    assert ask(model(server)).text == "at last"
    assert len(server.asked) == 3


def test_attempts_are_bounded(server: ScriptedServer) -> None:
    server.steps = [status(503)] * 5
    with pytest.raises(ModelFailure) as failed:
        ask(model(server, attempts=2))
    assert (failed.value.reason, len(server.asked)) == ("provider_error", 2)


@pytest.mark.requirement("BR-AGENT-007")
@pytest.mark.parametrize(
    ("code", "reason"),
    [(401, "not_configured"), (404, "not_configured"), (400, "provider_error"), (429, "rate_limited")],
)
def test_a_failure_has_a_stable_code_and_shows_neither_body_nor_key(
    server: ScriptedServer, code: int, reason: str
) -> None:
    server.steps = [status(code)] * 3
    with pytest.raises(ModelFailure) as failed:
        ask(model(server))
    assert failed.value.reason == reason
    assert "secret" not in str(failed.value)
    assert "sk-" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert "secret" not in repr(Provider("openai", "m", "sk-very-secret"))


@pytest.mark.requirement("BR-CONF-007")
def test_what_the_window_cannot_hold_is_not_sent(server: ScriptedServer) -> None:
    narrow = model(server, context_window=2_000)
    server.steps = [text("in Porto")]
    with pytest.raises(ModelFailure) as failed:
        ask(narrow, request(ModelMessage("user", "Where does Ana live? " * 1_000)))
    assert (failed.value.reason, failed.value.transient) == ("too_long", False)
    assert server.asked == []
    # Counted in tokens: these bytes are more than there is room for, and the tokens are fewer.
    assert ask(narrow, request(ModelMessage("user", "Where does Ana live? " * 100))).text == "in Porto"


def test_a_call_that_takes_too_long_times_out(server: ScriptedServer) -> None:
    server.steps = [hang(5)] * 3
    with pytest.raises(ModelFailure) as failed:
        ask(model(server), request(timeout_ms=300))
    assert failed.value.reason == "timeout"


def test_cancelling_drops_the_call_in_flight(server: ScriptedServer) -> None:
    server.steps = [hang(30)]

    async def cancelled() -> bool:
        with anyio.move_on_after(0.3) as scope:
            await model(server).answer(request())
        return scope.cancelled_caught

    assert anyio.run(cancelled)


@pytest.mark.parametrize(
    ("family", "name", "route"),
    [
        ("openai", "gpt-5", "openai/gpt-5"),
        ("google", "gemini-3", "gemini/gemini-3"),
        ("deepseek", "deepseek-chat", "deepseek/deepseek-chat"),
        ("Anthropic", "claude", "anthropic/claude"),
        ("openai", "openai/gpt-5", "openai/gpt-5"),
    ],
)
def test_families_map_to_litellm_routes(family: str, name: str, route: str) -> None:
    assert Provider(family, name, "k").route == route


@pytest.mark.requirement("BR-AGENT-003")
def test_litellm_is_not_imported_before_the_first_call() -> None:
    code = (
        "import sys, brain.agents.litellm_model as m; "
        "m.LitellmModel(m.Provider('openai', 'x', 'k')); assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
