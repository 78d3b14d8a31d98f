"""A Space knows which Concept stands for the Brain itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from brain.kip.library import PackageLibrary
from brain.service.hosting import HOST, SELF_KEY
from brain.service.spaces import Spaces
from brain.store.sqlite import SqliteStore
from brain.times import FixedClock


@pytest.mark.requirement("BR-SPACE-004", "KI-ID-006", "KI-META-003")
def test_a_new_space_names_its_self_in_the_primer_and_still_does_after_reopening(
    tmp_path: Path, clock: FixedClock
) -> None:
    for _ in range(2):
        spaces = Spaces(SqliteStore(tmp_path), PackageLibrary.bundled(), clock=clock, packages=("general",))
        space = spaces.get("home") if SqliteStore(tmp_path).exists("home") else spaces.create("home", owner="o", tier=1)
        primer = space.engine.run("DESCRIBE PRIMER", session=HOST).response["results"][0]["result"]
        assert space.self_id in str(primer)
        found = space.engine.run("FIND(?s.id) WHERE { ?s {key: :k} }", {"k": SELF_KEY}, session=HOST)
        assert found.response["results"][0]["result"] == [space.self_id]
        seq = space.store.head()
        spaces.close()
    assert seq == 2
