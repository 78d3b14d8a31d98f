"""A Space that is gone has no answers, not even refusals: whoever asks is told that it is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brain.kip.context import Session
from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.store.base import SpaceMissing
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock

SESSION = Session(principal_id="owner", channel="test")
WRITE = 'CREATE CONCEPT ?c {TYPE "Person"}'


@pytest.mark.parametrize(
    "request_",
    [
        {"operations": ["DESCRIBE PRIMER"]},
        {"operations": [WRITE]},
        {"operations": [WRITE], "execution": {"mode": "independent", "idempotency_key": "k"}},
        {"operations": [WRITE], "options": {"dry_run": True}},
        {"operations": [WRITE, WRITE], "execution": {"mode": "atomic"}},
        {"operations": [WRITE, WRITE], "execution": {"mode": "sequence", "on_error": "continue"}},
    ],
)
def test_a_deleted_space_is_missing_to_every_request(tmp_path: Path, clock: FixedClock, request_: Any) -> None:
    ours, others = SqliteStore(tmp_path, clock=clock), SqliteStore(tmp_path, clock=clock)
    library = PackageLibrary.bundled()
    space = ours.create("home", now_ms=clock.now_ms(), controls=Engine.birth_controls(library))
    engine = Engine(space, library, clock=clock)
    others.delete("home")
    request_ = {**request_, "operations": [{"command": text} for text in request_["operations"]]}
    with pytest.raises(SpaceMissing):
        engine.execute({"kip": "2.0", **request_}, SESSION)
    space.close()
    ours.close()
    others.close()
