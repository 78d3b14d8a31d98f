"""What the tests beside this show, name by name, and the statements they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from brain.kip.context import OWNER_PERMISSIONS, Session

CREATE = 'CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}'
KNOWN = 'FIND(?a.name) WHERE { ?a {id: "C-1"} }'
OUTCOME = 'CREATE EVIDENCE ?e {SET FIELDS {evidence_class: "outcome", payload: "it worked"}}'
ZONE = 'ASSERT ?claim ("C-1", "timezone", :zone) {by: "C-1", mode: "stated"}'
SLOT = 'FIND(?s.status, ?s.accepted_values) WHERE { ?s BELIEF SLOT ("C-1", "timezone") }'

SHOWN: dict[str, bool] = {}
"""What a test shows, by capability: that it is there, or that it is not."""

Test = TypeVar("Test", bound=Callable[..., None])


def shows(name: str, *rows: str, held: bool = True) -> Callable[[Test], Test]:
    """This test shows that a capability is held, or that it is not."""
    SHOWN[name] = held
    return pytest.mark.requirement(*rows) if rows else lambda test: test


def lacking(*names: str) -> Session:
    """A caller who may do everything else."""
    return Session(principal_id="agent", channel="test", permissions=OWNER_PERMISSIONS - set(names))
