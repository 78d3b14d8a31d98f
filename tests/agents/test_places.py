"""Calls of models share so many places: whoever finds none waits, and may leave while it waits."""

from __future__ import annotations

import anyio
import pytest

from brain.agents.model import ModelAnswer, ModelMessage, ModelRequest, Usage
from brain.agents.models import BudgetedModel, Places

pytestmark = pytest.mark.anyio
REQUEST = ModelRequest((ModelMessage("user", "hello"),), (), 100, 60_000)


@pytest.fixture
def anyio_backend() -> str:
    """As the service runs."""
    return "asyncio"


class Held:
    """A model that answers when it is let, and counts who is with it."""

    name = "held"

    def __init__(self) -> None:
        self.let = anyio.Event()
        self.here = self.most = 0

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        self.here += 1
        self.most = max(self.most, self.here)
        try:
            await self.let.wait()
        finally:
            self.here -= 1
        return ModelAnswer("hi", (), Usage(1, 1, 0, 1), self.name)


@pytest.mark.requirement("BR-HTTP-021", "BR-CONF-011")
async def test_a_call_waits_for_its_place_and_who_leaves_meanwhile_takes_none() -> None:
    held, places = Held(), Places(2)
    models = [BudgetedModel(held, places, max_output=50, timeout_ms=1_000) for _ in range(2)]  # two models, one budget
    async with anyio.create_task_group() as group:
        for number in range(2):
            group.start_soon(models[number].answer, REQUEST)
        await anyio.sleep(0.01)
        for _ in range(20):  # they wait, and leave
            with anyio.move_on_after(0.001):
                await models[0].answer(REQUEST)
        assert (held.here, held.most) == (2, 2)
        group.start_soon(models[1].answer, REQUEST)
        await anyio.sleep(0.01)
        assert held.here == 2
        held.let.set()
    assert (held.here, held.most) == (0, 2)
    assert (await models[0].answer(REQUEST)).text == "hi"


@pytest.mark.requirement("BR-CONF-038")
async def test_no_places_count_as_one() -> None:
    held = Held()
    held.let.set()
    assert (await BudgetedModel(held, Places(0), max_output=50, timeout_ms=1_000).answer(REQUEST)).text == "hi"
