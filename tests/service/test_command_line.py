"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.world import store_of, world

ROOT = Path(__file__).resolve().parents[2]


def brain(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MODEL_", "SPACE_", "LLM_"))}
    return subprocess.run(
        [sys.executable, "-m", "brain", *arguments],
        cwd=folder,
        env={**clean, **_store(folder, arguments), "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _store(folder: Path, arguments: tuple[str, ...]) -> dict[str, str]:
    """Where the Spaces are that the command means, if not in files: those of the folder it names."""
    named = arguments[arguments.index("--db") + 1] if "--db" in arguments else "data"
    return {name.upper(): value for name, value in store_of(folder / named).items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = world(tmp_path / "data")
    made.create()
    made.application.spaces.close()
    return tmp_path


@pytest.mark.requirement("BR-OPS-013")
def test_kip_prints_the_answer_and_says_by_its_code_whether_it_was_one(folder: Path) -> None:
    found = brain(
        "kip", "home", "FIND(?p.key) WHERE { ?p {type: :t} }", "--parameters", '{"t": "Person"}', folder=folder
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["results"][0]["result"] == ["$self"]
    wrong = brain("kip", "home", "FIND(", folder=folder)
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["status"] == "failed"
    nobody = brain("kip", "nobody", "FIND(", folder=folder)
    assert (nobody.returncode, nobody.stdout, nobody.stderr.strip()) == (1, "", "space not found")
    assert brain("kip", "home", "X", "--parameters", "[]", folder=folder).returncode == 2
    assert brain("kip", "home", "DESCRIBE PROTOCOL", "--db", "elsewhere", folder=folder).returncode == 1


@pytest.mark.requirement("BR-OPS-013")
def test_kip_prints_how_a_query_would_be_run_and_keeps_every_value_out_of_the_statement(folder: Path) -> None:
    command = 'FIND(?q.name) WHERE { ?p {type: "Person", key: "a"} (?p, "knows", ?q) FILTER(?q.name != :n) } LIMIT 3'
    told = brain("kip", "home", command, "--plan", "--parameters", '{"n": "Nobody"}', folder=folder)
    assert told.returncode == 0, told.stderr
    plan, _, statement = told.stdout.partition("----\n")
    assert plan.splitlines()[-1].strip() == 'filter ?q.name != "Nobody"'
    assert any(line.startswith(("SELECT ", "MATCH ")) for line in statement.splitlines())
    assert not any(value in statement for value in ("Nobody", "Person", "= 3", "LIMIT 3"))
    wrong = brain("kip", "home", "DESCRIBE PROTOCOL", "--plan", folder=folder)
    assert (wrong.returncode, wrong.stdout, wrong.stderr.strip()) == (1, "", "InvalidSyntax: Only a FIND has a plan.")


@pytest.mark.requirement("BR-OPS-013")
def test_help_names_every_command_and_setting(folder: Path) -> None:
    assert brain(folder=folder).returncode == 2
    told = brain("serve", "--help", folder=folder)
    assert told.returncode == 0
    for flag in ("--addr", "--listen-addr", "--db", "--model-api-key", "--cors-origins", "--http-max-concurrency"):
        assert flag in told.stdout
    assert brain("--version", folder=folder).stdout.strip() == "0.1.0"
    assert brain("serve", "--nonsense", folder=folder).returncode == 2


def test_a_process_can_listen_before_the_engine_is_imported() -> None:
    script = """
import sys
import brain.app, brain.serve
engine = ("brain.kip.pipeline", "brain.kip.execute", "brain.kip.governance", "brain.kip.algebra",
          "brain.store.sqlite.plans", "brain.agents.formation", "brain.upkeep")
print(sorted(name for name in engine if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.requirement("BR-OPS-027", "BR-CONF-034")
def test_a_key_free_service_works_without_ever_importing_litellm(folder: Path) -> None:
    script = """
import anyio, sys
from pathlib import Path
from tests.service.world import served, settings_for
from brain.app import build
async def main():
    application = build(settings_for(Path("data")))
    assert "brain.agents.builtin" not in sys.modules
    async with served(application) as client:
        assert (await client.get("/info")).status_code == 200
        body = {"messages": [{"role": "user", "name": "Ana", "content": "I live in Porto."}]}
        number = (await client.post("/v1/home/formation", json=body)).json()["result"]["conversation"]
        while (await client.get(f"/v1/home/conversations/{number}")).json()["result"]["status"] != "completed":
            await anyio.sleep(0.02)
        answer = await client.post("/v1/home/recall", json={"query": "Where does Ana live?"})
        assert "Porto" in answer.json()["result"]["content"]
    assert not [name for name in sys.modules if name.split(".")[0] in ("litellm", "openai", "torch", "tiktoken")]
anyio.run(main)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
