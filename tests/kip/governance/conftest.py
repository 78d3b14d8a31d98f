"""A Space, who governs it, and who asks."""

from __future__ import annotations

import pytest

from brain.kip.context import Session
from brain.kip.govern import preset_session
from brain.kip.governance.control import Governor
from tests.kip.conftest import Space

OWNER = Session(principal_id="owner", channel="test")


def agent(principal: str = "agent") -> Session:
    """The acting agent of the preset."""
    return preset_session("agent", principal_id=principal, channel="test")


def stranger(principal: str = "stranger") -> Session:
    """An authenticated principal whose door gives it nothing."""
    return Session(principal_id=principal, channel="test", permissions=frozenset())


@pytest.fixture
def governor(space: Space) -> Governor:
    return Governor(space.engine)
