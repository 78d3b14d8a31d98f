"""The Model promise: what `builtin/offline` answers, calls and reports."""

from __future__ import annotations

import json
from dataclasses import replace

import anyio
import pytest

from brain.agents.builtin import NAME, OfflineModel
from brain.agents.builtin.model import answer_to
from brain.agents.execute import EXECUTE_KIP_READONLY
from brain.agents.model import ModelMessage, ModelRequest, Usage
from brain.agents.remember.parse import read_document
from brain.agents.remember.schema import REMEMBER_TOOL
from brain.agents.turns import MaintenanceTurn, Ref, Vocabulary
from brain.kip.parser import parse
from tests.builtin.memory import recall_turn
from tests.builtin.turns import ANA, WEDNESDAY, formation_turn, line


def request(task: object, *messages: ModelMessage, tools: tuple[object, ...] = (REMEMBER_TOOL,)) -> ModelRequest:
    return ModelRequest((ModelMessage("system", ""), *messages), tools, 1_000, 1_000, task)  # type: ignore[arg-type]


@pytest.mark.requirement("BR-AGENT-009")
def test_formation_is_one_remember_call_with_tokens_unknown(vocabulary: Vocabulary) -> None:
    turn = formation_turn(vocabulary, [line(1, ANA, "I prefer dark mode.", WEDNESDAY)])
    answer = anyio.run(OfflineModel().answer, request(turn))
    assert answer.model == NAME == "builtin/offline"
    assert answer.usage == Usage(None, None, None, 1)
    (call,) = answer.tool_calls
    assert call.name == "remember"
    assert json.loads(call.arguments)["claims"][0]["object"] == "dark mode"


def test_the_same_call_has_the_same_answer(vocabulary: Vocabulary) -> None:
    turn = formation_turn(vocabulary, [line(1, ANA, "I moved to Porto last week and I like jazz.", WEDNESDAY)])
    assert answer_to(request(turn)) == answer_to(request(turn))


def test_chatter_needs_no_tool(vocabulary: Vocabulary) -> None:
    turn = formation_turn(vocabulary, [line(1, ANA, "Good morning! Lovely weather.", WEDNESDAY)])
    answer = answer_to(request(turn))
    assert (answer.tool_calls, answer.text) == ((), "Nothing worth keeping.")


def test_a_pass_sends_its_document_once(vocabulary: Vocabulary) -> None:
    turn = formation_turn(vocabulary, [line(1, ANA, "I prefer dark mode.", WEDNESDAY)])
    first = answer_to(request(turn))
    after = ModelMessage("assistant", first.text, first.tool_calls)
    assert answer_to(request(turn, after, ModelMessage("tool", "{}", (), "call_remember"))).tool_calls == ()


def test_its_document_is_one_the_host_reads_whole(vocabulary: Vocabulary) -> None:
    said = "I live in Porto. My dog is called Rex. I'll call Tom Baker tomorrow. Always answer in English."
    turn = formation_turn(vocabulary, [line(1, ANA, said, WEDNESDAY)])
    (call,) = answer_to(request(turn)).tool_calls
    parsed = read_document(json.loads(call.arguments))
    assert not parsed.faults
    assert len(parsed.claims) == 3


@pytest.mark.requirement("BR-RECALL-016", "BR-RECALL-020")
def test_a_recall_ends_with_its_report(vocabulary: Vocabulary) -> None:
    answer = answer_to(request(recall_turn("Where does Ana live?", vocabulary), tools=(EXECUTE_KIP_READONLY,)))
    assert "Porto" in answer.text
    assert answer.text.endswith(
        '<memory_meta>{"found": true, "uncertainty": 0.1, "rests_on": ["A-1", "A-2"]}</memory_meta>'
    )


def test_what_was_cut_from_the_dossier_is_read_with_kql_that_parses(vocabulary: Vocabulary) -> None:
    turn = replace(recall_turn("What is Ana's phone number?", vocabulary), cut=("9 more claims about Ana Ruiz",))
    answer = answer_to(request(turn, tools=(EXECUTE_KIP_READONLY,)))
    (call,) = answer.tool_calls
    arguments = json.loads(call.arguments)
    for command in arguments["commands"]:
        parse(command)
    assert arguments["parameters"]["who"] == "C-1"
    row = [
        {"id": "C-1", "type": "Person", "name": "Ana Ruiz"},
        {"id": "P-9", "predicate": "phone"},
        "+351 1",
        "accepted",
    ]
    result = ModelMessage("tool", json.dumps({"status": "succeeded", "rows": [row]}), (), call.id)
    second = answer_to(
        request(turn, ModelMessage("assistant", "", answer.tool_calls), result, tools=(EXECUTE_KIP_READONLY,))
    )
    assert "Ana Ruiz's phone number is +351 1" in second.text


def test_a_read_that_brings_nothing_ends_in_silence(vocabulary: Vocabulary) -> None:
    turn = replace(recall_turn("What is Ana's phone number?", vocabulary), cut=("9 more claims about Ana Ruiz",))
    first = answer_to(request(turn, tools=(EXECUTE_KIP_READONLY,)))
    for text in ('{"status": "failed"}', "not json", '{"rows": [[1]]}'):
        result = ModelMessage("tool", text, (), "call_lookup")
        answer = answer_to(
            request(turn, ModelMessage("assistant", "", first.tool_calls), result, tools=(EXECUTE_KIP_READONLY,))
        )
        assert answer.tool_calls == ()
        assert '"found": false' in answer.text


def test_a_recall_without_tools_still_answers(vocabulary: Vocabulary) -> None:
    turn = replace(recall_turn("What is Ana's phone number?", vocabulary), cut=("more",))
    assert answer_to(request(turn, tools=())).tool_calls == ()


def test_maintenance_changes_nothing_and_says_what_settlement_did(vocabulary: Vocabulary) -> None:
    assessment = {
        "new_corrections": 2,
        "commitments": {"due": 1, "raised": 1},
        "conflicts": ["P-1"],
        "due_commitments": [],
    }
    answer = answer_to(request(MaintenanceTurn("quick", "manual", assessment, vocabulary, WEDNESDAY)))
    assert answer.tool_calls == ()
    assert answer.text == (
        "Settlement: 2 corrections noted, 1 promise raised. Left for judgement: 1 contradiction. "
        "The built-in model changes nothing by itself."
    )
    calm = answer_to(request(MaintenanceTurn("full", "timer", {}, vocabulary, WEDNESDAY)))
    assert calm.text == "Settlement: nothing to do. Nothing needs judgement."


def test_a_task_it_does_not_know_is_answered_in_words() -> None:
    assert answer_to(request(None)).tool_calls == ()
    assert answer_to(request(Ref(None, "x", None))).usage.requests == 1
