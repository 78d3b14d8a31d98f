from __future__ import annotations

import pytest

from tests.kip.conftest import Space
from tests.kip.write.people import People, cast


@pytest.fixture
def people(space: Space) -> People:
    return cast(space)
