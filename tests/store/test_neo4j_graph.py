"""What a person sees of a Space in the Neo4j browser (docs/neo4j.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from brain.store.neo4j import Neo4jStore
from brain.store.neo4j.keys import FOREVER
from brain.store.neo4j.schema import RELATIONSHIPS, STRUCTURAL
from tests.store.building import FRIENDS, concept, erase, ref, stub, symbol, write
from tests.store.contracts.graph import small_world
from tests.store.neo4j_service import fresh_store

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "neo4j.md").read_text("utf-8")


@pytest.fixture
def store(neo4j_service: Mapping[str, str]) -> Iterator[Neo4jStore]:
    with fresh_store(neo4j_service) as opened:
        space = opened.create("demo", now_ms=0)
        write(space, *small_world())
        write(space, concept("C-1", name="Alicia", version=2, structural={symbol(FRIENDS): [ref("C-2")]}))
        erase(space, stub(concept("C-2")))
        yield opened


def ask(store: Neo4jStore, cypher: str) -> list[Any]:
    """The rows of a statement with the Space bound as `s`, those of no other deployment."""
    bound = "MATCH (s:Space) WHERE s.deployment = $deployment AND s.id = 'demo' "
    return store._database.read(bound + cypher, {"deployment": store._deployment})


@pytest.mark.requirement("BR-STORE-007")
def test_elements_are_nodes_of_their_kind_with_readable_properties(store: Neo4jStore) -> None:
    found = ask(
        store,
        "MATCH (e:Element) WHERE e.space = s.space RETURN [l IN labels(e) WHERE l <> 'Element'], e.id, e.name, e.type,"
        " e.state, e.status, e.value ORDER BY e.id",
    )
    assert (["Concept"], "C-1", "Alicia", "Person", "active", None, None) in found
    assert (["Concept"], "C-2", None, "Person", "purged", None, None) in found
    assert (["Proposition"], "P-3", "timezone", "timezone", "active", None, "+01:00") in found
    assert (["Assertion"], "A-2", "stated support", None, "active", "retracted", None) in found
    assert (["Evidence"], "E-1", "message", "message", "active", "active", None) in found
    assert (["Activity"], "X-2", "inference", "inference", "active", "pending", None) in found
    assert len(found) == len(small_world())


@pytest.mark.requirement("BR-STORE-007")
def test_references_are_relationships_that_say_what_they_are_and_since_when(store: Neo4jStore) -> None:
    found = ask(
        store,
        "MATCH (a:Element)-[r]->(b:Element) WHERE a.space = s.space"
        " RETURN a.id, type(r), b.id, r.field, r.from_seq, r.to_seq",
    )
    assert ("P-1", "SUBJECT", "C-1", "subject", 1, FOREVER) in found
    assert ("A-1", "CITES", "E-1", "evidence", 1, FOREVER) in found
    assert ("C-1", STRUCTURAL, "C-2", FRIENDS, 2, FOREVER) in found
    assert {type_ for _, type_, *_ in found} <= {*RELATIONSHIPS.values(), STRUCTURAL}
    versions = ask(store, "MATCH (v:Version)-[:OF]->(e:Element) WHERE e.space = s.space RETURN e.id, v.from_seq")
    assert sorted(one for one in versions if one[0] == "C-1") == [("C-1", 1), ("C-1", 2)]


def test_the_statement_of_the_documentation_shows_what_holds_now(store: Neo4jStore) -> None:
    [statement] = re.findall(r"```cypher\n(.*?)```", PAGE, re.DOTALL)
    assert str(FOREVER) in statement
    shown = store._database.read(
        statement.replace("{id: 'demo'}", "{id: 'demo', deployment: $deployment}"), {"deployment": store._deployment}
    )
    assert ("P-1", "SUBJECT", "C-1") in [(a["id"], r.type, b["id"]) for a, r, b in shown]
    for name in (*RELATIONSHIPS.values(), STRUCTURAL):
        assert f"`{name}`" in PAGE
