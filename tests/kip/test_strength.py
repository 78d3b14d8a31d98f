"""Strength fades with idle time and is unknown rather than guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.kip.strength import HALF_LIFE_30D, HALF_LIFE_30D_DIGEST, HALF_LIFE_MS, effective_strength
from brain.times import timestamp

ANCHOR = 1_785_542_400_000  # 2026-08-01
PIN = {"artifact_ref": HALF_LIFE_30D, "content_digest": HALF_LIFE_30D_DIGEST}


def state(**members: Any) -> dict[str, Any]:
    return {"memory_strength": 0.8, "last_metabolized_at": timestamp(ANCHOR), "strength_policy": PIN} | members


@pytest.mark.requirement("KI-PROFILE-013")
@pytest.mark.parametrize(
    ("at", "left"),
    [
        ("2026-07-01T00:00:00.000Z", 0.8),
        ("2026-08-01T00:00:00.000Z", 0.8),
        ("2026-08-31T00:00:00.000Z", 0.4),
        ("2026-09-30T00:00:00.000Z", 0.2),
    ],
)
def test_half_of_it_is_left_after_thirty_days(at: str, left: float) -> None:
    assert effective_strength(state(), at) == pytest.approx(left)


@pytest.mark.requirement("KI-PROFILE-014")
@pytest.mark.parametrize(
    "unknown",
    [
        None,
        {},
        state(memory_strength=None),
        state(last_metabolized_at=None),
        state(strength_policy=None),
        state(strength_policy={"artifact_ref": "deployment:other", "content_digest": HALF_LIFE_30D_DIGEST}),
        state(strength_policy={"artifact_ref": HALF_LIFE_30D, "content_digest": "sha256:" + "0" * 64}),
    ],
)
def test_what_cannot_be_worked_out_is_unknown(unknown: dict[str, Any] | None) -> None:
    assert effective_strength(unknown, timestamp(ANCHOR)) is None


@pytest.mark.requirement("KI-PROFILE-013", "KI-PROFILE-015")
@given(base=st.floats(0, 1), idle=st.integers(0, 10 * HALF_LIFE_MS), more=st.integers(0, HALF_LIFE_MS))
def test_strength_only_falls_and_stays_in_range(base: float, idle: int, more: int) -> None:
    written = state(memory_strength=base)
    earlier = effective_strength(written, timestamp(ANCHOR + idle))
    later = effective_strength(written, timestamp(ANCHOR + idle + more))
    assert earlier is not None
    assert later is not None
    assert 0 <= later <= earlier <= base
    assert written == state(memory_strength=base)
