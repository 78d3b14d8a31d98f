"""The vocabulary of a new Space, read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.agents.reading import Reading
from brain.agents.turns import Vocabulary
from brain.agents.words import read_vocabulary
from brain.gate.gate import reader_session
from tests.agents.space import open_space


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    folder: Path = tmp_path_factory.mktemp("vocabulary")
    with open_space(folder) as space:
        return read_vocabulary(Reading(space.engine, reader_session("agent:formation")))
