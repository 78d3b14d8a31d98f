"""DEFINE: what a Space may add to its own vocabulary, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from brain import errors
from brain.kip.library import PackageLibrary
from brain.kip.schema import DRAFT_REF, Environment
from tests.kip.schema.conftest import package

PERSON = "kip://profiles/cognitive-memory@2.0.0/Person"


@pytest.mark.requirement("KI-SCHEMA-024", "KI-SCHEMA-029")
def test_a_draft_predicate_gets_its_reference_and_the_defaults(everyday: Environment) -> None:
    after, ref = everyday.with_draft(
        "predicate", "mentors", {"description": "teaches", "subject": {"concept_types": ["Person"]}}
    )
    assert ref == "kip://local/draft@0.0.0/mentors"
    assert after.version == everyday.version + 1
    defined = after.predicate("mentors")
    assert defined.wire["subject"] == {"concept_types": [PERSON]}
    assert not defined.object.is_declared
    assert defined.open_world
    assert not defined.functional


@pytest.mark.requirement("KI-SCHEMA-030")
def test_a_draft_type_is_open_and_its_fields_optional(everyday: Environment) -> None:
    fields = {"family": {"type": "string", "description": "strings, brass"}, "strings": {"type": ["number", "null"]}}
    after, _ = everyday.with_draft(
        "concept_type", "Instrument", {"description": "makes music", "attributes": {"fields": fields}}
    )
    defined = after.concept_type("Instrument")
    assert defined.is_open
    assert defined.fields == fields


@pytest.mark.requirement("KI-SCHEMA-031")
def test_the_environment_before_does_not_know_the_draft(everyday: Environment) -> None:
    everyday.with_draft("predicate", "mentors", {"description": "teaches"})
    with pytest.raises(errors.SchemaSymbolNotFound):
        everyday.predicate("mentors")


@pytest.mark.requirement("KI-SCHEMA-029")
def test_a_draft_may_name_a_draft_type(everyday: Environment) -> None:
    first, _ = everyday.with_draft("concept_type", "Instrument", {"description": "makes music"})
    second, _ = first.with_draft(
        "predicate",
        "main_instrument",
        {"description": "plays", "object": {"concept_types": ["Instrument"]}, "functional": True},
    )
    assert second.predicate("main_instrument").object.type_lineages == {"kip://local/draft/Instrument"}


@pytest.mark.requirement("KI-SCHEMA-027")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("predicate", "prefers"),
        ("predicate", "lives_in"),
        ("concept_type", "Person"),
        ("concept_type", "Assertion"),
        ("predicate", "Evidence"),
        ("predicate", "inputs"),
        ("concept_type", "generated_by"),
    ],
)
def test_a_name_that_is_taken_conflicts(everyday: Environment, kind: Any, name: str) -> None:
    with pytest.raises(errors.SchemaSymbolConflict):
        everyday.with_draft(kind, name, {"description": "another"})


@pytest.mark.requirement("KI-SCHEMA-027", "KI-SCHEMA-032")
def test_defining_twice_conflicts_even_when_it_is_the_same(everyday: Environment) -> None:
    after, _ = everyday.with_draft("predicate", "mentors", {"description": "teaches"})
    with pytest.raises(errors.SchemaSymbolConflict):
        after.with_draft("predicate", "mentors", {"description": "teaches"})


@pytest.mark.requirement("KI-SCHEMA-027")
def test_a_name_of_a_blocked_package_is_taken_too(everyday: Environment, library: PackageLibrary) -> None:
    installed = library.install(package("t/one", concept_types={"Gadget": {"description": "d"}}))
    blocked = everyday.with_package(installed, "blocked")
    with pytest.raises(errors.SchemaSymbolConflict):
        blocked.with_draft("concept_type", "Gadget", {"description": "mine"})


@pytest.mark.requirement("KI-SCHEMA-009", "KI-SCHEMA-036")
def test_a_predicate_and_a_type_may_share_a_name(everyday: Environment) -> None:
    first, type_ref = everyday.with_draft("concept_type", "Instrument", {"description": "makes music"})
    second, predicate_ref = first.with_draft("predicate", "Instrument", {"description": "uses as an instrument"})
    assert type_ref == predicate_ref
    assert second.concept_type("Instrument").wire["kind"] == "ConceptType"
    assert second.predicate("Instrument").wire["kind"] == "PredicateType"


@pytest.mark.requirement("KI-SCHEMA-028", "KI-SCHEMA-029", "KI-SCHEMA-030")
@pytest.mark.parametrize(
    ("kind", "definition"),
    [
        ("predicate", {}),
        ("predicate", {"description": ""}),
        ("predicate", {"description": "  "}),
        ("predicate", {"description": 5}),
        ("predicate", {"description": "d", "open_world": False}),
        ("predicate", {"description": "d", "complete": True}),
        ("predicate", {"description": "d", "functional": "yes"}),
        ("predicate", {"description": "d", "functional": None}),
        ("predicate", {"description": "d", "cardinality": 3}),
        ("predicate", {"description": "d", "ref": "kip://local/draft@0.0.0/x"}),
        ("predicate", {"description": "d", "subject": "Person"}),
        ("predicate", {"description": "d", "subject": {"concept_types": "Person"}}),
        ("predicate", {"description": "d", "subject": {"literal_types": ["string"]}}),
        ("predicate", {"description": "d", "object": {"colour": ["red"]}}),
        ("predicate", {"description": "d", "functional_by": "object_type"}),
        ("predicate", {"description": "d", "functional_by": "object_type", "object": {"literal_types": ["string"]}}),
        (
            "predicate",
            {"description": "d", "functional": True, "functional_by": "object_type", "object": {"kinds": ["Concept"]}},
        ),
        ("concept_type", {"attributes": {"fields": {}}}),
        ("concept_type", {"description": "d", "facets": {}}),
        ("concept_type", {"description": "d", "attributes": []}),
        ("concept_type", {"description": "d", "attributes": {"open": False}}),
        ("concept_type", {"description": "d", "attributes": {"value_schema": {}}}),
        ("concept_type", {"description": "d", "attributes": {"fields": {"a": {"type": "integer"}}}}),
        ("concept_type", {"description": "d", "attributes": {"fields": {"a": {"type": []}}}}),
        ("concept_type", {"description": "d", "attributes": {"fields": {"a": {"type": {}}}}}),
        ("concept_type", {"description": "d", "attributes": {"fields": {"a": {"type": [["string"]]}}}}),
        ("concept_type", {"description": "d", "attributes": {"fields": {"a": {"type": "string", "required": True}}}}),
        ("concept_type", {"description": "d", "attributes": {"fields": {"a": "string"}}}),
    ],
)
def test_a_draft_claims_no_more_than_it_may(everyday: Environment, kind: Any, definition: dict[str, Any]) -> None:
    with pytest.raises(errors.ConstraintViolation):
        everyday.with_draft(kind, "novel", definition)


def test_a_draft_that_names_an_unknown_type_is_refused(everyday: Environment) -> None:
    with pytest.raises(errors.SchemaSymbolNotFound):
        everyday.with_draft("predicate", "novel", {"description": "d", "subject": {"concept_types": ["Nope"]}})


@pytest.mark.parametrize("name", ["", " ", " x", "a/b", "a\nb", "kip://t/x@1.0.0/y", "x" * 129, "a\u200bb"])
def test_a_name_that_cannot_be_written_is_refused(everyday: Environment, name: str) -> None:
    with pytest.raises(errors.InvalidIdentifier):
        everyday.with_draft("predicate", name, {"description": "d"})


@pytest.mark.parametrize("name", ["has space", "знает", "喜欢", "it's", "likes-most"])
def test_names_of_any_language_are_welcome(everyday: Environment, name: str) -> None:
    after, ref = everyday.with_draft("predicate", name, {"description": "d"})
    assert after.predicate(name) is after.predicate(ref)


@pytest.mark.requirement("KI-SCHEMA-033")
def test_the_draft_package_keeps_its_reference_and_changes_its_digest(everyday: Environment) -> None:
    assert everyday.installed(DRAFT_REF) is None
    first, _ = everyday.with_draft("predicate", "one", {"description": "d"})
    second, _ = first.with_draft("predicate", "two", {"description": "d"})
    before, after = first.installed(DRAFT_REF), second.installed(DRAFT_REF)
    assert before is not None
    assert after is not None
    assert before.status == after.status == "active"
    assert before.package.digest != after.package.digest


@pytest.mark.requirement("KI-SCHEMA-034")
def test_a_package_that_exports_the_name_later_makes_it_ambiguous(
    everyday: Environment, library: PackageLibrary
) -> None:
    drafted, ref = everyday.with_draft("predicate", "mentors", {"description": "teaches"})
    later = drafted.with_package(library.install(package("t/one", predicates={"mentors": {"description": "official"}})))
    with pytest.raises(errors.SchemaSymbolAmbiguous):
        later.predicate("mentors")
    assert later.predicate(ref).description == "teaches"


@pytest.mark.requirement("KI-SCHEMA-035")
class TestPromotion:
    """A draft that an installed package takes over."""

    OFFICIAL = "kip://t/one@1.0.0/coaches"

    @pytest.fixture
    def drafted(self, everyday: Environment, library: PackageLibrary) -> Environment:
        environment, _ = everyday.with_draft("predicate", "mentors", {"description": "teaches"})
        official = package("t/one", predicates={"coaches": {"description": "o"}}, concept_types={"Coach": {}})
        return environment.with_package(library.install(official))

    def test_both_match_as_one_afterwards(self, drafted: Environment) -> None:
        promoted = drafted.with_promotion("predicate", "mentors", self.OFFICIAL)
        both = {"kip://local/draft/mentors", "kip://t/one/coaches"}
        assert promoted.lineages("predicate", "mentors") == promoted.lineages("predicate", "coaches") == both
        assert promoted.predicate("mentors").symbol.ref == self.OFFICIAL
        assert promoted.exact_predicate("kip://local/draft@0.0.0/mentors").description == "teaches"
        assert drafted.lineages("predicate", "mentors") == {"kip://local/draft/mentors"}

    def test_it_is_listed_with_its_kind(self, drafted: Environment) -> None:
        promoted = drafted.with_promotion("predicate", "mentors", self.OFFICIAL)
        wanted = {"kind": "predicate", "from": "kip://local/draft/mentors", "to": "kip://t/one/coaches"}
        assert [promotion.to_wire() for promotion in promoted.promotions] == [wanted]
        assert promoted.to_document()["lineage_maps"] == [wanted]

    def test_it_happens_once(self, drafted: Environment) -> None:
        promoted = drafted.with_promotion("predicate", "mentors", self.OFFICIAL)
        with pytest.raises(errors.SchemaSymbolConflict):
            promoted.with_promotion("predicate", "mentors", self.OFFICIAL)

    @pytest.mark.parametrize(
        ("kind", "name", "target"),
        [
            ("predicate", "absent", OFFICIAL),
            ("concept_type", "mentors", "kip://t/one@1.0.0/Coach"),
            ("predicate", "mentors", "kip://t/one@1.0.0/Coach"),
        ],
    )
    def test_it_stays_within_a_kind(self, drafted: Environment, kind: Any, name: str, target: str) -> None:
        with pytest.raises(errors.SchemaSymbolNotFound):
            drafted.with_promotion(kind, name, target)

    def test_a_draft_is_no_target(self, drafted: Environment) -> None:
        other, ref = drafted.with_draft("predicate", "guides", {"description": "d"})
        with pytest.raises(errors.ConstraintViolation):
            other.with_promotion("predicate", "mentors", ref)
