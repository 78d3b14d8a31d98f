"""A small cast for write tests."""

from __future__ import annotations

from dataclasses import dataclass

from tests.kip.conftest import Space


@dataclass(frozen=True)
class People:
    """Alice and Bob, the city of Oslo, a message of Alice's."""

    alice: str
    bob: str
    oslo: str
    message: str


def cast(space: Space) -> People:
    made = space.handles(
        """MUTATE {
          CREATE CONCEPT ?alice { TYPE "Person" NAME "Alice" SET FIELDS {key: "alice"} SET ATTRIBUTES {age: 41} }
          CREATE CONCEPT ?bob { TYPE "Person" NAME "Bob" SET FIELDS {key: "bob"} }
          CREATE CONCEPT ?oslo { TYPE "Place" NAME "Oslo" SET FIELDS {key: "oslo"} }
          CREATE EVIDENCE ?message { SET FIELDS {evidence_class: "message", payload: "I live in Oslo."} }
        }"""
    )
    return People(made["alice"], made["bob"], made["oslo"], made["message"])
