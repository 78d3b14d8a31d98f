"""No way to the engine goes around the gate (BR-GATE-004): who may import what, read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import brain

_ROOT = Path(brain.__file__).parent

_WRITERS = {"Session"}
"""Names that make a session without the gate."""


def imports(path: Path) -> set[tuple[str, str]]:
    """(module, name) of every import in a file, those inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
    return found


def calls(path: Path) -> set[str]:
    """Names called as plain functions."""
    return {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


AGENTS = sorted((_ROOT / "agents").rglob("*.py"))
UPKEEP = sorted((_ROOT / "upkeep").rglob("*.py"))


@pytest.mark.requirement("BR-GATE-004")
@pytest.mark.parametrize("path", [*AGENTS, *UPKEEP], ids=lambda path: str(path.relative_to(_ROOT)))
def test_agents_and_upkeep_make_no_session_of_their_own(path: Path) -> None:
    assert not calls(path) & _WRITERS
    assert ("brain.kip.govern", "preset_session") not in imports(path)


@pytest.mark.requirement("BR-GATE-004")
@pytest.mark.parametrize("path", AGENTS, ids=lambda path: str(path.relative_to(_ROOT)))
def test_agents_reach_neither_the_engines_inside_nor_the_service(path: Path) -> None:
    inner = {"brain.kip.write", "brain.kip.read", "brain.kip.operate", "brain.kip.commit", "brain.store.sqlite"}
    for module, _ in imports(path):
        assert not any(module == name or module.startswith(f"{name}.") for name in inner), module
        assert not module.startswith(("brain.service", "brain.http")), module


@pytest.mark.parametrize("path", sorted((_ROOT / "gate").rglob("*.py")), ids=lambda path: path.name)
def test_the_gate_knows_no_agent(path: Path) -> None:
    assert not any(module.startswith(("brain.agents", "brain.service", "brain.http")) for module, _ in imports(path))
