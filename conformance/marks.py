"""A pytest plugin that prints the requirement marks of every collected test."""

from __future__ import annotations

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    """One line a test: `MARK nodeid ids…`."""
    for item in session.items:
        ids = [str(row) for mark in item.iter_markers("requirement") for row in mark.args]
        if ids:
            print(f"MARK {item.nodeid} {' '.join(ids)}")
