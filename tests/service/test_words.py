"""A word that a Space makes for itself is put up for review, also where the process that made it was killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brain.service.hosting import HOST
from brain.service.vocabulary import schema_drafts
from tests.service.processes import ROOT
from tests.service.world import World, world

DIES_BETWEEN = """
import os, signal, sys
from functools import partial
from pathlib import Path
import anyio
from brain.agents.hostwrites import HostWrites
from brain.auth.credentials import Scope
from brain.service.callers import Caller
from brain.service.write_inputs import RememberInput, WriteInput
from tests.service.world import world

HostWrites.review_symbol = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
made = world(Path(sys.argv[1]))
writes = made.application.http.state.writes
caller = Caller("tester", "test")
if sys.argv[2] == "execute_kip":
    asked = WriteInput(command='DEFINE PREDICATE "sails" {description: "What the subject sails."}')
    anyio.run(writes.execute_kip, "home", asked, caller)
else:
    word = {"name": "sails", "meaning": "What somebody sails.", "subject": "Person", "object": "Boat", "values": "many"}
    claim = {"msg": 1, "subject": "I", "predicate": "sails", "object": "Mira", "object_type": "Boat"}
    document = {"new_predicates": [word], "claims": [claim]}
    said = {"role": "user", "name": "Ana Ruiz", "content": "I sail the Mira."}
    anyio.run(writes.remember, "home", RememberInput(messages=[said], document=document), caller)
"""


def tasks(made: World) -> list[Any]:
    command = 'FIND(?t.attributes.symbol_ref) WHERE { ?t {type: "SleepTask"} } ORDER BY ?t.id'
    with made.application.spaces.use("home") as space:
        found: list[Any] = space.engine.run(command, session=HOST).response["results"][0]["result"]
    return found


@pytest.mark.requirement("BR-SPACE-016")
@pytest.mark.parametrize("route", ["execute_kip", "remember"])
def test_a_kill_between_a_word_and_its_review_leaves_no_word_without_one(tmp_path: Path, route: str) -> None:
    made = world(tmp_path / "spaces")
    made.create()
    made.application.spaces.close()
    command = [sys.executable, "-c", DIES_BETWEEN, str(tmp_path / "spaces"), route]
    died = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert died.returncode == -signal.SIGKILL, died.stderr
    for _ in range(2):
        made = world(tmp_path / "spaces")
        with made.application.spaces.use("home") as space:
            drafts = [word["ref"] for word in schema_drafts(space)["symbols"]]
        assert len(drafts) == 1
        assert tasks(made) == drafts
        made.application.spaces.close()


def test_opening_a_space_whose_words_are_reviewed_writes_nothing(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.create()
    with made.application.spaces.use("home") as space:
        space.engine.run('DEFINE PREDICATE "plays" {description: "What the subject plays."}', session=HOST)
    made.application.spaces.close()
    heads = []
    for _ in range(3):
        made = world(tmp_path)
        assert tasks(made) == ["kip://local/draft@0.0.0/plays"]
        with made.application.spaces.use("home") as space:
            heads.append(space.store.head())
        made.application.spaces.close()
    assert heads[0] == heads[1] == heads[2]
