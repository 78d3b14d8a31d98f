"""Lineages at work: an upgraded package and a promoted draft find what was written before (KIP 2.0 §20.14, §20.16)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.pipeline import Engine
from brain.kip.schema import Environment
from brain.store.base import Commit
from tests.kip.conftest import Space
from tests.kip.schema.conftest import package

V1 = package("t/one", predicates={"links": {"description": "old"}}, concept_types={"Gadget": {"description": "old"}})
V2 = package(
    "t/one", "1.1.0", predicates={"links": {"description": "new"}}, concept_types={"Gadget": {"description": "new"}}
)


@pytest.fixture
def library(space: Space) -> PackageLibrary:
    """The Space's own library, so that what a test installs stays with it."""
    found = PackageLibrary()
    space.engine = Engine(space.store, found, clock=space.clock)
    return found


def change(space: Space, step: Callable[[Environment], Environment]) -> None:
    """Commit another environment, as a host with `manage_schema` does."""
    with space.store.transaction() as tx:
        environment = step(space.engine.environment(tx))
        tx.put_control("schema", environment.to_document())
        seq = tx.seq + 1
        tx.record(Commit(seq, f"kip:space:default#{seq}", "2026-09-20T00:00:00.000Z", {}, {"space_seq": seq}))


@pytest.mark.requirement("KI-PROP-003", "KI-SCHEMA-010", "KI-SCHEMA-011", "KI-ID-012")
def test_a_newer_version_finds_the_old_tuple_and_the_old_key(space: Space, library: PackageLibrary) -> None:
    change(space, lambda environment: environment.with_package(library.install(V1)))
    made = space.handles(
        """MUTATE {
          CREATE CONCEPT ?a {TYPE "Gadget" SET FIELDS {key: "a"}}
          CREATE CONCEPT ?b {TYPE "Gadget"}
          ENSURE PROPOSITION ?p (?a, "links", ?b)
        }"""
    )
    change(space, lambda environment: environment.with_package(library.install(V2)))
    again = space.handles('ENSURE PROPOSITION ?p (:a, "links", :b)', a=made["a"], b=made["b"])
    assert again["p"] == made["p"]
    assert space.element(made["p"])["predicate_ref"] == "kip://t/one@1.0.0/links"
    found = space.handles('UPSERT CONCEPT ?g { MATCH {type: "Gadget", key: "a"} SET FIELDS {name: "A"} }')["g"]
    assert found == made["a"]
    new = space.handles('CREATE CONCEPT ?c {TYPE "Gadget"}')["c"]
    assert space.element(new)["schema_ref"] == "kip://t/one@1.1.0/Gadget"
    assert space.write('FIND(COUNT(?g)) WHERE { ?g {type: "Gadget"} }') == [3]


@pytest.mark.requirement("KI-PROP-014", "KI-SCHEMA-035")
def test_a_promoted_draft_and_its_successor_are_one_tuple(space: Space, library: PackageLibrary) -> None:
    space.write('DEFINE PREDICATE "mentors" {description: "teaches"}')
    made = space.handles(
        """MUTATE {
          CREATE CONCEPT ?a {TYPE "Person" NAME "Ann"}
          CREATE CONCEPT ?b {TYPE "Person" NAME "Ben"}
          ENSURE PROPOSITION ?p (?a, "mentors", ?b)
        }"""
    )
    before = space.seq
    official = library.install(package("t/two", predicates={"coaches": {"description": "o"}}))
    change(space, lambda environment: environment.with_package(official))
    change(space, lambda env: env.with_promotion("predicate", "mentors", "kip://t/two@1.0.0/coaches"))
    again = space.handles('ENSURE PROPOSITION ?p (:a, "coaches", :b)', a=made["a"], b=made["b"])
    assert again["p"] == made["p"]
    assert space.element(made["p"])["predicate_ref"] == "kip://local/draft@0.0.0/mentors"
    assert space.write('FIND(?o.name) WHERE { (:a, "coaches", ?o) }', a=made["a"]) == ["Ben"]
    earlier = f'FIND(?o.name) WHERE {{ (:a, "coaches", ?o) }} AS OF SEQ {before}'
    assert space.error(earlier, a=made["a"])["code"] == "SchemaSymbolNotFound"
