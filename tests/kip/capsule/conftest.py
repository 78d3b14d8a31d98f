"""A small memory worth exporting, and Capsules that were altered by hand."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from brain.kip.capsule.form import seal
from tests.kip.conftest import Space

SETUP = """MUTATE {
  CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" SET FIELDS {key: "ann"} SET ATTRIBUTES {motto: "C-2 and E-1"} }
  CREATE CONCEPT ?oslo { TYPE "Place" NAME "Oslo" }
  CREATE EVIDENCE ?said { SET FIELDS {evidence_class: "message", payload: "I live in Oslo, see C-1.",
    observed_at: "2026-01-01T00:00:00.000Z"} SET STRUCTURAL { ("source", ?ann) } }
  ASSERT ?claim (?ann, "lives_in", ?oslo) {by: ?ann, mode: "stated", evidence: [?said]}
  CREATE ACTIVITY ?made { SET FIELDS {activity_class: "extraction", status: "completed"}
    SET STRUCTURAL { ("inputs", ?said) ("outputs", ?claim) } }
}"""

CLAIMS = "EXPORT CAPSULE ?claim WHERE { ?claim ASSERTION {} }"

Capsule = dict[str, Any]


@pytest.fixture
def told(space: Space) -> dict[str, str]:
    """Ids by handle."""
    return space.handles(SETUP)


def resealed(capsule: Capsule, change: Callable[[Any], object]) -> Capsule:
    """The Capsule with its payload changed and a digest that fits again: what only a look inside can find out."""
    payload = copy.deepcopy(capsule["payload"])
    change(payload)
    return seal(payload)


def record(capsule: Capsule, kind: str) -> Any:
    """The first record of a kind."""
    return next(entry for entry in capsule["payload"]["records"] if entry["kind"] == kind)
