"""The built wheel, installed in an empty environment, serves and plays the tour."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(command: list[str], folder: Path, **environment: str) -> str:
    """The output of a command; the test fails with it when the command does."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MODEL_", "PYTHON"))}
    done = subprocess.run(
        command, cwd=folder, env={**clean, **environment}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.requirement("BR-OPS-012", "BR-OPS-014", "BR-PROMPT-001", "BR-PROMPT-005")
def test_a_wheel_in_an_empty_environment_serves_and_passes_the_tour(tmp_path: Path) -> None:
    run([sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(ROOT)], tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / "bin" / "python")
    run([python, "-m", "pip", "install", "--quiet", str(wheel)], tmp_path)
    told = run(
        [
            str(tmp_path / "env" / "bin" / "brain"),
            "demo",
            "--once",
            "--addr",
            "127.0.0.1:0",
            "--db",
            str(tmp_path / "db"),
        ],
        tmp_path,
    )
    assert "The tour came out as it should." in told
    assert "citation" in told
    where = run([python, "-c", "import brain, sys; print(brain.__file__); print('litellm' in sys.modules)"], tmp_path)
    assert str(tmp_path / "env") in where
    assert where.split()[-1] == "False"
    # Packets count tokens, and only when one is asked for.
    counted = run(
        [python, "-c", "from brain.packet.tokens import count; print(count('Ana lives in Lisbon.'))"], tmp_path
    )
    assert counted.strip() == "5"
