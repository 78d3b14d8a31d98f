"""A search index that is being made anew: said as such, and only for who asked for likeness."""

from __future__ import annotations

import pytest

from tests.kip.conftest import Space
from tests.kip.search.test_modes import SETUP, Renamed, hits, index, use

SEARCHES = ['SEARCH CONCEPT "Larsen" MODE :m', 'FIND(?c.name) WHERE { ?c SEARCH CONCEPT "Larsen" MODE :m LIMIT 2 }']


@pytest.mark.requirement("KI-ERR-067")
@pytest.mark.parametrize("command", SEARCHES)
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_an_index_of_another_embedder_is_no_index_until_it_is_rebuilt(space: Space, command: str, mode: str) -> None:
    first = Renamed(128)
    first.name = "first"
    use(space, first)
    space.write(SETUP)
    index(space, first)
    assert "error" not in space.answer(command, m=mode)
    second = Renamed(64)
    use(space, second)
    error = space.error(command, m=mode)
    assert (error["code"], error["category"]) == ("SearchIndexUnavailable", "search")
    assert error["retry"]["class"] == "safe_same_request"
    assert error["retry"]["after_ms"] > 0
    assert hits(space, 'SEARCH CONCEPT "Larsen"')
    index(space, second)
    assert "error" not in space.answer(command, m=mode)
