"""Each name of the registry is answered, and the answer is true (KIP 2.0 §67)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from brain.kip import capabilities
from brain.kip.context import Session
from tests.kip.conftest import Space
from tests.kip.meta.capabilities import (  # noqa: F401 - they say what they show
    test_exchange,
    test_learning,
    test_reading,
    test_transactions,
    test_writing,
)
from tests.kip.meta.capabilities.shown import CREATE, KNOWN, OUTCOME, SHOWN, SLOT, lacking


def test_every_name_of_the_registry_is_shown_to_be_as_it_is_told(space: Space) -> None:
    told = space.write("DESCRIBE CAPABILITIES")
    held = {name: entry["supported"] for name, entry in (told["capabilities"] | told["engine_local"]).items()}
    with_embedder = {"semantic_search": True, "hybrid_search": True}
    assert held | with_embedder == SHOWN
    assert all(entry.is_supported for entry in capabilities.WITH_EMBEDDER.values())


USES: Mapping[str, str] = {
    "capsule_export": "EXPORT CAPSULE ?c WHERE { ?c CONCEPT {} }",
    "change_stream": "CHANGES AFTER SEQ 0",
    "draft_vocabulary": 'DEFINE PREDICATE "admires" {description: "Looks up to."}',
    "historical_reads": f"{KNOWN} AS OF SEQ 1",
    "historical_search": 'FIND(?x.id) WHERE { ?x SEARCH CONCEPT "Ann" LIMIT 5 } AS OF SEQ 1',
    "record_outcome_permission": OUTCOME,
    "search_index_freshness": 'SEARCH CONCEPT "Ann"',
    "belief_slot": SLOT,
    "keyword_search": 'SEARCH CONCEPT "Ann"',
    "list_dependents": 'LIST DEPENDENTS "C-1"',
    "payload_purge": 'PURGE PAYLOAD "E-1" CONFIRM "PURGE"',
}
"""A statement that uses a capability, for those a statement uses."""


@pytest.mark.requirement("KI-CAP-001")
@pytest.mark.parametrize("name", sorted(USES))
def test_a_capability_is_available_to_whom_its_use_is_not_denied(space: Space, name: str) -> None:
    space.write(f'MUTATE {{ {CREATE} CREATE EVIDENCE ?e {{SET FIELDS {{evidence_class: "message", payload: "hm"}}}} }}')
    space.write('UPDATE "C-1" SET FIELDS {name: "Anna"}')
    needs = {**capabilities.REGISTRY, **capabilities.LOCAL}[name].needs
    for permission in sorted(needs):
        session = lacking(permission)
        told = space.write("DESCRIBE CAPABILITIES", session=session)
        assert (told["capabilities"] | told["engine_local"])[name]["available"] is False
        assert space.refused(USES[name], session=session) in ("NotAuthorized", "ProjectionNotAuthorized")
    others = Session(
        principal_id="agent", channel="test", permissions=frozenset({"create", "discover", "read"}) | needs
    )
    told = space.write("DESCRIBE CAPABILITIES", session=others)
    assert (told["capabilities"] | told["engine_local"])[name]["available"] is True
    space.write(USES[name], session=others)
