"""The agents' texts: what they must say, that what they show is legal, and how long they may be."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

from brain import bundled
from brain.agents.execute import EXECUTE_KIP, EXECUTE_KIP_READONLY
from brain.agents.model import ToolSpec
from brain.agents.prompts import AgentRole, role_text, system_prompt
from brain.agents.reference import KIP_REFERENCE, PAGE_BYTES, pages_of, sections_of
from brain.agents.remember.schema import REMEMBER_TOOL
from brain.agents.turns import PredicateWord, TypeWord, Vocabulary
from brain.gate.roles import SELECTION_LIMIT
from brain.gate.vocabulary import MAX_DEFINITIONS
from brain.ids import digest
from brain.kip.parser import parse
from tests.agents.space import TestSpace

ROLES: dict[AgentRole, tuple[ToolSpec, ...]] = {
    "formation": (REMEMBER_TOOL, EXECUTE_KIP, KIP_REFERENCE),
    "recall": (EXECUTE_KIP_READONLY, KIP_REFERENCE),
    "maintenance": (EXECUTE_KIP, KIP_REFERENCE),
}
BUDGET = {"formation": (5_500, 1_700), "recall": (3_500, 1_500), "maintenance": (6_500, 1_800)}
"""Tokens of the fixed text, and of the tools, of each role."""

VOCABULARY = Vocabulary(
    (TypeWord("Person", "Somebody", 3),),
    (PredicateWord("knows", "Is acquainted with", ("Person",), ("Person",), (), "many"),),
)


def examples() -> list[tuple[str, str]]:
    """Every KIP example of prompts and reference: where it stands and its text."""
    return [
        (f"{folder}/{file}", match.group(1).strip())
        for folder in ("prompts", "kip_reference")
        for file in bundled.files(folder)
        for match in re.finditer(r"```kip\n(.*?)```", bundled.text(folder, file), re.DOTALL)
    ]


@pytest.mark.requirement("BR-PROMPT-010")
@pytest.mark.parametrize(("place", "command"), examples(), ids=lambda value: value[:40])
def test_every_example_parses(place: str, command: str) -> None:
    parse(command)


@pytest.mark.requirement("BR-PROMPT-010")
@pytest.mark.parametrize(
    "command", [command for _, command in examples() if command.startswith("FIND")], ids=lambda value: value[:40]
)
def test_every_read_that_is_shown_can_be_run(space: TestSpace, command: str) -> None:
    space.write('CREATE CONCEPT ?c { TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"} }')
    for plain in ("C-7", "C-30"):
        command = command.replace(plain, "C-1")
    bound = {"at": "2026-06-01T00:00:00.000Z", "asker": {"id": "C-1"}}
    space.rows(command, **bound)


@pytest.mark.requirement("BR-PROMPT-002", "BR-PROMPT-004")
@pytest.mark.parametrize("role", ROLES)
def test_the_deployment_half_names_exactly_this_services_tools_and_limits(role: AgentRole) -> None:
    text = role_text(role)
    halves = text.split("\n# A. ")
    assert len(halves) == 2
    named = set(re.findall(r"`([a-z_]+)`", halves[1].split("\n\n")[1]))
    assert named - {"done"} == {tool.name for tool in ROLES[role]}
    if role != "recall":
        assert f"LIMIT {SELECTION_LIMIT}" in halves[1]
    if role == "formation":
        assert f"{MAX_DEFINITIONS} definitions" in halves[1]


@pytest.mark.requirement("BR-PROMPT-016")
@pytest.mark.parametrize("role", ROLES)
def test_the_length_of_the_fixed_part_is_bounded(role: AgentRole) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        pytest.skip("the encoding's file travels with litellm")
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    encoding = tiktoken.get_encoding("o200k_base")
    text, tools = BUDGET[role]
    assert len(encoding.encode(role_text(role))) <= text
    specs = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in ROLES[role]]
    assert len(encoding.encode(json.dumps(specs))) <= tools


@pytest.mark.requirement("BR-PROMPT-012")
@pytest.mark.parametrize(
    ("role", "phrases"),
    [
        ("formation", ["BELIEF", "insufficient", "never retype", "one MUTATE", "nothing is a good result", "material"]),
        ("recall", ["BELIEF", "never means no", "material", "You only read"]),
        ("maintenance", ["BELIEF", "one MUTATE", "Doing nothing is a full success", "is not a task of yours"]),
    ],
)
def test_each_prompt_tells_what_it_must(role: AgentRole, phrases: list[str]) -> None:
    text = " ".join(role_text(role).split())
    assert [phrase for phrase in phrases if phrase not in text] == []


@pytest.mark.requirement("BR-PROMPT-013", "BR-PROMPT-014")
def test_recall_asks_for_the_report_and_for_both_languages() -> None:
    text = " ".join(role_text("recall").split())
    assert '<memory_meta>{"found": true' in text
    assert "no word about tools or about this report" in text
    assert "Chinese" in text


@pytest.mark.requirement("BR-FORM-045")
def test_formation_is_told_to_let_machine_secrets_pass() -> None:
    assert "API keys, tokens, private keys" in role_text("formation")


@pytest.mark.requirement("BR-PROMPT-009", "BR-AGENT-016")
def test_the_digest_is_that_of_the_fixed_part_and_the_fixed_part_comes_first() -> None:
    prompt = system_prompt("recall", VOCABULARY)
    assert prompt.text.startswith(role_text("recall"))
    assert prompt.digest == digest(role_text("recall").encode())
    assert "knows Person -> Person, many: Is acquainted with" in prompt.text


def test_a_maintenance_prompt_is_told_from_a_formation_prompt_by_its_first_words() -> None:
    assert "maintenance" in role_text("maintenance")[:400]
    assert "maintenance" not in role_text("formation")[:400].lower()


@pytest.mark.requirement("BR-AGENT-014", "BR-PROMPT-005")
@pytest.mark.parametrize("file", bundled.files("kip_reference"))
def test_reference_documents_have_sections_and_pages_of_8_kib(file: str) -> None:
    text = bundled.text("kip_reference", file)
    assert all(len(page.encode()) <= PAGE_BYTES for page in pages_of(text))
    assert "".join(pages_of(text)) == text
    assert len(sections_of(file.removesuffix(".md"))) > 2


def test_a_missing_text_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(bundled.BundledTextMissing, match=r"nothing\.md"):
        bundled.text("prompts", "nothing.md")
    monkeypatch.setattr(bundled, "_PACKAGE", tmp_path / "brain")
    with pytest.raises(bundled.BundledTextMissing, match="prompts"):
        bundled.folder("prompts")


def test_a_wheel_carries_its_texts_inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside = tmp_path / "brain" / "bundled" / "prompts"
    inside.mkdir(parents=True)
    monkeypatch.setattr(bundled, "_PACKAGE", tmp_path / "brain")
    assert bundled.folder("prompts") == inside
