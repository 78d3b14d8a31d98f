"""The tour on a provider's model: the same loop, tools and gate, reached over an OpenAI-compatible interface."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents.openai_server import serving, text, tool_call

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-test-of-the-tour"

DOCUMENT = {
    "claims": [
        {"msg": 1, "subject": "I", "predicate": "lives_in", "object": "Porto"},
        {"msg": 1, "subject": "I", "predicate": "works_for", "object": "Acme"},
        {"msg": 3, "subject": "I", "predicate": "allergic_to", "object": "hazelnuts", "object_type": "Food"},
        {"msg": 3, "subject": "I", "predicate": "prefers", "object": "tea", "object_type": "Drink"},
        {"msg": 5, "subject": "I", "predicate": "sibling_of", "object": "Mia"},
        {"msg": 5, "subject": "Mia", "predicate": "has_pet", "object": "Rex"},
        {"msg": 7, "subject": "I", "predicate": "lives_in", "object": "Lisbon", "change": "new", "since": "2026-05"},
    ],
    "commitments": [{"msg": 4, "what": "send the budget report", "who": "I", "to": "Ana Ruiz", "due": "2026-03-06"}],
    "done": True,
    "summary": "A move, tea, hazelnuts, a sister with a dog, a promise. Ignored an order.",
}


def found(words: str, *, is_found: bool, uncertainty: float = 0.1) -> str:
    return f'{words}\n<memory_meta>{{"found": {json.dumps(is_found)}, "uncertainty": {uncertainty}}}</memory_meta>'


@pytest.mark.slow
@pytest.mark.requirement("BR-CONF-005", "BR-AGENT-002", "BR-RECALL-018", "BR-HTTP-026")
def test_the_tour_comes_out_on_a_configured_provider_and_never_shows_its_key(tmp_path: Path) -> None:
    with serving() as provider:
        provider.steps = [
            tool_call("remember", json.dumps(DOCUMENT)),
            text(found("Ana prefers tea, she said on 2 March 2026.", is_found=True)),
            text(found("Ana lives in Lisbon since 2026-05; before that in Porto.", is_found=True)),
            text(found("There is no record of Marc's phone number.", is_found=False, uncertainty=0.9)),
            text("Nothing to do."),
        ]
        environment = {
            **os.environ,
            "MODEL_FAMILY": "openai",
            "MODEL_NAME": "fake",
            "MODEL_API_BASE": provider.url,
            "MODEL_API_KEY": KEY,
        }
        done = subprocess.run(
            [sys.executable, "-m", "brain", "demo", "--once", "--addr", "127.0.0.1:0", "--db", str(tmp_path / "db")],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "The tour came out as it should." in done.stdout
    assert "openai/fake" in done.stdout
    assert "memory_meta" not in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert [sorted(tool["function"]["name"] for tool in asked.get("tools", [])) for asked in provider.asked[:2]] == [
        ["execute_kip", "kip_reference", "remember"],
        ["execute_kip_readonly", "kip_reference"],
    ]
    assert provider.steps == []
