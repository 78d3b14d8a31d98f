"""Mnemonic strength: how much of a written strength is left when a read happens (KIP 2.0 §59.1, Profile §6.1).

Decay is worked out at the read and never written back. It says how easily a memory comes to hand and nothing about
whether it is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from brain.store.base import Document
from brain.times import Timestamp, is_timestamp, milliseconds

HALF_LIFE_MS = 30 * 24 * 3_600_000
"""30 days."""

HALF_LIFE_30D = "kip:strength-half-life-30d"
HALF_LIFE_30D_DIGEST = (
    "sha256:a50a89b83f937c97cabf0f8371cccfd3"  # 128 bits on each line
    "26f4fdd438b6d7b9ead507d77927b227"
)
"""The standard policy, pinned by the digest of its published artifact."""


def effective_strength(state: Document | None, at: Timestamp) -> float | None:
    """What is left at `at` of a MnemonicState's `memory_strength`, in [0, 1].

    state   the Facet as stored, None without one
    at      the instant of the read: the engine clock, never FOR TIME or the time of an AS OF snapshot
    returns None, unknown, without a base, an anchor (`last_metabolized_at`) or a policy; for a policy that is not
            known here, or one pinned by another digest. Before its anchor the strength is the base
    """
    if state is None:
        return None
    base, anchor, pin = (state.get(name) for name in ("memory_strength", "last_metabolized_at", "strength_policy"))
    if isinstance(base, bool) or not isinstance(base, (int, float)) or not isinstance(pin, Mapping):
        return None
    if not isinstance(anchor, str) or not is_timestamp(anchor):
        return None
    decay = _POLICIES.get((pin.get("artifact_ref"), pin.get("content_digest")))
    return None if decay is None else decay(float(base), max(0, milliseconds(at) - milliseconds(anchor)))


def _half_life(base: float, idle_ms: int) -> float:
    remaining: float = base * 2 ** (-idle_ms / HALF_LIFE_MS)
    return remaining


_POLICIES: Mapping[tuple[object, object], Callable[[float, int], float]] = {
    (HALF_LIFE_30D, HALF_LIFE_30D_DIGEST): _half_life,
}
