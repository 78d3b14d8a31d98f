"""Names: what they mean, when they are ambiguous, and how lineages hold versions together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain import errors
from brain.ids import canonical_json
from brain.kip.library import PackageLibrary
from brain.kip.schema import Environment
from tests.kip.schema.conftest import environment_of, package


@pytest.mark.requirement("KI-SCHEMA-021")
def test_a_new_space_has_the_default_packages_by_digest(everyday: Environment, shipped: PackageLibrary) -> None:
    document = everyday.to_document()
    assert document["version"] == 1
    assert [(entry["package_ref"], entry["status"]) for entry in document["packages"]] == [
        ("kip://brain/everyday@1.0.0", "active"),
        ("kip://domains/general@1.0.0", "active"),
        ("kip://profiles/cognitive-memory@2.0.0", "active"),
    ]
    assert all(
        entry["content_digest"] == shipped.resolve(entry["package_ref"]).digest for entry in document["packages"]
    )


def test_an_environment_survives_its_control_document(library: PackageLibrary) -> None:
    before = environment_of(
        library, package("t/one", concept_types={"Gadget": {"description": "d"}}), names=("general",)
    )
    drafted, _ = before.with_draft("predicate", "admires", {"description": "looks up to"})
    elsewhere = Environment.load(drafted.to_document(), PackageLibrary())
    assert canonical_json(elsewhere.to_document()) == canonical_json(drafted.to_document())
    assert elsewhere.concept_type("Gadget") == drafted.concept_type("Gadget")
    assert elsewhere.predicate("admires") == drafted.predicate("admires")


@pytest.mark.requirement("KI-SCHEMA-004")
def test_a_space_whose_package_changed_does_not_open(library: PackageLibrary) -> None:
    document = dict(environment_of(library, names=("general",)).to_document())
    document["packages"] = [entry | {"content_digest": "sha256:" + "0" * 64} for entry in document["packages"]]
    with pytest.raises(errors.DigestMismatch):
        Environment.load(document, library)


@pytest.mark.requirement("KI-SCHEMA-005")
def test_a_missing_dependency_stops_activation(library: PackageLibrary) -> None:
    needs = {"package_ref": "kip://t/absent@1.0.0", "required": True}
    with pytest.raises(errors.SchemaPackageUnavailable, match="absent"):
        environment_of(library, package("t/one", dependencies=[needs]))


def test_a_dependency_on_another_content_stops_activation(library: PackageLibrary) -> None:
    needs = {"package_ref": "kip://profiles/cognitive-memory@2.0.0", "content_digest": "sha256:" + "0" * 64}
    with pytest.raises(errors.DigestMismatch):
        environment_of(library, package("t/one", dependencies=[needs]))


def test_a_local_and_an_exact_name_mean_the_same(everyday: Environment) -> None:
    exact = "kip://profiles/cognitive-memory@2.0.0/Person"
    assert everyday.concept_type("Person") is everyday.concept_type(exact)
    assert everyday.lineages("concept_type", "Person") == everyday.lineages("concept_type", exact)
    assert everyday.local_name(exact) == "Person"


@pytest.mark.requirement("KI-SCHEMA-008", "KI-ERR-016")
class TestAmbiguity:
    """Two package paths that export one name."""

    @pytest.fixture
    def two(self, library: PackageLibrary) -> Environment:
        definitions: dict[str, Any] = {
            "concept_types": {"Gadget": {"description": "g"}},
            "predicates": {"links": {"description": "l"}},
        }
        return environment_of(library, package("t/one", **definitions), package("t/two", **definitions))

    def test_the_local_name_is_refused_with_the_candidates(self, two: Environment) -> None:
        with pytest.raises(errors.SchemaSymbolAmbiguous) as caught:
            two.concept_type("Gadget")
        assert caught.value.details["candidates"] == ["kip://t/one@1.0.0/Gadget", "kip://t/two@1.0.0/Gadget"]
        with pytest.raises(errors.SchemaSymbolAmbiguous):
            two.lineages("predicate", "links")

    def test_the_exact_name_works(self, two: Environment) -> None:
        assert two.concept_type("kip://t/one@1.0.0/Gadget").symbol.lineage == "kip://t/one/Gadget"
        assert two.local_name("kip://t/one@1.0.0/Gadget") == "kip://t/one@1.0.0/Gadget"


@pytest.mark.requirement("KI-SCHEMA-008")
@pytest.mark.parametrize(
    ("kind", "name", "nearest"),
    [
        ("predicate", "employed_by", "works_for"),
        ("predicate", "livesIn", "lives_in"),
        ("predicate", "wife", "partner_of"),
        ("predicate", "wifi", "has_code"),
        ("concept_type", "person", "Person"),
        ("concept_type", "Car", "Vehicle"),
        ("facet", "Mnemonic", "MnemonicState"),
    ],
)
def test_an_unknown_name_is_answered_with_what_was_probably_meant(
    everyday: Environment, kind: Any, name: str, nearest: str
) -> None:
    with pytest.raises(errors.SchemaSymbolNotFound) as caught:
        everyday.lineages(kind, name)
    assert nearest in caught.value.hint
    assert nearest in [definition.symbol.name for definition in everyday.nearest(kind, name)]


def test_a_name_like_nothing_gets_no_guesses(everyday: Environment) -> None:
    with pytest.raises(errors.SchemaSymbolNotFound) as caught:
        everyday.predicate("qqqqzzzz")
    assert "Did you mean" not in caught.value.hint


@pytest.mark.requirement("KI-SCHEMA-001")
@pytest.mark.parametrize("name", ["kip://T/one@1.0.0/X", "kip://t/one/X", "kip://t/one@1/X", "http://x"])
def test_a_misspelt_exact_reference_is_no_identifier(everyday: Environment, name: str) -> None:
    with pytest.raises(errors.InvalidIdentifier):
        everyday.concept_type(name)


@pytest.mark.parametrize("name", ["Assertion", "kip://core@2.0.0/Concept", "kip://domains/general@9.0.0/Place", ""])
def test_a_name_nobody_exports_is_not_found(everyday: Environment, name: str) -> None:
    with pytest.raises(errors.SchemaSymbolNotFound):
        everyday.concept_type(name)


@pytest.mark.requirement("KI-SCHEMA-009")
def test_kinds_are_namespaces_of_their_own(library: PackageLibrary) -> None:
    both = package("t/one", concept_types={"Tool": {"description": "t"}}, predicates={"Tool": {"description": "uses"}})
    environment = environment_of(library, both)
    assert environment.concept_type("Tool").wire["kind"] == "ConceptType"
    assert environment.predicate("Tool").wire["kind"] == "PredicateType"


@pytest.mark.requirement("KI-SCHEMA-013")
def test_a_bare_predicate_has_the_documented_defaults(library: PackageLibrary) -> None:
    bare = environment_of(library, package("t/one", predicates={"p": {"description": "d"}})).predicate("p")
    assert (bare.functional, bare.functional_by, bare.open_world, bare.complete) == (False, None, True, False)
    assert (bare.boolean_completeness, bare.temporal_conflict) == (False, "overlapping_valid_time")
    assert not bare.object.is_declared
    assert bare.object.literal_types == {"boolean", "number", "string"}
    assert not bare.object.nullable


class TestVersions:
    """Several versions of one package in one Space."""

    OLD = package(
        "t/one",
        concept_types={"Gadget": {"description": "old"}, "Widget": {"description": "old"}},
        predicates={"has": {"description": "old"}},
    )
    NEW = package(
        "t/one",
        "1.1.0",
        concept_types={"Gadget": {"description": "new"}, "Part": {"description": "was Widget"}},
        compatibility={"renamed": {"concept_types": {"Widget": "Part"}}, "retired": {"predicates": ["has"]}},
    )

    @pytest.fixture
    def both(self, library: PackageLibrary) -> Environment:
        return environment_of(library, self.OLD, self.NEW)

    @pytest.mark.requirement("KI-SCHEMA-011")
    def test_new_elements_bind_to_the_newest_version(self, both: Environment) -> None:
        assert both.concept_type("Gadget").symbol.version == "1.1.0"
        assert both.concept_type("kip://t/one@1.0.0/Gadget").symbol.version == "1.1.0"

    @pytest.mark.requirement("KI-SCHEMA-010")
    def test_one_lineage_covers_all_versions_and_each_stays_exact(self, both: Environment) -> None:
        assert both.lineages("concept_type", "Gadget") == {"kip://t/one/Gadget"}
        assert both.exact_concept_type("kip://t/one@1.0.0/Gadget").description == "old"
        assert both.exact_concept_type("kip://t/one@1.1.0/Gadget").description == "new"

    @pytest.mark.requirement("KI-SCHEMA-012")
    def test_a_rename_makes_one_lineage_of_two(self, both: Environment) -> None:
        joined = {"kip://t/one/Part", "kip://t/one/Widget"}
        assert both.lineages("concept_type", "Widget") == both.lineages("concept_type", "Part") == joined
        assert both.canonical_lineage("concept_type", "kip://t/one/Widget") == "kip://t/one/Part"
        assert both.concept_type("Widget").symbol.name == "Part"

    @pytest.mark.requirement("KI-SCHEMA-012")
    def test_a_retired_symbol_is_read_and_takes_nothing_new(self, both: Environment) -> None:
        assert both.lineages("predicate", "has") == {"kip://t/one/has"}
        assert both.exact_predicate("kip://t/one@1.0.0/has").description == "old"
        with pytest.raises(errors.SchemaSymbolNotFound, match="retired"):
            both.predicate("has")

    def test_a_readable_package_is_read_and_takes_nothing_new(self, library: PackageLibrary, both: Environment) -> None:
        closed = both.with_package(library.resolve("kip://t/one@1.1.0"), "readable")
        closed = closed.with_package(library.resolve("kip://t/one@1.0.0"), "readable")
        assert closed.lineages("concept_type", "Gadget") == {"kip://t/one/Gadget"}
        with pytest.raises(errors.SchemaSymbolNotFound):
            closed.concept_type("Gadget")

    def test_a_blocked_package_does_not_resolve(self, library: PackageLibrary, both: Environment) -> None:
        blocked = both.with_package(library.resolve("kip://t/one@1.1.0"), "blocked")
        assert blocked.concept_type("Gadget").symbol.version == "1.0.0"
        with pytest.raises(errors.SchemaSymbolNotFound):
            blocked.lineages("concept_type", "Part")


@pytest.mark.requirement("KI-SCHEMA-019")
def test_each_change_has_a_new_version_number(everyday: Environment, library: PackageLibrary) -> None:
    installed = library.install(package("t/one", concept_types={"Gadget": {"description": "d"}}))
    changed = everyday.with_package(installed)
    drafted, _ = changed.with_draft("predicate", "admires", {"description": "d"})
    assert [everyday.version, changed.version, drafted.version] == [1, 2, 3]


@given(st.text(max_size=40))
def test_no_name_whatever_breaks_the_look_up(name: str) -> None:
    environment = Environment.load(PackageLibrary.bundled().birth(["everyday"]), PackageLibrary.bundled())
    for look_up in (environment.concept_type, environment.predicate, environment.facet, environment.structural_field):
        try:
            found = look_up(name)
        except (errors.SchemaSymbolNotFound, errors.InvalidIdentifier):
            continue
        assert environment.local_name(found.symbol.ref) == name


def test_what_is_unknown_stands_for_itself(everyday: Environment) -> None:
    assert everyday.canonical_lineage("predicate", "kip://x/y") == "kip://x/y"
    assert everyday.group("predicate", "kip://x/y") == {"kip://x/y"}
    assert everyday.local_name("not a reference") == "not a reference"
