"""Laws of Capsules, on graphs nobody thought of: each is whole, true to its word, and tells of nothing hidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brain.ids import canonical_json
from brain.kip.capsule.references import references
from brain.kip.pipeline import Engine
from brain.kip.write.records import payload_digest
from brain.store.base import ElementId, Store
from tests.kip.conftest import OWNER
from tests.kip.governance.worlds import GUEST, engine_over, partly_hidden, two_stores, without
from tests.kip.graph import NOW, Graph

Partly = tuple[Graph, frozenset[ElementId]]
ROOTS = ["CONCEPT {}", "ASSERTION {}", "EVIDENCE {}", "ACTIVITY {}", 'CONCEPT {state: "merged"}', '{type: "Person"}']
EXPORTS = st.builds(
    "EXPORT CAPSULE ?x WHERE {{ ?x {} }} WITH {{closure: {}, provenance_depth: {}}}{}".format,
    st.sampled_from(ROOTS),
    st.sampled_from(['"closed"', '"referential"', '"selective"']),
    st.integers(0, 3),
    st.sampled_from(["", " AS OF SEQ 1"]),
)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    pair = two_stores(tmp_path_factory.mktemp("capsules"))
    yield pair
    for store in pair:
        store.close()


def exported(engine: Engine, command: str, **options: Any) -> Any:
    """The Capsule, or the code of the refusal."""
    (answer,) = engine.run(command, **options).response["results"]
    return answer.get("result") or answer["error"]["code"]


@pytest.mark.requirement("KI-CAPS-001", "KI-CAPS-003", "KI-CAPS-007", "KI-CAPS-011")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(world=partly_hidden(), command=EXPORTS)
def test_every_export_verifies_resolves_and_is_as_closed_as_it_says(
    stores: tuple[Store, Store], world: Partly, command: str
) -> None:
    graph, hidden = world
    for body in graph.bodies.values():
        if body["kind"] == "evidence":
            body |= {"observed_at": NOW, "content_digest": payload_digest(body["payload"])}
    with engine_over(graph, hidden, stores[0]) as engine:
        capsule = exported(engine, command, session=OWNER)
        again = exported(engine, command, session=OWNER)
        if isinstance(capsule, str):
            assert capsule == again == "CapsuleValidationFailed"
            assert '"closed"' in command
            return
        assert canonical_json(capsule) == canonical_json(again)
        assert exported(engine, "VERIFY CAPSULE :c", parameters={"c": capsule})["valid"]
        found = exported(engine, "VALIDATE CAPSULE :c", parameters={"c": capsule})["violations"]
        # What an element says may break its own definition; how it is carried may not.
        assert not [fault for fault in found if fault["code"] in ("CapsuleValidationFailed", "DigestMismatch")], found
    payload = capsule["payload"]
    records = {record["id"] for record in payload["records"]}
    named = {entry["id"] for entry in payload["external_refs"]}
    assert {to for record in payload["records"] for _, to in references(record)} <= records | named
    assert set(payload["manifest"]["roots"]) <= records
    assert not named or payload["manifest"]["closure"] != "closed"


@pytest.mark.requirement("KI-CAPS-012")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(world=partly_hidden(), command=EXPORTS)
def test_a_capsule_is_that_of_a_space_without_what_is_hidden(
    stores: tuple[Store, Store], world: Partly, command: str
) -> None:
    graph, hidden = world
    with engine_over(graph, hidden, stores[0]) as full, engine_over(without(graph, hidden), hidden, stores[1]) as less:
        assert exported(full, command, session=GUEST) == exported(less, command, session=GUEST)
