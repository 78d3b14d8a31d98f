"""Tools and texts: the reference, arguments, rendering, what is done to text before it stands in a prompt."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.agents.execute import read_arguments
from brain.agents.reference import KipReference
from brain.agents.selfreport import take_report
from brain.agents.texts import block, clean, cut_result, one_line
from brain.agents.tools import ToolAnswer
from brain.errors import InvalidRequestEnvelope


def look_up(**arguments: Any) -> ToolAnswer:
    return anyio.run(KipReference().run, arguments)


@pytest.mark.requirement("BR-AGENT-014")
def test_the_reference_lists_documents_then_headings_then_text() -> None:
    assert "syntax: The KIP 2.0 language on one card" in look_up(document="index").text
    assert "ASSERT" in look_up(document="syntax", section="index").text.splitlines()
    assert look_up(document="belief", section="Status").text.startswith("## Status")
    assert look_up(document="profile").text.startswith("# The memory profile")


@pytest.mark.parametrize(
    "arguments",
    [{"document": "nope"}, {"document": "syntax", "section": "zzz"}, {"document": "syntax", "page": 99}, {}],
)
def test_what_the_reference_has_not_is_said_with_what_it_has(arguments: dict[str, Any]) -> None:
    answer = look_up(**arguments)
    assert answer.failed
    assert json.loads(answer.text)["error"]["hint"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ""},
        {"command": 5},
        {"command": "FIND", "commands": ["FIND"]},
        {"commands": []},
        {"commands": "FIND"},
        {"command": "FIND", "parameters": [1]},
        {"command": "FIND", "ingest": {}},
    ],
)
def test_arguments_of_another_shape_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestEnvelope):
        read_arguments(arguments)


@pytest.mark.requirement("BR-GATE-037")
@given(st.text(), st.integers(0, 200))
def test_cleaned_text_is_bounded_and_says_something(text: str, most: int) -> None:
    cleaned = clean(text, most)
    assert len(cleaned) <= most + 40
    assert not any(ord(c) < 32 and c not in "\n\t" for c in cleaned)
    assert not any(0xD800 <= ord(c) <= 0xDFFF for c in cleaned)
    assert "\n" not in one_line(text, most)


@pytest.mark.requirement("BR-GATE-037")
@given(st.lists(st.text()))
def test_no_line_of_data_looks_like_the_end_of_its_block(texts: list[str]) -> None:
    shown = block("messages", [f"[1] {clean(text, 500)}" for text in texts])
    body = shown.split("\n")[1:-1]
    assert all(line.startswith(("[1] ", "    ")) for line in body)


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x00", "\ud800", "\x1b[31m", "\u2066"])
def test_characters_that_steer_are_removed(hidden: str) -> None:
    assert hidden[0] not in clean(f"a{hidden}b", 100)


def test_a_cut_says_how_much_and_how_to_get_the_rest() -> None:
    assert cut_result("x" * 20, 10, "Ask for less.") == f"{'x' * 10}\n[cut: 10 of 20 characters shown. Ask for less.]"
    assert cut_result("short", 10, "") == "short"


@pytest.mark.requirement("BR-RECALL-016")
@pytest.mark.parametrize(
    ("text", "answer", "found", "uncertainty"),
    [
        ('Yes.\n<memory_meta>{"found": true, "uncertainty": 0.25}</memory_meta>', "Yes.", True, 0.25),
        ("Yes.", "Yes.", None, None),
        ("Yes. <memory_meta>{broken</memory_meta> Really.", "Yes.  Really.", None, None),
        (
            '<memory_meta>{"found": true}</memory_meta>No.<MEMORY_META>{"found": false}</MEMORY_META>',
            "No.",
            False,
            None,
        ),
        ('No. <memory_meta>{"found": false', "No.", None, None),
        ("</memory_meta>Odd", "Odd", None, None),
        ('A<memory_meta>{"found": "yes", "uncertainty": 7}</memory_meta>', "A", None, None),
        ("A<memory_meta>[1]</memory_meta>", "A", None, None),
    ],
)
def test_the_report_is_read_and_never_shown(
    text: str, answer: str, found: bool | None, uncertainty: float | None
) -> None:
    shown, report = take_report(text)
    assert (shown, report.found, report.uncertainty) == (answer, found, uncertainty)
    assert "memory_meta" not in shown.lower()
