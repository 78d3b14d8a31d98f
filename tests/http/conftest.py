"""Asynchronous tests run on asyncio, as the service does."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
