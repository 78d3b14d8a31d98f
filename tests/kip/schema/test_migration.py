"""Concepts taken over to another version of their type: all of them whole or none, and on record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from brain import errors
from brain.kip.context import OWNER_PERMISSIONS, Session
from brain.kip.library import PackageLibrary
from brain.kip.migration import migrate
from brain.kip.pipeline import Engine
from tests.kip.conftest import OWNER, Space
from tests.kip.schema.conftest import package
from tests.kip.schema.test_lineages_in_use import change

requirement = pytest.mark.requirement
V1, V2 = "kip://t/one@1.0.0/Gadget", "kip://t/one@1.1.0/Gadget"


def gadgets(version: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    types = {"Gadget": {"attributes": {"fields": fields}}, "Widget": {"description": "another thing"}}
    return package("t/one", version, concept_types=types)


@pytest.fixture
def made(space: Space) -> dict[str, str]:
    """Two gadgets of the first version, one of them without a weight, in a vocabulary that has the second."""
    library = PackageLibrary()
    space.engine = Engine(space.store, library, clock=space.clock)
    first = library.install(gadgets("1.0.0", {"weight": {"type": ["number", "string"]}}))
    change(space, lambda environment: environment.with_package(first))
    found = space.handles(
        """MUTATE {
          CREATE CONCEPT ?heavy {TYPE "Gadget" NAME "Anvil" SET FIELDS {key: "anvil"} SET ATTRIBUTES {weight: 90}}
          CREATE CONCEPT ?vague {TYPE "Gadget" NAME "Cloud" SET ATTRIBUTES {weight: "hardly any"}}
          CREATE CONCEPT ?person {TYPE "Person" NAME "Ann"}
        }"""
    )
    second = library.install(gadgets("1.1.0", {"weight": {"type": "number", "required": True}}))
    change(space, lambda environment: environment.with_package(second))
    return found


@requirement("KI-SCHEMA-022")
def test_a_migration_changes_the_version_and_nothing_else(space: Space, made: dict[str, str]) -> None:
    before = space.element(made["heavy"])
    receipt = migrate(space.engine, OWNER, {made["heavy"]: V2})
    after = space.element(made["heavy"])
    assert (before["schema_ref"], after["schema_ref"]) == (V1, V2)
    kept = ("id", "key", "name", "attributes", "governance", "space_id")
    assert {name: before[name] for name in kept} == {name: after[name] for name in kept}
    assert after["_system"]["version"] == before["_system"]["version"] + 1
    assert receipt["status"] == "committed"
    assert space.write("VERIFY RECEIPT :r", r=receipt)["committed_here"]


@requirement("KI-SCHEMA-022")
def test_it_is_on_record_and_the_past_stays_as_it_was(space: Space, made: dict[str, str]) -> None:
    before = space.seq
    migrate(space.engine, OWNER, {made["heavy"]: V2})
    envelope = space.commit(space.seq).envelope
    assert [(entry["op"], entry["id"]) for entry in envelope["changes"]] == [
        ("update", made["heavy"]),
        ("create", "X-1"),
    ]
    activity = space.element("X-1")
    assert (activity["activity_class"], activity["status"]) == ("schema_migration", "completed")
    assert activity["_system"]["output_versions"] == {made["heavy"]: 2}
    found = 'FIND(?g.schema_ref) WHERE { ?g {type: "Gadget", key: "anvil"} }'
    assert space.write(found) == [V2]
    assert space.write(f"{found} AS OF SEQ {before}") == [V1]


@requirement("KI-SCHEMA-022")
def test_what_the_new_version_does_not_take_keeps_all_where_they_were(space: Space, made: dict[str, str]) -> None:
    targets = dict.fromkeys((made["heavy"], made["vague"]), V2)
    before = space.seq
    with pytest.raises(errors.ConstraintViolation) as refused:
        migrate(space.engine, OWNER, targets)
    assert refused.value.details["element"] == made["vague"]
    assert space.seq == before
    assert {space.element(made[name])["schema_ref"] for name in ("heavy", "vague")} == {V1}
    space.write("UPDATE :g SET ATTRIBUTES {weight: 0.1}", g=made["vague"])
    assert migrate(space.engine, OWNER, targets)["change_summary"] == {"create": 1, "update": 2}


@requirement("KI-SCHEMA-022")
def test_every_fault_of_every_element_is_told(space: Space, made: dict[str, str]) -> None:
    with pytest.raises(errors.KipError) as refused:
        migrate(space.engine, OWNER, {made["vague"]: V2, made["person"]: V2, "C-99": V2, made["heavy"]: f"{V2}s"})
    codes = {fault["code"] for fault in refused.value.details["faults"]}
    assert codes == {"ConstraintViolation", "NotFoundOrNotVisible", "SchemaSymbolNotFound"}
    assert len(refused.value.details["faults"]) == 4


@requirement("KI-SCHEMA-022")
@pytest.mark.parametrize(
    ("element", "ref", "code"),
    [
        ("heavy", "kip://t/one@1.1.0/Widget", "ConstraintViolation"),
        ("heavy", "kip://t/one@7.0.0/Gadget", "SchemaSymbolNotFound"),
        ("nobody", V2, "InvalidIdentifier"),
    ],
)
def test_a_migration_stays_within_the_lineage(
    space: Space, made: dict[str, str], element: str, ref: str, code: str
) -> None:
    with pytest.raises(errors.KipError) as refused:
        migrate(space.engine, OWNER, {made.get(element, element): ref})
    assert refused.value.code == code


@requirement("KI-SCHEMA-022")
def test_only_who_manages_the_schema_migrates_and_no_statement_does(space: Space, made: dict[str, str]) -> None:
    writer = Session(principal_id="writer", channel="test", permissions=OWNER_PERMISSIONS - {"manage_schema"})
    with pytest.raises(errors.NotAuthorized):
        migrate(space.engine, writer, {made["heavy"]: V2})
    assert space.refused("UPDATE :g SET FIELDS {schema_ref: :r}", g=made["heavy"], r=V2)


@requirement("KI-SCHEMA-022")
def test_what_is_bound_so_already_is_no_change(space: Space, made: dict[str, str]) -> None:
    migrate(space.engine, OWNER, {made["heavy"]: V2})
    before = space.seq
    receipt = migrate(space.engine, OWNER, {made["heavy"]: V2})
    assert (receipt["status"], space.seq) == ("no_effect", before)


@requirement("KI-SCHEMA-022")
def test_nothing_is_taken_over_to_a_version_that_is_only_read(space: Space, made: dict[str, str]) -> None:
    second = space.engine.library.resolve("kip://t/one@1.1.0")
    change(space, lambda environment: environment.with_package(second, "readable"))
    with pytest.raises(errors.ConstraintViolation):
        migrate(space.engine, OWNER, {made["heavy"]: V2})
