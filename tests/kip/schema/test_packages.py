"""Artifacts: what loads, what is refused and why."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from brain import errors
from brain.ids import digest
from brain.kip.json_schema import why_illegal
from brain.kip.library import PackageLibrary
from brain.kip.profiles.__main__ import resealed
from brain.kip.schema.package import check_schemas, complete, content_digest, load, seal
from brain.kip.schema.pinned import Resources
from tests.kip.schema.conftest import package

GADGET = {"Gadget": {"description": "Any device."}}


def test_a_short_form_is_completed_and_loads_with_its_digest() -> None:
    whole = complete(package("t/one", concept_types=GADGET))
    loaded = load(whole)
    assert loaded.ref == "kip://t/one@1.0.0"
    assert loaded.digest == whole["integrity"]["content_digest"] == content_digest(whole)
    assert loaded.definitions["concept_type"]["Gadget"].symbol.ref == "kip://t/one@1.0.0/Gadget"


@pytest.mark.requirement("KI-SCHEMA-003", "KI-PROFILE-001")
def test_every_bundled_artifact_carries_the_digest_of_its_content(shipped: PackageLibrary) -> None:
    for ref in ("cognitive-memory", "general", "everyday"):
        bundled = shipped.resolve(ref)
        assert bundled.artifact["integrity"]["content_digest"] == content_digest(bundled.artifact)


@pytest.mark.requirement("KI-SCHEMA-003", "KI-SCHEMA-004")
@pytest.mark.parametrize(
    "spoil",
    [
        lambda artifact: artifact["manifest"].update(name="other"),
        lambda artifact: artifact["definitions"]["concept_types"]["Gadget"].update(description="Any device!"),
        lambda artifact: artifact.update(model_hints={"summary": "new"}),
    ],
)
def test_a_changed_artifact_does_not_have_its_digest(spoil: Callable[[dict[str, Any]], None]) -> None:
    artifact = copy.deepcopy(complete(package("t/one", concept_types=GADGET)))
    spoil(artifact)
    with pytest.raises(errors.DigestMismatch):
        load(artifact)


@pytest.mark.requirement("KI-SCHEMA-003")
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"format": "KIP-Something"}, errors.ArtifactParseError),
        ({"format_version": "3.0"}, errors.ArtifactParseError),
        ({"surprise": 1}, errors.ArtifactParseError),
        ({"manifest": 5}, errors.ArtifactParseError),
        ({"definitions": []}, errors.ArtifactParseError),
    ],
)
def test_another_format_is_refused(change: dict[str, Any], error: type[errors.KipError]) -> None:
    artifact = complete(package("t/one", concept_types=GADGET))
    with pytest.raises(error):
        load(seal(artifact | change))


@pytest.mark.parametrize("thing", [5, "text", [], True])
def test_what_is_no_package_is_refused(thing: Any) -> None:
    with pytest.raises(errors.ArtifactParseError):
        load(thing)


@pytest.mark.requirement("KI-SCHEMA-001")
@pytest.mark.parametrize("path", ["T/one", "t//one", "t/one/", "t/o ne", "t/öne", "", "t.one"])
def test_a_path_outside_the_grammar_is_refused(path: str) -> None:
    with pytest.raises(errors.InvalidIdentifier):
        load(complete(package(path)))


@pytest.mark.requirement("KI-SCHEMA-001", "KI-SCHEMA-002")
@pytest.mark.parametrize("version", ["1", "1.0", "^1.0.0", "latest", "1.0.x", "v1.0.0", ""])
def test_a_version_is_exact(version: str) -> None:
    with pytest.raises(errors.InvalidIdentifier):
        load(complete(package("t/one", version)))


@pytest.mark.requirement("KI-SCHEMA-007")
@pytest.mark.parametrize(
    "artifact",
    [
        package("core", "2.0.0"),
        package("t/one", concept_types={"Assertion": {"description": "mine"}}),
        package("t/one", predicates={"Evidence": {"description": "mine"}}),
    ],
)
def test_core_cannot_be_replaced_or_shadowed(artifact: dict[str, Any]) -> None:
    with pytest.raises(errors.SchemaSymbolConflict):
        load(complete(artifact))


@pytest.mark.requirement("KI-SCHEMA-007", "KI-STRUCT-002")
def test_a_field_named_like_a_core_field_is_legal_where_core_does_not_use_the_name() -> None:
    on_concepts = {"evidence": {"source": {"kinds": ["Concept"]}, "target": {"kinds": ["Concept"]}}}
    on_assertions = {"evidence": {"source": {"kinds": ["Assertion"]}, "target": {"kinds": ["Concept"]}}}
    assert "evidence" in load(complete(package("t/one", structural_fields=on_concepts))).definitions["structural_field"]
    with pytest.raises(errors.ConstraintViolation):
        load(complete(package("t/one", structural_fields=on_assertions)))


@pytest.mark.requirement("KI-SCHEMA-014")
@pytest.mark.parametrize(
    "definition",
    [
        {"functional": True, "functional_by": "object_type", "object": {"kinds": ["Concept"]}},
        {"functional_by": "object_type", "object": {"literal_types": ["string"]}},
        {"functional_by": "object_type"},
        {"functional_by": "colour", "object": {"kinds": ["Concept"]}},
    ],
)
def test_functional_by_needs_concept_objects_and_stands_alone(definition: dict[str, Any]) -> None:
    with pytest.raises(errors.ConstraintViolation):
        load(complete(package("t/one", predicates={"likes": definition})))


@pytest.mark.parametrize(
    "sections",
    [
        {"predicates": {"p": {"functional": "yes"}}},
        {"predicates": {"p": {"object": {}}}},
        {"predicates": {"p": {"object": {"literal_types": ["date"]}}}},
        {"predicates": {"p": {"subject": {"literal_types": ["string"]}}}},
        {"predicates": {"p": {"subject": {"kinds": ["Thing"]}}}},
        {"predicates": {"p": {"temporal_conflict": "sometimes"}}},
        {"concept_types": {"T": {"attributes": {"fields": {"a": {}}}}}},
        {"concept_types": {"T": {"attributes": {"fields": {"a": {"type": "colour"}}}}}},
        {"concept_types": {"T": {"attributes": {"open": "no", "fields": {}}}}},
        {"structural_fields": {"s": {"cardinality": {"min": 2, "max": 1}}}},
        {"facets": {"F": {"attachment": {"activity_classes": "x"}}}},
        {"facets": {"F": {"reference_paths": [{"path": "a"}]}}},
    ],
)
def test_a_definition_that_makes_no_sense_is_refused(sections: dict[str, Any]) -> None:
    with pytest.raises(errors.ConstraintViolation):
        load(complete(package("t/one", **sections)))


@pytest.mark.requirement("KI-SCHEMA-005", "KI-SCHEMA-006")
class TestPinnedSchemas:
    """What a value schema may refer to."""

    COLOUR: ClassVar[dict[str, Any]] = {"$id": "urn:t:colour", "$defs": {"Colour": {"enum": ["red", "blue"]}}}

    def artifact(self, pin: str | None, ref: str = "urn:t:colour#/$defs/Colour") -> dict[str, Any]:
        pins = [{"id": "urn:t:colour", "content_digest": pin}] if pin else []
        facets = {"F": {"fields": {"c": {"type": "string", "value_schema": {"$ref": ref}}}}}
        return complete(package("t/one", manifest={"validation_schemas": pins}, facets=facets))

    def test_a_pinned_schema_at_hand_is_used(self) -> None:
        loaded = load(self.artifact(digest(self.COLOUR)), Resources({"urn:t:colour": self.COLOUR}))
        assert loaded.resources == {"urn:t:colour": self.COLOUR}

    def test_an_unpinned_schema_is_not_used_though_it_is_at_hand(self) -> None:
        with pytest.raises(errors.SchemaPackageUnavailable):
            load(self.artifact(None), Resources({"urn:t:colour": self.COLOUR}))

    def test_a_pinned_schema_that_is_nowhere_stops_the_load(self) -> None:
        with pytest.raises(errors.SchemaPackageUnavailable):
            load(self.artifact("sha256:" + "0" * 64))

    def test_what_is_no_json_schema_is_refused_before_anything_is_checked_with_it(self) -> None:
        facets = {"F": {"fields": {"c": {"type": "string", "value_schema": {"type": "triangle"}}}}}
        with pytest.raises(errors.ConstraintViolation, match="no JSON Schema"):
            PackageLibrary().install(package("t/one", facets=facets))

    def test_every_bundled_value_schema_is_a_json_schema(self) -> None:
        library = PackageLibrary.bundled()
        for loaded in library.closure(["everyday", "general"]):
            assert check_schemas(loaded) is loaded
            assert [why_illegal(schema) for schema in loaded.resources.values()] == [None] * len(loaded.resources)

    def test_a_schema_with_another_content_is_refused(self) -> None:
        with pytest.raises(errors.DigestMismatch):
            load(self.artifact("sha256:" + "0" * 64), Resources({"urn:t:colour": self.COLOUR}))

    @pytest.mark.parametrize("ref", ["urn:t:colour#/$defs/Shape", "https://example.org/x", "#/nowhere", "#anchor"])
    def test_a_reference_that_leads_nowhere_stops_the_load(self, ref: str) -> None:
        with pytest.raises(errors.SchemaPackageUnavailable):
            load(self.artifact(digest(self.COLOUR), ref), Resources({"urn:t:colour": self.COLOUR}))


def test_sealing_the_bundled_packages_again_changes_nothing(shipped: PackageLibrary) -> None:
    artifacts = [shipped.resolve(name).artifact for name in ("everyday", "general", "cognitive-memory")]
    schemas = shipped.resolve("cognitive-memory").resources.values()
    again = {artifact["manifest"]["package_ref"]: artifact for artifact in resealed(artifacts, list(schemas))}
    assert again == {artifact["manifest"]["package_ref"]: artifact for artifact in artifacts}


@pytest.mark.requirement("KI-SCHEMA-004", "KI-SCHEMA-016")
def test_a_published_version_never_gets_another_content(library: PackageLibrary) -> None:
    first = library.install(package("t/one", concept_types=GADGET))
    assert library.install(package("t/one", concept_types=GADGET)) is first
    with pytest.raises(errors.DigestMismatch):
        library.install(package("t/one", concept_types={"Gadget": {"description": "Other."}}))
    with pytest.raises(errors.DigestMismatch):
        library.install(package("domains/general", concept_types=GADGET))


def test_short_names_resolve_and_unknown_ones_say_what_there_is(shipped: PackageLibrary) -> None:
    assert shipped.resolve("general").ref == "kip://domains/general@1.0.0"
    assert [entry.ref for entry in shipped.closure(["everyday"])] == [
        "kip://brain/everyday@1.0.0",
        "kip://domains/general@1.0.0",
        "kip://profiles/cognitive-memory@2.0.0",
    ]
    with pytest.raises(errors.SchemaPackageUnavailable, match="medicine"):
        shipped.resolve("medicine")
