"""The registry of scenarios, by vector id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.scenarios.world import World


@dataclass(frozen=True, slots=True)
class Observed:
    """What a scenario saw.

    step   observations of the exercise, by name
    state  observations of a separate look at durable state afterwards
    """

    step: Mapping[str, Any] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)


Scenario = Callable[[World], Observed]

SCENARIOS: dict[str, Scenario] = {}


def scenario(vector_id: str) -> Callable[[Scenario], Scenario]:
    """Register the scenario of a vector; it gets a fresh World."""

    def registered(play: Scenario) -> Scenario:
        SCENARIOS[vector_id] = play
        return play

    return registered
