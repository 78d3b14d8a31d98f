"""Computed strength: half-lives, unknowns, and reads that write nothing."""

from __future__ import annotations

from typing import Any

from brain.kip.strength import HALF_LIFE_30D, HALF_LIFE_30D_DIGEST
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.world import World

ANCHOR = "2026-08-01T00:00:00.000Z"
ONE_HALF_LIFE = "2026-08-31T00:00:00.000Z"
TWO_HALF_LIVES = "2026-09-30T00:00:00.000Z"
PIN = {"artifact_ref": HALF_LIFE_30D, "content_digest": HALF_LIFE_30D_DIGEST}


def memory(world: World, **members: Any) -> str:
    """An Insight with this MnemonicState."""
    written = ", ".join(f"{name}: :{name}" for name in members)
    return world.handles(
        f'CREATE CONCEPT ?m {{TYPE "Insight" SET ATTRIBUTES {{summary: "s"}} SET FACET "MnemonicState" {{{written}}}}}',
        **members,
    )["m"]


def strength(world: World, memory_id: str, at: str) -> float | None:
    """Its effective strength, read at an instant."""
    world.go_to(at)
    (left,) = world.run('FIND(?m.facets["MnemonicState"].effective_strength) WHERE { ?m {id: :m} }', m=memory_id)
    return None if left is None else float(left)


@scenario("KIP2-MEM-030")
def strength_is_computed_under_a_pinned_policy(world: World) -> Observed:
    base = {"memory_strength": 0.8, "last_metabolized_at": ANCHOR}
    pinned = memory(world, **base, strength_policy=PIN)
    unpinned = memory(world, **base)
    mismatched = memory(world, **base, strength_policy={**PIN, "content_digest": f"sha256:{'0' * 64}"})
    before = world.state_at(ANCHOR)
    step = {
        "before_anchor": strength(world, pinned, "2026-07-01T00:00:00.000Z"),
        "one_half_life": strength(world, pinned, ONE_HALF_LIFE),
        "missing_policy": strength(world, unpinned, ONE_HALF_LIFE),
        "digest_mismatch": strength(world, mismatched, ONE_HALF_LIFE),
        "write_error": world.code('UPDATE :m SET FACET "MnemonicState" {effective_strength: 1}', m=pinned),
    }
    return Observed(step, {"stored_strength_writes": 0 if world.state_at(ANCHOR) == before else 1})


@scenario("KIP2-REL-011")
def reading_strength_twice_and_after_a_restart_writes_nothing(world: World) -> Observed:
    pinned = memory(world, memory_strength=0.8, last_metabolized_at=ANCHOR, strength_policy=PIN)
    before = world.state_at(ANCHOR)
    first = strength(world, pinned, ONE_HALF_LIFE)
    again = strength(world, pinned, ONE_HALF_LIFE)
    world.restart()
    after_restart = strength(world, pinned, ONE_HALF_LIFE)
    step = {
        "one_half_life": first if first == again == after_restart else None,
        "two_half_lives": strength(world, pinned, TWO_HALF_LIVES),
    }
    return Observed(step, {"read_writes": 0 if world.state_at(ANCHOR) == before else 1})
