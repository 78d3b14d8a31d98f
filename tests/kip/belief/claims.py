"""Claims as values, for tests of the pure parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from brain.kip.belief.intervals import written_time
from brain.kip.belief.model import Claim
from tests.kip.belief.world import day, instants


def claim(
    number: int,
    *,
    by: str = "C-1",
    value: str = "x",
    at: str = "2026-01-01",
    valid: dict[str, Any] | None = None,
    context: Iterable[str] = (),
    roots: Iterable[str] | None = None,
    **members: Any,
) -> Claim:
    """An eligible, witnessed support unless told otherwise; its actor is its root."""
    return Claim(
        **{
            "id": f"A-{number}",
            "proposition": f"P-{value}",
            "label": value,
            "actor": by,
            "contexts": frozenset(context),
            "stance": "support",
            "mode": "stated",
            "confidence": None,
            "time": written_time(instants(valid), day(at)),
            "evidence": (),
            "roots": frozenset({by} if roots is None else roots),
            "is_derived": False,
            "excluded": None,
            "dependency": None,
            **members,
        }
    )
